"""Reading of an agreement for the learned judge of hypotheses: meaning, words and place of each candidate span."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ovrag_core.base import CorpusError, Document, DocumentError
from ovrag_core.retrieval import Vectors, kept_vectors, minilm
from ovrag_core.text import find_passages
from ovrag_studies.contract_review.inference.nli_cues import MARKS, cue_hits, plain
from ovrag_studies.contract_review.texts.datasets import Span

Floats = NDArray[numpy.float32]

WORDS = 2**13  # buckets of hashed words and pairs of words
_CLOSED = re.compile(r"[.!?][\"'”’)\]]*\s*$")
_KINDS = (
    ("bullet", re.compile(r"\s*[•·▪◦●\uf0b7\uf0a7*–-]\s")),
    ("decimal", re.compile(r"\s*\(?\d{1,2}(?:\.\d{1,2})+[.)]?(?:\s|$)")),
    ("number", re.compile(r"\s*\(?\d{1,2}[.)](?:\s|$)")),
    ("roman", re.compile(r"\s*\(?(?:[ivx]{2,5}|i)[.)](?:\s|$)")),
    ("letter", re.compile(r"\s*\(?[a-z][.)](?:\s|$)")),
    ("capital", re.compile(r"\s*\(?[A-Z][.)](?:\s|$)")),
)
_CLAUSE_KINDS = ("number", "capital")  # of clauses as often as of the items of a list
_LONGEST_LIST = 60


@dataclass(frozen=True, slots=True)
class AgreementReading:
    """An agreement of n spans read for h hypotheses.

    `vectors` n × 384; `words` and `lead_words` n × WORDS, rows of unit length; `leads` the span that introduces each
    one, or −1; `cues` n × h × 6 (about, for and against, alone and behind the lead); `marks` n × 10 (negation, duty,
    permission, exception); `similar` n × h cosines; `form` n × 5.
    """

    spans: tuple[Span, ...]
    vectors: Vectors
    words: csr_matrix
    lead_words: csr_matrix
    leads: NDArray[numpy.intp]
    cues: Floats
    marks: Floats
    similar: Floats
    form: Floats


def checked_spans(document: Document, spans: Sequence[Span] | None) -> tuple[Span, ...]:
    """The candidate spans, or the passages where none are given. Raises DocumentError without words, CorpusError."""
    if not document.text.strip():
        raise DocumentError(f"{document.id} holds no text; give an agreement with words in it")
    if not (chosen := tuple(spans or find_passages(document.text))):
        raise DocumentError(f"{document.id} holds no sentence; give an agreement with words in it")
    for start, end in chosen:
        if not 0 <= start < end <= len(document.text):
            raise CorpusError(f"{document.id}: the span {start}:{end} is not inside its text; mend the list of spans")
    return chosen


def read(document: Document, spans: Sequence[Span] | None, hypotheses: Mapping[str, str]) -> AgreementReading:
    """Everything about the spans that a judge may weigh; hashes keep no word of the agreements learned from."""
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 - takes a second

    hashing = HashingVectorizer(
        n_features=WORDS, ngram_range=(1, 2), norm="l2", token_pattern=r"(?u)\b\w[\w']*\b", dtype=numpy.float32
    )
    chosen = checked_spans(document, spans)
    texts = [document.text[start:end] for start, end in chosen]
    even = [plain(text) for text in texts]
    leads = find_leads(texts)
    led = behind_leads(even, leads)
    vectors = kept_vectors(minilm(), texts)
    hypothesis_vectors = kept_vectors(minilm(), list(hypotheses.values()))
    cues = [
        [(*cue_hits(h, text), *cue_hits(h, both)) for h in hypotheses] for text, both in zip(even, led, strict=True)
    ]
    return AgreementReading(
        spans=chosen,
        vectors=vectors,
        words=hashing.transform(even),
        lead_words=hashing.transform([even[lead] if lead >= 0 else "" for lead in leads]),
        leads=numpy.array(leads, dtype=numpy.intp),
        cues=numpy.array(cues, dtype=numpy.float32),
        marks=numpy.array([[bool(mark.search(text)) for mark in MARKS] for text in even], dtype=numpy.float32),
        similar=vectors @ hypothesis_vectors.T,
        form=numpy.array([_form(text) for text in texts], dtype=numpy.float32),
    )


def behind_leads(texts: Sequence[str], leads: Sequence[int]) -> list[str]:
    """Each text behind the one that introduces it, if any does."""
    return [f"{texts[lead]} {text}" if lead >= 0 else text for text, lead in zip(texts, leads, strict=True)]


def find_leads(texts: Sequence[str]) -> list[int]:
    """For each span the number of the one that introduces it as an item or a continuation, or −1.

    "The obligations do not apply to information that:" says what its items are about; an item alone does not.
    """
    leads: list[int] = []
    kinds = [_kind(text) for text in texts]
    open_lists: list[tuple[int, str | None]] = []  # lead, and the kind of its items
    for index, (text, kind, below) in enumerate(zip(texts, kinds, [*kinds[1:], None], strict=True)):
        unfinished = index > 0 and not _CLOSED.search(texts[index - 1])
        while open_lists:
            lead, item_kind = open_lists[-1]
            if kind is None:
                belongs = unfinished and index - lead < _LONGEST_LIST
            else:
                belongs = kind != kinds[lead] and (item_kind in (None, kind) or unfinished)
            if belongs:
                open_lists[-1] = (lead, item_kind or kind)
                break
            open_lists.pop()
        leads.append(open_lists[-1][0] if open_lists else -1)
        if _opens_list(text, kind, below):
            open_lists.append((index, None))
    return leads


def _opens_list(text: str, kind: str | None, below: str | None) -> bool:
    """Return True where the span below, of another kind, is an item of what a text begins."""
    end = text.rstrip()
    lists = below not in (None, kind, *_CLAUSE_KINDS) and len(text) > 30
    return end.endswith(":") or (lists and not end.endswith(";") and not _CLOSED.search(text))


def _kind(text: str) -> str | None:
    return next((name for name, pattern in _KINDS if pattern.match(text)), None)


def _form(text: str) -> tuple[float, ...]:
    ends = (text.rstrip().endswith(":"), bool(_CLOSED.search(text)))
    return (_kind(text) is not None, *ends, len(text) < 25, float(numpy.log1p(len(text))))
