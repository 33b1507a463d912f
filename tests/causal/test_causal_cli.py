"""`ovrag causal`: answers and verdicts with their derivation, one line for each bad input, exit codes that tell."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
RULES = "We know that Kelm causes not Tarv, Tarv causes Osk, Osk and Tarv together cause Brin."
WHAT_IF = "Would Brin occur if not Kelm instead of Kelm?"
GRAPH = """
@prefix : <urn:test#> .
@prefix c: <urn:ovrag:causal#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:wind a c:Factor ; rdfs:label "wind" ; c:raises :waves .
:waves a c:Factor ; rdfs:label "waves" ; c:lowers :visibility .
:visibility a c:Factor ; rdfs:label "visibility" .
"""


@pytest.fixture
def ovrag(call: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `ovrag causal` in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sea.ttl").write_text(GRAPH)
    return partial(call, "causal")


def test_a_question_is_answered_and_explained(ovrag: Run) -> None:
    assert ovrag("ask", f"{RULES} {WHAT_IF}")[:2] == (0, "yes (determined)\n")
    code, out, _ = ovrag("explain", f"{RULES} {WHAT_IF}")
    assert (code, out.splitlines()[0]) == (0, "Kelm does not occur: by the action")
    code, out, _ = ovrag("ask", f"{RULES} {WHAT_IF}", "-f", "jsonl")
    assert (code, json.loads(out)["answer"], out.count("\n")) == (0, "yes", 1)


@pytest.mark.parametrize("question", ["Why?", "", "-", f"{RULES} Would Zork occur if not Kelm?"])
def test_what_is_not_read_is_a_line_and_exit_code_2(ovrag: Run, question: str) -> None:
    code, out, err = ovrag("ask", question)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_statements_get_verdicts_with_query_and_triples(ovrag: Run) -> None:
    code, out, _ = ovrag("verify", "Wind raises waves. Wind raises visibility.", "--graph", "sea.ttl", "-f", "jsonl")
    first, second = map(json.loads, out.splitlines())
    assert code == 1
    assert (first["outcome"], first["rule"], len(first["triples"])) == ("VERIFIED", "stated", 1)
    assert (second["outcome"], second["rule"], len(second["triples"])) == ("CONTRADICTION", "opposite polarity", 2)
    assert second["query"].startswith("ASK {")
    code, out, _ = ovrag("explain", "Waves lower visibility.", "--graph", "sea.ttl")
    assert code == 0
    assert "triple  <urn:test#waves> <urn:ovrag:causal#lowers> <urn:test#visibility>" in out


@pytest.mark.parametrize("name", ["x> . DROP ALL #", '"; } #', "a\\b", "a\nb"])
def test_a_name_is_never_part_of_a_query(ovrag: Run, name: str, tmp_path: Path) -> None:
    code, out, _ = ovrag("verify", f"Wind raises {name}.", "Wind raises waves.", "--graph", "sea.ttl", "-f", "jsonl")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert records[-1]["outcome"] == "VERIFIED"
    assert "VERIFIED" not in {each["outcome"] for each in records[:-1]}
    assert (tmp_path / "sea.ttl").read_text() == GRAPH


def test_a_store_that_does_not_answer_is_no_verdict(ovrag: Run) -> None:
    for graph in ("http://127.0.0.1:9/sparql", "none.ttl"):
        code, out, err = ovrag(
            "verify", "Wind raises waves.", "--graph", graph, "-S", "studies.causal.store.attempts=1"
        )
        assert (code, err.count("\n")) == (2, 1), err
        assert "VERIFIED" not in out and "FAILED" not in out


def test_a_text_without_statements_is_said(ovrag: Run) -> None:
    code, _, err = ovrag("verify", "Good morning.", "--graph", "sea.ttl")
    assert (code, err.count("\n")) == (2, 1)
    assert ovrag("explain", "Good morning.", "--graph", "sea.ttl")[0] == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [("  ", "is empty"), ("Given: wind rises.", "states no cause"), ("Is it so?", "states no")],
)
def test_why_there_is_no_verdict_is_said_in_one_line(ovrag: Run, text: str, told: str) -> None:
    code, out, err = ovrag("verify", text, "--graph", "sea.ttl")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_a_graph_without_names_is_said(ovrag: Run, tmp_path: Path) -> None:
    (tmp_path / "bare.ttl").write_text("<urn:a> <urn:ovrag:causal#raises> <urn:b> .")
    code, _, err = ovrag("verify", "Wind raises waves.", "--graph", "bare.ttl")
    assert (code, err.count("\n")) == (2, 1) and "the graph names nothing" in err


def test_one_file_that_cannot_be_read_keeps_no_other_from_being_checked(ovrag: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "empty.txt").write_text("")
    code, out, err = ovrag("verify", "bad.txt", "empty.txt", "Wind raises waves.", "--graph", "sea.ttl")
    assert (code, out.split(":")[0]) == (2, "VERIFIED")
    assert "bad.txt cannot be read" in err and "empty.txt is empty" in err


def test_an_endpoint_that_is_down_leaves_each_statement_unchecked(ovrag: Run) -> None:
    few = ("--graph", "http://127.0.0.1:9/sparql", "-S", "studies.causal.store.attempts=1")
    code, out, err = ovrag("verify", "Wind raises waves. Waves lower visibility.", *few, "-f", "jsonl")
    assert (code, err) == (2, "ovrag: 2 of 2 statements could not be checked\n")
    records = [json.loads(line) for line in out.splitlines()]
    assert [each["outcome"] for each in records] == ["UNCHECKED", "UNCHECKED"]
    assert "does not answer" in records[0]["reason"]


def test_a_bench_goes_on_after_a_bad_line_and_counts(ovrag: Run, tmp_path: Path) -> None:
    lines = [json.dumps({"id": "a", "context": RULES, "query": WHAT_IF, "answer": "no"}), "nonsense"]
    lines.append(json.dumps({"id": "b", "context": RULES, "query": "Why?"}))
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    code, out, err = ovrag("bench", "q.jsonl")
    first, second = map(json.loads, out.splitlines())
    assert (code, first["contested"], second["status"]) == (2, True, "unread")
    assert "q.jsonl, line 2" in err and "q.jsonl, b was not read" in err
    assert (
        err.splitlines()[-1]
        == "ovrag: 1 determined, 1 unread; 0 of 1 as their labels say; 1 lines or files are no questions"
    )
    (tmp_path / "q.jsonl").write_text(lines[0])
    code, out, err = ovrag("bench", "none.jsonl", "q.jsonl")
    assert (code, out.count("\n")) == (2, 1) and "none.jsonl cannot be read" in err
    assert ovrag("bench", "q.jsonl", "--out", "r.jsonl")[:2] == (0, "")
    assert json.loads((tmp_path / "r.jsonl").read_text())["id"] == "a"
    assert ovrag("bench", "q.jsonl", "--out", "no/r.jsonl")[0] == 2
