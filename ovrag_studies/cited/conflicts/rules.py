"""Rules of policies: each sentence with the document, the section and the day that it is of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ovrag_core.text import Span, find_passages
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
    r"|Division|Standard|Guideline|Policy|Procedure|Module|Unit|Provision|(?:[A-Z][a-z]+\s+)?(?P<added>Sheet|Bulletin"
    r"|Circular|Rider))\s+(?P<number>\d+(?:\.\d+)*|[A-Z]|[IVX]{1,5})\b"
    r"(?:,?\s+(?:(?i:in\s+force|effective|dated|valid|of))\b[^.;]{0,30}?\b\d{4}\b)?"
    r"(?:\s*[.:–—-]\s*(?P<title>(?!(?:Part|Schedule|Regulation|Section|Article|Clause|Chapter|Paragraph|Rule)\s)"
    rf"{_CAPITAL}(?:,?\s+(?:(?:and|or|of|the|for|to|in|on|with)\s+)*{_CAPITAL})*)(?=[.:]"
    rf"|\s*$))?\s*[.:–—-]?\s+(?=[A-Z\"“])"
)
_ADDED = ("sheet", "bulletin", "circular", "rider")  # a document may be an addendum or update, but hardly a sheet
_ANY_LABEL = "*"  # a heading that is a number alone may be called section, chapter, part ...
# Kinds of labels that hold others.
_WIDER = ("title", "part", "division", "schedule", "annex", "appendix", "chapter", "module", "unit", *_ADDED)
_TITLE_END = re.compile(r"\b(?:Version|Revision|Issue|Edition|Status|Classification|Effective|Approved|Dated)\b|[.:;|]")
_WORD = re.compile(r"[A-Za-z][\w'’-]*")
_LEAST_WORDS = 2  # "Regulation 27." rules nothing


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
    """Content of one sentence; `heading` is that of its section, empty where it has none.

    `labels` name all that it stands in: "part f", "regulation 19", "section 4", "section 4.2".
    """

    heading: str
    labels: frozenset[str]
    source: RuleSource


def read_rules(corpus: PolicyCorpus) -> tuple[Rule, ...]:
    """All sentences of a corpus in the order of its documents; of one that stands twice, those of its places."""
    rules = []
    for doc_id in corpus.documents:
        heading, labels = "", frozenset[str]()
        for place, paragraph in corpus.places_in(doc_id):
            text = paragraph.text
            heading, labels, skip = _opened(text, heading, labels)
            for left, right in _sentences(text, skip):
                source = RuleSource(doc_id, place.id, place.start + left, place.start + right, text[left:right])
                rules.append(Rule(heading, labels, source))
    return tuple(rules)


def _opened(text: str, heading: str, labels: frozenset[str]) -> tuple[str, frozenset[str], int]:
    """The heading and labels after those that a paragraph begins with, and where its text begins."""
    skip = 0
    while (label := _LABELLED.match(text, skip)) and label.end() < len(text):
        kind, skip = (label["added"] or label["kind"]).lower(), label.end()
        outer = () if kind in _WIDER else (holder for holder in labels if holder.split()[0] in _WIDER)
        labels = frozenset((*outer, f"{kind} {label['number'].lower()}"))
        heading = label["title"] or heading
    if match := _HEADING.match(text, skip):
        levels = match["number"].split(".")
        labels = frozenset(f"{_ANY_LABEL} {'.'.join(levels[: depth + 1])}" for depth in range(len(levels)))
        heading, skip = match["title"] or match["asked"] or match["plain"], match.end()
    return heading, labels, skip


# A label at the end of a sentence is no abbreviation: "prevails over Part F. A deposit ..."
_LABEL_END = re.compile(
    r"(?<=\s)(?:Part|Schedule|Regulation|Section|Article|Clause|Chapter|Annex|Appendix) (?:[A-Z]|[IVX]+"
    r"|\d+(?:\.\d+)*)\.(?=\s+[A-Z])"
)


def _sentences(text: str, skip: int) -> Iterator[Span]:
    for start, end in _answered(text, skip):
        ends = [match.end() for match in _LABEL_END.finditer(text, start, end) if text[start : match.start()].strip()]
        for left, right in pairwise([start, *ends, end]):
            if len(_WORD.findall(text[left:right])) > _LEAST_WORDS:
                yield left + len(text[left:right]) - len(text[left:right].lstrip()), right


def _answered(text: str, skip: int) -> Iterator[Span]:
    """Passages; a question is read with its answer: "May I paint my room? Certainly."""
    begin: int | None = None
    for start, end in find_passages(text[skip:], skip):
        begin = start if begin is None else begin
        if not text[start:end].endswith("?"):
            yield begin, end
            begin = None
    if begin is not None:
        yield begin, len(text.rstrip())


def title_of(document: PolicyDocument) -> str:
    """Return the name that a document gives itself: its first line up to its version; else its id in words."""
    head = document.text.split("\n", 1)[0][:120]
    ends = [quantity.start for quantity in find_quantities(head) if quantity.unit == "date"]
    ends += [end.start() for end in _TITLE_END.finditer(head)]
    title = head[: min(ends, default=None)].strip(" -–—,")
    return title if 0 < len(title.split()) <= 10 else document.doc_id.replace("_", " ")


def date_of(document: PolicyDocument) -> str:
    """The first date among the first words of a document, `2025-01-??` for a month; empty where there is none."""
    dates = (str(quantity.value) for quantity in find_quantities(document.text[:400]) if quantity.unit == "date")
    return next((date for date in dates if not date.startswith("?")), "")
