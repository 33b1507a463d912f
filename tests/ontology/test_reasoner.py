"""The reasoner's process: agreement with other reasoners, W3C cases, limits, and what happens when it dies."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from aboxes import decide, w3c_axioms
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.base.types import Triple
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology.justification import all_minimal_conflicts, is_minimal, minimal_conflict
from ovrag_core.ontology.load import Ontology, load_ontology

CLASH = [Triple(subject="Loan", predicate="rdf:type", object=name) for name in ("SecuredLoan", "UnsecuredLoan")]


@pytest.fixture(scope="module")
def ontology(project: Path) -> Ontology:
    return load_ontology(project / "ontologies")


@given(st.lists(st.frozensets(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=6))
def test_all_minimal_conflicts_are_found(conflicts: list[frozenset[int]]) -> None:
    """Against the definition: the conflicts of which no other is a part."""

    def contradicts(chosen: object) -> bool:
        return any(conflict <= set(chosen) for conflict in conflicts)

    minimal = {tuple(sorted(one)) for one in conflicts if not any(other < one for other in conflicts)}
    found, complete = all_minimal_conflicts(range(10), contradicts, limit=100)
    assert complete
    assert set(found) == minimal
    assert len(found) == len(set(found))
    seeded, _ = all_minimal_conflicts(range(10), contradicts, limit=100, known=[*found[::2], tuple(range(10))])
    assert set(seeded) == minimal
    first = minimal_conflict(range(10), contradicts)
    assert first is not None
    assert is_minimal(first, contradicts)


def test_the_limit_on_explanations_is_said() -> None:
    found, complete = all_minimal_conflicts(range(8), lambda chosen: len(chosen) >= 4, limit=5)
    assert (len(found), complete) == (5, False)
    assert minimal_conflict(range(3), lambda chosen: False) is None


def _run(project: Path, call: str) -> list[int]:
    """Numbers printed by a call of `aboxes`, in a process of its own: it starts a JVM there, with Pellet."""
    code = f"""
import pathlib, sys
sys.path.insert(0, {str(project / "tests")!r})
import aboxes
from ovrag_core.ontology.load import load_ontology
ontology = load_ontology(pathlib.Path({str(project / "ontologies")!r}))
print(*{call})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=250)
    return [int(number) for number in done.stdout.split()]


def test_reasoners_agree_on_random_aboxes(project: Path) -> None:
    """HermiT's tableau, HermiT as it comes, and Pellet."""
    call = "[len(x) if isinstance(x, list) else x for x in aboxes.disagreements(ontology, 150, seed=11)]"
    count, inconsistent, differing = _run(project, call)
    assert (count, differing) == (150, 0)
    assert 20 < inconsistent < 130


def test_explanations_are_minimal_by_pellet_too(project: Path) -> None:
    minimal, of = _run(project, "aboxes.minimality(ontology, 30, seed=7)")
    assert minimal == of > 20


@pytest.mark.parametrize(
    "case",
    [
        "DisjointClasses-002.rdf",
        "Datatype-Float-Discrete-001.rdf",
        "New-Feature-Keys-003.rdf",
        "New-Feature-NegativeObjectPropertyAssertion-001.rdf",
        "New-Feature-Rational-001.rdf",
        "WebOnt-cardinality-001.rdf",
        "WebOnt-description-logic-101.rdf",
        "WebOnt-Thing-003.rdf",
    ],
)
def test_w3c_cases(external_data: Path, case: str) -> None:
    folder = external_data / "owl2_cases"
    expected = dict(line.split("\t")[:2] for line in (folder / "expected.tsv").read_text().splitlines())
    assert decide(w3c_axioms(folder / case), "hermit", seconds=20) == expected[case]


def test_a_dying_process_costs_one_check(ontology: Ontology) -> None:
    validator = Validator(ontology)
    pid = validator._reasoner.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # it dies while a check waits for it
    killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    killer.start()
    verdict = validator.check(CLASH)
    assert verdict.status == "unchecked"
    assert verdict.violations == ()
    assert "died" in (verdict.reason or "")
    assert validator.check(CLASH, closed_world=False).status == "inconsistent"
    validator.close()


def test_a_check_out_of_time_is_unchecked(ontology: Ontology) -> None:
    validator = Validator(ontology, seconds_per_check=0.2)
    pid = validator._reasoner.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    verdict = validator.check(CLASH)
    assert verdict.status == "unchecked"
    assert "did not answer within" in (verdict.reason or "")
    assert time.monotonic() - started < 5
    validator.close()


