"""Tables, figures and macros of causal questions; captions and notes stand in `captions.yaml`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pandas

from ovrag_core.base import Settings
from ovrag_core.report import numbers, with_bounds
from ovrag_core.study import Book, bounds, milliseconds, told
from ovrag_core.study import book as books
from ovrag_studies.causal.models.identification_examples import Examined
from ovrag_studies.causal.questions import question_inside, question_metrics
from ovrag_studies.causal.questions.question_files import Language, Solved
from ovrag_studies.causal.questions.question_metrics import JudgedQuestion, QuestionFile, QuestionShare
from ovrag_studies.causal.questions.question_study import QuestionStudy
from ovrag_studies.causal.reports import pictures
from ovrag_studies.causal.reports.published import published
from ovrag_studies.causal.settings import Causal

BENCHMARKS: Mapping[Language, str] = {"rules": "CounterBench", "numbers": "CLadder"}
CLUSTERS: Mapping[Language, str] = {"rules": "texts", "numbers": "models"}
WILSON = "Where all clusters agree: Wilson, with the clusters as n"
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


def open_book(settings: Settings, study: QuestionStudy) -> Book:
    """Return the book of the settings, whose notes tell on which questions results rest."""
    opened = books.open_book(settings, Causal, questions=_counted(study), wilson=WILSON)
    return replace(opened, folder="causal_questions")


def _counted(study: QuestionStudy) -> str:
    counted = [
        f"{len(question_file.judged)} labelled questions in the language of {BENCHMARKS[language]} "
        f"({study.files[language]}, {len({j.question.group for j in question_file.judged})} {CLUSTERS[language]})"
        for language, question_file in study.asked.items()
    ]
    return "; ".join(counted)


def _columns(found: QuestionShare) -> dict[str, object]:
    return {"hits": found.hits, "of": found.of, **bounds("share", found.estimate), "clusters": found.estimate.clusters}


def questions_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """The headline shares, with published accuracies beside: `questions`."""
    rows: list[dict[str, object]] = []
    for language, question_file in study.asked.items():
        named = {"questions": language}
        rows += [
            named | {"figure": share.name, **_columns(share)}
            for share in question_metrics.figures(question_file, book.plan)
        ]
        constant = _constant(question_file, book)
        rows.append(named | {"figure": constant.name, **_columns(constant)})
        rows += [
            named | {"figure": f"{system['name']} (published)", "of": system["questions"], "share": system["accuracy"]}
            for system in published()[language]
        ]
    frame = pandas.DataFrame(rows).astype({"hits": "Int64", "of": "Int64", "clusters": "Int64"})
    return book.table(frame, "questions")


def _constant(asked: QuestionFile, book: Book) -> QuestionShare:
    """Share right by always giving the commonest label."""
    most = max(("yes", "no"), key=lambda label: sum(j.question.label == label for j in asked.judged))
    name = f"labels as given, by always saying {most}"
    return question_metrics.share(name, asked.judged, book.plan, lambda each: each.question.label == most)


def groups_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Shares right by type, graph, rung and variant: `questions_groups`."""
    rows = [
        {"questions": language, "by": field, "group": share.name, **_columns(share)}
        for language, question_file in study.asked.items()
        for field, shares in question_metrics.groups(question_file, book.plan).items()
        for share in shares
    ]
    columns = ["questions", "by", "group", "hits", "of", *with_bounds(["share"]), "clusters"]
    return book.table(pandas.DataFrame(rows, columns=columns), "questions_groups")


def accuracy_figure(book: Book, study: QuestionStudy) -> Path:
    """Shares right by type, published ones beside: `questions_accuracy`."""
    tables = {}
    for language, question_file in study.asked.items():
        everything = question_metrics.share("all", question_file.judged, book.plan)
        by_type = question_metrics.groups(question_file, book.plan).get("type", [])
        rows: list[dict[str, object]] = [
            {"row": TYPES.get(share.name, share.name), **asdict(share.estimate), "n": share.of, "published": False}
            for share in (everything, *by_type)
        ]
        rows += [
            {"row": system["name"], "value": system["accuracy"], "n": system["questions"], "published": True}
            for system in published()[language]
        ]
        title = f"{language}, in the language of {BENCHMARKS[language]}"
        tables[title] = pandas.DataFrame(rows)
    return book.figure(pictures.accuracies(tables, book.width), "questions_accuracy")


