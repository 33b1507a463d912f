"""Linear scorers of passages and of short spans (dates, names, titles), one column a category: logistic regressions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
import scipy.sparse
from scipy.optimize import minimize

from ovrag_studies.contract_review.answering.features import ContractReading, Numbers, Sparse, unit_rows
from ovrag_studies.contract_review.texts.datasets import Contract

# What is learned, by name. Scores of rows are linear: sparse columns @ `upper` + dense columns @ `lower` + `bias`.
Tables = Mapping[str, numpy.ndarray]

HALF = 0.5  # of words in common: a span answers, as CUAD counts
PARTIES = "Parties"  # CUAD's evaluation: a span that holds a party's name in full answers for it
FEWEST_SHORT = 8  # matches among short spans from which a category has short answers
ABSENT = -12.0  # logit of what no training example speaks for

_MARKS = re.compile(r"[.,;:]")


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Settings by which models learn. `penalty` is L2; a positive row counts `positive` times."""

    penalty: float = 1.0
    short_penalty: float = 0.1
    positive: float = 3.0
    iterations: int = 40
    word_scale: float = 5.0
    context_scale: float = 3.0
    vector_scale: float = 3.0
    neighbour_scale: float = 2.0
    answer_trees: int = 150


def score_passages(tables: Tables, reading: ContractReading, settings: LearningSettings) -> Numbers:
    """Logits of each passage for each category (n × k)."""
    sparse, dense = _columns(reading, tables, settings)
    scores = sparse @ tables["passages.upper"] + dense @ tables["passages.lower"] + tables["passages.bias"]
    return numpy.asarray(scores, dtype=numpy.float32)


def score_shorts(tables: Tables, reading: ContractReading) -> Numbers:
    """Logits of each short span for each category (m × k); `ABSENT` where a category has no short answers."""
    scores = _scaled(reading.traits) @ tables["shorts.upper"] + tables["shorts.bias"]
    return numpy.asarray(scores, dtype=numpy.float32)


def word_set(text: str) -> frozenset[str]:
    """Lower-cased words without full stops, commas, semicolons and colons; a slash parts words (CUAD's evaluation)."""
    return frozenset(_MARKS.sub("", text).lower().replace("/", " ").split())


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Words in common over words in either; 0 for two empty sets."""
    return len(first & second) / max(1, len(first | second))


def cuad_match(gold: str, answer: str, category: str) -> bool:
    """Return CUAD's rule: half of the words in common; of parties, a span that holds the name answers too."""
    return jaccard(word_set(gold), word_set(answer)) >= HALF or (category == PARTIES and gold in answer)


