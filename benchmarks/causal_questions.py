"""Questions of CounterBench and CLadder answered from their text: every share with n and a 95% interval.

    python benchmarks/causal_questions.py [QUESTIONS ...] [--cases]

`QUESTIONS` are files of one benchmark each, by default the development halves below `OVRAG_EXTERNAL_DATA`, or the
samples without it. Intervals are over texts (CounterBench) and models (CLadder). `--cases` prints every question that
is not answered as labelled. Times are those of the processor, on this machine as it is.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from ovrag_core.base import external_data, project_file
from ovrag_core.evaluation import Resampling
from ovrag_core.study import milliseconds
from ovrag_studies.causal.questions.question_metrics import QuestionFile, ask, figures, groups, statuses
from ovrag_studies.causal.reports.published import published
from tables import estimate, table

PLAN = Resampling(2000)


def report(asked: QuestionFile) -> Iterator[str]:
    """All shares of a file, its statuses and its times, as tables."""
    rules = asked.language == "rules"
    name, clusters = ("CounterBench", "texts") if rules else ("CLadder", "models")
    shares = [*figures(asked, PLAN), *(each for of in groups(asked, PLAN).values() for each in of)]
    rows = [(each.name, each.hits, each.of, each.estimate.clusters, estimate(each.estimate)) for each in shares]
    beside = published().counterbench if rules else published().cladder
    rows += [(f"published: {each.system}", "", each.questions, "", f"{each.accuracy:.3f}") for each in beside]
    yield table((name, "right", "of", clusters, "share"), rows)
    yield table(("status", "questions"), [(status, len(of)) for status, of in statuses(asked).items()])
    spent = milliseconds([each.seconds for each in asked.judged])
    yield table(tuple(spent), [tuple(f"{value:.2f}" for value in spent.values())])


def cases(asked: QuestionFile) -> Iterator[str]:
    """The questions that are not answered as labelled, with the steps to their answers."""
    for each in asked.judged:
        if not each.right:
            label, solved = each.question.label, each.solved
            yield "\n  ".join([f"{each.question.id}: label {label}, {solved.answer} ({solved.status})", *solved.lines])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("questions", type=Path, nargs="*")
    options.add_argument("--cases", action="store_true")
    given = options.parse_args()
    dev, samples = external_data("causal", "dev"), project_file(Path("data/samples/causal"))
    folder, first = (dev, "counterbench.jsonl") if dev.is_dir() else (samples, "questions.jsonl")
    for path in given.questions or (folder / first, folder / "cladder.jsonl"):
        asked = ask(path)
        print(*report(asked), *(cases(asked) if given.cases else ()), sep="\n")


if __name__ == "__main__":
    main()
