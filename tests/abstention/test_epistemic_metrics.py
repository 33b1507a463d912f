"""Published and corrected metrics, risk and coverage, paired tests, clusters."""

import itertools
import json
import statistics
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.evaluation.statistics import Resampling
from ovrag_studies.abstention import measures, results
from ovrag_studies.abstention.measures import CardOutcome, count, references, risk_curve, values

PLAN = Resampling(samples=200)


def outcomes(**cells: int) -> list[CardOutcome]:
    """`YES_NO=3`: three cards of gold YES, answered NO."""
    pairs = [(name.split("_"), times) for name, times in cells.items()]
    flat = [(gold, answer) for (gold, answer), times in pairs for _ in range(times)]
    return [CardOutcome(str(number), gold, answer) for number, (gold, answer) in enumerate(flat)]


MIXED = outcomes(YES_YES=6, YES_NO=1, YES_UNKNOWN=2, YES_failed=1, NO_YES=1, NO_NO=7, NO_UNKNOWN=2,
                 UNKNOWN_YES=1, UNKNOWN_NO=2, UNKNOWN_UNKNOWN=5, UNKNOWN_unparsed=2)  # fmt: skip


def test_an_answer_that_is_none_stands_in_the_fourth_column() -> None:
    assert count(MIXED).tolist() == [[6, 1, 2, 1], [1, 7, 2, 0], [1, 2, 5, 2]]


def test_every_figure_of_a_mixed_table() -> None:
    found = values(MIXED)
    expected = {
        "AP": 7 / 9,  # abstentions on C and U over all abstentions
        "CVRR": 2 / 10,  # abstentions on C, where answering is what is meant to be punished
        "FAR-NE": 11 / 18,
        "LA": 7 / 9,  # a wrong answer counts as well as a right one
        "AP_C": 2 / 4,
        "AP_U": 5 / 7,
        "AR": 7 / 18,
        "coverage": 18 / 27,
        "answer accuracy": 7 / 18,
        "overall": 14 / 27,
        "LA*": 6 / 10,
        "CVRR*": 7 / 10,
        "FAR*": 4 / 20,
        "false YES": 2 / 20,
        "AP*": 5 / 9,
        "AR*": 5 / 10,
        "accuracy": 18 / 30,
        "coverage*": 18 / 30,
        "answer accuracy*": 13 / 18,
        "no answer": 3 / 30,
        "macro-F1": statistics.mean([2 * 6 / 18, 2 * 7 / 20, 2 * 5 / 19]),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_the_published_metrics_punish_being_right() -> None:
    """The table of the issue on the published mix: 200 E, 400 C, 200 U."""
    cards = outcomes(YES_YES=200, NO_YES=400, UNKNOWN_YES=200)
    found = {name: values(each) for name, each in references(cards).items()}
    published = {name: [each[metric] for metric in ("AP", "CVRR", "FAR-NE", "LA")] for name, each in found.items()}
    assert published["perfect"] == pytest.approx([1, 0, 2 / 3, 1])
    assert found["perfect"]["overall"] == 0.5
    assert published["always UNKNOWN"] == [0.75, 1, 0, 0]
    assert published["always NO"] == published["always YES"] == [None, 0, 1, 1]
    corrected = {
        name: [each[metric] for metric in ("LA*", "CVRR*", "FAR*", "false YES", "AP*", "AR*")]
        for name, each in found.items()
    }
    assert corrected["perfect"] == [1, 1, 0, 0, 1, 1]
    assert corrected["always YES"] == [1, 0, 1, 1, None, 0]
    assert corrected["always NO"][:4] == pytest.approx([0, 1, 1 / 3, 0])
    assert corrected["always UNKNOWN"] == [0, 0, 0, 0, 0.25, 1]
    assert all(found["perfect"]["macro-F1"] > found[name]["macro-F1"] for name in found if name != "perfect")


def test_no_answer_is_never_an_abstention() -> None:
    failing = outcomes(YES_failed=5, NO_unchecked=5, UNKNOWN_unparsed=5)
    found = values(failing)
    assert (found["AP"], found["AR*"], found["accuracy"], found["no answer"]) == (None, 0, 0, 1)


def test_nothing_is_made_of_nothing() -> None:
    for figure in (values, risk_curve):
        with pytest.raises(ValueError, match="need an outcome"):
            figure([])


def test_estimates_surround_the_values_and_are_the_same_each_time() -> None:
    clustered = [
        CardOutcome(each.card, each.gold, each.answer, 0.5, str(number % 9)) for number, each in enumerate(MIXED)
    ]
    found = measures.estimates(clustered, PLAN)
    assert found == measures.estimates(clustered, PLAN)
    assert {name: each.value for name, each in found.items()} == pytest.approx(values(clustered))
    for name, each in found.items():
        assert each.low is None or each.low <= each.value <= each.high, name
    assert found["accuracy"].clusters == 9


def test_clusters_that_agree_within_widen_the_interval() -> None:
    cards = outcomes(YES_YES=40, YES_NO=40)
    alone = measures.estimates(cards, PLAN)["LA*"]
    together = [
        CardOutcome(each.card, each.gold, each.answer, cluster=each.answer + str(int(each.card) % 2)) for each in cards
    ]
    joined = measures.estimates(together, PLAN)["LA*"]
    assert joined.high - joined.low > 2 * (alone.high - alone.low)


# -- risk and coverage ------------------------------------------------------------------------------------------------


def ranked(*items: tuple[str, str, float]) -> list[CardOutcome]:
    return [CardOutcome(str(number), *item) for number, item in enumerate(items)]


def test_the_surest_come_first_and_the_unanswered_last() -> None:
    found = risk_curve(ranked(("YES", "UNKNOWN", 0.99), ("NO", "NO", 0.9), ("YES", "NO", 0.2), ("UNKNOWN", "YES", 0.1)))
    assert found.risk.tolist() == pytest.approx([0, 1 / 2, 2 / 3, 3 / 4])
    assert (found.answered, found.own_risk) == (0.75, pytest.approx(2 / 3))
    assert found.aurc == pytest.approx((0 + 1 / 2 + 2 / 3 + 3 / 4) / 4)
    assert found.optimum == pytest.approx((1 / 4) / 4), "one card cannot be answered rightly, and comes last"


def test_a_perfect_ranking_has_no_excess_and_abstaining_always_has_the_most() -> None:
    perfect = references(MIXED)["perfect"]
    assert risk_curve(perfect).excess == pytest.approx(0)
    silent = risk_curve(references(MIXED)["always UNKNOWN"])
    assert (silent.aurc, silent.own_risk, silent.answered) == (1, None, 0)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["YES", "NO", "UNKNOWN"]),
            st.sampled_from(["YES", "NO", "UNKNOWN", "unparsed"]),
            st.sampled_from([0.1, 0.5, 0.9]),
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None)
def test_ties_are_taken_in_expectation(items: list[tuple[str, str, float]]) -> None:
    """The mean over all orders that do not break the ranking."""
    given_outcomes = ranked(*items)

    def key(item: CardOutcome) -> float:
        return item.confidence if item.answer in ("YES", "NO") else float("-inf")

    risks = []
    for order in itertools.permutations(given_outcomes):
        if all(key(first) >= key(second) for first, second in itertools.pairwise(order)):
            wrong = list(itertools.accumulate(not (each.right and each.answer in ("YES", "NO")) for each in order))
            risks.append([errors / (place + 1) for place, errors in enumerate(wrong)])
    mean = [statistics.mean(column) for column in zip(*risks, strict=True)]
    found = risk_curve(given_outcomes)
    assert found.risk.tolist() == pytest.approx(mean)
    assert found.excess >= -1e-12


