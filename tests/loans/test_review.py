"""Reviews: labels, and findings with their passages."""

import json
import textwrap
import time
from pathlib import Path

import pytest
from agreement_folders import FOLDERS
from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas
from standins import BlackAndWhite, WordExtractor

from ovrag_core.base.types import Document, Evidence, Triple, Violation
from ovrag_core.documents import load
from ovrag_core.loans.grounds import ALL_FACTS, FACTS, Passage, is_stated, pieces
from ovrag_core.loans.loan_facts import Money
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reviewing import MARK, Finding, findings, is_report, report, review, unchecked

LOAN = (
    "LOAN AGREEMENT",
    'between Pinder Tools Ltd (the "Borrower") and Rowan Bank plc (the "Lender").',
    "The Lender lends the Borrower GBP 70,000 in one advance.",
    "The loan bears interest at 4.5% per annum and is unsecured.",
    "The Borrower shall repay the loan in full by 1 September 2030.",
    "The loan is for the Borrower's business.",
)


def of(text: str):
    document = Document("a.txt", text)
    return review(document, WordExtractor(), BlackAndWhite(), "stand-ins"), document


def test_labels_follow_the_verdict() -> None:
    assert of("is_Black")[0].label == "CLEAN"
    assert of("is_Black is_White")[0].label == "CLASH"
    broken = of("is_Broken")[0]
    assert (broken.label, broken.reason) == ("UNCHECKED", "the reasoner stopped")


def test_a_finding_quotes_both_sides_and_its_cause() -> None:
    result, _ = of("it is_Black and is_White")
    (finding,) = result.violations
    assert [passage.quote for passage in finding.evidence] == ["is_Black", "is_White"]
    assert (finding.cause, result.clash_types) == ("source", ("colour",))
    assert "is_White" in report(result)


@pytest.mark.parametrize(
    ("name", "content", "is_ours"),
    [
        ("page.html", f"<!doctype html><head>{MARK}</head>", True),
        ("one.txt", unchecked("a.pdf", "empty", "m").to_json(), True),
        ("many.txt", json.dumps([json.loads(unchecked("a.pdf", "empty", "m").to_json())], indent=2), True),
        ("loan.html", "<html><body>LOAN AGREEMENT, see the review of ovrag</body></html>", False),
        ("loan.txt", '{"document": "a loan"}', False),
        ("empty.txt", "", False),
    ],
)
def test_our_own_reports_are_known(tmp_path: Path, name: str, content: str, is_ours: bool) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert is_report(tmp_path / name) is is_ours
    assert not is_report(tmp_path / "nowhere")


@pytest.mark.parametrize("noise", ["x" * 10_000_000, "1,234.56 " * 1_100_000, "The loan is secured. " * 480_000])
def test_ten_megabytes_of_noise_are_refused_in_seconds(noise: str) -> None:
    started = time.process_time()
    result = review(Document("n.txt", noise), reader, BlackAndWhite(), "m")
    assert result.label == "UNCHECKED"
    assert result.reason
    assert time.process_time() - started < 30


def test_a_text_that_states_nothing_is_no_pass() -> None:
    assert review(Document("a.txt", "no word of that kind"), WordExtractor(), BlackAndWhite(), "m").label == "UNCHECKED"


def test_quotes_know_their_page_where_other_pages_are_empty(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "loan.pdf"), invariant=1)
    canvas.showPage()
    for number, line in enumerate(LOAN):
        canvas.drawString(72, 720 - 16 * number, line)
    canvas.showPage()
    canvas.showPage()
    canvas.save()
    reading = reader.read(load(tmp_path / "loan.pdf"))
    assert reading.facilities[0].principal == Money(amount=70_000, currency="GBP")
    assert {triple.evidence.page for triple in reading.triples if triple.evidence} == {2}


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    """The left column ends in the middle of a sentence that the right column goes on with."""
    text = " ".join(LOAN[1:]) + " The Borrower keeps the machine in good repair and insured at its own cost, and lets"
    lines = textwrap.wrap(f"{text} the Lender look at it at any time in working hours.", 40)
    half = (len(lines) + 1) // 2
    canvas = Canvas(str(tmp_path / "columns.pdf"), invariant=1)
    canvas.drawString(72, 740, LOAN[0])
    for column, x in ((lines[:half], 72), (lines[half:], 320)):
        for number, line in enumerate(column):
            canvas.drawString(x, 700 - 16 * number, line)
    canvas.save()
    document = load(tmp_path / "columns.pdf")
    assert " ".join(lines) in " ".join(document.text.split())
    facility = reader.read(document).facilities[0]
    assert (facility.maturity, facility.security, facility.interest_rate) == ("2030-09-01", "unsecured", "4.5%")


