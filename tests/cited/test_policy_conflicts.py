"""Conflicts: pairs that cannot both be kept, and clauses that settle them."""

import csv
from itertools import combinations
from pathlib import Path

import numpy
import pytest
import yaml
from safetensors.numpy import save_file

from ovrag_core.base.errors import SettingsError
from ovrag_studies.cited.answering.silence import Calibration, Certificate
from ovrag_studies.cited.arms import ArmParts, ask
from ovrag_studies.cited.conflicts import rule_conflicts
from ovrag_studies.cited.conflicts.conflict_model import read_model
from ovrag_studies.cited.conflicts.rule_conflicts import (
    CHANCE,
    Conflict,
    Sides,
    find_clashes,
    find_corpus_conflicts,
    least_chance,
)
from ovrag_studies.cited.conflicts.rules import read_rules
from ovrag_studies.cited.corpus.policies import FileParagraph, PolicyCorpus, assemble, read_corpus
from ovrag_studies.cited.corpus.retrieval import CorpusIndex
from ovrag_studies.cited.language.amounts import find_amounts
from ovrag_studies.cited.settings import Policy

PAIRS = yaml.safe_load((Path(__file__).parents[1] / "data" / "policy" / "norm_pairs.yaml").read_text(encoding="utf-8"))
TABLE = Path("training/cited/rule_pairs.tsv")
RULES = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
TABLES = [("dev", 41, 11), ("held", 20, 7), ("later", 20, 5), ("last", 22, 2)]  # part, conflicts, lookalikes
SAMPLES = Path("data/samples/policy")


def corpus_of(**documents: list[str]) -> PolicyCorpus:
    read = [
        FileParagraph(name, f"{name}.pdf", 1, row, text)
        for name, texts in documents.items()
        for row, text in enumerate(texts)
    ]
    return assemble(read, dict.fromkeys(documents, "0" * 64))


def clashes_of(first: str, second: str) -> list[Sides]:
    found = find_clashes(read_rules(corpus_of(a=[first], b=[second])))
    return [(one, other) for (one, other), _ in found if one.source.doc_id != other.source.doc_id]


@pytest.mark.parametrize(("which", "least", "most"), [("", 13, 0), ("later_", 17, 4)])
def test_conflicts_of_other_topics_are_found_and_lookalikes_are_not(which: str, least: int, most: int) -> None:
    found = sum(bool(clashes_of(**pair)) for pair in PAIRS[f"{which}conflicts"])
    mistaken = sum(bool(clashes_of(**pair)) for pair in PAIRS[f"{which}lookalikes"])
    assert found >= least
    assert mistaken <= most


def flagged_rows(pairs: list[dict[str, str]]) -> set[int]:
    """Which pairs of a table are flagged where all its sentences stand in one corpus."""
    documents = {f"{side}{row}": [pair[side]] for row, pair in enumerate(pairs) for side in ("first", "second")}
    clashes = find_clashes(read_rules(corpus_of(**documents)))
    names = [[each.source.doc_id for each in sides] for sides, _ in clashes]
    rows = [{int(name.removeprefix("first").removeprefix("second")) for name in sides} for sides in names]
    return {row.pop() for row in rows if len(row) == 1}


@pytest.mark.parametrize(("part", "least", "most"), TABLES)
def test_rules_of_many_trades_are_told_from_lookalikes(part: str, least: int, most: int) -> None:
    pairs = [pair for pair in RULES if pair["part"] == part]
    flagged = flagged_rows(pairs)
    conflicts = {row for row, pair in enumerate(pairs) if pair["label"] == "conflict"}
    assert len(flagged & conflicts) >= least
    assert len(flagged - conflicts) <= most


def test_the_more_rules_are_compared_the_surer_a_conflict_must_be() -> None:
    asked = [least_chance(count) for count in (1, 2, 20, 200, 2000)]
    assert asked[0] == asked[1] == pytest.approx(CHANCE)
    assert asked[1:] == sorted(asked[1:]) and asked[-1] < 0.35


def test_titles_are_no_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_conflicts, "CHANCE", 0.01)
    corpus = corpus_of(a=["Yard Rules 1 May 2023", "Cats roam."], b=["Dock Rules 2 June 2024", "Doors are green."])
    assert find_clashes(read_rules(corpus)) == []


