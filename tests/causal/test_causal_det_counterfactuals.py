"""Rules in words: phrases matched to variables by graph and words, signs by negation, prefix and scale."""

import json
from collections import defaultdict
from itertools import product

import pytest

from ovrag_core.base.errors import UnreadError
from ovrag_studies.causal.questions.cladder_text import parse
from ovrag_studies.causal.questions.det_counterfactuals import solve
from ovrag_studies.causal.questions.phrases import compare

WORLD = "Imagine a self-contained, hypothetical world with only the following conditions: "
CHAIN = WORLD + "Fertiliser use has a direct effect on algae. Algae has a direct effect on fish stock."
MEDIATION = WORLD + "The valve has a direct effect on pressure and boiler. Pressure has a direct effect on boiler."
CONFOUNDED = WORLD + "Season has a direct effect on pruning and harvest. Pruning has a direct effect on harvest."
SEASONS = "We know that wet season causes pruning. wet season and pruning causes high harvest. "


def value(background, rules, question):
    return solve(parse(background, rules, question)).answer == "yes"


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("the fish are dead", "the fish survive", -1),
        ("the king's death", "the king is dead", 1),
        ("low harvest", "harvest is high", -1),
        ("harvest is low", "a low harvest", 1),
        ("unripe fruit", "the fruit is ripe", -1),
        ("nonsmoker", "smoker", -1),
        ("absence of algae", "algae", -1),
        ("the ship doesn't sink", "the ship sinks", -1),
        ("no lack of water", "water", 1),
        ("low survival", "high mortality", 1),
        ("the guest is refused", "the guest gets accepted", -1),
        ("the cow recovers from fever", "fever", -1),
        ("sugar-free tea", "sugar in the tea", -1),
        ("the hut doesn't burn down", "the hut on fire", -1),
        ("the driver has an accident", "having a car accident", 1),
        ("the boy goes to the fair", "going to the fair", 1),
        ("taking the elevator", "the man takes the stairs", None),
        ("the dog has blue eyes", "brown eyes", None),
        ("the crimson boat", "the boat with sails", None),
        ("wax", "thunder", None),
    ],
)
def test_same_or_opposite(one, other, sign):
    assert compare(one, other).sign == sign
    assert compare(other, one).sign == sign


def test_an_effect_in_other_words_than_the_cause_is_its_opposite():
    rules = "We know that heavy fertiliser use causes algae, and we know that absence of algae causes rich fish stock."
    ask = "Would the fish stock is {} if {} instead of {}?"
    much, little = "heavy fertiliser use", "light fertiliser use"
    assert value(CHAIN, rules, ask.format("rich", much, little)) is False
    assert value(CHAIN, rules, ask.format("rich", little, much)) is True
    assert value(CHAIN, rules, ask.format("poor", much, little)) is True


@pytest.mark.parametrize("joint", ["and", "or"])
@pytest.mark.parametrize("low", [True, False])
@pytest.mark.parametrize("done", ["open valve", "closed valve"])
def test_all_worlds_of_a_mediation(joint, low, done):
    pressure = "low pressure" if low else "high pressure"
    rules = f"We know that open valve causes {pressure}. open valve {joint} high pressure causes cold boiler."
    other = {"open valve": "closed valve", "closed valve": "open valve"}[done]
    valve = done == "open valve"
    high = valve != low
    cold = (valve and high) if joint == "and" else (valve or high)
    assert value(MEDIATION, rules, f"Would the boiler is cold if {done} instead of {other}?") is cold
    assert value(MEDIATION, rules, f"Would the boiler is hot if {done} instead of {other}?") is not cold


def test_an_observation_in_other_words_settles_a_root():
    rules = SEASONS + "We observed the season is {}."
    asked = "Would the harvest is high if pruning instead of no pruning?"
    assert value(CONFOUNDED, rules.format("wet"), asked) is True
    assert value(CONFOUNDED, rules.format("dry"), asked) is False


def test_an_observation_that_cannot_be_read_matters_only_where_the_answer_hangs_on_it():
    rules = SEASONS + "We observed the season is odd."
    assert value(CONFOUNDED, rules, "Would the harvest is high if no pruning instead of pruning?") is False
    with pytest.raises(UnreadError, match="different answers"):
        value(CONFOUNDED, rules, "Would the harvest is high if pruning instead of no pruning?")


# By variable: its name, the phrases of both states, and sentences for both. The parents are given by name.
STORIES = {
    "fork": (
        {"swarm": ["keeper"], "bloom": ["keeper"], "honey": ["swarm", "bloom"]},
        {
            "keeper": ("experienced keeper", "inexperienced keeper", "the keeper is experienced", "he is a novice"),
            "swarm": ("large swarm", "small swarm", "the swarm is large", "the swarm is small"),
            "bloom": ("early bloom", "late bloom", "bloom is early", "bloom is late"),
            "honey": ("plenty of honey", "shortage of honey", "there is plenty of honey", "honey is scarce"),
        },
    ),
    "confounding": (
        {"lantern": ["storm"], "landing": ["storm", "lantern"]},
        {
            "storm": ("stormy night", "calm night", "the night is stormy", "the night is calm"),
            "lantern": ("lantern lit", "lantern unlit", "the lantern is lit", "the lantern is unlit"),
            "landing": ("safe landing", "unsafe landing", "the landing is safe", "the landing is not safe"),
        },
    ),
    "collision": (
        {"lock": ["key", "oil"], "gate": ["lock"]},
        {
            "key": ("having the key", "lacking the key", "the guard has the key", "the guard does not have the key"),
            "oil": ("oil applied", "no oil applied", "oil was applied", "no oil was applied"),
            "lock": ("open lock", "closed lock", "the lock is open", "the lock is closed"),
            "gate": ("gate raised", "gate lowered", "the gate is up", "the gate is down"),
        },
    ),
}


