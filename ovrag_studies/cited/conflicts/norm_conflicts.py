"""Norms that cannot both be kept: paired by what they are about, told by kind, settled by clauses.

Two norms are about the same where their sentences are alike, nobody else is bound and nothing else is meant. A clash is
superseded where a clause lets one side prevail, else unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy

from ovrag_core.retrieval import Embedder, minilm
from ovrag_core.text import stems
from ovrag_studies.cited.conflicts.alignment import Alignment
from ovrag_studies.cited.conflicts.clashes import Kind, clashes
from ovrag_studies.cited.conflicts.conflict_model import load_model
from ovrag_studies.cited.conflicts.deontic import Norm, NormSource, read_norms, section_of
from ovrag_studies.cited.conflicts.opposition import compare, differing, told
from ovrag_studies.cited.conflicts.precedence import Precedence, find_precedence
from ovrag_studies.cited.corpus.policies import PolicyCorpus

Status = Literal["superseded", "unresolved"]


@dataclass(frozen=True, slots=True)
class ConflictSettings:
    """From which chance on two sentences are taken to conflict, by the learned weights.

    Where a clause says that one section replaces the other, a cosine of `linked` and a rule of `clashes` are enough.
    Two sentences of one paragraph are held to more, by `beside`.
    """

    chance: float = 0.40
    linked: float = 0.40
    beside: float = 0.15
    later_prevails: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two norms that clash, and what becomes of it.

    `prevails` is the side that `clause` lets prevail; both are None where it is unresolved. `score` says how alike
    their sentences are.
    """

    kind: Kind
    first: Norm
    second: Norm
    score: float
    status: Status
    prevails: Literal["first", "second"] | None
    clause: NormSource | None


@dataclass(frozen=True, slots=True)
class Clash:
    """Two norms about the same that clash, before a clause settles them."""

    kind: Kind
    first: Norm
    second: Norm
    score: float


REPLACED = 0.6  # of the words of what a clause says is replaced
LOOK = 0.35  # cosine from which two sentences are looked at, where one is among the NEIGHBOURS most like the other
NEIGHBOURS = 8
CLOSE = 0.55  # cosine from which they are in any case
LINKED = 0.9  # the score of two sections that a clause links

_RANKING = re.compile(r"\b(?:supersed\w+|prevails?|(?:take|have|has)s? (?:precedence|priority)|overrid\w+)\b", re.I)

_NORMATIVE = frozenset(
    stems(
        """must shall should may can cannot require required requirement requirements mandatory permit permitted allow
        permission allowed prohibit prohibited forbidden banned never without need necessary exempt minimum maximum
        least most limit limited within every any all each always only also now more less than no later earlier first
        last up employee employees staff company policy is are be effective immediately following circumstance exception
        """
    )
)


def find_corpus_conflicts(
    corpus: PolicyCorpus, settings: ConflictSettings | None = None, embedder: Embedder | None = None
) -> tuple[Conflict, ...]:
    """All conflicts of a corpus, settled by its own clauses."""
    return find_conflicts(read_norms(corpus), find_precedence(corpus), settings, embedder)


def find_conflicts(
    norms: Sequence[Norm],
    clauses: Sequence[Precedence] = (),
    settings: ConflictSettings | None = None,
    embedder: Embedder | None = None,
) -> tuple[Conflict, ...]:
    """The conflicts among norms, most alike first; one for two sentences and a kind."""
    chosen = settings or ConflictSettings()
    return tuple(_settled(clash, clauses, chosen) for clash in find_clashes(norms, clauses, chosen, embedder))


def find_clashes(
    norms: Sequence[Norm],
    clauses: Sequence[Precedence] = (),
    settings: ConflictSettings | None = None,
    embedder: Embedder | None = None,
) -> list[Clash]:
    """What clashes, most alike first."""
    chosen = settings or ConflictSettings()
    comparison = NormComparison(by_sentence(norms), embedder or minilm(), chosen, clauses)
    found = [clash for left, right in comparison.pairs() if (clash := comparison.clash(left, right))]
    return sorted(found, key=lambda each: (-each.score, each.first.source.start, each.second.source.start))


def by_sentence(norms: Sequence[Norm]) -> dict[NormSource, list[Norm]]:
    """The norms of each sentence."""
    found: dict[NormSource, list[Norm]] = {}
    for norm in norms:
        found.setdefault(norm.source, []).append(norm)
    return found


