"""Rows of a run as the published system recorded them, and files of them."""

import csv
import json
from pathlib import Path

TRIPLE = {"sub": "TheLoan", "pred": "rdf:type", "obj": "SecuredLoan", "sub_type": "Loan", "obj_type": "Class"}


def a_try(number: int, valid: bool | None = True, **more: object) -> dict[str, object]:
    triples = more.pop("triples", [TRIPLE])
    return {"attempt_number": number, "answer": f"try {number}", "triples": triples, "is_valid": valid, **more}


def a_row(question: str = "Q1", condition: str = "ovrag", **more: object) -> dict[str, object]:
    """An accepted query as the published system recorded it."""
    values: dict[str, object] = {
        "contract_id": "007",
        "condition": condition,
        "question_id": question,
        "question_text": "Is it secured?",
        "ground_truth": "CLASH",
        "expect_clash": True,
        "clash_type": "secured_unsecured",
        "answer": "try 0",
        "triples": [TRIPLE],
        "validation_passed": True,
        "correction_attempts": [a_try(0)],
        "total_attempts": 1,
        "accepted_at_attempt": 0,
        "hard_reject": False,
        "error": None,
        "rouge_l": 0.25,
        "latency_rag": 1.5,
        "latency_extraction": 2.0,
        "latency_validation": 0.5,
        "latency_total": 4.25,
        "timestamp": "2026-02-17T00:32:57",
    }
    return values | more


def plain_row(question: str = "Q1", **more: object) -> dict[str, object]:
    nothing = {"triples": [], "correction_attempts": [], "validation_passed": None, "accepted_at_attempt": None}
    return a_row(question, "plain", **(nothing | more))


def as_json(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def as_csv(path: Path, *rows: dict[str, object], drop: tuple[str, ...] = ()) -> Path:
    flat = [{k: v for k, v in row.items() if not isinstance(v, list) and k not in drop} for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(flat[0]))
        writer.writeheader()
        writer.writerows(flat)
    return path
