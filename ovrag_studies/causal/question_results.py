"""Tables, figures and macros of causal questions, each with the note that says what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy
import pandas

from ovrag_core.evaluation.statistics import Estimate, wilson
from ovrag_core.report import numbers
from ovrag_core.report.tables import Note
from ovrag_studies.causal import question_inside, question_metrics, question_pictures
from ovrag_studies.causal.book import FOLDER, NO_MODEL, Book, System, bounds, figure, published, table
from ovrag_studies.causal.identification_examples import Examined
from ovrag_studies.causal.question_metrics import Asked, Judged, Share
from ovrag_studies.causal.question_study import QuestionStudy
from ovrag_studies.causal.questions import Language, Solved

ARM = "parser and exact inference, from the text alone"
NAMES: Mapping[Language, str] = {"rules": "rules", "numbers": "numbers"}
BENCHMARKS: Mapping[Language, str] = {"rules": "CounterBench", "numbers": "CLadder"}
CLUSTERS: Mapping[Language, str] = {"rules": "texts", "numbers": "models"}
OVER = "texts (rules) and models (numbers)"
WILSON = "Where all clusters agree: Wilson, with the clusters as n"
AS_LABELLED, CONTESTED, OTHERWISE = "as labelled", "label contested", "otherwise, unflagged"
NOT_IDENTIFIED, BY_ROUNDING, FLAGGED = "not identified", "open by rounding", "otherwise, flagged"
PARTS = (AS_LABELLED, CONTESTED, NOT_IDENTIFIED, BY_ROUNDING, FLAGGED, OTHERWISE)
NOTHING = Estimate(None)
# Figures that the section of the study names, where a file of questions does not have them.
IN_PROSE: Mapping[str, str] = {
    "rules label and rules agree": "n/a",
    "numbers not identified": "0",
    "numbers not identified precision": "n/a",
    "numbers open by rounding": "0",
    "numbers open by rounding precision": "n/a",
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


def _note(book: Book, study: QuestionStudy, *, cluster: str = OVER, more: str = "") -> Note:
    parts = [more] if more else []
    parts += [WILSON] if cluster else []
    return book.note(NO_MODEL, ARM, _counted(study), cluster, ". ".join(parts))


def _counted(study: QuestionStudy) -> str:
    told = [
        f"{len(asked.judged)} labelled questions in the language of {BENCHMARKS[language]} ({study.files[language]}, "
        f"{len({each.question.group for each in asked.judged})} {CLUSTERS[language]})"
        for language, asked in study.asked.items()
    ]
    return "; ".join(told)


def _columns(found: Share) -> dict[str, object]:
    return {"hits": found.hits, "of": found.of, **bounds("share", found.estimate), "clusters": found.estimate.clusters}


def _published(language: Language) -> list[System]:
    return published()["counterbench" if language == "rules" else "cladder"]


# -- answers ----------------------------------------------------------------------------------------------------------


def questions_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """The headline shares, with published accuracies beside: `questions`."""
    rows: list[dict[str, object]] = []
    for language, asked in study.asked.items():
        named = {"questions": NAMES[language]}
        rows += [named | {"figure": each.name, **_columns(each)} for each in question_metrics.figures(asked, book.plan)]
        constant = _constant(asked, book)
        rows.append(named | {"figure": constant.name, **_columns(constant)})
        rows += [
            named | {"figure": f"{each['system']} (published)", "of": each["questions"], "share": each["accuracy"]}
            for each in _published(language)
        ]
    columns = ["questions", "figure", "hits", "of", "share", "share_low", "share_high", "clusters"]
    frame = pandas.DataFrame(rows, columns=columns).astype({"hits": "Int64", "of": "Int64", "clusters": "Int64"})
    more = (
        "A question without an answer is not right. Contested: the printed rules contradict the label; labels as given "
        "count them as they are. Published figures rest on the whole benchmarks (CLadder: its balanced release), and "
        "the runs of CAF and RAG were cut at 8 tokens"
    )
    caption = "Causal questions answered from their text, and published accuracies."
    return table(book, frame, "questions", caption, _note(book, study, more=more))


def _constant(asked: Asked, book: Book) -> Share:
    """What the commonest label is worth."""
    most = max(("yes", "no"), key=lambda label: sum(each.question.label == label for each in asked.judged))
    name = f"labels as given, by always saying {most}"
    return question_metrics.share(name, asked.judged, lambda each: each.question.label == most, book.plan)


def groups_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Shares right by type, graph, rung and variant: `questions_groups`."""
    rows = [
        {"questions": NAMES[language], "by": field, "group": each.name, **_columns(each)}
        for language, asked in study.asked.items()
        for field, shares in question_metrics.groups(asked, book.plan).items()
        for each in shares
    ]
    columns = ["questions", "by", "group", "hits", "of", "share", "share_low", "share_high", "clusters"]
    frame = pandas.DataFrame(rows, columns=columns)
    more = "Labels as given. Groups are those of the data sets, for scoring alone"
    caption = "Questions answered as labelled, by type, graph, rung and variant."
    return table(book, frame, "questions_groups", caption, _note(book, study, more=more))


