"""Changes that an amendment makes in a loan agreement, and the agreement's text as it stands afterwards.

An amendment speaks in a few ways: it deletes or replaces a section, a definition or quoted words; it sets a term to a
new value; it releases or grants security, turns a revolving credit into a term loan, or puts one party in another's
place. Each is carried out on a conformed copy, so that the same reader reads the agreement before and after. What is
said in none of these ways changes nothing: it stands beside the agreement, and may contradict it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, takewhile
from typing import Literal, NamedTuple

from ovrag_core.base import Document, Evidence, Triple
from ovrag_core.loans.conformed import BREAK, SPACE, ConformedCopy, Segment
from ovrag_core.loans.loan_facts import LoanReading
from ovrag_core.loans.reading.claims import OPPOSITES, STATED, find_claims
from ovrag_core.loans.reading.facilities import OPEN_WORDS, TERM_WORDS
from ovrag_core.loans.reading.parties import find_parties
from ovrag_core.loans.reading.prepared import placed
from ovrag_core.loans.reading.sentences import SAME_LENGTH, plain_text, units
from ovrag_core.loans.reading.subjects import ROLE_WORDS, ROLES
from ovrag_core.loans.reading.values import Value, find_values, values_in
from ovrag_core.text import NUMBER_WORD, ORDINALS, Span, any_of, dates, strip_span, words_to_number

Role = Literal["agreement", "amendment", "restatement"]

_HEAD = 1500  # characters in which a document says what it is and of which day
_TITLE_LINES = 4
_TITLE_WORDS = 14
_MAX_PASSES = 12  # clearing a state away uncovers further statements of it
_MAX_SECTION = 60_000  # characters
_BEFORE = 160  # characters before words or a value in which it is said what becomes of them
_LEAST_CLAUSE = 12  # characters
_SHOWN = 400  # characters of a clause that is quoted

_AMENDING = (
    r"(?:amend(?:ment|ing|atory)|variation|supplement(?:al|ary)?|addendum|modification|extension|"
    r"change (?:in|of) terms|waiver|consent|assumption|novation|deed of release|rider|side letter|allonge|"
    r"assignment and)"
)
_TITLE = re.compile(r"\s*(.{1,200}?)\n\n", re.DOTALL)  # which names the agreement that is amended
_ROLE_SAID = re.compile(rf"\b(?:(?P<restatement>amended\s+and\s+restated)|{_AMENDING})\b", re.I)
_NUMBERED = re.compile(
    rf"\b(?P<before>{any_of(ORDINALS)}|\d{{1,2}}(?=st|nd|rd|th))\w*\s+{_AMENDING}\b|"
    rf"\b{_AMENDING}(?:(?:\s+(?:agreement|letter))?\s*(?:no\.?|number|nr\.?|#)\s*|\s)"
    rf"(?P<after>\d{{1,2}}|{any_of(ORDINALS)}|{NUMBER_WORD})\b",
    re.I,
)
_DATED = re.compile(
    r"\b(?:dated|date:|made|entered into|executed|effective|as of|this)\b[^.\n]{0,40}\Z", re.I
)  # before a date
# Around a date that stands on a line with no more than a place before it.
_LINE_BEGUN = re.compile(r"^[ \t]*(?:date[d:]?\s*(?:as\s+of\s+)?|[A-Z][\w ,]{2,30},\s+)?\Z", re.I | re.M)
_LINE_ENDED = re.compile(r"[ \t.]*$", re.M)
_REFERS = re.compile(r"\b(?:agreement|contract|facility|note|loan)\b[^.]{0,60}\b(?:dated|of)\s+(?:as of\s+)?\Z", re.I)
# Words of change, of a text or of a value.
_CHANGE = (
    r"(?:(?:amend|chang|decreas|deferr?|delet|extend|fix|increas|lower|modif|mov|postpon|rais|reduc|remov|replac|reset|"
    r"restat|revis|strik|substitut|var)(?:e|ed|es|ied|ies|ing|s|y)?|struck)"
)
_CHANGES_TERM = re.compile(
    rf"\b(?:section|clause|maturity|rate|limit|amount)\b[^.]{{0,120}}?\b(?:is|are|be)\s+(?:hereby\s+)?{_CHANGE}", re.I
)
_RECITALS = re.compile(r"^[ \t]*(?:recitals?|background|preamble|whereas|witnesseth)\b", re.I | re.M)
_OPERATIVE = re.compile(
    r"^[ \t]*(?:now,?\s+therefore|it is (?:hereby )?agreed|(?:the parties|borrower and lender)\b.{0,60}\bagree\b|"
    r"(?:agreed |operative )?(?:agreement|part|provisions|terms)\W*$|"
    r"(?:(?:section|clause|article)\s+)?1[.)]?[ \t:]+\S)",
    re.I | re.M,
)
# The agreement by its name, which says what it was called, not what it is.
_REFERENCE = re.compile(
    r"\b(?:the|this|that|said|certain)\s+(?:[A-Z][\w&'-]*\s+){0,6}(?:Agreement|Contract|Note|Letter|Deed)\b"
    r"(?:\s+(?:dated|of)\s+(?:as\s+of\s+)?(?=\d|[A-Z]))?"
)
_NUMBER = re.compile(  # of a section or provision, at the beginning of its line
    r"^[ \t#*]*(?:(?:(?:section|clause|article|paragraph|sec\.|§)\s*(?=\d)|(?=\d{1,3}(?:\.\d|[.):])))"
    r"(?P<num>\d{1,3}(?:\.\d{1,3})*)(?=[.):\s])|\([a-z]{1,4}\)(?=\s))",
    re.I | re.M,
)
_SECTION = (
    r"\b(?:(?:sections?|clauses?|articles?|paragraphs?|points?|items?)\b|§)\s*"
    r"(?P<num>\d{1,3}(?:\.\d{1,3})*)(?P<sub>(?:\([a-z0-9]{1,4}\))*)"
)
_REPLACED_SECTION = re.compile(
    rf"{_SECTION}[^\"]{{0,240}}?\b{_CHANGE}\b(?:[^\":]{{0,200}}?\b(?:follow|read)[^\":]{{0,40}}:(?!\s*\")\s*|"
    r"[^\"]{0,240}?\b(?:by|with|new|follow|read)[^\"]{0,80}?(?P<quote>\"))",
    re.I,
)
_DELETED_SECTION = re.compile(
    rf"{_SECTION}[^.;\"]{{0,160}}?\b(?:deleted|removed|revoked|cancelled|struck)\b[^.;:\"]{{0,120}}?(?:[.;]|$)", re.I
)
# A quote that follows these is of a word or a term, not of a provision.
_QUOTED_WORDS = re.compile(r"\b(?:definition of|references? to|terms?|words?|figures?|phrase|amount)\s*\"\Z", re.I)
_A_SECTION = re.compile(_SECTION, re.I)
_DEFINES = re.compile(r"\bdefinition\s+of\s+(?:the\s+term\s+)?\"\Z", re.I)  # before a quoted term
_CHANGES = re.compile(rf"\b{_CHANGE}\b", re.I)
_PUTS = re.compile(r"\b(?:substitut|insert|put)\w+\b", re.I)  # words, in place of others
_PUT_FOR = re.compile(r"\b(?:for|in place of|in lieu of|instead of)\b", re.I)
_PUT_BY = re.compile(r"\b(?:with|by|for|insert\w*|substitut\w*|to)\b", re.I)
_QUOTED = re.compile(r"\"(?P<words>[^\"]{1,200})\"")
_DEFINITION = re.compile(
    r"\bdefinition\s+of\s+(?:the\s+term\s+)?\"(?P<term>[^\"]{2,60})\"[^\"]{0,240}?(?P<new>\")", re.I
)
_NEW_MEANING = re.compile(
    r"(?P<new>\")(?P<term>[^\"\n]{2,60})\"\s+(?:shall|now|hereafter)\s[^\".;]{0,20}?means?\s", re.I
)
_TERM_NAMES = (  # by the sorts of values: amounts, rates, days, terms
    r"principal|limit|amount|sum|commitments?|facility|loan|credit",
    r"rate|interest|margin",
    r"maturity|repayment|due\s+date|termination|expiry|last\s+instal+ment",
    r"term|duration|repayment\s+period|tenor",
)
_CHANGES_VALUE = re.compile(
    rf"\b(?:{_CHANGE}|(?:shall|will) (?:\w+ )?be|is now|(?:is|are) payable|brought forward)\b", re.I
)
_LEADS_TO_VALUE = re.compile(
    r"\b(?:at|be|is|of|on|to|until)\s+(?:(?:an?|and|annual|be|fixed|including|of|rate)\s+)*\Z", re.I
)
_FROM = re.compile(r"\bfrom\s+\Z", re.I)
_TO = re.compile(r"[^.;\d]{0,20}\b(?:to|until)\s+\Z", re.I)
_INSTEAD = re.compile(
    r"[^.;\d]{0,20}\b(?:in place of|in lieu of|instead of|rather than|previously|formerly)\W+\Z", re.I
)
_CONFIRMS = re.compile(
    r"\b(?:remain|continue|confirm|acknowledge|ratif|reaffirm|represent|warrant|unchanged|recogni[sz]|agreed? that)",
    re.I,
)
_FROM_NOW = re.compile(
    r"\b(?:henceforth|hereafter|hereby|from (?:the date|this date|now|and after)|as (?:of|from)|effective|with effect|"
    r"becom|convert|ceases?|no longer|shall|will|instead|in addition|is changed|replaces?)",
    re.I,
)
_RELEASE = re.compile(r"\b(?:releas|discharg|reconvey|terminat|cancel)\w*", re.I)
_SECURITY = re.compile(
    r"\b(?:security|collateral|liens?|mortgages?|charges?|pledges?|debentures?|deeds?\s+of\s+trust|hypothecations?)\b",
    re.I,
)
_PARTLY = re.compile(r"\b(?:only|solely|part of|portion|one of|certain|other than|except(?:ing)?|remaining)\b", re.I)
_NO_RELEASE = re.compile(
    r"\b(?:not|nothing|neither|nor|without|no|upon|when|if|once|until|unless|provided|may)\b", re.I
)
_CONVERTS = re.compile(
    r"\b(?:convert\w*|(?:is|are|be|been)\s+(?:hereby\s+)?(?:changed|turned|transformed))\b[^.;]{0,120}?"
    r"\b(?:in)?to\s+(?:an?\s+)?(?P<what>[^.;,]{0,60})",
    re.I,
)
_FORM_WORDS = {"OpenEndCredit": OPEN_WORDS, "ClosedEndCredit": TERM_WORDS}
_PUT_IN_PLACE = re.compile(
    rf"\b(?:(?:substitut|replac|assign|transfer|novat)\w*\b[^.;]{{0,200}}?\bas|becom\w+)\b[^.;]{{0,60}}?"
    rf"\b(?P<role>{any_of(ROLE_WORDS)})\b",
    re.I,
)
_DESCRIPTION = re.compile(
    r",\s+(?:an?|being|incorporated|organi[sz]ed|existing|having|whose|of|residing|born|acting)\b[^()\"\n;]{0,200}?"
    r"(?=\s*(?:[(\n;]|$|\.\s|\.$|,\s+(?:who|which)\b))",
    re.I,
)


class Identity(NamedTuple):
    """Identity that a document of a deal states: agreement, amendment or restatement, its number and its day."""

    role: Role
    number: int | None
    date: dt.date | None


@dataclass
class Amending:
    """One amendment being carried out: the agreement so far, and what else the amendment says.

    `used` are its words that were carried out, `clauses` the passages that hold them; `notes` say what could not be,
    and `released` is the passage that gives up the security.
    """

    document: Document
    text: str
    body: ConformedCopy
    rest: ConformedCopy
    used: list[Span] = field(default_factory=list)
    clauses: tuple[Evidence, ...] = ()
    notes: list[str] = field(default_factory=list)
    released: Evidence | None = None

    def segment(self, start: int, end: int, item: Span) -> Segment:
        """Words of the amendment, quoted by the clause they stand in."""
        inside = item[0] <= start and end <= item[1]
        shown = _clause(self.text, start, end, item) if inside else (item[0], min(item[1], item[0] + _SHOWN))
        return Segment(self.document, start, end, shown)

    def put(self, places: Iterable[Span], segments: Sequence[Segment], used: Span) -> None:
        """Put segments in each of some places of the agreement, as the words `used` of the amendment say."""
        for start, end in sorted(places, reverse=True):
            self.body = self.body.replaced(start, end, segments)
        self.used.append(used)

    def clear(self, about: str) -> None:
        """Blank every statement of the agreement that the loan is `about`."""
        for _ in range(_MAX_PASSES):
            spans = [span for claimed, span in _claims(self.body.text) if claimed == about]
            if not spans:
                break
            self.body = self.body.blanked(_but_for_values(self.body.text, spans))

    def is_used(self, start: int, end: int) -> bool:
        """Return True where some of `[start, end)` is carried out by now."""
        return any(a < end and start < b for a, b in self.used)


def identify(document: Document) -> Identity:
    """Role, number and date of a document, from its own first words."""
    text = document.text.translate(SAME_LENGTH)
    head = text[:_HEAD]
    days = list(dates(head))
    own = (
        day
        for day, start, end in days
        if _DATED.search(head, 0, start) or (_LINE_BEGUN.search(head, 0, start) and _LINE_ENDED.match(head, end))
    )
    role = _role(text, [start for _, start, _ in days])
    return Identity(role, _number(head), next(own, days[0][0] if days else None))


def _role(text: str, date_starts: Sequence[int]) -> Role:
    """Role that a title states; a letter without one amends the agreement of a date that it refers to."""
    head = text[:_HEAD]
    lines = [line.strip() for line in head.split("\n") if line.strip()]
    short_lines = takewhile(lambda line: len(line.split()) <= _TITLE_WORDS, lines[:_TITLE_LINES])
    if said := _ROLE_SAID.search(" ".join(short_lines) or " ".join(lines[:1])):
        return "restatement" if said["restatement"] else "amendment"
    refers = any(_REFERS.search(head, 0, start) for start in date_starts)
    return "amendment" if refers and _CHANGES_TERM.search(text) else "agreement"


def _number(head: str) -> int | None:
    numbered = _NUMBERED.search(head)
    if numbered is None:
        return None
    word = (numbered["before"] or numbered["after"]).lower()
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    return int(word) if word.isdigit() else words_to_number(word)


def in_order(documents: Sequence[Document]) -> list[tuple[Document, Identity]]:
    """Agreements first; then what changes them, by number or, without, by day; what says neither comes last.

    A restatement begins the numbers anew, so that with one among them the days decide.
    """
    identified = [(document, identify(document)) for document in documents]
    if identified and all(identity.role == "amendment" for _, identity in identified):
        identified[0] = (identified[0][0], identified[0][1]._replace(role="agreement"))
    by_day = sorted(identified, key=lambda item: (item[1].role != "agreement", item[1].date or dt.date.max))
    if any(identity.role == "restatement" for _, identity in identified):
        return by_day
    numbered = [item for item in by_day if item[1].role == "amendment" and item[1].number is not None]
    ordered = iter(sorted(numbered, key=lambda item: item[1].number or 0))
    return [next(ordered) if item in numbered else item for item in by_day]


def amend(body: ConformedCopy, amendment: Document) -> Amending:
    """Carries out an amendment on the agreement so far."""
    text = amendment.text.translate(SAME_LENGTH)
    work = Amending(amendment, text, body, ConformedCopy.of(amendment))
    recitals = _recitals(text)
    for item in _items(text, recitals):
        for step in (_swaps, _definitions, _sections, _values, _states, _parties):
            step(work, item)
    days = {start: end for _, start, end in dates(text)}
    names = (match.span() for match in _REFERENCE.finditer(text))
    references = [(start, days.get(end, end)) for start, end in names]
    titles = [match.span(1) for match in [_TITLE.match(text)] if match]
    work.rest = work.rest.blanked([*titles, *work.used, *recitals, *references])
    clauses = [strip_span(text, *_clause(text, *span, (span[0], len(text)))) for span in sorted(set(work.used))]
    work.clauses = tuple(Evidence.of(amendment, start, end) for start, end in clauses if end - start > _LEAST_CLAUSE)
    return work


def in_new_words(document: Document, read: Callable[[Document], LoanReading]) -> LoanReading:
    """Read a document with `read`; an amendment is read without the words that it replaces by others.

    These are the old value of an exchange ("from X to Y"), quoted words that give way to others, and in the recitals
    the values of terms that the provisions set. Each quote stands in the document as it is.
    """
    text = document.text.translate(SAME_LENGTH)
    gone = _old_words(text) if identify(document).role == "amendment" else []
    if not gone:
        return read(document)
    copy = ConformedCopy.of(document).blanked(gone)
    reading = read(Document(document.id, copy.text, document.pages, document.sections))
    triples = tuple(placed(t, document) for t in reading.triples)
    second = tuple(placed(s, document) for s in reading.second)
    return reading.model_copy(update={"triples": triples, "second": second})


def _old_words(text: str) -> list[Span]:
    """The words of an amendment that it replaces, wherever it gives them."""
    recitals = _recitals(text)
    items = list(_items(text, recitals))
    gone: list[Span] = []
    for quoted, _ in (swap for item in items for swap in _quoted_exchanges(text, item)):
        words = re.escape(quoted["words"])
        gone += [match.span() for match in re.finditer(rf"(?<![\w.,]){words}(?![\w]|[.,]\d)", text)]
    sorts: tuple[Sequence[Value], ...] = values_in(text)
    for sort, of_sort in enumerate(sorts):
        changes = [c for item in items for c in _changed_values(text, of_sort, _TERM_NAMES[sort], item)]
        for old, _, _ in changes:
            gone += _same_values(text, old, text, of_sort) if old else []
        if changes:
            stated = [(value.start, value.end) for value in find_values(text)[sort]]
            gone += [span for span in stated if any(start <= span[0] < end for start, end in recitals)]
    return gone


def without_security(reading: LoanReading, released: Evidence) -> LoanReading:
    """The reading of an agreement whose security was given up: where it says nothing else, its loans are unsecured."""
    triples, facilities = list(reading.triples), list(reading.facilities)
    for number, facility in enumerate(facilities):
        if facility.security == "unstated":
            facilities[number] = facility.model_copy(update={"security": "unsecured"})
            unsecured = {"predicate": "rdf:type", "object": "UnsecuredLoan", "subject_type": "Loan"}
            triples.append(Triple(subject=facility.subject, **unsecured, evidence=released))
    return reading.model_copy(update={"facilities": tuple(facilities), "triples": tuple(triples)})


def _recitals(text: str) -> list[Span]:
    """Recitals tell how things stood before; they change nothing."""
    begun = _RECITALS.search(text)
    after = _OPERATIVE.search(text, text.find("\n", begun.end())) if begun else None
    return [(begun.start(), after.start())] if begun and after else []


def _items(text: str, recitals: Sequence[Span]) -> Iterator[Span]:
    """Provisions that stand for themselves: from a number at the beginning of a line to the next outside of quotes."""
    start = recitals[0][1] if recitals else 0
    numbers = (match.start() for match in _NUMBER.finditer(text, start))
    unquoted = [number for number in numbers if text.count('"', start, number) % 2 == 0]
    for begin, end in pairwise([start, *unquoted, len(text)]):
        if text[begin:end].strip():
            yield begin, end


def _clause(text: str, start: int, end: int, item: Span) -> Span:
    """The sentence of `item` around a span, or the span with what leads to it, short enough to quote."""
    marks = (text.rfind(mark, item[0], start) + 1 for mark in (".\n", ";\n", "\n\n"))
    clause_start = max(item[0], start - _SHOWN, *marks)
    last = min(item[1], end + _SHOWN)
    mark = re.compile(r"[.;](?=\s|$)|\n\n").search(text, end, last)
    return clause_start, mark.end() if mark else last


def _quoted_exchanges(text: str, item: Span) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Quoted words, old and new: `"A" is replaced by "B"`, `replacing "A" with "B"`, `substituting "B" for "A"`."""
    quotes = [q for q in _QUOTED.finditer(text, *item) if not _DEFINES.search(text, item[0], q.start() + 1)]
    for first, second in pairwise(quotes):
        before = text[_clause_start(text, first.start(), item) : first.start()].rpartition('"')[2]
        between = text[first.end() : second.start()]
        if re.search(r"[.;]\s|\n\s*\n", between) or first[0].casefold() == second[0].casefold():
            continue
        if _PUTS.search(before) and _PUT_FOR.search(between):
            yield second, first
        elif _CHANGES.search(between) or (_CHANGES.search(before) and _PUT_BY.search(between)):
            yield first, second


