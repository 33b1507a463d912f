"""Answers that are passages of the retrieved chunks: extractive, offline, deterministic.

The question is taken apart into what it asks for, the chunks into sentences and label–value lines, and the passages
nearest in meaning to each part are quoted in the order in which they stand. Nothing is written that is not in the text.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy

from ovrag_core.base import Answer, Chunk, Correction, Evidence
from ovrag_core.documents import find_sections, is_capitals
from ovrag_core.retrieval import Embedder, Vectors
from ovrag_core.text import STOP_WORDS, find_passages, stems, word_list

NO_ANSWER = "The context does not hold an answer."
Excluded = tuple[str, int, int]

FLOOR = 0.36  # below, a passage has nothing to do with a part of the question
RIVAL = 0.85  # of a part's best score: as good as the best
KEEN = 0.85  # above, a passage is worth quoting though it is not a part's best
EXTRA = 1  # passages beyond one for each part
MAX_CHARACTERS = 600
WHOLE = 0.2  # share of the whole question in the nearness to a part of it
HEADING_WEIGHT = 0.15
LEXICAL_WEIGHT = 0.25
LABEL_WEIGHT = 0.2
KIND_WEIGHT = 0.12
TITLE_LOSS = 0.3  # a document's title answers only what the document is
_CACHE_LIMIT = 2_000  # texts; a contract has some dozens

_PART = re.compile(r"[,;:?!]|\b(?:and|as well as|along with|with its|with their)\b", re.I)
_FRAME = re.compile(
    r"\b(?:in|of|by|under|from|to) (?:this|the) (?:document|text|contract|agreement|file|page)\b|\bplease\b", re.I
)
_LEADERS = re.compile(r"(?:\.\s?){5,}")  # a line of a table of contents
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]")
_EMPTY = STOP_WORDS | word_list("asking")
_TITLE_CUE = re.compile(r"\b(?:kinds?|types?|sort|nature|titled?|called|summar\w+|describe\w*|what is)\b", re.I)
_BACKWARD = re.compile(r"\b(?:it|them|they|each|both|those|these)\b", re.I)
_ASKING = re.compile(r"\b(?:what|when|where|who|whom|whose|why|how|which)\b", re.I)

# What a part of a question asks for, and what a passage that answers it holds.
_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][\w.'’-]*,? (?:(?:of|de|la|van|von|and|&|the) ){0,2}[A-ZÀ-ÖØ-Þ][\w.'’-]")
_SUM = re.compile(r"(?:[$€£¥]|\b[A-Z]{3}) ?\d|\d(?:[.,]\d{2,3})+ ?(?:[$€£¥]|[A-Z]{3}\b)")
_DAY = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\w+ days?\b")
_TERM = re.compile(r"\b(?:days?|weeks?|months?|monthly|quarter\w*|years?|yearly|annual\w*|instal+ments?)\b", re.I)
_KINDS = tuple(
    (re.compile(rf"\b(?:{cues})\b", re.I), answer)
    for cues, answer in (
        (r"who|whom|whose|part(?:y|ies)|names?|persons?|people|compan(?:y|ies)", _NAME),
        (r"amounts?|how much|sums?|price|cost|fees?|deposit|limit|value", _SUM),
        (r"rates?|percent(?:age)?|share|interest", re.compile(r"\d ?(?:%|per ?cent)", re.I)),
        (r"when|dates?|days?|due|until|deadline|maturity|end|expir\w+", _DAY),
        (r"how long|terms?|period|duration|instal+ments?|repay\w*", _TERM),
    )
)


@dataclass(frozen=True, slots=True)
class Quotable:
    """A candidate for quoting."""

    evidence: Evidence
    heading: str = ""
    is_title: bool = False

    @property
    def text(self) -> str:
        """Its words as they stand."""
        return self.evidence.quote


class ExtractiveAnswerer:
    """Quotes the passages that are nearest to the question, by an embedder and by shared words."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}
        self.name = f"extractive ({embedder.name})"

    def answer(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        exclude: frozenset[Excluded] = frozenset(),
        corrections: Sequence[Correction] = (),
    ) -> Answer:
        """The passages of `chunks` that answer `question`, in document order, each with its evidence.

        `exclude` names spans (document id, start, end) that may not be quoted: passages that overlap one are left out.
        `corrections` are for those who write; who quotes can only quote something else.
        Where no passage is near enough the answer says so and has no evidence.
        """
        passages = [passage for passage in passages_of(chunks) if not _is_excluded(passage.evidence, exclude)]
        chosen = _choose(passages, self._scores(question, passages), _content_words(question)) if passages else []
        text = "\n".join(passage.text for passage in chosen)
        return Answer(text=text or NO_ANSWER, evidence=tuple(passage.evidence for passage in chosen))

    def _scores(self, question: str, passages: Sequence[Quotable]) -> Vectors:
        """Nearness of each part of the question (rows) to each passage (columns)."""
        parts = question_parts(question)
        texts = [*parts, " ".join(question.split()), *(" ".join(passage.text.split()) for passage in passages)]
        vectors = self._embed([*texts, *(passage.heading for passage in passages)])
        asked_vectors, text_vectors, heading_vectors = numpy.split(vectors, [len(parts) + 1, len(texts)])
        cosines = asked_vectors @ text_vectors.T
        # A part stands in the light of the whole question, a passage in that of its heading.
        near = (1 - WHOLE) * cosines[:-1] + WHOLE * cosines[-1:]
        near = near + HEADING_WEIGHT * (asked_vectors[:-1] @ heading_vectors.T).clip(min=0.0)
        # Rounded, so that ties are ties on every machine.
        return numpy.round(near + _wording(parts, passages), 5).astype(numpy.float32)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if len(self._vectors) > _CACHE_LIMIT:
            self._vectors = {}
        cache = self._vectors  # another thread may begin a new cache at any time
        if missing := sorted({text for text in texts if text not in cache}):
            cache.update(zip(missing, self._embedder.embed(missing), strict=True))
        return numpy.stack([cache[text] for text in texts])


