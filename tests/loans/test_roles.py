"""The judge of roles: what it is trained on, what it is shown, and when it is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.mentions import marked
from ovrag_core.loans.reading.parties import find_parties
from ovrag_core.loans.reading.roles import LEAST, ROLES, candidates, load_roles, weighed
from ovrag_core.loans.reading.sightings import Terms

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
        assert {role for _, role in re.findall(r"<<([^|<>]+)\|(\w+)>>", row)} <= set(ROLES)
        assert "<<" not in re.sub(r"<<[^|<>]+\|\w+>>", "", row)


def test_a_name_is_shown_in_brackets_and_short_lines_stay_apart() -> None:
    text = "BORROWER\nAma Darko\n12 Ridge Road\nLENDER\nVolta River Savings"
    start = text.index("Ama")
    words, first, last = marked(text, start, start + len("Ama Darko"))
    assert words == "BORROWER / [ Ama Darko ] / 12 Ridge Road / LENDER / Volta River Savings"
    assert words[first:last] == "Ama Darko"


def test_a_judgement_does_not_depend_on_its_batch() -> None:
    names = candidates(NOTE, Terms(NOTE))
    passages = [(NOTE, name.start, name.end) for name in names]
    together = load_roles()(passages)
    assert len(names) >= 3
    assert all((load_roles()([passage])[0] == row).all() for passage, row in zip(passages, together, strict=True))


def test_parties_that_no_way_of_naming_shows_are_told_by_their_surroundings() -> None:
    by_pattern = find_parties(Document("note", NOTE), by_meaning=False)
    by_meaning = find_parties(Document("note", NOTE))
    assert not by_pattern.borrowers
    assert by_meaning.borrowers[0].name == "Ingebrigt Solbakken"
    assert "Aslak Mienna" not in {mention.name for mention in (*by_meaning.borrowers, *by_meaning.lenders)}


def test_it_changes_nothing_where_the_parties_are_named() -> None:
    text = "LOAN AGREEMENT\n\nBorrower: Ama Darko\nLender: Volta River Savings Bank\n"
    document = Document("plain", text)
    assert find_parties(document) == find_parties(document, by_meaning=False)
    assert weighed("", Terms(""), [], LEAST) == []
