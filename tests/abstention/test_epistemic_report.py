"""The page of a run: self-contained, whatever labels, questions and models say."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from epistemic_rivers import card, graph, iri, rivers
from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base.errors import CardError
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.graph import LABEL, EmbeddedStore
from ovrag_studies.abstention.arms.model_replies import Answer
from ovrag_studies.abstention.cards_page import curves, report_page, write_report
from ovrag_studies.abstention.parsing.name_index import names_of
from ovrag_studies.abstention.records import Record

DOMAIN = rivers()
PLAN = Resampling(50)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "a\u202eb\x00\x1b[2Jc",
    "' onmouseover='alert(1)",
)


class Tags(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def record(id_: str, gold: str, answer: Answer, arm: str = "licence", **more: object) -> Record:
    values = {"subtype": "E_direct", "phrasing": "seen", "cluster": id_, "confidence": 0.5, **more}
    return Record.model_validate({"id": id_, "arm": arm, "gold": gold, "answer": answer, **values})


def page(tmp_path: Path, cards: list, records: list[Record], title: str = "Abstention") -> str:
    store = graph(tmp_path)
    labelled = EmbeddedStore([*store.triples(), Triple(NamedNode(iri("Odd")), LABEL, Literal(HOSTILE[1]))])
    return report_page(title, cards, records, DOMAIN, names_of(labelled, DOMAIN), PLAN)


def test_each_card_stands_there_with_its_proof_in_words(tmp_path: Path) -> None:
    fact = f"<{iri('Main')}> <http://example.org/rivers#hasMouth> <{iri('Rhine')}> ."
    cards = [card("Main", "Rhine", "YES", id_="one"), card("Main", "Elbe", "NO", id_="two")]
    records = [
        record("one", "YES", Answer.YES, evidence=[fact]),
        record("two", "NO", Answer.UNKNOWN, detail="breaks nothing"),
        record("one", "YES", Answer.YES, "RAG", evidence=["Main flows into Rhine, they say."]),
        record("two", "NO", Answer.FAILED, "RAG"),
    ]
    text = Tags(page(tmp_path, cards, records)).text
    assert "Main flows into Rhine" + fact in text
    assert "Main flows into Rhine, they say." in text
    assert "breaks nothing" in text and "2 cards, 2 systems" in text
    assert re.search(r"no answer\s+entailed\s*1\s*0\s*0\s*0\s+contradicted\s*0\s*0\s*1\s*0", text)


def test_hostile_text_stays_text_and_nothing_is_loaded(tmp_path: Path) -> None:
    odd = f"<{iri('Odd')}> <http://example.org/rivers#hasMouth> <{iri('Rhine')}> ."
    cards = [
        card("Main", "Rhine", "YES", question, id_=f"{number} {question}") for number, question in enumerate(HOSTILE)
    ]
    records = [
        record(
            each.id, "YES", Answer.YES, arm, subtype=each.question, detail=each.question, evidence=[odd, each.question]
        )
        for arm in HOSTILE[:2]
        for each in cards
    ]
    made = page(tmp_path, cards, records, HOSTILE[2])
    read = Tags(made)
    known = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "table", "tr", "th", "td", "svg"}
    known |= {"line", "text", "polyline", "circle", "details", "summary", "strong", "small", "ul", "li", "code", "br"}
    assert read.tags <= known
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("src", "href")]
    assert "49" not in re.findall(r"\{\{.*?\}\}|49", made) and "{{ 7 * 7 }}{% raw %}" in read.text
    assert not set(made) & set("\x00\x1b\u202e")
    assert "url(" not in made and "http-equiv" not in made and "@import" not in made
    assert HOSTILE[0] in read.text and HOSTILE[1] + " flows into Rhine" in read.text


def test_the_page_is_the_same_each_time_and_written_whole(tmp_path: Path) -> None:
    cards = [card("Main", "Rhine", "YES", id_="one")]
    records = [record("one", "YES", Answer.YES)]
    made = page(tmp_path, cards, records)
    assert made == page(tmp_path, cards, records)
    write_report(made, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == made
    with pytest.raises(CardError, match="cannot be written"):
        write_report(made, tmp_path / "page.html" / "x.html")


def test_answers_to_no_card_and_a_run_without_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="an answer to two, which is no card"):
        page(tmp_path, [card("Main", "Rhine", "YES", id_="one")], [record("two", "YES", Answer.YES)])
    with pytest.raises(CardError, match="holds no answer"):
        page(tmp_path, [], [])


def test_a_curve_ends_where_the_system_stops_answering() -> None:
    answers = [Answer.YES, Answer.NO, Answer.UNKNOWN, Answer.UNKNOWN]
    outcomes = [record(str(number), "YES", answer).outcome() for number, answer in enumerate(answers)]
    silent = [record(str(number), "YES", Answer.UNKNOWN).outcome() for number in range(4)]
    drawn = {each.arm: each for each in curves({"half": outcomes, "none": silent})}
    assert drawn["half"].end == (320.0, 160.0), "half of the cards, half of them wrong"
    assert len(drawn["half"].points.split()) == 2 and len(drawn["half"].beyond.split()) == 3
    assert drawn["none"].end is None and drawn["none"].points == ""
