"""CounterBench by parser and exact inference: every figure with n and a 95% interval over texts.

    python benchmarks/causal_counterbench.py [QUESTIONS] [--contested FILE] [--samples N] [--cases] [--repeat N]

`QUESTIONS` are JSON Lines with id, template, type, context, query, answer, by default the development half below
`OVRAG_EXTERNAL_DATA`, or the samples without it. `--contested` lists the questions whose label the printed rules
contradict, or whose rules form a cycle (id, note), by default the file beside. `--cases` prints each contested label
with its derivation, once a text, and what was not read. Times are those of the processor, on this machine as it is.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from ovrag_core.base.project import external_data, project_file
from ovrag_core.evaluation.statistics import Resampling
from ovrag_studies.causal.questions import counterbench
from ovrag_studies.causal.questions.question_files import CausalQuestion
from ovrag_studies.causal.questions.question_metrics import QuestionFile, QuestionShare, ask, figures, groups, statuses
from ovrag_studies.causal.reports.published import published
from tables import estimate, table

NAMES = {
    "right of the answered": "right, of those answered",
    "label and rules agree": "label and printed rules agree, cyclic included",
    "– of these, the rules form a cycle": "of these: rules form a cycle",
    "contested labels found": "contested labels found (recall)",
    "contested of those found": "found labels contested (precision)",
}


def row_of(share: QuestionShare, kind: str = "") -> tuple[object, ...]:
    name = f"{kind}{NAMES.get(share.name, share.name)}"
    return name, share.hits, share.of, share.estimate.clusters, estimate(share.estimate)


def times(questions: Sequence[CausalQuestion], repeat: int) -> list[float]:
    """Milliseconds of each question, the least of several runs."""
    spent = []
    for question in questions:
        runs = []
        for _ in range(repeat):
            start = time.thread_time_ns()
            counterbench.answer(question.context, question.asked)
            runs.append(1e-6 * (time.thread_time_ns() - start))
        spent.append(min(runs))
    return sorted(spent)


def show_cases(asked: QuestionFile) -> None:
    shown = set()
    for each in asked.judged:
        question, solved = each.question, each.solved
        if each.contested and question.group not in shown:
            shown.add(question.group)
            said = f"the label is {question.label}, the rules give {solved.answer}"
            print(f"\ncontested, {question.id}: {question.context} {question.asked}\n{said}:")
            print("\n".join(solved.lines))
    for each in asked.judged:
        if each.solved.answer is None:
            print(f"\n{each.solved.status}, {each.question.id}: {each.solved.reason}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, nargs="?")
    parser.add_argument("--contested", type=Path)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cases", action="store_true")
    given = parser.parse_args()
    if given.questions is None:
        dev = external_data("causal", "dev", "counterbench.jsonl")
        given.questions = dev if dev.is_file() else project_file(Path("data/samples/causal/questions.jsonl"))
    beside = given.questions.with_name(f"{given.questions.stem}_contested.jsonl")
    given.contested = given.contested or (beside if beside.is_file() else given.questions)
    return given


def main() -> None:
    given = arguments()
    plan = Resampling(given.samples)
    asked = ask(given.questions, contested=given.contested)
    questions = [each.question for each in (*asked.judged, *asked.unlabelled)]
    for fault in asked.faults:
        print(f"no question: {fault}")
    print(f"{given.questions.name}: {len(questions)} questions, {len(asked.judged)} with a label\n")
    rows = [row_of(share) for share in figures(asked, plan)]
    rows += [row_of(share, "type ") for share in groups(asked, plan)["type"]]
    rows += [
        (f"published: {each.system}", "", each.questions, "", f"{each.accuracy:.3f}")
        for each in published().counterbench
    ]
    print(table(("CounterBench", "right", "of", "texts", "share"), rows))
    labelled = {status: sum(each.question.label is not None for each in of) for status, of in statuses(asked).items()}
    print("solutions:", ", ".join(f"{number} {status}" for status, number in sorted(labelled.items())))
    spent = times(questions, given.repeat)
    late = spent[int(0.95 * (len(spent) - 1))]
    row = ("CounterBench", f"{statistics.median(spent):.2f} ms", f"{late:.2f} ms")
    print(table(("parse and infer, a question", "median", "95% within"), [row]))
    if given.cases:
        show_cases(asked)


if __name__ == "__main__":
    main()