def test_the_reasoners_own_time_limit_is_unchecked_too(tmp_path: Path) -> None:
    """An ontology that makes the calculus work hard: a pigeonhole problem, ten into nine."""
    folder = tmp_path / "o"
    folder.mkdir()
    holes = 10
    names = [[f"x:P{n}H{h}" for h in range(holes)] for n in range(holes + 1)]
    lines = ["@prefix x: <urn:h#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."]
    lines += ["@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . x:p a owl:ObjectProperty . x:All a owl:Class ."]
    lines += [f"{name} a owl:Class ." for row in names for name in row]
    for number, row in enumerate(names):
        lines += [f"x:P{number} a owl:Class ; rdfs:subClassOf [ a owl:Class ; owl:unionOf ( {' '.join(row)} ) ] ."]
        for before in names[:number]:
            lines += [f"{one} owl:disjointWith {other} ." for one, other in zip(row, before, strict=True)]
    everyone = " ".join(f"x:P{number}" for number in range(holes + 1))
    lines += [f"x:p rdfs:range [ a owl:Class ; owl:intersectionOf ( {everyone} ) ] ."]
    (folder / "hard.ttl").write_text("\n".join(lines))
    validator = Validator(load_ontology(folder), seconds_per_check=0.5)
    verdict = validator.check([Triple(subject="a", predicate="p", object="b")])
    assert verdict.status == "unchecked"
    assert "time" in (verdict.reason or "")
    assert validator.check([Triple(subject="a", predicate="rdf:type", object="All")]).status == "consistent"
    validator.close()


def test_without_java_every_check_says_so(ontology: Ontology, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OVRAG_JVM", str(tmp_path / "libjvm.so"))
    validator = Validator(ontology)
    for _ in range(2):
        verdict = validator.check(CLASH)
        assert verdict.status == "unchecked"
        assert "Java could not be started" in (verdict.reason or "")
        assert "\n" not in (verdict.reason or "")
    monkeypatch.delenv("OVRAG_JVM")
    assert validator.check(CLASH, closed_world=False).status == "inconsistent"
    validator.close()


def test_a_file_that_is_no_jvm_says_so(ontology: Ontology, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "libjvm.so").write_text("not a library")
    monkeypatch.setenv("OVRAG_JVM", str(tmp_path / "libjvm.so"))
    verdict = Validator(ontology).check(CLASH)
    assert verdict.status == "unchecked"
    assert "Java could not be started" in (verdict.reason or "")


def test_threads_take_turns(ontology: Ontology) -> None:
    validator = Validator(ontology)
    answers: list[tuple[int, str]] = []

    def work(number: int) -> None:
        for _ in range(20):
            answers.append((number, validator.check(CLASH[: 1 + number % 2], closed_world=False).status))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 120
    assert all(status == ("inconsistent" if number % 2 else "consistent") for number, status in answers)
    validator.close()


def test_a_fork_gets_a_reasoner_of_its_own(ontology: Ontology) -> None:
    validator = Validator(ontology)
    pid = validator._reasoner.pid
    child = os.fork()
    if child == 0:
        right = validator.check(CLASH, closed_world=False).status == "inconsistent" and validator._reasoner.pid != pid
        validator.close()
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert validator.check(CLASH[:1], closed_world=False).status == "consistent"
    assert validator._reasoner.pid == pid
    validator.close()


def test_importing_and_loading_start_no_java() -> None:
    code = (
        "import sys, ovrag_core.loop.checking, ovrag_core.loop.validation;"
        "import ovrag_core.ontology.vocabularies as vocabulary;"
        "from ovrag_core.ontology.load import load_ontology;"
        "text = vocabulary.vocabulary_text(load_ontology());"
        "assert 'SecuredLoan' in text, text;"
        "assert not {'jpype', 'owlready2', 'pyshacl'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parents[2])


def test_the_process_ends_with_its_validator(ontology: Ontology) -> None:
    validator = Validator(ontology)
    pid = validator._reasoner.pid
    assert pid is not None
    del validator
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_warm_check_is_fast(ontology: Ontology) -> None:
    """A bound ten times what is measured on a quiet machine: it catches a reasoner that starts anew, not a busy day."""
    validator = Validator(ontology)
    loans = (f"Loan{number}" for number in range(12))
    triples = [each for loan in loans for each in (CLASH[0], CLASH[0].model_copy(update={"subject": loan}))]
    seconds = []
    for _ in range(60):
        started = time.perf_counter()
        assert validator.check(triples, closed_world=False).status == "consistent"
        seconds.append(time.perf_counter() - started)
    assert sorted(seconds)[30] < 0.010
    validator.close()
