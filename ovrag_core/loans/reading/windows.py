"""Windows of a document's tokens, in which spans of it are judged with all that stands around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENS = 382  # of a text in a window; a text of fewer is one window
STEP = 254  # from one window to the next
BEGIN, END = 101, 102  # the tokens that every window begins and ends with
SHORT_LINE = 50  # characters: such a line is a row, an address or a caption, not wrapped prose


@dataclass(slots=True)
class Window:
    """Numbers of its tokens, and of each span in it its place in the list of spans, its first token and its end."""

    ids: list[int]
    spans: list[tuple[int, int, int]] = field(default_factory=list)


def windows(
    text: str, spans: Sequence[tuple[int, int]], tokenizer: Tokenizer, step: int = STEP, before: int = 0
) -> Iterator[Window]:
    """The windows that hold the spans, each span in the one in which most stands on either side of it.

    The first window begins `before` tokens ahead of the text, so that training sees a text cut in different places.
    """
    encoding = tokenizer.encode(_seen(text), add_special_tokens=False)
    offsets, count = encoding.offsets, len(encoding.ids)
    starts = sorted({max(0, min(start, count - TOKENS)) for start in range(-before, max(1, count), step)})
    found = {start: Window([BEGIN, *encoding.ids[start : start + TOKENS], END]) for start in starts}
    begins = [begin for begin, _ in offsets]
    for number, (start, end) in enumerate(spans):
        first = max(0, bisect_left(begins, start + 1) - 1)
        last = max(first + 1, bisect_left(begins, end))
        room = {at: min(first - at, at + TOKENS - last) for at in starts}
        at = max(starts, key=lambda at: room[at])
        if first < count and room[at] >= 0:
            found[at].spans.append((number, first - at + 1, last - at + 1))
    yield from (window for window in found.values() if window.spans)


def _seen(text: str) -> str:
    """The text, character for character, with the end of a short line as a stroke.

    In a letterhead or a table such an end parts one thing from the next; the tokens know no ends of lines.
    """
    lines = text.split("\n")
    ends = ["/" if 0 < len(line.strip()) < SHORT_LINE else " " for line in lines[:-1]]
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))
