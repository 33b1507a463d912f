"""Tables of what was said of the contracts and what it breaks, and a contradiction drawn."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ovrag_core.base import QueryRecord, Violation
from ovrag_core.evaluation import clashes_of, statements
from ovrag_core.ontology import Ontology, picture
from ovrag_core.report import figures
from ovrag_core.report.run import Run, save, write

QUOTING = "The run was recorded elsewhere, and its statements are not quoted here"


def origin_table(run: Run) -> pd.DataFrame:
    """Statements by arm and origin: `statements`."""
    table = statements.origin_table(run.records, run.plan)
    note = run.note(more="Located: the passage is known. Foreign: it is in another contract than the asked one")
    return write(run, table, "statements", "Statements that were extracted, by arm and origin.", note, decimals=2)


def coverage_table(run: Run, asserted: statements.Asserted, ontology: Ontology) -> pd.DataFrame:
    """Write the table of what takes part in reasoning and how much of the ontology a run uses: `ontology_coverage`."""
    table = statements.coverage(asserted, ontology, run.plan)
    shown = table.drop(columns=["classes_of", "properties_of"])
    for name in ("classes", "properties"):
        shown[name] = [f"{used} of {all_}" for used, all_ in zip(table[name], table[f"{name}_of"], strict=True)]
    more = "Taking part: asserts something in the ontology's terms. Classes and properties: those that are used"
    caption = "Statements that take part in reasoning, and classes and properties that they use, by arm."
    return write(run, shown, "ontology_coverage", caption, run.note(more=more), full=table)


def unmapped_table(run: Run, asserted: statements.Asserted) -> pd.DataFrame:
    """Statements that do not, or not wholly, take part, by reason: `unmapped`."""
    table = statements.unmapped(asserted)
    caption = "Statements that take no part in reasoning, or not wholly, by arm and reason."
    return write(run, table, "unmapped", caption, run.note(interval=False))


def violation_table(run: Run) -> pd.DataFrame:
    """Rules that were broken, by arm, rule and cause: `violations`."""
    table = statements.violations(run.records)
    more = "Queries whose last judged attempt breaks the rule; a query may break several. On: by the contract's label"
    more += ". violations.csv also has the kind of each rule and the type of contradiction"
    headers = {"on_clash": "On clash", "on_clean": "On clean"}
    shown = table.drop(columns=["kind", "clash_type", *([] if table["cause"].any() else ["cause"])])
    note = run.note(interval=False, more=more)
    caption = "Kinds of violation by arm, rule and cause."
    return write(run, shown, "violations", caption, note, headers=headers, long=True, full=table)


def missed_table(run: Run) -> pd.DataFrame:
    """Contradictions that were missed, by arm, type and reason: `missed`, a row a query in the CSV."""
    table = statements.missed(run.records)
    counts = table.groupby(["arm", "clash_type", "reason"], sort=False)["document_id"].agg(["size", "nunique"])
    shown = counts.reset_index().rename(columns={"size": "queries", "nunique": "contracts"})
    missed = f"{len(table)} missed queries"
    note = run.note(interval=False, n=missed, more="The reason is what stood in the way first")
    return write(run, shown, "missed", "Contradictions that were missed, by arm, type and reason.", note, full=table)


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
        return save(run, fig, "explanation", "A contradiction as a graph.", run.note(interval=False))
    record, violation = case
    with figures.styled():
        fig = picture.draw(violation, run.width)
    more = f"Query: {record.document_id}, {record.question_id}. {violation.message}"
    note = run.note(interval=False, arm=record.arm, n="1 query", more=more)
    return save(run, fig, "explanation", "A contradiction as a graph: statements, and the axioms against them.", note)
