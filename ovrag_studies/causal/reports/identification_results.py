"""Tables of small models: what is identified, and what is seen, done and imagined."""

from collections.abc import Sequence

import pandas

from ovrag_core.report import numbers
from ovrag_core.study import Book
from ovrag_studies.causal.models import identification_examples
from ovrag_studies.causal.models.identification import Estimand
from ovrag_studies.causal.models.identification_examples import Examined
from ovrag_studies.causal.questions.question_inside import in_words


def identification_table(book: Book, examined: Sequence[Examined]) -> pandas.DataFrame:
    """Table of what graphs let one compute, and why not: `identification`."""
    frame = pandas.DataFrame([_row(model) for model in examined])
    shown = frame.drop(columns="naive")
    return book.table(shown, "identification", {"models": len(frame)}, full=frame)


def _row(examined: Examined) -> dict[str, object]:
    answer = examined.found
    return {
        "model": examined.example.name + (", direct effect" if examined.example.asked.kind == "nde" else ""),
        "identified": f"by {answer.method}" if isinstance(answer, Estimand) else "no",
        "by": in_words(answer.formula) if isinstance(answer, Estimand) else f"open: {answer.path}",
        "would suffice": "" if isinstance(answer, Estimand) else answer.assumption,
        "computed": examined.estimate,
        "bounds": numbers.interval(examined.bounds).replace("-", "−"),
        "naive": examined.naive,
        "true": examined.truth,
    }


def actions_table(book: Book) -> pandas.DataFrame:
    """Table of what is seen, done and imagined in a small model: `actions`."""
    model = identification_examples.measured_confounder()
    frame = pandas.DataFrame(identification_examples.quantities(model), columns=["quantity", "symbol", "value"])
    return book.table(frame, "actions")