AGREEMENTS = [path for folder in FOLDERS.values() for path in sorted(folder.glob("*.txt"))]


@pytest.mark.parametrize("path", AGREEMENTS[::12], ids=lambda path: path.stem)
def test_each_stated_fact_is_quoted_word_for_word_or_was_reckoned(path: Path) -> None:
    document = load(path)
    result = review(document, reader, BlackAndWhite(), "m")
    assert result.facts_evidence.keys() == {fact for fact in FACTS if is_stated(result.facts, fact)}
    for facility, grounds in zip(result.facilities, result.facilities_evidence, strict=True):
        assert grounds.keys() == {fact for fact in ALL_FACTS if is_stated(facility, fact)}
        for held in grounds.values():
            assert held.evidence or held.reckoned
            for passage in held.evidence:
                assert document.text[passage.start : passage.end] == passage.quote
        if facility.lender and grounds["lender"].evidence:
            assert facility.lender.name.split()[-1] in " ".join(each.quote for each in grounds["lender"].evidence)


def test_a_maturity_that_no_passage_gives_says_from_what_it_was_reckoned() -> None:
    lines = [
        "LOAN AGREEMENT dated 1 March 2023",
        *LOAN[1:4],
        "The loan shall be repaid in full four years from the date of this agreement.",
    ]
    document = Document("a.txt", "\n".join(lines))
    result = review(document, reader, BlackAndWhite(), "m")
    assert result.facts.maturity == "2027-03-01"
    grounds = result.facts_evidence["maturity"]
    assert "four years from" in grounds.evidence[0].quote
    assert "1 March 2023" in grounds.evidence[1].quote
    assert "reckoned from: the period" in report(result)
    stated = review(Document("a.txt", "\n".join(LOAN)), reader, BlackAndWhite(), "m").facts_evidence["maturity"]
    assert (stated.reckoned, stated.evidence[0].quote) == (None, LOAN[4])


def test_why_something_was_not_checked_is_for_stderr_and_json_alone() -> None:
    result = review(Document("a.txt", "Peel six apples and bake them for forty minutes."), reader, BlackAndWhite(), "m")
    assert (result.label, report(result)) == ("UNCHECKED", "a.txt: not checked")
    assert str(result.reason) in result.to_json()


@given(st.text(min_size=1, max_size=60), st.lists(st.tuples(st.integers(0, 59), st.integers(1, 60)), max_size=5))
def test_the_pieces_of_a_marked_text_are_the_text(text: str, spans: list[tuple[int, int]]) -> None:
    inside = [(start, min(end, len(text))) for start, end in spans if start < min(end, len(text))]
    findings = [
        Finding(
            clash_type=None,
            severity="warning",
            rule="r",
            cause=None,
            message="m",
            axioms=(),
            evidence=(Passage(quote=text[start:end], start=start, end=end, page=None),),
        )
        for start, end in inside
    ]
    cut = pieces(text, [(str(number), finding.evidence) for number, finding in enumerate(findings)])
    assert "".join(piece.text for piece in cut) == text
    marked = {i for start, end in inside for i in range(start, end)}
    assert sum(len(piece.text) for piece in cut if piece.mark) == len(marked)


def test_rules_of_one_kind_broken_by_the_same_passages_are_one_contradiction():

    document = Document("note", "The loan is unsecured. The Borrower charges its mill to the Bank.")
    triples = tuple(
        Triple(
            subject="Loan",
            predicate="rdf:type",
            object=about,
            subject_type="Loan",
            object_type="",
            origin="context",
            evidence=Evidence.of(document, *span),
        )
        for about, span in (("UnsecuredLoan", (0, 22)), ("SecuredLoan", (23, 64)))
    )

    def broken(rule: str, shown: tuple[Triple, ...], clash: str = "secured_unsecured") -> Violation:
        return Violation(
            rule=rule, clash_type=clash, severity="clash", kind="owl", triples=shown, axioms=(rule,), message=rule
        )

    found = findings((broken("a", triples), broken("b", triples), broken("c", triples[:1]), broken("d", triples, "x")))
    assert [(finding.rule, finding.message, finding.axioms) for finding in found] == [
        ("a", "a b", ("a", "b")),
        ("c", "c", ("c",)),
        ("d", "d", ("d",)),
    ]