def _swaps(work: Amending, item: Span) -> None:
    """Quoted words in place of others: in the section that is named, else wherever these stand."""
    for old, new in _quoted_exchanges(work.text, item):
        start, end = min(old.start(), new.start()), max(old.end(), new.end())
        section = _A_SECTION.search(work.text, item[0], end)
        within = _find_section(work.body.text, section["num"], section["sub"]) if section else None
        body = work.body.text.translate(SAME_LENGTH)
        words = re.compile(re.escape(old["words"]))
        places = [match.span() for match in words.finditer(body, *(within or (0, len(body))))]
        if places:
            work.put(places, [work.segment(*new.span("words"), item)], (start, end))
        else:
            work.notes.append(f'"{old["words"]}" was not found where it is to be replaced')


def _definitions(work: Amending, item: Span) -> None:
    """`The definition of "X" is replaced by: "X" means …`"""
    for meaning in chain(_DEFINITION.finditer(work.text, *item), _NEW_MEANING.finditer(work.text, *item)):
        if work.is_used(*meaning.span()) or _QUOTED_WORDS.search(meaning.group()):
            continue
        old = re.compile(
            rf"\"(?:the\s+)?{re.escape(meaning['term'])}\"\s*(?:means?|shall mean|is|has the meaning|:)[^\n]*?"
            r"(?:[.;](?=\s|$)|\n|$)",
            re.I,
        )
        definition = old.search(work.body.text.translate(SAME_LENGTH))
        new = meaning.start("new")
        end = re.compile(r"[.;](?=\s|$)|\n\n|$").search(work.text, new, item[1])
        if definition is not None and end is not None:
            put = [work.segment(new, end.start(), item), SPACE]
            work.put([definition.span()], put, (meaning.start(), end.start()))


