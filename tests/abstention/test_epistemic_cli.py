"""`ovrag epistemic`: what is said of a question, files that are written, exit codes, one line for each bad input."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from epistemic_rivers import Words, card, graph, iri

from ovrag_core.retrieval import embedding
from ovrag_studies.abstention.cards.card import read_cards, write_cards
from ovrag_studies.abstention.records import read_run

Run = Callable[..., tuple[int, str, str]]
ON = ("-g", "rivers.tsv", "-d", "rivers")
ARMS = "studies.epistemic.arms="
FEWER = "studies.epistemic.cards.each=6"
FEW = ("-S", "studies.epistemic.experiments.bootstrap_samples=50")
CLASH = """@prefix r: <http://example.org/rivers#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://e/a> a r:River ; rdfs:label "Alpha" ; r:hasMouth <http://e/b> , <http://e/c> .
<http://e/b> a r:River ; rdfs:label "Beta" ; r:hasMouth <http://e/d> .
<http://e/c> a r:River ; rdfs:label "Gamma" .
<http://e/d> a r:Sea ; rdfs:label "Delta Sea" .
"""
PLAIN = """name: plain
prefix: "http://example.org/rivers#"
classes: {River: {labels: [river]}}
facts: {subject: River, predicate: hasMouth, kinds: {river: River}}
predicates:
  hasMouth: {statements: ["{subject} flows into {object}"], questions: ["Does {subject} flow into {object}?"]}
