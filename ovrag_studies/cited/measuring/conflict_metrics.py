"""Shares of known conflicts found, of pairs flagged that only look so, and of everything else that is flagged.

A file of pairs has one JSON object a line: two paragraphs with the quotations that conflict or only look so, and for a
conflict whether it is superseded or unresolved.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Literal, NamedTuple

from ovrag_core.base import Frozen, ResultError, read_records
from ovrag_core.evaluation import Estimate, Resampling, wilson
from ovrag_studies.cited.conflicts.rule_conflicts import Conflict
from ovrag_studies.cited.corpus.policies import PolicyCorpus, require_known


class Pair(Frozen, extra="ignore"):
    """Two quotations with their paragraphs, which conflict or only look so."""

    pair_id: str
    label: Literal["conflict", "lookalike"]
    first: str
    first_quote: str
    second: str
    second_quote: str
    status: Literal["superseded", "unresolved", ""] | None = None


class Flagged(NamedTuple):
    """Output of a system for a corpus: places of paragraphs in it, first before second, by pair; conflicts by pair."""

    pairs: frozenset[tuple[int, int]]
    conflicts: tuple[Conflict, ...] = ()


class ConflictReport(NamedTuple):
    """Shares of conflicts found, of lookalikes flagged, of all other pairs of paragraphs flagged, and told apart."""

    found: Estimate
    lookalikes: Estimate
    others: Estimate
    told_apart: Estimate


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file. Raises ResultError, with the line, for what is no pair, and where there is none."""
    remedy = "give pairs of paragraphs, one JSON object a line"
    pairs = [pair for _, pair in read_records(path, Pair, ResultError, remedy)]
    if not pairs:
        raise ResultError(f"{path} holds no pair; {remedy}")
    return pairs


def flagged(conflicts: Sequence[Conflict], corpus: PolicyCorpus) -> Flagged:
    """Return the pairs of paragraphs in which conflicts were found."""
    row = _rows(corpus)
    pairs = (_places(conflict.first.paragraph_id, conflict.second.paragraph_id, row) for conflict in conflicts)
    return Flagged(frozenset(pairs), tuple(conflicts))


def assess(found: Flagged, pairs: Sequence[Pair], corpus: PolicyCorpus, plan: Resampling) -> ConflictReport:
    """Return the report on pairs, with Wilson intervals over pairs.

    A pair counts where the system names the two paragraphs and, if it names sentences, those of the quotations. Raises
    CorpusError where the corpus lacks a paragraph.
    """
    require_known((name for pair in pairs for name in (pair.first, pair.second)), corpus, "the file of pairs")
    row = _rows(corpus)
    places = [_places(pair.first, pair.second, row) for pair in pairs]
    named: dict[str, list[bool]] = {"conflict": [], "lookalike": [], "told apart": []}
    for pair, place in zip(pairs, places, strict=True):
        hits = _hits(pair, place, found, row)
        named[pair.label].append(place in found.pairs and (not found.conflicts or bool(hits)))
        if pair.label == "conflict" and pair.status and hits:
            named["told apart"].append(any(hit.status == pair.status for hit in hits))
    between = {(first, second) for first, second in places if first != second}  # the others are of one paragraph
    others = len(corpus.paragraphs) * (len(corpus.paragraphs) - 1) // 2 - len(between)
    known, lookalikes, told_apart = (wilson(sum(hits), len(hits), plan.confidence) for hits in named.values())
    return ConflictReport(
        known, lookalikes, wilson(len(found.pairs - set(places)), others, plan.confidence), told_apart
    )


def _rows(corpus: PolicyCorpus) -> dict[str, int]:
    return {name: row for row, paragraph in enumerate(corpus.paragraphs) for name in paragraph.ids}


def _places(first: str, second: str, row: Mapping[str, int]) -> tuple[int, int]:
    return min(row[first], row[second]), max(row[first], row[second])


def _hits(pair: Pair, places: tuple[int, int], found: Flagged, row: Mapping[str, int]) -> list[Conflict]:
    """Return the conflicts between the two paragraphs whose sentences are those of the quotations, either way round."""
    return [
        conflict
        for conflict in found.conflicts
        if _places(conflict.first.paragraph_id, conflict.second.paragraph_id, row) == places
        and any(
            _holds(one.text, pair.first_quote) and _holds(other.text, pair.second_quote)
            for one, other in permutations((conflict.first, conflict.second))
        )
    ]


def _holds(sentence: str, quote: str) -> bool:
    """Return True where a sentence and a quotation are one, or one holds the other."""
    texts = [" ".join(text.split()) for text in (sentence, quote)]
    return texts[0] in texts[1] or texts[1] in texts[0]
