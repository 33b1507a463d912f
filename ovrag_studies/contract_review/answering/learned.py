"""The learned clause finder: fitted, measured out of fold, saved, and read again.

Linear scorers rank passages and short spans in each category; boosted trees, the same for all categories, learn from
scores of contracts that the scorers did not see how probably a span answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

from ovrag_core.base import CorpusError, Document, QuestionError, read_tensors
from ovrag_core.retrieval import Embedder, minilm
from ovrag_studies.contract_review.answering.candidates import (
    Prior,
    Scored,
    SpanCandidate,
    describe,
    find_priors,
    matches,
    propose,
)
from ovrag_studies.contract_review.answering.features import (
    WORD_BUCKETS,
    ContractReading,
    Numbers,
    hashed_words,
    read,
    unit_rows,
)
from ovrag_studies.contract_review.answering.scorers import LearningSettings, Linear, Scorers, find_targets, fit_scorers
from ovrag_studies.contract_review.answering.trees import Trees, fit_trees
from ovrag_studies.contract_review.packed import from_sparse, sparse
from ovrag_studies.contract_review.retrieval.expansion import vocabulary
from ovrag_studies.contract_review.texts.datasets import FOLDS, Contract, fold_of

WEIGHTS = Path(__file__).parents[1] / "weights" / "clauses.safetensors"
LAYOUT = "contract-review clauses 2"


@dataclass(frozen=True, slots=True)
class Prototypes:
    """Clauses as one would draft them: their vectors (p × 384), the category each is of, their words by category."""

    vectors: Numbers
    owners: Numbers
    words: Numbers


@dataclass(frozen=True, slots=True)
class ClauseModel:
    """Everything learned, for `categories` in that order; `trained_on` are titles with digests of the texts."""

    categories: tuple[str, ...]
    scorers: Scorers
    prototypes: Prototypes
    priors: tuple[Prior, ...]
    answering: Trees
    trained_on: tuple[tuple[str, str], ...]

    def score(self, reading: ContractReading) -> Scored:
        """All scores of a contract."""
        return _score(reading, self.scorers, self.prototypes)

    def column(self, category: str) -> int:
        """Find the column of a category. Raises QuestionError for an unknown one."""
        if category not in self.categories:
            raise QuestionError(f"{category!r} is no category of the model; known are {', '.join(self.categories)}")
        return self.categories.index(category)

    def answers(self, given: Scored, category: str) -> tuple[list[tuple[SpanCandidate, float]], float]:
        """Candidates with the probability that each answers, best first, and that any does, each by itself."""
        column = self.column(category)
        if not given.reading.passages:
            return [], 0.0
        prior = self.priors[column]
        candidates = propose(given, column)
        columns = describe(given, candidates, column, prior)
        probabilities = self.answering(columns)
        present = 1 - float(numpy.prod(1 - probabilities.astype(numpy.float64)))
        order = numpy.argsort(-probabilities, kind="stable")
        return [(candidates[row], float(probabilities[row])) for row in order], present

    def rank(self, given: Scored, category: str, chunks: Sequence[tuple[int, int]]) -> list[tuple[int, float]]:
        """Numbers of chunks, best first, with their scores: the best answer that lies in a chunk, then its best
        passage. A passage lies in the chunk that holds at least half of it."""
        likely = numpy.zeros(len(given.reading.passages))
        for candidate, probability in self.answers(given, category)[0]:
            likely[candidate.passage] = max(likely[candidate.passage], probability)
        bounds = numpy.array(given.reading.passages, dtype=numpy.intp).reshape(-1, 2)
        scores = []
        for start, end in chunks:
            shared = numpy.minimum(end, bounds[:, 1]) - numpy.maximum(start, bounds[:, 0])
            inside = 2 * shared >= bounds[:, 1] - bounds[:, 0]
            passage_scores = given.passages[inside, self.column(category)]
            scores.append((likely[inside].max(initial=0.0), passage_scores.max(initial=-numpy.inf)))
        order = sorted(range(len(chunks)), key=lambda number: scores[number], reverse=True)
        return [(number, float(scores[number][0])) for number in order]

    def was_trained_on(self, document: Document) -> bool:
        """Return True where a contract, by its title or its text, was in training: a figure on it means nothing."""
        text_digest = digest(document.text)
        return any(document.id == title or text_digest == fingerprint for title, fingerprint in self.trained_on)


def digest(text: str) -> str:
    """A text's fingerprint, which white space does not change."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def find_prototypes(categories: Sequence[str], embedder: Embedder) -> Prototypes:
    """Prototypes of the categories from the study's own vocabulary; a category it does not know has none."""
    texts: list[str] = []
    owners: list[int] = []
    words = numpy.zeros((WORD_BUCKETS, len(categories)), dtype=numpy.float32)
    for column, category in enumerate(categories):
        if (entry := vocabulary().get(category)) is not None:
            texts += entry.clauses
            owners += [column] * len(entry.clauses)
            hashed = hashed_words([*entry.clauses, *entry.terms])
            counted = numpy.sqrt(numpy.asarray(hashed.sum(axis=0), dtype=numpy.float32).ravel())
            words[:, column] = counted / max(1e-9, float(numpy.linalg.norm(counted)))
    vectors = embedder.embed(texts) if texts else numpy.zeros((0, 384), dtype=numpy.float32)
    return Prototypes(vectors, numpy.array(owners, dtype=numpy.float32), words)


