"""Reading and writing cards."""

import json
from pathlib import Path

import pytest

from ovrag_core.base.errors import CardError
from ovrag_studies.abstention.cards.card import Card, CardClaim, read_cards, write_cards

LINE = {
    "id": "1",
    "subtype": "E_direct",
    "label": "E",
    "gold": "YES",
    "question": "Does the Alder flow into the Birch?",
    "claim": {"subj": "http://x.org/Alder", "pred": "hasMouth", "obj": "http://x.org/Birch"},
    "why": "asserted",
    "phrasing": "seen",
}


def write(folder: Path, *lines: object) -> Path:
    path = folder / "cards.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def claim(**changes: object) -> dict[str, object]:
    return {**LINE, "claim": {**LINE["claim"], **changes}}


def test_cards_survive_writing_and_reading(tmp_path: Path) -> None:
    cards = (
        Card("1", "E_direct", "YES", 'Is "A" <b> }?', CardClaim("http://x.org/A", "p", "5.0 %"), "w"),
        Card(
            "2",
            "U_ambiguous",
            "UNKNOWN",
            "ü?",
            CardClaim(("http://x.org/A", "http://x.org/B"), "p", "http://x.org/C"),
        ),
        Card("3", "", "NO", "q", CardClaim("http://x.org/A", "p", "http://x.org/C")),
    )
    path = tmp_path / "out.jsonl"
    assert write_cards(cards, path) == 3
    assert read_cards(path) == cards
    assert [each.name for each in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_list_of_one_subject_is_one_subject(tmp_path: Path) -> None:
    both = {**claim(subj=["http://x.org/A", "http://x.org/B"]), "id": "2"}
    one, two = read_cards(write(tmp_path, claim(subj=["http://x.org/A"]), both))
    assert one.claim.subjects == ("http://x.org/A",)
    assert two.claim.subjects == ("http://x.org/A", "http://x.org/B")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], "line 1: this is not JSON"),
        (["[1]"], "line 1: the line cannot be used"),
        ([LINE, LINE], "line 2: the id '1' stands in a line before"),
        ([{**LINE, "gold": "MAYBE"}], "line 1: gold is 'MAYBE'; known are 'YES', 'NO' or 'UNKNOWN'"),
        ([{k: v for k, v in LINE.items() if k != "gold"}], "'gold' is missing"),
        ([{k: v for k, v in LINE.items() if k != "claim"}], "'claim' is missing"),
        ([{**LINE, "claim": {"subj": "a", "pred": "b"}}], "'claim.obj' is missing"),
        ([claim(subj=[])], "claim.subj cannot be used"),
        ([claim(subj=7)], "claim.subj cannot be used"),
        ([{**LINE, "question": ""}], "question cannot be used"),
        ([], "holds no card"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence(tmp_path: Path, lines: list[object], message: str) -> None:
    with pytest.raises(CardError) as told:
        read_cards(write(tmp_path, *lines))
    assert message in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_no_text_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="does not exist"):
        read_cards(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(CardError, match="not UTF-8"):
        read_cards(tmp_path / "latin.jsonl")
    with pytest.raises(CardError, match="cannot be written"):
        write_cards([], tmp_path / "none" / "cards.jsonl")


def test_the_gold_cards_are_read(external_data: Path) -> None:
    path = external_data / "rivers" / "cards_gold.jsonl"
    cards = read_cards(path)
    assert len(cards) == 1168
    assert [sum(card.label == label for card in cards) for label in "ECU"] == [349, 447, 372]
    assert cards[0].claim.subjects == ("http://dbpedia.org/resource/Fall_Kill",)
    assert all(len(card.claim.subjects) > 1 for card in cards if card.subtype == "U_ambiguous")
