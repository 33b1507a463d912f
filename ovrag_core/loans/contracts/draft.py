"""A contract as blocks of text, before it is set on pages; remembers which passage says what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ovrag_core.loans.contracts.terms import PLANTED, Says, Variant

BlockStyle = Literal["title", "subtitle", "heading", "text", "row", "cell", "note", "space", "signature", "rule"]


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence that states a fact which a contradiction may turn on."""

    says: Says
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the page: its style, its text, and for a table cell the label left of it."""

    style: BlockStyle
    text: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class PageLook:
    """Look of the pages: font family, size in points, paper, and what runs along the foot."""

    font: Literal["serif", "sans"] = "serif"
    size: float = 10.5
    paper: Literal["a4", "letter"] = "a4"
    footer: Literal["none", "page", "page_of", "reference"] = "page_of"
    indent: float = 0


@dataclass
class Draft:
    """Blocks in order, and the first passage that says each thing."""

    look: PageLook = PageLook()
    blocks: list[Block] = field(default_factory=list)
    passages: dict[Says, str] = field(default_factory=dict)
    collateral: str | None = None

    def add(self, style: BlockStyle, *parts: str | Saying, label: str = "") -> None:
        """Append a block whose text is the parts joined by blanks; nothing where all are empty."""
        for saying in parts:
            if isinstance(saying, Saying):
                self.passages.setdefault(saying.says, saying.text)
        texts = [part.text if isinstance(part, Saying) else part for part in parts]
        text = " ".join(filter(None, texts))
        if text or not parts:
            self.blocks.append(Block(style, text, label))

    def row(self, label: str, value: str | Saying) -> None:
        """Append a line `label: value`; a saying's passage is the whole line."""
        text = value.text if isinstance(value, Saying) else value
        line = f"{label}: {text}"
        self.add("row", Saying(value.says, line) if isinstance(value, Saying) else line)

    def cell(self, label: str, value: str, says: Says | None = None) -> None:
        """Append a line of a table; a saying's passage is label and value, as they follow each other in the text."""
        if says:
            self.passages.setdefault(says, f"{label} {value}")
        self.blocks.append(Block("cell", value, label))

    def evidence(self, variant: Variant | None) -> tuple[str, ...]:
        """The two passages that contradict each other; empty for a clean contract."""
        return tuple(self.passages[says] for says in PLANTED[variant].passages) if variant else ()


def sentence(text: str) -> str:
    """The text with a capital first letter, as a sentence starts."""
    return text[:1].upper() + text[1:]
