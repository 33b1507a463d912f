"""Text cut at the passages that are quoted from it, for pages that mark them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ovrag_core.loans.grounds import Passage


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, where it begins, and the marks of the passages that it is in (None for plain text)."""

    start: int
    text: str
    mark: str | None


def pieces(text: str, marks: Sequence[tuple[str, Sequence[Passage]]]) -> list[Piece]:
    """`text` cut at the quoted passages, each piece with the marks of all that it is in. Joined, they are the text."""
    spans = [(passage.start, passage.end, sign) for sign, passages in marks for passage in passages]
    cuts = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    return [Piece(start, text[start:end], _marks(start, end, spans)) for start, end in pairwise(cuts)]


def _marks(start: int, end: int, spans: Sequence[tuple[int, int, str]]) -> str | None:
    return ", ".join(dict.fromkeys(sign for low, high, sign in spans if low <= start and end <= high)) or None
