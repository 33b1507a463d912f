"""Text without characters that nobody sees, with the way back to the text that it was made from."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]+"
)


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired text; `_at` and `_from` are where its pieces begin, here and in the original."""

    text: str
    _at: tuple[int, ...]
    _from: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Span in the original of the span `[start, end)` of the repaired text."""
        return self._back(start), self._back(end - 1) + 1 if end > start else self._back(start)

    def _back(self, offset: int) -> int:
        piece = bisect_right(self._at, offset) - 1
        return self._from[piece] + offset - self._at[piece]


def repair(text: str) -> Repaired:
    """`text` without invisible characters."""
    gaps = [match.span() for match in _INVISIBLE.finditer(text)]
    starts = [0, *(end for _, end in gaps)]
    pieces = [text[a:b] for a, b in zip(starts, [*(start for start, _ in gaps), len(text)], strict=True)]
    return Repaired("".join(pieces), tuple(accumulate(map(len, pieces[:-1]), initial=0)), tuple(starts))
