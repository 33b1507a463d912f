"""Shares of known conflicts found, of pairs flagged that only look so, and of everything else that is flagged.

A file of pairs has one JSON object a line: two paragraphs with the quotations that conflict or only look so, and for a
conflict whether it is superseded or unresolved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ovrag_core.base import ResultError, read_records
from ovrag_core.evaluation import Estimate, Resampling, wilson
from ovrag_studies.cited.answering.published_pipeline import opposed_pairs
from ovrag_studies.cited.conflicts.rule_conflicts import Conflict
from ovrag_studies.cited.conflicts.rules import RuleSource
from ovrag_studies.cited.corpus.policies import PolicyCorpus, require_known


class Pair(BaseModel):
    """Two quotations with their paragraphs, which conflict or only look so."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    pair_id: str
    label: Literal["conflict", "lookalike"]
    first: str
    first_quote: str
    second: str
    second_quote: str
    status: Literal["superseded", "unresolved", ""] | None = None


@dataclass(frozen=True, slots=True)
class Flagged:
    """Output of a system for a corpus: places of paragraphs in it, first before second, by pair; conflicts by pair."""

    pairs: frozenset[tuple[int, int]]
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class ConflictReport:
    """Shares of conflicts found, of lookalikes flagged, of all other pairs of paragraphs flagged, and told apart."""

    found: Estimate
    lookalikes: Estimate
    others: Estimate
    told_apart: Estimate
    missed: tuple[str, ...]
    mistaken: tuple[str, ...]


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
    sides = (
        (row[conflict.first.source.paragraph_id], row[conflict.second.source.paragraph_id]) for conflict in conflicts
    )
    return Flagged(frozenset(_ordered(*pair) for pair in sides), tuple(conflicts))


def flagged_as_published(corpus: PolicyCorpus) -> Flagged:
    """Return the pairs of paragraphs that the dissertation's rule of opposed words flags."""
    return Flagged(frozenset(opposed_pairs(corpus.paragraphs)))


def assess(found: Flagged, pairs: Sequence[Pair], corpus: PolicyCorpus, plan: Resampling) -> ConflictReport:
    """Return the report on pairs, with Wilson intervals over pairs.

    A pair counts where the system names the two paragraphs and, if it names sentences, those of the quotations. Raises
    CorpusError where the corpus lacks a paragraph.
    """
    require_known((name for pair in pairs for name in (pair.first, pair.second)), corpus, "the file of pairs")
    row = _rows(corpus)
    pair_rows = {pair.pair_id: _ordered(row[pair.first], row[pair.second]) for pair in pairs}
    hits = {pair.pair_id: _hits(pair, pair_rows[pair.pair_id], found, row) for pair in pairs}
    named = {name for name in pair_rows if pair_rows[name] in found.pairs and (not found.conflicts or hits[name])}
    conflicts, lookalikes = _ids(pairs, "conflict"), _ids(pairs, "lookalike")
    told_apart = _told_apart(pairs, hits)
    return ConflictReport(
        wilson(len(named.intersection(conflicts)), len(conflicts), plan.confidence),
        wilson(len(named.intersection(lookalikes)), len(lookalikes), plan.confidence),
        wilson(len(found.pairs - set(pair_rows.values())), _others(pair_rows.values(), corpus), plan.confidence),
        wilson(sum(told_apart), len(told_apart), plan.confidence),
        tuple(name for name in conflicts if name not in named),
        tuple(name for name in lookalikes if name in named),
    )


def _ids(pairs: Iterable[Pair], label: str) -> list[str]:
    return [pair.pair_id for pair in pairs if pair.label == label]


def _told_apart(pairs: Iterable[Pair], hits: Mapping[str, Sequence[Conflict]]) -> list[bool]:
    """Return for each conflict that was found and has a status whether a finding has it too."""
    with_status = (pair for pair in pairs if pair.label == "conflict" and pair.status)
    return [any(hit.status == pair.status for hit in hits[pair.pair_id]) for pair in with_status if hits[pair.pair_id]]


def _others(known: Iterable[tuple[int, int]], corpus: PolicyCorpus) -> int:
    """Return how many pairs of paragraphs of a corpus are not among the known ones."""
    apart = {places for places in known if places[0] != places[1]}  # the others are of one paragraph
    return len(corpus.paragraphs) * (len(corpus.paragraphs) - 1) // 2 - len(apart)


def _rows(corpus: PolicyCorpus) -> dict[str, int]:
    return {name: row for row, paragraph in enumerate(corpus.paragraphs) for name in paragraph.ids}


def _ordered(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _hits(pair: Pair, places: tuple[int, int], found: Flagged, row: dict[str, int]) -> list[Conflict]:
    """Return the conflicts between the two paragraphs whose sentences are those of the quotations, either way round."""
    return [
        conflict
        for conflict in found.conflicts
        for left, right in [(conflict.first.source, conflict.second.source)]
        if _ordered(row[left.paragraph_id], row[right.paragraph_id]) == places
        and any(_holds(a, pair.first_quote) and _holds(b, pair.second_quote) for a, b in permutations((left, right)))
    ]


def _holds(source: RuleSource, quote: str) -> bool:
    """Return True where a sentence and a quotation are one, or one holds the other."""
    sentence, quotation = " ".join(source.text.split()), " ".join(quote.split())
    return quotation in sentence or sentence in quotation
