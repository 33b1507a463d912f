"""Norms that cannot both be kept: paired by what they are about, refuted by the reasoner, settled by clauses.

Two norms are about the same where their sentences are alike, nobody else is bound and nothing else is meant. What they
say of it becomes facts; the reasoner finds those that contradict each other and names the axioms. A clash is superseded
where a clause lets one side prevail, else unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import numpy

from ovrag_core.ontology.assertions import Fact
from ovrag_core.ontology.reasoner import Reasoner
from ovrag_core.ontology.values import XSD, Value
from ovrag_core.retrieval.embedding import Embedder, Vectors, minilm
from ovrag_core.retrieval.words import stems
from ovrag_core.studies.policy.corpus import Corpus
from ovrag_core.studies.policy.deontic import Norm, Source, find_subject, read_norms, section_of
from ovrag_core.studies.policy.polarity import Force
from ovrag_core.studies.policy.precedence import Precedence, find_precedence
from ovrag_core.studies.policy.quantities import Quantity, find_quantities

Kind = Literal["quantity", "duty", "denial", "former"]
Status = Literal["superseded", "unresolved"]


@dataclass(frozen=True, slots=True)
class ConflictSettings:
    """How alike two sentences must be, by kind: cosine plus `by_words` times the share of their words in common.

    Where a clause says that one section replaces the other, `linked` is enough.
    """

    quantity: float = 0.90
    duty: float = 0.65
    denial: float = 0.80
    former: float = 0.80
    linked: float = 0.50
    by_words: float = 0.40
    later_prevails: bool = False

    def least(self, kind: Kind) -> float:
        """The least score for a kind."""
        return {"quantity": self.quantity, "duty": self.duty, "denial": self.denial, "former": self.former}[kind]


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


_NUMBERED = frozenset(stems("section clause chapter part article paragraph appendix annex page"))
_MINUTES = {"minute": Decimal(1), "month": Decimal(30 * 1440), "working day": Decimal(7 * 1440) / 5}
SAME_TIME = Decimal("0.05")  # two times in units of different length are the same within this share
REPLACED = 0.6  # of the words of what a clause says is replaced

_SPACE = "urn:ovrag:norm#"
_OF_FORCE: dict[Force, str] = {"duty": "Required", "ban": "Forbidden", "may": "Permitted", "waived": "Waived"}
_NAMES = ("Required", "Forbidden", "Permitted", "Waived", "Affirmed", "Denied", "InForce", "Ended")
_NEGATIVE: frozenset[Force] = frozenset({"ban", "not"})
_OPPOSED: frozenset[frozenset[Force]] = frozenset(
    {frozenset({"duty", "ban"}), frozenset({"may", "ban"}), frozenset({"duty", "waived"}), frozenset({"ban", "waived"})}
)
_PLAINLY_NOT = re.compile(r"\b(?:not|never|no)\b|n[\'’]t\b", re.I)
_DENIED: frozenset[frozenset[Force]] = frozenset(
    {frozenset({"not", "is"}), frozenset({"not", "may"}), frozenset({"not", "duty"})}
)
_WITHOUT = re.compile(
    r"\b(?:without(?! exceptions?| fail| delay)|unless|except|only|subject to|prior|provided|conditions?|until)\b", re.I
)
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
        (f"{_SPACE}amount", f"{rdf}type", f"{owl}DatatypeProperty"),
        (f"{_SPACE}amount", f"{rdf}type", f"{owl}FunctionalProperty"),
    ]
    return "".join(f"<{one}> <{two}> <{three}> .\n" for one, two, three in triples)


def open_reasoner(seconds: float = 10) -> Reasoner:
    """The reasoner over the axioms of norms."""
    names = {f"{_SPACE}{name}": name for name in (*_NAMES, "amount")}
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
    by_sentence: dict[Source, list[Norm]] = {}
    for norm in norms:
        by_sentence.setdefault(norm.source, []).append(norm)
    sections = {source: section_of(of[0]) for source, of in by_sentence.items()}
    compare = _Comparison(sections, embedder or minilm(), chosen, clauses)
    best: dict[tuple[Source, Source, Kind], Clash] = {}
    for left, right in compare.pairs():
        for first in by_sentence[left]:
            for second in by_sentence[right]:
                found = compare.clash(first, second)
                if found and found.score > getattr(best.get((left, right, found.kind)), "score", 0.0):
                    best[left, right, found.kind] = found
    return sorted(best.values(), key=lambda each: (-each.score, each.first.source.start, each.second.source.start))


class _Comparison:
    """Sentences with their vectors and words, and which of two sections a clause links."""

    def __init__(
        self,
        sections: Mapping[Source, tuple[str, str, str]],
        embedder: Embedder,
        settings: ConflictSettings,
        clauses: Sequence[Precedence],
    ) -> None:
        self.settings = settings
        self.sources = list(sections)
        self.sections = sections
        self.rows = {source: row for row, source in enumerate(self.sources)}
        vectors: Vectors = embedder.embed([source.text for source in self.sources])
        self.cosines = vectors @ vectors.T
        self.words = [_content(source.text) for source in self.sources]
        self.clauses: dict[tuple[str, str, str], list[Precedence]] = {}
        for clause in clauses:
            if not clause.whole and clause.source in self.sections:
                self.clauses.setdefault(self.sections[clause.source], []).append(clause)

    def pairs(self) -> Iterator[tuple[Source, Source]]:
        """Sentences that are alike enough to look at."""
        least = min(self.settings.linked, self.settings.duty - self.settings.by_words)
        for left, right in zip(*numpy.nonzero(numpy.triu(self.cosines >= least, 1)), strict=True):
            if self.sources[left].text != self.sources[right].text:
                yield self.sources[left], self.sources[right]

    def clash(self, first: Norm, second: Norm) -> Clash | None:
        """The clash of two norms; None where they agree or are about something else."""
        kind = _kind(first, second)
        if kind is None or _others(first, second):
            return None
        left, right = self.rows[first.source], self.rows[second.source]
        share = _share(self.words[left], self.words[right])
        score = float(self.cosines[left, right]) + self.settings.by_words * share
        if self._linked(first, second) or self._linked(second, first):
            return Clash(kind, first, second, score) if score >= self.settings.linked else None
        if score < self.settings.least(kind) or _unlike_in_words(first.source.text, second.source.text):
            return None
        return Clash(kind, first, second, score)

    def _linked(self, newer: Norm, older: Norm) -> bool:
        """Whether a clause in the section of the newer norm says that it replaces what the older one says."""
        return any(
            older.source.doc_id in clause.losers and _replaces(clause, older)
            for clause in self.clauses.get(self.sections[newer.source], ())
        )


def _replaces(clause: Precedence, older: Norm) -> bool:
    about = clause.about - _NORMATIVE
    held = about & set(stems(f"{older.scope.heading} {older.source.text}"))
    return len(held) > 1 and len(held) >= REPLACED * len(about)


def _content(text: str) -> frozenset[str]:
    """Stems of a sentence without its quantities and the words of ruling."""
    return frozenset(stems(_without_quantities(text))) - _NORMATIVE


def _without_quantities(text: str) -> str:
    letters = list(_ORDINAL.sub(lambda found: " " * len(found[0]), text))
    for each in find_quantities(text):
        letters[each.start : each.end] = " " * (each.end - each.start)
    return "".join(letters)


def _share(first: frozenset[str], second: frozenset[str]) -> float:
    """The words in common: half by the smaller set, half by all of them."""
    common = len(first & second)
    return (common / max(1, min(len(first), len(second))) + common / max(1, len(first | second))) / 2


def _kind(first: Norm, second: Norm) -> Kind | None:
    if first.quantity and second.quantity:
        return _compared(_recurring(first, first.quantity), _recurring(second, second.quantity))
    if first.quantity or second.quantity:
        return None
    if first.cue and second.cue and not first.former and not second.former and _opposed(first, second):
        return "duty"
    if _denied(first, second):
        return "denial"
    return "former" if _reports(first, second) or _reports(second, first) else None


def _recurring(norm: Norm, quantity: Quantity) -> Quantity:
    """The quantity of a norm; that of a cycle ("the interval is 3 years") as how often."""
    recurs = not quantity.every and quantity.unit in _MINUTES and _CYCLE.search(norm.source.text)
    return replace(quantity, every="figure") if recurs else quantity


def _compared(first: Quantity, second: Quantity) -> Kind | None:
    if not _comparable(first, second):
        return None
    if _same(first, second):
        return "former" if first.former != second.former else None
    return None if first.former or second.former or _compatible(first, second) else "quantity"


def _comparable(first: Quantity, second: Quantity) -> bool:
    times = first.unit in _MINUTES and second.unit in _MINUTES
    if not (times or first.unit == second.unit != "date") or bool(first.every) != bool(second.every):
        return False
    return bool(first.unit or first.of & second.of - _NUMBERED)


def _same(first: Quantity, second: Quantity) -> bool:
    if first.unit == second.unit:
        return first.value == second.value
    one, other = _amount(first), _amount(second)
    return abs(one - other) <= SAME_TIME * max(one, other)


def _amount(quantity: Quantity) -> Decimal:
    """The value in one unit for all times: 30 days a month, 7 days for 5 working days."""
    value = quantity.value if isinstance(quantity.value, Decimal) else Decimal(0)
    return value * _MINUTES.get(quantity.unit, 1)


def _compatible(first: Quantity, second: Quantity) -> bool:
    """Whether both can hold: at least the smaller and at most the greater."""
    lower, upper = (first, second) if first.bound == "least" else (second, first)
    return (lower.bound, upper.bound) == ("least", "most") and _amount(lower) <= _amount(upper)


def _opposed(first: Norm, second: Norm) -> bool:
    if frozenset({first.modality, second.modality}) not in _OPPOSED:
        return False
    forces = {first.modality: first, second.modality: second}
    if "duty" in forces and "ban" in forces:
        return bool(first.action & second.action)
    if "waived" in forces and "ban" in forces:
        return bool(_WITHOUT.search(forces["ban"].source.text))
    if "may" in forces and "ban" in forces:
        return not (_WITHOUT.search(forces["ban"].source.text) and _WITHOUT.search(forces["may"].source.text))
    return True


def _denied(first: Norm, second: Norm) -> bool:
    """Whether one norm plainly denies ("is not paid") what the other says, permits or requires."""
    if frozenset({first.modality, second.modality}) not in _DENIED:
        return False
    denial = first if first.modality == "not" else second
    return bool(_PLAINLY_NOT.search(denial.source.text))


def _reports(newer: Norm, older: Norm) -> bool:
    """Whether one norm tells of the other as of one that held before."""
    return newer.former and not older.former and bool(older.cue) and newer.modality == older.modality


def _others(first: Norm, second: Norm) -> bool:
    """Whether two norms bind different people: both name some, and share no word for them; employees are no guests."""
    one, other = first.actor - _ANYONE, second.actor - _ANYONE
    if one and other:
        return not one & other
    return bool((first.actor & _INSIDERS and other & _OUTSIDERS) or (second.actor & _INSIDERS and one & _OUTSIDERS))


def _unlike(first: str, second: str) -> bool:
    """Whether two sentences are said of different things: neither's subject is a word of the other."""
    one, other = find_subject(first), find_subject(second)
    if not one or not other or one in _NORMATIVE or other in _NORMATIVE:
        return False
    return one not in stems(second) and other not in stems(first)


