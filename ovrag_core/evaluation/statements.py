"""Statements about the documents: by origin, what of them takes part in reasoning, and what they break."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from ovrag_core.base import QueryRecord, Triple
from ovrag_core.evaluation.confusion import arms_of, bounds, cell, ordered
from ovrag_core.evaluation.contamination import about, last_violations
from ovrag_core.evaluation.statistics import Resampling, ratio
from ovrag_core.ontology import ABox, Ontology, assert_triples

UNKNOWN_TYPE = "read without the class beside a name"
COMPATIBLE = "what was read of the asked contract is compatible"
NAMEABLE = ("unknown predicate", "unknown class", UNKNOWN_TYPE)


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
            distinct.setdefault(
                (triple.subject, triple.predicate, triple.object, document, name), Statement(triple, name)
            )
    return list(distinct.values())


def origin_table(records: Sequence[QueryRecord], plan: Resampling) -> pd.DataFrame:
    """Per arm that extracts and origin: statements, mean a query with its interval, and where they were read.

    Columns: arm, origin, queries, statements, per_query (and bounds), located (a passage is known), foreign (read in
    another document than the asked one; missing for what was read in the answer).
    """
    rows = []
    for arm in arms_of(records):
        of_arm = [record for record in records if record.arm == arm]
        extracted = [(record, statement) for record in of_arm for statement in statements_of(record)]
        queries = Counter(record.document_id for record in of_arm)
        for origin in dict.fromkeys(statement.origin for _, statement in extracted):
            chosen = [(record, statement.triple) for record, statement in extracted if statement.origin == origin]
            row = {"arm": arm, "origin": origin, "queries": len(of_arm), "statements": len(chosen)}
            rows.append(row | _where_read(chosen, queries, plan) | ({"foreign": None} if origin == "answer" else {}))
    names = ["arm", "origin", "queries", "statements", "per_query", "per_query_low", "per_query_high"]
    return pd.DataFrame(rows, columns=[*names, "located", "foreign"]).astype({"foreign": "Int64"})


def _where_read(
    chosen: Sequence[tuple[QueryRecord, Triple]], queries: Counter[str], plan: Resampling
) -> dict[str, float | None]:
    """Columns of statements of one origin; `queries` counts the arm's queries by document."""
    per_document = Counter(record.document_id for record, _ in chosen)
    counts = [float(per_document[name]) for name in sorted(queries)]
    mean = ratio(counts, [float(queries[name]) for name in sorted(queries)], plan, proportion=False)
    located = [(record, triple.evidence) for record, triple in chosen if triple.evidence]
    foreign = sum(passage.document_id != record.document_id for record, passage in located)
    return bounds("per_query", mean) | {"located": len(located), "foreign": foreign}


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


def coverage(asserted: Asserted, ontology: Ontology, plan: Resampling) -> pd.DataFrame:
    """Per arm that extracts: statements, the share that takes part in reasoning, and how much of the ontology is used.

    Columns: arm, queries, statements, taking_part (with bounds), classes used and `classes_of`, properties used and
    `properties_of`. A statement takes part when it asserts something in the ontology's terms.
    """
    rows = []
    class_iris = {term.iri for term in ontology.classes}
    property_iris = {term.iri for term in ontology.properties}
    # What a property says that is only the inverse of another is asserted by the other.
    sayable = sum(term.inverse is None for term in ontology.properties)
    for arm, boxes in asserted.items():
        totals, heard = Counter[str](), Counter[str]()
        used: set[str] = set()
        for document, abox, triples in boxes:
            totals[document] += len(triples)
            heard[document] += len(triples) - len(abox.unmapped)
            used |= {fact.term for fact in abox.facts}
        names = sorted(totals)
        share = ratio([float(heard[n]) for n in names], [float(totals[n]) for n in names], plan)
        row = {"arm": arm, "queries": len(boxes), "statements": totals.total()}
        row |= {"classes": len(used & class_iris), "classes_of": len(ontology.classes)}
        row |= {"properties": len(used & property_iris), "properties_of": sayable}
        rows.append(row | bounds("taking_part", share))
    names = ["arm", "queries", "statements", "taking_part", "taking_part_low", "taking_part_high"]
    return pd.DataFrame(rows, columns=[*names, "classes", "classes_of", "properties", "properties_of"])