def question_parts(question: str) -> list[str]:
    """Split a question into what it asks for: its clauses that hold more than function words.

    A question of a single such clause is kept whole. A clause that only speaks of `it` or `them` adds nothing to the
    ones before. It is left out, unless it asks a question of its own (`when is it returned`).
    """
    plain = " ".join(_FRAME.sub(" ", question).split())
    clauses = [clause.strip(" .") for clause in _PART.split(plain)]
    substantive = list(dict.fromkeys(clause for clause in clauses if _content_words(clause)))
    telling = [clause for clause in substantive if not _BACKWARD.search(clause) or _ASKING.search(clause)]
    return telling or substantive or [question.strip() or "?"]


def passages_of(chunks: Sequence[Chunk]) -> list[Quotable]:
    """Passages of chunks in the order of their documents' first chunk, then of the text; overlaps are read once.

    Headings are no passages but are kept with those below them; only the title of a document can be quoted.
    """
    return [passage for region in together(chunks) for passage in _passages(region)]


def _passages(region: Chunk) -> Iterator[Quotable]:
    text = region.text
    titles = {section.start: section.title for section in find_sections(text)}
    heading = ""
    for left, right in find_passages(text):
        quote = text[left:right]
        title = titles.get(left, "")
        bare = title == quote or is_capitals(quote)
        if title or bare:
            heading = title or quote
        evidence = passage_of(region, left, right)
        if not _LEADERS.search(quote) and not (bare and evidence.start > 0):
            yield Quotable(evidence, "" if bare else heading, bare)


def passage_of(chunk: Chunk, start: int, end: int) -> Evidence:
    """The passage at `[start, end)` of a chunk's text."""
    return Evidence(
        document_id=chunk.document_id, start=chunk.start + start, end=chunk.start + end, quote=chunk.text[start:end]
    )


