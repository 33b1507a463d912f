"""The questions of the settings, solved once as a frame for each language, and measures of their answers.

Intervals are by clusters of texts (rules) or of models (numbers). A question without an answer is not right. Nothing is
dropped: labels that the rules contradict, and questions that the numbers or the graph leave open, stay in the figure
"labels as given" and are shown by themselves.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas

from ovrag_core.base import QuestionError, Settings, project_file
from ovrag_core.evaluation import Resampling, ratio, sums
from ovrag_core.study import bounds
from ovrag_studies.causal.questions.question_files import Language, read_questions, solve
from ovrag_studies.causal.settings import Causal

FIELDS: Mapping[Language, tuple[str, ...]] = {"rules": ("type",), "numbers": ("type", "graph", "rung", "variant")}
DETERMINISTIC = "det-counterfactual"
Asked = Mapping[Language, pandas.DataFrame]
Share = dict[str, Any]


def run_questions(settings: Settings) -> dict[Language, pandas.DataFrame]:
    """Solve the questions of the settings. Raises QuestionError for a file that is missing or of another kind."""
    data = Causal.of(settings).data
    files: dict[Language, Path] = {"rules": data.counterbench, "numbers": data.cladder}
    return {language: ask(project_file(path), language) for language, path in files.items()}


def ask(path: Path, language: Language, watch: Callable[[], float] = time.thread_time) -> pandas.DataFrame:
    """Solve a file of questions from their texts, then read what else it says of them.

    A row has the fields of a question, its answer, status and reason, whether that is `right`, whether the rules
    contradict the label (`contested`), seconds of the processor, and the solution (`solved`). `listed` is "contested"
    or "cyclic" where the list beside the file, or the file's own fields, say so; None where nobody says.
    Raises QuestionError where the file cannot be read, has no question, or has lines that are none of this language.
    """
    rows: list[dict[str, object]] = []
    for question in read_questions(path):
        if isinstance(question, str):
            raise QuestionError(question)
        if question.language != language:
            other = question.language
            raise QuestionError(f"{path} has questions over {other}; name a file of questions over {language}")
        start = watch()
        solved = solve(question)
        row = asdict(question) | {"seconds": watch() - start, "solved": solved, "contested": "contested" in solved.more}
        rows.append(row | {"answer": solved.answer, "status": solved.status, "reason": solved.reason})
    if not rows:
        raise QuestionError(f"{path} has no question; give JSON Lines of questions over {language}")
    frame = pandas.DataFrame(rows).rename(columns={"kind": "type"}).assign(file=path.name)
    frame["answered"] = frame["answer"].notna()
    frame["right"] = frame["answered"] & (frame["answer"] == frame["label"])
    beside = path.with_name(f"{path.stem}_contested.jsonl")
    known = read_known(beside if beside.is_file() else path)
    frame["listed"] = None if known is None else [known.get(name, "") for name in frame["id"]]
    return frame


def read_known(path: Path) -> dict[str, str] | None:
    """The contested and cyclic questions of a list (id, note), or of questions that say so themselves, as the samples.

    None where the questions say nothing of it. Raises QuestionError.
    """
    known: dict[str, str] = {}
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("{")]
        for line in lines:
            is_cyclic = "cycl" in str(line.get("note", line.get("status", "")))
            if is_cyclic or line.get("contested", "note" in line):
                known[str(line["id"])] = "cyclic" if is_cyclic else "contested"
    except (OSError, ValueError, KeyError, AttributeError):
        raise QuestionError(f"{path} is no list of contested questions; give JSON Lines with id and note") from None
    return known if any("note" in line or "contested" in line for line in lines) else None


def labelled(asked: pandas.DataFrame) -> pandas.DataFrame:
    """The questions that have a label."""
    return asked[asked["label"].notna()]


def share(name: str, questions: pandas.DataFrame, plan: Resampling, hit: str = "right") -> Share:
    """Count the questions for which the column `hit` holds, with an interval over their clusters.

    The columns of the row: name, hits, of, share, share_low, share_high, clusters.
    """
    hits, clusters = questions[hit].astype(float).tolist(), questions["group"].tolist()
    estimate = ratio(sums(hits, clusters), sums([1.0] * len(hits), clusters), plan)
    counts = {"name": name, "hits": int(sum(hits)), "of": len(hits)}
    return counts | bounds("share", estimate) | {"clusters": estimate.clusters}


def figures(asked: pandas.DataFrame, plan: Resampling) -> list[Share]:
    """The headline shares of the questions of one language."""
    judged = labelled(asked)
    shares = [
        share("labels as given", judged, plan),
        share("answered", judged, plan, "answered"),
        share("right of the answered", judged[judged["answered"]], plan),
    ]
    if asked["language"].iloc[0] == "numbers":
        is_rule = judged["type"] == DETERMINISTIC
        rules, probabilistic = judged[is_rule], judged[~is_rule]
        fixed = probabilistic[probabilistic["status"] == "determined"]
        return [
            *shares,
            share("without deterministic counterfactuals", probabilistic, plan),
            share("– identified, and the numbers fix the sign", fixed, plan),
            share("deterministic counterfactuals", rules, plan),
            share("– of these, the answered", rules[rules["answered"]], plan),
        ]
    if judged["listed"].isna().all():
        return [*shares, share("labels that the rules contradict", judged, plan, "contested")]
    marked = judged.assign(is_listed=judged["listed"] == "contested")
    agreed = marked[~marked["is_listed"]]
    return [
        *shares,
        share("label and rules agree", agreed, plan),
        share("– of these, the rules form a cycle", agreed[agreed["listed"] == "cyclic"], plan),
        share("contested labels found", marked[marked["is_listed"]], plan, "contested"),
        share("contested of those found", marked[marked["contested"]], plan, "is_listed"),
    ]


def groups(language: Language, asked: pandas.DataFrame, plan: Resampling) -> dict[str, list[Share]]:
    """Shares right by the values of each field that the file has."""
    return {
        field: [share(str(value), of_value, plan) for value, of_value in labelled(asked).groupby(field) if value]
        for field in FIELDS[language]
    }


def statuses(asked: pandas.DataFrame) -> dict[str, pandas.DataFrame]:
    """All questions, with a label or without, by status, the most frequent first."""
    counts = asked["status"].value_counts()
    ordered = sorted(counts.index, key=lambda status: (-counts[status], status))
    return {status: asked[asked["status"] == status] for status in ordered}
