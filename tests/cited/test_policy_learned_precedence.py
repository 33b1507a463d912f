"""Which rule a sentence lets prevail, told by weights where no form of words is known for it."""

from pathlib import Path

import pytest

from ovrag_core.base.errors import SettingsError
from ovrag_core.retrieval import minilm
from ovrag_studies.cited.conflicts.learned_precedence import CorpusPrecedence, RankedDocument, load_precedence
from ovrag_studies.cited.conflicts.rules import read_rules
from ovrag_studies.cited.corpus.policies import FileParagraph, assemble

BOOK = [
    "Handbook for helpers at the Kestrel Hall",
    "1. Opening. The hall is unlocked by the caretaker. Chairs stand in rows of ten, and the curtains are drawn back.",
    "2. Kitchen. The oven is switched off at nine in the evening. Plates go back on the shelf above the sink.",
    "3. Heating. The boiler is set by the committee, and nobody else touches it. Windows stay shut while it runs.",
    "4. Parking. Cars stand behind the hall, bicycles in the rack by the door.",
]
NOTICE = "Winter notice, to be pinned up by the door. The oven may be left on until eleven. Gloves hang in the hall."


def prevailing(*more: str) -> str | None:
    read = [FileParagraph("book", "book.txt", 1, row, text) for row, text in enumerate([*BOOK, *more])]
    corpus = assemble(read, {"book": "0" * 64})
    first, second = (rule for rule in read_rules(corpus) if "oven" in rule.source.text)
    decided = CorpusPrecedence(corpus, minilm()).deciding(first, second)
    return decided[0].source.text if decided else None


@pytest.mark.parametrize(
    ("clause", "winner"),
    [
        ("Should this notice and the handbook tell you different things, please go by the notice.", "eleven"),
        ("In so far as this notice departs from the handbook, it takes the place of what is said there.", "eleven"),
        ("This notice is a reminder only; where it says otherwise than the handbook, the handbook is right.", "nine"),
    ],
)
def test_a_notice_prevails_or_yields_as_it_says(clause: str, winner: str) -> None:
    assert winner in (prevailing(f"{NOTICE} {clause}") or "")


def test_nothing_prevails_where_nothing_ranks() -> None:
    assert prevailing(NOTICE) is None


def test_labels_and_openings_name_paragraphs() -> None:
    paragraphs = ["1. Opening. Doors.", "2. Kitchen. Ovens are off at nine.", "Annex B. Ovens are off at ten."]
    sentences = [(1, "Annex B prevails over paragraph 2."), (2, "Ovens are off at nine."), (3, "Ovens are off at ten.")]
    document = RankedDocument(paragraphs, sentences, minilm())
    assert document.may_rank(0, (1, 2)) is False, "both are named by their labels, which is read by form"
    assert document.may_rank(1, (1, 2)) is False
    assert RankedDocument(paragraphs, [(1, "Go by Annex B."), *sentences[1:]], minilm()).may_rank(0, (1, 2))


def test_weights_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot be read; make it anew with tools/train_policy_precedence\.py"):
        load_precedence(tmp_path / "none.safetensors")
