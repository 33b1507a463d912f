"""Text as it was meant: without characters that nobody sees, and without slips of text recognition (OCR).

What stands in the document is not altered: a repaired text leads back to the text that it was made from.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ovrag_core.documents.cleaning import english_words

_LONGEST = 2_000_000  # characters: longer texts are no scans of a contract, and word by word takes its time

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]+"
)
# Numbers with letters for figures, as `12O,OOO`, `l20,000` and `2O29`: at least one figure, and no other letters.
_NUMBER = re.compile(r"(?<![\w.-])(?=[OolI.,]*\d)(?=[\d.,]*[OolI])[\dOolI](?:[\dOolI]|[.,](?=[\dOolI]))*(?![\w-])")
_FIGURES = str.maketrans("OolI", "0011")
# Words with figures for letters, as `L0an` and `sha11`, or with a small L for a capital I, as `lnterest`.
_MIXED = re.compile(r"(?<![\w.-])(?=[A-Za-z0|1]*[a-z])(?=[A-Za-z]*[0|1])[A-Za-z0|1]{4,}(?!\w)")
_SMALL_L = re.compile(r"(?<!\w)l[b-df-hj-np-tv-z][a-z]{2,}(?!\w)")
_SPLIT = re.compile(r"(?<![\w-])([A-Za-z]{2,}) ([a-z]{2,})(?![\w-])")
_WORD = re.compile(r"[a-z]{2,}")


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired text; `_at` and `_from` are where its pieces begin, here and in the original."""

    text: str
    size: int
    _at: tuple[int, ...]
    _from: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Span in the original of the span `[start, end)` of the repaired text."""
        return self._back(start), min(self._back(end - 1) + 1, self.size) if end > start else self._back(start)

    def _back(self, offset: int) -> int:
        piece = bisect_right(self._at, offset) - 1
        return self._from[piece] + offset - self._at[piece]


def repair(text: str, known: Collection[str] = ()) -> Repaired:
    """`text` repaired. `known` are words, in small letters, beside those of the dictionary and of the text itself."""
    edits = [(*match.span(), "") for match in _INVISIBLE.finditer(text)]
    if len(text) <= _LONGEST:
        plain = _made(text, edits)
        slips = [(*plain.original(start, end), put) for start, end, put in _slips(plain.text, known)]
        edits = sorted([*edits, *slips])
    return _made(text, edits)


def _made(text: str, edits: list[tuple[int, int, str]]) -> Repaired:
    pieces: list[str] = []
    positions, origin = [0], [0]
    length = position = 0
    for start, end, put in edits:
        if start < position:
            continue  # within another one
        pieces += [text[position:start], put]
        positions.append(length + start - position)
        origin.append(start)
        length += start - position + len(put)
        positions.append(length)
        origin.append(end)
        position = end
    pieces.append(text[position:])
    return Repaired("".join(pieces), len(text), tuple(positions), tuple(origin))


def _slips(text: str, known: Collection[str]) -> Iterator[tuple[int, int, str]]:
    counts, english = Counter(_WORD.findall(text.lower())), english_words()

    def is_word(letters: str) -> bool:
        word = letters.lower()
        return word in english or word in known or counts[word] > 1

    for match in _NUMBER.finditer(text):
        yield from _changed(match.start(), match.group(), match.group().translate(_FIGURES))
    for match in _MIXED.finditer(text):
        whole = match.group()
        mended = whole.replace("0", "o").replace("1", "l").replace("|", "l")
        if is_word(mended) and not is_word(whole):
            yield from _changed(match.start(), whole, mended)
    for match in _SMALL_L.finditer(text):
        mended = f"I{match.group()[1:]}"
        if is_word(mended) and not is_word(match.group()):
            yield from _changed(match.start(), match.group(), mended)
    position = 0
    while (split := _SPLIT.search(text, position)) is not None:
        position = split.start(2)
        head, tail = split.groups()
        if is_word(head + tail) and not (is_word(head) and is_word(tail)):
            yield split.end(1), split.start(2), ""
            position = split.end()


def _changed(start: int, old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """The characters that differ, one by one, so that every other one still leads back to itself."""
    for offset, (before, after) in enumerate(zip(old, new, strict=True), start):
        if before != after:
            yield offset, offset + 1, after