def _score(reading: ContractReading, scorers: Scorers, prototypes: Prototypes) -> Scored:
    categories = len(scorers.passages.bias)
    likeness = numpy.zeros((len(reading.passages), categories), dtype=numpy.float32)
    cosines = reading.vectors @ prototypes.vectors.T
    for column in range(categories):
        if (mine := prototypes.owners == column).any():
            likeness[:, column] = cosines[:, mine].max(axis=1, initial=0)
    wording = numpy.asarray(unit_rows(reading.words, scorers.word_weights) @ prototypes.words, dtype=numpy.float32)
    return Scored(reading, scorers.score_passages(reading), scorers.score_shorts(reading), likeness, wording)


class Trainer:
    """Models of contracts with some folds left out; scorers are fitted once for each set of folds left out."""

    def __init__(
        self,
        contracts: Sequence[Contract],
        categories: Sequence[str],
        embedder: Embedder | None = None,
        settings: LearningSettings | None = None,
        folds: int = FOLDS,
    ) -> None:
        embedder = embedder or minilm()
        self.contracts = list(contracts)
        self.categories = tuple(categories)
        self.settings = settings or LearningSettings()
        by_title = fold_of([contract.document.id for contract in contracts], folds)
        self.folds = [by_title[contract.document.id] for contract in contracts]
        self.readings = [read(contract.document.text, embedder) for contract in contracts]
        pairs = zip(contracts, self.readings, strict=True)
        self._targets = [find_targets(contract, reading, categories) for contract, reading in pairs]
        self._prototypes = find_prototypes(categories, embedder)
        self._known: dict[frozenset[int], Scorers] = {}

    def scorers_without(self, out: frozenset[int]) -> Scorers:
        """Scorers fitted on the contracts of all other folds."""
        if out not in self._known:
            rows = [row for row, fold in enumerate(self.folds) if fold not in out]
            if not rows:
                raise CorpusError("no contract is left to learn from; give contracts of more than one filer")
            readings, targets = [self.readings[row] for row in rows], [self._targets[row] for row in rows]
            self._known[out] = fit_scorers(readings, targets, self.settings)
        return self._known[out]

    def fit(self, without: int | None = None) -> ClauseModel:
        """A model of all contracts, or of all but one fold's."""
        out = frozenset() if without is None else frozenset({without})
        rows = [row for row, fold in enumerate(self.folds) if fold not in out]
        priors = find_priors([self.contracts[row] for row in rows], self.categories)
        columns, truth = zip(*(example for row in rows for example in self._examples(row, out, priors)), strict=True)
        documents = [self.contracts[row].document for row in rows]
        return ClauseModel(
            self.categories,
            self.scorers_without(out),
            self._prototypes,
            tuple(priors),
            fit_trees(numpy.concatenate(columns), numpy.concatenate(truth), self.settings.answer_trees),
            tuple((document.id, digest(document.text)) for document in documents),
        )

    def out_of_fold(self) -> Iterator[tuple[Contract, ContractReading, ClauseModel]]:
        """Every contract with a model that has not seen it, nor another contract of its filer."""
        for fold in sorted(set(self.folds)):
            model = self.fit(without=fold)
            for row, contract_fold in enumerate(self.folds):
                if contract_fold == fold:
                    yield self.contracts[row], self.readings[row], model

    def _examples(
        self, row: int, out: frozenset[int], priors: Sequence[Prior]
    ) -> Iterator[tuple[Numbers, NDArray[numpy.bool_]]]:
        """A contract's candidates by question: what describes them, by scorers that have not seen it, and the truth."""
        given = _score(self.readings[row], self.scorers_without(out | {self.folds[row]}), self._prototypes)
        gold = {question.category: question.gold for question in self.contracts[row].questions}
        for column, category in enumerate(self.categories):
            if category in gold and given.reading.passages:
                candidates = propose(given, column)
                truth = [matches(given.reading.text, candidate, category, gold[category]) for candidate in candidates]
                yield describe(given, candidates, column, priors[column]), numpy.array(truth, dtype=bool)