def _sections(work: Amending, item: Span) -> None:
    """`Section N is deleted and replaced by the following: "…"`; `Section N is deleted.`"""
    position, last = item
    while (found := _REPLACED_SECTION.search(work.text, position, last)) is not None:
        start = found.end()
        paragraph = re.compile(r"\s*.*?(?=\n\n|\Z)", re.DOTALL).match(work.text, start)
        position = paragraph.end() if paragraph and not found["quote"] else _closing(work.text, start, last)
        if not (work.is_used(*found.span()) or _QUOTED_WORDS.search(found.group())):
            _put_section(work, found, position, "replaced", [work.segment(start, position, item)])
    for found in _DELETED_SECTION.finditer(work.text, *item):
        if not work.is_used(*found.span()):
            _put_section(work, found, found.end(), "deleted")


def _put_section(work: Amending, found: re.Match[str], end: int, change: str, segments: Sequence[Segment] = ()) -> None:
    """The segments in place of the section that `found` names; a note where it is not there."""
    section = _find_section(work.body.text, found["num"], found["sub"])
    if section is None:
        work.notes.append(f"section {found['num']}{found['sub']}, which is to be {change}, was not found")
    else:
        work.put([section], [*segments, BREAK], (found.start(), end))


def _closing(text: str, start: int, end: int) -> int:
    """Find the end of a quoted provision: a quote that ends its line, or the last one before `end`."""
    closed = re.compile(r"\"[.;,)]*\s*(?:and|or)?[ \t]*(?=\n|$)").search(text, start, end)
    closing = closed.start() if closed else text.rfind('"', start, end)
    return closing if closing >= start else end


