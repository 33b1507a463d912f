"""How many known conflicts are found, how many pairs that only look so, and how much of everything else is flagged.

A file of pairs has one JSON object a line: two paragraphs with the quotations that conflict or only look so, and for a
conflict whether it is superseded or unresolved.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ovrag_core.base.errors import ResultError
from ovrag_core.evaluation.statistics import Estimate, Resampling, wilson
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.answering.published_pipeline import opposed_pairs
from ovrag_studies.cited.conflicts.deontic import NormSource
from ovrag_studies.cited.conflicts.norm_conflicts import Conflict
from ovrag_studies.cited.corpus.policies import PolicyCorpus, require_known
from ovrag_studies.cited.corpus.retrieval import RankedParagraph


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
    """What a system says of a corpus: places of paragraphs in it, first before second, by pair; conflicts by pair."""

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
    """The pairs of a file. Raises ResultError, with the line, for what is no pair, and where there is none."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise ResultError(f"{path} cannot be read; give pairs of paragraphs, one JSON object a line") from None
    pairs = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                pairs.append(Pair.model_validate(json.loads(line)))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(str(part) for part in first["loc"]) or "the whole"
                raise ResultError(f"{path}, line {number}: {where}: {one_line(first['msg'])}") from None
            except ValueError:
                raise ResultError(f"{path}, line {number}: no JSON object; write one pair a line") from None
    if not pairs:
        raise ResultError(f"{path} holds no pair")
    return pairs


def flagged(conflicts: Sequence[Conflict], corpus: PolicyCorpus) -> Flagged:
    """The pairs of paragraphs in which conflicts were found."""
    row = _rows(corpus)
    sides = ((row[each.first.source.paragraph_id], row[each.second.source.paragraph_id]) for each in conflicts)
    return Flagged(frozenset(_ordered(*each) for each in sides), tuple(conflicts))


def flagged_as_published(corpus: PolicyCorpus) -> Flagged:
    """The pairs of paragraphs that the dissertation's rule of opposed words flags."""
    evidence = [RankedParagraph(paragraph, 0.0, "", 1) for paragraph in corpus.paragraphs]
    return Flagged(frozenset(opposed_pairs(evidence)))


def assess(found: Flagged, pairs: Sequence[Pair], corpus: PolicyCorpus, plan: Resampling) -> ConflictReport:
    """The report on pairs, with Wilson intervals over pairs. Raises CorpusError where the corpus lacks a paragraph.

    A pair counts where the system names the two paragraphs and, if it names sentences, those of the quotations.
    """
    require_known((name for each in pairs for name in (each.first, each.second)), corpus, "the file of pairs")
    row = _rows(corpus)
    known = {each.pair_id: _ordered(row[each.first], row[each.second]) for each in pairs}
    hits = {each.pair_id: _hits(each, known[each.pair_id], found, row) for each in pairs}
    conflicts = [each for each in pairs if each.label == "conflict"]
    lookalikes = [each for each in pairs if each.label == "lookalike"]
    is_hit = {name: known[name] in found.pairs and (not found.conflicts or bool(hits[name])) for name in known}
    told = [
        any(hit.status == each.status for hit in hits[each.pair_id])
        for each in conflicts
        if each.status and hits[each.pair_id]
    ]
    every = set(combinations(range(len(corpus.paragraphs)), 2)) - set(known.values())
    return ConflictReport(
        _share((is_hit[each.pair_id] for each in conflicts), plan),
        _share((is_hit[each.pair_id] for each in lookalikes), plan),
        wilson(len(found.pairs & every), len(every), plan.confidence),
        _share(told, plan),
        tuple(each.pair_id for each in conflicts if not is_hit[each.pair_id]),
        tuple(each.pair_id for each in lookalikes if is_hit[each.pair_id]),
    )


def _rows(corpus: PolicyCorpus) -> dict[str, int]:
    return {name: row for row, paragraph in enumerate(corpus.paragraphs) for name in paragraph.ids}


def _ordered(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _hits(pair: Pair, places: tuple[int, int], found: Flagged, row: dict[str, int]) -> list[Conflict]:
    return [
        each
        for each in found.conflicts
        if _ordered(row[each.first.source.paragraph_id], row[each.second.source.paragraph_id]) == places
        and (
            (_holds(each.first.source, pair.first_quote) and _holds(each.second.source, pair.second_quote))
            or (_holds(each.second.source, pair.first_quote) and _holds(each.first.source, pair.second_quote))
        )
    ]


def _holds(source: NormSource, quote: str) -> bool:
    """Whether a sentence and a quotation are one, or one holds the other."""
    one, other = " ".join(source.text.split()), " ".join(quote.split())
    return other in one or one in other


def _share(values: Iterable[bool], plan: Resampling) -> Estimate:
    listed = list(values)
    return wilson(sum(listed), len(listed), plan.confidence)