class NormComparison:
    """Norms of sentences with what aligns them, and which of two sections a clause links."""

    def __init__(
        self,
        sentences: Mapping[NormSource, Sequence[Norm]],
        embedder: Embedder,
        settings: ConflictSettings,
        clauses: Sequence[Precedence],
    ) -> None:
        self.settings = settings
        self.sources = [source for source, norms in sentences.items() if not _ranks(norms)]
        self.sections = {source: section_of(of[0]) for source, of in sentences.items()}
        self.alignment = Alignment(_with_context(sentences), embedder)
        self.told = {source: told(norms) for source, norms in sentences.items()}
        self.clauses: dict[tuple[str, str, str], list[Precedence]] = {}
        for clause in clauses:
            if not clause.whole and clause.source in self.sections:
                self.clauses.setdefault(self.sections[clause.source], []).append(clause)

    def pairs(self) -> Iterator[tuple[NormSource, NormSource]]:
        """Sentences that are alike enough to look at."""
        rows = [self.alignment.rows[source.text] for source in self.sources]
        cosines = self.alignment.cosines[numpy.ix_(rows, rows)] - 2 * numpy.eye(len(rows), dtype=numpy.float32)
        near = numpy.zeros(cosines.shape, dtype=bool)
        nearest = numpy.argsort(-cosines, axis=1, kind="stable")[:, :NEIGHBOURS]
        numpy.put_along_axis(near, nearest, values=True, axis=1)
        chosen = ((near | near.T) & (cosines >= LOOK)) | (cosines >= CLOSE)
        for left, right in zip(*numpy.nonzero(numpy.triu(chosen, 1)), strict=True):
            if self.sources[left].text != self.sources[right].text:
                yield self.sources[left], self.sources[right]

    def clash(self, left: NormSource, right: NormSource) -> Clash | None:
        """The clash of two sentences; None where they can both be kept or are about something else."""
        one, other = self.told[left], self.told[right]
        score = load_model().chance(compare(one, other, self.alignment))
        found = next(clashes(one.norms, other.norms), None)
        if found and (self._linked(found[1], found[2]) or self._linked(found[2], found[1])):
            alike = self.alignment.cosines[self.alignment.rows[left.text], self.alignment.rows[right.text]]
            score = max(score, LINKED) if alike >= self.settings.linked else 0.0
        elif left.paragraph_id == right.paragraph_id:
            score -= self.settings.beside
        if score < self.settings.chance:
            return None
        found = found or differing(one, other)
        return Clash(*found, score) if found else None

    def _linked(self, newer: Norm, older: Norm) -> bool:
        """Whether a clause in the section of the newer norm says that it replaces what the older one says."""
        return any(
            older.source.doc_id in clause.losers and _replaces(clause, older)
            for clause in self.clauses.get(self.sections[newer.source], ())
        )


def _ranks(norms: Sequence[Norm]) -> bool:
    """Whether a sentence only says which rules prevail."""
    plain = not any(norm.cue or norm.quantity for norm in norms)
    return plain and bool(_RANKING.search(norms[0].source.text))


def _with_context(sentences: Mapping[NormSource, Sequence[Norm]]) -> dict[str, str]:
    """Each sentence with its heading and those before it in its paragraph; the first place of one said twice."""
    found: dict[str, str] = {}
    before: dict[str, list[str]] = {}
    for source, norms in sentences.items():
        said = before.setdefault(source.paragraph_id, [norms[0].scope.heading])
        found.setdefault(source.text, " ".join(said))
        said.append(source.text)
    return found


def _replaces(clause: Precedence, older: Norm) -> bool:
    about = clause.about - _NORMATIVE
    held = about & set(stems(f"{older.scope.heading} {older.source.text}"))
    return len(held) > 1 and len(held) >= REPLACED * len(about)


def _settled(clash: Clash, clauses: Sequence[Precedence], settings: ConflictSettings) -> Conflict:
    for_first = _deciding(clash.first, clash.second, clauses)
    for_second = _deciding(clash.second, clash.first, clauses)
    side: Literal["first", "second"] | None = None
    if bool(for_first) != bool(for_second):
        side = "first" if for_first else "second"
    clause = for_first or for_second if side else None
    if side is None and settings.later_prevails and not for_first and clash.first.date and clash.second.date:
        later = max(clash.first.date, clash.second.date)
        if clash.first.date != clash.second.date and "?" not in clash.first.date + clash.second.date:
            side = "first" if clash.first.date == later else "second"
    return Conflict(
        clash.kind, clash.first, clash.second, clash.score, "superseded" if side else "unresolved", side, clause
    )


def _deciding(winner: Norm, loser: Norm, clauses: Sequence[Precedence]) -> NormSource | None:
    """The clause by which one norm prevails over another, that beside it before one for its document."""
    found = [clause for clause in clauses if clause.decides(winner, loser)]
    return min(found, key=lambda clause: clause.whole).source if found else None
