"""Statements about the documents: those of a query, what they assert, and why a contradiction among them was missed."""

from collections.abc import Sequence
from typing import NamedTuple

from ovrag_core.base import QueryRecord, Triple
from ovrag_core.evaluation.confusion import arms_of
from ovrag_core.evaluation.contamination import about, last_violations
from ovrag_core.ontology import ABox, Ontology, assert_triples

COMPATIBLE = "what was read of the asked contract is compatible"
Asserted = dict[str, list[tuple[str, ABox, list[Triple]]]]  # by arm: a query's document, what it asserts, its triples


class Statement(NamedTuple):
    """A statement of a query and where it was read: answer, context, or recorded elsewhere."""

    triple: Triple
    origin: str


def statements_of(record: QueryRecord) -> list[Statement]:
    """The distinct statements that the last attempt was judged by, the answer's first.

    A run recorded elsewhere does not tell the answer's from the context's; all of its are `recorded`.
    """
    distinct: dict[tuple[str, ...], Statement] = {}
    answer = record.attempts[-1].triples if record.attempts else ()
    for origin, triples in (("answer", answer), ("context", record.context_triples)):
        for triple in triples:
            name = "recorded" if record.recorded else origin
            document = triple.evidence.document_id if triple.evidence else ""
            key = (triple.subject, triple.predicate, triple.object, document, name)
            distinct.setdefault(key, Statement(triple, name))
    return list(distinct.values())


def assert_all(records: Sequence[QueryRecord], ontology: Ontology) -> Asserted:
    """The statements of each query said in the ontology's terms, by arm; arms without statements are left out."""
    aboxes: dict[tuple[Triple, ...], ABox] = {}  # queries with the same statements share an ABox
    asserted: Asserted = {}
    for arm in arms_of(records):
        for record in records:
            triples = [statement.triple for statement in statements_of(record)] if record.arm == arm else []
            if triples:
                key = tuple(t.model_copy(update={"evidence": None, "origin": "context"}) for t in triples)
                abox = aboxes[key] if key in aboxes else aboxes.setdefault(key, assert_triples(triples, ontology))
                asserted.setdefault(arm, []).append((record.document_id, abox, triples))
    return asserted


def miss_reason(record: QueryRecord) -> str:
    """Explain why a contradiction was not flagged, by the first of these that holds, from what the record shows.

    It is what stood in the way first. Of a query that never saw the contract, nothing can be said about its reading.
    """
    triples = [statement.triple for statement in statements_of(record)]
    sources = {chunk.document_id for chunk in record.retrieved}
    reasons = {
        "the arm does not validate": record.attempts and not any(attempt.verdict for attempt in record.attempts),
        "a later answer passed": record.outcome == "corrected",
        "only other contracts were seen": about(sources, record.document_id) == "other"
        or (record.recorded and record.recorded.about == "other"),
        "the run recorded no statements": not record.attempts,
        "no statement was extracted": not triples,
        "what was retrieved is not recorded": record.recorded and not sources,
        "only a warning was raised": any(broken.severity == "warning" for broken in last_violations(record)),
        "nothing was read in the asked contract": all(
            triple.evidence and triple.evidence.document_id != record.document_id for triple in triples
        ),
    }
    return next((name for name, holds in reasons.items() if holds), COMPATIBLE)
