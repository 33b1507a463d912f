"""Tables of what was said of the contracts and what it breaks, and a contradiction drawn."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from ovrag_core.base import QueryRecord, Triple, Violation
from ovrag_core.evaluation import cell, clashes_of, confusion, contamination, miss_reason, ratio, statements
from ovrag_core.ontology import Ontology, picture
from ovrag_core.report import figures
from ovrag_core.report.run import Run
from ovrag_core.report.tables import with_bounds

QUOTING = "The run was recorded elsewhere, and its statements are not quoted here"
UNKNOWN_TYPE = "read without the class beside a name"
NAMEABLE = ("unknown predicate", "unknown class", UNKNOWN_TYPE)


def origin_table(run: Run) -> pd.DataFrame:
    """Statements by arm that extracts and origin: `statements`, with their mean a query and where they were read.

    `located` counts those of a known passage, `foreign` those read in another document than the asked one; it is
    missing for what was read in the answer.
    """
    rows = []
    for arm in run.arms:
        of_arm = [record for record in run.records if record.arm == arm]
        by_origin: dict[str, list[tuple[QueryRecord, Triple]]] = {}
        for record in of_arm:
            for statement in statements.statements_of(record):
                by_origin.setdefault(statement.origin, []).append((record, statement.triple))
        queries = Counter(record.document_id for record in of_arm)
        for origin, read in by_origin.items():
            per_document = Counter(record.document_id for record, _ in read)
            counts, asked = ([float(number[name]) for name in sorted(queries)] for number in (per_document, queries))
            mean = ratio(counts, asked, run.plan, proportion=False)
            row = {"arm": arm, "origin": origin, "queries": len(of_arm), "statements": len(read)}
            located = [(record, triple.evidence.document_id) for record, triple in read if triple.evidence]
            foreign = sum(document != record.document_id for record, document in located)
            row |= confusion.bounds("per_query", mean) | {"located": len(located)}
            rows.append(row | {"foreign": None if origin == "answer" else foreign})
    names = ["arm", "origin", "queries", "statements", *with_bounds(["per_query"]), "located", "foreign"]
    table = pd.DataFrame(rows, columns=names).astype({"foreign": "Int64"})
    return run.table(table, "statements", decimals=2)


def coverage_table(run: Run, asserted: statements.Asserted, ontology: Ontology) -> pd.DataFrame:
    """Write the table of what takes part in reasoning and how much of the ontology a run uses: `ontology_coverage`.

    A statement takes part when it asserts something in the ontology's terms. `classes_of` and `properties_of` are all
    that could be used: what a property says that is only the inverse of another is asserted by the other.
    """
    rows = []
    for arm, boxes in asserted.items():
        totals, heard = Counter[str](), Counter[str]()
        for document, abox, triples in boxes:
            totals[document] += len(triples)
            heard[document] += len(triples) - len(abox.unmapped)
        used = {fact.term for _, abox, _ in boxes for fact in abox.facts}
        names = sorted(totals)
        share = ratio([float(heard[n]) for n in names], [float(totals[n]) for n in names], run.plan)
        row: dict[str, object] = {"arm": arm, "queries": len(boxes), "statements": totals.total()}
        for name, terms in (("classes", ontology.classes), ("properties", ontology.properties)):
            row |= {name: len(used & {term.iri for term in terms})}
            row |= {f"{name}_of": sum(term.inverse is None for term in terms)}
        rows.append(row | confusion.bounds("taking_part", share))
    counts = ["classes", "classes_of", "properties", "properties_of"]
    table = pd.DataFrame(rows, columns=["arm", "queries", "statements", *with_bounds(["taking_part"]), *counts])
    shown = table.drop(columns=["classes_of", "properties_of"])
    for name in ("classes", "properties"):
        shown[name] = [f"{used} of {all_}" for used, all_ in zip(table[name], table[f"{name}_of"], strict=True)]
    return run.table(shown, "ontology_coverage", full=table)


def unmapped_table(run: Run, asserted: statements.Asserted) -> pd.DataFrame:
    """Statements that do not, or not wholly, take part, by reason: `unmapped`.

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
            for unknown in abox.unknown_types.values():
                blamed.setdefault(UNKNOWN_TYPE, Counter()).update(set(unknown))
        for why, terms in sorted(blamed.items(), key=lambda item: (-item[1].total(), item[0])):
            common = sorted(terms, key=lambda name: (-terms[name], name))[:3] if why in NAMEABLE else []
            rows.append((arm, why, terms.total(), len(terms), ", ".join(common)))
    names = ["arm", "reason", "statements", "terms", "commonest"]
    return run.table(pd.DataFrame(rows, columns=names), "unmapped")