def _find_section(text: str, number: str, sub: str) -> Span | None:
    """A section by its number at the beginning of a line, up to the next that is no part of it."""
    heads = [(match["num"], match.start()) for match in _NUMBER.finditer(text) if match["num"]]
    start = next((offset for label, offset in heads if label == number), None)
    if start is None:
        return None
    following = (offset for label, offset in heads if offset > start and not label.startswith(f"{number}."))
    end = min(next(following, len(text)), start + _MAX_SECTION)
    for letter in re.findall(r"\(([a-z0-9]+)\)", sub):
        marker = re.compile(rf"^[ \t]*\({letter}\)", re.M).search(text, start, end)
        if marker is None:
            return None
        after = re.compile(r"^[ \t]*\([a-z0-9]{1,4}\)", re.M).search(text, marker.end(), end)
        start, end = marker.start(), after.start() if after else end
    return start, end


def _changed_values(
    text: str, values: Iterable[Value], names: str, item: Span
) -> Iterator[tuple[Value | None, Value, Span]]:
    """The old value, where it is given, the new one, and the words that say so.

    `from X to Y`, `Y instead of X`, and the one new value of a term: `The Maturity Date is extended to Y`.
    """
    inside = sorted((v for v in values if item[0] <= v.start and v.end <= item[1]), key=lambda value: value.start)
    exchanged: set[int] = set()  # by where they begin
    for first, second in pairwise(inside):
        between = text[first.end : second.start]
        forward = _TO.fullmatch(between) and _FROM.search(text, item[0], first.start)
        if forward or _INSTEAD.fullmatch(between):
            old, new = (first, second) if forward else (second, first)
            exchanged |= {first.start, second.start}
            yield old, new, (_clause_start(text, first.start, item), second.end)
    for value in inside:
        start = _clause_start(text, value.start, item)
        clause = text[start : value.start]
        if value.start not in exchanged and _LEADS_TO_VALUE.search(clause):
            named = re.search(rf"\b(?:{names})\b", clause, re.I)
            if named and _CHANGES_VALUE.search(clause):
                yield None, value, (start, value.end)


