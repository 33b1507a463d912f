"""Rule for silence: a score of how surely an answer is right, and a threshold on it that a test certifies.

Learn-then-test (Angelopoulos et al. 2021): thresholds of a fixed grid are tested from strict to lax, each by the
binomial tail of its errors, until one fails. It holds for queries exchangeable with those of the calibration, if scores
were fixed without their labels: the reader, COSINE and MEAN were, by documents that no golden set is about; retrieval
and the choice of sentences were built with the samples and the dissertation's corpus at hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log
from pathlib import Path
from typing import Literal

from scipy import stats

from ovrag_core.base import Frozen, ResultError, parse, read_text, write_text
from ovrag_core.text import find_passages
from ovrag_studies.cited.answering.quotations import CitedAnswer
from ovrag_studies.cited.corpus.relevance import load_reader
from ovrag_studies.cited.corpus.retrieval import Nearness, RankedParagraph

REMEDY = "`ovrag policy calibrate` writes one"
BUNDLED = Path(__file__).parents[1] / "weights" / "calibration.json"  # by tools/train_policy_silence.py
# Log-odds from 7 to -7 in steps of a twentieth: even where scores crowd, near 0 and 1.
GRID = tuple(1 / (1 + exp(-step / 20)) for step in range(140, -141, -1))
# Chosen by `tools/train_policy_reader.py --measure` on three documents that the reader does not learn from.
COSINE = 3.0  # what a cosine of 1 counts beside log-odds
MEAN = 2.0  # what the mean log-odds count beside the best
SCALE, SHIFT = 0.4, -3.0


@dataclass(frozen=True, slots=True)
class Certificate:
    """The outcome of the test on `n` calibration queries: at `threshold`, `answered` of them are, `errors` wrongly.

    `p` is the chance of no more errors at a risk of `alpha`; `coverage` is answered ÷ n. Where not even the strictest
    threshold passes, `certified` is False, `threshold` None, and the counts are those of the one that failed.
    """

    threshold: float | None
    alpha: float
    delta: float
    n: int
    answered: int
    errors: int
    coverage: float
    p: float
    certified: bool

    @property
    def text(self) -> str:
        """The certificate in one line."""
        counts = f"{self.answered} of {self.n} answered, {self.errors} wrong; p = {self.p:.3f}"
        if not self.certified:
            return f"not certified at alpha = {self.alpha}, delta = {self.delta}: {counts}"
        return f"certified at alpha = {self.alpha}, delta = {self.delta}: threshold {self.threshold:.3f}, {counts}"


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

    def doubt(self, score: float) -> str:
        """Return why an answer with this score is not given; empty where it is."""
        if score >= self.threshold:
            return ""
        if not self.certificate.certified:
            return "no threshold is certified"
        return f"score {score:.3f} is below the certified threshold {self.threshold:.3f}"


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration. Raises ResultError where that cannot be done."""
    write_text(calibration.model_dump_json(indent=1) + "\n", path, ResultError)


def read_calibration(path: Path) -> Calibration:
    """Return the calibration in a file. Raises ResultError where it is none."""
    return parse(read_text(path, ResultError, REMEDY), Calibration, str(path), ResultError, REMEDY)


def least_answers(alpha: float, delta: float) -> int:
    """Return how many queries must be answered to certify a risk of `alpha`, even without an error."""
    return ceil(log(delta) / log(1 - alpha))


def learn_then_test(
    scores: Sequence[float], wrong: Sequence[bool], alpha: float = 0.10, delta: float = 0.10
) -> Certificate:
    """Return the laxest threshold of GRID up to which no test fails; an answer is given from the threshold on.

    `wrong` tells of each calibration query whether its answer would be an error. The first threshold tested is the
    strictest that answers as many queries as can be certified at all; it depends on scores only.
    """
    certified, least = None, least_answers(alpha, delta)
    for certificate in (certificate_at(scores, wrong, threshold, alpha, delta) for threshold in GRID):
        if certificate.answered >= least:
            if certificate.p > delta:
                break
            certified = certificate
    return certified or replace(certificate, threshold=None, certified=False)


def certificate_at(
    scores: Sequence[float], wrong: Sequence[bool], threshold: float, alpha: float, delta: float
) -> Certificate:
    """Return the certificate of a threshold that passes: what is answered from it on, and wrongly."""
    outcomes = [bad for score, bad in zip(scores, wrong, strict=True) if score >= threshold]
    n, answered, errors = len(scores), len(outcomes), sum(outcomes)
    p = float(stats.binom.cdf(errors, answered, alpha)) if answered else 1.0
    return Certificate(threshold, alpha, delta, n, answered, errors, answered / n if n else 0.0, p, True)


@dataclass(frozen=True, slots=True)
class AnswerTraits:
    """Support for an answer by paragraph of its evidence: the reader's log-odds that it answers the query, and the mean
    cosine of the query with it and with its best sentence.
    """

    odds: tuple[float, ...]
    cosines: tuple[float, ...]

    def score(self, cosine: float, mean: float) -> float:
        """Score how sure the answer is, 0 to 1: by log-odds and cosine of the best paragraph, and mean log-odds."""
        best = max(odds + cosine * near for odds, near in zip(self.odds, self.cosines, strict=True))
        return 1 / (1 + exp(-SCALE * (best + mean * sum(self.odds) / len(self.odds)) - SHIFT))


def read_traits(answer: CitedAnswer, evidence: Sequence[RankedParagraph], nearness: Nearness) -> AnswerTraits | None:
    """The traits of an answer that was made from this evidence; None where there is no answer."""
    texts = list(dict.fromkeys(ranked.paragraph.text for ranked in evidence))
    if answer.silent or not texts:
        return None
    cosines = []
    for text in texts:
        sentences = [text[start:end] for start, end in find_passages(text)]
        whole, *parts = nearness.likeness(answer.query, [text, *sentences])
        cosines.append((whole + max(parts, default=whole)) / 2)
    return AnswerTraits(tuple(load_reader().judge(answer.query, texts)), tuple(cosines))


def score_answer(answer: CitedAnswer, evidence: Sequence[RankedParagraph], nearness: Nearness) -> float:
    """Score how surely an answer that was made from this evidence is right, 0 to 1."""
    traits = read_traits(answer, evidence, nearness)
    return traits.score(COSINE, MEAN) if traits else 0.0
