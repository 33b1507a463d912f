"""The reasoner's process: agreement with other reasoners, W3C cases, limits, and what happens when it dies."""

import gc
import importlib.util
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.base.types import Triple
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology.assertions import assert_triples
from ovrag_core.ontology.justification import all_minimal_conflicts, is_minimal, minimal_conflict
from ovrag_core.ontology.load import Ontology, load_ontology

CLASH = [Triple(subject="Loan", predicate="rdf:type", object=name) for name in ("SecuredLoan", "UnsecuredLoan")]


@pytest.fixture(scope="module")
def ontology(project: Path) -> Ontology:
    return load_ontology(project / "ontologies")


@pytest.fixture(scope="module")
def benchmark_code(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("consistency_benchmark", project / "benchmarks" / "consistency.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def _run(project: Path, call: str) -> list[str]:
    """Words printed last by a call of the benchmark, in a process of its own: it starts a JVM there, with Pellet."""
    code = f"""
import importlib.util, pathlib
spec = importlib.util.spec_from_file_location("b", {str(project / "benchmarks" / "consistency.py")!r})
b = importlib.util.module_from_spec(spec)
spec.loader.exec_module(b)
ontology = b.load_ontology(pathlib.Path({str(project / "ontologies")!r}))
print({call})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=250)
    return done.stdout.strip().splitlines()[-1].split()


def test_reasoners_agree_on_random_aboxes(project: Path) -> None:
    """HermiT's tableau, HermiT as it comes, and Pellet."""
    words = _run(project, "*[len(x) if isinstance(x, list) else x for x in b.disagreements(ontology, 150, seed=11)]")
    count, inconsistent, differing = map(int, words)
    assert (count, differing) == (150, 0)
    assert 20 < inconsistent < 130


def test_explanations_are_minimal_by_pellet_too(project: Path) -> None:
    minimal, _, of = _run(project, "[figure for _, figure in b.explanation(ontology, True)][-1]")
    assert int(minimal) == int(of) > 20


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
def test_w3c_cases(external_data: Path, benchmark_code: ModuleType, case: str) -> None:
    folder = external_data / "owl2_cases"
    expected = dict(line.split("\t")[:2] for line in (folder / "expected.tsv").read_text().splitlines())
    assert benchmark_code.decide(benchmark_code.w3c_axioms(folder / case), "hermit", seconds=20) == expected[case]


def test_both_reasoners_together(ontology: Ontology) -> None:
    validator = Validator(ontology, reasoner="both")
    verdict = validator.check(CLASH, closed_world=False)
    assert [violation.rule for violation in verdict.violations] == ["security_exclusive"]
    assert validator.check(CLASH[:1], closed_world=False).status == "consistent"
    validator.close()


def test_the_recorded_attempts_that_were_inconsistent_are_found(
    external_data: Path, benchmark_code: ModuleType, ontology: Ontology
) -> None:
    validator = Validator(ontology)
    attempts = [attempt for _, attempts in benchmark_code.recorded_attempts() for attempt in attempts]
    assert len(attempts) == 300
    missed = [triples for valid, triples in attempts if not valid and validator.check(triples).status != "inconsistent"]
    assert missed == []
    unmapped = sum(len(assert_triples(triples, ontology).unmapped) for _, triples in attempts)
    assert unmapped / sum(len(triples) for _, triples in attempts) <= 0.05
    validator.close()


def test_the_verdict_alone_is_the_verdict_of_the_check(ontology: Ontology, benchmark_code: ModuleType) -> None:
    validator = Validator(ontology)
    chance = random.Random(5)
    for _ in range(300):
        triples = benchmark_code.random_triples(chance)
        for closed_world in (True, False):
            full = validator.check(triples, closed_world=closed_world)
            assert validator.status(triples, closed_world=closed_world) == full.status
    validator.close()


def test_a_dying_process_costs_one_check(ontology: Ontology) -> None:
    validator = Validator(ontology)
    pid = validator.reasoner_pid
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
    pid = validator.reasoner_pid
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
    pid = validator.reasoner_pid
    child = os.fork()
    if child == 0:
        right = validator.check(CLASH, closed_world=False).status == "inconsistent" and validator.reasoner_pid != pid
        validator.close()
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert validator.check(CLASH[:1], closed_world=False).status == "consistent"
    assert validator.reasoner_pid == pid
    validator.close()


def test_importing_and_loading_start_no_java() -> None:
    code = (
        "import sys, ovrag_core.loop.checking, ovrag_core.loop.validation;"
        "import ovrag_core.ontology.vocabulary as vocabulary;"
        "from ovrag_core.ontology.load import load_ontology;"
        "text = vocabulary.vocabulary_text(load_ontology());"
        "assert 'SecuredLoan' in text, text;"
        "assert not {'jpype', 'owlready2', 'pyshacl'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parents[2])


def test_the_process_ends_with_its_validator(ontology: Ontology) -> None:
    validator = Validator(ontology)
    pid = validator.reasoner_pid
    assert pid is not None
    del validator
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_warm_check_is_fast(ontology: Ontology, benchmark_code: ModuleType) -> None:
    """A bound ten times what is measured on a quiet machine: it catches a reasoner that starts anew, not a busy day."""
    validator = Validator(ontology)
    triples = benchmark_code.typical()
    assert len(triples) == 25
    seconds = []
    for _ in range(60):
        started = time.perf_counter()
        assert validator.check(triples).status == "consistent"
        seconds.append(time.perf_counter() - started)
    assert sorted(seconds)[30] < 0.010
    validator.close()