def accuracy_figure(book: Book, study: QuestionStudy) -> Path:
    """Shares right by type, published ones beside: `questions_accuracy`."""
    tables = {}
    for language, asked in study.asked.items():
        everything = question_metrics.share("all", asked.judged, question_metrics.is_right, book.plan)
        by_type = question_metrics.groups(asked, book.plan).get("type", [])
        rows = [_mark(TYPES.get(each.name, each.name), each.estimate, each.of) for each in (everything, *by_type)]
        rows += [
            {"row": each["system"], "value": each["accuracy"], "n": each["questions"], "published": True}
            for each in _published(language)
        ]
        title = f"{NAMES[language]}, in the language of {BENCHMARKS[language]}"
        tables[title] = pandas.DataFrame(rows, columns=["row", "value", "low", "high", "n", "published"])
    fig = question_pictures.accuracies(tables, book.width)
    caption = "Causal questions answered as labelled, by type, and published accuracies."
    return figure(book, fig, "questions_accuracy", caption, _note(book, study))


def _mark(name: str, found: Estimate, n: int) -> dict[str, object]:
    return {"row": name, "value": found.value, "low": found.low, "high": found.high, "n": n, "published": False}


def outcome(judged: Judged) -> str:
    """What became of a question, one of `PARTS`."""
    status = judged.solved.status
    if status in (NOT_IDENTIFIED, BY_ROUNDING):
        return status
    if judged.contested:
        return CONTESTED
    if judged.right:
        return AS_LABELLED
    return OTHERWISE if status == "determined" else FLAGGED


def outcomes_figure(book: Book, study: QuestionStudy) -> Path:
    """What became of the questions of each type: `questions_outcomes`."""
    tables = {}
    for language, asked in study.asked.items():
        kinds = sorted({each.question.kind for each in asked.judged})
        counts = [
            [sum(outcome(each) == part for each in asked.judged if each.question.kind == kind) for part in PARTS]
            for kind in kinds
        ]
        tables[NAMES[language]] = pandas.DataFrame(
            counts, index=[TYPES.get(kind, kind) for kind in kinds], columns=list(PARTS)
        )
    kept = [part for part in PARTS if any(int(each[part].sum()) for each in tables.values())]
    fig = question_pictures.outcomes(tables, kept, book.width)
    more = "Numbers in the bars count questions. What is flagged is answered too, with its assumption"
    caption = "What became of causal questions, by type."
    return figure(book, fig, "questions_outcomes", caption, _note(book, study, cluster="", more=more))


