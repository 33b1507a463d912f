"""Answers held against the ground truth of the contract that was asked about: right, wrong or silent.

Every arm's answers are read alike, by the clause reader and without a model, so that what is judged does not depend on
who extracted. A fact that the contract contradicts itself in has no right answer and is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal, get_args

import pandas as pd

from ovrag_core.base import QueryRecord
from ovrag_core.loans.contracts.contract_truth import ContractTruth
from ovrag_core.loans.loan_facts import Facts, Party
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reading.facts import facilities_of
from ovrag_core.loans.reading.subjects import bare_name
from ovrag_core.loop import NO_ANSWER
from ovrag_core.ontology import Ontology, entity_key

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
