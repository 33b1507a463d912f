"""How CLadder's questions are answered from their text, what is flagged, and how fast. And pgmpy's `do` beside ours.

    python benchmarks/causal_cladder.py [--half all|first|second] [--errors] [--no-pgmpy]

The questions are those of `causal/dev` under OVRAG_EXTERNAL_DATA. Intervals are for questions clustered by model.
`--half` takes the stories by a seeded draw: the parser was written looking at the first half, and then measured on the
second, of which it answered 1,005 of 1,024 as labelled, deterministic ones aside. Whether a question is open by
rounding, or not identified, is told apart from the solver here: from the data set's graph and type, and the percentages
in the order in which they are printed.
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

from ovrag_core.evaluation.statistics import Resampling, ratio
from ovrag_core.external import external_data
from ovrag_core.studies.causal import cladder
from ovrag_core.studies.causal import cladder_reference as reference
from ovrag_core.studies.causal.cladder import Solution
from ovrag_core.studies.causal.cladder_reference import DETERMINISTIC, NOT_NUMERIC
from ovrag_core.studies.causal.libraries import as_pgmpy
from ovrag_core.studies.causal.models import from_strata

SEED = 2026
PUBLISHED = (
    ("GPT-4 (published, 10,112 questions of the balanced release)", 0.620),
    ("GPT-4 with causal prompt (published, the same)", 0.704),
)
PLAN = Resampling(samples=2000, seed=42)


@dataclass(frozen=True)
class Asked:
    """A question, its labels, its solution, and what the data set's own fields say of it."""

    row: dict[str, str]
    solution: Solution
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


def share(asked: Sequence[Asked], counted: Callable[[Asked], bool]) -> str:
    """`0.987 [0.975, 0.995] n = 812`, clustered by model."""
    groups: dict[str, list[bool]] = {}
    for one in asked:
        groups.setdefault(one.row["model"], []).append(counted(one))
    found = ratio([sum(hits) for hits in groups.values()], [len(hits) for hits in groups.values()], PLAN)
    if found.value is None:
        return "–, n = 0"
    between = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return f"{found.value:.4f}{between}, n = {len(asked)} in {found.clusters} models"


def right(asked: Sequence[Asked]) -> str:
    """The share answered as labelled."""
    return share(asked, lambda one: one.right)


def by(asked: Sequence[Asked], fields: str) -> Iterator[str]:
    """Accuracy by the values of a field."""
    for found in sorted({str(one.row[fields]) for one in asked}):
        yield f"  {fields} {found:20} {right([one for one in asked if str(one.row[fields]) == found])}"


def flags(asked: Sequence[Asked]) -> Iterator[str]:
    """Precision and recall of what is flagged, and the two parts of it."""
    flagged = [one for one in asked if one.solution.status in ("open by rounding", "not identified")]
    truly = [one for one in asked if one.truly_open or one.truly_unidentified]
    yield f"  flagged as open or not identified: precision {share(flagged, lambda one: one in truly)}"
    yield f"  – recall {share(truly, lambda one: one in flagged)}"
    for said, told in (("open by rounding", "truly_open"), ("not identified", "truly_unidentified")):
        count = sum(one.solution.status == said for one in asked)
        yield f"  {said}: {count} so flagged, {sum(getattr(one, told) for one in asked)} by the reference"
    for status in ("missing strata", "strata read alike", "contradictory", "unread"):
        yield f"  {status}: {sum(one.solution.status == status for one in asked)}"


def explained(one: Asked) -> str:
    """Why a determined answer differs from the label."""
    truth = one.row["groundtruth"]
    known = float(truth) if isinstance(truth, (int, float)) else None
    return reference.explained(one.row["type"], known, one.solution.low, one.solution.high)


def report(asked: Sequence[Asked], errors: bool) -> Iterator[str]:
    """All figures as lines."""
    others = [one for one in asked if not one.deterministic]
    numeric = [one for one in others if one.row["type"] not in NOT_NUMERIC]
    fixed = [one for one in others if one.solution.status == "determined"]
    truly_fixed = [one for one in others if not one.truly_open and not one.truly_unidentified]
    yield f"accuracy, all types                      {right(asked)}"
    yield f"– without deterministic counterfactuals  {right(others)}"
    yield f"– – whose status is “determined”         {right(fixed)}"
    yield f"– – fixed and identified by reference    {right(truly_fixed)}"
    yield f"– – numeric                              {right(numeric)}"
    deterministic = [one for one in asked if one.deterministic]
    yield f"– deterministic counterfactuals          {right(deterministic)}"
    yield f"– – answered                             {right([one for one in deterministic if one.solution.answer])}"
    for label, figure in PUBLISHED:
        yield f"{label}: {figure:.3f}"
    for of in ("variant", "type", "rung", "graph"):
        yield from by(asked, of)
    yield from flags(others)
    wrong = [one for one in fixed if not one.right]
    yield f"  determined and wrong: {len(wrong)}"
    for why in sorted({explained(one) for one in wrong}):
        yield f"    {why}: {', '.join(one.row['id'] for one in wrong if explained(one) == why)}"
    if errors:
        yield from (f"  {one.row['id']}: {one.solution}" for one in asked if not one.right)
    times = sorted(one.milliseconds for one in asked)
    at = times[int(0.99 * len(times))]
    yield f"ms a question, parse and infer: median {statistics.median(times):.3f}, 99% {at:.3f}, most {times[-1]:.3f}"


# pgmpy


def do_times(repeats: int = 200) -> Iterator[str]:
    """Median milliseconds of P(y | do(x)) on three confounded variables, by pgmpy and by enumeration."""
    start = time.perf_counter()
    from pgmpy.inference import CausalInference  # noqa: PLC0415 - its import is what is timed

    yield f"pgmpy: import {time.perf_counter() - start:.1f} s"
    strata = {(0, 0): 0.2, (0, 1): 0.6, (1, 0): 0.5, (1, 1): 0.9}
    model = from_strata({"z": {(): 0.4}, "x": {(0,): 0.3, (1,): 0.7}, "y": strata}, {"x": ["z"], "y": ["z", "x"]})
    inference = CausalInference(as_pgmpy(model))

    def theirs() -> float:
        return float(inference.query(["y"], do={"x": 1}, show_progress=False).get_value(y=1))

    def ours() -> float:
        return float(model.do({"x": 1}).distribution(["y"])[1])

    if abs(theirs() - ours()) > 1e-9:
        raise AssertionError(f"pgmpy says {theirs()}, enumeration {ours()}")
    for name, one in (("pgmpy", theirs), ("enumeration", ours)):
        spent = []
        for _ in range(repeats):
            start = time.thread_time()
            one()
            spent.append(1e3 * (time.thread_time() - start))
        yield f"{name}: P(y | do(x)) {statistics.median(spent):.3f} ms"


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--half", choices=["all", "first", "second"], default="all")
    options.add_argument("--errors", action="store_true", help="print every question that is answered otherwise")
    options.add_argument("--no-pgmpy", action="store_true", help="leave pgmpy out, which takes seconds to import")
    chosen = options.parse_args()
    folder = external_data("causal", "dev")
    if not folder.is_dir():
        sys.exit(f"{folder} does not exist; set OVRAG_EXTERNAL_DATA to the folder with the data sets")
    asked = [ask(row, background) for row, background in read(folder, chosen.half)]
    print(*report(asked, chosen.errors), sep="\n")
    if not chosen.no_pgmpy:
        print(*do_times(), sep="\n")


if __name__ == "__main__":
    main()
