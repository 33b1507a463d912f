"""Rules over names, read as a grammar and solved: what follows, what stays open, and what cannot be read."""

import json
import re
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.base.errors import CausalError, QuestionError, UnreadError
from ovrag_core.evaluation.statistics import Resampling
from ovrag_studies.causal.models.boolean_models import (
    CausalRule,
    Junction,
    Literal,
    counterfactual,
    evaluate,
    models,
    negate,
)
from ovrag_studies.causal.questions.counterbench import answer, is_contested, parse
from ovrag_studies.causal.questions.question_study import ask, figures, read_known, statuses


def solved(context, query):
    found = answer(context, query)
    return found.answer, found.status


def rules_of(context):
    return [f"{rule.condition} -> {rule.effect}" for rule in parse(context, "Would Mo occur if Mo?").readings[0].rules]


@pytest.mark.parametrize(
    ("context", "rules"),
    [
        ("We know that Zup causes not Mo, and Mo causes Ka.", ["Zup -> not Mo", "Mo -> Ka"]),
        ("We know that Zup and Mo together cause Ka", ["Zup and Mo -> Ka"]),
        ("Zup and Mo causes Ka.", ["Zup and Mo -> Ka"]),
        ("Zup or not Mo together cause Ka.", ["Zup or not Mo -> Ka"]),
        ("Zup, Ru and Mo cause Ka.", ["Zup and Ru and Mo -> Ka"]),
        ("Zup causes Mo, Ru and Ka, Ka causes Bo.", ["Zup -> Mo", "Zup -> Ru", "Zup -> Ka", "Ka -> Bo"]),
        ("Zup causes Mo, Ru and Ka cause Bo.", ["Zup -> Mo", "Ru and Ka -> Bo"]),
        ("Zup causes Mo, Ru, and Ka together cause Bo.", ["Zup -> Mo", "Ru and Ka -> Bo"]),
        ("Zup causes Mo, Ru, Mo and Ru cause Ka.", ["Zup -> Mo", "Zup -> Ru", "Mo and Ru -> Ka"]),
        ("Zup causes Mo and Mo causes Ka and not Ru", ["Zup -> Mo", "Mo -> Ka", "Mo -> not Ru"]),
        ("Zup causes the absence of Mo. Mo prevents Ka", ["Zup -> not Mo", "Mo -> not Ka"]),
        ("Zup causes Mo Mo causes Ka. Ka or Ru causes Bo We observed Ru", ["Zup -> Mo", "Mo -> Ka", "Ka or Ru -> Bo"]),
        ("mo causes Ka, MO causes Ru", ["mo -> Ka", "mo -> Ru"]),
    ],
)
def test_rules_are_read_whatever_joins_them(context, rules):
    assert rules_of(context) == rules


def test_every_rule_quotes_its_clause():
    context = "We know that Zup causes not Mo, Mo and Ka together cause Ru. We observed Ka"
    problem = parse(context, "Would Ru occur if not Zup?")
    rules = problem.readings[0].rules
    assert [rule.quote for rule in rules] == ["Zup causes not Mo", "Mo and Ka together cause Ru"]
    assert all(context[slice(*rule.span)] == rule.quote for rule in rules)
    assert problem.readings[0].observed == (Literal("Ka"),)


@pytest.mark.parametrize(
    "query",
    [
        "Would Ka occur if not Zup instead of Zup?",
        "If not Zup instead of Zup, would Ka occur?",
        "Would Ka have occurred if Zup had not occurred?",
        "Had Zup not occurred, would Ka have happened?",
        "Suppose not Zup. Would Ka occur?",
        "Assume the absence of Zup; in that case would Ka be present?",
    ],
)
def test_the_same_question_in_other_words(query):
    assert solved("Zup causes not Mo, Mo causes Ka.", query) == ("yes", "determined")
    assert solved("Zup causes not Mo, Mo causes Ka.", query.replace("Ka ", "Ka not ", 1))[0] != "yes"


def test_a_condition_with_or_among_effects_is_not_read():
    assert solved("Zup causes Mo or Ka, Ka causes Bo.", "Would Bo occur if Zup?") == (None, "unread")


