"""Answers held against ground truth, what validation makes of them, and systems side by side, as tables.

Every arm's answers are read alike, by the clause reader and without a model, so that what is judged does not depend on
who extracted. A fact that the contract contradicts itself in has no right answer and is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
from pydantic import ValidationError

from ovrag_core.base import Frozen, LatencyRecord, QueryRecord, RunError, read_yaml
from ovrag_core.evaluation import cell, compare_pairs, confusion, holm, ratio, sums, wilson
from ovrag_core.loans.contracts.contract_truth import ContractTruth
from ovrag_core.loans.loan_facts import Facts, Party
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reading.facts import facilities_of
from ovrag_core.loans.reading.subjects import bare_name
from ovrag_core.loop import NO_ANSWER
from ovrag_core.ontology import Ontology, entity_key
from ovrag_core.report import MARK, Run

RECORDED = Path("data/recorded.yaml")
_GIVEN = ("right", "wrong")

Held = Literal["right", "wrong", "silent", "refused"]
HELD: tuple[Held, ...] = get_args(Held)
# What a question asks for, by its topic; a party's kind is whether it is a person.
ASKED: dict[str, tuple[str, ...]] = {
    "kind of loan": ("loan_types",),
    "parties": ("borrower", "lender", "borrower_kind", "lender_kind"),
    "security": ("security",),
    "repayment": ("credit_form",),
    "summary": ("principal", "interest_rate", "loan_types", "borrower", "lender", "security"),
}


def held_against(answer: str, topic: str, truth: ContractTruth, ontology: Ontology) -> dict[str, bool]:
    """The asked facts that an answer states, each with whether the ground truth has it so; both ways is not so."""
    triples = reader.read_passage(answer, document_id="answer", origin="answer")
    stated = next(iter(facilities_of(triples, ontology)), Facts())
    verdicts: dict[str, bool] = {}
    for fact in ASKED.get(topic, ()):
        claimed, wanted = _value(stated, fact), _value(truth, fact)
        if claimed is not None and wanted not in (None, "contradictory"):
            verdicts[fact] = _agree(claimed, wanted)
    return verdicts


def judged(answer: str, topic: str, truth: ContractTruth, ontology: Ontology) -> Held:
    """Wrong where an asked fact is stated wrongly, else right where one is stated, else silent."""
    if answer.strip() == NO_ANSWER:
        return "silent"
    verdicts = held_against(answer, topic, truth, ontology)
    return "silent" if not verdicts else "right" if all(verdicts.values()) else "wrong"


def answer_frame(
    records: Iterable[QueryRecord], truths: Mapping[str, ContractTruth], topics: Mapping[str, str], ontology: Ontology
) -> pd.DataFrame:
    """One row a query that was answered: `before`, of its first attempt, and `after`, of what the user is given.

    An answer that stayed impossible is refused, and nobody is given it. Where nothing is corrected both are the same.
    """

    @cache
    def held(text: str, document_id: str, question_id: str) -> Held:
        return judged(text, topics[question_id], truths[document_id], ontology)

    rows = []
    for record in records:
        query = record.document_id, record.question_id
        if record.attempts and record.document_id in truths and record.question_id in topics:
            first, last = (record.attempts[end].answer.text for end in (0, -1))
            after = "refused" if record.outcome == "hard_rejected" else held(last, *query)
            rows.append((record.arm, *query, record.label, len(record.attempts), held(first, *query), after))
    columns = ["arm", "document_id", "question_id", "label", "attempts", "before", "after"]
    return pd.DataFrame(rows, columns=columns)


def _value(facts: Facts, fact: str) -> object | None:
    """A fact as it is compared, names without titles and blanks; None where it is not stated."""
    if fact.endswith("_kind"):
        party = getattr(facts, fact.removesuffix("_kind"))
        return None if party is None or party.kind is None else party.kind == "natural_person"
    value = getattr(facts, fact)
    if isinstance(value, Party):
        return entity_key(bare_name(value.name)).replace(" ", "")
    return None if value in ((), "", "unstated") else value


def _agree(said: object, wanted: object) -> bool:
    """Kinds of loan agree where none is said that the truth does not have."""
    return set(said) <= set(wanted) if isinstance(said, tuple) and isinstance(wanted, tuple) else said == wanted


def answer_table(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    """Answers right, wrong, silent and refused, before and after validation and correction: `answers`.

    `frame` is that of `answer_frame`. Shares have intervals over contracts.
    """
    rows = []
    for arm in run.arms:
        of_arm = frame[frame["arm"] == arm]
        for when in ("before", "after"):
            row: dict[str, object] = {"arm": arm, "when": when, "queries": len(of_arm)}
            row |= {v: int((of_arm[when] == v).sum()) for v in HELD}
            for verdict in _GIVEN:
                given = (of_arm[when] == verdict).groupby(of_arm["document_id"], sort=False)
                share = ratio(given.sum().tolist(), given.size().tolist(), run.plan)
                row |= confusion.bounds(f"{verdict}_share", share)
            rows.append(row)
    return run.table(pd.DataFrame(rows), "answers")


def change_table(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    """Tabulate what validation and correction change of the right and the wrong answers, paired: `answer_changes`.

    McNemar's test takes each query as one pair and is adjusted by Holm; the interval has contracts as clusters.
    """
    rows: list[dict[str, object]] = []
    for arm in (arm for arm in run.arms if arm in run.judging):
        of_arm = frame[frame["arm"] == arm]
        pairs = {v: ((of_arm["after"] == v).tolist(), (of_arm["before"] == v).tolist()) for v in _GIVEN}
        for verdict, pair in compare_pairs(pairs, of_arm["document_id"].tolist(), run.plan).items():
            row = {"answers": verdict, "arm": arm, "queries": len(of_arm)}
            row |= {"gained": pair.items.first_only, "lost": pair.items.second_only}
            rows.append(row | confusion.bounds("difference", pair.difference) | {"p": pair.items.p})
    rows.sort(key=lambda row: str(row["answers"]))  # right, then wrong
    table = pd.DataFrame(rows)
    table["p_holm"] = holm(list(table["p"])) if len(table) else []
    return run.table(table, "answer_changes")


def form_table(run: Run, read: Mapping[str, Sequence[QueryRecord]], frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The same answers judged by what each form of extraction reads in them: `forms`, a row a form.

    `read` is the records by form, of one arm and without corrections; `frames` their `answer_frame`. Only
    sound contracts count: a contract's own contradiction is no matter of its answers.
    """
    rows = [_form_row(name, records, frames[name], run) for name, records in read.items()]
    arms = dict.fromkeys(record.arm for records in read.values() for record in records)
    contracts = {record.document_id for records in read.values() for record in records if record.label == "CLEAN"}
    words = {"arms": ", ".join(arms), "sound": len(contracts)}
    decimals = {"statements": 2, "tokens": 0, "others_refused_share": 3}
    return run.table(pd.DataFrame(rows), "forms", words, decimals=decimals)


