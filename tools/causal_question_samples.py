"""Make the questions about effects of the study of causal chains from their stories, in the language of CLadder.

Texts, printed percentages and labels are computed from the probabilities of each model: the labels by playing all
potential outcomes, those of hidden variables among them, so that a label is true also where no observation shows it.
As in CLadder an effect below 0.005 is none, so that neither direction of it is so. The solver is not asked.

Run from the project's folder: `python tools/causal_question_samples.py [FOLDER]`.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import yaml

SAMPLES = Path("data/samples/causal")
NEGLIGIBLE = 0.005
PREAMBLE = (
    "Imagine a self-contained, hypothetical world with only the following conditions, and without any unmentioned "
    "factors or causal relationships:"
)
RUNGS = {"marginal": 1, "correlation": 1, "collider_bias": 1, "exp_away": 1, "ate": 2, "backadj": 2}
WAYS = {
    "ate": ("increase", "decrease"),
    "ett": ("more", "less"),
    "nde": ("positively", "negatively"),
    "nie": ("positively", "negatively"),
    "marginal": ("more", "less"),
    "correlation": ("larger", "smaller"),
    "exp_away": ("increase", "decrease"),
    "collider_bias": ("affects", "does not affect"),
}
World = Mapping[str, int]


class Model:
    """A story with probabilities: all worlds with their weights, and what is printed and asked of them."""

    def __init__(self, story: Mapping[str, Any], probabilities: Mapping[str, Sequence[float]]) -> None:
        self.story, self.variables, self.probabilities = story, story["variables"], probabilities
        cuts = {name: sorted({0.0, 1.0, *of}) for name, of in probabilities.items()}
        cells = list(product(*(range(len(cuts[name]) - 1) for name in self.variables)))
        self.noises: list[tuple[float, dict[str, float]]] = []
        for cell in cells:
            weight, noise = 1.0, {}
            for name, place in zip(self.variables, cell, strict=True):
                low, high = cuts[name][place : place + 2]
                weight *= high - low
                noise[name] = (low + high) / 2
            self.noises.append((weight, noise))

    def play(self, noise: Mapping[str, float], action: World) -> dict[str, int]:
        """The world of a noise under an action: a variable is in its state one where its probability exceeds it."""
        world: dict[str, int] = {}
        for name, how in self.variables.items():
            place = 0
            for cause in how.get("causes", ()):
                place = 2 * place + world[cause]
            world[name] = action.get(name, int(noise[name] < self.probabilities[name][place]))
        return world

    def chance(self, event: World, given: World) -> float:
        """P(event | given)."""
        top = bottom = 0.0
        for weight, noise in self.noises:
            world = self.play(noise, {})
            if given.items() <= world.items():
                bottom += weight
                top += weight * (event.items() <= world.items())
        return top / bottom

    def effect(self, kind: str) -> float:
        """The effect of X on Y: average, on the treated, natural direct or indirect."""
        middle = [
            name for name in self.variables if name not in "XY" and self.leads("X", name) and self.leads(name, "Y")
        ]
        total = share = 0.0
        for weight, noise in self.noises:
            if kind == "ett" and not self.play(noise, {})["X"]:
                continue
            without, treated = self.play(noise, {"X": 0}), self.play(noise, {"X": 1})
            if kind in ("nde", "nie"):
                held = without if kind == "nde" else treated
                treated = self.play(noise, {"X": int(kind == "nde"), **{name: held[name] for name in middle}})
            total += weight * (treated["Y"] - without["Y"])
            share += weight
        return total / share

    def leads(self, cause: str, effect: str) -> bool:
        """Whether a directed path leads from one to the other."""
        causes = self.variables[effect].get("causes", ())
        return cause in causes or any(self.leads(cause, between) for between in causes)

    def state(self, name: str, one: int = 1) -> str:
        """The words of a state."""
        return str(self.variables[name]["one" if one else "zero"])

    def overall(self, name: str) -> str:
        """How often a variable is in its state one."""
        return f"The overall probability of {self.state(name)} is {self.chance({name: 1}, {}):.0%}."

    def table(self, of: str, *by: str) -> str:
        """How often a variable is in its state one, by the states of others."""
        return " ".join(
            f"For {self.story['who']} {self.said(given)}, the probability of {self.state(of)} is "
            f"{self.chance({of: 1}, given):.0%}."
            for states in product((0, 1), repeat=len(by))
            for given in [dict(zip(by, states, strict=True))]
        )

    def said(self, given: World) -> str:
        """The words for somebody in these states."""
        return " and ".join(self.variables[name]["with" if one else "without"] for name, one in given.items())

    def joint(self) -> str:
        """How often X comes with Y, and without."""
        return " ".join(
            f"The probability of {self.state('X', one)} and {self.state('Y')} is {chance:.0%}."
            for one in (0, 1)
            for chance in [self.chance({"X": one, "Y": 1}, {})]
        )

    def correlation(self) -> float:
        """Of X and Y among those in whom the collider V3 is in its state one."""
        x, y = self.chance({"X": 1}, {"V3": 1}), self.chance({"Y": 1}, {"V3": 1})
        both = self.chance({"X": 1, "Y": 1}, {"V3": 1})
        return float((both - x * y) / (x * (1 - x) * y * (1 - y)) ** 0.5)


def printed(model: Model, kind: str) -> str:
    """What is printed for a question of a kind."""
    graph = model.story["graph"]
    if kind == "collider_bias":
        who = f"{model.story['who']} {model.said({'V3': 1})}"
        both = f"{model.state('X')} and {model.state('Y')}"
        return f"For {who}, the correlation between {both} is {model.correlation():.2f}."
    match kind, graph:
        case "marginal", _:
            parts = [model.overall("X"), model.table("Y", "X")]
        case "correlation", _:
            parts = [model.overall("X"), model.joint()]
        case "exp_away", _:
            parts = [model.overall("X"), model.table("Y", "X", "V3")]
        case "ate", "confounding":
            parts = [model.table("Y", "V1", "X"), model.overall("V1")]
        case "ate", "IV":
            parts = [model.table("Y", "V2"), model.table("X", "V2")]
        case "ett", "frontdoor":
            parts = [model.table("Y", "X", "V3"), model.table("V3", "X")]
        case _, "frontdoor":
            parts = [model.table("V3", "X"), model.table("Y", "X", "V3"), model.overall("X")]
        case "nde" | "nie", "mediation" | "arrowhead":
            middle = "V2" if graph == "mediation" else "V3"
            parts = [model.table("Y", "X", middle), model.table(middle, "X")]
        case _:
            parts = [model.table("Y", "X")]
    return " ".join(parts)


def question(model: Model, kind: str, upwards: bool) -> tuple[str, bool, float | None]:
    """The question, its label, and what is true of the model."""
    way, x, y = WAYS[kind][not upwards], model.variables["X"]["name"], model.variables["Y"]["name"]
    what = model.state("Y")
    who = f"{model.story['who']} {model.said({'V3': 1})}" if kind in ("collider_bias", "exp_away") else ""
    if kind == "marginal":
        share = model.chance({"Y": 1}, {})
        return f"Is {what} {way} likely than {model.state('Y', 0)} overall?", (share > 0.5) == upwards, share
    if kind == "collider_bias":
        asked = f"If we look at {who}, does it mean that {model.state('X')} {way} {what}?"
        return asked, model.leads("X", "Y") == upwards, None
    if kind == "exp_away":
        size = model.chance({"Y": 1}, {"X": 1, "V3": 1}) - model.chance({"Y": 1}, {"V3": 1})
        asked = f"If we look at {who}, does the chance of {what} {way} when {model.state('X')}?"
    elif kind == "correlation":
        size = model.chance({"Y": 1}, {"X": 1}) - model.chance({"Y": 1}, {"X": 0})
        asked = f"Is the chance of {what} {way} when observing {model.state('X')}?"
    else:
        size = model.effect(kind)
        asked = f"Will {model.state('X')} {way} the chance of {what}?"
    if kind == "ett":
        treated, without = model.story["treated"]
        asked = f"For {treated}, would it be {way} likely to see {what} if {without}?"
        return asked, (-size if upwards else size) > NEGLIGIBLE, size
    if kind == "nie":
        asked = f"Does {x} {way} affect {y} through {model.story['through']}?"
    elif kind == "nde":
        beside = f"If we disregard the mediation effect through {model.story['through']}"
        asked = f"{beside}, would {x} {way} affect {y}?"
    return asked, (size if upwards else -size) > NEGLIGIBLE, size


def methods(model: Model, ask: str) -> tuple[str, str, bool]:
    """`backadj 1 by V1 at 2`: is method 1 more correct, where method 2 goes by V1. Text, question and label."""
    _, asked, _, by, _, place = ask.split()
    x, y, z = (model.variables[name]["name"] for name in ("X", "Y", by))
    case, direct = f"case by case according to {z}", f"We look directly at how {x} correlates with {y} in general."
    described = (f"We look at how {x} correlates with {y} {case}.", direct)
    if place == "2":
        described = (direct, f"We look at this correlation {case}.")
    text = " ".join(f"Method {number}: {each}" for number, each in enumerate(described, 1))
    confounds = model.leads(by, "X") and model.leads(by, "Y")
    other = "2" if asked == "1" else "1"
    words = f"To understand how {x} affects {y}, is it more correct to use the Method {asked} than Method {other}?"
    return text, words, (asked == place) == confounds


def asked_of(model: Model, asks: Sequence[str], rules: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, object]]:
    """The questions of a model."""
    for ask in asks:
        kind, direction = ask.split()[:2]
        if kind == "backadj":
            given, words, label = methods(model, ask)
            truth = None
        else:
            given = printed(model, kind)
            words, label, truth = question(model, kind, direction == "+")
        yield _row(kind, given, words, label, truth)
    for rule in rules:
        yield _row("det-counterfactual", f"We know that {rule['says']}", rule["asks"], rule["answer"], None)


def _row(kind: str, given: str, words: str, label: bool, truth: float | None) -> dict[str, object]:
    return {
        "variant": "own",
        "type": kind,
        "rung": RUNGS.get(kind, 3),
        "given_info": given,
        "question": words,
        "answer": "yes" if label else "no",
        "groundtruth": None if truth is None else round(truth, 6),
    }


def described(number: int, story: str, model: Model) -> dict[str, object]:
    """A model as CLadder writes it."""
    names, params = {}, {}
    for key, how in model.variables.items():
        causes = how.get("causes", ())
        names |= {f"{key}name": how["name"], f"{key}1": how["one"], f"{key}0": how["zero"]}
        params[f"p({key} | {', '.join(causes)})" if causes else f"p({key})"] = _nested(model.probabilities[key])
    edges = [f"{cause}->{key}" for key, how in model.variables.items() for cause in how.get("causes", ())]
    return {
        "model_id": number,
        "story_id": story,
        "graph_id": model.story["graph"],
        "background": f"{PREAMBLE} {model.story['background']}",
        "structure": ",".join(edges),
        "variable_mapping": names,
        "params": params,
    }


def _nested(flat: Sequence[float]) -> object:
    """The list cut in halves, once a cause."""
    if len(flat) == 1:
        return flat[0]
    half = len(flat) // 2
    return list(flat) if half == 1 else [_nested(flat[:half]), _nested(flat[half:])]


def make(folder: Path) -> dict[str, list[dict[str, object]]]:
    """The lines of both files, by name. Raises OSError and YAMLError for stories that cannot be read."""
    stories = yaml.safe_load((folder / "source" / "stories.yaml").read_text(encoding="utf-8"))
    questions: list[dict[str, object]] = []
    models: list[dict[str, object]] = []
    for name, story in stories.items():
        for each in story["models"]:
            model, number = Model(story, each["probabilities"]), len(models)
            models.append(described(number, name, model))
            told = {"graph": story["graph"], "story": name, "model": number}
            for row in asked_of(model, each["asks"], each.get("rules", ())):
                questions.append({"id": f"own-{len(questions) + 1}", **told, **row})
    return {"cladder.jsonl": questions, "cladder_models.jsonl": models}


def main() -> None:
    """Write both files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    for name, lines in make(folder).items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{folder / name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
