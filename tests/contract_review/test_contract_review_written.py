"""Agreements that were written to be learned from: read whole, and refused where their labels cannot be."""

from pathlib import Path

import pytest

from ovrag_core.base.errors import CorpusError
from ovrag_studies.contract_review.texts.written import WRITTEN, read_written

HYPOTHESES = ("nda-1", "nda-7")
FILE = """title: Agreement
clauses: ["1. Nothing goes to anybody else.", "2. Tea is served."]
labels:
  nda-1: {choice: N}
  nda-7: {choice: C, clauses: [1]}
"""


def test_each_clause_is_a_span_and_labels_name_their_clauses(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE, encoding="utf-8")
    (agreement,) = read_written(tmp_path, HYPOTHESES)
    text = agreement.document.text
    assert [text[start:end] for start, end in agreement.spans] == [
        "1. Nothing goes to anybody else.",
        "2. Tea is served.",
    ]
    assert [(each.hypothesis, each.choice, each.evidence) for each in agreement.judgements] == [
        ("nda-1", "NotMentioned", ()),
        ("nda-7", "Contradiction", (0,)),
    ]
    assert read_written(tmp_path, ("of another list",)) == []


@pytest.mark.parametrize("broken", [FILE.replace("[1]", "[3]"), FILE.replace("clauses: [1]", ""), "title: 1", "- 1"])
def test_a_file_of_another_form_is_one_sentence(tmp_path: Path, broken: str) -> None:
    (tmp_path / "a.yaml").write_text(broken, encoding="utf-8")
    with pytest.raises(CorpusError, match=r"its form is described in training/contract_review/README\.md"):
        read_written(tmp_path, HYPOTHESES)


def test_those_of_the_repository_are_whole_and_contradict_much(project: Path) -> None:
    read = read_written(project / WRITTEN, HYPOTHESES)
    choices = [said.choice for each in read for said in each.judgements]
    assert len(read) == 48 and len(choices) == 48 * 17
    assert choices.count("Contradiction") >= 4 * len(read)
    with pytest.raises(CorpusError, match="holds no agreements"):
        read_written(project / "docs", HYPOTHESES)
