"""A conformed copy: one text put together from passages of several documents, with the way back to each.

Nothing here depends on what the documents are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ovrag_core.base import Document, Evidence
from ovrag_core.text import strip_span

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Segment:
    """`[start, end)` of a document. A blank one is as long, with its line ends, and says nothing.

    `shown` is what is quoted for it: the clause of an amendment that its words were taken from.
    """

    document: Document
    start: int
    end: int
    shown: tuple[int, int] | None = None
    blank: bool = False

    @property
    def text(self) -> str:
        """Its characters in the copy."""
        text = self.document.text[self.start : self.end]
        return _SHOWN.sub(" ", text) if self.blank else text


_SHOWN = re.compile(r"[^\n]")
BREAK = Segment(Document("", "\n\n"), 0, 2, blank=True)  # between paragraphs
SPACE = Segment(Document("", " "), 0, 1, blank=True)  # between words


class ConformedCopy:
    """A text made of segments. Offsets are of `text`; each change gives a new copy."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.segments = tuple(segment for segment in segments if segment.end > segment.start)
        self.starts = (0, *accumulate(segment.end - segment.start for segment in self.segments))
        self.text = "".join(segment.text for segment in self.segments)

    @classmethod
    def of(cls, document: Document) -> ConformedCopy:
        """The whole of a document."""
        return cls([Segment(document, 0, len(document.text))])

    def replaced(self, start: int, end: int, put: Sequence[Segment] = ()) -> ConformedCopy:
        """The copy with `put` in place of `[start, end)`."""
        return ConformedCopy((*self._cut(0, start), *put, *self._cut(end, len(self.text))))

    def blanked(self, spans: Iterable[tuple[int, int]]) -> ConformedCopy:
        """The copy with blanks in place of the spans; offsets stay."""
        copy = self
        for start, end in spans:
            copy = copy.replaced(start, end, [replace(segment, blank=True) for segment in copy._cut(start, end)])
        return copy

    def followed_by(self, other: ConformedCopy) -> ConformedCopy:
        """This copy, then the other."""
        return ConformedCopy((*self.segments, *other.segments))

    def _cut(self, start: int, end: int) -> list[Segment]:
        """Return the segments of `[start, end)`, the first and the last cut."""
        parts: list[Segment] = []
        for segment, offset in zip(self.segments, self.starts, strict=False):
            first, last = segment.start + max(0, start - offset), min(segment.end, segment.start + end - offset)
            if first < last:
                parts.append(replace(segment, start=first, end=last))
        return parts

    def evidence(self, start: int, end: int, about: str = "") -> Evidence | None:
        """Quote for `[start, end)` a passage of the one document that has most of the words of `about` in it.

        None where the span holds nothing but gaps.
        """
        segments = [segment for segment in self._cut(start, end) if segment.text.strip()]
        if not segments:
            return None
        words = set(_words(about))
        best = max(segments, key=lambda part: (len(words & set(_words(part.text))), len(part.text)))
        return Evidence.of(best.document, *strip_span(best.document.text, *(best.shown or (best.start, best.end))))


def _words(text: str) -> list[str]:
    """Words and numbers in one form: `1,200,000.00` is `1200000`, `6.50` is `6.5`."""
    return [re.sub(r"(\.\d*?)0+$", r"\1", word.replace(",", "")).rstrip(".").casefold() for word in _WORD.findall(text)]
