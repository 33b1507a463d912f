"""The judge of documents: what it is trained on, what it is shown, and what it says."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy
import pytest

from ovrag_core.loans.reading.judge import ROLES, SORTS, STATEMENTS, Judged, load_judge
from ovrag_core.loans.reading.windows import TOKENS, Windows
from ovrag_core.retrieval import load_tokenizer

STATED = sorted(Path("training/loans/statements").glob("*.jsonl"))
PASSAGES = sorted(Path("training/loans/roles").glob("*.jsonl"))
LABELS = {"security": {"none", "secured", "unsecured"}, "form": {"none", "open", "closed"}}
NOTE = """\
LOAN MEMORANDUM, Tromsø, 4 May 2025

For the winter feed Ingebrigt Solbakken has had 90,000 kroner out of the chest of Nordlys Fiskerforening.
It goes back into that chest by three yearly sums of 30,000 kroner with four per cent a year upon what is left, and
Solbakken pledges his two boats for it. The pastor, Aslak Mienna, wrote this down.
"""


@pytest.mark.parametrize("path", STATED, ids=lambda path: path.stem)
def test_statements_are_labelled_and_said_once(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows
    for row in rows:
        assert row.keys() == {"heading", "text", "security", "form"}
        assert row["text"].strip()
        assert all(row[axis] in known for axis, known in LABELS.items())
    assert max(Counter((row["heading"], row["text"]) for row in rows).values()) == 1


@pytest.mark.parametrize("path", PASSAGES, ids=lambda path: path.stem)
def test_passages_mark_names_with_known_roles(path: Path) -> None:
    rows = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(set(rows)) == len(rows) > 0
    for row in rows:
        labels = re.findall(r"<<[^|<>]+\|([\w.]+)>>", row)
        assert {label.partition(".")[0] for label in labels} <= {*ROLES, "agent"}
        assert {label.partition(".")[2] for label in labels} <= {"", "person", "company", "bank", "public"}
        assert "<<" not in re.sub(r"<<[^|<>]+\|[\w.]+>>", "", row)


def said(text: str) -> set[str]:
    (found,) = load_judge().read(text).statements([(0, len(text))])
    return {about for about, likely in zip(STATEMENTS, found, strict=True) if likely > 0.5}


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
        ("The money pays for a lathe and two compressors for the joinery.", "CommercialLoan"),
        ("You want it for a new bathroom and a holiday with the children.", "ConsumerLoan"),
        ("It covers tuition and a room in her second year at the university.", "StudentLoan"),
    ],
)
def test_what_no_phrase_tells_is_judged_by_meaning(passage: str, about: str) -> None:
    assert said(passage) & set(STATEMENTS[:10]) == {about}


@pytest.mark.parametrize(
    "passage",
    ["Notices are sent to the address at the head of this agreement.", "This agreement is governed by Irish law."],
)
def test_other_matters_are_neither(passage: str) -> None:
    assert said(passage) == set()


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
    assert stated <= said(passage)


def test_names_values_and_sentences_of_a_note_are_told_apart() -> None:
    judged = load_judge().read(NOTE)

    def span(words: str) -> tuple[int, int]:
        return NOTE.index(words), NOTE.index(words) + len(words)

    roles = judged.names([span("Ingebrigt Solbakken"), span("Nordlys Fiskerforening"), span("Aslak Mienna")])
    assert [ROLES[row[0].argmax()] for row in roles] == ["borrower", "lender", "other"]
    values = judged.values([span("90,000 kroner"), span("30,000 kroner"), span("four per cent")])
    assert [SORTS[row.argmax()] for row in values] == ["principal", "other", "rate"]
    sentence = span("It goes back into that chest by three yearly sums of 30,000 kroner with four per cent a year upon")
    things = judged.things((sentence[0], span("The pastor")[0]))
    assert any("boats" in NOTE[start:end] for start, end in things)


def test_a_judgement_does_not_depend_on_what_is_judged_beside_it() -> None:
    text = (NOTE + "\n") * 8
    spans = [(match.start(), match.end()) for match in re.finditer("Solbakken|chest", text)]
    together = Judged(load_judge(), text).names(spans)
    assert all(
        (Judged(load_judge(), text).names([span])[0] == row).all() for span, row in zip(spans, together, strict=True)
    )


def test_nothing_is_judged_where_nothing_is_asked() -> None:
    judged = load_judge().read("")
    assert judged.names([]).shape == (0, 2, len(ROLES))
    assert judged.values([]).shape == (0, len(SORTS))
    assert judged.statements([]).shape == (0, len(STATEMENTS))
    assert numpy.isfinite(load_judge().read("x" * 5000).statements([(0, 5000)])).all()


def test_a_span_is_seen_in_one_window_of_its_tokens() -> None:
    tokenizer = load_tokenizer()
    tokenizer.no_truncation()
    text = "The sum is repaid to Volta River Savings, Ho,\non demand.\n" * 60
    windows = Windows(text, tokenizer)
    for match in re.finditer("Volta River Savings", text):
        at, first, end = windows.place(match.span())
        assert tokenizer.decode(windows.ids(at)[first:end]) == "volta river savings"
        assert windows.offsets(at, first, end)[0][0] == match.start()
    assert max(len(windows.ids(at)) for at in windows.starts) == TOKENS + 2
    short = Windows("BORROWER\nAma Darko\n", tokenizer)
    assert tokenizer.decode(short.ids(0)) == "borrower / ama darko /"
