"""The reasoner as a service: a warm process that answers in about a millisecond, and is replaced when it dies."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Literal

from ovrag_core.base import OvragError, ReasonerError
from ovrag_core.ontology.assertions import Fact
from ovrag_core.ontology.justification import Outcome
from ovrag_core.ontology.load import Ontology
from ovrag_core.ontology.typed_values import Value

ReasonerName = Literal["hermit", "pellet"]

_START_SECONDS = 60.0
_GRACE_SECONDS = 1.0


class Reasoner:
    """The axioms of an ontology in one process. Threads take turns.

    Raises OntologyError where axioms contradict each other. Where Java is missing, every check raises ReasonerError; so
    does one that runs out of time or whose process dies, and the next one starts a new process. Which axioms explain a
    pattern of facts is found once a process; verdicts are never remembered.
    """

    def __init__(
        self,
        ontology: Ontology,
        *,
        reasoner: ReasonerName = "hermit",
        seconds: float = 10,
        heap_megabytes: int = 1024,
    ) -> None:
        soft = [r.id for r in ontology.rules if r.enabled and r.severity == "warning" and not r.supporting]
        self._setup: dict[str, Any] = {
            "axioms": ontology.axioms,
            "names": {term.iri: term.name for term in ontology.terms},
            "soft": soft,  # rules that only warn
            "classes": [term.iri for term in ontology.classes],
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

    def start(self) -> None:
        """Starts the process and reads the axioms' names. Raises ReasonerError or OntologyError."""
        with self._lock:
            self._ensure_started()

    def check(self, facts: Sequence[Fact], *, limit: int = 64, explain: bool = True) -> Outcome:
        """Check `facts` for consistency with the axioms, with at most `limit` explanations. Raises ReasonerError."""
        request = ([plain_fact(fact) for fact in facts], limit, explain)
        with self._lock:
            self._ensure_started()
            # Explaining has the same time again as the first answer.
            outcome: Outcome = self._ask(request, 2 * self._seconds + _GRACE_SECONDS)
            return outcome

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
        self._pipe, its_end = Pipe()
        with its_end:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ovrag_core.ontology.worker", str(its_end.fileno())],
                pass_fds=[its_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                start_new_session=True,  # Ctrl-C in a terminal stops the caller, which then ends the reasoner
            )
        self._closer = weakref.finalize(self, _end, self._process, self._pipe)
        self.axioms, self.axiom_rules = map(tuple, self._ask(self._setup, _START_SECONDS))

    def _ask(self, message: object, seconds: float) -> Any:
        """The reply of the process, which is ended where it gives none or sends an error. Raises that error."""
        assert self._pipe is not None
        try:
            self._pipe.send(message)
            late = ReasonerError(f"the reasoner did not answer within {seconds:.0f} seconds and was stopped")
            reply = self._pipe.recv() if self._pipe.poll(seconds) else late
        except (OSError, EOFError):
            reply = ReasonerError("the reasoner's process died during the check")
        if isinstance(reply, OvragError):
            self._stop()
            raise reply
        return reply

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
