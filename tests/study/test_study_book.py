"""The book of a study: captions as data, tables and figures in its folder, scores as one tidy frame."""

import re
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
from matplotlib.figure import Figure

from ovrag_core.base.errors import ResultError
from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Difference, Estimate, Resampling
from ovrag_core.report.figures import Look, interval_plot
from ovrag_core.study.book import Book, Captions, open_book
from ovrag_core.study.score_frames import bounds, estimates_of, macros, scores, told, wide
from ovrag_studies.abstention.settings import Epistemic

CAPTIONS = Captions.model_validate(
    {
        "model": "none{chat}",
        "n": "{tides} tides",
        "interval": "{confidence}, {samples} resamples",
        "headers": {"m": "metres"},
        "tables": {"tides": {"caption": "Tides of {place}.", "more": "{{datum}}: mean"}},
        "figures": {"tides": {"caption": "Tides.", "arm": "", "n": "one", "interval": ""}},
    }
)
FOUND = {
    "one": {"recall": Estimate(0.5, 0.25, 0.75, 4, "bca"), "right": Estimate(None)},
    "two": {"right": Difference(0.25, None, None, 0.5, 4)},
}


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(
        "tides",
        "tides",
        CAPTIONS,
        Resampling(60),
        5.9,
        {"chat": "; m"},
        tables=tmp_path / "tables",
        figures=tmp_path / "figures",
    )


def test_a_table_has_its_caption_its_note_and_its_headers(book: Book) -> None:
    frame = pandas.DataFrame({"place": ["Brest"], "m": [7.25], "m_low": [7.0], "m_high": [7.5]})
    shown = book.table(frame.drop(columns="place"), "tides", {"place": "{Brest}", "tides": 3}, full=frame)
    assert shown.to_dict("records") == [{"metres": "7.250 [7.000, 7.500]"}]
    text = (book.tables / "tides/samples/tides.tex").read_text(encoding="utf-8")
    assert r"\caption{Tides of \{Brest\}.}" in text and r"\label{tab:tides/tides}" in text
    note = r"Model: none; m. Arm: each. n = 3 tides. Intervals: 95\%, 60 resamples. \{datum\}: mean."
    assert note in text
    assert (book.tables / "tides/samples/tides.csv").read_text(
        encoding="utf-8"
    ) == "place,m,m_low,m_high\nBrest,7.25,7,7.5\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ebbs", "captions.yaml of tides: tables has no ebbs; write its caption there"),
        ("tides", "captions.yaml of tides: tables.tides has the word {tides}, which nobody fills in"),
    ],
)
def test_a_caption_that_is_missing_or_lacks_a_word_is_one_sentence(book: Book, name: str, said: str) -> None:
    with pytest.raises(ResultError, match=re.escape(said)):
        book.table(pandas.DataFrame({"m": [1.0]}), name, {"place": "Brest"})


def test_a_figure_says_what_it_rests_on_in_its_own_words(book: Book) -> None:
    assert book.figure(Figure(figsize=(1, 1)), "tides") == book.figures / "tides/samples/tides.png"
    text = (book.figures / "tides/samples/tides.tex").read_text(encoding="utf-8")
    assert r"\caption[Tides.]{Tides. Model: none; m. Arm: . n = one.}" in text


def test_macros_begin_with_the_name_of_the_study(book: Book) -> None:
    book.table(pandas.DataFrame({"m": [1]}), "tides", {"place": "Brest", "tides": 1})
    text = book.numbers({"at 2 places": "1.5"}, "Tides.").read_text(encoding="utf-8")
    assert "% Tides.\n" in text and r"\newcommand{\TidesAtTwoPlaces}{1.5}" in text


def test_the_book_of_a_study_has_its_captions_and_its_plan() -> None:
    own = {"epistemic": {"experiments": {"bootstrap_samples": 7, "seed": 1}}}
    book = open_book(Settings(studies=own), Epistemic)
    assert (book.name, book.plan, dict(book.words)) == ("epistemic", Resampling(7, seed=1), {"chat": ""})
    model = Settings().llm.model_copy(update={"provider": "replay", "model": "m-1"})
    assert open_book(Settings(llm=model), Epistemic).words["chat"] == "; m-1"
    assert replace(book, kept=3).captions.tables["arms"].caption.endswith("corrected metrics.")


def test_scores_are_a_row_for_each_arm_and_measure() -> None:
    frame = scores(FOUND, 9, "harbours")
    assert frame.astype(object).fillna("").values.tolist() == [
        ["harbours", "one", "recall", 9, 0.5, 0.25, 0.75, "bca"],
        ["harbours", "one", "right", 9, "", "", "", "none"],
        ["harbours", "two", "right", 9, 0.25, "", "", ""],
    ]
    assert estimates_of(frame)["one"] == {
        "recall": Estimate(0.5, 0.25, 0.75, 9, "bca"),
        "right": Estimate(None, clusters=9),
    }


def test_the_wide_form_has_a_row_for_each_arm_and_three_columns_for_each_measure() -> None:
    frame = wide(scores(FOUND, 9, "harbours"), ["right", "recall"], by=("set", "arm"))
    assert list(frame) == ["set", "arm", "right", "right_low", "right_high", "recall", "recall_low", "recall_high"]
    assert frame.astype(object).fillna("").values.tolist() == [
        ["harbours", "one", "", "", "", 0.5, 0.25, 0.75],
        ["harbours", "two", 0.25, "", "", "", "", ""],
    ]
    assert bounds("x", FOUND["one"]["recall"]) == {"x": 0.5, "x_low": 0.25, "x_high": 0.75}


def test_scores_are_told_in_prose() -> None:
    assert [told(each) for measured in FOUND.values() for each in measured.values()] == [
        "0.500 [0.250, 0.750]",
        "n/a",
        "0.250",
    ]
    named = macros(scores(FOUND, 9), lambda arm, measure: f"{arm}: {measure}")
    assert named["one: recall interval"] == "[0.250, 0.750]"
    assert (named["one: right"], named["two: right"], named["two: right interval"]) == ("n/a", "0.250", "n/a")


def test_a_mark_with_its_interval_stands_in_its_row() -> None:
    rows = {"harbour": ["Brest", "Ribe"] * 2, "kind": ["spring"] * 2 + ["neap"] * 2}
    frame = pandas.DataFrame({**rows, "value": [0.7, None, 0.4, 0.2], "low": 0.1, "high": 0.9})
    plain = interval_plot({"a": frame[:2], "b": frame[:2]}, "harbour", 5.9, units={"b": "metres"})
    first, second = plain.axes
    assert [line.get_xydata().tolist() for line in first.lines] == [[[0.7, 0.0]]]
    assert [label.get_text() for label in first.get_yticklabels()] == ["Brest", "Ribe"]
    assert second.get_xlabel() == "metres"
    both = interval_plot({"a": frame}, "harbour", 5.9, series="kind", look=Look(spread=0.4))
    neap = next(line for line in both.axes[0].lines if line.get_label() == "neap")
    assert neap.get_xydata().tolist() == [[0.4, 0.1], [0.2, 1.1]]
    assert [text.get_text() for text in both.legends[0].get_texts()] == ["spring", "neap"]