def status_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Questions by status, and how good each flag is: `questions_status`."""
    rows: list[dict[str, object]] = []
    for language, asked in study.asked.items():
        flags = question_metrics.flags(asked, book.plan)
        for status, judged in question_metrics.statuses(asked).items():
            flag = flags.get(status)
            known = (flag.precision, flag.recall) if flag else (None, None)
            rows.append(_status_row(book, language, status, judged, *known))
        if language == "rules":
            rows.append(_contested_row(book, asked))
    columns = ["questions", "status", "n", "answered", *_shares("as labelled", "precision", "recall")]
    more = (
        "As labelled: of the questions with a label. Precision and recall of a flag are against the data set's own "
        "graph, type and order of numbers, or its list of contested labels; n/a where nothing else tells. Answered: "
        "flagged ones too, under the assumption that is named"
    )
    caption = "What questions are said to be, and whether they are."
    frame = pandas.DataFrame(rows, columns=columns)
    return table(book, frame, "questions_status", caption, _note(book, study, more=more))


def _status_row(
    book: Book, language: Language, status: str, judged: Sequence[Judged], precision: Share | None, recall: Share | None
) -> dict[str, object]:
    labelled = [each for each in judged if each.question.label is not None]
    right = question_metrics.share(status, labelled, question_metrics.is_right, book.plan)
    return {
        "questions": NAMES[language],
        "status": status,
        "n": len(judged),
        "answered": sum(each.solved.answer is not None for each in judged),
        **bounds("as labelled", right.estimate),
        **bounds("precision", precision.estimate if precision else NOTHING),
        **bounds("recall", recall.estimate if recall else NOTHING),
    }


def _contested_row(book: Book, asked: Asked) -> dict[str, object]:
    """Labels that the rules contradict, which cuts across statuses."""
    contested = [each for each in asked.judged if each.contested]
    named = {each.name: each for each in question_metrics.figures(asked, book.plan)}
    found = (named.get("contested of those found"), named.get("contested labels found"))
    return _status_row(book, "rules", CONTESTED, contested, *found)


def _shares(*names: str) -> list[str]:
    """The columns of shares and their bounds."""
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def flagged_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """One question of every status that is not “determined”, with the reason: `questions_flagged`."""
    rows = [
        {
            "questions": NAMES[each.question.language],
            "status": each.status,
            "asked": each.question.asked,
            "answer": each.answer or "none",
            "label": each.question.label or "none",
            "reason": each.reason,
            "would suffice": each.record.get("assumption") or "",
        }
        for each in question_inside.of_each_status(study.asked.values())
    ]
    frame = pandas.DataFrame(
        rows, columns=["questions", "status", "asked", "answer", "label", "reason", "would suffice"]
    )
    more = "The first question of each status. An answer to what is not identified rests on what would suffice"
    caption = "Questions that their text does not determine, and why."
    return table(book, frame, "questions_flagged", caption, _note(book, study, cluster="", more=more))


def contested_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Labels that the rules of their own question contradict, a row a text: `questions_contested`."""
    by_text: dict[str, list[Judged]] = {}
    for each in study.asked["rules"].judged:
        if each.contested:
            by_text.setdefault(each.question.group, []).append(each)
    rows = [
        {
            "text": group,
            "questions": len(judged),
            "asked": judged[0].question.asked,
            "label": judged[0].question.label,
            "rules": judged[0].solved.answer,
            "derivation": "; ".join(judged[0].solved.lines),
        }
        for group, judged in by_text.items()
    ]
    frame = pandas.DataFrame(rows, columns=["text", "questions", "asked", "label", "rules", "derivation"])
    more = "One naming of each text is shown; questions: its namings. Rules: the answer that the printed rules give"
    caption = "Labels that the printed rules contradict, with the derivation."
    return table(book, frame, "questions_contested", caption, _note(book, study, cluster="", more=more))


def wrong_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Determined answers that differ from a label that nothing contests: `questions_wrong`."""
    rows = [
        {
            "question": each.question.id,
            "type": each.question.kind,
            "label": each.question.label,
            "answer": each.solved.answer or "none",
            "value": each.solved.record.get("value"),
            "truth": each.traits.truth,
            "why": why,
        }
        for asked in study.asked.values()
        for each, why in question_metrics.unexplained(asked)
        if not each.contested
    ]
    frame = pandas.DataFrame(rows, columns=["question", "type", "label", "answer", "value", "truth", "why"])
    more = "Value: from the printed numbers; truth: the data set's own ground truth, which the solver does not see"
    caption = "Answers called determined that are not the label."
    return table(book, frame, "questions_wrong", caption, _note(book, study, cluster="", more=more))


def replay_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Recorded answers of models, as recorded and by the words of their replies: `questions_replayed`."""
    rows = [
        {
            "run": each.name,
            "replies": each.questions,
            "distinct": each.distinct,
            "answered": each.answered,
            **bounds("right", wilson(each.right, each.questions, book.plan.confidence)),
            **bounds("right of answered", wilson(each.right, each.answered, book.plan.confidence)),
            "worded": each.worded,
            **bounds("right of worded", wilson(each.worded_right, each.worded, book.plan.confidence)),
            "told": each.told,
        }
        for each in study.replays
    ]
    columns = ["run", "replies", "distinct", "answered", *_shares("right", "right of answered")]
    columns += ["worded", *_shares("right of worded"), "told"]
    frame = pandas.DataFrame(rows, columns=columns)
    more = (
        "Distinct: different replies. Right: of all, as it is published. Worded: yes or no is a word of its own in the "
        "reply, of which the first counts. Told: the prompt held an answer that had been worked out before. Intervals: "
        f"{book.plan.confidence:.0%}, Wilson over questions, as the files name no texts"
    )
    runs = ", ".join(f"{each.questions} replies of {each.name}" for each in study.replays) or "no recorded run"
    note = book.note("as each run names it", "recorded by others, replayed", runs, more=more)
    return table(book, frame, "questions_replayed", "What the recorded answers of models are worth.", note)