def _clause_start(text: str, end: int, item: Span) -> int:
    """Find where the clause begins that ends at `end`."""
    start = max(item[0], end - _BEFORE)
    return max((match.end() for match in re.finditer(r"[.;]\s|\n\s*\n", text[start:end])), default=0) + start


def _values(work: Amending, item: Span) -> None:
    """New values in place of the old ones, or of those that the reader takes for the term that is changed."""
    sorts: tuple[Sequence[Value], ...] = values_in(work.text)
    changes = [
        (sort, change)
        for sort, of_sort in enumerate(sorts)
        for change in _changed_values(work.text, of_sort, _TERM_NAMES[sort], item)
        if not work.is_used(change[1].start, change[1].end)
    ]
    for sort, (old, new, used) in changes:
        body = work.body.text
        stated = [value for value in find_values(body)[sort] if value.probability]
        if old:
            places = _same_values(work.text, old, body, values_in(body)[sort])
        else:
            places = _same_values(body, stated[0], body, stated) if stated else []
        if any(body[start:end] != work.text[new.start : new.end] for start, end in places):
            work.put(places, [work.segment(new.start, new.end, item)], used)


def _same_values(written: str, value: Value, text: str, values: Iterable[Value]) -> list[Span]:
    """The places in `text` of those `values` that are written, or read, as the value of `written` is."""
    spelled = written[value.start : value.end]
    return [(other.start, other.end) for other in values if text[other.start : other.end] == spelled or other == value]


