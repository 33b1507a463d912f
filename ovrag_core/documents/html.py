"""HTML: what a browser would show, block by block; tables row by row."""

import re
from collections.abc import Iterator

from bs4.dammit import EncodingDetector, UnicodeDammit
from lxml import etree
from lxml import html as lxml_html

from ovrag_core.base import DocumentError
from ovrag_core.documents.cells import write_row
from ovrag_core.documents.cleaning import clean, tidy

_SKIPPED = "script style noscript template head iframe object svg math canvas audio video select datalist button"
_PARAGRAPHS = "p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre section article header footer main form fieldset hr"
_LINES = "div li dt dd tr caption address nav aside figure figcaption legend center"
_KINDS = {tag: kind for kind in (_SKIPPED, _PARAGRAPHS, _LINES) for tag in kind.split()}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SPACE = re.compile(r"[ \t\r\n\f]+")
# Marks that blocks leave around themselves while the text is put together.
_LINE, _PARAGRAPH = "\x01", "\x02"
_BREAKS = re.compile(r"[ \n\x01\x02]*[\n\x01\x02][ \n\x01\x02]*")
_LONG_LINE = 100  # characters: a longer `div` is a paragraph


def read(name: str, data: bytes) -> str:
    """The visible text of an HTML page. Raises DocumentError for one that cannot be parsed at all."""
    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    markup = UnicodeDammit(data, [declared] if declared else ["utf-8", "windows-1252"], is_html=True).unicode_markup
    markup = re.sub(r"^\s*<\?xml[^>]*\?>", "", markup or "")
    parser = lxml_html.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = lxml_html.document_fromstring(markup.replace("\x00", ""), parser=parser)
    except (etree.LxmlError, ValueError):
        raise DocumentError(f"{name} is not readable HTML; save it again, or as plain text") from None
    return _finish(root)


def _finish(root: etree._Element) -> str:
    return tidy(clean(_BREAKS.sub(_break_text, "".join(_text(root)))))


def _break_text(match: re.Match[str]) -> str:
    run = match.group()
    return "\n\n" if _PARAGRAPH in run or run.count("\n") > 1 else "\n"


def _text(root: etree._Element) -> Iterator[str]:
    """Text of all that is shown, with the breaks that blocks make; no recursion but for tables in tables."""
    preformatted = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = _tag(element)
        if event == "start":
            if element is not root and (_KINDS.get(tag) == _SKIPPED or _is_hidden(element)):
                walker.skip_subtree()
            elif tag == "table" and element is not root:
                walker.skip_subtree()
                yield f"{_PARAGRAPH}{_table(element)}{_PARAGRAPH}"
            else:
                preformatted += tag == "pre"
                yield _break(element, tag) + _flow(element.text, preformatted)
            continue
        if tag == "pre" and preformatted:
            preformatted -= 1
        if not (_KINDS.get(tag) == _SKIPPED or tag in ("table", "br")):
            yield _break(element, tag)
        if element is not root:
            yield _flow(element.tail, preformatted)


def _tag(element: etree._Element) -> str:
    return str(element.tag).rpartition(":")[2].lower()


def _is_hidden(element: etree._Element) -> bool:
    style = element.get("style")
    return element.get("hidden") is not None or element.tag == "ix:header" or bool(style and _HIDDEN.search(style))


def _break(element: etree._Element, tag: str) -> str:
    if tag == "br":
        return "\n"
    # Filings set each paragraph as a `div`; in others a `div` is no more than a line.
    if _KINDS.get(tag) == _PARAGRAPHS or (tag == "div" and not len(element) and len(element.text or "") > _LONG_LINE):
        return _PARAGRAPH
    return _LINE if _KINDS.get(tag) == _LINES else ""


def _flow(text: str | None, preformatted: int) -> str:
    return text or "" if preformatted else _SPACE.sub(" ", text or "")


def _table(table: etree._Element) -> str:
    rows = (
        write_row([_finish(cell) for cell in row if _tag(cell) in ("td", "th") and not _is_hidden(cell)])
        for row in _rows(table)
    )
    captions = ["".join(_text(child)).strip() for child in table if _tag(child) == "caption"]
    return "\n".join([*captions, *filter(None, rows)])


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    for child in table:
        if _is_hidden(child):
            continue
        if _tag(child) == "tr":
            yield child
        elif _tag(child) in ("thead", "tbody", "tfoot"):
            yield from _rows(child)
