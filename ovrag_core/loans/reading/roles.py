"""Who a named person or body is to the loan, by what the words around the name mean.

Patterns find a party where it is called one in words that somebody foresaw. The judge of roles reads the passage around
a name instead: the bundled sentence embedder with low-rank adapters (Hu et al. 2022) and one linear layer, trained by
`tools/train_roles.py` on the passages of `training/loans/roles/`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from ovrag_core.base import project_file
from ovrag_core.loans.reading.names import Name, Role, built_kind, name_at
from ovrag_core.loans.reading.sightings import Sighting, Terms, is_party
from ovrag_core.retrieval import MAX_TOKENS, Encoder, Probabilities

ROLES = ("other", "borrower", "lender", "guarantor")
WEIGHTS = Path("ontologies/lexicon/roles.safetensors")
PRINCIPALS: tuple[Role, Role] = ("borrower", "lender")
DOUBTFUL = 2.5  # of a sighting's weight: below, how the party is named is hardly a sign
LIKELY = 0.4
MOST = 60  # mentions of names that are judged, from the beginning and from the end
WINDOW = 220  # characters on either side of a name
_CAPITAL = re.compile(r"(?<![\w'’-])[A-ZÀ-Þ]")
_SHORT_LINE = 50  # characters: such a line is a row, an address or a caption, not wrapped prose


def candidates(text: str, terms: Terms, start: int = 0, stop: int | None = None) -> list[Name]:
    """The names in `[start, stop)` that could be a party's, in order; each as long as it goes."""
    found: list[Name] = []
    at = start
    stop = len(text) if stop is None else stop
    for capital in _CAPITAL.finditer(text, start, stop):
        if capital.start() < at:
            continue
        name = name_at(text, capital.start(), stop=stop)
        if name is not None:
            at = max(at, name.end)
            if is_party(name, terms) and (built_kind(name.text) is not None or len(name.text.split()) > 1):
                found.append(name)
    return found


class RoleJudge:
    """Names in their passages to probabilities of roles; weights are read once."""

    def __init__(self, weights: Path) -> None:
        from safetensors.torch import load_file  # noqa: PLC0415 - torch takes seconds; only who judges shall wait

        self._encoder = Encoder(load_file(weights))

    def __call__(self, passages: Sequence[tuple[str, int, int]]) -> Probabilities:
        """For each text with the span of a name in it the probabilities of `ROLES` (n × 4, float32)."""
        seen = [marked(*passage) for passage in passages]
        tokens = [self._encoder.tokens(words) for words, _, _ in seen]
        ids = [each.ids[:MAX_TOKENS] for each in tokens]
        marks = [
            [[True] * len(own), named(each.offsets[: len(own)], first, last)]
            for each, own, (_, first, last) in zip(tokens, ids, seen, strict=True)
        ]
        return self._encoder.probabilities(ids, marks, len(ROLES)).reshape(-1, len(ROLES))


def named(offsets: Sequence[tuple[int, int]], first: int, last: int) -> list[bool]:
    """Which of the tokens with these offsets are the name that goes from `first` to `last`."""
    return [first <= start and end <= last and end > start for start, end in offsets]


def marked(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The passage around a name as it is judged, the name in brackets, and the name's span in it.

    The end of a short line, which in a letterhead or a table parts one thing from the next, stays visible as a stroke.
    """
    before = _flat(text[max(0, start - WINDOW) : start], cut_left=start > WINDOW)
    after = _flat(text[end : end + WINDOW], cut_right=end + WINDOW < len(text))
    name = " ".join(text[start:end].split())
    first = len(before) + 3
    return f"{before} [ {name} ] {after}", first, first + len(name)


def _flat(text: str, *, cut_left: bool = False, cut_right: bool = False) -> str:
    if cut_left:
        text = text.partition(" ")[2]
    if cut_right:
        text = text.rpartition(" ")[0]
    lines = text.split("\n")
    joined = lines[0]
    for previous, line in pairwise(lines):
        joined += (" / " if len(previous.strip()) < _SHORT_LINE else " ") + line
    return re.sub(r"(?:/ )+/", "/", " ".join(joined.split()))


def seen_by_meaning(text: str, terms: Terms, sightings: Sequence[Sighting]) -> list[Sighting]:
    """Borrower and lender as their surroundings tell, where no way of naming a party finds them with some weight."""
    missing = [role for role in PRINCIPALS if all(s.weight < DOUBTFUL for s in sightings if s.role == role)]
    if not missing:
        return []
    names = candidates(text, terms)
    if len(names) > MOST:
        names = [*names[: MOST * 2 // 3], *names[-(MOST // 3) :]]
    judged = load_roles()([(text, name.start, name.end) for name in names])
    keys = ["".join(letter for letter in name.text.casefold() if letter.isalnum()) for name in names]
    found = []
    for role in missing:
        column = ROLES.index(role)
        # All mentions of a name together: how much likelier each is this role's than not.
        odds: dict[str, float] = {}
        for key, row in zip(keys, judged, strict=True):
            likely = min(max(float(row[column]), 0.001), 0.999)
            odds[key] = odds.get(key, 0.0) + math.log(likely / (1 - likely))
        for name, key, row in zip(names, keys, judged, strict=True):
            if odds[key] == max(odds.values()) and row[column] >= LIKELY:
                weight = round(DOUBTFUL * float(row[column]), 3)
                found.append(Sighting(role, name, weight, (name.end, min(len(text), name.end + 160))))
    return found


@cache
def load_roles() -> RoleJudge:
    """The judge of roles, loaded once in a process."""
    return RoleJudge(project_file(WEIGHTS))
