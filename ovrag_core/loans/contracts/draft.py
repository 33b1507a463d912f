"""A contract as blocks of text, which remember what says what, and its PDF, whose bytes depend on nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Spacer, Table

from ovrag_core.loans.contracts.terms import Side

_STANDARD = {"serif": ("Times-Roman", "Times-Bold"), "sans": ("Helvetica", "Helvetica-Bold")}
_UNICODE = {"serif": ("DejaVuSerif", "DejaVuSerif-Bold"), "sans": ("DejaVuSans", "DejaVuSans-Bold")}
_GRID = [("GRID", (0, 0), (-1, -1), 0.4, "#777777"), ("VALIGN", (0, 0), (-1, -1), "TOP")]

BlockStyle = Literal["title", "subtitle", "heading", "text", "row", "cell", "note", "signature"]
LineStyle = Literal["row", "cell"]


class Block(NamedTuple):
    """A piece of the page: its style, its text, and for a table cell the label left of it."""

    style: BlockStyle
    text: str
    label: str = ""


@dataclass
class Draft:
    """Blocks in order, and the first passage that says each thing; the collateral as the contract words it.

    Look of the pages: font family, size in points, paper, and what runs along the foot.
    """

    collateral: str | None = None
    font: Literal["serif", "sans"] = "serif"
    size: float = 10.5
    paper: Literal["a4", "letter"] = "a4"
    footer: Literal["none", "page", "page_of", "reference"] = "page_of"
    blocks: list[Block] = field(default_factory=list)
    passages: dict[str, str] = field(default_factory=dict)

    def add(self, style: BlockStyle, *parts: str) -> None:
        """Append a block whose text is the parts joined by blanks; nothing where all are empty."""
        if text := " ".join(filter(None, parts)):
            self.blocks.append(Block(style, text))

    def row(self, label: str, value: str, style: LineStyle = "row", says: str = "") -> None:
        """Append a line `label: value`, or a line of a table; what the line `says` is said by both as they read."""
        line = f"{label}: {value}" if style == "row" else f"{label} {value}"
        self.saying(says, line)
        self.blocks.append(Block("row", line) if style == "row" else Block("cell", value, label))

    def saying(self, says: str, text: str) -> str:
        """The text; it is remembered where it is the first that `says` a thing on which a contradiction may turn."""
        if says:
            self.passages.setdefault(says, text)
        return text

    def sign(self, side: Side, role: str = "") -> None:
        """Append the lines on which a party signs, in its role."""
        self.add("signature", side.name + (f" ({role})" if role else ""))
        if side.signatory:
            self.add("text", f"By: {side.signatory}, {side.office}")


def sentence(text: str) -> str:
    """The text with a capital first letter, as a sentence starts."""
    return text[:1].upper() + text[1:]


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
    styles = _styles(draft.size, regular, bold)
    document = BaseDocTemplate(
        str(path),
        pagesize=A4 if draft.paper == "a4" else LETTER,
        **dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), 24 * mm),
        title=title,
        author="",
        invariant=1,
    )
    small = min(draft.size, 8.5)

    def foot(canvas: Canvas, _: BaseDocTemplate) -> None:
        page = canvas.getPageNumber()
        footers = {"none": "", "page": f"- {page} -", "page_of": f"Page {page}", "reference": f"{title} / {page}"}
        canvas.setFont(regular, small)
        canvas.drawCentredString(document.pagesize[0] / 2, 13 * mm, footers[draft.footer])

    frame = Frame(document.leftMargin, document.bottomMargin, document.width, document.height)
    document.addPageTemplates(PageTemplate(frames=[frame], onPageEnd=foot))
    document.build(list(_flow(draft, styles, document.width)))


def _fonts(draft: Draft) -> tuple[str, str]:
    """The names of the regular and the bold font."""
    text = "".join(block.text + block.label for block in draft.blocks)
    if text.encode("cp1252", "ignore").decode("cp1252") == text:
        return _STANDARD[draft.font]
    for name in _UNICODE[draft.font]:
        if name not in pdfmetrics.getRegisteredFontNames():
            file = files("matplotlib") / f"mpl-data/fonts/ttf/{name}.ttf"
            pdfmetrics.registerFont(TTFont(name, str(file)))
    return _UNICODE[draft.font]


def _styles(size: float, regular: str, bold: str) -> dict[str, ParagraphStyle]:
    lead = size * 1.3
    text = ParagraphStyle(
        "text", fontName=regular, fontSize=size, leading=lead, spaceAfter=size * 0.6, splitLongWords=0
    )
    titled = {"fontName": bold, "fontSize": size * 1.5, "leading": lead * 1.5, "alignment": TA_CENTER}
    changes: dict[str, dict[str, object]] = {
        "text": {},
        "row": {"spaceAfter": size * 0.35},
        "cell": {"spaceAfter": 0},
        "note": {"fontSize": size * 0.85, "leading": lead * 0.85},
        "signature": {"spaceBefore": size * 2.4, "spaceAfter": 2},
        "heading": {"fontName": bold, "spaceBefore": size * 0.9, "keepWithNext": 1},
        "title": titled,
        "subtitle": {"alignment": TA_CENTER},
    }
    return {name: ParagraphStyle(name, parent=text, **change) for name, change in changes.items()}


def _flow(draft: Draft, styles: dict[str, ParagraphStyle], width: float) -> Iterator[Flowable]:
    for are_cells, blocks in groupby(draft.blocks, lambda block: block.style == "cell"):
        if are_cells:
            rows = [[Paragraph(escape(text), styles["cell"]) for text in (cell.label, cell.text)] for cell in blocks]
            yield Table(rows, colWidths=[width * 0.32, width * 0.68], style=_GRID)
            yield Spacer(1, 8)
            continue
        for block in blocks:
            above = "______________________________<br/>" if block.style == "signature" else ""
            yield _Whole(above + escape(block.text), styles[block.style])