def violation_table(run: Run) -> pd.DataFrame:
    """Rules that the last judged attempt of a query breaks, by arm, rule and cause, most frequent first: `violations`.

    `on_clash` and `on_clean` count the queries about documents with that label.
    """
    broken = [
        (r.arm, *breach, r.document_id, r.label)
        for r in run.records
        for breach in {
            (v.rule, v.kind, v.severity, v.clash_type or "", v.cause or "") for v in contamination.last_violations(r)
        }
    ]
    keys = ["arm", "rule", "kind", "severity", "clash_type", "cause"]
    rows: list[tuple[Any, ...]] = []
    for key, group in pd.DataFrame(broken, columns=[*keys, "document_id", "label"]).groupby(keys):
        on_clash, on_clean = (int((group["label"] == label).sum()) for label in ("CLASH", "CLEAN"))
        rows.append((*key, len(group), group["document_id"].nunique(), on_clash, on_clean))
    rows.sort(key=lambda row: (run.arms.index(row[0]), -row[len(keys)]))
    table = pd.DataFrame(rows, columns=[*keys, "queries", "contracts", "on_clash", "on_clean"])
    shown = table.drop(columns=["kind", "clash_type", *([] if table["cause"].any() else ["cause"])])
    return run.table(shown, "violations", long=True, full=table)


def missed_table(run: Run) -> pd.DataFrame:
    """Contradictions that were missed, by arm, type and reason: `missed`, a row a query in the CSV."""
    misses = confusion.ordered([record for record in run.records if cell(record) == "fn"])
    rows = [(r.arm, r.document_id, r.question_id, r.clash_type or "", miss_reason(r)) for r in misses]
    table = pd.DataFrame(rows, columns=["arm", "document_id", "question_id", "clash_type", "reason"])
    counts = table.groupby(["arm", "clash_type", "reason"], sort=False)["document_id"].agg(["size", "nunique"])
    shown = counts.reset_index().rename(columns={"size": "queries", "nunique": "contracts"})
    return run.table(shown, "missed", {"missed": len(table)}, full=table)


def chosen_case(run: Run) -> tuple[QueryRecord, Violation] | None:
    """The case that is drawn: the first flagged query, by contract, of the last arm that found a clash.

    Of its clashes the one that takes most statements. None where nothing was flagged, or nothing may be quoted.
    """
    for arm in () if run.imported else reversed(run.arms):
        for record in sorted(run.records, key=lambda record: (record.document_id, record.question_id)):
            clashes = clashes_of(record)
            if record.arm == arm and record.flagged and clashes:
                return record, max(clashes, key=lambda violation: len(violation.triples))
    return None


def explanation_figure(run: Run) -> Path:
    """The contradiction of the chosen case as a graph: its statements, and the axioms that forbid them together."""
    case = chosen_case(run)
    if case is None:
        fig = figures.sentence(QUOTING if run.imported else "No contradiction was found in this run.", run.width)
        return run.figure(fig, "explanation", captioned="no_explanation")
    record, violation = case
    with figures.styled():
        fig = picture.draw(violation, run.width)
    words = {"arms": record.arm, "document": record.document_id, "question": record.question_id}
    return run.figure(fig, "explanation", {**words, "message": violation.message})