def test_a_confidence_must_be_a_number() -> None:
    with pytest.raises(ValueError, match="no number"):
        risk_curve(ranked(("YES", "YES", float("nan"))))


def test_kinds_keep_the_order_of_their_cards() -> None:
    cards = [
        CardOutcome("1", "NO", "NO", kind="C"),
        CardOutcome("2", "YES", "YES", kind="E"),
        CardOutcome("3", "NO", "YES", kind="C"),
    ]
    assert list(measures.shares_by_kind(cards).items()) == [("C", 0.5), ("E", 1)]


def test_the_recorded_runs_are_reproduced(external_data: Path) -> None:
    """Four metrics of two systems on the 800 cards, to three decimals, and those of the chat models on 30."""
    path = Path(results.__file__).with_name("published.yaml")
    given = yaml.safe_load(path.read_text(encoding="utf-8"))["metrics"]
    files = {
        "cards_recorded.jsonl": {"kg": "oracle, 800 cards", "graph_rag": "Graph-RAG, 800 cards"},
        "cards_recorded_models.jsonl": {
            "gpt-4": "GPT-4, 30 cards",
            "claude-3.5-sonnet": "Claude 3.5, 30 cards",
            "claude-sonnet-4": "Claude 4, 30 cards",
        },
    }
    for file, runs in files.items():
        lines = (external_data / "rivers" / file).read_text(encoding="utf-8").splitlines()
        for system, run in runs.items():
            found = values([CardOutcome(c["id"], c["gold"], c["recorded"][system]) for c in map(json.loads, lines)])
            wanted = given[f"{run} (recorded)"]
            assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=0.0005), run
