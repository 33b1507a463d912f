"""Where silence begins, learned once on queries whose answers are known, and kept in a file with its certificate.

The score of a query is that of the copied answer to it, whoever answers in the end. Queries that were calibrated on
keep the score of a model that has not seen them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ovrag_core.errors import ResultError
from ovrag_core.lines import one_line
from ovrag_core.studies.policy.answers import Answer, Evidence
from ovrag_core.studies.policy.golden import Query
from ovrag_core.studies.policy.silence import Answerability, Certificate, TraitReader, calibrate
from ovrag_core.types import Frozen

Copied = Callable[[str], tuple[Answer, Sequence[Evidence]]]
IsWrong = Callable[[Query, Answer], bool]


class Calibration(Frozen):
    """A model of scores with its certificate; `corpus` is the digest of the corpus, `golden` names the labels.

    `scores` are the cross-fitted ones of the queries of the calibration, by question.
    """

    format: Literal["ovrag-policy-calibration-1"] = "ovrag-policy-calibration-1"
    corpus: str
    golden: str
    certificate: Certificate
    model: Answerability
    scores: dict[str, float]

    @property
    def threshold(self) -> float:
        """The score from which an answer is given; where none is certified, more than any score."""
        return self.certificate.threshold if self.certificate.threshold is not None else 2.0

    def score(self, answer: Answer, evidence: Sequence[Evidence], reader: TraitReader, corpus: str) -> float:
        """The score of a copied answer over the corpus of this digest."""
        if corpus == self.corpus and answer.query in self.scores:
            return self.scores[answer.query]
        return self.model.score(reader.read(answer, evidence).row)


def learn(
    queries: Sequence[Query],
    copied: Copied,
    is_wrong: IsWrong,
    reader: TraitReader,
    corpus: str,
    golden: str,
    levels: tuple[float, float],
) -> Calibration:
    """A calibration on queries; `levels` are alpha and delta. Raises SettingsError where all answers are alike."""
    traits, wrong = [], []
    for query in queries:
        answer, evidence = copied(query.question)
        traits.append(reader.read(answer, evidence))
        wrong.append(is_wrong(query, answer))
    made = calibrate(traits, wrong, *levels)
    scores = {query.question: score for query, score in zip(queries, made.scores, strict=True)}
    return Calibration(corpus=corpus, golden=golden, certificate=made.certificate, model=made.model, scores=scores)


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration. Raises ResultError where that cannot be done."""
    try:
        path.write_text(calibration.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{path} cannot be written ({error.strerror}); name a file in a folder that exists") from None


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file. Raises ResultError where it is none."""
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ResultError(f"{path} cannot be read ({error.strerror}); `ovrag policy calibrate` writes one") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise ResultError(
            f"{path}: {one_line(where, 80)}: {one_line(first['msg'])}; `ovrag policy calibrate` writes one"
        ) from None
