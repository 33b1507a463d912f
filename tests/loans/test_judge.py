"""The judge of passages: what it is trained on, what it says, and how claims heed it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy
import pytest

from ovrag_core.loans.reading.claims import find_claims, whole_claims
from ovrag_core.loans.reading.judge import CLASSES, PLACES, heed, load_judge, passage_of, sure_of
from ovrag_core.loans.reading.lexicon import load_lexicon
from ovrag_core.loans.reading.sentences import plain_text, units

STATEMENTS = sorted(Path("training/loans/statements").glob("*.jsonl"))
LABELS = {"security": {"none", "secured", "unsecured"}, "form": {"none", "open", "closed"}}


@pytest.mark.parametrize("path", STATEMENTS, ids=lambda path: path.stem)
def test_statements_are_labelled_and_said_once(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows
    for row in rows:
        assert row.keys() == {"heading", "text", "security", "form"}
        assert row["text"].strip()
        assert all(row[axis] in known for axis, known in LABELS.items())
    assert max(Counter((row["heading"], row["text"]) for row in rows).values()) == 1


@pytest.mark.parametrize(
    ("passage", "about"),
    [
        (
            "As cover for this loan you leave with us the logbook of your boat, which we may sell if you do not pay.",
            "SecuredLoan",
        ),
        ("Nothing of yours is tied to this loan: we have your promise and no more.", "UnsecuredLoan"),
        ("Whatever you pay in makes room again, and you may take it out another day.", "OpenEndCredit"),
        ("Repayable by 60 equal monthly payments; what has been paid cannot be taken out again.", "ClosedEndCredit"),
    ],
)
def test_what_no_phrase_tells_is_judged_by_meaning(passage: str, about: str) -> None:
    judged = load_judge()([passage])[0]
    assert judged.argmax() == PLACES[about]
    assert judged[PLACES[about]] > 0.5


@pytest.mark.parametrize(
    "passage",
    [
        "Notices are sent to the address at the head of this agreement.",
        "The borrower will use the money to repair the roof of the school.",
        "This agreement is governed by the law of Ireland.",
    ],
)
def test_other_matters_are_neither(passage: str) -> None:
    assert (load_judge()([passage])[0] < 0.5).all()


@pytest.mark.parametrize(
    ("passage", "stated"),
    [
        (
            "The advance is paid out once and no part that is repaid is lent again, and whatever the Club pays back "
            "may be drawn anew as often as it likes up to the limit.",
            {"OpenEndCredit", "ClosedEndCredit"},
        ),
        (
            "Nothing of the Borrower's is pledged for this loan, while the title deeds of the mill are charged to the "
            "Lender until the loan is repaid.",
            {"SecuredLoan", "UnsecuredLoan"},
        ),
    ],
)
def test_a_sentence_that_states_two_opposites_is_judged_to_state_both(passage: str, stated: set[str]) -> None:
    judged = load_judge()([passage])[0]
    assert {about for about, column in PLACES.items() if judged[column] > 0.5} == stated


def test_a_judgement_depends_on_its_passage_alone() -> None:
    passages = ["The house is charged with this debt.", "It is paid back in ten parts.", "Short.", "x " * 400]
    together = load_judge()(passages)
    load_judge()._known.clear()
    alone = numpy.stack([load_judge()([passage])[0] for passage in passages])
    assert together.shape == (4, len(CLASSES))
    assert (together == alone).all()
    assert ((together >= 0) & (together <= 1)).all()


def test_a_heading_stands_before_its_passage_once() -> None:
    assert passage_of("Security", "None is\n taken.") == "Security: None is taken."
    assert passage_of("4. Security", "4. Security None.") == "4. Security None."


def test_a_question_and_another_product_are_no_claims_whatever_their_words() -> None:
    text = plain_text(
        "LOAN AGREEMENT\n\nMay I take out again what I have paid back?\n\n"
        "If you hold our Sunrise Card, you may spend again what you have paid back on the card.\n"
    ).text
    found = units(text)
    says = {number: ["OpenEndCredit"] for number in range(len(found))}
    claimed = [text[claim.start : claim.end] for claim in whole_claims(text, found, load_lexicon(), {}, says)]
    assert not any(passage.endswith("?") for passage in claimed)


def test_claims_that_their_passage_bears_out_keep_their_strength() -> None:
    text = plain_text(
        "LOAN AGREEMENT\n\nThe Borrower mortgages the Property to the Lender as security for the Loan.\n"
    ).text
    found = units(text)
    claims = find_claims(text, found, load_lexicon())
    secured = [claim for claim in claims if claim.about == "SecuredLoan"]
    assert secured
    kept = [claim for claim in heed(load_judge(), claims, text, found) if claim.about == "SecuredLoan"]
    assert [(claim.cue, claim.strength) for claim in kept] == [(claim.cue, claim.strength) for claim in secured]


def test_what_is_claimed_already_is_not_claimed_anew() -> None:
    text = plain_text(
        "LOAN AGREEMENT\n\nThe Borrower mortgages the Property to the Lender as security for the Loan.\n"
    ).text
    found = units(text)
    claims = find_claims(text, found, load_lexicon())
    number = next(claim.unit for claim in claims if claim.about == "SecuredLoan")
    assert "SecuredLoan" not in sure_of(load_judge(), claims, text, found).get(number, [])