def unmapped(asserted: Asserted) -> pd.DataFrame:
    """Statements that take no part, or part of which is not read, by reason: arm, reason, statements, terms, commonest.

    `terms` counts the distinct predicates, classes or values that are to blame; `commonest` names up to three, but no
    values, as those are text of a document.
    """
    rows = []
    for arm, boxes in asserted.items():
        blamed: dict[str, Counter[str]] = {}  # by reason
        for _, abox, triples in boxes:
            for index, reason in abox.unmapped.items():
                term = triples[index].predicate if reason == "unknown predicate" else triples[index].object
                blamed.setdefault(reason, Counter())[term] += 1
            for names in abox.unknown_types.values():
                blamed.setdefault(UNKNOWN_TYPE, Counter()).update(set(names))
        for why, terms in sorted(blamed.items(), key=lambda item: (-item[1].total(), item[0])):
            common = sorted(terms, key=lambda name: (-terms[name], name))[:3] if why in NAMEABLE else []
            rows.append((arm, why, terms.total(), len(terms), ", ".join(common)))
    return pd.DataFrame(rows, columns=["arm", "reason", "statements", "terms", "commonest"])


def violations(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """Rules that the last judged attempt of a query breaks, a row an arm, rule and cause, most frequent first.

    Columns: arm, rule, kind, severity, clash_type, cause, queries, contracts, on_clash, on_clean (queries about
    documents with that label).
    """
    groups: dict[tuple[str, ...], list[QueryRecord]] = {}
    for record in records:
        broken = {(v.rule, v.kind, v.severity, v.clash_type or "", v.cause or "") for v in last_violations(record)}
        for breach in broken:
            groups.setdefault((record.arm, *breach), []).append(record)
    rank = {arm: number for number, arm in enumerate(arms_of(records))}
    rows = []
    for key, group in sorted(groups.items(), key=lambda item: (rank[item[0][0]], -len(item[1]), item[0])):
        labels = Counter(record.label for record in group)
        documents = len({record.document_id for record in group})
        rows.append((*key, len(group), documents, labels["CLASH"], labels["CLEAN"]))
    names = ["arm", "rule", "kind", "severity", "clash_type", "cause", "queries", "contracts", "on_clash", "on_clean"]
    return pd.DataFrame(rows, columns=names)


def missed(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """Queries about contradictory documents that were not flagged: arm, document, question, clash_type, reason."""
    misses = ordered([record for record in records if cell(record) == "fn"])
    rows = [(r.arm, r.document_id, r.question_id, r.clash_type or "", miss_reason(r)) for r in misses]
    return pd.DataFrame(rows, columns=["arm", "document_id", "question_id", "clash_type", "reason"])


def miss_reason(record: QueryRecord) -> str:
    """Explain why a contradiction was not flagged, by the first of these that holds, from what the record shows.

    It is what stood in the way first. Of a query that never saw the contract, nothing can be said about its reading.
    """
    statements, document_id = statements_of(record), record.document_id
    sources = {chunk.document_id for chunk in record.retrieved}
    elsewhere = about(sources, document_id) == "other" or (
        record.recorded is not None and record.recorded.about == "other"
    )
    asked_statements = [
        s for s in statements if s.triple.evidence is None or s.triple.evidence.document_id == document_id
    ]
    warned = any(violation.severity == "warning" for violation in last_violations(record))
    judged = any(attempt.verdict is not None for attempt in record.attempts)
    reasons = {
        "the arm does not validate": bool(record.attempts) and not judged,
        "a later answer passed": record.outcome == "corrected",
        "only other contracts were seen": elsewhere,
        "the run recorded no statements": not record.attempts,
        "no statement was extracted": not statements,
        "what was retrieved is not recorded": record.recorded is not None and not sources,
        "only a warning was raised": warned,
        "nothing was read in the asked contract": not asked_statements,
    }
    return next((name for name, holds in reasons.items() if holds), COMPATIBLE)
