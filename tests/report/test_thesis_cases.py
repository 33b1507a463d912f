"""Case pages tell the whole story of a query, and untrusted text in them stays text."""

import json
from dataclasses import asdict

from run_factory import record

from ovrag_core.base.types import Chunk, Recorded
from ovrag_core.report.cases import CASES, case_page, chosen, escape, fence, read_chunks, write_cases, write_run_cases
from ovrag_core.runs.files import RUNS


def false_positive(document="B", question="Q1", arm="ovrag", text="Secured by a house.", source="A"):
    chunks = (source, "B", source)
    return record(arm, document, question, "hard_rejected", sources=(source,), retrieved=chunks, attempts=4, text=text)


CHUNKS = {
    "A:0": Chunk("A:0", "A", 0, 10, "Clause of A.\n\n\nSecured."),
    "B:1": Chunk("B:1", "B", 10, 20, "Clause of B."),
}


def test_page_tells_question_chunks_answer_triples_attempts_and_explanation():
    page = case_page(false_positive(), CHUNKS)
    for part in (
        "What does Q1 ask?",
        "### A (another contract)",
        "### B (asked)",
        "Clause of A.\n\n\nSecured.",
        "Secured by a house.",
        "### From the answer",
        "### From the context",
        "| 4 | inconsistent |",
        "A loan cannot be both secured and unsecured.",
        "SecuredLoan DisjointWith: UnsecuredLoan",
        "statements of different contracts were mixed",
        "Every attempt gave the same answer",
    ):
        assert part in page, part


def test_page_names_chunks_whose_text_is_not_at_hand():
    assert "not in the index at hand" in case_page(false_positive(), {})


def test_markup_in_contracts_is_shown_and_not_run():
    evil = "<script>alert(1)</script> | [x](javascript:y) ``` # head"
    page = case_page(false_positive(document="B<i>", text=evil), {})
    outside = page.split("````text\n" + evil + "\n````")
    assert len(outside) == 2
    assert "<script>" not in "".join(outside)
    assert "<i>" not in "".join(outside)


def test_fence_is_longer_than_any_in_the_text():
    assert fence("a ```` b").startswith("`````text\n")


def test_escape_keeps_table_cells_whole():
    assert escape("a | b\nc") == r"a \| b c"


def test_escape_leaves_underscores_inside_words():
    assert escape("Contract_001 __x__") == r"Contract_001 \_\_x\_\_"


def test_pages_are_capped_by_rule_and_the_rest_is_counted(tmp_path):
    records = [false_positive(document=f"D{i:02d}", source=f"S{i}") for i in range(14)] + [record("plain")]
    paths = write_cases(records, {}, tmp_path, most=12)
    assert len(paths) == 13
    index = (tmp_path / "index.md").read_text()
    assert "### ovrag\n\n14 queries; 2 of them have no page." in index
    assert "### plain" not in index
    assert "D11" in index
    assert "D12" not in index


def test_queries_with_the_same_chunks_and_question_share_a_page(tmp_path):
    records = [false_positive(document=d, question=q) for d in ("D1", "D2") for q in ("Q1", "Q2")]
    paths = write_cases(records, {}, tmp_path)
    names = ["false-positive_ovrag_D1_Q1", "false-positive_ovrag_D1_Q2"]
    assert [path.name for path in paths] == [*(f"{name}.md" for name in names), "index.md"]
    assert "It stands for 2 queries" in paths[0].read_text()
    assert "4 queries." in paths[-1].read_text()


def test_pages_of_an_earlier_run_go_and_other_files_stay(tmp_path):
    (tmp_path / "notes.md").write_text("mine", encoding="utf-8")
    write_cases([false_positive(document="Old")], {}, tmp_path)
    write_cases([false_positive(document="New")], {}, tmp_path)
    page = "false-positive_ovrag_New_Q1"
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{page}.md", "index.md", "notes.md"]


def test_names_that_are_no_file_names_do_not_collide(tmp_path):
    paths = write_cases(
        [false_positive(document="../x/y"), false_positive(document="../x-y", source="C")], {}, tmp_path
    )
    assert len({path.name for path in paths}) == 3
    assert all(path.parent == tmp_path for path in paths)


def test_a_query_without_attempts_has_a_page():
    assert "the server did not answer" in case_page(record(outcome="error"), {})


def test_chunks_are_read_by_id(tmp_path):
    path = tmp_path / "chunks.jsonl"
    path.write_text("".join(json.dumps(asdict(chunk)) + "\n" for chunk in CHUNKS.values()), encoding="utf-8")
    assert read_chunks(path) == CHUNKS
    assert read_chunks(tmp_path / "none.jsonl") == {}


def test_each_kind_of_case_is_chosen_by_what_happened():
    records = [
        false_positive(),
        record("ovrag_evidence", "C", outcome="source_finding", label="CLASH"),
        record("ovrag", "D", label="CLASH"),
        record("ovrag", "E", sources=("A",)),
        record("ovrag", "F"),
    ]
    found = {kind: [item.document_id for item in of_kind] for kind, of_kind in chosen(records).items()}
    assert found == {
        "False positive": ["B"],
        "Wrong contract": ["E"],
        "Missed clash": ["D"],
        "Source finding": ["C"],
    }


def test_pages_take_turns_between_types_of_contradiction(tmp_path):
    records = [
        record("ovrag", f"D{n}", label="CLASH", clash_type="a" if n < 3 else "b", sources=(f"D{n}",)) for n in range(4)
    ]
    paths = write_cases(records, {}, tmp_path, most=2)
    assert [path.stem.split("_")[2] for path in paths[:-1]] == ["D0", "D3"]


def test_pages_of_a_run_recorded_elsewhere_stay_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    theirs = false_positive().model_copy(update={"recorded": Recorded(attempts=4)})
    said, page = write_run_cases("x", [theirs], {})
    assert said.parent == CASES and "not quoted here" in said.read_text()
    assert page.parent == RUNS / "x.cases" and not list(CASES.glob("false*"))
