"""Reading statements of cause and effect from text: what is said, what is denied, and what is not guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from growth import LINEAR, growth
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.graph import load_graph
from ovrag_studies.causal.graphs.causal_terms import NAMESPACE
from ovrag_studies.causal.graphs.linking import CausalClaim, NameLexicon, claim
from ovrag_studies.causal.language.propositions import LONGEST_SENTENCE, Unread, read

PROJECT = Path(__file__).resolve().parents[2]
SAMPLE = "urn:ovrag:causal:sample#"


def said(text: str) -> list[str]:
    """The propositions of a text, each as "cause > relation > effect", denied ones with a "not" before the relation."""
    return [
        f"{p.subject} > {'not ' if p.polarity == 'negative' else ''}{p.relation} > {p.object}"
        for p in read(text).propositions
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A rise in X lowers Y.", ["A rise in X > lowers > Y"]),
        ("price rises causes consumer spending falls", ["price rises > raises > consumer spending falls"]),
        ("Y is driven by X.", ["X > raises > Y"]),
        ("Y falls because of X.", ["X > raises > Y falls"]),
        ("Because X rises, Y falls.", ["X rises > raises > Y falls"]),
        ("When rainfall rises, erosion increases.", ["rainfall rises > raises > erosion increases"]),
        ("X rises, so Y falls.", ["X rises > raises > Y falls"]),
        ("Y results from X.", ["X > raises > Y"]),
        ("Y depends on X.", ["X > affects > Y"]),
        ("X negatively affects Y.", ["X > lowers > Y"]),
        ("The higher the price, the lower the demand.", ["higher the price > raises > lower the demand"]),
        ("It is X that raises Y.", ["X > raises > Y"]),
        ("X -> Y -> Z", ["X > raises > Y", "Y > raises > Z"]),
        ("X lowers A, B and C.", ["X > lowers > A", "X > lowers > B", "X > lowers > C"]),
        ("A rise in X and Z lowers Y.", ["A rise in X > lowers > Y", "A rise in Z > lowers > Y"]),
        ("X raises Y and lowers Z.", ["X > raises > Y", "X > lowers > Z"]),
        ("X raises Y, and Y lowers Z.", ["X > raises > Y", "Y > lowers > Z"]),
        ("X raises Y, which lowers Z.", ["X > raises > Y", "Y > lowers > Z"]),
        ("X raises Y, lowering Z.", ["X > raises > Y", "Y > lowers > Z"]),
        ("X promotes Y by inhibiting Z.", ["X > raises > Y", "X > lowers > Z"]),
        ("X lowers Y. This raises Z.", ["X > lowers > Y", "a fall in Y > raises > Z"]),
        ("X rises. As a result, Y falls.", ["X rises > raises > Y falls"]),
        ("1. X raises Y; 2. Y lowers Z", ["X > raises > Y", "Y > lowers > Z"]),
    ],
)
def test_a_cause_and_its_effect_are_read_in_either_order(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X does not raise Y.", ["X > not raises > Y"]),
        ("X doesn’t cause Y", ["X > not raises > Y"]),
        ("X fails to raise Y.", ["X > not raises > Y"]),
        ("Y is not caused by X but by Z.", ["X > not raises > Y", "Z > raises > Y"]),
        ("X does not raise but lowers Y.", ["X > not raises > Y", "X > lowers > Y"]),
        ("It is not true that X lowers Y.", ["X > not lowers > Y"]),
        ("It is not true that X does not lower Y.", ["X > lowers > Y"]),
        ("X has no effect on Y.", ["X > not affects > Y"]),
        ("X makes no difference at all to Y.", ["X > not affects > Y"]),
        ("Y remains unaffected by X.", ["X > not affects > Y"]),
        ("X is independent of Y.", ["X > not affects > Y", "Y > not affects > X"]),
        ("Neither X nor Z raises Y.", ["X > not raises > Y", "Z > not raises > Y"]),
        ("X, not Z, raises Y.", ["X > raises > Y", "Z > not raises > Y"]),
        ("X raises Y, not Z.", ["X > raises > Y", "X > not raises > Z"]),
        ("X does not only raise Y.", ["X > raises > Y"]),
    ],
)
def test_a_denial_is_kept(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "A rise in global temperature.",
        "the causes of unemployment",
        "Given: growth in fossil fuel combustion.",
    ],
)
def test_nouns_that_look_like_verbs_relate_nothing(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("price cuts boost demand", ["price cuts > raises > demand"]),
        ("higher prices mean lower demand", ["higher prices > raises > lower demand"]),
        ("A tax increase lowers demand.", ["A tax increase > lowers > demand"]),
        ("Money supply strongly raises prices.", ["Money supply > raises > prices"]),
        ("X leads to reduced Y.", ["X > raises > reduced Y"]),
        ("immune response began triggers fever", ["immune response began > raises > fever"]),
        ("response triggered triggers fever", ["response triggered > raises > fever"]),
    ],
)
def test_of_two_words_that_could_be_the_verb_the_right_one_is_taken(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("X may not raise Y.", "need be no effect"),
        ("X lowers Y, which raises Z.", "may be the fall or the thing"),
        ("X raises Y. It lowers Z.", "not clear"),
        ("X raises Y unless Z falls.", "condition"),
        ("If X raises Y, Z falls.", "as a condition"),
        ("X raises or lowers Y.", "two verbs"),
        ("There is no evidence that X raises Y.", "perhaps"),
        ("X raises Y or Z.", "one effect or another"),
        ("X does not directly raise Y.", "need be no effect"),
        ("X has no direct effect on Y.", "need be no effect"),
        ("X and Z together raise Y.", "act together"),
        ("X raises Y and, as a result, Z.", "act together"),
        ("No rise in X raises Y.", "may deny the effect or the thing"),
        ("Higher interest rates put investors off.", "no words that relate"),
        ("X raises Y and lowers Z, which is false.", "said not to be so"),
        ("X raises Y, which lowers Z. That is wrong.", "said not to be so"),
        ("The sky is blue.", "no words that relate"),
    ],
)
def test_what_cannot_be_read_is_reported_with_its_reason(text: str, reason: str) -> None:
    found = [each for each in read(text).statements if isinstance(each, Unread)]
    assert len(found) == 1
    assert reason in found[0].reason
    assert found[0].quote in text


@pytest.mark.parametrize(
    "text",
    [
        "X raises Y, which is false.",
        "X raises Y, but that is simply not true.",
        "X raises Y (which is wrong).",
        "X raises Y. This is a myth.",
        "X raises Y. But that's not the case!",
    ],
)
def test_what_is_said_not_to_be_so_is_denied(text: str) -> None:
    assert said(text) == ["X > not raises > Y"]
    (found,) = read(text).statements
    assert found.quote == text[slice(*found.span)]


def test_what_nothing_was_said_before_takes_nothing_back() -> None:
    assert said("Does X raise Y? That is false.") == []
    assert said("X raises Y. This is false. Z raises Y.") == ["X > not raises > Y", "Z > raises > Y"]
    assert said("X does not raise Y, which is wrong.") == ["X > raises > Y"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X discourages Y.", "X > lowers > Y"),
        ("Y is curtailed by X.", "X > lowers > Y"),
        ("X depleted Y.", "X > lowers > Y"),
        ("X draws down Y.", "X > lowers > Y"),
        ("X keeps Y falling.", "X > raises > Y falling"),
        ("X has no positive effect on Y.", "X > not raises > Y"),
        ("X has no adverse impact on Y.", "X > not lowers > Y"),
        ("X has no measurable effect on Y.", "X > not affects > Y"),
        ("X has zero influence on Y.", "X > not affects > Y"),
        ("More X, less Y.", "more X > raises > less Y"),
    ],
)
def test_more_ways_to_say_it(text: str, expected: str) -> None:
    assert said(text) == [expected]


def test_states_and_questions_state_no_relation() -> None:
    reading = read("Given: a rise in X.\n- A rise in X raises Y.\n\nQuestion: What follows for Y?\nDoes X lower Y?")
    assert [state.mention for state in reading.states] == ["a rise in X"]
    assert len(reading.questions) == 2
    assert len(reading.propositions) == 1
    assert not reading.unread


def test_names_that_look_like_lists_or_verbs_are_not_taken_apart() -> None:
    names = frozenset({"research and development", "rate at which the piston speeds up"})
    text = "Research and development raises output. Force causes rate at which the piston speeds up to rise."
    found = read(text, names).propositions
    assert [(p.subject, p.object) for p in found] == [
        ("Research and development", "output"),
        ("Force", "rate at which the piston speeds up to rise"),
    ]
    assert len(read("Research and development raises output.").propositions) == 2


def test_a_quote_is_the_text_at_its_span() -> None:
    text = "First, X raises Y, and Y lowers Z.\nIt is not true that Z raises W."
    quotes = [p.quote for p in read(text).propositions]
    assert quotes == ["X raises Y", "Y lowers Z", "Z raises W"]
    assert all(text[slice(*p.span)] == p.quote for p in read(text).propositions)


WORDS = (
    "X Y the price raises lowers causes does not which and , . ; because when if of in by to -> is ( ) - no it "
    "this rise falls only but so — é ? \u202e"
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*WORDS.split(" "), "\n"]), max_size=40))
def test_any_text_is_read_without_failing_and_quotes_are_its_own(words: list[str]) -> None:
    text = " ".join(words)
    reading = read(text)
    for item in (*reading.propositions, *reading.states, *reading.questions, *reading.unread):
        assert text[slice(*item.span)] == item.quote
    assert all(p.subject and p.object for p in reading.propositions)
    assert read(text) == reading


HOSTILE = ("x raises y, which ", "does not ever " * 60 + ". ", "a. ", "x and " * 150 + ". ", "(")


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_time_grows_with_the_length_of_hostile_text(piece: str) -> None:
    assert growth(read, lambda size: (piece * size)[:size], 25_000) < LINEAR


def test_too_long_sentences_are_said_to_be_unread() -> None:
    long = "X raises Y and " * LONGEST_SENTENCE
    assert "longer than" in read(long[: LONGEST_SENTENCE + 50]).unread[0].reason


@pytest.mark.parametrize(
    ("name", "recall", "precision"), [("statements_first", 0.8, 0.95), ("statements_unseen", 0.8, 0.95)]
)
def test_sentences_written_afterwards_are_read(name: str, recall: float, precision: float) -> None:
    entries = yaml.safe_load((PROJECT / "tests" / "data" / "causal" / f"{name}.yaml").read_text(encoding="utf-8"))
    lexicon = NameLexicon.of_graph(load_graph(PROJECT / "data" / "samples" / "causal" / "graph.ttl"))
    hit = meant = found = 0
    for entry in entries:
        wanted = {(SAMPLE + s, NAMESPACE + p, SAMPLE + o, denied) for s, p, o, denied in entry["claims"]}
        linked = [claim(each, lexicon) for each in read(entry["text"], lexicon.compounds).propositions]
        claims = {
            (c.subject.value, c.predicate.value, c.object.value, c.denied) for c in linked if isinstance(c, CausalClaim)
        }
        hit, meant, found = hit + len(claims & wanted), meant + len(wanted), found + len(claims)
    assert hit / meant >= recall
    assert hit / found >= precision