def latency_table(book: Book, study: QuestionStudy) -> pandas.DataFrame:
    """Milliseconds to read and solve a question, which differ from run to run: `latency_questions`."""
    rows = []
    for language, asked in study.asked.items():
        spent = [1000 * each.seconds for each in (*asked.judged, *asked.unlabelled)]
        row = {"questions": NAMES[language], "n": len(spent), "median": float(numpy.median(spent))}
        rows.append(row | {"95th percentile": float(numpy.quantile(spent, 0.95)), "longest": max(spent)})
    more = "Milliseconds of the processor; of each language the first question loads what the others share"
    note = _note(book, study, cluster="", more=more)
    return table(book, pandas.DataFrame(rows), "latency_questions", "Milliseconds to read and solve a question.", note)


# -- from the inside --------------------------------------------------------------------------------------------------


def inside_table(book: Book, shown: Sequence[Solved]) -> pandas.DataFrame:
    """Questions from the inside, step by step: `questions_inside`."""
    frames = [question_inside.steps(each).assign(question=NAMES[each.question.language]) for each in shown]
    frame = pandas.concat(frames, ignore_index=True)[["question", "step", "text"]]
    frame["text"] = frame["text"].map(question_inside.in_words)
    frame.loc[frame["question"] == frame["question"].shift(), "question"] = ""
    note = book.note(NO_MODEL, ARM, f"{len(shown)} questions")
    return table(book, frame, "questions_inside", "Causal questions from the inside.", note)


def inside_figure(book: Book, shown: Sequence[Solved]) -> Path:
    """The graphs of questions, as read from their text: `questions_inside`."""
    drawn = {
        f"{NAMES[each.question.language]}: {each.question.asked}": graph
        for each in shown
        if (graph := question_inside.graph(each)) is not None
    }
    note = book.note(NO_MODEL, ARM, f"{len(drawn)} questions")
    fig = question_pictures.graphs(drawn, book.width)
    return figure(book, fig, "questions_inside", "The causal graphs of questions, as read from their text.", note)


# -- prose ------------------------------------------------------------------------------------------------------------


def numbers_file(book: Book, study: QuestionStudy, examined: Iterable[Examined]) -> Path:
    """The figures as macros, each beginning with `CausalQuestions`: `numbers_questions.tex`."""
    told = dict(IN_PROSE)
    for language, asked in study.asked.items():
        told |= {f"{language} n": str(len(asked.judged))}
        for each in question_metrics.figures(asked, book.plan):
            found = each.estimate
            told |= numbers.with_interval(f"{language} {each.name}", found.value, found.low, found.high)
            told |= {f"{language} {each.name} of": str(each.of), f"{language} {each.name} hits": str(each.hits)}
        told |= {f"{language} {status}": str(len(of)) for status, of in question_metrics.statuses(asked).items()}
        for status, flag in question_metrics.flags(asked, book.plan).items():
            for end, part in (("precision", flag.precision), ("recall", flag.recall)):
                found = part.estimate
                told |= numbers.with_interval(f"{language} {status} {end}", found.value, found.low, found.high)
        for system in _published(language):
            told |= {f"published {system['system']}": numbers.number(system["accuracy"])}
    for model in examined:
        told |= {f"{model.example.name} truth": numbers.number(model.truth)}
        told |= {f"{model.example.name} naive": numbers.number(model.naive)}
    named = {numbers.macro_name("causal questions", name): value.replace("-", "−") for name, value in told.items()}
    return numbers.write_numbers(
        named, book.tables / FOLDER / "numbers_questions.tex", f"Questions: {_counted(study)}."
    )


def sentences(book: Book, study: QuestionStudy) -> list[str]:
    """What the questions show, computed from the results."""
    lines = []
    for language, asked in study.asked.items():
        for each in question_metrics.figures(asked, book.plan):
            found = each.estimate
            between = "" if found.low is None else f" {numbers.interval([found.low, found.high])}"
            lines.append(
                f"{NAMES[language]}: {each.name}: {each.hits} of {each.of}, {numbers.number(found.value)}{between}"
            )
    return lines
