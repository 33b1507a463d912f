"""Tables and figures of small models: what is identified, what is done and imagined, and what two libraries say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas

from ovrag_core.report import numbers
from ovrag_core.study.book import Book
from ovrag_studies.causal.reports import question_pictures
from ovrag_studies.causal.models import identification_examples
from ovrag_studies.causal.models.identification import Estimand
from ovrag_studies.causal.models.identification_examples import Examined, GraphAgreement
from ovrag_studies.causal.questions.question_inside import in_words


def identification_table(book: Book, examined: Sequence[Examined]) -> pandas.DataFrame:
    """What graphs let one compute, and why not: `identification`."""
    frame = pandas.DataFrame([_row(each) for each in examined])
    shown = frame.drop(columns="naive")
    return book.table(shown, "identification", {"models": len(frame)}, full=frame)


def _row(examined: Examined) -> dict[str, object]:
    found = examined.found
    return {
        "model": _title(examined),
        "identified": f"by {found.method}" if isinstance(found, Estimand) else "no",
        "by": in_words(found.formula) if isinstance(found, Estimand) else f"open: {found.path}",
        "would suffice": "" if isinstance(found, Estimand) else found.assumption,
        "computed": examined.estimate,
        "bounds": numbers.interval(examined.bounds).replace("-", "−"),
        "naive": examined.naive,
        "true": examined.truth,
    }


def _title(examined: Examined) -> str:
    of = ", direct effect" if examined.example.asked.kind == "nde" else ""
    return f"{examined.example.name}{of}"


def identification_figure(book: Book, examined: Sequence[Examined]) -> Path:
    """Effects as they look, as computed, bounded, and as they are: `identification`."""
    rows = [
        {
            "model": _title(each),
            "truth": each.truth,
            "naive": each.naive,
            "estimate": each.estimate,
            "low": each.bounds[0] if each.bounds else None,
            "high": each.bounds[1] if each.bounds else None,
        }
        for each in examined
    ]
    fig = question_pictures.effects(pandas.DataFrame(rows), book.width)
    return book.figure(fig, "identification", {"models": len(rows)})


def libraries_table(book: Book, agreements: Sequence[GraphAgreement]) -> pandas.DataFrame:
    """Own enumerator, pgmpy and y0 on the same graphs: `identification_libraries`."""
    named = [each for each in agreements if not each.name.startswith("random")]
    drawn = [each for each in agreements if each.name.startswith("random")]
    rows = [_agreed(each.name, [each]) for each in named]
    rows += [_agreed(f"{len(drawn)} random graphs", drawn)] if drawn else []
    return book.table(pandas.DataFrame(rows), "identification_libraries", {"graphs": len(agreements)})


def _agreed(name: str, of: Sequence[GraphAgreement]) -> dict[str, object]:
    return {
        "graph": name,
        "back-door sets": sum(each.back_doors for each in of),
        "front-door sets": sum(each.front_doors for each in of),
        "identified": f"{sum(each.identified for each in of)} of {len(of)}",
        "pgmpy agrees": f"{sum(each.pgmpy for each in of)} of {len(of)}",
        "y0 agrees": f"{sum(each.y0 for each in of)} of {len(of)}",
    }


def actions_table(book: Book) -> pandas.DataFrame:
    """What is seen, done and imagined in a small model: `actions`."""
    model = identification_examples.measured_confounder()
    asked = "P(y | do x)"
    theirs = {asked: identification_examples.done_by_pgmpy(model)}
    rows = [
        {"quantity": words, "symbol": symbol, "value": value, "by pgmpy": theirs.get(symbol)}
        for words, symbol, value in identification_examples.quantities(model)
    ]
    return book.table(pandas.DataFrame(rows), "actions")


def stability_figure(book: Book, epsilon: float) -> Path:
    """How unstable an effect is by how much the context matters: `questions_stability`."""
    curve = identification_examples.stability_curve()
    curves = {
        "the context turns the effect": [(strength, turned) for strength, turned, _ in curve],
        "the context adds to the outcome": [(strength, added) for strength, _, added in curve],
    }
    fig = question_pictures.stability(curves, epsilon, book.width)
    return book.figure(fig, "questions_stability", {"models": 2 * len(curve)})
