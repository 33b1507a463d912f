"""The learned clause finder: fitted, measured out of fold, saved, and read again.

Linear scorers rank passages and short spans in each category; boosted trees, the same for all categories, learn from
scores of contracts that the scorers did not see how probably a span answers.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

from ovrag_core.base import CorpusError, Document, QuestionError, read_tensors
from ovrag_core.retrieval import Embedder, minilm
from ovrag_studies.contract_review.answering import candidates, features, scorers, trees
from ovrag_studies.contract_review.answering.candidates import Exact, Scored, SpanCandidate
from ovrag_studies.contract_review.answering.features import ContractReading, Numbers
from ovrag_studies.contract_review.answering.scorers import LearningSettings, Tables
from ovrag_studies.contract_review.packed import from_sparse, sparse
from ovrag_studies.contract_review.retrieval.expansion import vocabulary
from ovrag_studies.contract_review.texts.datasets import FOLDS, Contract, fold_of

WEIGHTS = Path(__file__).parents[1] / "weights" / "clauses.safetensors"
LAYOUT = "contract-review clauses 2"
HALVES = ("passages.upper", "passages.lower", "shorts.upper", "prototypes.vectors")
KINDS = dict.fromkeys(HALVES, numpy.float16) | trees.KINDS


@dataclass(frozen=True, slots=True)
class ClauseModel:
    """Everything learned, for `categories` in that order; `trained_on` are titles with digests of the texts.

    `tables` are those of the scorers, of `find_prototypes`, of the trees (`answering.`), and `priors` (k × 3).
    """

    categories: tuple[str, ...]
    settings: LearningSettings
    tables: Tables
    trained_on: tuple[tuple[str, str], ...]

    def score(self, reading: ContractReading) -> Scored:
        """All scores of a contract."""
        words = features.unit_rows(reading.words, self.tables["word_weights"])
        return Scored(
            reading,
            scorers.score_passages(self.tables, reading, self.settings),
            scorers.score_shorts(self.tables, reading),
            likeness(reading, self.tables),
            numpy.asarray(words @ self.tables["prototypes.words"], dtype=numpy.float32),
        )

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
        found = candidates.propose(given, column)
        columns = candidates.describe(given, found, column, self.tables["priors"][column])
        probabilities = trees.probabilities(self.tables, columns)
        present = 1 - float(numpy.prod(1 - probabilities.astype(numpy.float64)))
        order = numpy.argsort(-probabilities, kind="stable")
        return [(found[row], float(probabilities[row])) for row in order], present

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


def find_prototypes(categories: Sequence[str], embedder: Embedder) -> Tables:
    """Clauses of the study's own vocabulary, as one would draft them; a category it does not know has none.

    Returns their `vectors` (p × 384), the `owners`, the category each is of, and their `words` by category.
    """
    texts: list[str] = []
    owners: list[int] = []
    words = numpy.zeros((features.WORD_BUCKETS, len(categories)), dtype=numpy.float32)
    for column, category in enumerate(categories):
        if (entry := vocabulary().get(category)) is not None:
            texts += entry.clauses
            owners += [column] * len(entry.clauses)
            hashed = features.hashed_words([*entry.clauses, *entry.terms])
            counted = numpy.sqrt(numpy.asarray(hashed.sum(axis=0), dtype=numpy.float32).ravel())
            words[:, column] = counted / max(1e-9, float(numpy.linalg.norm(counted)))
    vectors = embedder.embed(texts) if texts else numpy.zeros((0, 384), dtype=numpy.float32)
    owned = numpy.array(owners, dtype=numpy.float32)
    return {"prototypes.vectors": vectors, "prototypes.owners": owned, "prototypes.words": words}


def likeness(reading: ContractReading, prototypes: Tables) -> Numbers:
    """Greatest cosine of each passage with a prototype of each category, 0 where it has none (n × categories)."""
    cosines, categories = reading.vectors @ prototypes["prototypes.vectors"].T, prototypes["prototypes.words"].shape[1]
    columns = [cosines[:, prototypes["prototypes.owners"] == column] for column in range(categories)]
    return numpy.stack([column.max(axis=1, initial=0) for column in columns], axis=1).astype(numpy.float32)


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
        self.readings = [features.read(contract.document.text, embedder) for contract in contracts]
        pairs = zip(contracts, self.readings, strict=True)
        self._targets = [scorers.find_targets(contract, reading, categories) for contract, reading in pairs]
        self._prototypes = find_prototypes(categories, embedder)
        self._scorers_without = cache(self._fit_scorers)

    def _fit_scorers(self, out: frozenset[int]) -> Tables:
        """Scorers fitted on the contracts of all folds but those in `out`."""
        rows = [row for row, fold in enumerate(self.folds) if fold not in out]
        if not rows:
            raise CorpusError("no contract is left to learn from; give contracts of more than one filer")
        readings, targets = [self.readings[row] for row in rows], [self._targets[row] for row in rows]
        return {**scorers.fit_scorers(readings, targets, self.settings), **self._prototypes}

    def fit(self, without: int | None = None) -> ClauseModel:
        """A model of all contracts, or of all but one fold's."""
        out = frozenset() if without is None else frozenset({without})
        rows = [row for row, fold in enumerate(self.folds) if fold not in out]
        priors = candidates.find_priors([self.contracts[row] for row in rows], self.categories)
        columns, truth = zip(*(example for row in rows for example in self._examples(row, out, priors)), strict=True)
        answering = trees.fit_trees(numpy.concatenate(columns), numpy.concatenate(truth), self.settings.answer_trees)
        documents = [self.contracts[row].document for row in rows]
        trained_on = tuple((document.id, digest(document.text)) for document in documents)
        tables = {**self._scorers_without(out), **answering, "priors": priors}
        return ClauseModel(self.categories, self.settings, tables, trained_on)

    def out_of_fold(self) -> Iterator[tuple[Contract, ContractReading, ClauseModel]]:
        """Every contract with a model that has not seen it, nor another contract of its filer."""
        for fold in sorted(set(self.folds)):
            model = self.fit(without=fold)
            for row, contract_fold in enumerate(self.folds):
                if contract_fold == fold:
                    yield self.contracts[row], self.readings[row], model

    def _examples(self, row: int, out: frozenset[int], priors: Exact) -> Iterator[tuple[Numbers, NDArray[numpy.bool_]]]:
        """A contract's candidates by question: what describes them, by scorers that have not seen it, and the truth."""
        unseen = self._scorers_without(out | {self.folds[row]})
        given = ClauseModel(self.categories, self.settings, unseen, ()).score(self.readings[row])
        gold = {question.category: question.gold for question in self.contracts[row].questions}
        for column, category in enumerate(self.categories):
            if category in gold and given.reading.passages:
                found = candidates.propose(given, column)
                truth = [
                    candidates.matches(given.reading.text, candidate, category, gold[category]) for candidate in found
                ]
                yield candidates.describe(given, found, column, priors[column]), numpy.array(truth, dtype=bool)


