"""The critic finds prose that argues and leaves prose that rules alone, however strict it is."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from ovrag_core.base.errors import SettingsError
from ovrag_core.retrieval.embedding import minilm
from ovrag_studies.cited.critic.critic_rules import LABELS, by_rules, sentences_of
from ovrag_studies.cited.critic.criticism import by_weights, criticise, windows_of


def labels(text: str) -> set[str]:
    return {finding.label for finding in by_rules(text)}


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
    assert by_rules(text) == ()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The absurd form for bicycles will be withdrawn.", "L1"),
        ("Nobody could seriously dispute the value of this rule.", "L1"),
        ("The delay is entirely due to the carelessness of tenants.", "L2"),
        ("The petition is nothing more than an attempt to annoy the board.", "L2"),
        ("Research has shown that plants calm applicants.", "L3"),
        ("The new gate prevents every theft.", "L3"),
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
    [finding] = by_rules(text)
    assert text[finding.start : finding.end] == "ridiculous"


def test_a_contradiction_spans_both_clauses() -> None:
    text = "The gate is painted green. All visitors must sign the book. Visitors need not sign the book."
    [finding] = criticise(text)
    assert finding.label == "L4"
    assert text[finding.start : finding.end] == "All visitors must sign the book. Visitors need not sign the book."


def test_a_source_in_the_text_supports_a_number() -> None:
    claim = "Since the gate was moved, thefts have fallen by 40 percent."
    assert labels(claim) == {"L3"}
    assert labels(f"{claim} The figures are in annex B.") == set()


def test_places_hold_where_lower_case_is_longer() -> None:
    text = "İzmir is near. The absurd rule goes."
    [finding] = by_rules(text)
    assert text[finding.start : finding.end] == "absurd"


def test_rules_of_the_sample_corpus_are_not_flagged(project: Path) -> None:
    path = project / "data/samples/policy/corpus/processed/paragraphs.jsonl"
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum(bool(by_rules(text)) for text in texts) <= len(texts) * 0.02


def test_the_critic_does_on_snippets_it_was_not_made_from(project: Path) -> None:
    unmark = runpy.run_path(str(project / "tools/policy_samples.py"))["unmark"]
    written = yaml.safe_load((project / "tests/data/policy_snippets_heldout.yaml").read_text(encoding="utf-8"))
    right, both, flagged = Counter[str](), Counter[str](), 0
    for kind, texts in written.items():
        for text, spans in map(unmark, texts):
            found = {finding.label for finding in criticise(text)}
            earned = {span["label"] for span in spans}
            flagged += kind == "neutral" and bool(found)
            right.update(found & earned)
            both.update([*found, *earned])
    assert sum(2 * right[label] / both[label] for label in LABELS) / 6 >= 0.55
    assert flagged <= 4, "of 40 neutral ones"


def test_what_was_learned_does_not_repeat_a_rule() -> None:
    findings = criticise("The new gate prevents every theft.")
    assert [finding.label for finding in findings] == ["L3"]
    assert "learned" not in findings[0].why


def test_a_learned_finding_says_so_and_stands_on_a_sentence() -> None:
    text = "Desks are cleared every evening. Cut the cleaning by a day and rats will come, then disease, then the end."
    [finding] = [each for each in by_weights(text, minilm()) if each.label == "L6"]
    assert text[finding.start :][:7] == "Cut the"
    assert "learned" in finding.why


def test_an_empty_text_is_no_finding() -> None:
    assert criticise(" \n") == ()


def test_weights_of_another_embedder_are_refused() -> None:
    other = SimpleNamespace(name="other", embed=minilm().embed)
    with pytest.raises(SettingsError, match="not with other"):
        by_weights("The gate is shut.", other)


def test_a_long_text_is_read_in_windows_of_two_sentences() -> None:
    sentences = list(sentences_of("One. Two. Three. Four. Five."))
    assert windows_of(sentences) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert windows_of(sentences[:3]) == [(0, 2)]