def _states(work: Amending, item: Span) -> None:
    """Replace earlier words on security and form by what an operative provision says of them for the time to come."""
    text = work.text
    for release in _RELEASE.finditer(text, *item):
        clause = _clause(text, *release.span(), item)
        security = _SECURITY.search(text, *clause)
        if security is None:
            continue
        start, end = min(release.start(), security.start()), max(release.end(), security.end())
        if _PARTLY.search(text, *clause):
            work.notes.append("a release of part of the security was not carried out")
        elif not _NO_RELEASE.search(text, clause[0], end):
            work.clear("SecuredLoan")
            work.used.append((start, end))
            work.released = Evidence.of(work.document, *strip_span(text, *clause))
    for conversion in _CONVERTS.finditer(text, *item):
        form = next((form for form, words in _FORM_WORDS.items() if words.search(conversion["what"])), None)
        if form is not None:
            work.clear(OPPOSITES[form])
            work.used.append((_clause(text, *conversion.span(), item)[0], conversion.start("what")))
    masked = ConformedCopy.of(work.document).blanked([(0, item[0]), (item[1], len(text)), *work.used])
    for about, span in _claims(masked.text):
        words = text[slice(*_clause(text, *span, item))]
        if _FROM_NOW.search(words) and not _CONFIRMS.search(words):
            work.clear(OPPOSITES[about])


