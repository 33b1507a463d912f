"""Where silence begins, learned once on queries whose answers are known, and kept in a file with its certificate.

The score of a query is that of the copied answer to it, whoever answers in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ovrag_core.base.errors import ResultError
from ovrag_core.base.types import Frozen
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.answering.cited_answers import CitedAnswer, ScoredParagraph
from ovrag_studies.cited.answering.silence import Certificate, TraitReader, learn_then_test
from ovrag_studies.cited.corpus.golden import GoldenQuery

Copied = Callable[[str], tuple[CitedAnswer, Sequence[ScoredParagraph]]]
IsWrong = Callable[[GoldenQuery, CitedAnswer], bool]


class Calibration(Frozen):
    """A threshold of scores with its certificate; `corpus` is the digest of the corpus, `golden` names the labels."""

    format: Literal["ovrag-policy-calibration-2"] = "ovrag-policy-calibration-2"
    corpus: str
    golden: str
    certificate: Certificate

    @property
    def threshold(self) -> float:
        """The score from which an answer is given; where none is certified, more than any score."""
        return self.certificate.threshold if self.certificate.threshold is not None else 2.0


def learn(
    queries: Sequence[GoldenQuery],
    copied: Copied,
    is_wrong: IsWrong,
    reader: TraitReader,
    corpus: str,
    golden: str,
    levels: tuple[float, float],
) -> Calibration:
    """A calibration on queries; `levels` are alpha and delta."""
    answers = [copied(query.question) for query in queries]
    scores = [reader.score(answer, evidence) for answer, evidence in answers]
    wrong = [is_wrong(query, answer) for query, (answer, _) in zip(queries, answers, strict=True)]
    return Calibration(corpus=corpus, golden=golden, certificate=learn_then_test(scores, wrong, *levels))


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
