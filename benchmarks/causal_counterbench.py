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
from ovrag_studies.causal import counterbench
from ovrag_studies.causal.counterbench_scores import PUBLISHED, Figure, Scored, figures, read_known, score, statuses
from ovrag_studies.causal.questions import Question, read_questions
from tables import estimate, table


def row_of(figure: Figure) -> tuple[object, ...]:
    made = figure.estimate
    return figure.name, figure.right, figure.of, made.clusters, estimate(made)


def times(questions: Sequence[Question], repeat: int) -> list[float]:
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


def show_cases(scored: Sequence[Scored]) -> None:
    shown = set()
    for each in scored:
        if each.contested and each.question.group not in shown:
            shown.add(each.question.group)
            print(f"\ncontested, {each.question.id}: {each.question.context} {each.question.asked}\n{each.contested}")
    for each in scored:
        if each.solution.answer is None:
            print(f"\n{each.solution.status}, {each.question.id}: {'; '.join(each.solution.remarks)}")


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
        given.questions = dev if dev.is_file() else project_file("data/samples/causal/questions.jsonl")
    beside = given.questions.with_name(f"{given.questions.stem}_contested.jsonl")
    given.contested = given.contested or (beside if beside.is_file() else given.questions)
    return given


def main() -> None:
    given = arguments()
    read = list(read_questions(given.questions))
    questions = [each for each in read if isinstance(each, Question)]
    for fault in (each for each in read if isinstance(each, str)):
        print(f"no question: {fault}")
    scored = score(questions, counterbench.answer)
    print(f"{given.questions.name}: {len(questions)} questions, {len(scored)} with a label\n")
    rows = [row_of(figure) for figure in figures(scored, Resampling(given.samples), read_known(given.contested))]
    rows += [(f"published: {name}, TinyLlama", "", 1000, "", f"{value:.3f}") for name, value in PUBLISHED.items()]
    print(table(("CounterBench", "right", "of", "texts", "share"), rows))
    print("solutions:", ", ".join(f"{number} {status}" for status, number in sorted(statuses(scored).items())))
    spent = times(questions, given.repeat)
    late = spent[int(0.95 * (len(spent) - 1))]
    row = ("CounterBench", f"{statistics.median(spent):.2f} ms", f"{late:.2f} ms")
    print(table(("parse and infer, a question", "median", "95% within"), [row]))
    if given.cases:
        show_cases(scored)


if __name__ == "__main__":
    main()
