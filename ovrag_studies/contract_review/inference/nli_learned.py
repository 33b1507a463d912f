"""Hypotheses judged by what marked agreements teach: which spans tell, and what they say.

Four linear models, as tens of agreements bear no more: (1) ridge regression scores spans for each hypothesis; (2) a
logistic regression shared by all tells evidence; (3) ridge regression reads the best spans together; (4) the choice is
the mean of a shared logistic regression and one for each hypothesis. Agreements written to be learned from teach (1)
and (3) alone, which know words. Whatever a later step learns from was predicted for agreements that the earlier step
had not seen: left out one by one in (1) and (3), where ridge regression has that in closed form, by folds in (2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import softmax

from ovrag_core.base import CorpusError
from ovrag_core.retrieval import DIMENSIONS
from ovrag_studies.contract_review.inference.nli_reading import AgreementReading, Floats
from ovrag_studies.contract_review.texts.datasets import Choice, NliAgreement

Parameters = dict[str, Floats]

CHOICES: tuple[Choice, ...] = ("NotMentioned", "Entailment", "Contradiction")
LEAD = 0.3**0.5  # how much the words of a lead count beside the span's own
SPAN_RIDGE = 1.0
CONTENT_RIDGE = 0.5
CONTENT_WORDS = 2**0.5
EVIDENCE_STRENGTH = 1.0  # C of the logistic regressions
SHARED_STRENGTH = 0.03
OWN_STRENGTH = 0.1
INNER_FOLDS = 5
# Contradictions are rare, and count so many times in a choice: chosen out of fold on the development split, where more
# costs accuracy and less misses rare ones.
CONTRADICTIONS = 1.5
_EPSILON = 1e-4


@dataclass(frozen=True, slots=True)
class Marked:
    """Truth about one agreement: `evidence` is n × h, `choices` are h places in CHOICES."""

    evidence: NDArray[numpy.bool_]
    choices: NDArray[numpy.intp]


Lesson = tuple[AgreementReading, Marked]


def marked(agreement: NliAgreement, hypotheses: Sequence[str]) -> Marked:
    """The judgements of an agreement. Raises CorpusError where one of the hypotheses is not judged."""
    judged = {j.hypothesis: j for j in agreement.judgements}
    if missing := [name for name in hypotheses if name not in judged]:
        raise CorpusError(f"document {agreement.number} has no judgement of {missing[0]}; leave the document out")
    evidence = numpy.zeros((len(agreement.spans), len(hypotheses)), dtype=bool)
    for column, name in enumerate(hypotheses):
        evidence[list(judged[name].evidence), column] = True
    return Marked(evidence, numpy.array([CHOICES.index(judged[name].choice) for name in hypotheses], dtype=numpy.intp))


def fit(made: Sequence[Lesson], written: Sequence[Lesson]) -> Parameters:
    """Everything that is learned from agreements `made` by parties, and from some `written` to be learned from."""
    readings, truth = zip(*made, *written, strict=True)
    span_weights, spans = _fit_spans(readings, truth)
    features = [_evidence_features(reading, scores) for reading, scores in zip(readings, spans, strict=True)]
    count = len(made)
    evidence_weights = _fit_evidence(features[:count], truth[:count])
    evidence = _crossed_evidence(features[:count], truth[:count])
    evidence += [_told(evidence_weights, table) for table in features[count:]]
    contents = [_content(reading, told) for reading, told in zip(readings, evidence, strict=True)]
    content_weights, content = _fit_content(contents, truth)
    summaries = [
        numpy.concatenate([_summary(reading, scores, told), content_scores], axis=-1)
        for (reading, _), scores, told, content_scores in zip(made, spans, evidence, content, strict=False)
    ]
    choice_weights = _fit_choice(numpy.stack(summaries), numpy.stack([m.choices for m in truth[:count]]))
    return span_weights | evidence_weights | content_weights | choice_weights


def predict(parameters: Mapping[str, Floats], reading: AgreementReading) -> tuple[Floats, Floats]:
    """Of each span how likely it is evidence where there is any (n × h), and of each choice how likely (h × 3)."""
    scores = _inputs(reading) @ parameters["spans.weight"] + parameters["spans.bias"]
    spans = numpy.asarray(scores, dtype=numpy.float32)
    evidence = _told(parameters, _evidence_features(reading, spans))
    content = _content(reading, evidence)
    models = zip(parameters["content.weight"], parameters["content.bias"], strict=True)
    content_scores = numpy.concatenate([content[row] @ weight + bias for row, (weight, bias) in enumerate(models)])
    summary = numpy.concatenate([_summary(reading, spans, evidence), content_scores.astype(numpy.float32)], axis=-1)
    shared = _probabilities(parameters, "shared", _with_names(summary, parameters["choice.prior"]))
    separate = [_probabilities(parameters, f"own.{column}", row[None])[0] for column, row in enumerate(summary)]
    chosen: Floats = ((shared + numpy.stack(separate)) / 2).astype(numpy.float32)
    chosen[:, CHOICES.index("Contradiction")] *= CONTRADICTIONS
    chosen /= chosen.sum(axis=1, keepdims=True)
    return evidence, chosen


# (1) spans


def _inputs(reading: AgreementReading) -> scipy.sparse.csr_matrix:
    vectors = scipy.sparse.csr_matrix(reading.vectors)
    return scipy.sparse.hstack([vectors, reading.words, reading.lead_words * LEAD], format="csr")


def _fit_spans(readings: Sequence[AgreementReading], truth: Sequence[Marked]) -> tuple[Parameters, list[Floats]]:
    """Weights, and the scores that each agreement has by the others."""
    inputs = scipy.sparse.vstack([_inputs(reading) for reading in readings], format="csr")
    kinds = [numpy.hstack([m.evidence, m.evidence & (m.choices == 1), m.evidence & (m.choices == 2)]) for m in truth]
    targets = numpy.concatenate(kinds).astype(numpy.float32)  # evidence, evidence for, evidence against: n × 3h
    ends = numpy.cumsum([len(reading.spans) for reading in readings])
    blocks = [numpy.arange(end - len(reading.spans), end) for end, reading in zip(ends, readings, strict=True)]
    mean, dual, scores = _ridge(_kernel(inputs), targets, SPAN_RIDGE, blocks)
    weights = numpy.asarray(inputs.T @ dual, dtype=numpy.float32)
    return {"spans.weight": weights, "spans.bias": mean}, [scores[block] for block in blocks]


def _kernel(inputs: scipy.sparse.csr_matrix) -> Floats:
    """Products of all rows; vectors, which are dense, apart from words, which are sparse."""
    vectors, words = inputs[:, :DIMENSIONS].toarray(), inputs[:, DIMENSIONS:]
    return numpy.asarray(vectors @ vectors.T + (words @ words.T).toarray())


def _ridge(
    kernel: Floats, targets: Floats, strength: float, blocks: Sequence[NDArray[numpy.integer]]
) -> tuple[Floats, Floats, Floats]:
    """Mean, dual weights, and what each block of rows is said to be by all other rows (Rifkin and Lippert 2007)."""
    system = kernel + strength * numpy.eye(len(kernel), dtype=numpy.float32)  # symmetric, positive definite
    factor = scipy.linalg.cholesky(system, lower=True, check_finite=False)
    (invert,) = scipy.linalg.get_lapack_funcs(("potri",), (factor,))
    lower = numpy.tril(invert(factor, lower=1)[0])
    inverse = lower + numpy.tril(lower, -1).T
    mean = targets.mean(axis=0)
    dual = inverse @ (targets - mean)
    left_out = numpy.empty_like(targets)
    for block in blocks:
        left_out[block] = targets[block] - numpy.linalg.solve(inverse[numpy.ix_(block, block)], dual[block])
    return mean.astype(numpy.float32), dual.astype(numpy.float32), left_out.astype(numpy.float32)


# (2) evidence


def _evidence_features(reading: AgreementReading, scores: Floats) -> Floats:
    """Return the features, for each span and hypothesis, that tell whether the span is evidence: n × h × d."""
    hypotheses = reading.similar.shape[1]
    own_scores = scores[:, :hypotheses]
    led = reading.leads >= 0
    lead, items, siblings = numpy.zeros_like(own_scores), numpy.zeros_like(own_scores), numpy.zeros_like(own_scores)
    lead[led] = own_scores[reading.leads[led]]
    numpy.maximum.at(items, reading.leads[led], own_scores[led])
    siblings[led] = items[reading.leads[led]]
    ordered = -numpy.sort(-own_scores, axis=0)
    best, second = ordered[:1], ordered[min(1, len(ordered) - 1)][None]
    rank = numpy.argsort(numpy.argsort(-own_scores, axis=0, kind="stable"), axis=0, kind="stable")
    total = numpy.maximum(own_scores, 0).sum(axis=0, keepdims=True)
    padded = numpy.pad(own_scores, ((2, 2), (0, 0)))
    listed = [
        *(scores[:, start : start + hypotheses] for start in range(0, 3 * hypotheses, hypotheses)),
        *(padded[2 + by :][: len(own_scores)] for by in (1, -1, 2, -2)),  # the spans after and before
        *(lead, items, siblings),
        *(numpy.broadcast_to(row, own_scores.shape) for row in (best, second, total)),
        *(1 / (1 + rank), own_scores - best, own_scores / numpy.maximum(total, 0.1), own_scores * own_scores),
        *(reading.similar, reading.similar - reading.similar.max(axis=0)),
    ]
    form = numpy.broadcast_to(reading.form[:, None], (*own_scores.shape, reading.form.shape[1]))
    names = numpy.broadcast_to(numpy.eye(hypotheses), (len(own_scores), hypotheses, hypotheses))
    features = [numpy.stack(listed, axis=-1), reading.cues, form, names, names * own_scores[:, :, None] * 3]
    return numpy.concatenate(features, axis=-1).astype(numpy.float32)


def _fit_evidence(features: Sequence[Floats], truth: Sequence[Marked]) -> Parameters:
    """Of the pairs of span and hypothesis, those of hypotheses that have evidence teach."""
    chosen = [m.evidence.any(axis=0) for m in truth]
    rows = numpy.concatenate([f[:, c].reshape(-1, f.shape[-1]) for f, c in zip(features, chosen, strict=True)])
    is_evidence = numpy.concatenate([m.evidence[:, c].ravel() for m, c in zip(truth, chosen, strict=True)])
    return _logistic("told", rows, is_evidence, EVIDENCE_STRENGTH)


def _crossed_evidence(features: Sequence[Floats], truth: Sequence[Marked]) -> list[Floats]:
    """For each agreement the probabilities by the agreements of other folds."""
    by_fold = []
    for fold in range(min(INNER_FOLDS, len(features))):
        training = [i for i in range(len(features)) if i % INNER_FOLDS != fold]
        by_fold.append(_fit_evidence([features[i] for i in training], [truth[i] for i in training]))
    return [_told(by_fold[i % INNER_FOLDS], table) for i, table in enumerate(features)]


def _told(parameters: Mapping[str, Floats], features: Floats) -> Floats:
    return _probabilities(parameters, "told", features)[..., 1]


# (3) content


def _content(reading: AgreementReading, told: Floats) -> scipy.sparse.csr_matrix:
    """The best spans' vector and words, weighted together: h rows."""
    weights = _emphasis(told).T
    vectors = weights @ reading.vectors
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    words = scipy.sparse.csr_matrix(weights) @ reading.words * CONTENT_WORDS
    return scipy.sparse.hstack([scipy.sparse.csr_matrix(vectors), words], format="csr")


