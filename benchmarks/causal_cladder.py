"""How CLadder's questions are answered from their text, what is flagged, and how fast. And pgmpy's `do` beside ours.

    python benchmarks/causal_cladder.py [--half all|first|second] [--groups] [--errors] [--no-pgmpy]

The questions are those of `causal/dev` under OVRAG_EXTERNAL_DATA. Intervals are for questions clustered by model.
`--half` takes the stories by a seeded draw: the parser was written looking at the first half. Whether a question is
open by rounding, or not identified, is told apart from the solver here: from the data set's graph and type, and the
percentages in the order in which they are printed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ovrag_core.base.project import external_data
from ovrag_core.evaluation.statistics import Resampling, ratio
from ovrag_studies.causal.models.libraries import as_pgmpy
from ovrag_studies.causal.models.structural_models import from_strata
from ovrag_studies.causal.questions import cladder
from ovrag_studies.causal.questions import cladder_reference as reference
from ovrag_studies.causal.questions.cladder import NumberSolution
from ovrag_studies.causal.questions.cladder_reference import DETERMINISTIC, NOT_NUMERIC
from tables import estimate, table

SEED = 2026
PUBLISHED = (
    ("published: GPT-4, 10,112 questions of the balanced release", 0.620),
    ("published: GPT-4 with causal prompt, the same", 0.704),
)
Row = tuple[object, ...]
PLAN = Resampling(samples=2000, seed=42)


@dataclass(frozen=True)
class Asked:
    """A question, its labels, its solution, and what the data set's own fields say of it."""

    row: dict[str, str]
    solution: NumberSolution
    milliseconds: float

    @property
    def right(self) -> bool:
        """Whether it is answered as labelled."""
        return self.solution.answer == self.row["answer"]

    @property
    def deterministic(self) -> bool:
        """Whether it asks about rules without probabilities."""
        return self.row["type"] == DETERMINISTIC

    @property
    def truly_open(self) -> bool:
        """Whether the printed percentages allow either sign."""
        return reference.is_open(self.row["type"], self.row["graph"], self.row["given_info"])

    @property
    def truly_unidentified(self) -> bool:
        """Whether the effect needs more than the graph: a hidden mediator–outcome confounder, or an instrument."""
        return reference.is_unidentified(self.row["type"], self.row["graph"])