@pytest.mark.parametrize(
    ("context", "query", "said"),
    [
        ("Zup does not cause Mo.", "Would Mo occur if Zup?", "denies a cause"),
        ("Zup never causes Mo.", "Would Mo occur if Zup?", "denies a cause"),
        ("Zup may cause Mo.", "Would Mo occur if Zup?", "without exception"),
        ("Zup strongly causes Mo.", "Would Mo occur if Zup?", '"Zup strongly"'),
        ("Zup causes Mo. Hello there.", "Would Mo occur if Zup?", '"Hello there"'),
        ("Zup causes Mo.", "Would Moo occur if Zup?", '"Moo"'),
        ("Zup causes Mo. We observed Zop.", "Would Mo occur if Zup?", '"Zop"'),
        ("Zup causes Mo.", "Would Mo occur?", "no action"),
        ("Zup causes Mo.", "Would Mo occur if Zup or Mo?", "leaves open what is done"),
        ("Zup causes Mo.", "Would Mo occur if Zup and not Zup?", "to occur and not to occur"),
        ("Zup causes Mo.", "Why would Mo occur?", "not read as a question"),
        ("Zup causes Mo.", "", "asks nothing"),
        ("", "Would Mo occur if Zup?", "no rule"),
        ('Z"} # DROP ALL causes Mo.', "Would Mo occur if Zup?", "DROP ALL"),
        ("Zup and (Mo cause Ka.", "Would Mo occur if Zup?", '"(Mo"'),
    ],
)
def test_what_cannot_be_read_is_said_and_never_guessed(context, query, said):
    found = answer(context, query)
    assert (found.answer, found.status) == (None, "unread")
    assert said in found.remarks[0]
    with pytest.raises(UnreadError, match=re.escape(said)):
        parse(context, query)


@pytest.mark.parametrize("seen", ["We observed Mo and not Mo.", "We observed Mo. We observed not Mo."])
def test_observations_that_contradict_each_other_are_refused(seen: str):
    found = answer(f"Zup causes Mo, Mo causes Ka. {seen}", "Would Ka occur if not Zup?")
    assert (found.answer, found.status) == (None, "unread")
    assert "Mo is observed to occur and not to occur" in found.remarks[0]


def test_what_was_observed_tells_of_hidden_roots():
    context = "Zup and Ru together cause Mo, Ru causes Ka."
    assert solved(context, "Would Ka occur if not Zup instead of Zup?") == ("no", "assumed")
    assert solved(context + " We observed Mo", "Would Ka occur if not Zup instead of Zup?") == ("yes", "determined")
    assert solved(context + " We observed not Mo", "Would Ka occur if not Zup instead of Zup?") == ("no", "determined")


def test_an_observation_of_an_effect_does_not_outlive_the_action():
    context = "Zup causes Mo, Mo causes Ka. We observed Mo."
    assert solved(context, "Would Ka occur if not Zup instead of Zup?") == ("no", "determined")


def test_an_observation_that_the_rules_rule_out_is_named_and_that_of_roots_kept():
    found = answer("Zup causes Mo, Mo or Ru causes Ka. We observed not Mo and Ru.", "Would Ka occur if Zup and not Mo?")
    assert found.answer == "yes"
    found = answer("Zup causes Mo, Mo causes Ka. We observed Mo and not Ka.", "Would Ka occur if not Zup?")
    assert found.answer == "no"
    assert "rule out what was observed" in found.remarks[0]


def test_a_cycle_is_solved_only_where_the_action_leaves_one_solution():
    one = answer("Zup causes Mo, Mo and Ru cause Ka, Ka causes Ru.", "Would Ka occur if not Zup?")
    assert (one.answer, one.status) == ("no", "cyclic")
    told = "; ".join(one.remarks)
    assert "Ka → Ru → Ka" in told or "Ru → Ka → Ru" in told
    two = answer("Zup causes Mo, Mo or Ru causes Ka, Ka causes Ru.", "Would Ka occur if not Zup?")
    assert (two.answer, two.status) == (None, "cyclic")
    none = answer("Zup causes Mo, Mo or Ru causes Ka, Ka causes not Ru.", "Would Ka occur if not Zup?")
    assert (none.answer, none.remarks[0]) == (None, "the rules leave no solution under the action")
    cut = answer("Zup causes Mo, Mo causes Ka, Ka causes Zup.", "Would Ka occur if not Zup?")
    assert (cut.answer, cut.status) == ("no", "determined")
    assert "does not matter" in cut.remarks[0]


def test_rules_that_cause_and_prevent_the_same_are_answered_only_where_they_agree():
    context = "Zup causes Mo, Ru causes not Mo."
    assert solved(context, "Would Mo occur if Zup and not Ru?") == ("yes", "determined")
    assert solved(context, "Would Mo occur if Zup and Ru?") == (None, "ambiguous")


def test_a_mixed_condition_is_answered_where_both_groupings_agree():
    context = "Zup and Mo or Ru cause Ka."
    assert solved(context, "Would Ka occur if Zup and Mo and Ru?") == ("yes", "determined")
    assert solved(context, "Would Ka occur if not Zup, not Mo and Ru?") == (None, "ambiguous")