"""


@pytest.fixture
def ovrag(call: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `ovrag epistemic` in a folder with a few rivers; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(embedding, "minilm", Words)
    graph(tmp_path)

    return partial(call, "epistemic")


def asked(tmp_path: Path) -> Path:
    """A file of three cards about the rivers."""
    path = tmp_path / "cards.jsonl"
    write_cards([card("Main", "Rhine", "YES"), card("Main", "Danube", "NO"), card("Leine", "Rhine", "NO")], path)
    return path


# --- a question


def test_a_yes_comes_with_the_facts_that_say_it(ovrag: Run) -> None:
    code, out, err = ovrag("license", "Does water from the Neckar eventually reach the North Sea?", *ON, "-f", "json")
    said = json.loads(out)
    assert (code, err, said["verdict"]) == (0, "", "YES")
    assert said["claim"]["pred"] == "drainsTo"
    assert [each["sentence"] for each in said["proof"]] == [
        "Neckar flows into Rhine",
        "Rhine flows into North Sea",
    ]
    first = f"<{iri('Neckar')}> <http://example.org/rivers#hasMouth> <{iri('Rhine')}> ."
    assert said["proof"][0]["triple"] == first


def test_a_no_names_the_constraint(ovrag: Run) -> None:
    code, out, _ = ovrag("license", "Does the Main flow into the Danube?", *ON)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "NO: Does the Main flow into the Danube?"
    assert lines[2] == "breaks one_mouth: a river has one water body as its mouth"
    assert "proof: Main flows into Rhine" in lines


def test_an_unknown_says_what_is_lacking(ovrag: Run) -> None:
    for question, lacking in (
        ("Does the North Sea flow into the Danube?", "no mouth of North Sea is recorded"),
        ("Does the Nile flow into the Danube?", "is no name in the graph"),
        ("Is the sky blue?", ""),
    ):
        code, out, _ = ovrag("license", question, *ON, "-f", "jsonl")
        said = json.loads(out)
        assert (code, said["verdict"], said["proof"], said["constraint"]) == (0, "UNKNOWN", [], None)
        assert lacking in said["lacking"] and said["lacking"]


def test_a_question_that_denies_turns_the_answer_round(ovrag: Run) -> None:
    _, out, _ = ovrag("license", "Is it false that the Main flows into the Rhine?", *ON, "-f", "json")
    said = json.loads(out)
    assert (said["verdict"], said["negated"]) == ("NO", True)
    assert said["proof"][0]["sentence"] == "Main flows into Rhine"


@pytest.mark.parametrize(
    "question",
    ['" } UNION { ?s ?p ?o . FILTER("" = "', "<script>alert(1)</script>", "a\nb\x1b[31mc", "", "?" * 2000],
)
def test_whatever_stands_in_a_question_is_text(ovrag: Run, question: str) -> None:
    code, out, err = ovrag("license", question, *ON)
    assert (code, err) == (0, "")
    assert out.startswith("UNKNOWN:")
    assert "\x1b" not in out
    assert json.loads(ovrag("license", question, *ON, "-f", "json")[1])["question"] == question


def test_a_graph_that_contradicts_itself_leaves_the_rest_of_it_to_be_asked(ovrag: Run, tmp_path: Path) -> None:
    (tmp_path / "clash.ttl").write_text(CLASH, encoding="utf-8")
    on = ("-g", "clash.ttl", "-d", "rivers")
    code, out, err = ovrag("license", "Does Alpha flow into Beta?", *on)
    assert code == 2
    assert out.startswith("UNCHECKED: ")
    assert err.startswith("ovrag: not checked: the graph contradicts itself about Alpha") and err.count("\n") == 1
    assert ovrag("license", "Does Beta flow into Delta Sea?", *on)[0] == 0
    code, out, _ = ovrag("check", *on)
    assert code == 1
    assert "contradictions: 1\n  the graph contradicts itself about Alpha: it has Beta and Gamma" in out
    assert ovrag("check", *ON)[0] == 0


def test_an_endpoint_without_an_answer_leaves_a_question_unchecked(ovrag: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        dead = f"http://127.0.0.1:{taken.getsockname()[1]}/sparql"
    code, out, err = ovrag("license", "Does A flow into B?", "-g", dead, "-d", "rivers", "-f", "json")
    assert (code, out) == (2, "")
    assert err.startswith("ovrag: ") and dead in err and err.count("\n") == 1


def test_loans_are_asked_by_their_own_file(ovrag: Run, project: Path) -> None:
    loans = ("-g", str(project / "data/samples/epistemic/loans_facts.tsv"), "-d", "loans")
    assert ovrag("check", *loans)[0] == 0
    code, out, _ = ovrag("cards", *loans, "-S", "studies.epistemic.cards.each=4", "--out", "loans.jsonl")
    assert code == 0 and "loans.jsonl: 60 cards" in out
    on = (*loans, "--cards", "loans.jsonl", "--hidden", "loans.hidden.txt", "-S", ARMS + "[licence]")
    assert ovrag("run", *on, "--out", "run.jsonl")[0] == 0
    assert all(each.answer == each.gold for each in read_run(Path("run.jsonl")).records)


# --- cards and runs


def test_cards_are_made_with_the_subjects_to_hide_and_alike_each_time(ovrag: Run, project: Path) -> None:
    sample = ("-g", str(project / "data/samples/epistemic/hasMouth_facts.tsv"), "-d", "rivers", "-S", FEWER)
    assert ovrag("cards", *sample, "--out", "a.jsonl")[0] == 0
    assert ovrag("cards", *sample, "--out", "b.jsonl")[0] == 0
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert Path("a.hidden.txt").read_bytes() == Path("b.hidden.txt").read_bytes()
    made = read_cards(Path("a.jsonl"))
    assert [sum(each.label == label for each in made) for label in "ECU"] == [6, 6, 6]
    ovrag("cards", *sample, "--out", "c.jsonl", "-S", "studies.epistemic.cards.seed=7")
    assert Path("a.jsonl").read_bytes() != Path("c.jsonl").read_bytes()


def test_a_run_is_asked_and_scored(ovrag: Run, tmp_path: Path) -> None:
    cards = asked(tmp_path)
    chosen = ("-S", ARMS + "[licence, oracle]")
    code, out, _ = ovrag("run", "--out", "run.jsonl", *ON, "--cards", str(cards), *chosen)
    assert code == 0 and "3 cards" in out
    assert list(read_run(Path("run.jsonl")).by_arm()) == ["Graph-RAG with licence", "KG oracle"]
    assert Path("run.cards.jsonl").read_bytes() == cards.read_bytes()
    assert Path("run.latency.jsonl").is_file()
    code, out, _ = ovrag("score", "run.jsonl", "-f", "json", *FEW)
    licensed, oracle = json.loads(out)
    assert licensed["accuracy"]["value"] == 1 and licensed["kinds"]["C_direct"] == 1
    assert oracle["table"] == [[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
    assert "CVRR*" in ovrag("score", "run.jsonl", *FEW)[1]


# --- bad input


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("license", "x", "-g", "broken.ttl", "-d", "rivers"), r"broken.ttl, line 2"),
        (("license", "x", "-g", "empty.ttl", "-d", "rivers"), "empty.ttl holds no triples"),
        (("license", "x", "-g", "absent.nt", "-d", "rivers"), "absent.nt has no fact under a predicate of rivers"),
        (("license", "x", "-g", "gone.ttl", "-d", "rivers"), "gone.ttl does not exist"),
        (("license", "x", "-g", "rivers.tsv", "-d", "river"), "river is no file of a domain"),
        (("run", "--out", "o.jsonl", *ON, "--hidden", "empty.txt.gone"), "does not exist"),
        (("cards", "--out", "c.jsonl", "-g", "rivers.tsv", "-d", "plain.yaml"), "no declared constraint"),
        (("cards", "--out", "no/c.jsonl", *ON), "c.jsonl cannot be written"),
        (("run", "--out", "o.jsonl", *ON, "--cards", "twice.jsonl"), "line 2: the id 'a' stands in a line before"),
        (("run", "--out", "o.jsonl", *ON, "--cards", "maybe.jsonl"), "line 1: gold is 'MAYBE'"),
        (("run", "--out", "o.jsonl", *ON, "--cards", "claimless.jsonl"), "line 1: 'claim' is missing"),
        (("run", "--out", "no/o.jsonl", *ON), "no/o.jsonl cannot be written"),
        (
            ("run", "--out", "o.jsonl", *ON, "--cards", "good.jsonl", "-S", ARMS + "[chat]"),
            "set llm.provider",
        ),
        (("score", "twice.jsonl"), "line 1: 'arm' is missing; give what `ovrag epistemic run` wrote"),
        (("score", "gone.jsonl"), "gone.jsonl does not exist"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_half_written(
    ovrag: Run, tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    (tmp_path / "broken.ttl").write_text('<http://a> <http://b> <http://c> .\n<http://a> <http://b> "x\n')
    (tmp_path / "empty.ttl").write_text("")
    (tmp_path / "absent.nt").write_text("<http://a> <http://x/hasMouht> <http://b> .\n")
    (tmp_path / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    good = {"id": "a", "subtype": "E_direct", "gold": "YES", "question": "Does Main flow into Rhine?"}
    good["claim"] = {"subj": iri("Main"), "pred": "hasMouth", "obj": iri("Rhine")}
    files = {
        "good": [good],
        "twice": [good, good],
        "maybe": [good | {"gold": "MAYBE"}],
        "claimless": [{key: value for key, value in good.items() if key != "claim"}],
    }
    for name, rows in files.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    before = {path.name for path in tmp_path.iterdir()} | {"data"}
    code, out, err = ovrag(*words)
    assert (code, out) == (2, "")
    assert problem in err and err.startswith("ovrag: ") and err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} <= before


def test_the_commands_load_nothing_heavy_before_they_are_asked() -> None:
    code = "import sys, ovrag_studies.abstention.cli; print({'torch', 'sklearn', 'pyshacl'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