def read(folder: Path, half: str) -> list[tuple[dict[str, str], str]]:
    """The questions of a half with their backgrounds."""
    rows = [json.loads(line) for line in (folder / "cladder.jsonl").read_text(encoding="utf-8").splitlines()]
    models = [json.loads(line) for line in (folder / "cladder_models.jsonl").read_text(encoding="utf-8").splitlines()]
    background = {model["model_id"]: model["background"] for model in models}
    stories = sorted({row["story"] for row in rows})
    random.Random(SEED).shuffle(stories)
    first = set(stories[: len(stories) // 2])
    return [
        (row, background[row["model"]]) for row in rows if half == "all" or (row["story"] in first) == (half == "first")
    ]


def ask(row: dict[str, str], background: str) -> Asked:
    """The solution and the time on the processor."""
    start = time.thread_time()
    solution = cladder.answer(background, row["given_info"], row["question"])
    return Asked(row, solution, 1e3 * (time.thread_time() - start))


# Tables


def row(name: str, asked: Sequence[Asked], counted: Callable[[Asked], bool]) -> Row:
    """A share with its interval, clustered by model."""
    groups: dict[str, list[bool]] = {}
    for one in asked:
        groups.setdefault(one.row["model"], []).append(counted(one))
    found = ratio([sum(hits) for hits in groups.values()], [len(hits) for hits in groups.values()], PLAN)
    return name, sum(map(sum, groups.values())), len(asked), found.clusters, estimate(found)


def right(name: str, asked: Sequence[Asked]) -> Row:
    """The share answered as labelled."""
    return row(name, asked, lambda one: one.right)


def by(asked: Sequence[Asked], fields: str) -> Iterator[Row]:
    """Accuracy by the values of a field."""
    for found in sorted({str(one.row[fields]) for one in asked}):
        yield right(f"{fields} {found}", [one for one in asked if str(one.row[fields]) == found])


def flags(asked: Sequence[Asked]) -> Iterator[Row]:
    """Precision and recall of what is flagged."""
    for status, attribute in (("not identified", "truly_unidentified"), ("open by rounding", "truly_open")):
        flagged = [one for one in asked if one.solution.status == status]
        truly = [one for one in asked if getattr(one, attribute)]
        yield row(f"{status}, flagged: precision", flagged, lambda one, known=truly: one in known)
        yield row(f"{status}, flagged: recall", truly, lambda one, known=flagged: one in known)
    yield right("not identified: as labelled", [one for one in asked if one.solution.status == "not identified"])


def explained(one: Asked) -> str:
    """Why a determined answer differs from the label."""
    truth = one.row["groundtruth"]
    known = float(truth) if isinstance(truth, (int, float)) else None
    return reference.explained(one.row["type"], known, one.solution.low, one.solution.high)


def rows(asked: Sequence[Asked], groups: bool) -> Iterator[Row]:
    """All shares."""
    others = [one for one in asked if not one.deterministic]
    deterministic = [one for one in asked if one.deterministic]
    yield right("all types", asked)
    yield right("without deterministic counterfactuals", others)
    yield right("of these: status “determined”", [one for one in others if one.solution.status == "determined"])
    truly_fixed = [one for one in others if not one.truly_open and not one.truly_unidentified]
    yield right("of these: identified, and the numbers fix the sign", truly_fixed)
    yield right("of these: numeric", [one for one in others if one.row["type"] not in NOT_NUMERIC])
    yield right("deterministic counterfactuals", deterministic)
    yield row("deterministic counterfactuals: answered", deterministic, lambda one: one.solution.answer is not None)
    yield from flags(others)
    yield from ((label, "", "", "", f"{figure:.3f}") for label, figure in PUBLISHED)
    for of in ("variant", "type", "rung", "graph") if groups else ():
        yield from by(asked, of)


def report(asked: Sequence[Asked], *, groups: bool, errors: bool) -> Iterator[str]:
    """All figures as tables."""
    yield table(("CLadder", "right", "of", "models", "share"), rows(asked, groups))
    statuses = sorted({one.solution.status for one in asked})
    counts = [(status, sum(one.solution.status == status for one in asked)) for status in statuses]
    yield table(("status", "questions"), counts)
    wrong = [one for one in asked if one.solution.status == "determined" and not one.right and not one.deterministic]
    reasons = sorted({explained(one) for one in wrong})
    why = [(reason, sum(explained(one) == reason for one in wrong)) for reason in reasons]
    yield table(("determined, and not as labelled", "questions"), why)
    if errors:
        yield from (f"{one.row['id']}: {one.solution}" for one in asked if not one.right)
    times = sorted(one.milliseconds for one in asked)
    late = times[int(0.95 * (len(times) - 1))]
    yield (
        table(
            ("parse and infer, a question", "median", "95% within"),
            [("CLadder", f"{statistics.median(times):.2f} ms", f"{late:.2f} ms")],
        )
        + "\n"
    )


# pgmpy


def do_times(repeats: int = 200) -> str:
    """Median milliseconds of P(y | do(x)) on three confounded variables, by pgmpy and by enumeration."""
    from pgmpy.inference import CausalInference  # noqa: PLC0415 - takes seconds; only who asks for it shall wait

    strata = {(0, 0): 0.2, (0, 1): 0.6, (1, 0): 0.5, (1, 1): 0.9}
    model = from_strata({"z": {(): 0.4}, "x": {(0,): 0.3, (1,): 0.7}, "y": strata}, {"x": ["z"], "y": ["z", "x"]})
    inference = CausalInference(as_pgmpy(model))

    def theirs() -> float:
        return float(inference.query(["y"], do={"x": 1}, show_progress=False).get_value(y=1))

    def ours() -> float:
        return float(model.do({"x": 1}).distribution(["y"])[1])

    if abs(theirs() - ours()) > 1e-9:
        raise AssertionError(f"pgmpy says {theirs()}, enumeration {ours()}")
    medians = []
    for one in (theirs, ours):
        spent = []
        for _ in range(repeats):
            start = time.thread_time()
            one()
            spent.append(1e3 * (time.thread_time() - start))
        medians.append(f"{statistics.median(spent):.2f} ms")
    return table(("P(y given do(x))", "pgmpy", "enumeration"), [("median", *medians)])


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--half", choices=["all", "first", "second"], default="all")
    options.add_argument("--groups", action="store_true", help="also by variant, type, rung and graph")
    options.add_argument("--errors", action="store_true", help="print every question that is answered otherwise")
    options.add_argument("--no-pgmpy", action="store_true", help="leave pgmpy out, which takes seconds to import")
    chosen = options.parse_args()
    folder = external_data("causal", "dev")
    if not folder.is_dir():
        sys.exit(f"{folder} does not exist; set OVRAG_EXTERNAL_DATA to the folder with the data sets")
    asked = [ask(row, background) for row, background in read(folder, chosen.half)]
    print(*report(asked, groups=chosen.groups, errors=chosen.errors), sep="\n")
    if not chosen.no_pgmpy:
        print(do_times())


if __name__ == "__main__":
    main()
