"""The agreements that teach the finding of parties and terms: their marks are well formed, their headers true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from marked_agreements import ASIDE, FOLDER, KINDS, PARTIES, WAITING, MarkedAgreement, marked_agreements, read_marked

PROJECT = Path(__file__).resolve().parents[2]
MARKED = [agreement for folder in (FOLDER, WAITING, ASIDE) for agreement in marked_agreements(PROJECT / folder)]
PARTY_FACTS = {"borrower", "borrower_kind", "lender", "lender_kind"}
TERM_FACTS = {"loan_types", "security", "credit_form", "principal", "rate", "maturity", "collateral"}
FACTS = {"form", "country", "label", "clash_type", "difficulty"} | PARTY_FACTS | TERM_FACTS

each_agreement = pytest.mark.parametrize("agreement", MARKED, ids=lambda agreement: agreement.name)


def passages(agreement: MarkedAgreement, label: str) -> list[str]:
    return [agreement.text[mark.start : mark.end] for mark in agreement.marks if mark.label == label]


def words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


@each_agreement
def test_marks_hold_words_and_parties_have_a_kind(agreement: MarkedAgreement) -> None:
    for mark in agreement.marks:
        passage = agreement.text[mark.start : mark.end]
        assert passage and passage == passage.strip(), passage
        assert (mark.kind is not None) == (mark.label in PARTIES)


@each_agreement
def test_the_header_is_true_to_the_marks(agreement: MarkedAgreement) -> None:
    facts = agreement.facts
    assert facts.keys() == FACTS and all(facts.values())
    assert (facts["label"] == "CLASH") == (facts["clash_type"] != "none") == bool(passages(agreement, "clash"))
    for axis, broken in (("security", "secured_unsecured"), ("credit_form", "openend_closedend")):
        assert (facts[axis] == "contradictory") == (facts["clash_type"] == broken)
    for side in ("borrower", "lender"):
        assert facts[f"{side}_kind"] in KINDS
        named = [words(passage) for passage in passages(agreement, side)]
        assert any(words(facts[side]) in name or name in words(facts[side]) for name in named), facts[side]
    for term in ("principal", "rate", "maturity"):
        assert facts[term] == "none" or passages(agreement, term), term


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no header", "header"),
        ("---\na: b\n---\n⟦owner.person|Ann⟧", "owner.person is no label"),
        ("---\na: b\n---\n⟦term|a year", "never closed"),
        ("---\na: b\n---\na year⟧", "closes nothing"),
    ],
)
def test_a_slip_is_named_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "slip.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=said) as wrong:
        read_marked(path)
    assert str(path) in str(wrong.value)


def test_marks_within_marks_have_their_places(tmp_path: Path) -> None:
    path = tmp_path / "nested.txt"
    path.write_text("---\nlabel: CLEAN\n---\n⟦secured|It stands on ⟦collateral|the van⟧.⟧\n", encoding="utf-8")
    agreement = read_marked(path)
    assert agreement.text == "It stands on the van.\n" and agreement.facts == {"label": "CLEAN"}
    assert [(mark.label, mark.start, mark.end) for mark in agreement.marks] == [
        ("secured", 0, 21),
        ("collateral", 13, 20),
    ]
