"""CLadder's language read and solved from text: stories of our own, and the development half where it is present."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ovrag_core.base.errors import CausalError, CycleError, ProbabilityError, StrataError, UnreadError
from ovrag_studies.causal.models.structural_models import Scm, from_strata
from ovrag_studies.causal.questions.cladder import answer, parse, solve
from ovrag_studies.causal.questions.cladder_tables import state_of
from ovrag_studies.causal.questions.cladder_text import NumberSolution

PREAMBLE = (
    "Imagine a self-contained, hypothetical world with only the following conditions, and without any unmentioned "
    "factors or causal relationships: "
)
SOIL = PREAMBLE + (
    "Soil quality has a direct effect on irrigation and the harvest. Irrigation has a direct effect on the harvest."
)
FERRY = PREAMBLE + (
    "The storm has a direct effect on the ferry and queue length. The ferry has a direct effect on ticket sales. "
    "Ticket sales has a direct effect on queue length. The storm is unobserved."
)
VOUCHER = PREAMBLE + (
    "Ambition has a direct effect on gym membership and fitness. Voucher has a direct effect on gym membership. "
    "Gym membership has a direct effect on fitness. Ambition is unobserved."
)
TRAINING = PREAMBLE + ("Training has a direct effect on confidence and sales. Confidence has a direct effect on sales.")
HIDDEN = PREAMBLE + (
    "Training has a direct effect on confidence and sales. Temper has a direct effect on confidence and sales. "
    "Confidence has a direct effect on sales. Temper is unobserved."
)
PRIZE = PREAMBLE + "Luck has a direct effect on the prize. Skill has a direct effect on the prize."
BY_SOIL = (
    "For farms on poor soil and without irrigation, the probability of abundant harvest is 10%. "
    "For farms on poor soil and with irrigation, the probability of abundant harvest is 30%. "
    "For farms on rich soil and without irrigation, the probability of abundant harvest is 50%. "
    "For farms on rich soil and with irrigation, the probability of abundant harvest is {last}%. "
    "The overall probability of rich soil is 40%."
)
MEDIATED = (
    "For clerks who are not trained and shy sellers, the probability of high sales is 20%. "
    "For clerks who are not trained and confident sellers, the probability of high sales is 60%. "
    "For clerks who are trained and shy sellers, the probability of high sales is 30%. "
    "For clerks who are trained and confident sellers, the probability of high sales is 50%. "
    "For clerks who are not trained, the probability of confident sellers is 40%. "
    "For clerks who are trained, the probability of confident sellers is 70%."
)
CROSSED = (
    "For clerks who are not trained and shy sellers, the probability of high sales is 20%. "
    "For clerks who are not trained and confident sellers, the probability of high sales is 60%. "
    "For clerks who are trained and shy sellers, the probability of high sales is 30%. "
    "For clerks who are trained and confident sellers, the probability of high sales is 50%. "
    "For clerks who are not trained and with even temper, the probability of confident sellers is 40%. "
    "For clerks who are not trained and with bad temper, the probability of confident sellers is 20%. "
    "For clerks who are trained and with even temper, the probability of confident sellers is 70%. "
    "For clerks who are trained and with bad temper, the probability of confident sellers is 60%. "
    "The overall probability of bad temper is 50%."
)
FRONT_DOOR = (
    "For days without a ferry, the probability of many tickets sold is 20%. "
    "For days with a ferry, the probability of many tickets sold is 70%. "
    "For days without a ferry and few tickets sold, the probability of a long queue is 30%. "
    "For days without a ferry and many tickets sold, the probability of a long queue is 50%. "
    "For days with a ferry and few tickets sold, the probability of a long queue is 40%. "
    "For days with a ferry and many tickets sold, the probability of a long queue is 90%. "
    "The overall probability of a running ferry is 60%."
)
WALD = (
    "For people without a voucher, the probability of good fitness is {without}%. "
    "For people with a voucher, the probability of good fitness is 60%. "
    "For people without a voucher, the probability of being a gym member is 30%. "
    "For people with a voucher, the probability of being a gym member is {moved}%."
)
HARVEST = "Will irrigation increase the chance of abundant harvest?"
NO_WEIGHT = BY_SOIL.format(last=90).partition(" The overall")[0]
THREE_STRATA = NO_WEIGHT.rpartition(" For")[0]
TWICE = "For farms, the probability of rain is 10%. For farms, the probability of rain is 20%."
CIRCLE = "A has a direct effect on B. B has a direct effect on A."


def check(found: NumberSolution, said: str, value: float, status: str = "determined") -> None:
    assert (found.answer, found.status) == (said, status), found
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.low is not None
    assert found.high is not None
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


def test_an_effect_is_adjusted_for_what_confounds_it() -> None:
    found = answer(SOIL, BY_SOIL.format(last=90), "Will irrigation increase the chance of abundant harvest?")
    check(found, "yes", 0.6 * 0.2 + 0.4 * 0.4)
    assert found.variables == {"x": "irrigation", "y": "harvest", "z": "soil quality"}
    assert len(found.numbers) == 5
    assert (
        answer(SOIL, BY_SOIL.format(last=90), "Will irrigation decrease the chance of abundant harvest?").answer == "no"
    )


def test_a_weight_among_the_treated_that_is_not_printed_is_flagged_where_it_matters() -> None:
    question = (
        "For farms with irrigation, would it be less likely to see abundant harvest if the farm had no irrigation?"
    )
    check(answer(SOIL, BY_SOIL.format(last=90), question), "yes", -0.28)
    flagged = answer(SOIL, BY_SOIL.format(last=10), question)
    assert flagged.status == "missing strata"
    assert "is needed and not printed" in flagged.reason


def test_a_front_door_is_used_where_the_confounder_is_hidden() -> None:
    question = "Will a running ferry increase the chance of a long queue?"
    check(answer(FERRY, FRONT_DOOR, question), "yes", 0.5 * (0.6 * 0.5 + 0.4 * 0.2))
    treated = "For days with a ferry, would it be more likely to see a long queue if there had been no ferry?"
    strata = FRONT_DOOR.partition(" The overall")[0]
    check(answer(FERRY, strata, treated), "no", -0.5 * 0.5)
    through = "Does the ferry positively affect queue length through ticket sales?"
    check(answer(FERRY, FRONT_DOOR, through), "yes", 0.5 * (0.6 * 0.5 + 0.4 * 0.2))


def test_strata_may_be_printed_in_any_order() -> None:
    turned = " ".join(reversed([f"{sentence}." for sentence in FRONT_DOOR.rstrip(".").split(". ")]))
    question = "Will a running ferry increase the chance of a long queue?"
    assert answer(FERRY, turned, question).value == pytest.approx(answer(FERRY, FRONT_DOOR, question).value)


def of(model: Scm, name: str, **given: int) -> str:
    """P(name | given) as printed, to a millionth of a percent."""
    return f"{100 * model.distribution([name], given)[1]:.6f}%"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", ["fork", "chain", "hidden"])
def test_printed_numbers_give_what_acting_on_the_model_gives(shape: str, seed: int) -> None:
    """The truth is had by surgery on a random model that has the hidden variable too."""
    edges = {
        "fork": {"zumi": [], "plok": ["zumi"], "vrax": ["plok", "zumi"]},
        "chain": {"zumi": [], "plok": ["zumi"], "vrax": ["plok"]},
        "hidden": {"zumi": [], "plok": ["zumi"], "quem": ["plok"], "vrax": ["quem", "zumi"]},
    }[shape]
    random = np.random.default_rng(seed)
    strata = {
        node: {cell: random.uniform(0.1, 0.9) for cell in np.ndindex(*[2] * len(by))} for node, by in edges.items()
    }
    model = from_strata(strata, edges)
    background = PREAMBLE + " ".join(f"{by} has a direct effect on {node}." for node in edges for by in edges[node])
    if shape == "chain":
        given = "".join(
            f"For those who are {'not ' * (not x)}plok, the probability of vrax is {of(model, 'vrax', plok=x)}. "
            for x in (0, 1)
        )
    elif shape == "fork":
        given = f"The overall probability of zumi is {of(model, 'zumi')}. " + "".join(
            f"For those who are {'not ' * (not z)}zumi and are {'not ' * (not x)}plok, the probability of vrax is "
            f"{of(model, 'vrax', zumi=z, plok=x)}. "
            for z, x in np.ndindex(2, 2)
        )
    else:
        background += " zumi is unobserved."
        given = f"The overall probability of plok is {of(model, 'plok')}. " + "".join(
            f"For those who are {'not ' * (not x)}plok, the probability of quem is {of(model, 'quem', plok=x)}. "
            for x in (0, 1)
        )
        given += "".join(
            f"For those who are {'not ' * (not m)}quem and are {'not ' * (not x)}plok, the probability of vrax is "
            f"{of(model, 'vrax', quem=m, plok=x)}. "
            for m, x in np.ndindex(2, 2)
        )
    found = answer(background, given.strip(), "Will plok increase the chance of vrax?")
    low, high = (model.do({"plok": state}).distribution(["vrax"])[1] for state in (0, 1))
    assert found.value == pytest.approx(high - low, abs=1e-6)
    assert (found.answer, found.status) == ("yes" if high - low > 0.005 else "no", "determined")


def test_natural_effects_follow_the_mediation_formula() -> None:
    direct = "If we disregard the mediation effect through confidence, would training positively affect sales?"
    check(answer(TRAINING, MEDIATED, direct), "yes", 0.6 * 0.1 - 0.4 * 0.1)
    indirect = "Does training negatively affect sales through confidence?"
    check(answer(TRAINING, MEDIATED, indirect), "no", 0.3 * 0.4)


def test_a_hidden_confounder_of_the_mediator_is_named() -> None:
    found = answer(HIDDEN, CROSSED, "Does training positively affect sales through confidence?")
    check(found, "yes", 0.35 * 0.4, "not identified")
    assert "confidence ← temper → sales" in found.reason
    assert "temper does not act on both" in found.assumption


def test_an_instrument_needs_an_assumption_and_says_so() -> None:
    question = "Will being a gym member increase the chance of good fitness?"
    found = answer(VOUCHER, WALD.format(without=50, moved=70), question)
    check(found, "yes", 0.25, "not identified")
    assert "gym membership ← ambition → fitness" in found.reason
    assert "voucher is an instrument" in found.assumption
    still = answer(VOUCHER, WALD.format(without=50, moved=30), question)
    assert still.status == "unread"
    assert "moves nothing" in still.reason


def test_a_sign_that_the_digits_leave_open_is_flagged() -> None:
    printed = "For clerks who are not trained, the probability of high sales is {0}%. For clerks who are trained, the "
    printed += "probability of high sales is {1}%."
    question = "Will training increase the chance of high sales?"
    alike = answer(TRAINING, printed.format(40, 40), question)
    check(alike, "no", 0, "open by rounding")
    assert "-0.010 to 0.010" in alike.reason
    near = answer(TRAINING, printed.format(40, 41), question)
    check(near, "yes", 0.01)
    assert near.notes == ("the digits allow an effect below 0.005, which counts as none",)
    assert answer(TRAINING, printed.format("40.0", "40.0"), question).high == pytest.approx(0.001)


def test_a_share_is_compared_with_one_half() -> None:
    printed = (
        "The overall probability of training is {0}%. For clerks who are not trained, the probability of high sales "
    )
    printed += "is 20%. For clerks who are trained, the probability of high sales is 80%."
    question = "Is high sales more likely than low sales overall?"
    check(answer(TRAINING, printed.format(60), question), "yes", 0.56)
    check(answer(TRAINING, printed.format(50), question), "no", 0.5, "open by rounding")


def test_an_association_needs_no_cause_and_independence_settles_it() -> None:
    printed = "The overall probability of training is 50%. The probability of no training and high sales is 10%. The "
    printed += "probability of training and high sales is 30%."
    check(answer(TRAINING, printed, "Is the chance of high sales larger when observing training?"), "yes", 0.4)
    luck = (
        "The overall probability of luck is 50%. The probability of no luck and skill is {0}%. The probability of luck "
    )
    luck += "and skill is 30%."
    question = "Is the chance of skill larger when observing luck?"
    independent = answer(PRIZE, luck.format(29), question)
    check(independent, "no", 0.02, "open by rounding")
    assert "they are independent" in independent.reason


def test_what_a_collider_shows_is_no_effect() -> None:
    seen = "For people with a prize, the correlation between luck and skill is -0.31."
    question = "If we look at people with a prize, does it mean that luck {0} skill?"
    assert answer(PRIZE, seen, question.format("affects")).answer == "no"
    assert answer(PRIZE, seen, question.format("does not affect")).answer == "yes"
    strata = (
        "The overall probability of luck is 50%. "
        "For people without luck and without a prize, the probability of skill is 40%. "
        "For people without luck and with a prize, the probability of skill is 90%. "
        "For people with luck and without a prize, the probability of skill is 30%. "
        "For people with luck and with a prize, the probability of skill is 60%."
    )
    away = "If we look at people with a prize, does the chance of skill decrease when luck?"
    check(answer(PRIZE, strata, away), "yes", -0.3)


@pytest.mark.parametrize(
    ("background", "x", "y", "by", "direct_is_right"),
    [
        (SOIL, "irrigation", "the harvest", "soil quality", False),
        (TRAINING, "training", "sales", "confidence", True),
        (PRIZE, "luck", "skill", "the prize", True),
        (FERRY, "the ferry", "queue length", "the storm", False),
    ],
)
def test_the_better_method_is_that_without_bias(
    background: str, x: str, y: str, by: str, direct_is_right: bool
) -> None:
    methods = (
        f"Method 1: We look directly at how {x} correlates with {y} in general. "
        "Method 2: We look at this correlation case by case according to {by}."
    ).format(by=by)
    question = "To understand how {0} affects {1}, is it more correct to use the Method {2} than Method {3}?"
    first = answer(background, methods, question.format(x, y, 1, 2))
    second = answer(background, methods, question.format(x, y, 2, 1))
    assert (first.answer == "yes") == direct_is_right
    assert (second.answer == "yes") != direct_is_right


def test_every_mediator_of_a_path_can_be_named() -> None:
    two = PREAMBLE + (
        "Rain has a direct effect on moss and mud. Moss has a direct effect on falls. Mud has a direct effect on falls."
    )
    printed = "For dry days, the probability of falls is 20%. For rainy days, the probability of falls is 50%."
    check(answer(two, printed, "Does rain positively affect falls through moss and mud?"), "yes", 0.3)
    part = answer(two, printed, "Does rain positively affect falls through moss?")
    assert part.status == "unread"


def test_strata_that_read_alike_are_flagged_and_taken_in_order() -> None:
    alike = BY_SOIL.format(last=90).replace("poor soil", "some soil").replace("on rich soil", "on some soil")
    found = answer(SOIL, alike, "Will irrigation increase the chance of abundant harvest?")
    check(found, "yes", 0.28, "strata read alike")
    assert "told by order" in found.reason


@pytest.mark.parametrize(
    ("background", "given", "question", "error", "words"),
    [
        (SOIL, BY_SOIL.format(last=130), HARVEST, ProbabilityError, "outside 0 to 100%"),
        (SOIL, THREE_STRATA, HARVEST, StrataError, "one is missing"),
        (SOIL, TWICE, "Will irrigation increase the chance of rain?", StrataError, "read alike"),
        (SOIL, NO_WEIGHT, HARVEST, StrataError, "none is given overall"),
        (SOIL, "It rains.", HARVEST, UnreadError, "prints no probability"),
        (SOIL, BY_SOIL.format(last=90), "What now?", UnreadError, "asks nothing"),
        ("Nothing happens.", "", "Is rain more likely than sun overall?", UnreadError, "names no direct effect"),
        ("", "", "Is rain more likely than sun overall?", UnreadError, "states no direct effect"),
        (CIRCLE, "", "Is a more likely than b overall?", CycleError, "cycle"),
        (TRAINING, MEDIATED, "Does hope positively affect sales through confidence?", UnreadError, "“hope” is"),
        (TRAINING, MEDIATED, "Will training increase the chance of rain?", StrataError, "those of high sales"),
        (SOIL, BY_SOIL.format(last=90), HARVEST.replace("irrigation", "hope"), UnreadError, "“hope” is nothing"),
        (TRAINING, "", "Will training increase the chance of high sales?", StrataError, "those of none are"),
    ],
)  # fmt: skip
def test_each_kind_of_bad_input_has_its_own_message(background, given, question, error, words) -> None:
    with pytest.raises(error, match=words):
        solve(parse(background, given, question))
    found = answer(background, given, question)
    assert (found.answer, found.status) == (None, "unread")
    assert found.reason


@pytest.mark.parametrize(
    ("phrase", "absent", "present", "expected"),
    [
        ("do not own a boat", "do not own a boat", "own a boat", 0),
        ("those who own a boat", "do not own a boat", "own a boat", 1),
        ("the child has no boat", "without a boat", "with a boat", 0),
        ("deep snow", "slopes with deep snow", "slopes with thin snow", 0),
        ("frost", "green valleys", "brown valleys", 1),
    ],
)
def test_a_phrase_names_the_present_state_unless_it_reads_like_the_absent_one(
    phrase: str, absent: str, present: str, expected: int
) -> None:
    assert state_of(phrase, (absent, present)) == expected


def test_text_that_says_nothing_is_unread_with_a_reason() -> None:
    for text in (
        "",
        "%",
        "For , the probability of  is 5%.",
        "a and and b",
        "\\x00\n",
        "} # DROP ALL",
        "Method 1: We look up.",
    ):
        for question in ("", "?", "Will  increase the chance of ?", "Is a more likely than b overall?", text):
            found = answer(SOIL, text, question)
            assert (found.answer, found.status) == (None, "unread"), (text, question)
            assert found.reason


def test_the_development_half_is_answered_from_its_text(external_data: Path) -> None:
    folder = external_data / "causal" / "dev"
    if not folder.is_dir():
        pytest.skip("no causal data")
    rows = [json.loads(line) for line in (folder / "cladder.jsonl").read_text(encoding="utf-8").splitlines()]
    models = map(json.loads, (folder / "cladder_models.jsonl").read_text(encoding="utf-8").splitlines())
    backgrounds = {model["model_id"]: model["background"] for model in models}
    assert (len(rows), rows[0]["id"]) == (2124, "anti-1")
    rows = [row for row in rows if row["type"] != "det-counterfactual"]
    found = [answer(backgrounds[row["model"]], row["given_info"], row["question"]) for row in rows]
    right = [one.answer == row["answer"] for one, row in zip(found, rows, strict=True)]
    determined = [ok for one, ok in zip(found, right, strict=True) if one.status == "determined"]
    statuses = Counter(one.status for one in found)
    assert sum(right) / len(right) >= 0.985
    assert sum(determined) / len(determined) >= 0.99
    assert statuses["not identified"] == 126
    assert statuses["open by rounding"] == 78
    assert statuses["unread"] == 0


def test_solving_raises_errors_of_this_study_alone() -> None:
    with pytest.raises(CausalError):
        solve(parse(SOIL, "For a and b and c, the probability of d is 5%.", "Will a increase the chance of d?"))