def test_weights_for_other_features_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    save_file({name: numpy.zeros(3, numpy.float32) for name in ("hashed", "numbers", "bias")}, path)
    with pytest.raises(SettingsError, match="other features"):
        read_model(path)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Bikes must be locked at night.", "Bikes must be locked at night."),
        ("Leave is requested at least 2 weeks ahead.", "Leave is requested at most 6 weeks ahead."),
        ("Stock is counted every 12 months.", "Stock is counted once a year."),
        ("Invoices are paid within 10 working days.", "Invoices are paid within 14 days."),
        ("Interns may not sign contracts.", "Directors may sign contracts."),
        ("Contractors must wear a badge.", "Employees need not wear a badge."),
        ("Taxis may be used at night.", "Pool cars may not be used at night."),
        ("Loans must not be made without approval.", "Loans may be made with prior approval."),
    ],
)
def test_rules_that_can_both_be_kept_do_not_clash(first: str, second: str) -> None:
    assert clashes_of(first, second) == []


def test_a_conflict_is_reported_before_silence_with_both_quotations() -> None:
    corpus = corpus_of(
        park=["Dogs must be kept on a lead at all times.", "Dogs need no lead after dusk.", "Cats roam."]
    )
    strict = Certificate(0.9999, 0.1, 0.1, 40, 30, 0, 0.75, 0.04, certified=True)
    parts = ArmParts(Policy(), CorpusIndex(corpus), Calibration(corpus="other", golden="g", certificate=strict))
    contested = ask(parts, "ours", "Must dogs be on a lead?")
    assert not contested.silent
    assert [each.text for each in contested.sentences] == [
        "Dogs must be kept on a lead at all times.",
        "Dogs need no lead after dusk.",
    ]
    assert [each.status for each in contested.conflicts] == ["unresolved"]
    plain = ask(parts, "ours", "Where do cats roam?")
    assert plain.silent
    assert plain.conflicts == ()


HANDBOOK = ["Site Handbook Version 1 - May 2023", "2. Ladders Ladders are inspected every 6 months."]
RULE = "5. Ladders Ladders are inspected every 3 months."


def settled(clause: str, date: str = "June 2024") -> Conflict:
    corpus = corpus_of(handbook=HANDBOOK, update=[f"Safety Update Version 1 - {date}", clause, RULE])
    (found,) = find_corpus_conflicts(corpus)
    return found


@pytest.mark.parametrize(
    "clause",
    [
        "Where this update differs from the Site Handbook, the update prevails.",
        "This update takes precedence over existing policies.",
        "The Site Handbook is superseded by this update.",
    ],
)
def test_a_clause_lets_the_update_prevail(clause: str) -> None:
    conflict = settled(clause)
    assert (conflict.status, conflict.prevails) == ("superseded", "second")
    assert conflict.clause is not None
    assert conflict.clause.text == clause


@pytest.mark.parametrize(
    "clause",
    [
        "This update was agreed with the works council.",
        "This update does not supersede the Site Handbook.",
        "This update takes precedence over the Travel Handbook.",
        "This update replaces all earlier issues of the safety letter.",
    ],
)
def test_a_later_date_alone_decides_nothing(clause: str) -> None:
    conflict = settled(clause)
    assert (conflict.status, conflict.prevails, conflict.clause) == ("unresolved", None, None)


def test_existing_documents_are_not_those_of_a_later_date() -> None:
    clause = "This update takes precedence over existing policies."
    assert settled(clause, date="June 2022").status == "unresolved"


def test_the_handbook_prevails_where_the_update_says_so() -> None:
    conflict = settled("In case of conflict with the Site Handbook, the Site Handbook prevails.")
    assert (conflict.status, conflict.prevails) == ("superseded", "first")


