"""Systems that answer cards, behind one interface: constants, a string oracle, retrieval with readers, the licence.

Each gives an answer, how sure it is, what it rests on and how long it took. Only `claim given` and the oracle look at
more of a card than its question. What could not be checked is `failed`, never an abstention.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import ParamSpec, Protocol

from pyoxigraph import Literal, NamedNode

from ovrag_core.base import CardError
from ovrag_core.graph import Store
from ovrag_core.text import one_line
from ovrag_studies.abstention.arms.fact_sentences import FactSentence, FactShelf, Words, words
from ovrag_studies.abstention.arms.model_replies import CardAnswer
from ovrag_studies.abstention.arms.readers import BySimilarity, Reader
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.knowledge.likeness import local_name
from ovrag_studies.abstention.licensing.asking import Asked, ask, written
from ovrag_studies.abstention.licensing.licence import Licence, LicenceVerdict, license_any
from ovrag_studies.abstention.parsing.claim_reader import GraphClaim
from ovrag_studies.abstention.parsing.name_index import Names

P = ParamSpec("P")
GUESS = 1 / 3  # the confidence of who answers always the same: one of three answers
ANSWERS = {
    LicenceVerdict.YES: CardAnswer.YES,
    LicenceVerdict.NO: CardAnswer.NO,
    LicenceVerdict.UNKNOWN: CardAnswer.UNKNOWN,
    LicenceVerdict.UNCHECKED: CardAnswer.FAILED,
}
DENIED = "DOES NOT"  # in a fact, as the published cards write that something is not in the database


@dataclass(frozen=True, slots=True)
class CardReply:
    """A system's answer to a card. `evidence` are passages or triples, `detail` says why in words, for people.

    `confidence` lies between 0 and 1; `seconds` are those of the clock, and the only part that differs between runs.
    """

    answer: CardAnswer
    confidence: float
    evidence: tuple[str, ...] = ()
    seconds: float = 0.0
    detail: str = ""


class Adapter(Protocol):
    """A system that answers cards."""

    @property
    def name(self) -> str:
        """Name of the system in records and tables."""

    def answer(self, card: Card) -> CardReply:
        """Its reply. What fails while it answers is a reply too; what is wrong with the set-up is raised."""


def timed(answer: Callable[P, CardReply]) -> Callable[P, CardReply]:
    """A function whose replies come with the seconds that they took."""

    @wraps(answer)
    def with_seconds(*args: P.args, **kwargs: P.kwargs) -> CardReply:
        start = time.perf_counter()
        reply = answer(*args, **kwargs)
        return replace(reply, seconds=time.perf_counter() - start)

    return with_seconds


class Constant:
    """Says the same of every card."""

    def __init__(self, answer: CardAnswer) -> None:
        self._answer = answer
        self.name = f"always {answer}"

    def answer(self, card: Card) -> CardReply:
        """See `Adapter.answer`."""
        return CardReply(self._answer, GUESS)


class StringOracle:
    """The published oracle, by the texts of a card's facts: a denial is NO, a fact with both names is YES.

    It is given what it looks for, so it bounds what string tests can do; it is no system to be used. Cards without
    facts have those that `facts` gives by the IRI of the subject.
    """

    name = "KG oracle"

    def __init__(
        self, names: Callable[[str], str] = local_name, facts: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._names = names
        self._facts = facts or {}

    @timed
    def answer(self, card: Card) -> CardReply:
        """See `Adapter.answer`."""
        facts = card.facts or tuple(fact for iri in card.claim.subjects for fact in self._facts.get(iri, ()))
        denials = tuple(fact for fact in facts if DENIED in fact)
        if denials:
            return CardReply(CardAnswer.NO, 1.0, denials[:1])
        value = words(self._names(card.claim.obj))
        subjects = {words(self._names(iri)) for iri in card.claim.subjects}
        statement = next(
            (fact for fact in facts if any(_says(words(fact), subject, value) for subject in subjects)), None
        )
        return CardReply(CardAnswer.YES, 1.0, (statement,)) if statement else CardReply(CardAnswer.UNKNOWN, 1.0)


def _says(fact: Words, subject: Words, value: Words) -> bool:
    """Return True where a fact begins with one name and ends with the other."""
    if not subject or not value:
        return False
    return fact[: len(subject)] == subject and fact[-len(value) :] == value


class Rag:
    """Retrieves passages and has them read. The reader by similarity sees those found by vectors alone."""

    def __init__(self, shelf: FactShelf, reader: Reader) -> None:
        self._search = shelf.nearest if isinstance(reader, BySimilarity) else shelf.search
        self._reader = reader
        self.name = f"RAG by {reader.name}"

    @timed
    def answer(self, card: Card) -> CardReply:
        """See `Adapter.answer`."""
        retrieved = self._search(card.question)
        judged = self._reader.read(card.question, retrieved)
        evidence = tuple(retrieved[i].passage.text for i in judged.places)
        return CardReply(judged.answer, judged.confidence, evidence)


class ClaimGiven:
    """The licence of the claim that the card gives, so that nothing is lost in reading its question."""

    name = "licence, claim given"

    def __init__(self, store: Store, domain: Domain) -> None:
        self._store = store
        self._domain = domain

    @timed
    def answer(self, card: Card) -> CardReply:
        """See `Adapter.answer`."""
        licence = license_any(claims_of(card, self._domain), self._store, self._domain)
        return CardReply(ANSWERS[licence.verdict], 1.0, evidence_of(licence), detail=explained(licence))


class GraphRag:
    """The question read as a claim, and the claim's licence. A question that is not understood is UNKNOWN."""

    name = "Graph-RAG with licence"

    def __init__(self, store: Store, domain: Domain, names: Names) -> None:
        self._store = store
        self._domain = domain
        self._names = names

    @timed
    def answer(self, card: Card) -> CardReply:
        """See `Adapter.answer`."""
        return licensed_reply(ask(card.question, self._store, self._domain, self._names))


