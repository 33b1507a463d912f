"""Figures of a critic, against counts made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovrag_core.base.errors import ResultError
from ovrag_core.evaluation.statistics import Resampling
from ovrag_studies.cited.critic.critic_rules import CriticFinding
from ovrag_studies.cited.measuring.critic_metrics import Snippet, assess_critic, read_snippets

SNIPPETS = [
    Snippet.model_validate(each)
    for each in (
        {"snippet_id": "a", "text": "aaaaaaaaaa", "labels": []},
        {"snippet_id": "b", "text": "bbbbbbbbbb", "labels": []},
        {
            "snippet_id": "c",
            "text": "cccccccccc",
            "labels": ["L1", "L2"],
            "spans": [{"label": "L1", "start": 0, "end": 4}, {"label": "L2", "start": 4, "end": 10}],
        },
        {"snippet_id": "d", "text": "dddddddddd", "labels": ["L1"], "spans": [{"label": "L1", "start": 0, "end": 10}]},
    )
]
FOUND = {
    "a": [],
    "b": [CriticFinding("L2", 0, 5, "")],
    "c": [CriticFinding("L1", 2, 6, ""), CriticFinding("L1", 3, 6, "")],
    "d": [CriticFinding("L1", 0, 5, "")],
}


def test_figures_are_those_counted_by_hand() -> None:
    report = assess_critic(SNIPPETS, [FOUND[each.snippet_id] for each in SNIPPETS], Resampling(50))
    assert [(report.precision[row].value, report.recall[row].value) for row in (0, 1)] == [(1.0, 1.0), (0.0, 0.0)]
    assert [each.value for each in report.f1] == [1.0, 0.0, None, None, None, None]  # neither given nor found
    assert report.macro_f1.value == 0.5
    assert report.exact.value == 0.5
    assert report.neutral_flagged.value == 0.5
    # L1 in characters: 2 + 5 right of 4 + 5 found and 4 + 10 given, L2: none right of none found and 6 given.
    assert report.span_f1 == pytest.approx(7 / 23)


def test_the_samples_are_read(project: Path) -> None:
    snippets = read_snippets(project / "data/samples/policy/critic")
    assert [sum(bool(each.labels) is flag for each in snippets) for flag in (False, True)] == [15, 15]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"snippet_id": "a", "text": "b", "labels": ["L7"]}', "line 1: labels.0 "),
        ("no JSON", "line 1: this is not JSON"),
        (
            '{"snippet_id": "a", "text": "b", "labels": ["L1"], "spans": [{"label": "L1", "start": 0, "end": 9}]}',
            "line 1: .*a span lies outside the text",
        ),
    ],
)
def test_snippets_that_cannot_be_used_are_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x/critic_snippets.jsonl").write_text(line)
    with pytest.raises(ResultError, match=said):
        read_snippets(tmp_path)


def test_a_folder_without_snippets_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="holds no snippets"):
        read_snippets(tmp_path)