@pytest.mark.parametrize(
    ("clause", "prevails"),
    [
        ("Chapter 3 overrides Chapter 2.", "3 months"),
        ("If Chapters 2 and 3 contradict each other, Chapter 2 stands.", "6 months"),
        ("Chapters 2 and 3 stand side by side; neither prevails.", None),
        ("Chapter 3 does not override Chapter 2.", None),
        ("Chapter 4 prevails over Chapter 2.", None),
        ("On matters of paint, Chapter 3 prevails over Chapter 2.", None),
        ("If Chapters 2 and 3 differ, the board of Chapter 3 controls the stores.", None),
        ("Employees apply to the bursar under Chapter 3, not under Chapter 2.", None),
    ],
)
def test_chapters_are_ranked_as_a_clause_says(clause: str, prevails: str | None) -> None:
    book = [
        "Rule Book",
        f"Chapter 1. General. {clause}",
        "Chapter 2. Stores. Ladders are inspected every 6 months.",
        "Chapter 3. Changes. Ladders are inspected every 3 months.",
        "Chapter 4. Other. Doors are painted green.",
    ]
    (found,) = find_corpus_conflicts(corpus_of(book=book))
    winner = {"first": found.first.text, "second": found.second.text, None: ""}[found.prevails]
    assert (prevails or "") in winner
    assert bool(winner) == bool(prevails)


@pytest.mark.parametrize(
    ("clause", "status"),
    [
        ("Where this update differs from Section 2 of the Site Handbook, this update prevails.", "superseded"),
        ("Where this update differs from Section 3 of the Site Handbook, this update prevails.", "unresolved"),
    ],
)
def test_a_clause_that_names_sections_is_for_these(clause: str, status: str) -> None:
    assert settled(clause).status == status


@pytest.mark.parametrize(
    ("clause", "status"),
    [
        ("Where this update differs from the Site Handbook, this update prevails, except in Section 7.", "superseded"),
        ("Where this update differs from the Site Handbook, it prevails, except in Section 2.", "unresolved"),
        (
            "This update prevails over the Site Handbook. It does not affect Section 2 of the Site Handbook.",
            "unresolved",
        ),
        ("Section 9 of this update replaces Section 2 of the Site Handbook.", "unresolved"),
        ("On questions of paint, this update prevails over the Site Handbook.", "unresolved"),
    ],
)
def test_what_a_clause_leaves_alone_stays(clause: str, status: str) -> None:
    assert settled(clause).status == status


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Tell us at once.", [(0, "minute")]),
        ("Effective immediately, two signatures are needed.", [(2, "")]),
        ("Washed every Friday and once every two years.", [(10080, "minute"), (24, "month")]),
        ("Three times a week, and every other month.", [(3360, "minute"), (2, "month")]),
        ("From the third day a note is needed.", [(3, "nth day")]),
    ],
)
def test_amounts_without_figures_are_read(text: str, values: list[tuple[int, str]]) -> None:
    assert [(each.value, each.unit) for each in find_amounts(text)] == values


def test_all_conflicts_of_the_samples_are_found_and_settled() -> None:
    corpus = read_corpus(SAMPLES / "corpus" / "processed" / "paragraphs.jsonl")
    pairs = list(map(yaml.safe_load, (SAMPLES / "conflicts" / "pairs.jsonl").read_text().splitlines()))
    found = find_corpus_conflicts(corpus)
    right = 0
    for pair in (row for row in pairs if row["label"] == "conflict"):
        quotes = {pair["first_quote"], pair["second_quote"]}
        hits = [
            each
            for each in found
            if all(any(quote in rule.text for rule in (each.first, each.second)) for quote in quotes)
        ]
        right += any(hit.status == pair["status"] for hit in hits)
    assert right >= 11
    count = len(corpus.paragraphs)
    flagged = {frozenset((each.first.paragraph_id, each.second.paragraph_id)) for each in found}
    assert len(flagged) <= 0.01 * count * (count - 1) / 2


def test_random_paragraphs_of_the_published_corpus_are_seldom_flagged(external_data: Path) -> None:
    corpus = read_corpus(external_data / "policy" / "dev" / "corpus" / "processed" / "paragraphs.jsonl")
    flagged = {frozenset(each.source.paragraph_id for each in sides) for sides, _ in find_clashes(read_rules(corpus))}
    pairs = len(list(combinations(corpus.paragraphs, 2)))
    assert pairs == 15_400
    assert 10 <= len(flagged) <= 0.01 * pairs
