"""Rules of policies: each sentence with the document, the section and the day that it is of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from ovrag_core.text import find_passages
from ovrag_studies.cited.corpus.policies import PolicyCorpus, PolicyDocument
from ovrag_studies.cited.language.quantities import find_quantities

# A heading that was joined with its first sentence: words with capitals, up to the last before the sentence goes on.
_CAPITAL = r"(?:[A-Z][\w'’&/-]*[a-z][\w'’&/-]*|[A-Z&]{1,5}|\([A-Z]+\))"
_HEADING = re.compile(
    rf"(?P<number>\d+(?:\.\d+)*)\.?\s+(?:(?P<title>{_CAPITAL}(?:\s+(?:(?:and|or|of|the|for|to|in|on"
    rf"|with)\s+)*{_CAPITAL})*)"
    r"\s+(?=[A-Z])|(?P<asked>[A-Z][^.?!]{3,60}\?)\s+"
    r"|(?P<plain>(?!(?:The|An?|All|Every|Each|No|Any)\s)(?:(?!\b(?:is|are|must|shall|may|can|will|has|have"
    r"|should|not)\b)[^.?!:;]){2,50})\.\s+(?=[A-Z]))"
)
# "Part F. Records. Regulation 19." before the text of a paragraph.
_LABELLED = re.compile(
    r"\s*(?P<kind>Part|Schedule|Regulation|Section|Article|Clause|Chapter|Paragraph|Rule|Annex|Appendix|Title"
    r"|Division|Standard"
    r"|Guideline|Policy|Procedure|Module|Unit|Provision|(?:[A-Z][a-z]+\s+)?(?P<added>Sheet|Bulletin"
    r"|Circular|Rider))\s+(?P<number>\d+(?:\.\d+)*|[A-Z]|[IVX]{1,5})\b"
    r"(?:,?\s+(?:(?i:in\s+force|effective|dated|valid|of))\b[^.;]{0,30}?\b\d{4}\b)?"
    r"(?:\s*[.:–—-]\s*(?P<title>(?!(?:Part|Schedule|Regulation|Section|Article|Clause|Chapter|Paragraph|Rule)\s)"
    rf"{_CAPITAL}(?:,?\s+(?:(?:and|or|of|the|for|to|in|on|with)\s+)*{_CAPITAL})*)(?=[.:]"
    rf"|\s*$))?\s*[.:–—-]?\s+(?=[A-Z\"“])"
)
_ADDED = ("sheet", "bulletin", "circular", "rider")  # a document may be an addendum or update, but hardly a sheet
_ANY_LABEL = "*"  # a heading that is a number alone may be called section, chapter, part ...
_WIDER = (
    "title",
    "part",
    "division",
    "schedule",
    "annex",
    "appendix",
    "chapter",
    "module",
    "unit",
    *_ADDED,
)  # hold other labels
_TITLE_END = re.compile(r"\b(?:Version|Revision|Issue|Edition|Status|Classification|Effective|Approved|Dated)\b|[.:;|]")
_WORD = re.compile(r"[A-Za-z][\w'’-]*")
_LEAST_WORDS = 2  # "Regulation 27." rules nothing


@dataclass(frozen=True, slots=True)
class Scope:
    """Scope of a rule: the title of its document, and number and heading of its section, empty where none is.

    `labels` name all that it stands in: "part f", "regulation 19", "section 4", "section 4.2".
    """

    title: str
    number: str
    heading: str
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RuleSource:
    """Source of a rule: `text` is the sentence, `start` and `end` count in the document."""

    doc_id: str
    paragraph_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Content of one sentence; `date` is that of its document, `2025-01-??` for a month, empty where it has none."""

    scope: Scope
    source: RuleSource
    date: str


def read_rules(corpus: PolicyCorpus) -> tuple[Rule, ...]:
    """All sentences of a corpus in the order of its documents; of one that stands twice, those of its places."""
    return tuple(rule for document in corpus.documents.values() for rule in _of_document(document, corpus))


