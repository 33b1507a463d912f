"""Tables of what was said of the contracts and what it breaks, and a contradiction drawn."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from ovrag_core.base import QueryRecord, Violation
from ovrag_core.evaluation import cell, clashes_of, confusion, contamination, miss_reason, statements
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
        said = [(r.document_id, statements.statements_of(r)) for r in run.records if r.arm == arm]
        for origin in dict.fromkeys(statement.origin for _, some in said for statement in some):
            read = [(asked, [each.triple for each in some if each.origin == origin]) for asked, some in said]
            counts = pd.DataFrame([(asked, len(some)) for asked, some in read], columns=["document_id", "statements"])
            row = {"arm": arm, "origin": origin, "queries": len(counts), "statements": counts["statements"].sum()}
            row |= confusion.bounds("per_query", confusion.mean_of(counts, "statements", run.plan))
            foreign = [t.evidence.document_id != asked for asked, some in read for t in some if t.evidence]
            rows.append(row | {"located": len(foreign), "foreign": None if origin == "answer" else sum(foreign)})
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
        counts = [(document, len(triples), len(triples) - len(abox.unmapped)) for document, abox, triples in boxes]
        frame = pd.DataFrame(counts, columns=["document_id", "said", "heard"])
        share = confusion.share_of(frame, "heard", "said", run.plan)
        used = {fact.term for _, abox, _ in boxes for fact in abox.facts}
        row: dict[str, object] = {"arm": arm, "queries": len(frame), "statements": frame["said"].sum()}
        for name, terms in (("classes", ontology.classes), ("properties", ontology.properties)):
            row |= {name: len(used & {term.iri for term in terms})}
            row |= {f"{name}_of": sum(term.inverse is None for term in terms)}
        rows.append(row | confusion.bounds("taking_part", share))
    uses = ["classes", "classes_of", "properties", "properties_of"]
    table = pd.DataFrame(rows, columns=["arm", "queries", "statements", *with_bounds(["taking_part"]), *uses])
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
