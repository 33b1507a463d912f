"""Windows of a document's tokens, in which spans of it are judged with all that stands around them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ovrag_core.text import Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENS = 382  # of a text in a window; a text of fewer is one window
STEP = 254  # from one window to the next
LONGEST = 120  # tokens of a span that are looked at
BEGIN, END = 101, 102  # the tokens that every window begins and ends with
SHORT_LINE = 50  # characters: such a line is a row, an address or a caption, not wrapped prose


class Windows:
    """The tokens of a text and where its windows begin; a window is called by that.

    The first begins `before` tokens ahead of the text, so that training sees a text cut in different places.
    """

    def __init__(self, text: str, tokenizer: Tokenizer, before: int = 0) -> None:
        encoding = tokenizer.encode(_seen(text), add_special_tokens=False)
        self._ids: list[int] = encoding.ids
        self._offsets: list[Span] = encoding.offsets
        self._begins = [begin for begin, _ in encoding.offsets]
        count = len(encoding.ids)
        self.starts = sorted({max(0, min(at, count - TOKENS)) for at in range(-before, max(1, count), STEP)})

    def ids(self, at: int) -> list[int]:
        """Numbers of the tokens of a window."""
        return [BEGIN, *self._ids[at : at + TOKENS], END]

    def offsets(self, at: int, first: int, end: int) -> list[Span]:
        """Spans in the text of a window's tokens `[first, end)`."""
        return self._offsets[at + first - 1 : at + end - 1]

    def place(self, span: Span) -> tuple[int, int, int]:
        """The window in which most stands on either side of a span, the span's first token in it and its end."""
        last_token = max(0, len(self._ids) - 1)
        first = min(last_token, max(0, bisect_left(self._begins, span[0] + 1) - 1))
        end = min(max(first + 1, bisect_left(self._begins, span[1])), first + LONGEST)
        at = max(self.starts, key=lambda at: min(first - at, at + TOKENS - end))
        return at, first - at + 1, end - at + 1


def _seen(text: str) -> str:
    """The text, character for character, with the end of a short line as a stroke.

    In a letterhead or a table such an end parts one thing from the next; the tokens know no ends of lines.
    """
    lines = text.split("\n")
    ends = ["/" if 0 < len(line.strip()) < SHORT_LINE else " " for line in lines[:-1]]
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))