def _emphasis(told: Floats) -> Floats:
    """Weights of the spans that sum to one for each hypothesis; all but the best are nothing."""
    weights = told**1.5
    weights = numpy.where(weights >= 0.2 * weights.max(axis=0), weights, 0)
    return numpy.asarray(weights / weights.sum(axis=0), dtype=numpy.float32)


def _fit_content(
    contents: Sequence[scipy.sparse.csr_matrix], truth: Sequence[Marked]
) -> tuple[Parameters, list[Floats]]:
    """Weights for each hypothesis, and the scores h × 3 that each agreement has by the others."""
    hypotheses = len(truth[0].choices)
    singly = [numpy.array([row]) for row in range(len(contents))]
    weights, biases, scores = [], [], []
    for column in range(hypotheses):
        inputs = scipy.sparse.vstack([content[column] for content in contents], format="csr")
        targets = numpy.eye(3, dtype=numpy.float32)[[m.choices[column] for m in truth]]
        mean, dual, left_out = _ridge(_kernel(inputs), targets, CONTENT_RIDGE, singly)
        weights.append(numpy.asarray(inputs.T @ dual, dtype=numpy.float32))
        biases.append(mean)
        scores.append(left_out)
    parameters = {"content.weight": numpy.stack(weights), "content.bias": numpy.stack(biases)}
    return parameters, list(numpy.stack(scores, axis=1))


