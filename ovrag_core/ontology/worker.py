"""The reasoner's own process: a JVM that may hang or die without taking the workbench with it.

Its argument is the number of a pipe's end. The first request holds the axioms; each further one is a check.
`ovrag_core.ontology.reasoner` is the other end.
"""

import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import jpype

from ovrag_core.ontology import java
from ovrag_core.ontology.java import Fact
from ovrag_core.ontology.justification import all_minimal_conflicts

Engine = java.HermiT | java.Fresh
Message = dict[str, Any]

_AXIOM_SETS = 8  # explanations of one contradiction among statements by axioms
_REMEMBERED = 5_000


class Service:
    """The loaded axioms, and checks against them."""

    def __init__(self, request: Message) -> None:
        self.seconds = float(request["seconds"])
        self.reasoner = str(request["reasoner"])
        self.logic = java.Logic(request["axioms"], request["names"])
        soft = frozenset(request["soft"])
        self.named = java.treats_names_apart(self.logic)
        every = range(len(self.logic.axioms))
        self.consistent = self._is_consistent(every)
        hard = [number for number in every if not soft.intersection(self.logic.rules[number])]
        self.whole = self.engine(every)
        self.hard = self.whole if len(hard) == len(every) else self.engine(hard)
        self.hard_axioms = frozenset(hard)
        self.remembered: dict[tuple[Any, ...], list[tuple[int, ...]]] = {}

    def engine(self, axioms: Sequence[int]) -> Engine:
        """The reasoner that was asked for, over these axioms."""
        if self.reasoner == "pellet":
            return java.Fresh(self.logic, axioms, self.seconds, pellet=True)
        if self.named:
            return java.Fresh(self.logic, axioms, self.seconds)
        return java.HermiT(self.logic, axioms, self.seconds)

    def _is_consistent(self, axioms: Sequence[int], facts: Sequence[Fact] = ()) -> bool:
        engine = self.engine(axioms)
        try:
            return engine.consistent(facts)
        finally:
            engine.dispose()

    def described(self, classes: Sequence[str]) -> Message:
        """The axioms, whether they can be true together, and which of `classes` can have no member."""
        tried = classes if self.consistent else ()
        return {
            "axioms": self.logic.manchester,
            "rules": self.logic.rules,
            "consistent": self.consistent,
            "impossible": [iri for iri in tried if not self.hard.consistent([("class", iri, 0, None)])],
        }

    def check(self, request: Message) -> Message:
        """`{"consistent": true}`, or all minimal explanations found within the limits, hard ones first."""
        facts: list[Fact] = request["facts"]
        if self.whole.consistent(facts):
            return {"consistent": True}
        if not request["explain"]:
            return {"consistent": False, "explanations": [], "complete": False}
        deadline = time.monotonic() + self.seconds
        hard, complete = self._conflicts(self.hard, facts, request["limit"], deadline)
        explanations = [{"facts": conflict, "axioms": self._axioms(facts, conflict, hard=True)} for conflict in hard]
        if self.whole is not self.hard:
            both, both_complete = self._conflicts(self.whole, facts, request["limit"], deadline, hard)
            soft = [conflict for conflict in both if conflict not in set(hard)]
            explanations += [
                {"facts": conflict, "axioms": self._axioms(facts, conflict, hard=False)} for conflict in soft
            ]
            complete = complete and both_complete
        return {"consistent": False, "explanations": explanations, "complete": complete}

    def _conflicts(
        self,
        engine: Engine,
        facts: list[Fact],
        limit: int,
        deadline: float,
        known: Sequence[tuple[int, ...]] = (),
    ) -> tuple[list[tuple[int, ...]], bool]:
        conflicts: list[tuple[int, ...]] = []
        complete = True
        for component in _components(facts):
            more, all_of_them = all_minimal_conflicts(
                component,
                lambda chosen: not engine.consistent([facts[number] for number in chosen]),
                limit=limit,
                known=known,
                stop=lambda: time.monotonic() > deadline,
            )
            conflicts += more
            complete = complete and all_of_them
        return conflicts, complete

    def _axioms(self, facts: list[Fact], conflict: tuple[int, ...], *, hard: bool) -> list[tuple[int, ...]]:
        """The minimal sets of axioms that make these facts contradictory; remembered by the pattern of the facts."""
        chosen = _renumbered([facts[number] for number in conflict])
        key = (hard, *chosen)
        if key not in self.remembered:
            if len(self.remembered) > _REMEMBERED:
                self.remembered.clear()
            self.remembered[key] = self._find_axioms(chosen, hard=hard)
        return self.remembered[key]

    def _find_axioms(self, facts: list[Fact], *, hard: bool) -> list[tuple[int, ...]]:
        module = self.logic.module_of([(kind, term) for kind, term, _, _ in facts])
        candidates = [number for number in module if not hard or number in self.hard_axioms]
        conflicts, _ = all_minimal_conflicts(
            candidates, lambda axioms: not self._is_consistent(axioms, facts), limit=_AXIOM_SETS
        )
        return sorted(conflicts, key=lambda axioms: (len(axioms), axioms))


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
    """Serves until the other end of the pipe is closed."""
    pipe = Connection(int(sys.argv[1]))
    setup = pipe.recv()
    try:
        java.start_jvm(setup["heap"], pellet=setup["reasoner"] != "hermit")
    except (OSError, RuntimeError, ValueError) as error:
        pipe.send({"no_java": " ".join(str(error).split())[:200]})
        return
    try:
        service = Service(setup)
        pipe.send(service.described(setup["classes"]))
    except jpype.JException as error:
        pipe.send({"broken": _java_words(error)})
        return
    while True:
        try:
            pipe.send(service.check(pipe.recv()))
        except EOFError:
            return
        except ArithmeticError as error:
            pipe.send({"failed": str(error)})
        except jpype.JException as error:
            # After an error in Java (memory, stack, time) its state is not to be trusted; the next check starts anew.
            pipe.send({"failed": _java_words(error), "over": True})
            return


def _java_words(error: Exception) -> str:
    name = type(error).__name__.rsplit(".", 1)[-1]
    if "OutOfMemory" in name:
        return "the reasoner ran out of memory; raise validation.heap_megabytes"
    if "Interrupted" in name or "TimeOut" in name:
        return "the reasoner ran out of time"
    return f"the reasoner stopped with {name}: {' '.join(str(error).split())[:160]}"


if __name__ == "__main__":
    main()
