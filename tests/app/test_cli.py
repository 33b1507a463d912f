"""The command line: what it prints, its exit codes, and one sentence for each bad input."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from ovrag_core.app import cli

CLEAN = """LOAN AGREEMENT

Lender: Harrow Vale Savings Bank
Borrower: Miriam Oduya

1. The Lender lends the Borrower USD 12,400.00, paid out in one sum on 3 March 2025.
2. Interest is 6.15% per annum, fixed.
3. The Borrower shall repay the loan in 48 equal monthly instalments, the last of which is due on 3 March 2029.
4. The loan is for personal, family or household purposes.
5. The loan is unsecured. No collateral is given for it.
"""
CLASH = CLEAN.replace(
    "5. The loan is unsecured. No collateral is given for it.",
    "5. The loan is unsecured.\n6. As security for the loan the Borrower pledges her 2021 motor car to the Lender.",
)


@pytest.fixture
def ovrag(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Runs `ovrag` in this process; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ovrag", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def pdf(path: Path, *lines: str) -> Path:
    canvas = Canvas(str(path))
    for number, line in enumerate(lines):
        canvas.drawString(72, 760 - 16 * number, line)
    canvas.save()
    return path


def test_a_clean_contract_is_done_with_zero(ovrag, tmp_path: Path) -> None:
    Path("clean.txt").write_text(CLEAN, encoding="utf-8")
    code, out, _ = ovrag("review", "clean.txt", "--format", "jsonl")
    result = json.loads(out)
    assert (code, result["label"], result["clash_types"]) == (0, "CLEAN", [])
    facts = result["facts"]
    assert facts["borrower"] == {"name": "Miriam Oduya", "kind": "natural_person"}
    assert facts["lender"] == {"name": "Harrow Vale Savings Bank", "kind": "financial_institution"}
    assert facts["principal"] == {"amount": 12400, "currency": "USD"}
    assert (facts["interest_rate"], facts["maturity"]) == ("6.15%", "2029-03-03")
    assert (facts["security"], facts["credit_form"], facts["loan_types"]) == (
        "unsecured",
        "closed-end",
        ["ConsumerLoan"],
    )


def test_a_contradiction_is_quoted_verbatim_and_ends_with_one(ovrag) -> None:
    Path("clash.txt").write_text(CLASH, encoding="utf-8")
    code, out, _ = ovrag("review", "clash.txt", "--format", "json")
    (result,) = json.loads(out)
    assert (code, result["label"], result["clash_types"]) == (1, "CLASH", ["secured_unsecured"])
    quotes = [passage for finding in result["violations"] for passage in finding["evidence"]]
    assert all(CLASH[passage["start"] : passage["end"]] == passage["quote"] for passage in quotes)
    assert any("unsecured" in passage["quote"] for passage in quotes)
    assert any("motor car" in passage["quote"] for passage in quotes)
    code, out, _ = ovrag("review", "clash.txt")
    assert code == 1
    assert "CONTRADICTION" in out


def test_a_300_page_agreement_is_read_like_any_other(ovrag, tmp_path: Path) -> None:
    canvas = Canvas("long.pdf")
    covenant = "The Borrower shall keep proper books and shall send the Lender a copy of its accounts each year."
    for page in range(1, 301):
        lines = [f"{page}.{line} {covenant}" for line in range(1, 41)]
        if page == 1:
            lines[:4] = [
                "TERM LOAN AGREEMENT",
                'between Larkfield Pumps, Inc., a Delaware corporation (the "Borrower"),',
                'and Harrow Vale Bank, N.A. (the "Lender").',
                "The Lender shall make a term loan of USD 4,100,000 to the Borrower. The loan is unsecured.",
            ]
        if page == 280:
            lines[6] = "280.7 The Borrower hereby grants to the Lender a security interest in all of its inventory."
            lines[7] = "280.8 The loan is secured by all of the inventory of the Borrower."
        for number, line in enumerate(lines):
            canvas.drawString(60, 800 - 18 * number, line)
        canvas.showPage()
    canvas.save()
    code, out, _ = ovrag("review", "long.pdf", "--format", "jsonl")
    result = json.loads(out)
    assert (code, result["clash_types"]) == (1, ["secured_unsecured"])
    pages = {passage["page"] for finding in result["violations"] for passage in finding["evidence"]}
    assert {1, 280} <= pages
    assert result["facts"]["borrower"]["name"] == "Larkfield Pumps, Inc."


def test_an_unreadable_document_does_not_stop_the_others_and_wins_over_a_contradiction(ovrag) -> None:
    Path("clash.txt").write_text(CLASH, encoding="utf-8")
    Path("broken.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    Path("fake.pdf").write_text(CLEAN, encoding="utf-8")
    code, out, err = ovrag("review", "broken.pdf", "nowhere.pdf", "clash.txt", "fake.pdf", "--format", "jsonl")
    results = {Path(json.loads(line)["document"]).name: json.loads(line) for line in out.splitlines()}
    assert code == 2
    assert results["clash.txt"]["label"] == "CLASH"
    assert results["broken.pdf"]["label"] == results["nowhere.pdf"]["label"] == "UNCHECKED"
    assert results["broken.pdf"]["reason"]
    lines = err.strip().splitlines()
    assert sum("broken.pdf" in line for line in lines) == 1
    assert sum("nowhere.pdf" in line for line in lines) == 1


def test_behind_several_reviews_stands_how_many_came_out_how(ovrag) -> None:
    Path("clash.txt").write_text(CLASH, encoding="utf-8")
    Path("clean.txt").write_text(CLEAN, encoding="utf-8")
    code, out, _ = ovrag("review", "clash.txt", "clean.txt")
    assert (code, out.splitlines()[-1]) == (1, "2 reviewed: contradictions in 1, none found in 1, 0 not checked")
    assert "reviewed:" not in ovrag("review", "clean.txt")[1]


def test_a_review_that_read_hardly_anything_says_so_at_once(ovrag) -> None:
    Path("scrap.txt").write_text("I, Ida Roth, promise to repay the loan to Rowan Bank plc.", encoding="utf-8")
    Path("clean.txt").write_text(CLEAN, encoding="utf-8")
    first = [ovrag("review", name)[1].splitlines()[0] for name in ("scrap.txt", "clean.txt")]
    assert "facts were read" in first[0] and "facts were read" not in first[1]


def test_a_document_that_is_no_loan_is_unchecked_with_a_reason(ovrag) -> None:
    Path("recipe.txt").write_text("Take two eggs and a cup of flour. Stir, and bake for an hour.\n" * 5)
    code, out, err = ovrag("review", "recipe.txt", "--format", "jsonl")
    result = json.loads(out)
    assert (code, result["label"]) == (2, "UNCHECKED")
    assert result["reason"] in err


def test_files_of_a_deal_are_one_review(ovrag, project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deal"
    shutil.copytree(project / "tests/data/deals/nursery_conversion", folder)
    code, out, err = ovrag("review", "--deal", str(folder), "--html", str(folder / "out.html"), "--format", "jsonl")
    (result,) = map(json.loads, out.splitlines())
    assert (code, err, result["label"]) == (0, "", "CLEAN")
    names = [Path(name).name for name in result["document"]]
    assert names == ["b_agreement.txt", "c_first.txt", "a_second.txt"]
    assert result["facts"]["maturity"] == "2029-06-30"
    assert {change["fact"] for change in result["superseded"]} >= {"maturity", "credit", "principal"}
    code, out, err = ovrag("review", "--deal", str(folder))
    assert (code, "CHANGED maturity: 2024-07-10 → 2029-06-30" in out) == (0, True)
    assert "out.html was passed over: it is a report of ovrag review" in err


def test_a_folder_of_reports_only_is_one_sentence(ovrag, tmp_path: Path) -> None:
    Path("clean.txt").write_text(CLEAN, encoding="utf-8")
    ovrag("review", "clean.txt", "--html", str(tmp_path / "r.html"))
    code, _, err = ovrag("review", str(tmp_path / "r.html"))
    assert (code, err.splitlines()[-1].endswith("name the documents that they are about")) == (2, True)


def test_asking_answers_from_the_document(ovrag) -> None:
    Path("clean.txt").write_text(CLEAN, encoding="utf-8")
    code, out, _ = ovrag("ask", "What is the interest rate?", "--document", "clean.txt")
    assert code == 0
    assert "6.15%" in out


def test_asking_a_contract_that_contradicts_itself_reports_the_finding(ovrag) -> None:
    Path("clash.txt").write_text(CLASH, encoding="utf-8")
    code, out, _ = ovrag("ask", "Is the loan secured?", "--document", "clash.txt", "--format", "json")
    assert code == 1
    assert json.loads(out)["outcome"] == "source_finding"


@pytest.mark.parametrize("arm", ["plain", "ovrag"])
def test_an_answer_about_another_document_is_said_to_be(ovrag, arm: str) -> None:
    """The asked letter does not say who lends; the other document does."""
    Path("a.txt").write_text("LETTER\n\nWe thank you for your visit of 3 May 2025 to our branch.\n", encoding="utf-8")
    Path("b.txt").write_text(CLEAN, encoding="utf-8")
    question = ("ask", "Who is the lender and who is the borrower?", "-d", "a.txt", "-d", "b.txt", "--arm", arm)
    _, text, _ = ovrag(*question)
    assert "which a.txt does not hold but b.txt holds." in text
    _, out, _ = ovrag(*question, "--format", "json")
    (found,) = [v for v in json.loads(out)["attempts"][-1]["verdict"]["violations"] if v["kind"] == "identity"]
    assert (found["rule"], found["severity"], found["clash_type"]) == ("other_document", "warning", None)


def test_chat_answers_each_line_until_an_empty_one(ovrag) -> None:
    Path("clean.txt").write_text(CLEAN, encoding="utf-8")
    code, out, _ = ovrag(
        "chat", "--document", "clean.txt", stdin="What is the interest rate?\nWho lends?\n\nnot asked\n"
    )
    assert code == 0
    assert out.count("[consistent with the agreement; from") == 2


def test_no_other_document_is_asked_in_place_of_one_that_cannot_be_read(ovrag) -> None:
    Path("clean.txt").write_text(CLEAN, encoding="utf-8")
    code, out, err = ovrag("ask", "Who is the lender?", "-d", "nowhere.pdf", "-d", "clean.txt")
    assert (code, out) == (2, "")
    assert "nowhere.pdf" in err


def triples(*rows: tuple[str, str, str]) -> str:
    return json.dumps([{"sub": s, "pred": p, "obj": o, "sub_type": "Loan", "obj_type": ""} for s, p, o in rows])


def test_checking_triples_names_those_that_contradict(ovrag) -> None:
    rows = [("L", "rdf:type", "SecuredLoan"), ("L", "hasInterestRate", "4%"), ("L", "rdf:type", "UnsecuredLoan")]
    Path("triples.json").write_text(triples(*rows))
    code, out, _ = ovrag("check", "triples.json", "--format", "json")
    result = json.loads(out)
    assert (code, result["status"]) == (1, "inconsistent")
    clashes = [each for each in result["violations"] if each["severity"] == "clash"]
    assert {each["clash_type"] for each in clashes} == {"secured_unsecured"}
    assert [0, 2] in [sorted(each["triples"]) for each in clashes]
    assert ovrag("check", "triples.json")[0] == 1


def test_the_vocabulary_and_the_rules_are_printed(ovrag) -> None:
    assert "hasBorrower" in ovrag("vocabulary")[1]
    assert "secured" in ovrag("rules")[1].lower()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("score", "nothing"), "data/runs/nothing.jsonl does not exist"),
        (("check", "nowhere.json"), "nowhere.json"),
        (("review", "--params", "none.yaml", "x.pdf"), "none.yaml does not exist"),
        (("corpus", "-S", "corpus.source=nowhere"), "corpus.source: nowhere does not exist; check the path"),
        (("run", "-S", "corpus.contract=3"), "did you mean corpus.contracts?"),
        (("run", "-S", "top_k=5"), "unknown key top_k; did you mean retrieval.top_k?"),
        (("run", "-S", "corpus"), "-S corpus: write key=value"),
        (("ask", "Who?", "--document", "nowhere.pdf"), "nowhere.pdf"),
        (("ask", "Who?", "--document", "x.pdf", "--arm", "magic"), "magic"),
        (("reviw",), "reviw"),
    ],
)
def test_bad_input_is_one_line_and_two(ovrag, words: tuple[str, ...], sentence: str) -> None:
    code, _, err = ovrag(*words)
    assert code == 2
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_a_run_with_a_broken_last_line_is_named(ovrag, tmp_path: Path) -> None:
    Path("bad.jsonl").write_text('{"arm": "plain"')
    code, _, err = ovrag("score", "bad.jsonl")
    assert code == 2
    assert "bad.jsonl, line 1: " in err


def test_a_run_before_there_are_contracts_says_what_makes_them(ovrag) -> None:
    code, out, err = ovrag("run", "-S", "experiment.run=first")
    assert (code, out) == (2, "")
    assert (
        err
        == "ovrag: there are no contracts yet; `make loans` makes them, or set corpus.source in params.yaml to yours\n"
    )
    assert list(Path().iterdir()) == []