# (4) choice


def _summary(reading: AgreementReading, scores: Floats, told: Floats) -> Floats:
    """Return the features that tell the choice: h × d. Of the first ones some count for each hypothesis apart."""
    hypotheses = told.shape[1]
    weights = _emphasis(told)
    top = -numpy.sort(-told, axis=0)
    second = min(1, len(top) - 1)
    for_, against = scores[:, hypotheses : 2 * hypotheses], scores[:, 2 * hypotheses :]
    columns = [
        _log_odds(top[0]),
        _log_odds(top[second]),
        top[:3].sum(axis=0),
        top[:5].sum(axis=0),
        numpy.log1p(-numpy.minimum(told, 0.999)).sum(axis=0),
        for_.max(axis=0),
        against.max(axis=0),
        (weights * for_).sum(axis=0),
        (weights * against).sum(axis=0),
        scores[:, :hypotheses].max(axis=0),
        reading.similar.max(axis=0),
        (weights * reading.similar).sum(axis=0),
        numpy.full(hypotheses, numpy.log(len(told))),
    ]
    blocks = [
        numpy.stack(columns, axis=-1),
        numpy.einsum("nh,nhc->hc", weights, reading.cues),
        reading.cues.max(axis=0),
        (told[:, :, None] * reading.cues).max(axis=0),
        weights.T @ reading.marks,
        reading.marks[told.argmax(axis=0)],
    ]
    return numpy.concatenate(blocks, axis=-1).astype(numpy.float32)