def status_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Questions by status, and labels that the rules contradict, which cut across statuses: `questions_status`."""
    rows: list[dict[str, object]] = []
    for language, question_file in study.asked.items():
        groups = question_metrics.statuses(question_file)
        if language == "rules":
            groups["label contested"] = [j for j in question_file.judged if j.contested]
        for status, judged in groups.items():
            labelled = [j for j in judged if j.question.label is not None]
            right = question_metrics.share(status, labelled, book.plan)
            counted = {"n": len(judged), "answered": sum(j.solved.answer is not None for j in judged)}
            rows.append({"questions": language, "status": status, **counted, **bounds("as labelled", right.estimate)})
    return book.table(pandas.DataFrame(rows), "questions_status")


def flagged_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """One question of every status that is not “determined”, with the reason: `questions_flagged`."""
    columns = ["questions", "status", "asked", "answer", "label", "reason", "would suffice"]
    rows = []
    for solved in question_inside.of_each_status(study.asked.values()):
        question, assumption = solved.question, solved.record.get("assumption") or ""
        answers = (solved.answer or "none", question.label or "none")
        rows.append((question.language, solved.status, question.asked, *answers, solved.reason, assumption))
    return book.table(pandas.DataFrame(rows, columns=columns), "questions_flagged")


def contested_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Labels that the rules of their own question contradict, a row a text: `questions_contested`."""
    by_text: dict[str, list[JudgedQuestion]] = {}
    for judged_question in study.asked["rules"].judged:
        if judged_question.contested:
            by_text.setdefault(judged_question.question.group, []).append(judged_question)
    columns = ["text", "questions", "asked", "label", "rules", "derivation"]
    rows = []
    for group, judged in by_text.items():
        question, solved = judged[0].question, judged[0].solved
        rows.append((group, len(judged), question.asked, question.label, solved.answer, "; ".join(solved.lines)))
    return book.table(pandas.DataFrame(rows, columns=columns), "questions_contested")


def latency_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Milliseconds to read and solve a question, which differ from run to run: `latency_questions`."""
    rows = []
    for language, question_file in study.asked.items():
        spent = [q.seconds for q in (*question_file.judged, *question_file.unlabelled)]
        rows.append({"questions": language, **milliseconds(spent)})
    return book.table(pandas.DataFrame(rows), "latency_questions")


def inside_table(book: Book, shown: Sequence[Solved]) -> pandas.DataFrame:
    """Questions from the inside, step by step: `questions_inside`."""
    frames = [question_inside.steps(solved).assign(question=solved.question.language) for solved in shown]
    frame = pandas.concat(frames, ignore_index=True)[["question", "step", "text"]]
    frame["text"] = frame["text"].map(question_inside.in_words)
    frame.loc[frame["question"] == frame["question"].shift(), "question"] = ""
    return book.table(frame, "questions_inside", {"shown": len(shown)})


def numbers_file(book: Book, study: QuestionStudy, examined: Iterable[Examined]) -> Path:
    """The figures as macros, each beginning with `CausalQuestions`: `numbers.tex`."""
    macros = dict(IN_PROSE)
    for language, question_file in study.asked.items():
        macros[f"{language} n"] = str(len(question_file.judged))
        for share in question_metrics.figures(question_file, book.plan):
            name, found = f"{language} {share.name}", share.estimate
            macros |= {f"{name} of": str(share.of), f"{name} hits": str(share.hits)}
            macros |= numbers.with_interval(name, found.value, found.low, found.high)
        for status, judged in question_metrics.statuses(question_file).items():
            macros[f"{language} {status}"] = str(len(judged))
        macros |= {f"published {system['name']}": numbers.number(system["accuracy"]) for system in published()[language]}
    for model in examined:
        macros |= {f"{model.example.name} truth": numbers.number(model.truth)}
        macros |= {f"{model.example.name} naive": numbers.number(model.naive)}
    named = {f"questions {words}": value.replace("-", "−") for words, value in macros.items()}
    return book.numbers(named, f"Questions: {_counted(study)}.")


def sentences(book: Book, study: QuestionStudy) -> list[str]:
    """Say what the questions show, computed from the results."""
    return [
        f"{language}: {share.name}: {share.hits} of {share.of}, {told(share.estimate)}"
        for language, question_file in study.asked.items()
        for share in question_metrics.figures(question_file, book.plan)
    ]
