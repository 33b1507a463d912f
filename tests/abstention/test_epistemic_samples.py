"""The sample graphs: fit for the study."""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

KINDS = {"river", "lake", "sea", "coast", "administrative", "text", "other"}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def rivers(project: Path) -> list[dict[str, str]]:
    return rows(project / "data/samples/epistemic/hasMouth_facts.tsv")


def test_rivers_are_as_the_readme_says(rivers: list[dict[str, str]]) -> None:
    assert len(rivers) == 1264
    assert len({row["subject"] for row in rivers}) == 1261
    assert rivers[0] == {
        "subject": "http://example.org/rivers/river/Aare",
        "subject_label": "Aare",
        "object": "http://example.org/rivers/river/Rhine",
        "object_label": "Rhine",
        "object_kind": "river",
        "object_linked": "1",
    }
    assert rivers[-1]["subject_label"] == "Žeimena"
    assert {row["object_kind"] for row in rivers} == KINDS


def test_one_name_is_one_thing_of_one_kind(rivers: list[dict[str, str]]) -> None:
    named = defaultdict(set)
    for row in rivers:
        named[row["subject_label"]].add((row["subject"], "river"))
        named[row["object_label"]].add((row["object"], row["object_kind"]))
    assert {name for name, things in named.items() if len(things) > 1} == set()


def test_chains_go_down_to_an_end_and_never_in_a_circle(rivers: list[dict[str, str]]) -> None:
    mouths = defaultdict(list)
    for row in rivers:
        mouths[row["subject"]].append(row["object"])

    def steps(river: str, passed: tuple[str, ...] = ()) -> int:
        assert river not in passed
        return 1 + max(steps(mouth, (*passed, river)) for mouth in mouths[river]) if river in mouths else 0

    lengths = Counter(steps(river) for river in list(mouths))
    assert sum(times for length, times in lengths.items() if 2 <= length <= 4) > 700
    assert max(lengths) == 5


def test_some_names_are_shared_and_none_is_short_of_its_qualifier(rivers: list[dict[str, str]]) -> None:
    names = {row[column] for row in rivers for column in ("subject_label", "object_label")}
    shared = Counter(name.split(" (")[0] for name in names if " (" in name)
    assert sum(times > 1 for times in shared.values()) > 50
    assert not names & set(shared), "a bare name beside a qualified one would be two things"