def save_model(model: ClauseModel, path: Path = WEIGHTS) -> None:
    """All of a model in one file: linear weights in half precision, and neither a word nor a text.

    A model that was saved gives the figures of before to three decimals, out of fold; weights of one byte do not.
    """
    scorers = model.scorers
    learned = numpy.flatnonzero(numpy.abs(scorers.shorts.upper).sum(axis=0) > 0)
    tensors = {
        "word_weights": scorers.word_weights,
        "context_weights": scorers.context_weights,
        "passages.upper": scorers.passages.upper.astype(numpy.float16),
        "passages.lower": scorers.passages.lower.astype(numpy.float16),
        "passages.bias": scorers.passages.bias,
        "shorts.learned": learned.astype(numpy.int32),
        "shorts.upper": scorers.shorts.upper[:, learned].astype(numpy.float16),
        "shorts.bias": scorers.shorts.bias,
        "prototypes.vectors": model.prototypes.vectors.astype(numpy.float16),
        "prototypes.owners": model.prototypes.owners,
        **sparse("prototypes.words", model.prototypes.words, 1),
        "priors": numpy.array([[prior.present, prior.spans, prior.length] for prior in model.priors]),
    }
    trees = model.answering
    tensors |= {f"answering.{key}": getattr(trees, key).astype(kind) for key, kind in _ARRAYS.items()}
    tensors["answering.start"] = numpy.array([trees.start, trees.depth], dtype=numpy.float64)
    notes = {
        "layout": LAYOUT,
        "categories": json.dumps(model.categories),
        "trained_on": json.dumps(model.trained_on),
        "settings": json.dumps(asdict(scorers.settings)),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    contiguous = {name: numpy.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    save_file(contiguous, path, metadata={"notes": json.dumps(notes)})  # several would be written in any order


_ARRAYS = {  # thresholds stay as they are: a row that equals one goes left
    "roots": numpy.int32,
    "column": numpy.int16,
    "threshold": numpy.float64,
    "left": numpy.int32,
    "right": numpy.int32,
    "value": numpy.float32,
}


def load_model(path: Path = WEIGHTS) -> ClauseModel:
    """A saved model. Raises CorpusError where there is none, or the file is of another layout."""
    if not path.is_file():
        raise CorpusError(f"{path} is missing; make it with tools/train_contract_review.py")
    try:
        tensors, metadata = read_tensors(path)
        notes: dict[str, str] = dict(json.loads(metadata.get("notes", "{}")))
        if notes.get("layout") != LAYOUT:
            raise CorpusError(f"{path} has the layout {notes.get('layout')!r}, not {LAYOUT!r}; train it anew")
        return _model(tensors, notes)
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise CorpusError(f"{path} cannot be read as weights ({type(error).__name__}); train it anew") from None


def _model(tensors: Mapping[str, numpy.ndarray], notes: Mapping[str, str]) -> ClauseModel:
    categories = tuple(json.loads(notes["categories"]))
    trained_on = tuple((str(title), str(fingerprint)) for title, fingerprint in json.loads(notes["trained_on"]))
    learned = tensors["shorts.learned"]
    upper = numpy.zeros((len(tensors["shorts.upper"]), len(categories)), dtype=numpy.float32)
    upper[:, learned] = tensors["shorts.upper"].astype(numpy.float32)
    none = numpy.zeros((0, len(categories)), dtype=numpy.float32)
    passages = (tensors[f"passages.{name}"].astype(numpy.float32) for name in ("upper", "lower", "bias"))
    scorers = Scorers(
        tensors["word_weights"],
        tensors["context_weights"],
        Linear(*passages),
        Linear(upper, none, tensors["shorts.bias"]),
        LearningSettings(**json.loads(notes["settings"])),
    )
    vectors = tensors["prototypes.vectors"].astype(numpy.float32)
    prototypes = Prototypes(vectors, tensors["prototypes.owners"], from_sparse("prototypes.words", tensors))
    priors = tuple(Prior(*(float(number) for number in row)) for row in tensors["priors"])
    if not len(priors) == len(categories) == len(scorers.passages.bias):
        raise ValueError("tables of different lengths")
    return ClauseModel(categories, scorers, prototypes, priors, _trees(tensors), trained_on)


def _trees(tensors: Mapping[str, numpy.ndarray]) -> Trees:
    start, depth = tensors["answering.start"]
    roots, column, threshold, left, right, value = (tensors[f"answering.{attribute}"] for attribute in _ARRAYS)
    leaves = value.astype(numpy.float64)
    return Trees(roots, column.astype(numpy.int32), threshold, left, right, leaves, float(start), int(depth))


@cache
def default_model() -> ClauseModel:
    """The model of the weights that come with the study, read once."""
    return load_model()
