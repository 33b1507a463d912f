"""What others recorded, scored by the metrics of the study."""

import json
from pathlib import Path

import pytest

from ovrag_core.base.errors import CardError
from ovrag_studies.abstention.cards.recorded_cards import METRICS, card_kind, published, read_recorded
from ovrag_studies.abstention.measures import count, values

CARD = {
    "id": "CARD_D_000001",
    "facts": ["Alder mouth Birch"],
    "question": "Is Birch the mouth of Alder?",
    "gold": "NO",
    "label": "C",
    "claim": {"subj": "http://x.org/Alder", "pred": "p", "obj": "http://x.org/http_//x.org/Birch"},
    "recorded": {"kg": "UNKNOWN", "other": "Yes."},
}


def write(folder: Path, *cards: object) -> Path:
    path = folder / "recorded.jsonl"
    path.write_text("".join(json.dumps(card) + "\n" for card in cards), encoding="utf-8")
    return path


def test_answers_stay_with_their_cards_as_recorded(tmp_path: Path) -> None:
    again = {**CARD, "id": "CARD_D_000002"}
    entailed = {**CARD, "id": "CARD_E_000003", "gold": "YES", "label": "E", "recorded": {"other": "NO", "kg": "YES"}}
    found = read_recorded(write(tmp_path, CARD, again, entailed))
    assert found.answers == {"kg": ("UNKNOWN", "UNKNOWN", "YES"), "other": ("Yes.", "Yes.", "NO")}
    assert (found.malformed, found.duplicates) == (3, 1)
    assert [card_kind(card) for card in found.cards] == ["D", "D", "E"]
    outcomes = found.outcomes("other")
    assert [(each.gold, each.answer, each.kind) for each in outcomes][1:] == [("NO", "Yes.", "D"), ("YES", "NO", "E")]
    assert count(outcomes).tolist() == [[0, 1, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]], (
        "an answer that is none is not parsed anew"
    )


@pytest.mark.parametrize("recorded", [None, {}, {"kg": 1}, {"another": "YES"}])
def test_every_line_must_record_the_same_systems(tmp_path: Path, recorded: object) -> None:
    with pytest.raises(CardError, match=r"line 2: .*recorded"):
        read_recorded(write(tmp_path, CARD, {**CARD, "id": "2", "recorded": recorded}))


def test_published_figures_follow_from_their_cells() -> None:
    """What was recorded agrees with its own definitions, so that the same code may score both."""
    for name, run in published().recorded.items():
        (answered_e, answered_c, answered_u), (silent_e, silent_c, silent_u) = run.cells
        abstained = silent_e + silent_c + silent_u
        computed = {
            "AP": (silent_c + silent_u) / abstained if abstained else None,
            "CVRR": silent_c / (silent_c + answered_c),
            "FAR-NE": (answered_c + answered_u) / (answered_c + answered_u + silent_c + silent_u),
            "LA": answered_e / (answered_e + silent_e),
        }
        assert run.metrics == pytest.approx(computed, abs=0.0006), name
    assert set(published().paper) == {*METRICS, "accuracy"}


def test_the_recorded_runs_are_reproduced(external_data: Path) -> None:
    """Four metrics of two systems on the 800 cards, to three decimals, and those of the chat models on 30."""
    given = published().recorded
    cards = read_recorded(external_data / "rivers" / "cards_recorded.jsonl")
    assert (len(cards.cards), cards.malformed) == (800, 452)
    for system, run in (("kg", "oracle, 800 cards"), ("graph_rag", "Graph-RAG, 800 cards")):
        found = values(cards.outcomes(system))
        assert [f"{found[name]:.3f}" for name in METRICS] == [f"{given[run].metrics[name]:.3f}" for name in METRICS]
    models = read_recorded(external_data / "rivers" / "cards_recorded_models.jsonl")
    assert len(models.cards) == 30
    names = {"gpt-4": "GPT-4", "claude-3.5-sonnet": "Claude 3.5", "claude-sonnet-4": "Claude 4"}
    for system, run in names.items():
        found = values(models.outcomes(system))
        assert {name: found[name] for name in METRICS} == given[f"{run}, 30 cards"].metrics
    assert values(models.outcomes("claude-3.5-sonnet"))["LA*"] == 0.6, "the published form hides four wrong answers"