def _claims(text: str) -> list[tuple[str, Span]]:
    """Statements on security and form: class, and the span of the passage that makes it."""
    plain = plain_text(text)
    return [
        (claim.about, plain.original(claim.start, claim.end))
        for claim in find_claims(text, plain, units(plain.text))
        if claim.about in OPPOSITES and claim.belief >= STATED
    ]


def _but_for_values(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without the amounts, rates, days and terms in them, which hold on."""
    kept = sorted((value.start, value.end) for values in values_in(text) for value in values)
    for start, end in spans:
        at = start
        for first, last in kept:
            if at <= first and last <= end:
                yield at, first
                at = last
        yield at, end


def _parties(work: Amending, item: Span) -> None:
    """`X is substituted for Y as Borrower`: X stands where Y stood, with its own description."""
    substitution = _PUT_IN_PLACE.search(work.text, *item)
    if substitution is None:
        return
    role = ROLES[ROLE_WORDS[substitution["role"].lower()]]
    old = next((party.name for party in find_parties(Document("", work.body.text)) if party.role == role), None)
    after = sorted(find_parties(Document("", work.text)), key=lambda party: party.role != role)
    new = next((party.name for party in after if party.name != old and party.name in work.text[slice(*item)]), None)
    if old is None or new is None:
        return
    mentions = _mentions(new, work.text)
    described = max(mentions, key=lambda span: span[1] - span[0])
    work.put(_mentions(old, work.body.text), [work.segment(*described, item)], item)
    work.used += _mentions(old, work.text)


def _mentions(name: str, text: str) -> list[Span]:
    """The places that name a party, each with its description."""
    named = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return [(match.start(), (_DESCRIPTION.match(text, match.end()) or match).end()) for match in named]
