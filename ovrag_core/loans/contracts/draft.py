"""A contract as blocks of text, before it is set on pages; remembers which passage says what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ovrag_core.loans.contracts.terms import Side

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