def test_a_contested_label_comes_with_its_derivation():
    found = answer("Zup causes not Mo, Mo causes Ka.", "Would Ka occur if not Zup?")
    assert is_contested(found, "no") and not is_contested(found, "yes")
    assert list(found.steps) == [
        "Zup does not occur: by the action",
        'Mo occurs: Mo := not Zup ("Zup causes not Mo")',
        'Ka occurs: Ka := Mo ("Mo causes Ka")',
    ]
    assert found.answer == "yes"
    assert not is_contested(answer("Zup causes Mo", "Would Ka occur if Zup?"), "no")


NAMES = ["Ado", "Bem", "Cil", "Dof", "Ery", "Fon"]


@st.composite
def chains_of_rules(draw):
    """Acyclic rules over NAMES as (effect place, joint, [(cause place, holds)], effect holds)."""
    made = []
    for place in range(1, len(NAMES)):
        causes = draw(st.lists(st.integers(0, place - 1), min_size=1, max_size=3, unique=True))
        signs = [draw(st.booleans()) for _ in causes]
        made.append(
            (place, draw(st.sampled_from(["and", "or"])), list(zip(causes, signs, strict=True)), draw(st.booleans()))
        )
    return made


@settings(max_examples=60, deadline=None)
@given(rules=chains_of_rules(), done=st.booleans(), comma=st.sampled_from([", ", ". ", ", and "]))
def test_written_rules_give_what_direct_evaluation_gives(rules, done, comma):
    def said(name, holds):
        return name if holds else f"not {name}"

    clauses, world = [], {0: done}
    for place, joint, causes, holds in rules:
        verb = "together cause" if len(causes) > 1 and joint == "and" else "causes"
        subject = f" {joint} ".join(said(NAMES[cause], sign) for cause, sign in causes)
        clauses.append(f"{subject} {verb} {said(NAMES[place], holds)}")
        values = [world[cause] == sign for cause, sign in causes]
        world[place] = (all(values) if joint == "and" else any(values)) == holds
    query = f"Would {NAMES[-1]} occur if {said(NAMES[0], done)} instead of {said(NAMES[0], not done)}?"
    expected = "yes" if world[len(NAMES) - 1] else "no"
    assert solved("We know that " + comma.join(clauses), query) == (expected, "determined")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_answered_or_refused(context, query):
    assert answer(context, query).status in {"determined", "assumed", "cyclic", "open", "ambiguous", "unread"}


@pytest.mark.parametrize(
    "context",
    [
        "Zup causes" + " " * 15_000 + "Mo.",
        "Zup and " + "(" * 3000 + "Ru" + ")" * 3000 + " cause Mo",
        " and ".join(f"A{place} causes B{place} and C{place}" for place in range(500)) + ". Zup causes Mo",
        "Zup causes Mo" + " and " * 3000,
        ", ".join(f"N{place} causes N{place + 1}" for place in range(200)) + ", Zup causes Mo",
        ", ".join(f"N{place} causes M{place}, M{place} causes N{place}" for place in range(25))
        + ", Ka causes not Ru, Ru causes Ka, Ru and "
        + " and ".join(f"M{place}" for place in range(25))
        + " cause Mo, Zup causes not Ka",
    ],
)
def test_texts_made_to_be_slow_are_answered_or_refused_soon(context):
    began = time.process_time()
    assert answer(context, "Would Mo occur if Zup?").status in {"determined", "unread", "open"}
    assert time.process_time() - began < 2


def test_formulas():
    formula = Junction(True, (Literal("a"), Junction(False, (Literal("b", False), Literal("c")))))
    a, b, c = np.array(list(product((False, True), repeat=3))).T
    worlds = {"a": a, "b": b, "c": c}
    assert (evaluate(formula, worlds) == (a & (~b | c))).all()
    assert (evaluate(negate(formula), worlds) != evaluate(formula, worlds)).all()


def test_too_many_unknown_roots_leave_a_question_open():
    names = [f"r{number}" for number in range(40)]
    rules = [CausalRule(Junction(True, tuple(map(Literal, names))), Literal("y"))]
    with pytest.raises(CausalError, match="roots of which nothing is said"):
        counterfactual(models(rules)[0], {}, Literal("y"))


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_sample_questions(project):
    lines = read(project / "data/samples/causal/questions.jsonl")
    assert [lines[place]["id"] for place in (0, 26, 53)] == ["1", "27", "54"]
    for line in lines:
        found = answer(line["context"], line["query"])
        contested = line["answer"] is not None and is_contested(found, line["answer"])
        assert (found.status, contested) == (line["status"], line["contested"]), line["id"]
        assert contested or found.answer == line["answer"], line["id"]


