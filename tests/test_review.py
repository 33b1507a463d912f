"""Reviews: labels, findings with their passages, and the page."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins import BlackAndWhite, WordExtractor

from ovrag_core.review import Finding, Passage, is_report, report, review, unchecked
from ovrag_core.review_page import pieces, review_page
from ovrag_core.types import Document


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
        ("page.html", review_page([(unchecked("a.pdf", "empty", "m"), [])]), True),
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


def test_the_page_marks_the_passages_and_escapes_the_text() -> None:
    result, document = of("<script>alert(1)</script> is_Black & is_White")
    page = review_page([(result, [document]), (unchecked("b<b>.pdf", "it is <empty>", "m"), [])])
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<mark ") == 2
    anchors = re.findall(r'id="([^"]+)"', page)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(anchors)
    assert "b&lt;b&gt;.pdf" in page
    assert "http" not in page.replace("viewport", "")  # self-contained


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
    from ovrag_core.review import _findings  # noqa: PLC0415
    from ovrag_core.types import Evidence, Triple, Violation  # noqa: PLC0415

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

    found = _findings((broken("a", triples), broken("b", triples), broken("c", triples[:1]), broken("d", triples, "x")))
    assert [(finding.rule, finding.message, finding.axioms) for finding in found] == [
        ("a", "a b", ("a", "b")),
        ("c", "c", ("c",)),
        ("d", "d", ("d",)),
    ]