def told(parents, story, signs, joint, seen):
    """The background and the rules of a story, with what was observed."""
    children = {name: [child for child, above in parents.items() if name in above] for name in story}
    edges = [f"{name} has a direct effect on {' and '.join(below)}." for name, below in children.items() if below]
    background = " ".join(edge.capitalize() for edge in edges)
    rules = ". ".join(
        f"{f' {joint} '.join(story[name][0] for name in above)} causes {story[child][0 if sign else 1]}"
        for (child, above), sign in zip(parents.items(), signs, strict=True)
    )
    observed = " and ".join(story[name][2 if value else 3] for name, value in seen.items())
    return WORLD + background, f"We know that {rules}." + (f" We observed {observed}." if observed else "")


@pytest.mark.parametrize(("name", "acted"), [("fork", "keeper"), ("confounding", "lantern"), ("collision", "key")])
def test_stories_of_our_own_in_every_world(name, acted):
    parents, story = STORIES[name]
    asked = list(story)[-1]
    roots = [each for each in story if each not in parents and each != acted]
    answered = 0
    for signs in product([True, False], repeat=len(parents)):
        for joint, values, done, holds in product(
            ["and", "or"], product([True, False], repeat=len(roots)), [True, False], [True, False]
        ):
            seen = dict(zip(roots, values, strict=True))
            background, rules = told(parents, story, signs, joint, seen)
            world = {**seen, acted: done}
            for (child, above), sign in zip(parents.items(), signs, strict=True):
                if child != acted:
                    causes = [world[each] for each in above]
                    world[child] = (all(causes) if joint == "and" else any(causes)) == sign
            states = story[acted] if done else story[acted][1::-1]
            question = f"Would {story[asked][2 if holds else 3]} if {states[0]} instead of {states[1]}?"
            assert value(background, rules, question) is (world[asked] == holds), (rules, question)
            answered += 1
    assert answered == 2 ** (len(parents) + 3 + len(roots))


def test_a_phrase_may_hold_or():
    background = WORLD + "Tide has a direct effect on ferry. Ferry has a direct effect on trade."
    rules = "We know that high tide causes two ferries or more. two ferries or more causes fish trade."
    ask = "Would there is no fish trade if {} instead of {}?"
    assert value(background, rules, ask.format("high tide", "low tide")) is False
    assert value(background, rules, ask.format("one ferry or none", "two ferries or more")) is True


def test_a_phrase_may_hold_from():
    background = WORLD + "Sermon has a direct effect on attendance."
    rules = "We know that long sermon causes staying away from church."
    ask = "Would the villager goes to church if {} instead of {}?"
    assert value(background, rules, ask.format("long sermon", "short sermon")) is False
    assert value(background, rules, ask.format("short sermon", "long sermon")) is True


def test_the_derivation_quotes_the_text():
    rules = "We know that open valve causes high pressure. open valve and high pressure causes cold boiler."
    question = "Would the boiler is cold if closed valve instead of open valve?"
    assert solve(parse(MEDIATION, rules, question)).notes == (
        "valve does not occur: by the action",
        'pressure does not occur: pressure := valve ("open valve causes high pressure")',
        'boiler does not occur: boiler := valve and pressure ("open valve and high pressure causes cold boiler")',
    )


@pytest.mark.parametrize(
    ("background", "rules", "question", "said"),
    [
        (CHAIN, "We observed algae.", "Would the fish stock is rich if algae instead of no algae?", "no rule"),
        (
            WORLD + " ".join(f"Lever {place} has a direct effect on lamp." for place in "abcdef"),
            " and ".join(f"knob {place} turned" for place in "uvwxyz") + " causes bright lamp.",
            "Would the lamp is bright if knob u turned instead of knob u not turned?",
            "in 720 ways",
        ),
        (
            CHAIN,
            "Fertiliser causes algae.",
            "Would the fish stock is rich if fertiliser instead of none?",
            "do not fit",
        ),
        (
            CHAIN,
            "Fertiliser use causes algae. algae causes thriving trout.",
            "Would the fish stock is striped if fertiliser use instead of no fertiliser use?",
            "same as",
        ),
        (
            CHAIN,
            "Fertiliser use causes algae. algae causes high fish stock.",
            "Would the fish stock is high if thunder instead of lightning?",
            "no state of any variable",
        ),
    ],
)
def test_what_the_words_leave_open_is_not_answered(background, rules, question, said):
    with pytest.raises(UnreadError, match=said):
        value(background, rules, question)


def test_the_deterministic_questions_of_cladder_are_right_wherever_they_are_answered(external_data):
    folder = external_data / "causal" / "dev"
    if not folder.is_dir():
        pytest.skip("no CLadder")
    with (folder / "cladder_models.jsonl").open(encoding="utf-8") as models:
        backgrounds = {model["model_id"]: model["background"] for model in map(json.loads, models)}
    outcomes = defaultdict(list)
    for line in (folder / "cladder.jsonl").read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        if asked["variant"] != "det":
            continue
        try:
            found = value(backgrounds[asked["model"]], asked["given_info"], asked["question"])
        except UnreadError:
            outcomes["abstained"].append(asked["id"])
        else:
            outcomes["right" if found == (asked["answer"] == "yes") else "wrong"].append(asked["id"])
    right, wrong = len(outcomes["right"]), len(outcomes["wrong"])
    assert right / (right + wrong) >= 0.9
    assert right >= 250