def licensed_reply(asked: Asked) -> CardReply:
    """Turn the reading and licence of a question into a reply."""
    reading, licence = asked.reading, asked.licence
    detail = "; ".join(reason for reason in (reading.reason, explained(licence) if licence else "") if reason)
    evidence = evidence_of(licence) if licence else ()
    return CardReply(ANSWERS[asked.verdict], reading.confidence, evidence, detail=detail)


def claims_of(card: Card, domain: Domain) -> tuple[GraphClaim, ...]:
    """The claims of a card, one for each thing that its subject's name fits.

    Raises CardError for what is no IRI, and DomainError for a predicate that the domain has not.
    """
    predicate = domain.predicate(card.claim.pred)
    names = (predicate.name, predicate.chain.name if predicate.chain else None)
    name = card.claim.pred if card.claim.pred in names else predicate.name
    try:
        value = NamedNode(card.claim.obj) if predicate.values == "thing" else Literal(card.claim.obj)
        return tuple(GraphClaim(NamedNode(subject), name, value) for subject in card.claim.subjects)
    except ValueError:
        iris = one_line(", ".join((*card.claim.subjects, card.claim.obj)), 120)
        raise CardError(f"card {one_line(card.id, 60)}: its claim has something that is no IRI ({iris})") from None


def evidence_of(licence: Licence) -> tuple[str, ...]:
    """The triples of a proof, as N-Triples write them."""
    return tuple(written(triple) for triple in licence.proof)


def explained(licence: Licence) -> str:
    """Explain a licence in words: the constraint of a NO, or what the others lack."""
    return licence.lacking or (f"breaks {licence.constraint}" if licence.constraint else "")


def facts_by_subject(passages: Sequence[FactSentence]) -> dict[str, tuple[str, ...]]:
    """The texts of passages by the IRI of what they are about."""
    texts_by_subject: dict[str, tuple[str, ...]] = {}
    for passage in passages:
        texts_by_subject[passage.fact[0]] = (*texts_by_subject.get(passage.fact[0], ()), passage.text)
    return texts_by_subject
