"""Norms that cannot both be kept: paired by what they are about, refuted by the reasoner, settled by clauses.

Two norms are about the same where their sentences are alike, nobody else is bound and nothing else is meant. What they
say of it becomes facts; the reasoner finds those that contradict each other and names the axioms. A clash is superseded
where a clause lets one side prevail, else unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy

from ovrag_core.ontology.assertions import Fact
from ovrag_core.ontology.reasoner import Reasoner
from ovrag_core.ontology.values import XSD, Value
from ovrag_core.retrieval.embedding import Embedder, minilm
from ovrag_core.retrieval.words import stems
from ovrag_studies.cited.alignment import Alignment
from ovrag_studies.cited.clashes import Kind, amount_of, clashes
from ovrag_studies.cited.conflict_model import load_model
from ovrag_studies.cited.corpus import Corpus
from ovrag_studies.cited.deontic import Norm, Source, read_norms, section_of
from ovrag_studies.cited.opposition import compare, differing, told
from ovrag_studies.cited.polarity import Force
from ovrag_studies.cited.precedence import Precedence, find_precedence
from ovrag_studies.cited.quantities import Quantity
from ovrag_studies.cited.readings import read

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

    `prevails` is the side that `clause` lets prevail; both are None where it is unresolved. `proof` are the axioms by
    which the reasoner refutes the two together; `score` says how alike their sentences are.
    """

    kind: Kind
    first: Norm
    second: Norm
    score: float
    status: Status
    prevails: Literal["first", "second"] | None
    clause: Source | None
    proof: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clash:
    """Two norms about the same that seem to clash, before the reasoner has seen them."""

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

_SPACE = "urn:ovrag:norm#"
_OF_FORCE: dict[Force, str] = {"duty": "Required", "ban": "Forbidden", "may": "Permitted", "waived": "Waived"}
_NAMES = ("Required", "Forbidden", "Permitted", "Waived", "Affirmed", "Denied", "InForce", "Ended")
_SETS = ("amount", "agent", "means", "place", "course")
_NORMATIVE = frozenset(
    stems(
        """must shall should may can cannot require required requirement requirements mandatory permit permitted allow
        permission allowed prohibit prohibited forbidden banned never without need necessary exempt minimum maximum
        least most limit limited within every any all each always only also now more less than no later earlier first
        last up employee employees staff company policy is are be effective immediately following circumstance exception
        """
    )
)


def axioms() -> str:
    """The axioms of norms, as N-Triples: what is required is permitted; what is forbidden is not; and so on.

    After von Wright, Deontic Logic (Mind 60, 1951). A matter has one amount of each sort.
    """
    owl, rdf, rdfs = (
        "http://www.w3.org/2002/07/owl#",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "http://www.w3.org/2000/01/rdf-schema#",
    )
    triples = [(f"{_SPACE}{name}", f"{rdf}type", f"{owl}Class") for name in _NAMES]
    triples += [
        (f"{_SPACE}Required", f"{rdfs}subClassOf", f"{_SPACE}Permitted"),
        (f"{_SPACE}Waived", f"{rdfs}subClassOf", f"{_SPACE}Permitted"),
        (f"{_SPACE}Permitted", f"{owl}disjointWith", f"{_SPACE}Forbidden"),
        (f"{_SPACE}Required", f"{owl}disjointWith", f"{_SPACE}Waived"),
        (f"{_SPACE}Affirmed", f"{owl}disjointWith", f"{_SPACE}Denied"),
        (f"{_SPACE}InForce", f"{owl}disjointWith", f"{_SPACE}Ended"),
    ]
    kinds = ("DatatypeProperty", "FunctionalProperty")
    triples += [(f"{_SPACE}{name}", f"{rdf}type", f"{owl}{kind}") for name in _SETS for kind in kinds]
    return "".join(f"<{one}> <{two}> <{three}> .\n" for one, two, three in triples)


def open_reasoner(seconds: float = 10) -> Reasoner:
    """The reasoner over the axioms of norms."""
    names = {f"{_SPACE}{name}": name for name in (*_NAMES, *_SETS)}
    return Reasoner(axioms(), names=names, classes=[f"{_SPACE}{name}" for name in _NAMES], seconds=seconds)


def find_corpus_conflicts(
    corpus: Corpus, reasoner: Reasoner, settings: ConflictSettings | None = None, embedder: Embedder | None = None
) -> tuple[Conflict, ...]:
    """All conflicts of a corpus, settled by its own clauses."""
    return find_conflicts(read_norms(corpus), reasoner, find_precedence(corpus), settings, embedder)


def find_conflicts(
    norms: Sequence[Norm],
    reasoner: Reasoner,
    clauses: Sequence[Precedence] = (),
    settings: ConflictSettings | None = None,
    embedder: Embedder | None = None,
) -> tuple[Conflict, ...]:
    """The conflicts among norms, most alike first; one for two sentences and a kind."""
    chosen = settings or ConflictSettings()
    clashes = find_clashes(norms, clauses, chosen, embedder)
    return tuple(
        _settled(clash, proof, clauses, chosen)
        for clash, proof in zip(clashes, prove(clashes, reasoner), strict=True)
        if proof
    )