def _form_row(name: str, records: Sequence[QueryRecord], frame: pd.DataFrame, run: Run) -> dict[str, object]:
    clean = [record for record in records if record.label == "CLEAN"]
    sound = [record for record in clean if record.attempts]
    verdicts = frame.set_index(["document_id", "question_id"])["before"].to_dict()
    wrong = [verdicts.get((record.document_id, record.question_id)) == "wrong" for record in sound]
    falsely = [record.flagged and not is_wrong for record, is_wrong in zip(sound, wrong, strict=True)]
    clusters = [record.document_id for record in sound]
    not_wrong = sums([float(not w) for w in wrong], clusters)
    share = ratio(sums(list(map(float, falsely)), clusters), not_wrong, run.plan)
    answers = max(1, len(sound))
    return {
        "form": name,
        "answers": len(sound),
        "unread": len(clean) - len(sound),
        "wrong": sum(wrong),
        "wrong_refused": sum(record.flagged for record in sound) - sum(falsely),
        "others_refused": sum(falsely),
        **confusion.bounds("others_refused_share", share),
        "statements": sum(len(record.attempts[0].triples) for record in sound) / answers,
        "not_used": sum(sum(record.discarded.values()) for record in sound),
        "tokens": sum(record.usage.completion_tokens for record in sound) / answers,
    }


