"""Blind rating: the pack tells no arm, foreign ratings are refused, and two raters are compared on what both rated."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovrag_core.base.errors import ResultError
from ovrag_core.evaluation.statistics import Resampling
from ovrag_studies.cited.answering.quotations import CitedAnswer, CitedSentence, cite, silent_answer
from ovrag_studies.cited.corpus.policies import FileParagraph, assemble
from ovrag_studies.cited.measuring.rating_widget import RatingPage, answer_html
from ovrag_studies.cited.measuring.ratings import (
    KEY,
    PACK,
    RATINGS,
    Pack,
    PackKey,
    RatedItem,
    Rating,
    add_rating,
    compare_raters,
    make_pack,
    read_pack,
    read_ratings,
    read_report,
    write_pack,
)
from ovrag_studies.cited.records import PolicyRecord, record_of
from ovrag_studies.cited.settings import Arm

PLAN = Resampling(samples=500)
RULE = "Dogs stay on a lead."
(PARAGRAPH,) = assemble([FileParagraph("park", "park.pdf", 1, 0, RULE)], {"park": "a" * 64}).paragraphs
ARMS: tuple[Arm, Arm] = ("b2", "ours")


def given(arm: Arm, number: int) -> PolicyRecord:
    said = CitedSentence(f"Dogs {number} stay on a lead.", (cite(PARAGRAPH, 10, 19),))
    made = CitedAnswer(f"Question {number}?", (said,), (), False, "", 1.0)
    return record_of(arm, made, (), 1.0, query_id=f"q{number}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pack(tmp_path, *make_pack([given(arm, n) for arm in ARMS for n in range(6)], seed=3))
    return tmp_path


def rating(pack: Pack, item: str, rater: str, **changes: object) -> Rating:
    values = {"supported": 1, "claims": 1, "g2": 2, "u1": 4, "u2": 3, **changes}
    return Rating.model_validate({"pack": pack.digest, "item": item, "rater": rater, **values})


def test_the_pack_tells_neither_arm_nor_query_and_is_shuffled(folder: Path) -> None:
    text = (folder / PACK).read_text()
    assert "b2" not in text and "ours" not in text and '"q' not in text.replace('"question', "").replace('"quot', "")
    pack = read_pack(folder)
    key = PackKey.model_validate_json((folder / KEY).read_text())
    arms = [key.arms[item.name] for item in pack.items]
    assert sorted(arms) == ["b2"] * 6 + ["ours"] * 6
    assert arms not in (sorted(arms), sorted(arms, reverse=True))
    with pytest.raises(ResultError, match="not empty"):
        write_pack(folder, pack, key)


def test_the_pack_does_not_depend_on_the_order_of_arms() -> None:
    answers = [given(arm, n) for arm in ARMS for n in range(6)]
    assert make_pack(answers, 3) == make_pack(answers[::-1], 3)
    assert make_pack(answers, 3)[0] != make_pack(answers, 4)[0]


def test_silent_answers_are_left_out_and_a_pack_of_them_refused() -> None:
    silent = record_of("ours", silent_answer("Why?", ""), (), 0.0, query_id="q9")
    assert len(make_pack([silent, given("ours", 1)], 1)[0].items) == 1
    with pytest.raises(ResultError, match="nothing to rate"):
        make_pack([silent], 1)


def test_two_raters_are_compared_on_what_both_rated(folder: Path) -> None:
    pack = read_pack(folder)
    names = [item.name for item in pack.items]
    for number, name in enumerate(names):
        add_rating(folder, rating(pack, name, "Ann", u1=1 + number % 5))
        if number < 10:
            apart = {"supported": 0} if number == 0 else {}
            add_rating(folder, rating(pack, name, "Ben", u1=1 + number % 5, **apart))
    report = read_report(folder, PLAN)
    assert report is not None
    assert report.agreement["U1"].items == 10
    assert report.agreement["U1"].kappa.value == 1.0
    # One G0 of ten differs, and Ann says no throughout: chance agrees as often as the two do.
    assert report.agreement["G0"].kappa.value == pytest.approx(0.0)
    assert report.agreement["G0"].pabak.value == pytest.approx(0.8)
    assert list(report.means.index) == ["b2", "ours"]
    assert report.means["G2"].tolist() == [2.0, 2.0]


def test_the_last_rating_of_an_answer_counts(folder: Path) -> None:
    pack = read_pack(folder)
    for clarity in (1, 5):
        add_rating(folder, rating(pack, "a001", "Ann", u1=clarity))
    assert read_ratings(folder, pack)["Ann"]["a001"].u1 == 5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"u1":4', '"u1":6', "line 1: u1 "),
        ('"supported":1', '"supported":2', "more claims are supported"),
        ('"item":"a001"', '"item":"b001"', "another pack"),
        ('{"pack"', '["pack"', "line 1"),
    ],
)
def test_a_rating_that_cannot_be_is_refused_with_its_line(folder: Path, old: str, new: str, said: str) -> None:
    pack = read_pack(folder)
    add_rating(folder, rating(pack, "a001", "Ann"))
    path = folder / RATINGS
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ResultError, match=said):
        read_ratings(folder, pack)


def test_ratings_and_keys_of_another_pack_are_refused(folder: Path) -> None:
    for rater in ("Ann", "Ben"):
        add_rating(folder, rating(read_pack(folder), "a001", rater))
    pack, _ = make_pack([given("ours", 1)], 1)
    with pytest.raises(ResultError, match="another pack"):
        read_ratings(folder, pack)
    (folder / KEY).write_text('{"arms": {}}')
    with pytest.raises(ResultError, match="key of another pack"):
        read_report(folder, PLAN)
    (folder / KEY).write_text("[]")
    with pytest.raises(ResultError, match=r"key\.json: "):
        read_report(folder, PLAN)


def test_no_answer_in_common_is_said(folder: Path) -> None:
    pack = read_pack(folder)
    one, other = rating(pack, "a001", "Ann"), rating(pack, "a002", "Ben")
    with pytest.raises(ResultError, match="no answer in common"):
        compare_raters({"a001": one}, {"a002": other}, {}, PLAN)


def test_the_page_keeps_what_is_rated_and_goes_on_where_the_rater_stopped(folder: Path) -> None:
    page = RatingPage(folder)
    page.start()
    assert "Give your name" in page.status.value
    page.rater.value = "Ann"
    page.start()
    page.keep()
    assert "every scale" in page.status.value
    page.counts["supported"].value = 1
    for name, value in (("g2", 2), ("u1", 4), ("u2", 5)):
        page.scales[name].value = value
    page.keep()
    assert "Answer 2 of 12" in page.status.value and page.scales["u1"].value is None
    [kept] = read_ratings(folder, page.pack)["Ann"].values()
    assert (kept.supported, kept.u1, kept.u2, kept.item) == (1, 4, 5, page.pack.items[0].name)
    again = RatingPage(folder)
    again.rater.value = "Ann"
    again.start()
    assert "Answer 2 of 12" in again.status.value
    again.show(12)
    assert "All 12 answers are rated" in again.status.value and again.save.disabled


def test_what_is_shown_is_escaped() -> None:
    attack = "<script>owned()</script>"
    (paragraph,) = assemble([FileParagraph(attack, "p", 1, 0, attack)], {attack: ""}).paragraphs
    said = CitedSentence(attack, (cite(paragraph, 0, len(attack)),))
    shown = answer_html(RatedItem(name="a", question=attack, sentences=(said,)))
    assert "<script>" not in shown and shown.count("&lt;script&gt;") == 4


def test_a_folder_without_a_pack_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="make a rating pack first"):
        RatingPage(tmp_path)