_ANYONE_TEXT = """staff employee user person people everyone everybody anyone nobody member individual personnel team
colleague worker"""
_ANYONE = frozenset(stems(_ANYONE_TEXT))
_INSIDERS = frozenset(stems("employee staff"))
_OWNERS = frozenset(stems("company staff employee"))
_OUTSIDERS = frozenset(
    stems("contractor visitor guest supplier vendor customer client consultant freelancer passenger")
)
_CYCLE = re.compile(r"\b(?:cycle|interval|frequency|rotation|recurrence)s?\b", re.I)
_ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|\d+(?:st|nd|rd|th))\b", re.I
)
_TOKEN = re.compile(r"[A-Za-z][\w'’]*")


def _rivals(first: str, second: str) -> bool:
    """Whether the same word stands with different words before it: "supplier register" against "asset register"."""
    one, two = _modified(_without_quantities(first)), _modified(_without_quantities(second))
    mine, theirs = set(stems(first)), set(stems(second))
    return any(
        one[word] and two[word] and not one[word] & theirs and not two[word] & mine for word in one.keys() & two.keys()
    )


def _unlike_in_words(first: str, second: str) -> bool:
    return _rivals(first, second) or _unlike(first, second)


def _modified(text: str) -> dict[str, frozenset[str]]:
    """For each stem those of the word right before it, as far as that is one of content."""
    found: dict[str, set[str]] = {}
    previous: list[str] = []
    for token in re.findall(r"[A-Za-z][\w'’]*|[^\w\s]|\d+", text):
        now = [stem for stem in stems(token) if stem not in _NORMATIVE - _OWNERS] if _TOKEN.fullmatch(token) else []
        for stem in now:
            found.setdefault(stem, set()).update(previous)
        previous = now
    return {word: frozenset(before) for word, before in found.items()}


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
    if clash.kind == "duty":
        return [Fact("class", _SPACE + _class_of(norm, clash), 0, None) for norm in (clash.first, clash.second)]
    if clash.kind == "denial":
        return [Fact("class", f"{_SPACE}{name}", 0, None) for name in ("Affirmed", "Denied")]
    if clash.kind == "former":
        return [Fact("class", f"{_SPACE}InForce", 0, None), Fact("class", f"{_SPACE}Ended", 0, None)]
    return [
        Fact("data", f"{_SPACE}amount", 0, Value(f"{_amount(norm.quantity):f}", XSD + "decimal"))
        for norm in (clash.first, clash.second)
        if norm.quantity
    ]


def _class_of(norm: Norm, clash: Clash) -> str:
    """A ban on doing without approval, held against a waiver of approval, is a duty to get it."""
    forces = {clash.first.modality, clash.second.modality}
    if forces == {"ban", "waived"} and norm.modality == "ban":
        return "Required"
    return _OF_FORCE[norm.modality]


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