def save_model(model: ClauseModel, path: Path = WEIGHTS) -> None:
    """All of a model in one file, and no word or text; linear weights in half precision: figures keep 3 decimals."""
    upper = model.tables["shorts.upper"]
    learned = numpy.flatnonzero(numpy.abs(upper).sum(axis=0) > 0).astype(numpy.int32)
    tensors = {**model.tables, "shorts.learned": learned, "shorts.upper": upper[:, learned]}
    tensors |= {name: tensors[name].astype(kind) for name, kind in KINDS.items()}
    tensors |= sparse("prototypes.words", tensors.pop("prototypes.words"), 1)
    notes = {
        "layout": LAYOUT,
        "categories": json.dumps(model.categories),
        "trained_on": json.dumps(model.trained_on),
        "settings": json.dumps(asdict(model.settings)),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    contiguous = {name: numpy.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    save_file(contiguous, path, metadata={"notes": json.dumps(notes)})  # several would be written in any order


def load_model(path: Path = WEIGHTS) -> ClauseModel:
    """A saved model. Raises CorpusError where there is none, or the file is of another layout."""
    if not path.is_file():
        raise CorpusError(f"{path} is missing; make it with tools/train_contract_review.py")
    try:
        tensors, metadata = read_tensors(path)
        notes: dict[str, str] = dict(json.loads(metadata.get("notes", "{}")))
        if notes.get("layout") != LAYOUT:
            raise CorpusError(f"{path} has the layout {notes.get('layout')!r}, not {LAYOUT!r}; train it anew")
        categories = tuple(json.loads(notes["categories"]))
        trained_on = tuple((str(title), str(fingerprint)) for title, fingerprint in json.loads(notes["trained_on"]))
        tables = {n: t.astype(numpy.float32) if t.dtype == numpy.float16 else t for n, t in tensors.items()}
        tables["shorts.upper"] = numpy.zeros((len(tables["shorts.upper"]), len(categories)), dtype=numpy.float32)
        tables["shorts.upper"][:, tables.pop("shorts.learned")] = tensors["shorts.upper"]
        tables["prototypes.words"] = from_sparse("prototypes.words", tensors)
        if not len(tables["priors"]) == len(categories) == len(tables["passages.bias"]):
            raise ValueError("tables of different lengths")
        return ClauseModel(categories, LearningSettings(**json.loads(notes["settings"])), tables, trained_on)
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise CorpusError(f"{path} cannot be read as weights ({type(error).__name__}); train it anew") from None


@cache
def default_model() -> ClauseModel:
    """The model of the weights that come with the study, read once."""
    return load_model()