def find_clashes(
    norms: Sequence[Norm],
    clauses: Sequence[Precedence] = (),
    settings: ConflictSettings | None = None,
    embedder: Embedder | None = None,
) -> list[Clash]:
    """What seems to clash, most alike first."""
    chosen = settings or ConflictSettings()
    comparison = Comparison(by_sentence(norms), embedder or minilm(), chosen, clauses)
    found = [clash for left, right in comparison.pairs() if (clash := comparison.clash(left, right))]
    return sorted(found, key=lambda each: (-each.score, each.first.source.start, each.second.source.start))


def by_sentence(norms: Sequence[Norm]) -> dict[Source, list[Norm]]:
    """The norms of each sentence."""
    found: dict[Source, list[Norm]] = {}
    for norm in norms:
        found.setdefault(norm.source, []).append(norm)
    return found


class Comparison:
    """Norms of sentences with what aligns them, and which of two sections a clause links."""

    def __init__(
        self,
        sentences: Mapping[Source, Sequence[Norm]],
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

    def pairs(self) -> Iterator[tuple[Source, Source]]:
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

    def clash(self, left: Source, right: Source) -> Clash | None:
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


def _with_context(sentences: Mapping[Source, Sequence[Norm]]) -> dict[str, str]:
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


def prove(clashes: Sequence[Clash], reasoner: Reasoner) -> list[tuple[str, ...]]:
    """For each clash the axioms by which the reasoner refutes it; empty where it finds the two consistent."""
    proofs: list[tuple[str, ...]] = []
    for clash in clashes:
        outcome = reasoner.check(facts_of(clash))
        sets = [axioms for each in outcome.explanations for axioms in each.axioms]
        proofs.append(tuple(reasoner.axioms[number] for number in sets[0]) if sets else ())
    return proofs


def facts_of(clash: Clash) -> list[Fact]:
    """What the two norms of a clash say of the one matter that they are about."""
    match clash.kind:
        case "duty":
            return [Fact("class", _SPACE + name, 0, None) for name in _classes_of(clash)]
        case "denial" | "exclusive":
            names = ("Affirmed", "Denied") if clash.kind == "denial" else ("Permitted", "Forbidden")
            return [Fact("class", f"{_SPACE}{name}", 0, None) for name in names]
        case "condition":
            return [Fact("class", f"{_SPACE}{name}", 0, None) for name in ("Required", "Waived")]
        case "former":
            return [Fact("class", f"{_SPACE}{name}", 0, None) for name in ("InForce", "Ended")]
        case "quantity" | "limit":
            given = [norm.quantity for norm in (clash.first, clash.second) if norm.quantity]
            return [Fact("data", f"{_SPACE}amount", 0, _literal(each)) for each in given]
        case "actor" | "means" | "place" | "course":
            name = "agent" if clash.kind == "actor" else clash.kind
            said = _own(clash) if clash.kind == "course" else [_said(each, clash.kind) for each in _sides(clash)]
            return [Fact("data", f"{_SPACE}{name}", 0, Value(each, XSD + "string")) for each in said]


def _literal(quantity: Quantity) -> Value:
    if isinstance(quantity.value, str):
        return Value(quantity.value, XSD + "string")
    return Value(f"{amount_of(quantity):f}", XSD + "decimal")


def _sides(clash: Clash) -> tuple[Norm, Norm]:
    return clash.first, clash.second


def _own(clash: Clash) -> list[str]:
    """What each sentence has of concepts that the other lacks."""
    mine, theirs = (read(norm.source.text).content for norm in _sides(clash))
    return [" ".join(sorted(one - other)) for one, other in ((mine, theirs), (theirs, mine))]


def _said(norm: Norm, kind: Kind) -> str:
    """The words by which a sentence says who, by which means, or where."""
    text = norm.source.text
    return "; ".join(text[start:end].lower() for name, start, end in read(text).spans if name == kind)


def _classes_of(clash: Clash) -> tuple[str, str]:
    """The classes of two norms. A ban on doing without approval, held against a waiver of it, is a duty to get it; what
    is only recommended is not required.
    """
    first, second = clash.first.modality, clash.second.modality
    if {first, second} == {"ban", "waived"}:
        return ("Required", "Waived")
    if frozenset({first, second}) in ({"duty", "ban"}, {"may", "ban"}, {"duty", "waived"}):
        return _OF_FORCE[first], _OF_FORCE[second]
    return ("Required", "Waived")


def _settled(
    clash: Clash, proof: tuple[str, ...], clauses: Sequence[Precedence], settings: ConflictSettings
) -> Conflict:
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
        clash.kind, clash.first, clash.second, clash.score, "superseded" if side else "unresolved", side, clause, proof
    )


def _deciding(winner: Norm, loser: Norm, clauses: Sequence[Precedence]) -> Source | None:
    """The clause by which one norm prevails over another, that beside it before one for its document."""
    found = [clause for clause in clauses if clause.decides(winner, loser)]
    return min(found, key=lambda clause: clause.whole).source if found else None