def _of_document(document: PolicyDocument, corpus: PolicyCorpus) -> Iterator[Rule]:
    title, date, scope = title_of(document), date_of(document), Scope("", "", "")
    for start, end, paragraph_id in sorted(
        (occurrence.start, occurrence.end, occurrence.id)
        for paragraph in corpus.paragraphs
        for occurrence in paragraph.places
        if occurrence.doc_id == document.doc_id
    ):
        text = document.text[start:end]
        scope, skip = _opened(text, replace(scope, title=title))
        for left, right in _sentences(text[skip:]):
            sentence = text[skip + left : skip + right]
            source = RuleSource(document.doc_id, paragraph_id, start + skip + left, start + skip + right, sentence)
            yield Rule(scope, source, date)


def _opened(text: str, scope: Scope) -> tuple[Scope, int]:
    """The scope after the labels and the heading that a paragraph begins with, and where its text begins."""
    skip = 0
    while (label := _LABELLED.match(text, skip)) and label.end() < len(text):
        kind, skip = (label["added"] or label["kind"]).lower(), label.end()
        outer_labels = (
            frozenset() if kind in _WIDER else frozenset(outer for outer in scope.labels if outer.split()[0] in _WIDER)
        )
        labels = outer_labels | {f"{kind} {label['number'].lower()}"}
        scope = Scope(scope.title, label["number"], str(label["title"] or scope.heading), labels)
    heading = _HEADING.match(text, skip)
    if heading:
        levels = heading["number"].split(".")
        labels = frozenset(f"{_ANY_LABEL} {'.'.join(levels[: depth + 1])}" for depth in range(len(levels)))
        scope = Scope(scope.title, heading["number"], _title(heading), labels)
        skip = heading.end()
    return scope, skip


# A label at the end of a sentence is no abbreviation: "prevails over Part F. A deposit ..."
_LABEL_END = re.compile(
    r"(?<=\s)(?:Part|Schedule|Regulation|Section|Article|Clause|Chapter|Annex|Appendix) (?:[A-Z]|[IVX]+"
    r"|\d+(?:\.\d+)*)\.(?=\s+[A-Z])"
)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _answered(text):
        ends = [match.end() for match in _LABEL_END.finditer(text, start, end) if text[start : match.start()].strip()]
        for left, right in pairwise([start, *ends, end]):
            if len(_WORD.findall(text[left:right])) > _LEAST_WORDS:
                yield left + len(text[left:right]) - len(text[left:right].lstrip()), right


def _answered(text: str) -> Iterator[tuple[int, int]]:
    """Passages; a question is read with its answer: "May I paint my room? Certainly."""
    question_start: int | None = None
    for start, end in find_passages(text):
        begin = start if question_start is None else question_start
        question_start = begin if text[start:end].endswith("?") else None
        if question_start is None:
            yield begin, end
    if question_start is not None:
        yield question_start, len(text.rstrip())


def _title(heading: re.Match[str]) -> str:
    return str(heading["title"] or heading["asked"] or heading["plain"])


def title_of(document: PolicyDocument) -> str:
    """Return the name that a document gives itself: its first line up to its version; else its id in words."""
    first_line = document.text.split("\n", 1)[0][:120]
    dates = [quantity.start for quantity in find_quantities(first_line) if quantity.unit == "date"]
    title_end = _TITLE_END.search(first_line)
    title = first_line[: min([*dates, title_end.start() if title_end else len(first_line)])].strip(" -–—,")
    return title if 0 < len(title.split()) <= 10 else document.doc_id.replace("_", " ")


def date_of(document: PolicyDocument) -> str:
    """The first date among the first words of a document, `2025-01-??` for a month; empty where there is none."""
    dates = [str(quantity.value) for quantity in find_quantities(document.text[:400]) if quantity.unit == "date"]
    return next((date for date in dates if not date.startswith("?")), "")