def find_targets(contract: Contract, reading: ContractReading, categories: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Mark passages that share half with a gold span (n × k), and short spans that share half their words (m × k)."""
    columns = {category: column for column, category in enumerate(categories)}
    passages = numpy.zeros((len(reading.passages), len(categories)), dtype=numpy.float32)
    shorts = numpy.zeros((len(reading.shorts), len(categories)), dtype=numpy.float32)
    word_sets = [word_set(reading.text[short.start : short.end]) for short in reading.shorts]
    golds = [(columns[q.category], span) for q in contract.questions if q.category in columns for span in q.gold]
    for column, (start, end) in golds:
        for row, (left, right) in enumerate(reading.passages):
            shared = min(right, end) - max(left, start)
            if shared > 0 and shared >= HALF * min(end - start, right - left):
                passages[row, column] = 1
        wanted = word_set(reading.text[start:end])
        shorts[[row for row, words in enumerate(word_sets) if jaccard(words, wanted) >= HALF], column] = 1
    return passages, shorts


def fit_scorers(
    readings: Sequence[ContractReading], targets: Sequence[tuple[Numbers, Numbers]], settings: LearningSettings
) -> Tables:
    """Scorers learned from contracts and their targets, beside the inverse document frequencies of buckets in those."""
    tables = {
        "word_weights": _inverse_frequencies([reading.words for reading in readings]),
        "context_weights": _inverse_frequencies([reading.context for reading in readings]),
    }
    columns = [_columns(reading, tables, settings) for reading in readings]
    sparse = scipy.sparse.vstack([sparse for sparse, _ in columns], format="csr")
    dense = numpy.concatenate([dense for _, dense in columns])
    wanted = numpy.concatenate([passages for passages, _ in targets])
    weights, tables["passages.bias"] = _fit_linear(sparse, dense, wanted, settings.penalty, settings)
    tables["passages.upper"], tables["passages.lower"] = numpy.split(weights, [sparse.shape[1]])
    traits = scipy.sparse.vstack([_scaled(reading.traits) for reading in readings], format="csr")
    none = numpy.zeros((traits.shape[0], 0), dtype=numpy.float32)
    wanted = numpy.concatenate([shorts for _, shorts in targets])
    shorts = _fit_linear(traits, none, wanted, settings.short_penalty, settings, fewest=FEWEST_SHORT)
    tables["shorts.upper"], tables["shorts.bias"] = shorts
    return tables


def _fit_linear(
    sparse: Sparse, dense: Numbers, targets: Numbers, penalty: float, settings: LearningSettings, fewest: int = 1
) -> tuple[Numbers, Numbers]:
    """Weights and biases of one logistic regression a column of `targets`, all at once by L-BFGS.

    A column with fewer than `fewest` positive rows is not learned, and never found: weights 0, bias `ABSENT`.
    """
    learned = numpy.flatnonzero(targets.sum(axis=0) >= fewest)
    weights = numpy.zeros((sparse.shape[1] + dense.shape[1], targets.shape[1]), dtype=numpy.float32)
    bias = numpy.full(targets.shape[1], ABSENT, dtype=numpy.float32)
    if learned.size:
        weights[:, learned], bias[learned] = _descend(sparse, dense, targets[:, learned], penalty, settings)
    return weights, bias


def _descend(
    sparse: Sparse, dense: Numbers, targets: Numbers, penalty: float, settings: LearningSettings
) -> tuple[Numbers, Numbers]:
    split, columns = sparse.shape[1], targets.shape[1]
    rows = split + dense.shape[1]
    turned = sparse.T.tocsr()
    counts = numpy.where(targets > 0, numpy.float32(settings.positive), numpy.float32(1))

    def loss(flat: numpy.ndarray) -> tuple[float, numpy.ndarray]:
        weights = flat[: rows * columns].reshape(rows, columns).astype(numpy.float32)
        scores = sparse @ weights[:split] + dense @ weights[split:] + flat[rows * columns :].astype(numpy.float32)
        small = numpy.exp(-numpy.abs(scores))
        share = numpy.where(scores >= 0, 1, small) / (1 + small)
        value = (counts * (numpy.maximum(scores, 0) + numpy.log1p(small) - targets * scores)).sum(dtype=numpy.float64)
        value += 0.5 * penalty * numpy.square(weights).sum(dtype=numpy.float64)
        slope = counts * (share - targets)
        gradient = numpy.vstack([turned @ slope, dense.T @ slope]) + penalty * weights
        return float(value), numpy.concatenate([gradient.ravel(), slope.sum(axis=0)]).astype(numpy.float64)

    begin = numpy.zeros(rows * columns + columns)
    begin[rows * columns :] = numpy.log(targets.mean(axis=0) + 1e-5)
    options = {"maxiter": settings.iterations, "maxcor": 6}
    solution = minimize(loss, begin, jac=True, method="L-BFGS-B", options=options).x.astype(numpy.float32)
    return solution[: rows * columns].reshape(rows, columns), solution[rows * columns :]


def _inverse_frequencies(matrices: Sequence[Sparse]) -> Numbers:
    rows = scipy.sparse.vstack(matrices, format="csr")
    return numpy.asarray(numpy.log((rows.shape[0] + 1) / (rows.getnnz(axis=0) + 1)), dtype=numpy.float32)


def _columns(reading: ContractReading, tables: Tables, settings: LearningSettings) -> tuple[Sparse, Numbers]:
    words = unit_rows(reading.words, tables["word_weights"]) * settings.word_scale
    context = unit_rows(reading.context, tables["context_weights"]) * settings.context_scale
    vectors = reading.vectors
    before, after = numpy.zeros_like(vectors), numpy.zeros_like(vectors)
    before[1:], after[:-1] = vectors[:-1], vectors[1:]
    near = settings.neighbour_scale
    dense = numpy.hstack([vectors * settings.vector_scale, before * near, after * near, reading.places])
    return scipy.sparse.hstack([words, context], format="csr").astype(numpy.float32), dense.astype(numpy.float32)


def _scaled(traits: Sparse) -> Sparse:
    return scipy.sparse.csr_matrix(traits * numpy.float32(4))
