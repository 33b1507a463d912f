"""Tables, figures and macros of causal questions and small models; captions and notes stand in `captions.yaml`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import yaml

from ovrag_core.base import Settings
from ovrag_core.report import Look, interval_plot, numbers, styled, with_bounds
from ovrag_core.study import Book, milliseconds
from ovrag_core.study import book as books
from ovrag_studies.causal.models import identification_examples
from ovrag_studies.causal.questions import question_study
from ovrag_studies.causal.questions.cladder_text import parse_graph
from ovrag_studies.causal.questions.question_files import Language, Solved
from ovrag_studies.causal.questions.question_study import Asked, Share, labelled
from ovrag_studies.causal.settings import Causal

_SUM = re.compile(r"Σ_(?:\{([^}]*)\}|(\w+))")
BENCHMARKS: Mapping[Language, str] = {"rules": "CounterBench", "numbers": "CLadder"}
CLUSTERS: Mapping[Language, str] = {"rules": "texts", "numbers": "models"}
# Figures that the section of the study names, where a file of questions does not have them.
IN_PROSE: Mapping[str, str] = {
    "rules label and rules agree": "n/a",
    "numbers not identified": "0",
    "numbers open by rounding": "0",
}
# CLadder's types, as figures call them; those of CounterBench speak for themselves.
TYPES = {
    "ate": "average effect",
    "ett": "effect on the treated",
    "nde": "direct effect",
    "nie": "indirect effect",
    "marginal": "overall chance",
    "backadj": "adjustment set",
    "collider_bias": "collider bias",
    "exp_away": "explaining away",
    "det-counterfactual": "rules in words",
}


@cache
def published() -> dict[str, Any]:
    """Return figures of others (`published.yaml`): systems by language, accuracies 0 to 1, and the table of the loop."""
    return dict(yaml.safe_load(Path(__file__).with_name("published.yaml").read_text(encoding="utf-8")))


def published_shares(language: Language) -> list[tuple[str, float, int]]:
    """Return name, accuracy and number of questions of the systems of others."""
    return [(system["name"], system["accuracy"], system["questions"]) for system in published()[language]]


def open_book(settings: Settings, study: Asked) -> Book:
    """Return the book of the settings, whose notes tell on which questions results rest."""
    opened = books.open_book(settings, Causal, questions=counted(study))
    return replace(opened, folder="causal_questions")


def counted(study: Asked) -> str:
    """Say how many labelled questions there are of each language, and in which file."""
    return "; ".join(
        f"{len(labelled(asked))} labelled questions in the language of {BENCHMARKS[language]} "
        f"({asked['file'].iloc[0]}, {labelled(asked)['group'].nunique()} {CLUSTERS[language]})"
        for language, asked in study.items()
    )


def questions_table(book: Book, study: Asked) -> pandas.DataFrame:
    """The headline shares, with published accuracies beside: `questions`."""
    rows: list[dict[str, object]] = []
    for language, asked in study.items():
        shares = [*question_study.figures(asked, book.plan), _constant(asked, book)]
        rows += [{"questions": language} | share for share in shares]
        rows += [
            {"questions": language, "name": f"{name} (published)", "of": questions, "share": accuracy}
            for name, accuracy, questions in published_shares(language)
        ]
    frame = pandas.DataFrame(rows).rename(columns={"name": "figure"})
    return book.table(frame.astype({"hits": "Int64", "of": "Int64", "clusters": "Int64"}), "questions")


def _constant(asked: pandas.DataFrame, book: Book) -> Share:
    """Share right by always giving the commonest label."""
    judged = labelled(asked)
    most = max(("yes", "no"), key=judged["label"].tolist().count)
    name = f"labels as given, by always saying {most}"
    return question_study.share(name, judged.assign(right=judged["label"] == most), book.plan)


def groups_table(book: Book, study: Asked) -> pandas.DataFrame:
    """Shares right by type, graph, rung and variant: `questions_groups`."""
    rows = [
        {"questions": language, "by": field} | share
        for language, asked in study.items()
        for field, shares in question_study.groups(language, asked, book.plan).items()
        for share in shares
    ]
    columns = ["questions", "by", "name", "hits", "of", *with_bounds(["share"]), "clusters"]
    frame = pandas.DataFrame(rows, columns=columns).rename(columns={"name": "group"})
    return book.table(frame, "questions_groups")


def accuracy_figure(book: Book, study: Asked) -> Path:
    """Shares right by type, published ones beside as hollow diamonds: `questions_accuracy`."""
    rows: list[tuple[object, ...]] = []
    for language, asked in study.items():
        of_types = question_study.groups(language, asked, book.plan)["type"]
        for share in (question_study.share("all", labelled(asked), book.plan), *of_types):
            row = f"{language}: {TYPES.get(share['name'], share['name'])}, n = {share['of']:,}"
            rows.append((row, *(share[column] for column in with_bounds(["share"])), None))
        for name, accuracy, questions in published_shares(language):
            rows.append((f"{language}: {name}, n = {questions:,}", None, None, None, accuracy))
    frame = pandas.DataFrame(rows, columns=["row", "value", "low", "high", "published"])
    title, look = "share of questions answered as labelled", Look(row=0.14, series=0.06, spread=0)
    fig = interval_plot({title: frame}, "row", book.width, look=look)
    with styled():
        (ax,) = fig.axes
        ax.lines[0].set_label("measured, with interval")
        hollow: dict[str, Any] = {"marker": "D", "mfc": "white", "mec": "black", "ms": 4.5, "mew": 0.8, "ls": ""}
        ax.plot(frame["published"].astype(float), frame.index, label="as published, on the benchmark", **hollow)
        fig.legend(loc="outside lower center", ncols=2)
    return book.figure(fig, "questions_accuracy")


def status_table(book: Book, study: Asked) -> pandas.DataFrame:
    """Questions by status, and labels that the rules contradict, which cut across statuses: `questions_status`."""
    rows: list[dict[str, object]] = []
    for language, asked in study.items():
        groups = question_study.statuses(asked)
        if language == "rules":
            groups["label contested"] = asked[asked["contested"]]
        for status, questions in groups.items():
            right = question_study.share(status, labelled(questions), book.plan)
            counts = {"status": status, "n": len(questions), "answered": int(questions["answered"].sum())}
            rows.append({"questions": language} | counts | {column: right[column] for column in with_bounds(["share"])})
    columns = dict(zip(with_bounds(["share"]), with_bounds(["as labelled"]), strict=True))
    return book.table(pandas.DataFrame(rows).rename(columns=columns), "questions_status")


def flagged_table(book: Book, study: Asked) -> pandas.DataFrame:
    """One question of every status that is not “determined”, with the reason: `questions_flagged`."""
    columns = ["questions", "status", "asked", "answer", "label", "reason", "would suffice"]
    rows = []
    for asked in study.values():
        flagged = asked[asked["status"] != "determined"].sort_values("label", key=pandas.isna, kind="stable")
        for solved in flagged.drop_duplicates("status")["solved"]:
            question, assumption = solved.question, solved.record.get("assumption") or ""
            answers = (solved.answer or "none", question.label or "none")
            rows.append((question.language, solved.status, question.asked, *answers, solved.reason, assumption))
    return book.table(pandas.DataFrame(rows, columns=columns), "questions_flagged")


def contested_table(book: Book, study: Asked) -> pandas.DataFrame:
    """Labels that the rules of their own question contradict, a row a text: `questions_contested`."""
    contested = study["rules"][study["rules"]["contested"]]
    shown = contested.drop_duplicates("group").assign(
        questions=lambda rows: rows["group"].map(contested["group"].value_counts()),
        derivation=lambda rows: ["; ".join(solved.lines) for solved in rows["solved"]],
    )
    columns = {"group": "text", "questions": "questions", "asked": "asked", "label": "label", "answer": "rules"}
    columns["derivation"] = "derivation"
    return book.table(shown[list(columns)].rename(columns=columns), "questions_contested")


def latency_table(book: Book, study: Asked) -> pandas.DataFrame:
    """Milliseconds to read and solve a question, which differ from run to run: `latency_questions`."""
    rows = [{"questions": language, **milliseconds(asked["seconds"].tolist())} for language, asked in study.items()]
    return book.table(pandas.DataFrame(rows), "latency_questions")


def example(asked: pandas.DataFrame) -> Solved:
    """A question to look at from the inside: determined, as labelled, and the one with the most to say of it."""
    judged = labelled(asked)
    fine = judged[judged["right"] & (judged["status"] == "determined")]
    solved: list[Solved] = (judged if fine.empty else fine)["solved"].tolist()
    return max(solved, key=lambda each: len(each.lines))


def inside_table(book: Book, shown: Sequence[Solved]) -> pandas.DataFrame:
    """Questions from the inside, step by step: `questions_inside`."""
    frames = [steps(solved).assign(question=solved.question.language) for solved in shown]
    frame = pandas.concat(frames, ignore_index=True)[["question", "step", "text"]]
    frame["text"] = frame["text"].map(in_words)
    frame.loc[frame["question"] == frame["question"].shift(), "question"] = ""
    return book.table(frame, "questions_inside", {"shown": len(shown)})


def steps(solved: Solved) -> pandas.DataFrame:
    """Table of how the answer comes about, a line a step: `step` and `text`."""
    question = solved.question
    rows = [("asked", question.asked)]
    if question.language == "numbers" and solved.status != "unread":
        graph = parse_graph(question.context)
        arrows = [f"{cause} → {effect}" for cause in graph.nodes for effect in graph.children(cause)]
        rows.append(("graph", "; ".join(arrows)))
    for line in solved.lines:
        head, colon, text = line.partition(": ")
        if question.language == "rules":
            rows.append(("derivation", line))
        else:
            rows.append((head, text) if colon and len(head) < 40 else ("", line))
    if not solved.lines and solved.reason:
        rows.append(("reason", solved.reason))
    rows.append(("answer", f"{solved.answer or 'none'} ({solved.status})"))
    if question.label is not None:
        rows.append(("label", question.label))
    return pandas.DataFrame(rows, columns=["step", "text"])


def in_words(formula: str) -> str:
    """An estimand without signs for sums."""
    return _SUM.sub(lambda match: f"sum over {match[1] or match[2]} of", formula)


def identification_table(book: Book, examined: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Table of what graphs let one compute, and why not: `identification`."""
    frame = pandas.DataFrame(examined)
    frame["by"] = frame["by"].map(in_words)
    return book.table(frame.drop(columns="naive"), "identification", {"models": len(frame)}, full=frame)


