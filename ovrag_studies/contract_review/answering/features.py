"""Reading of a contract for the learned clause scorers: its passages, its short spans, and numbers about both."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy
import scipy.sparse
from numpy.typing import NDArray

from ovrag_core.retrieval import Embedder, kept_vectors
from ovrag_core.text import MONTH, Span, find_passages
from ovrag_studies.contract_review.texts.clause_tree import ContractClause, find_clauses

Kind = Literal["date", "quoted", "bracket", "name", "line"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Numbers = NDArray[numpy.float32]
Sparse: TypeAlias = scipy.sparse.csr_matrix

WORD_BUCKETS = 2**14
CONTEXT_BUCKETS = 2**13
SHORT_BUCKETS = 2**15
OPENING = 10_000  # characters from the beginning in which short spans are looked for
CLOSING = 4_000  # characters before the end, where contracts are signed and dated
LONGEST_SHORT = 160  # characters of a short span

_WORD = r"[a-z]{2,}|\d+"
_MONTH = rf"{MONTH}(?![a-z])\.?"
_YEAR = r"(?:(?:19|20)\d{2}|20_+|_{2,})"
_DAY = r"(?:\d{1,2}|_+|\[[^\]]{0,12}\])(?:\s?(?:st|nd|rd|th))?"
_DATE = re.compile(
    rf"\b{_MONTH}\s*{_DAY}\s*,?\s*{_YEAR}"
    rf"|(?<![\w.]){_DAY}(?:\s+day)?(?:\s+of)?[\s,]+{_MONTH}\s*,?\s*{_YEAR}"
    rf"|\b{_MONTH}\s*,?\s*(?:19|20)\d{{2}}\b"
    r"|(?<![\w/.-])\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})(?![\w/-])"
    r"|(?<=\bon |\bof )(?:19|20)\d{2}(?= ?[(,])",
    re.I,
)
_QUOTED = re.compile(r"[\"“”?]([^\"“”?\n]{2,60}?)[,.]?[\"“”?]")
_BRACKET = re.compile(r"\(([^()]{3,160})\)")
_CAPITAL_WORD = r"(?:[A-Z0-9À-Þ][\w&.'’/#À-ÿ-]*|&)"
_SMALL_WORD = r"(?:of|and|the|for|de|la|du|van|von|in|to|on|by|a)"
_NAME = re.compile(
    rf"(?<![\w&])[A-ZÀ-Þ][\w&.'’/#À-ÿ-]*(?:(?:,?[ \t]+|,?\n(?!\n))(?:{_SMALL_WORD}[ \t]+){{0,2}}{_CAPITAL_WORD}"
    rf"|[ \t]*\((?:[A-Z][\w.' ]{{1,30}})\)(?=[ \t,]+[A-Z]))*"
)
_ENDING = re.compile(
    r"(?:,?\s+(?:Inc|Incorporated|LLC|L\.L\.C|Ltd|Limited|Corp|Corporation|Co|Company|L\.P|LP|LLP|N\.A|S\.A|GmbH|AG|PLC"
    r"|plc|B\.V|N\.V|Pty|Trust|Bank)\b\.?)+",
    re.I,
)
_LINE = re.compile(r"[^\n\r]+")
_GAP = re.compile(r"\s{3,}")
_TRAILING = " \t\r\n,;:.("
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Short:
    """A short span that may itself be an answer: a date, a quoted term, a name, a line; `passage` is where it is."""

    start: int
    end: int
    kind: Kind
    passage: int


@dataclass(frozen=True, slots=True)
class ContractReading:
    """A contract as the scorers see it: n passages, m short spans.

    `vectors` n × 384; `words` n × `WORD_BUCKETS` counts of 0 or 1; `context` n × `CONTEXT_BUCKETS` of the titles of the
    clauses around and of the two passages before; `places` n × 5; `traits` m × `SHORT_BUCKETS`.
    """

    text: str
    passages: tuple[Span, ...]
    clauses: tuple[ContractClause, ...]
    vectors: Numbers
    words: Sparse
    context: Sparse
    places: Numbers
    shorts: tuple[Short, ...]
    traits: Sparse


def read(text: str, embedder: Embedder) -> ContractReading:
    """Read a text as the scorers see it; an empty text has no passages."""
    passages = tuple(find_passages(text))
    clauses = find_clauses(text)
    pieces = [text[start:end] for start, end in passages]
    vectors = kept_vectors(embedder, pieces) if pieces else numpy.zeros((0, 384), dtype=numpy.float32)
    headings = [" ".join(c.title for c in clauses if c.start < end and c.end > start) for start, end in passages]
    shorts = tuple(find_shorts(text, passages))
    return ContractReading(
        text=text,
        passages=passages,
        clauses=clauses,
        vectors=vectors,
        words=hashed_words(pieces),
        context=_context(pieces, headings),
        places=_places(text, passages),
        shorts=shorts,
        traits=_traits(text, passages, shorts),
    )


def hashed_words(texts: Sequence[str], buckets: int = WORD_BUCKETS) -> Sparse:
    """Mark the buckets of words and of pairs of words that each text holds (n × `buckets`, 0 or 1)."""
    return _hashed(texts, buckets, ngram_range=(1, 2), norm=None, token_pattern=_WORD)


def _hashed(rows: Sequence[str | list[str]], buckets: int, **options: object) -> Sparse:
    if not rows:
        return scipy.sparse.csr_matrix((0, buckets), dtype=numpy.float32)
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 - takes a second

    hashing = HashingVectorizer(n_features=buckets, alternate_sign=False, binary=True, **options)
    return hashing.transform(rows).astype(numpy.float32)


def _context(pieces: Sequence[str], headings: Sequence[str]) -> Sparse:
    """Words of the headings, marked as such, and of the two passages before, the nearer counting twice."""
    above = hashed_words([" ".join(f"h{word}" for word in titles.split()) for titles in headings], CONTEXT_BUCKETS)
    if not pieces:
        return above
    count = len(pieces)
    before = scipy.sparse.diags_array([1.0, 0.5], offsets=[-1, -2], shape=(count + 2, count)).tocsr()[:count]
    joined = _unit(above) + _unit(scipy.sparse.csr_matrix(before @ hashed_words(pieces, CONTEXT_BUCKETS)))
    return scipy.sparse.csr_matrix(joined).astype(numpy.float32)


def _unit(matrix: Sparse) -> Sparse:
    lengths = numpy.sqrt(numpy.asarray(matrix.multiply(matrix).sum(axis=1), dtype=numpy.float32).ravel())
    scale = numpy.divide(1.0, lengths, out=numpy.zeros_like(lengths), where=lengths > 0)
    return scipy.sparse.csr_matrix(scipy.sparse.diags_array(scale) @ matrix).astype(numpy.float32)


def unit_rows(matrix: Sparse, weights: Numbers) -> Sparse:
    """Rows of `matrix` with their columns weighted, scaled to length 1; empty rows stay empty."""
    return _unit(scipy.sparse.csr_matrix(matrix @ scipy.sparse.diags_array(weights)))


def _places(text: str, passages: Sequence[Span]) -> Numbers:
    starts = numpy.array([start for start, _ in passages], dtype=numpy.float32)
    lengths = numpy.array([end - start for start, end in passages], dtype=numpy.float32)
    near, nearer, share = numpy.exp(-starts / 6000), numpy.exp(-starts / 1500), starts / max(1, len(text))
    return numpy.stack([nearer, near, share, numpy.log(lengths) / 6, lengths < 60], axis=1).astype(numpy.float32)


def find_shorts(text: str, passages: Sequence[Span]) -> Iterator[Short]:
    """Dates anywhere; quoted terms, brackets, names and lines near the beginning and the end; each span once."""
    yielded: set[Span] = set()
    for number, (start, end) in enumerate(passages):
        inside = start >= OPENING and end <= len(text) - CLOSING
        for kind, left, right in _dates(text, start, end) if inside else _shorts(text, start, end):
            if (left, right) not in yielded and right - left <= LONGEST_SHORT:
                yielded.add((left, right))
                yield Short(left, right, kind, number)


def _dates(text: str, start: int, end: int) -> Iterator[tuple[Kind, int, int]]:
    for date in _DATE.finditer(text, start, end):
        yield ("date", *_trimmed(text, *date.span()))


def _shorts(text: str, start: int, end: int) -> Iterator[tuple[Kind, int, int]]:
    """Short spans of all kinds; names also without a legal form; lines cut at wide gaps, which are lost line ends."""
    yield from _dates(text, start, end)
    for quoted in _QUOTED.finditer(text, start, end):
        yield ("quoted", *quoted.span(1))
    for bracket in _BRACKET.finditer(text, start, end):
        yield ("bracket", *_trimmed(text, *bracket.span(1)))
    for name in _NAME.finditer(text, start, end):
        left, right = _trimmed(text, *name.span())
        ending = _ENDING.search(text, left, right)
        cuts = (right, ending.start(), ending.end()) if ending else (right,)
        yield from (("name", left, cut) for cut in dict.fromkeys(cuts) if left < cut and right - left > 1)
    for line in _LINE.finditer(text, start, end):
        gaps = [gap.span() for gap in _GAP.finditer(text, *line.span())]
        borders = [line.start(), *(place for gap in gaps for place in gap), line.end()]
        for piece in zip(borders[::2], borders[1::2], strict=True):
            left, right = _trimmed(text, *piece)
            if 3 <= right - left <= 120:
                yield "line", left, right


def _trimmed(text: str, left: int, right: int) -> Span:
    left += len(text[left:right]) - len(text[left:right].lstrip(_TRAILING))
    return left, left + len(text[left:right].rstrip(", \t\r\n;:("))


def _traits(text: str, passages: Sequence[Span], shorts: Sequence[Short]) -> Sparse:
    """Hashed traits of short spans: their words and shape, the words around, the place."""
    plain = [" ".join(_TOKEN.findall(text[short.start : short.end].lower())) for short in shorts]
    counts = Counter(plain)
    first_starts: dict[str, int] = {}
    for words, short in zip(plain, shorts, strict=True):
        first_starts[words] = min(short.start, first_starts.get(words, short.start))
    rows = [
        list(_traits_of(text, passages, short, counts[words], first_starts[words] == short.start))
        for words, short in zip(plain, shorts, strict=True)
    ]
    return _hashed(rows, SHORT_BUCKETS, analyzer=list, norm="l2", lowercase=False)


def _traits_of(text: str, passages: Sequence[Span], short: Short, count: int, is_first: bool) -> Iterator[str]:
    span_text = text[short.start : short.end]
    words = _TOKEN.findall(span_text.lower())
    before = _TOKEN.findall(text[max(0, short.start - 60) : short.start].lower())[-5:]
    after = _TOKEN.findall(text[short.end : short.end + 60].lower())[:5]
    begin, end = passages[short.passage]
    yield f"kind {short.kind}"
    yield from (f"{short.kind} has {word}" for word in set(words))
    yield f"{short.kind} first {words[0] if words else ''}"
    yield f"{short.kind} last {words[-1] if words else ''}"
    for distance, word in enumerate(reversed(before)):
        yield f"{short.kind} -{distance} {word}"
        yield f"{short.kind} before {word}"
    for distance, word in enumerate(after):
        yield f"{short.kind} +{distance} {word}"
        yield f"{short.kind} after {word}"
    for width in (2, 3):
        yield f"{short.kind} before {' '.join(before[-width:])}"
        yield f"{short.kind} after {' '.join(after[:width])}"
    yield f"between {before[-1] if before else ''} {short.kind} {after[0] if after else ''}"
    yield f"{short.kind} words {min(8, len(words))}"
    yield f"{short.kind} capitals {span_text.isupper()}"
    yield f"{short.kind} legal form {bool(_ENDING.search(span_text))}"
    yield f"{short.kind} as first {is_first}"
    yield f"{short.kind} count {min(6, count)}"
    yield f"{short.kind} at {min(8, int(numpy.log2(1 + short.start / 100)))}"
    yield f"{short.kind} from end {min(4, (len(text) - short.end) // 1000)}"
    yield f"{short.kind} whole passage {short.start == begin and short.end >= end - 1}"
    yield f"{short.kind} opens {short.start == begin}"
    around = set(_TOKEN.findall(text[begin : min(end, begin + 600)].lower()))
    yield from (f"{short.kind} in {word}" for word in around if word.isalpha() and len(word) > 2)
