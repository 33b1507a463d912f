"""The headline figures of a scored run as LaTeX macros."""

from __future__ import annotations

from pathlib import Path

from ovrag_core.evaluation import Json, confusion
from ovrag_core.report import numbers
from ovrag_core.report.run import Run


def numbers_file(run: Run, scores: Json) -> Path:
    """Macros of the headline figures of a scored run: `numbers.tex`."""
    arms = scores["arms"]
    values = {
        "RunName": run.name,
        "RunModel": run.model,
        "RunContracts": str(run.frame["document_id"].nunique()),
        "RunQuestions": str(run.frame["question_id"].nunique()),
        "RunQueries": str(len(run.frame)),
        **({"RunLabelled": str(run.labelled)} if run.labelled else {}),
        "RunConfidence": f"{run.plan.confidence:.0%}",
        "RunResamples": str(run.plan.samples),
        "BertscoreModel": str(scores["bertscore_model"]),
    }
    if any(result["rouge_l"] is not None for result in arms.values()):
        values["RunLikened"] = "true"
    for arm, result in arms.items():
        values |= _arm_numbers(arm, result)
    for arm, published in (run.published.arms if run.published else {}).items():
        names = [name for name, value in published.items() if not isinstance(value, dict)]
        values |= {numbers.macro_name("published", arm, name): f"{published[name]:g}" for name in names}
    comment = f"Run {run.name}, model {run.model}. Published...: as published by {run.publisher}."
    return numbers.write_numbers(values, run.tables / run.folder / "numbers.tex", comment, prefix=run.prefix)


def _arm_numbers(arm: str, result: Json) -> dict[str, str]:
    values = {}
    rates = ["precision", "recall", "f1", "hard_reject_rate", "rouge_l", "rouge_l_accepted", "wrong_contract_rate"]
    for name in rates:
        values[numbers.macro_name(arm, name)] = numbers.number(result[name])
        values[numbers.macro_name(arm, name, "interval")] = numbers.interval(result[f"{name}_interval"])
    for group, names in (
        ("confusion", [*confusion.MATRIX, *confusion.BESIDE]),
        ("corrections", ["needed", "succeeded"]),
        ("contracts", ["clashes", "clashes_flagged", "clean", "clean_flagged", "detection", "false_alarm"]),
        ("bertscore", ["precision", "recall", "f1", "f1_rescaled"]),
    ):
        values |= {numbers.macro_name(arm, group, name): numbers.number(result[group][name]) for name in names}
    for name in ("queries", "asked_contract_rate"):
        values[numbers.macro_name(arm, name)] = numbers.number(result.get(name))
    return values