def together(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks in the order of their documents' text, those that touch or overlap as one."""
    joined: list[Chunk] = []
    for chunk in in_text_order(chunks):
        previous = joined[-1] if joined else None
        if previous is not None and previous.document_id == chunk.document_id and chunk.start <= previous.end:
            text = previous.text + chunk.text[max(0, previous.end - chunk.start) :]
            joined[-1] = Chunk(previous.id, previous.document_id, previous.start, max(previous.end, chunk.end), text)
        else:
            joined.append(chunk)
    return joined


def in_text_order(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks as their documents have them, the best chunk's document first.

    A model reads on from one to the next, and a server that keeps the beginning of a prompt has read most of them when
    another question is asked of the same document.
    """
    order = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    return sorted(chunks, key=lambda chunk: (order.index(chunk.document_id), chunk.start))


def _is_excluded(passage: Evidence, exclude: frozenset[Excluded]) -> bool:
    return any(
        document_id == passage.document_id and start < passage.end and passage.start < end
        for document_id, start, end in exclude
    )


def _choose(passages: Sequence[Quotable], scores: Vectors, known: frozenset[str]) -> list[Quotable]:
    """For each part its best passage, then those about as good, within the budget; in the order of the text.

    A passage that says nothing beyond the question and what is already chosen of its document is passed over.
    """
    best = scores.max(axis=1, keepdims=True)
    rivals = (best >= FLOOR) & ((scores >= RIVAL * best) | (scores >= KEEN))
    order = numpy.argsort(-(scores - best).max(axis=0, where=rivals, initial=-2.0), kind="stable")
    covered: dict[str, set[str]] = {}
    chosen: list[int] = []
    length = 0
    for number in (int(number) for number in order if rivals[:, number].any()):
        passage = passages[number]
        words = _content_words(passage.text)
        heard = covered.setdefault(passage.evidence.document_id, set(known))
        if words <= heard or (chosen and length + len(passage.text) > MAX_CHARACTERS):
            continue
        heard |= words
        chosen.append(number)
        length += len(passage.text)
        if len(chosen) == len(scores) + EXTRA:
            break
    return [passages[number] for number in sorted(chosen)]


@lru_cache(maxsize=4_096)
def _content_words(text: str) -> frozenset[str]:
    return frozenset(stems(text, _EMPTY))


def _wording(parts: Sequence[str], passages: Sequence[Quotable]) -> Vectors:
    """Compute what each passage gains by its words, for each part of the question.

    Gains come from words shared with the part (rare ones most), from a label that is asked for, and from the right
    kind. The weight of a word falls with the share of the passages that have it (inverse document frequency).
    """
    spread = Counter(word for p in passages for word in _content_words(p.text) | _content_words(p.heading))
    rare = math.log(1 + len(passages))
    gains = numpy.zeros((len(parts), len(passages)), dtype=numpy.float32)
    for row, clause in enumerate(parts):
        weights = {word: math.log(1 + len(passages) / (1 + spread[word])) for word in sorted(_content_words(clause))}
        total = sum(weights[word] if spread[word] else rare for word in weights)
        gains[row] = [_gain(clause, passage, weights, total) for passage in passages]
    return gains


def _gain(part: str, passage: Quotable, asked: Mapping[str, float], total: float) -> float:
    """The gain of a passage for a part of the question whose words, weighed, are `asked`."""
    if passage.is_title and not _TITLE_CUE.search(part):
        return -TITLE_LOSS
    body, head = _content_words(passage.text), _content_words(passage.heading)
    shared = max(sum(asked[word] for word in asked if word in held) for held in (body, head))
    label, colon, _ = passage.text.partition(":")
    label_words = _content_words(_BRACKETS.sub(" ", label)) if colon else frozenset()
    named = any(words and words <= asked.keys() for words in (label_words, head))
    lexical = LEXICAL_WEIGHT * shared / total if total else 0.0
    return lexical + LABEL_WEIGHT * named + KIND_WEIGHT * _is_of_kind(part, passage.text)


@lru_cache(maxsize=4_096)
def _is_of_kind(part: str, text: str) -> bool:
    """True where a passage holds what a part of the question asks for: a name, an amount, a rate, a day, a term."""
    return any(cue.search(part) and kind.search(text) for cue, kind in _KINDS)
