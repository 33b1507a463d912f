"""Paragraphs for a query: by words, by meaning of the whole and of the best sentence, then by the learned reader.

The three are brought to one scale by their mean and spread over the corpus and added (Fox and Shaw 1994, CombSUM;
standard scores after Renda and Straccia 2003), words for half of what the best sentence counts, since people ask in
other words than policies have. A paragraph is found by the words of its section's heading too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy

from ovrag_core.retrieval import Embedder, Scores, Vectors, WordRanker, join, kept_vectors, minilm
from ovrag_core.text import find_passages, stems
from ovrag_studies.cited.corpus.policies import Paragraph, PolicyCorpus
from ovrag_studies.cited.corpus.relevance import load_reader

Way = Literal["lexical", "dense", "sentences", "fused", "ranks"]
TOP, CANDIDATES = 5, 8  # paragraphs that are found, and those that the reader looks at for that
FUSED: dict[Literal["lexical", "dense", "sentences"], float] = {"lexical": 0.5, "dense": 0.75, "sentences": 1.0}
READ = 0.3  # what log-odds of the reader count beside the score that a paragraph was found by
DECIMALS = 6

_HEADING = re.compile(
    r"\d+(?:\.\d+)*[.)]?\s+((?:(?:[A-Z(&][^\s.;:]*|and|or|of|the|for|to|in|on|is|a|an|from|with|at|by|&|-|–)\s+){1,10})"
)


@dataclass(frozen=True, slots=True)
class RankedParagraph:
    """A paragraph that was found: its rank from 1, its score by `by`, which ran last."""

    paragraph: Paragraph
    score: float
    by: str
    rank: int


class CorpusIndex:
    """A corpus that can be searched. Vectors are kept on disk by their texts where `keep` names a folder."""

    def __init__(self, corpus: PolicyCorpus, embedder: Embedder | None = None, keep: Path | None = None) -> None:
        self.corpus = corpus
        self.embedder = embedder or minilm()
        self._keep = keep
        self._texts = [paragraph.text for paragraph in corpus.paragraphs]
        self._sentences = [[text[i:j] for i, j in find_passages(text)] or [text] for text in self._texts]
        self._lexicon = WordRanker([stems(text) for text in with_headings(corpus)])

    def scores(self, query: str, way: Way) -> Scores:
        """A number for each paragraph of the corpus, in its order."""
        if way == "lexical":
            word_scores = self._lexicon.scores([(stem, 1.0) for stem in dict.fromkeys(stems(query))])
            return numpy.maximum(word_scores, 0.0)  # without any of the words it is -inf
        if way == "dense":
            return self._cosines(self._paragraph_vectors, query)
        if way == "sentences":
            ends = numpy.cumsum([len(sentences) for sentences in self._sentences])
            return numpy.maximum.reduceat(self._cosines(self._sentence_vectors, query), [0, *ends[:-1]])
        by_way = [self.scores(query, name) for name in FUSED]
        if way == "ranks":
            return join(by_way)
        # Where all score alike, none has anything above the mean.
        standard = [(scores - scores.mean()) / (scores.std() or 1.0) for scores in by_way]
        total: Scores = numpy.sum([n * scores for n, scores in zip(FUSED.values(), standard, strict=True)], axis=0)
        return total

    @cached_property
    def vectors(self) -> dict[str, Vectors]:
        """The vectors of all sentences and paragraphs of the corpus, and of what was compared with them."""
        rows = chain(self._sentence_vectors, self._paragraph_vectors)
        return dict(zip(chain(*self._sentences, self._texts), rows, strict=True))

    def _cosines(self, rows: Vectors, query: str) -> Scores:
        if query not in self.vectors:
            self.vectors[query] = self.embedder.embed([query])[0]
        cosines: Scores = (rows @ self.vectors[query]).astype(numpy.float64).round(DECIMALS)
        return cosines

    @cached_property
    def _paragraph_vectors(self) -> Vectors:
        return self._embed(self._texts)

    @cached_property
    def _sentence_vectors(self) -> Vectors:
        return self._embed(list(chain(*self._sentences)))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        return kept_vectors(self.embedder, texts, self._keep) if self._keep else self.embedder.embed(texts)


class Nearness:
    """Cosines of texts. Vectors of texts seen before are kept, beside those that were made before (`vectors`)."""

    def __init__(self, embedder: Embedder | None = None, vectors: dict[str, Vectors] | None = None) -> None:
        self._embedder = embedder or minilm()
        self._vectors = {} if vectors is None else vectors

    def embed(self, texts: Iterable[str]) -> None:
        """Embed texts that were not seen before."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            self._vectors.update(zip(new, self._embedder.embed(new), strict=True))

    def cosine(self, one: str, other: str) -> float:
        """The cosine of two texts that were seen before."""
        return float(self._vectors[one] @ self._vectors[other])

    def likeness(self, query: str, texts: Sequence[str]) -> list[float]:
        """The cosine of a text with each of others."""
        self.embed([query, *texts])
        return [self.cosine(query, text) for text in texts]


def with_headings(corpus: PolicyCorpus) -> Iterator[str]:
    """The text of each paragraph with the heading of its section, which stands in the section's first one."""
    headings: dict[str, str] = {}
    for paragraph in corpus.paragraphs:
        if heading := heading_of(paragraph.text):
            headings[paragraph.doc_id] = heading
            yield paragraph.text
        else:
            yield f"{headings.get(paragraph.doc_id, '')} {paragraph.text}"


def heading_of(text: str) -> str:
    """The heading that a paragraph begins with, without its number: words with capitals; empty for none."""
    if not (match := _HEADING.match(text)):
        return ""
    words = match[1].split()
    # The last word with a capital begins the sentence behind it.
    ends = [row for row, word in enumerate(words, 1) if not word[0].islower()][:-1]
    return " ".join(words[: max(ends, default=1)])


def retrieve(query: str, index: CorpusIndex) -> list[RankedParagraph]:
    """Return the TOP paragraphs for a query: the CANDIDATES found by the fused ways, as the reader orders them.

    The reader's log-odds are added to the score, as it knows nothing of headings, nor what else there is. Nothing is
    found for a query without a word. Raises SettingsError where the reader's weights cannot be read.
    """
    candidates = retrieve_by("fused", query, index, CANDIDATES)
    odds = load_reader().judge(query, [candidate.paragraph.text for candidate in candidates]) if candidates else []
    worth = [round(candidate.score + READ * odd, DECIMALS) for candidate, odd in zip(candidates, odds, strict=True)]
    best = sorted(zip(worth, candidates, strict=True), key=lambda scored: -scored[0])[:TOP]
    return [replace(candidate, score=score, by="reader", rank=rank) for rank, (score, candidate) in enumerate(best, 1)]


def retrieve_by(way: Way, query: str, index: CorpusIndex, top: int = TOP) -> list[RankedParagraph]:
    """Return the first paragraphs of one way of finding, best first; nothing for a query without a word."""
    if not query.strip():
        return []
    scores = index.scores(query, way)
    order = numpy.argsort(-scores, kind="stable")[:top]
    return [
        RankedParagraph(index.corpus.paragraphs[row], round(float(scores[row]), DECIMALS), way, rank)
        for rank, row in enumerate(order, 1)
    ]
