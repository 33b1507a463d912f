from __future__ import annotations

from pathlib import Path

import pytest

from ovrag_core.graph import EmbeddedStore, open_graph
from ovrag_studies.abstention.knowledge.domain import load_domain
from ovrag_studies.abstention.licensing.licence import Verdict
from ovrag_studies.abstention.licensing.option_claims import license_choice, read_choice
from ovrag_studies.abstention.parsing.name_index import Names, names_of

RIVERS = load_domain(Path(__file__).resolve().parents[2] / "ontologies/domains/rivers.yaml")
FACTS = """Isar	Danube
Inn (Danube)	Danube
Salzach	Inn (Danube)
Wild Brook	Long Creek (Upper Valley)
Cold Brook	Long Creek (Lower Valley)
Spey	North Sea"""


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    iri = "http://example.org/{}".format
    rows = [line.split("\t") for line in FACTS.splitlines()]
    lines = [f"{iri(a.replace(' ', '_'))}\t{a}\t{iri(b.replace(' ', '_'))}\t{b}\triver" for a, b in rows]
    path = tmp_path / "facts.tsv"
    head = "subject\tsubject_label\tobject\tobject_label\tobject_kind"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return open_graph(path, RIVERS.table)


@pytest.fixture
def names(store: EmbeddedStore) -> Names:
    return names_of(store, RIVERS)


@pytest.mark.parametrize(
    ("question", "option", "about", "verdict"),
    [
        ("Into which river does the Isar discharge?", "Danube", "", Verdict.YES),
        ("Into which river does the Isar discharge?", "Salzach", "", Verdict.NO),
        ("The Isar is a tributary of which larger river?", "The Danube", "", Verdict.YES),
        ("Which river is the Isar a direct tributary of, before reaching the Black Sea?", "Danube", "", Verdict.YES),
        ("Which of the following rivers does the Isar flow into?", "Danube", "", Verdict.YES),
        ("What larger water does the Isar empty into, and how long is it?", "Danube, 295 km", "", Verdict.YES),
        ("The Inn is a tributary of which river?", "Danube", "Inn (Danube)", Verdict.YES),
        ("The Wild Brook is a tributary of which creek?", "Long Creek", "", Verdict.YES),
        ("The Spey is a tributary of which creek?", "Long Creek", "", Verdict.NO),
    ],
)
def test_an_option_in_its_place_is_a_claim(
    store: EmbeddedStore, names: Names, question: str, option: str, about: str, verdict: Verdict
) -> None:
    licence = license_choice(read_choice(question, option, names, RIVERS, about), store, RIVERS)
    assert licence is not None and licence.verdict == verdict


@pytest.mark.parametrize(
    ("question", "option"),
    [
        ("Does the Isar flow into the Danube?", "Danube"),
        ("Into which river does the Isar discharge?", "Amazonas"),
        ("How long is the Isar?", "295 km"),
        ("Which?", ""),
        ("", "Danube"),
    ],
)
def test_what_is_no_such_question_or_option_is_not_read(
    store: EmbeddedStore, names: Names, question: str, option: str
) -> None:
    reading = read_choice(question, option, names, RIVERS)
    assert reading.claim is None and reading.reason
    assert license_choice(reading, store, RIVERS) is None


def test_a_name_of_several_things_asked_about_is_not_decided(store: EmbeddedStore, names: Names) -> None:
    reading = read_choice("Long Creek is a tributary of which river?", "Danube", names, RIVERS)
    licence = license_choice(reading, store, RIVERS)
    assert reading.claim is None and licence is not None and licence.verdict == Verdict.UNKNOWN
