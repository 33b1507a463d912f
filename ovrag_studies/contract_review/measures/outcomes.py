"""Outcome of one question of the checklist or of one hypothesis, in the same four words for both."""

from __future__ import annotations

from typing import Literal, get_args

from ovrag_studies.contract_review.measures.answer_metrics import AnsweredQuestion, best_text, cuad_match
from ovrag_studies.contract_review.measures.nli_metrics import AskedHypothesis

Outcome = Literal["right", "wrong", "silent", "unusable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def of_answer(asked: AnsweredQuestion, presence: float = 0.5) -> Outcome:
    """Return how the best answer fares by CUAD's rule, given where presence is at least `presence`.

    No answer is right where nothing is there, else silent.
    """
    if asked.failed:
        return "unusable"
    text = best_text(asked, presence)
    if text is None:
        return "silent" if asked.gold else "right"
    return "right" if any(cuad_match(gold, text, asked.category) for gold in asked.gold) else "wrong"


def of_hypothesis(asked: AskedHypothesis) -> Outcome:
    """Return how the choice fares; NotMentioned of what the agreement settles is silent."""
    if asked.given is None:
        return "unusable"
    if asked.given == asked.true:
        return "right"
    return "silent" if asked.given == "NotMentioned" else "wrong"
