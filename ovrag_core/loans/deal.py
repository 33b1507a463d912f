"""An agreement with its amendments as one deal: what holds in the end, what it replaced, and what nobody resolved."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ovrag_core.base import Document, DocumentError, Evidence, Frozen
from ovrag_core.loans.conformed import ConformedCopy
from ovrag_core.loans.grounds import Passage, passage, passages_of, stating
from ovrag_core.loans.loan_facts import LoanReading, Party
from ovrag_core.loans.reading.amended import misfit
from ovrag_core.loans.reading.amendments import Identity, Role, amend, in_order, without_security
from ovrag_core.loans.reviewing import FIELDS, Review, fact_list, place, review_of
from ovrag_core.loans.reviewing import unread as unread_reading
from ovrag_core.loop import Checker, Extractor
from ovrag_core.text import one_line

DEAL = "the deal"


class DealDocument(Frozen):
    """A document of a deal, in the order in which they take effect; what the text says of itself."""

    document: str
    role: Role
    number: int | None = None
    date: dt.date | None = None

    def words(self) -> str:
        """`amendment 2 of 2024-06-30: b.pdf`."""
        number = f" {self.number}" if self.number is not None else ""
        day = f" of {self.date.isoformat()}" if self.date else ""
        return f"{self.role}{number}{day}: {one_line(self.document)}"


class Superseded(Frozen):
    """A fact that a later document replaced, with both passages where they can be quoted."""

    fact: str
    was: str
    now: str
    was_said: Passage | None = None
    by: Passage | None = None


class DealReview(Review):
    """The review of a deal: `facts` hold after the last amendment."""

    documents: tuple[DealDocument, ...] = ()
    superseded: tuple[Superseded, ...] = ()

    def about_documents(self) -> list[str]:
        """The documents in the order in which they take effect."""
        return [f"  {number}. {document.words()}" for number, document in enumerate(self.documents, 1)]

    def about_changes(self) -> list[str]:
        """Each fact that was replaced, with both passages."""
        lines: list[str] = []
        for change in self.superseded:
            lines += ["", f"  CHANGED {change.fact}: {one_line(change.was)} → {one_line(change.now)}"]
            said = (("was", change.was_said), ("now", change.by))
            lines += [f'    {word}, {place(p, True)}: "{one_line(p.quote)}"' for word, p in said if p]
        return lines


def review_deal(
    documents: Sequence[Document],
    extractor: Extractor[LoanReading],
    validator: Checker,
    model: str,
    unread: Sequence[str] = (),
) -> DealReview:
    """Reads `documents` in the order that they themselves give, carries out what each amends, and checks the result.

    `unread` says which files of the deal could not be read: such a deal is UNCHECKED, with what the others say.
    Raises DocumentError where an amendment is one of another agreement.
    """
    started = time.perf_counter()
    order = in_order(documents)
    _refuse_strangers(order)
    listed = tuple(DealDocument(document=document.id, **identity._asdict()) for document, identity in order)
    body, remainder = ConformedCopy(()), ConformedCopy(())
    reading: LoanReading | None = None
    released: Evidence | None = None
    clauses: tuple[Evidence, ...] = ()
    replaced: list[Superseded] = []
    notes: list[str] = []
    terms: dict[str, tuple[int, str]] = {}
    for document, identity in order:
        if identity.role == "amendment":
            amended = amend(body, document)
            clauses = amended.clauses
            body, remainder, released = amended.body, remainder.followed_by(amended.rest), amended.released or released
            notes += [f"{document.id}: {problem}" for problem in amended.notes]
        elif identity.role == "restatement":
            body, remainder, released = ConformedCopy.of(document), ConformedCopy(()), None
            terms.clear()
        else:
            body = body.followed_by(ConformedCopy.of(document))
        before, reading = reading, _read(body.followed_by(remainder), extractor)
        if released is not None:
            reading = without_security(reading, released)
        reading = _with_terms(reading, terms)
        if before is not None and identity.role != "agreement":
            replaced += _differences(before, reading, document.id, clauses)
    assert reading is not None
    problem = "; ".join(unread) or unread_reading(reading)
    verdict = validator.check(reading.triples)
    # Whichever of the documents say it, it is the deal that contradicts itself.
    violations = tuple(violation.model_copy(update={"cause": "source"}) for violation in verdict.violations)
    verdict = verdict.model_copy(update={"violations": violations})
    names = tuple(document.document for document in listed)
    review = review_of(names, documents, reading, verdict, model, time.perf_counter() - started)
    values = dict(review) | {"notes": (*review.notes, *notes)}
    if problem:
        values |= {"label": "UNCHECKED", "reason": problem}
    return DealReview(**values, documents=listed, superseded=tuple(replaced))


def review_together(
    loaded: Iterable[tuple[Path, Document | str]], extractor: Extractor[LoanReading], validator: Checker, model: str
) -> Iterator[tuple[Review, list[Document]]]:
    """The one review of files that are a deal, with the documents; a sentence stands for a file that cannot be read.

    Raises DocumentError where none of them can.
    """
    files = list(loaded)
    unread = [problem for _, problem in files if isinstance(problem, str)]
    documents = [document for _, document in files if not isinstance(document, str)]
    if not documents:
        raise DocumentError("; ".join(unread))
    yield review_deal(documents, extractor, validator, model, unread), documents


def _refuse_strangers(order: Sequence[tuple[Document, Identity]]) -> None:
    earlier = [document for document, _ in order]
    for position, (document, identity) in enumerate(order):
        if identity.role == "amendment" and (problem := misfit(document, earlier[:position])) is not None:
            raise DocumentError(problem)


def _with_terms(reading: LoanReading, terms: dict[str, tuple[int, str]]) -> LoanReading:
    """The reading with terms as long as the maturity says that was moved after they were stated.

    `terms` has for each facility the term as stated last and the maturity of then; new ones are added to it.
    """
    facilities, triples = list(reading.facilities), list(reading.triples)
    for number, facility in enumerate(facilities):
        months, maturity = facility.term_months, facility.maturity
        if months is None or maturity is None:
            continue
        was, until = terms.get(facility.subject, (None, ""))
        if was != months:
            terms[facility.subject] = (months, maturity)
        elif (more := _months_between(until, maturity)) and months + more > 0:
            facilities[number] = facility.model_copy(update={"term_months": months + more})
            stated, longer = (facility.subject, "hasTerm"), {"object": f"{months + more} months"}
            triples = [t.model_copy(update=longer) if (t.subject, t.predicate) == stated else t for t in triples]
    return reading.model_copy(update={"facilities": tuple(facilities), "triples": tuple(triples)})


def _months_between(first: str, last: str) -> int:
    start, end = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    return round((end.year - start.year) * 12 + end.month - start.month + (end.day - start.day) / 30.4375)


def _read(copy: ConformedCopy, extractor: Extractor[LoanReading]) -> LoanReading:
    """Read what the copy says, each statement with a passage of the document that it is in."""
    reading = extractor.read(Document(DEAL, copy.text))
    quoted = [(t, t.evidence and copy.evidence(t.evidence.start, t.evidence.end, t.object)) for t in reading.triples]
    triples = tuple(triple.model_copy(update={"evidence": evidence}) for triple, evidence in quoted)
    placed = [(fact, copy.evidence(fact.evidence.start, fact.evidence.end, fact.value)) for fact in reading.second]
    second = tuple(fact.model_copy(update={"evidence": evidence}) for fact, evidence in placed if evidence is not None)
    return reading.model_copy(update={"triples": triples, "second": second})


def _differences(before: LoanReading, after: LoanReading, by: str, clauses: Sequence[Evidence]) -> list[Superseded]:
    """Facts of the main facility that were stated before and are others now, by the document `by`.

    Where that document takes away and puts nothing in its place, its first clause that was carried out is quoted.
    """
    fallback = passage(clauses[0]) if clauses else None
    if not before.facilities or not after.facilities:
        return []
    was, now = ({row.name: row.value for row in fact_list(each.facilities[0], {})} for each in (before, after))
    return [
        Superseded(
            fact=fact,
            was=was[fact],
            now=now[fact],
            was_said=_said(fact, before, None, after),
            by=_said(fact, after, by) or (_said("security", after, by) if fact == "collateral" else None) or fallback,
        )
        for fact in was
        if fact != "kind"
        and was[fact] != now[fact]
        and not _only_kind_known(fact, before, after)
        and was[fact] != "not stated"
        and now[fact] != "contradictory"  # said beside it, not in its place
    ]


def _only_kind_known(fact: str, before: LoanReading, after: LoanReading) -> bool:
    """Return True where one text merely shows of what kind a party is, and the other leaves it open."""
    was, now = (getattr(reading.facilities[0], fact, None) for reading in (before, after))
    return isinstance(was, Party) and isinstance(now, Party) and was.name == now.name and None in (was.kind, now.kind)


def _said(fact: str, reading: LoanReading, by: str | None, other: LoanReading | None = None) -> Passage | None:
    """A passage that states a fact: of the document `by`, or of any, one that the other reading has not first."""
    stated = [t for t in stating(FIELDS[fact], reading.triples) if t.evidence and by in (None, t.evidence.document_id)]
    gone = [triple for triple in stated if other and triple not in other.triples]
    return next(iter(passages_of(gone or stated)), None)