def _log_odds(probability: Floats) -> Floats:
    return numpy.log((probability + _EPSILON) / (1 - probability + _EPSILON))


_APART = (0, 3)  # of a summary: the best span's odds, and how much is told


def _fit_choice(summaries: Floats, choices: NDArray[numpy.intp]) -> Parameters:
    """One model over all hypotheses and one for each; summaries a × h × d, choices a × h."""
    prior = numpy.stack([numpy.bincount(column, minlength=3) + 0.5 for column in choices.T])
    prior = numpy.log(prior / prior.sum(axis=1, keepdims=True)).astype(numpy.float32)
    shared = _with_names(summaries, prior)
    parameters = {"choice.prior": prior}
    parameters |= _logistic("shared", shared.reshape(-1, shared.shape[-1]), choices.ravel(), SHARED_STRENGTH)
    for column in range(choices.shape[1]):
        parameters |= _logistic(f"own.{column}", summaries[:, column], choices[:, column], OWN_STRENGTH)
    return parameters


def _with_names(summaries: Floats, prior: Floats) -> Floats:
    """Summaries with the hypothesis itself, its prior, and a few numbers that weigh differently for each."""
    hypotheses = len(prior)
    shape = summaries.shape[:-1]
    names = numpy.broadcast_to(numpy.eye(hypotheses) * 2, (*shape, hypotheses))
    apart = numpy.concatenate([summaries[..., -3:], summaries[..., list(_APART)] / 3], axis=-1)
    crossed = (names[..., None] * apart[..., None, :]).reshape(*shape, -1)
    priors = numpy.broadcast_to(prior, (*shape, 3))
    return numpy.concatenate([summaries, names, priors, crossed], axis=-1).astype(numpy.float32)


# logistic regression in plain numbers


def _logistic(name: str, rows: Floats, labels: NDArray[numpy.generic], strength: float) -> Parameters:
    """Weights on scaled inputs, for as many classes as CHOICES or two; a class that never occurs has no chance."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - only who learns shall wait for it
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    labels = labels.astype(numpy.intp)
    classes = 2 if name == "told" else len(CHOICES)
    scaler = StandardScaler().fit(rows)
    weight = numpy.zeros((classes, rows.shape[1]), dtype=numpy.float32)
    bias = numpy.full(classes, -numpy.inf, dtype=numpy.float32)
    occurring = numpy.unique(labels)
    bias[occurring] = 0
    if len(occurring) > 1:
        model = LogisticRegression(C=strength, max_iter=500).fit(scaler.transform(rows), labels)
        if len(occurring) == 2:  # one row of weights tells both
            weight[occurring[1]], bias[occurring[1]] = model.coef_[0], model.intercept_[0]
        else:
            weight[occurring], bias[occurring] = model.coef_, model.intercept_
    return {
        f"{name}.mean": scaler.mean_.astype(numpy.float32),
        f"{name}.scale": scaler.scale_.astype(numpy.float32),
        f"{name}.weight": weight,
        f"{name}.bias": bias,
    }


def _probabilities(parameters: Mapping[str, Floats], name: str, rows: Floats) -> Floats:
    scaled = (rows - parameters[f"{name}.mean"]) / parameters[f"{name}.scale"]
    scores = scaled @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]
    return numpy.asarray(softmax(scores, axis=-1), dtype=numpy.float32)
