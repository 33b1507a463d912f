"""The arms of the experiment. Each changes one thing against another, so that differences can be read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ovrag_core.base import ArmName, Cause, Triple


@dataclass(frozen=True, slots=True)
class Arm:
    """Way in which a question is answered and checked.

    `scoped`: retrieval sees the asked document only, else the whole collection. `validates`: the loop of extraction,
    validation and correction runs. `context`: what contradictions are looked for in beside the answer, the retrieved
    chunks or the whole asked document. `merges`: all loans become the one individual `TheLoan`, as in the published
    system. `closed_world`: shapes are checked beside axioms. `uses_cause`: only what the answer got wrong is corrected;
    a source that contradicts itself is reported at once.
    """

    name: ArmName
    scoped: bool
    validates: bool
    context: Literal["chunks", "document"] = "chunks"
    merges: bool = False
    closed_world: bool = False
    uses_cause: bool = False


ARMS: dict[ArmName, Arm] = {
    arm.name: arm
    for arm in (
        Arm("plain", scoped=False, validates=False),
        Arm("ovrag", scoped=False, validates=True, merges=True),
        Arm("plain_scoped", scoped=True, validates=False),
        Arm("ovrag_scoped", scoped=True, validates=True, merges=True),
        Arm("ovrag_evidence", scoped=True, validates=True, context="document", closed_world=True, uses_cause=True),
    )
}

# The cause of a refused answer is the first of these that it has: none can be right by another contract's statements.
CAUSES: dict[Cause, str] = {
    "mixture": "statements of different contracts were mixed",
    "answer": "the answer contradicts the contract",
    "source": "the contract contradicts itself",
}


def distinct(triples: Sequence[Triple], merged: str | None) -> tuple[Triple, ...]:
    """Triples without those that repeat subject, predicate and object of an earlier one, in order.

    In the published system's view every individual of the class `merged`, of whatever document, is one: `TheLoan`.
    """
    individuals = {triple.subject for triple in triples if triple.subject_type == merged}
    first: dict[tuple[str, str, str], Triple] = {}
    for triple in triples:
        one = triple.model_copy(update={"subject": f"The{merged}"}) if triple.subject in individuals else triple
        first.setdefault((one.subject, one.predicate, one.object), one)
    return tuple(first.values())
