"""The critic finds prose that argues and leaves prose that rules alone, however strict it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ovrag_core.studies.policy.critic import criticise


def labels(text: str) -> set[str]:
    return {finding.label for finding in criticise(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Ladders must under no circumstances be left against a wall overnight.",
        "All employees without exception attend the fire drill.",
        "Only the head gardener may use the chainsaw.",
        "If the seal is broken, the parcel is refused; otherwise it is signed for.",
        "Members may either pay by the month or by the year.",
        "Wages are paid within 5 days. Small claims are paid within 2 days.",
        "Harassment is never tolerated and leads to dismissal.",
        "The audit of 2023 found that 12 percent more forms were late than in the year before.",
        "No other member of the committee is authorised to sign.",
        "",
    ],
)
def test_strict_rules_are_no_finding(text: str) -> None:
    assert criticise(text) == ()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The absurd form for bicycles will be withdrawn.", "L1"),
        ("Nobody could seriously dispute the value of this rule.", "L1"),
        ("The delay is entirely due to the carelessness of tenants.", "L2"),
        ("The petition is nothing more than an attempt to annoy the board.", "L2"),
        ("Research has shown that plants calm applicants.", "L3"),
        ("The new gate prevents every theft.", "L3"),
        ("All visitors must sign the book. Visitors need not sign the book.", "L4"),
        ("Guests may use the sauna. The use of the sauna by guests is forbidden.", "L4"),
        ("Either we buy this scanner or theft will go on for ever.", "L5"),
        ("There is no middle way.", "L5"),
        ("Once one desk is moved, soon everyone will move and the office will end in chaos.", "L6"),
        ("This opens the floodgates.", "L6"),
    ],
)
def test_arguments_are_found_under_their_label(text: str, label: str) -> None:
    assert label in labels(text)


def test_a_span_is_the_passage_that_argues() -> None:
    text = "Bicycles are parked behind the house. This “ridiculous” habit of mopeds ends. The gate is shut at ten."
    [finding] = criticise(text)
    assert text[finding.start : finding.end] == "ridiculous"


def test_a_contradiction_spans_both_clauses() -> None:
    text = "The gate is painted green. All visitors must sign the book. Visitors need not sign the book."
    [finding] = criticise(text)
    assert text[finding.start : finding.end] == "All visitors must sign the book. Visitors need not sign the book."


def test_an_exception_is_no_contradiction() -> None:
    assert criticise("All visitors must sign the book. Visitors under 12 need not sign the book.") == ()


def test_a_source_in_the_text_supports_a_number() -> None:
    claim = "Since the gate was moved, thefts have fallen by 40 percent."
    assert labels(claim) == {"L3"}
    assert labels(f"{claim} The figures are in annex B.") == set()


def test_places_hold_where_lower_case_is_longer() -> None:
    text = "İzmir is near. The absurd rule goes."
    [finding] = criticise(text)
    assert text[finding.start : finding.end] == "absurd"


def test_rules_of_the_sample_corpus_are_not_flagged(project: Path) -> None:
    path = project / "data/samples/policy/corpus/processed/paragraphs.jsonl"
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum(bool(criticise(text)) for text in texts) <= len(texts) * 0.02
