"""The judge of roles: what it is trained on, what it is shown, and when it is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.parties import Parties, find_parties
from ovrag_core.loans.reading.roles import LEAST, ROLES, candidates, definitions, load_roles, sighted
from ovrag_core.loans.reading.sightings import Terms
from ovrag_core.loans.reading.windows import TOKENS, windows
from ovrag_core.retrieval import load_tokenizer

PASSAGES = sorted(Path("training/loans/roles").glob("*.jsonl"))
NOTE = """\
LOAN MEMORANDUM, Tromsø, 4 May 2025

For the winter feed Ingebrigt Solbakken has had 90,000 kroner out of the chest of Nordlys Fiskerforening.
It goes back into that chest by three yearly sums of 30,000 kroner with four per cent a year upon what is left, and
Solbakken answers for it with all that he has. The pastor, Aslak Mienna, wrote this down.
"""


@pytest.mark.parametrize("path", PASSAGES, ids=lambda path: path.stem)
def test_passages_mark_names_with_known_roles(path: Path) -> None:
    rows = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(set(rows)) == len(rows) > 0
    for row in rows:
        labels = re.findall(r"<<[^|<>]+\|([\w.]+)>>", row)
        assert {label.partition(".")[0] for label in labels} <= {*ROLES, "agent"}
        assert {label.partition(".")[2] for label in labels} <= {"", "person", "company", "bank", "public"}
        assert "<<" not in re.sub(r"<<[^|<>]+\|[\w.]+>>", "", row)


def test_a_span_is_seen_in_one_window_of_its_tokens() -> None:
    tokenizer = load_tokenizer()
    tokenizer.no_truncation()
    text = "The sum is repaid to Volta River Savings, Ho,\non demand.\n" * 60
    spans = [(match.start(), match.end()) for match in re.finditer("Volta River Savings", text)]
    found = {
        number: tokenizer.decode(window.ids[first:end])
        for window in windows(text, spans, tokenizer)
        for number, first, end in window.spans
    }
    assert found == dict.fromkeys(range(60), "volta river savings")
    assert max(len(window.ids) for window in windows(text, spans, tokenizer)) == TOKENS + 2
    (window,) = windows("BORROWER\nAma Darko\n", [(9, 18)], tokenizer)
    assert tokenizer.decode(window.ids) == "borrower / ama darko /"


def test_a_judgement_does_not_depend_on_its_batch() -> None:
    spans = [(name.start, name.end) for name in candidates(NOTE, Terms(NOTE))]
    together = load_roles()(NOTE, spans)
    assert len(spans) >= 3
    assert all((load_roles()(NOTE, [span])[0] == row).all() for span, row in zip(spans, together, strict=True))


def test_a_term_of_its_own_is_found_with_who_may_bear_it() -> None:
    text = 'Hartwell Trust (the "Trust") and Ida Roth (the "Borrower"): the Trust lends, the Borrower repays the Trust.'
    names = candidates(text, Terms(text))
    trust, borrower = definitions(text, [(name.start, name.end) for name in names])
    assert [names[row].text for row in trust.rows] == ["Hartwell Trust"]
    assert [text[start:end] for start, end in trust.places] == ["Trust", "Trust"]
    assert (borrower.term, names[borrower.rows[-1]].text, borrower.places) == ("Borrower", "Ida Roth", ())


def test_parties_that_no_term_names_are_told_by_what_is_said_of_them() -> None:
    parties = find_parties(Document("note", NOTE))
    assert parties.borrowers[0].name == "Ingebrigt Solbakken"
    assert "Aslak Mienna" not in {mention.name for mention in (*parties.borrowers, *parties.lenders)}


def test_a_text_without_names_has_no_parties() -> None:
    assert sighted("", Terms(""), LEAST) == []
    assert find_parties(Document("empty", "")) == Parties()
