"""Threshold of silence, learned once on queries whose answers are known, and kept in a file with its certificate."""

from pathlib import Path
from typing import Literal

from ovrag_core.base import Frozen, ResultError, parse, read_text, write_text
from ovrag_studies.cited.answering.silence import Certificate

REMEDY = "`ovrag policy calibrate` writes one"
BUNDLED = Path(__file__).parents[1] / "weights" / "calibration.json"  # by tools/train_policy_silence.py


class Calibration(Frozen):
    """A threshold of scores with its certificate; `corpus` is the digest of the corpus, `golden` names the labels.

    `documents` counts those of several corpora, and `new_document` is the least risk that they certify for another
    document of their kind at the certificate's delta; None where they certify none. `conflicts` is the same of reported
    conflicts, whose risk is that the query is about none, on the documents that taught no weights of conflicts.
    `learned_from` names the files of the bundled calibration.
    """

    format: Literal["ovrag-policy-calibration-2"] = "ovrag-policy-calibration-2"
    corpus: str
    golden: str
    certificate: Certificate
    documents: int = 1
    new_document: float | None = None
    conflicts: Certificate | None = None
    conflicts_in_new_document: float | None = None
    learned_from: dict[str, list[str] | str] | None = None

    @property
    def threshold(self) -> float:
        """The score from which an answer is given; where none is certified, more than any score."""
        return self.certificate.threshold if self.certificate.threshold is not None else 2.0


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration. Raises ResultError where that cannot be done."""
    write_text(calibration.model_dump_json(indent=1) + "\n", path, ResultError)


def read_calibration(path: Path) -> Calibration:
    """Return the calibration in a file. Raises ResultError where it is none."""
    return parse(read_text(path, ResultError, REMEDY), Calibration, str(path), ResultError, REMEDY)
