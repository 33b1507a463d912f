"""When to be silent: a score of how surely an answer is right, and a threshold on it that is certified by a test.

Learn-then-test (Angelopoulos et al. 2021) with fixed-sequence testing: thresholds of a grid that was fixed beforehand
are tested from strict to lax, each by the binomial tail of its errors, until one fails. Risk is wrong ÷ answered. The
guarantee holds for queries that are exchangeable with those of the calibration, and for no others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, exp, log

import numpy
import numpy.typing as npt
from scipy import stats

from ovrag_core.errors import SettingsError
from ovrag_core.retrieval.embedding import Embedder, Vectors, minilm
from ovrag_core.studies.policy.answers import Answer, Evidence
from ovrag_core.studies.policy.deontic import names_people
from ovrag_core.studies.policy.quantities import find_quantities

Scores = npt.NDArray[numpy.float64]

# Log-odds from 7 to -7 in steps of a twentieth: even where scores crowd, near 0 and 1.
GRID = tuple(1 / (1 + exp(-step / 20)) for step in range(140, -141, -1))
FOLDS = 9
RIDGE = 2.0

_WORD = re.compile(r"[A-Za-z][\w’'-]+|\d+")
_ASKING_TEXT = """a an and any are as at be been both but by can could did do does each else for from had has have how
if in into is it its may must need no nor not of on one or other place section shall she he should so such than that the
their them then there these they this those to under upon was we were what when where whether which while who whom why
will with would you your i me my policy policies company rule rules employee employees staff allowed permitted required
require requirement requirements procedure procedures say says work works long often many much happen happens another
apply applies"""
_ASKING = frozenset(_ASKING_TEXT.split())
_ASKS_NUMBER = re.compile(
    r"\bhow\s+(?:many|much|long|often|frequently|soon|quickly|old|high|far|late|early)\b"
    r"|^\W*when\b|\b(?:by|since|until|and) when\b"
    r"|\b(?:minimum|maximum|limit|rate|cost|costs|price|amount|number|deadline|allowance|frequency|period)\b",
    re.I,
)
_ASKS_TIME = re.compile(
    r"\bhow\s+(?:long|often|frequently|soon|quickly|late|early)\b|^\W*when\b|\b(?:by|since|until|and) when\b"
    r"|\b(?:deadline|frequency|period)\b",
    re.I,
)
_ASKS_MONEY = re.compile(r"\b(?:costs?|price|fee|rate|salary|pay)\b", re.I)
_TIMES = frozenset({"minute", "month", "working day", "date", "time"})
_ASKS_PERSON = re.compile(r"\bwho(?:m|se)?\b|\bwhich (?:person|team|department|role|manager|officer)\b", re.I)


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


def least_answers(alpha: float, delta: float) -> int:
    """How many queries must be answered before a risk of `alpha` can be certified even without an error."""
    return ceil(log(delta) / log(1 - alpha))


def learn_then_test(
    scores: Sequence[float],
    wrong: Sequence[bool],
    alpha: float = 0.10,
    delta: float = 0.10,
    grid: Sequence[float] = GRID,
    start: int | None = None,
) -> Certificate:
    """The laxest threshold of the grid up to which no test fails; an answer is given from the threshold on.

    `wrong` says of each calibration query whether its answer would be an error. The first threshold tested is the
    strictest that answers `start` queries or more, by default the fewest that can be certified; it depends on scores
    only. Raises ValueError for lists of different lengths, a grid that is not falling, or levels outside 0 to 1.
    """
    if len(scores) != len(wrong):
        raise ValueError(f"{len(scores)} scores do not belong to {len(wrong)} answers")
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError("alpha and delta lie between 0 and 1")
    if any(second >= first for first, second in pairwise(grid)):
        raise ValueError("the grid of thresholds must fall from strict to lax")
    least = max(least_answers(alpha, delta), start or 0)
    last = Certificate(None, alpha, delta, len(scores), 0, 0, 0.0, 1.0, False)
    for threshold in grid:
        tested = _tested(scores, wrong, threshold, last)
        if tested.answered < least:
            last = replace(tested, threshold=None, certified=False) if not last.certified else last
            continue
        if tested.p > delta:
            return last if last.certified else replace(tested, threshold=None, certified=False)
        last = tested
    return last


def _tested(scores: Sequence[float], wrong: Sequence[bool], threshold: float, levels: Certificate) -> Certificate:
    given = [bad for score, bad in zip(scores, wrong, strict=True) if score >= threshold]
    answered, errors = len(given), sum(given)
    p = float(stats.binom.cdf(errors, answered, levels.alpha)) if answered else 1.0
    coverage = answered / levels.n if levels.n else 0.0
    return Certificate(threshold, levels.alpha, levels.delta, levels.n, answered, errors, coverage, p, True)


@dataclass(frozen=True, slots=True)
class Traits:
    """What speaks for an answer: the cosine of the query with the best paragraph, how near the evidence comes to the
    query's most foreign word, and whether a question for a number or a person gets one at once (1, -1, else 0).
    """

    paragraph: float
    word: float
    kind: float

    @property
    def row(self) -> tuple[float, ...]:
        """The numbers in order."""
        return (self.paragraph, self.word, self.kind)


class TraitReader:
    """Reads traits of answers; vectors of texts and words seen before are kept."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or minilm()
        self._vectors: dict[str, Vectors] = {}

    def read(self, answer: Answer, evidence: Sequence[Evidence]) -> Traits:
        """The traits of an answer that was made from this evidence."""
        paragraphs = list(dict.fromkeys(each.paragraph for each in evidence))
        cited = {citation.paragraph_id for each in answer.sentences for citation in each.citations}
        texts = [each.text for each in paragraphs if each.id in cited]
        if not texts:
            return Traits(0.0, 0.0, 0.0)
        wanted = _words(answer.query, but=_ASKING) or _words(answer.query)
        held = _words(" ".join(texts))
        whole = self._cosines([answer.query], [each.text for each in paragraphs])
        near = self._cosines(wanted, held).max(axis=1) if wanted and held else numpy.zeros(1)
        kind = _kind(answer.query, answer.sentences[0].text)
        return Traits(float(whole.max()), float(near.min()), kind)

    def _cosines(self, left: Sequence[str], right: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys([*left, *right]) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        rows, columns = (numpy.stack([self._vectors[text] for text in texts]) for texts in (left, right))
        cosines: Vectors = rows @ columns.T
        return cosines


def _words(text: str, but: frozenset[str] = frozenset()) -> list[str]:
    return [word for word in dict.fromkeys(match.lower() for match in _WORD.findall(text)) if word not in but]


def _kind(query: str, sentence: str) -> float:
    held: list[bool] = []
    units = {each.unit for each in find_quantities(sentence)} - {"item", "code"}
    if _ASKS_TIME.search(query):
        held.append(bool(units & _TIMES))
    elif _ASKS_NUMBER.search(query):
        held.append(bool(units - _TIMES if _ASKS_MONEY.search(query) else units))
    if _ASKS_PERSON.search(query):
        held.append(names_people(sentence))
    return 0.0 if not held else 1.0 if all(held) else -1.0


@dataclass(frozen=True, slots=True)
class Answerability:
    """A logistic model: traits are standardised by `means` and `scales`, weighted, and brought to 0 to 1."""

    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    def score(self, row: Sequence[float]) -> float:
        """How surely the answer is right, by its traits. Raises ValueError for another number of them."""
        if len(row) != len(self.weights):
            raise ValueError(f"the model has {len(self.weights)} traits, not {len(row)}")
        parts = zip(row, self.means, self.scales, self.weights, strict=True)
        total = self.intercept + sum(weight * (value - mean) / scale for value, mean, scale, weight in parts)
        return 1 / (1 + exp(-max(-50.0, min(50.0, total))))


def fit(rows: Sequence[Sequence[float]], right: Sequence[bool]) -> Answerability:
    """The model with the greatest penalised likelihood (ridge on the weights), by Newton's method.

    Raises SettingsError where all answers are right or all wrong: nothing can be learned from them.
    """
    if len(set(right)) < 2:
        raise SettingsError("answers that are all right or all wrong teach nothing; calibrate on queries of both kinds")
    data = numpy.asarray(rows, dtype=numpy.float64)
    means, scales = data.mean(axis=0), data.std(axis=0)
    scales = numpy.where(scales > 0, scales, 1.0)
    design = numpy.column_stack([numpy.ones(len(data)), (data - means) / scales])
    target = numpy.asarray(right, dtype=numpy.float64)
    penalty = numpy.diag([0.0] + [RIDGE] * data.shape[1])
    weights = numpy.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + numpy.exp(-numpy.clip(design @ weights, -50, 50)))
        slope = design.T @ (target - chance) - penalty @ weights
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + penalty
        step = numpy.linalg.solve(curve, slope)
        weights += step
        if numpy.abs(step).max() < 1e-10:
            break
    intercept, *others = (float(value) for value in weights)
    return Answerability(tuple(map(float, means)), tuple(map(float, scales)), tuple(others), intercept)


