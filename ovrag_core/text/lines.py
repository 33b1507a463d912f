"""Spans of a text, and foreign text on one line: nothing in it can move the cursor or turn the line around."""

import re

Span = tuple[int, int]

# Control characters (a terminal obeys them), direction marks (they reorder what stands around them), line separators.
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]")


def one_line(text: str, longest: int | None = None) -> str:
    """`text` with runs of white space as one space and what cannot be shown as `�`; cut to `longest` characters."""
    text = _UNSHOWN.sub("\ufffd", " ".join(text.split()))
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def strip_span(text: str, start: int, end: int) -> Span:
    """The span `[start, end)` of a text without the blanks at both ends; a blank one ends before it starts."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