def seconds_table(run: Run, latency: Sequence[LatencyRecord]) -> pd.DataFrame:
    """Seconds of a query's calls when they were recorded, by arm: `seconds`.

    A replay changes them by microseconds, which rounding takes away.
    """
    rows = []
    for arm in run.arms:
        spent = pd.Series([row.model for row in latency if row.arm == arm], dtype=float)
        median, most = spent.quantile([0.5, 0.95]).tolist()
        rows.append({"arm": arm, "queries": len(spent), "median": median, "p95": most, "minutes": spent.sum() / 60})
    return run.table(pd.DataFrame(rows), "seconds", decimals=1, kept=1)


def accused_table(run: Run) -> pd.DataFrame:
    """Contracts that an arm says contradict themselves, by their label: `accused`, with Wilson intervals.

    An answer that contradicts a sound contract is refused, and the contract is not accused by that.
    """
    rows = []
    for arm in (name for name in run.arms if any(r.cause for r in run.records if r.arm == name)):
        for label in ("CLEAN", "CLASH"):
            records = [record for record in run.records if (record.arm, record.label) == (arm, label)]
            accused = {record.document_id for record in records if record.outcome == "source_finding"}
            contracts = len({record.document_id for record in records})
            share = confusion.bounds("share", wilson(len(accused), contracts, run.plan.confidence))
            rows.append({"arm": arm, "label": label, "contracts": contracts, "accused": len(accused), **share})
    table = pd.DataFrame(rows, columns=["arm", "label", "contracts", "accused", *confusion.with_bounds(["share"])])
    return run.table(table, "accused")


class RecordedRun(Frozen):
    """Matrix cells that our engine gives for a run that was recorded elsewhere and is not ours to keep."""

    system: str
    arm: str
    tp: int
    fp: int
    tn: int
    fn: int


def systems_table(run: Run, systems: Mapping[str, Sequence[QueryRecord]]) -> pd.DataFrame:
    """Compare what each system and arm flagged with what it should have flagged: `systems`.

    `systems` are runs of ours by name; beside them stand the published figures, and what was recorded elsewhere and
    judged here (`data/recorded.yaml`). Arms that flag nothing are left out.
    """
    rows: list[dict[str, object]] = []
    if run.published is not None:
        cells = {c: run.published.arms["ovrag"].get(c) for c in confusion.MATRIX}
        rows.append({"system": f"{run.published.model} {MARK}", "arm": "ovrag", **cells})
    rows += [recorded.model_dump() for recorded in recorded_runs()]
    for name, records in systems.items():
        for arm in dict.fromkeys(record.arm for record in records):
            outcomes = [cell(record) for record in records if record.arm == arm]
            rows.append({"system": name, "arm": arm, **{c: outcomes.count(c) for c in confusion.MATRIX}})
    table = pd.DataFrame(rows, columns=["system", "arm", *confusion.MATRIX])
    table = table[table["tp"] + table["fp"] > 0]
    table.insert(2, "queries", table[list(confusion.MATRIX)].sum(axis=1))
    table["precision"] = table["tp"] / (table["tp"] + table["fp"])
    table["recall"] = table["tp"] / (table["tp"] + table["fn"])
    table["f1"] = 2 * table["tp"] / (2 * table["tp"] + table["fp"] + table["fn"])
    return run.table(table, "systems")


def recorded_runs(path: Path = RECORDED) -> list[RecordedRun]:
    """The runs that were recorded elsewhere. Raises RunError for a file that does not hold them."""
    try:
        return [RecordedRun.model_validate(row) for row in read_yaml(path, RunError, "restore it")["runs"]]
    except (ValidationError, KeyError, TypeError):
        raise RunError(f"{path} does not hold recorded runs: system, arm, tp, fp, tn, fn; restore it") from None