REPHRASED = {
    "lower case": lambda context, query: (context.lower(), query.lower()),
    "no full stops": lambda context, query: (context.rstrip("."), query.rstrip("?")),
    "other verb": lambda context, query: (context.replace(" causes ", " leads to "), query),
    "absence": lambda context, query: (context.replace(" not ", " the absence of "), query),
    "spaces": lambda context, query: (context.replace(",", " ,"), query.replace(" ", "\n")),
    "semicolon": lambda context, query: (context.replace(". We observed", "; and we have observed"), query),
    "if first": lambda context, query: (
        context,
        re.sub(r"Would (\w+) occur if (.*)\?", r"If \2, would \1 occur?", query),
    ),
    "perfect": lambda context, query: (context, query.replace(" occur", " have occurred")),
    "it is known": lambda context, query: (context.replace("We know that", "It is known that"), query),
}


@pytest.mark.parametrize("how", REPHRASED)
def test_the_sample_questions_in_other_words(project, how):
    for line in read(project / "data/samples/causal/questions.jsonl"):
        found = answer(*REPHRASED[how](line["context"], line["query"]))
        assert (found.answer, found.status) == solved(line["context"], line["query"]), line["id"]


def test_scores_count_the_unread_as_not_right(tmp_path):
    lines = [
        ("1", "a", "Zup causes Mo.", "Would Mo occur if Zup?", "yes", ""),
        ("2", "a", "Zup causes Mo.", "Would Mo occur if not Zup?", "yes", "the printed rules give no"),
        ("3", "b", "Zup might cause Mo.", "Would Mo occur if Zup?", "yes", ""),
        ("4", "c", "Zup causes Mo, Mo and Ru cause Ka, Ka causes Ru.", "Would Ka occur if not Zup?", "no", "a cycle"),
    ]
    names = ("id", "template", "context", "query", "answer", "note")
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(dict(zip(names, line, strict=True))) + "\n" for line in lines), encoding="utf-8")
    listed = tmp_path / "questions_contested.jsonl"
    notes = [{"id": line[0], "note": line[5]} for line in lines if line[5]]
    listed.write_text("".join(json.dumps(note) + "\n" for note in notes), encoding="utf-8")
    assert read_known(listed) == {"2": "contested", "4": "cyclic"}
    asked = ask(path, "rules")
    assert {status: len(of) for status, of in statuses(asked).items()} == {"determined": 2, "unread": 1, "cyclic": 1}
    found = {each["name"]: (each["hits"], each["of"]) for each in figures(asked, Resampling(200))}
    assert found["labels as given"] == (2, 4)
    assert found["answered"] == (3, 4)
    assert found["label and rules agree"] == (2, 3)
    assert found["– of these, the rules form a cycle"] == (1, 1)
    assert found["contested labels found"] == found["contested of those found"] == (1, 1)
    assert read_known(path) is not None
    with pytest.raises(QuestionError, match="no list of contested"):
        read_known(tmp_path / "missing.jsonl")


def test_the_development_half_of_counterbench(external_data):
    folder = external_data / "causal" / "dev"
    if not folder.is_dir():
        pytest.skip("no CounterBench")
    lines = read(folder / "counterbench.jsonl")
    contested = {line["id"] for line in read(folder / "counterbench_contested.jsonl")}
    found = {line["id"]: answer(line["context"], line["query"]) for line in lines}
    assert len(found) == 500
    assert {line["id"] for line in lines if is_contested(found[line["id"]], line["answer"])} == contested
    assert all(found[line["id"]].answer == line["answer"] for line in lines if line["id"] not in contested)


@pytest.mark.parametrize(
    ("context", "query", "expected"),
    [
        ("Blaf caused Trune, and Trune led to Ziklo.", "Would Ziklo occur if not Blaf?", "no"),
        ("Blaf prevented Trune.", "Would Trune occur if Blaf?", "no"),
        ("Neither Blaf nor Plun causes Trune.", "Would Trune occur if Blaf?", None),
        ("Trune is caused by Blaf.", "Would Trune occur if Blaf?", None),
        ("Trune caused by Blaf causes Ziklo.", "Would Ziklo occur if Blaf?", None),
        ("Either Blaf or Trune but not both causes Ziklo.", "Would Ziklo occur if Blaf?", None),
        ("Blaf and (Plun or Trune) cause Ziklo.", "Would Ziklo occur if Blaf?", None),
        ("Blaf and Trune each cause Ziklo.", "Would Ziklo occur if Blaf?", None),
        ("If Blaf, then Ziklo.", "Would Ziklo occur if Blaf?", None),
        ("Blaf makes Trune.", "Would Trune occur if Blaf?", None),
        ("Blaf did not cause Trune.", "Would Trune occur if Blaf?", None),
        ("Trune is not caused by Blaf.", "Would Trune occur if Blaf?", None),
    ],
)
def test_rules_in_other_words_are_read_or_refused(context: str, query: str, expected: str | None) -> None:
    assert answer(context, query).answer == expected