def cross_fitted(rows: Sequence[Sequence[float]], right: Sequence[bool], folds: int = FOLDS) -> list[float]:
    """For each answer the score of a model that was fitted without it and without the others of its fold.

    The folds hold equal shares of right and wrong answers, dealt out in their order.
    """
    of_class = [sum(other == each for other in right[:row]) for row, each in enumerate(right)]
    fold = [
        number % folds if good else folds - 1 - number % folds for number, good in zip(of_class, right, strict=True)
    ]
    scores = [0.0] * len(rows)
    for left_out in range(folds):
        kept = [row for row in range(len(rows)) if fold[row] != left_out]
        if len(kept) == len(rows):
            continue
        model = fit([rows[row] for row in kept], [right[row] for row in kept])
        for row in range(len(rows)):
            if fold[row] == left_out:
                scores[row] = model.score(rows[row])
    return scores


@dataclass(frozen=True, slots=True)
class Silence:
    """A model with the certificate of its threshold, and the cross-fitted scores that this was tested on."""

    model: Answerability
    certificate: Certificate
    scores: tuple[float, ...]

    def apply(self, answer: Answer, traits: Traits) -> Answer:
        """The answer, or silence with its reason where its score is below the threshold or none is certified."""
        score = self.model.score(traits.row)
        threshold = self.certificate.threshold
        if answer.silent or (threshold is not None and score >= threshold):
            return replace(answer, confidence=score)
        reason = "no threshold is certified"
        if threshold is not None:
            reason = f"score {score:.3f} is below the certified threshold {threshold:.3f}"
        return replace(answer, sentences=(), silent=True, reason=reason, confidence=score)


def calibrate(
    traits: Sequence[Traits], wrong: Sequence[bool], alpha: float = 0.10, delta: float = 0.10, start: int | None = None
) -> Silence:
    """The model of all answers, with the threshold that is certified on their cross-fitted scores."""
    rows, right = [each.row for each in traits], [not bad for bad in wrong]
    scores = cross_fitted(rows, right)
    return Silence(fit(rows, right), learn_then_test(scores, wrong, alpha, delta, start=start), tuple(scores))
