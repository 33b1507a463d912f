"""Documents with labelled queries: all that are here can be read, and labels that contradict their text are refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from labelled_documents import read_labelled

from ovrag_core.base.errors import QuestionError

CALIBRATION, UNREAD = Path("training/cited/calibration"), Path("tests/data/policy/unread")
DOCUMENT: dict[str, Any] = {
    "title": "Yard rules",
    "kind": "club rules",
    "paragraphs": ["The gate is locked at eight.", "The gate is locked at nine. Dogs stay outside."],
    "queries": [
        {"question": "When is the gate locked?", "category": "contradiction", "gold": [1, 2],
         "expected": "unresolved", "quotes": ["locked at eight", "locked at nine"]},
        {"question": "Who locks it?", "category": "unanswerable"},
    ],
    "pairs": [{"label": "conflict", "kind": "time", "paragraphs": [1, 2],
               "first": "The gate is locked at eight.", "second": "The gate is locked at nine."}],
}  # fmt: skip


def test_all_documents_agree_with_their_labels_and_none_is_in_both_folders() -> None:
    read = {folder: [read_labelled(path) for path in folder.glob("*.yaml")] for folder in (CALIBRATION, UNREAD)}
    assert {folder: len(of) for folder, of in read.items()} == {CALIBRATION: 20, UNREAD: 4}
    assert len({each.kind for each in read[CALIBRATION]}) == 5
    assert sum(len(each.queries) for each in read[CALIBRATION]) >= 400
    known, fresh = ({text for each in of for text in each.paragraphs} for of in read.values())
    assert not known & fresh


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"gold": [1, 3]}, "a paragraph that is not there"),
        ({"gold": [1]}, "names too few paragraphs"),
        ({"category": "unanswerable"}, "is unanswerable and names a paragraph"),
        ({"expected": "superseded"}, "which paragraph prevails"),
        ({"quotes": ["locked at seven"]}, "which none of its paragraphs holds"),
        ({"category": "maybe"}, "category"),
    ],
)
def test_a_query_that_contradicts_the_text_is_named(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    first, second = DOCUMENT["queries"]
    path = tmp_path / "yard.yaml"
    path.write_text(yaml.safe_dump(DOCUMENT | {"queries": [first | change, second]}))
    with pytest.raises(QuestionError, match=complaint) as caught:
        read_labelled(path)
    assert str(path) in str(caught.value)
    assert "training/cited/calibration/README.md" in str(caught.value)


def test_a_pair_that_is_not_in_its_paragraph_is_named(tmp_path: Path) -> None:
    path = tmp_path / "yard.yaml"
    path.write_text(yaml.safe_dump(DOCUMENT | {"pairs": [DOCUMENT["pairs"][0] | {"paragraphs": [2, 1]}]}))
    with pytest.raises(QuestionError, match="paragraph 2 does not hold"):
        read_labelled(path)
