"""Mentions in their passages, judged by what the words around them mean.

A judge is the bundled sentence embedder with low-rank adapters (Hu et al. 2022) and one linear layer on the mean of all
tokens beside the mean of the mention's own, of values for what they are to the loan.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from ovrag_core.base import read_tensors
from ovrag_core.retrieval import MAX_TOKENS, Encoder, Probabilities

WINDOW = 220  # characters on either side of a mention
SHORT_LINE = 50  # characters: such a line is a row, an address or a caption, not wrapped prose


class MentionJudge:
    """Mentions in their passages to probabilities of classes; weights are read once."""

    def __init__(self, weights: Path, classes: int) -> None:
        self._classes = classes
        self._encoder = Encoder(read_tensors(weights)[0])

    def __call__(self, passages: Sequence[tuple[str, int, int]]) -> Probabilities:
        """For each text with the span of a mention in it the probabilities of the classes (n × classes, float32)."""
        marked_passages = [marked(*passage) for passage in passages]
        tokens = [self._encoder.tokens(words) for words, _, _ in marked_passages]
        ids = [t.ids[:MAX_TOKENS] for t in tokens]
        marks = [
            [[True] * len(kept_ids), named(encoding.offsets[: len(kept_ids)], start, end)]
            for encoding, kept_ids, (_, start, end) in zip(tokens, ids, marked_passages, strict=True)
        ]
        return self._encoder.probabilities(ids, marks, self._classes).reshape(-1, self._classes)


def named(offsets: Sequence[tuple[int, int]], first: int, last: int) -> list[bool]:
    """Mark which of the tokens with these offsets are the name that goes from `first` to `last`."""
    return [first <= start and end <= last and end > start for start, end in offsets]


def marked(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The passage around a name as it is judged, the name in brackets, and the name's span in it.

    The end of a short line, which in a letterhead or a table parts one thing from the next, stays visible as a stroke.
    """
    before = _flat(text[max(0, start - WINDOW) : start], cut_left=start > WINDOW)
    after = _flat(text[end : end + WINDOW], cut_right=end + WINDOW < len(text))
    name = " ".join(text[start:end].split())
    name_start = len(before) + 3
    return f"{before} [ {name} ] {after}", name_start, name_start + len(name)


def _flat(text: str, *, cut_left: bool = False, cut_right: bool = False) -> str:
    if cut_left:
        text = text.partition(" ")[2]
    if cut_right:
        text = text.rpartition(" ")[0]
    lines = text.split("\n")
    joined = lines[0]
    for previous, line in pairwise(lines):
        joined += (" / " if len(previous.strip()) < SHORT_LINE else " ") + line
    return re.sub(r"(?:/ )+/", "/", " ".join(joined.split()))
