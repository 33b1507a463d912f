"""A draft as a PDF whose bytes depend on nothing but the draft."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    HRFlowable,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

from ovrag_core.loans.contracts.draft import Block, Draft, PageLook

_MARGIN = 24 * mm
_STANDARD = {"serif": ("Times-Roman", "Times-Bold"), "sans": ("Helvetica", "Helvetica-Bold")}
_UNICODE = {"serif": ("DejaVuSerif", "DejaVuSerif-Bold"), "sans": ("DejaVuSans", "DejaVuSans-Bold")}


class _Whole(Paragraph):  # type: ignore[misc]
    """A paragraph that moves to the next page rather than being divided."""

    def split(self, _width: float, _height: float) -> list[Flowable]:
        return []


def write_pdf(draft: Draft, path: Path, *, title: str) -> None:
    """Set the draft and write it to `path`.

    The standard fonts where they hold every character, else the DejaVu fonts that come with matplotlib. Paragraphs are
    never divided between pages, so that a passage stands in the extracted text without a footer in its midst.
    """
    regular, bold = _fonts(draft)
    styles = _styles(draft.look, regular, bold)
    document = BaseDocTemplate(
        str(path),
        pagesize=A4 if draft.look.paper == "a4" else LETTER,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN,
        title=title,
        author="",
        invariant=1,
    )
    small = min(draft.look.size, 8.5)

    def foot(canvas: Canvas, _: BaseDocTemplate) -> None:
        page = canvas.getPageNumber()
        footers = {"none": "", "page": f"- {page} -", "page_of": f"Page {page}", "reference": f"{title} / {page}"}
        canvas.setFont(regular, small)
        canvas.drawCentredString(document.pagesize[0] / 2, 13 * mm, footers[draft.look.footer])

    frame = Frame(document.leftMargin, document.bottomMargin, document.width, document.height)
    document.addPageTemplates(PageTemplate(frames=[frame], onPageEnd=foot))
    document.build(list(_flow(draft, styles, document.width)))


def _fonts(draft: Draft) -> tuple[str, str]:
    text = "".join(block.text + block.label for block in draft.blocks)
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return _unicode_fonts(draft.look.font)
    return _STANDARD[draft.look.font]


@cache
def _unicode_fonts(family: str) -> tuple[str, str]:
    spec = importlib.util.find_spec("matplotlib")
    assert spec is not None and spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0]) / "mpl-data" / "fonts" / "ttf"
    for name in _UNICODE[family]:
        pdfmetrics.registerFont(TTFont(name, str(folder / f"{name}.ttf")))
    return _UNICODE[family]


def _styles(look: PageLook, regular: str, bold: str) -> dict[str, ParagraphStyle]:
    lead = look.size * 1.3
    text = ParagraphStyle(
        "text", fontName=regular, fontSize=look.size, leading=lead, spaceAfter=look.size * 0.6, leftIndent=look.indent,
        splitLongWords=0,
    )  # fmt: skip
    return {
        "text": text,
        "row": ParagraphStyle("row", parent=text, spaceAfter=look.size * 0.35),
        "cell": ParagraphStyle("cell", parent=text, spaceAfter=0, leftIndent=0),
        "note": ParagraphStyle("note", parent=text, fontSize=look.size * 0.85, leading=lead * 0.85),
        "signature": ParagraphStyle("signature", parent=text, spaceBefore=look.size * 2.4, spaceAfter=2),
        "heading": ParagraphStyle(
            "heading", parent=text, fontName=bold, spaceBefore=look.size * 0.9, leftIndent=0, keepWithNext=1
        ),
        "title": ParagraphStyle(
            "title",
            parent=text,
            fontName=bold,
            fontSize=look.size * 1.5,
            leading=lead * 1.5,
            alignment=TA_CENTER,
            leftIndent=0,
        ),
        "subtitle": ParagraphStyle("subtitle", parent=text, alignment=TA_CENTER, leftIndent=0),
    }


def _flow(draft: Draft, styles: dict[str, ParagraphStyle], width: float) -> Iterator[Flowable]:
    for are_cells, blocks in groupby(draft.blocks, lambda block: block.style == "cell"):
        if are_cells:
            yield from _table(list(blocks), styles, width)
        else:
            yield from (_flowable(block, styles) for block in blocks)


def _flowable(block: Block, styles: dict[str, ParagraphStyle]) -> Flowable:
    if block.style == "space":
        return Spacer(1, 10)
    if block.style == "rule":
        return HRFlowable(width="100%", thickness=0.5, spaceAfter=6)
    text = escape(block.text)
    if block.style == "signature":
        text = f"______________________________<br/>{text}"
    return _Whole(text, styles[block.style])


def _table(cells: list[Block], styles: dict[str, ParagraphStyle], width: float) -> Iterator[Flowable]:
    rows = [
        [Paragraph(escape(cell.label), styles["cell"]), Paragraph(escape(cell.text), styles["cell"])] for cell in cells
    ]
    table = Table(rows, colWidths=[width * 0.32, width * 0.68])
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.4, "#777777"), ("VALIGN", (0, 0), (-1, -1), "TOP")]))
    yield table
    yield Spacer(1, 8)
