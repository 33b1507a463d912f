"""A contract as blocks of text, before it is set on pages; remembers which passage says what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ovrag_core.loans.contracts.terms import PLANTED, Says, Side

BlockStyle = Literal["title", "subtitle", "heading", "text", "row", "cell", "note", "signature"]
LineStyle = Literal["row", "cell"]


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence that states a fact which a contradiction may turn on; an ordinary one where it `says` nothing."""

    says: Says | None
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the page: its style, its text, and for a table cell the label left of it."""

    style: BlockStyle
    text: str = ""
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
    passages: dict[Says, str] = field(default_factory=dict)

    def add(self, style: BlockStyle, *parts: str | Saying) -> None:
        """Append a block whose text is the parts joined by blanks; nothing where all are empty."""
        for part in parts:
            self._note(part)
        if text := " ".join(filter(None, map(_text, parts))):
            self.blocks.append(Block(style, text))

    def row(self, label: str, value: str | Saying, style: LineStyle = "row") -> None:
        """Append a line `label: value`, or a line of a table; a saying's passage is label and value as they read."""
        text = _text(value)
        line = f"{label}: {text}" if style == "row" else f"{label} {text}"
        self._note(Saying(value.says, line) if isinstance(value, Saying) else line)
        self.blocks.append(Block("row", line) if style == "row" else Block("cell", text, label))

    def _note(self, part: str | Saying) -> None:
        if isinstance(part, Saying) and part.says:
            self.passages.setdefault(part.says, part.text)

    def evidence(self, variant: str | None) -> tuple[str, ...]:
        """The two passages that contradict each other; empty for a clean contract."""
        return tuple(self.passages[says] for says in PLANTED[variant].passages) if variant else ()


def _text(part: str | Saying) -> str:
    return part.text if isinstance(part, Saying) else part


def sign(draft: Draft, side: Side, role: str = "") -> None:
    """Append the lines on which a party signs, in its role."""
    draft.add("signature", side.name + (f" ({role})" if role else ""))
    if side.signatory:
        draft.add("text", f"By: {side.signatory}, {side.office}")


def sentence(text: str) -> str:
    """The text with a capital first letter, as a sentence starts."""
    return text[:1].upper() + text[1:]