def actions_table(book: Book) -> pandas.DataFrame:
    """Table of what is seen, done and imagined in a small model: `actions`."""
    model = identification_examples.measured_confounder()
    frame = pandas.DataFrame(identification_examples.quantities(model), columns=["quantity", "symbol", "value"])
    return book.table(frame, "actions")


def numbers_file(book: Book, study: Asked, examined: Iterable[Mapping[str, Any]]) -> Path:
    """The figures as macros, each beginning with `CausalQuestions`: `numbers.tex`."""
    macros = dict(IN_PROSE)
    for language, asked in study.items():
        macros[f"{language} n"] = str(len(labelled(asked)))
        for share in question_study.figures(asked, book.plan):
            name = f"{language} {share['name']}"
            macros |= {f"{name} of": str(share["of"]), f"{name} hits": str(share["hits"])}
            macros |= numbers.with_interval(name, *(share[column] for column in with_bounds(["share"])))
        for status, questions in question_study.statuses(asked).items():
            macros[f"{language} {status}"] = str(len(questions))
        macros |= {f"published {name}": numbers.number(accuracy) for name, accuracy, _ in published_shares(language)}
    for model in examined:
        macros |= {f"{model['model']} truth": numbers.number(model["true"])}
        macros |= {f"{model['model']} naive": numbers.number(model["naive"])}
    named = {f"questions {words}": value.replace("-", "−") for words, value in macros.items()}
    return book.numbers(named, f"Questions: {counted(study)}.")
