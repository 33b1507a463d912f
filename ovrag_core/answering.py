"""Answers that are passages of the retrieved chunks: extractive, offline, deterministic.

The question is taken apart into what it asks for, the chunks into sentences and label–value lines, and the passages
nearest in meaning to each part are quoted in the order in which they stand. Nothing is written that is not in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy

from ovrag_core.documents.passages import find_passages
from ovrag_core.documents.sections import is_heading
from ovrag_core.retrieval.embedding import Embedder, Vectors
from ovrag_core.types import Answer, Chunk, Evidence

NO_ANSWER = "The context does not hold an answer."
Excluded = tuple[str, int, int]

FLOOR = 0.36  # below, a passage has nothing to do with a question
RIVAL = 0.8  # of a part's best score: as good as the best
KEEN = 0.75  # above, a passage is worth quoting though it is not a part's best
EXTRA = 1  # passages beyond one for each part
MAX_CHARACTERS = 600
LEXICAL_WEIGHT = 0.25
LABEL_WEIGHT = 0.2
_CACHE_LIMIT = 100_000

_PART = re.compile(r"[,;:?!]|\b(?:and|as well as|along with|with its|with their)\b", re.I)
_FRAME = re.compile(
    r"\b(?:in|of|by|under|from|to) (?:this|the) (?:document|text|contract|agreement|file|page)\b|\bplease\b", re.I
)
_LEADERS = re.compile(r"(?:\.\s?){5,}")  # a line of a table of contents
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]")
_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = """
a an and any are as at be been by can did do does each for from had has have how if in is it its kind of off on one or
other so such than that the their them then there these they this those to type under was were what when where whether
which who whom whose why will with would summarise summarize describe list name give state tell explain described
"""
_STOP = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """A candidate for quoting."""

    document_id: str
    start: int
    end: int
    text: str
    heading: str = ""


class ExtractiveAnswerer:
    """Quotes the passages that are nearest to the question, by an embedder and by shared words."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    @property
    def name(self) -> str:
        """The name that results are labelled with."""
        return f"extractive ({self._embedder.name})"

    def answer(self, question: str, chunks: Sequence[Chunk], *, exclude: frozenset[Excluded] = frozenset()) -> Answer:
        """The passages of `chunks` that answer `question`, in document order, each with its evidence.

        `exclude` names spans (document id, start, end) that may not be quoted: passages that overlap one are left out.
        Where no passage is near enough the answer says so and has no evidence.
        """
        passages = [passage for passage in passages_of(chunks) if not _is_excluded(passage, exclude)]
        if not passages:
            return Answer(text=NO_ANSWER)
        parts = question_parts(question)
        chosen = _choose(passages, self._scores(parts, passages), _content_words(question))
        if not chosen:
            return Answer(text=NO_ANSWER)
        evidence = tuple(
            Evidence(document_id=passage.document_id, start=passage.start, end=passage.end, quote=passage.text)
            for passage in chosen
        )
        return Answer(text="\n".join(passage.text for passage in chosen), evidence=evidence)

    def _scores(self, parts: Sequence[str], passages: Sequence[Passage]) -> Vectors:
        """Nearness of each part (rows) to each passage (columns)."""
        texts = [" ".join(passage.text.split()) for passage in passages]
        vectors = self._embed([*parts, *texts])
        cosines = vectors[: len(parts)] @ vectors[len(parts) :].T
        wording = numpy.array([[_wording(part, passage) for passage in passages] for part in parts])
        # Rounded, so that ties are ties on every machine.
        scores: Vectors = numpy.round(cosines + wording, 5).astype(numpy.float32)
        return scores

    def _embed(self, texts: Sequence[str]) -> Vectors:
        missing = sorted({text for text in texts if text not in self._vectors})
        if missing:
            if len(self._vectors) > _CACHE_LIMIT:
                self._vectors.clear()
                missing = sorted(set(texts))
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))
        return numpy.stack([self._vectors[text] for text in texts])


def question_parts(question: str) -> list[str]:
    """What a question asks for: its clauses that hold more than function words; the whole where there is one only."""
    plain = " ".join(_FRAME.sub(" ", question).split())
    parts = [part.strip(" .") for part in _PART.split(plain)]
    kept = list(dict.fromkeys(part for part in parts if _content_words(part)))
    return kept or [question.strip() or "?"]


def passages_of(chunks: Sequence[Chunk]) -> list[Passage]:
    """Passages of chunks in the order of their documents' first chunk, then of the text; overlaps are read once."""
    found: list[Passage] = []
    for document_id in dict.fromkeys(chunk.document_id for chunk in chunks):
        for start, text in _regions([chunk for chunk in chunks if chunk.document_id == document_id]):
            heading = ""
            for left, right in find_passages(text):
                quote = text[left:right]
                if is_heading(quote):
                    heading = quote
                elif not _LEADERS.search(quote):
                    found.append(Passage(document_id, start + left, start + right, quote, heading))
    return found


def _regions(chunks: Sequence[Chunk]) -> list[tuple[int, str]]:
    """Stretches of text that chunks cover without a gap."""
    regions: list[tuple[int, str]] = []
    for chunk in sorted(chunks, key=lambda chunk: (chunk.start, chunk.end)):
        if regions and chunk.start <= regions[-1][0] + len(regions[-1][1]):
            start, text = regions[-1]
            regions[-1] = (start, text + chunk.text[start + len(text) - chunk.start :])
        else:
            regions.append((chunk.start, chunk.text))
    return regions


def _is_excluded(passage: Passage, exclude: frozenset[Excluded]) -> bool:
    return any(
        document_id == passage.document_id and start < passage.end and passage.start < end
        for document_id, start, end in exclude
    )


def _choose(passages: Sequence[Passage], scores: Vectors, known: frozenset[str]) -> list[Passage]:
    """For each part its best passage, then those about as good, within the budget; in the order of the text.

    A passage that says nothing beyond the question and what is already chosen of its document is passed over.
    """
    best = scores.max(axis=1, keepdims=True)
    rivals = (best >= FLOOR) & ((scores >= RIVAL * best) | (scores >= KEEN))
    order = numpy.argsort(-(scores - best).max(axis=0, where=rivals, initial=-2.0), kind="stable")
    said: dict[str, set[str]] = {}
    chosen: list[int] = []
    length = 0
    for number in (int(number) for number in order if rivals[:, number].any()):
        passage = passages[number]
        words = _content_words(passage.text)
        heard = said.setdefault(passage.document_id, set(known))
        if words <= heard or (chosen and length + len(passage.text) > MAX_CHARACTERS):
            continue
        heard |= words
        chosen.append(number)
        length += len(passage.text)
        if len(chosen) == len(scores) + EXTRA:
            break
    return [passages[number] for number in sorted(chosen)]


@lru_cache(maxsize=100_000)
def _content_words(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP)


def _wording(part: str, passage: Passage) -> float:
    """What a passage gains by saying the part's own words: in its text or heading, and as the label of a value."""
    asked = _content_words(part)
    if not asked:
        return 0.0
    in_text = len(asked & _content_words(passage.text)) / len(asked)
    in_heading = len(asked & _content_words(passage.heading)) / len(asked)
    label = _content_words(_BRACKETS.sub(" ", passage.text.partition(":")[0])) if ":" in passage.text else frozenset()
    return LEXICAL_WEIGHT * max(in_text, in_heading) + LABEL_WEIGHT * bool(label and label <= asked)


def _stem(word: str) -> str:
    for ending in ("ments", "ment", "ities", "ity", "ings", "ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
