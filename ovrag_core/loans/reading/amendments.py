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
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple, TypeVar

from ovrag_core.base import Document, Evidence, Triple
from ovrag_core.loans.conformed import BREAK, SPACE, ConformedCopy, Segment
from ovrag_core.loans.loan_facts import LoanReading, SecondReading
from ovrag_core.loans.reading.claims import STATED, find_claims
from ovrag_core.loans.reading.names import name_at
from ovrag_core.loans.reading.parties import find_parties
from ovrag_core.loans.reading.sentences import plain_text, units
from ovrag_core.loans.reading.values import find_values, values_in
from ovrag_core.text import MONTH, ORDINALS, Span, any_of, dates, strip_span, words_to_number

Role = Literal["agreement", "amendment", "restatement"]

_HEAD = 1500  # characters in which a document says what it is and of which day
_TITLE_LINES = 4
_TITLE_WORDS = 14
_LONGEST_TITLE = 200  # characters
_MAX_PASSES = 12  # clearing a state away uncovers further statements of it
_MAX_SECTION = 60_000  # characters
_BEFORE = 120  # characters before a word of change, in which what is changed is named
_AHEAD = 200  # characters beyond a provision in which another one that it puts in place may begin
_UNIT = 16  # characters, in which `per annum` may follow a rate
_LEAST_CLAUSE = 12  # characters
_SHOWN = 400  # characters of a clause that is quoted

_AMENDING = (
    r"amendment|amending|variation|supplement(?:al|ary)?|addendum|modification|extension|change (?:in|"
    r"of) terms|"
    r"waiver|consent|assumption|novation|deed of release|rider|side letter|allonge|assignment and|amendatory"
)
_IS_AMENDMENT = re.compile(rf"\b(?:{_AMENDING})\b", re.I)
_IS_RESTATED = re.compile(r"\bamended\s+and\s+restated\b", re.I)
_NUMBERED = re.compile(
    rf"\b(?P<word>{any_of(ORDINALS)})\s+(?:{_AMENDING})|\b(?P<nth>\d{{1,2}})(?:st|nd|rd|th)\s+(?:{_AMENDING})|"
    rf"\b(?:{_AMENDING})(?:\s+agreement|\s+letter)?\s*(?:no\.?|number|#|nr\.?)\s*(?P<number>\d{{1,2}}|"
    rf"{any_of(ORDINALS)}|"
    r"one|two|three|four|five|six)\b|\b(?:amendment|supplement|addendum|variation)\s+(?P<bare>\d{1,2})\b",
    re.I,
)
_DATE = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|{MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?{MONTH}\.?,?\s+\d{{4}})"
)
_DATED = re.compile(
    rf"^[ \t]*(?:date[d:]?\s*(?:as\s+of\s+)?|[A-Z][\w ,]{{2,30}},\s+)?(?P<alone>{_DATE})[ \t.]*$|"
    rf"\b(?:dated|date:|made|entered into|executed|effective|as of|this)\b[^.\n]{{0,40}}?(?P<date>{_DATE})",
    re.I | re.M,
)
_ANY_DATE = re.compile(_DATE, re.I)
_PERCENT = r"\d{1,2}(?:[.,]\d+)?(?:\s?\d/\d)?\s*(?:%|per\s?cent\b\.?)(?:\s+(?:per annum|p\.\s?a\.|a year))?"
_CURRENCY = r"(?:(?:US|AU|NZ|CA|HK|A|C|S)?[$€£¥₹]|\b[A-Z]{3}\s|(?:US|U\.S\.)\s?(?:\$|Dollars\s))"
_MONEY = rf"{_CURRENCY}\s?(?:\d[\d,.']*\d|\d)(?:\s(?:million|billion))?"

_RECITALS = re.compile(
    r"^[ \t]*(?:recitals?|background|preamble|whereas\b.*|witnesseth\b.*)[ \t]*:?[ \t]*", re.I | re.M
)
_OPERATIVE = re.compile(
    r"^[ \t]*(?:now,?\s+therefore|it is (?:hereby )?agreed|(?:the parties|borrower and lender)[^\n]{0,60}\bagree\b|"
    r"(?:agreement|operative (?:part|provisions)|terms|agreed terms)[ \t]*:?[ \t]*$|(?:(?:section|clause|article)\s+)?"
    r"1[.)]?[ \t:]+\S)",
    re.I | re.M,
)
# The agreement by its name, which says what it was called, not what it is.
_REFERENCE = re.compile(
    r"\b(?:the|this|that|said|certain)\s+(?:[A-Z][\w&'-]*\s+){0,6}(?:Agreement|Contract|Note|Letter|Deed)\b"
    rf"(?:\s+(?:dated|of)\s+(?:as\s+of\s+)?(?i:{_DATE}))?"
)
_ITEM = re.compile(
    r"^[ \t]*(?:(?:section|clause|article|paragraph)\s+)?(?:\d{1,2}(?:\.\d{1,2})*[.):]|\d{1,2}\.\d{1,2}\b|"
    r"\([a-z]{1,4}\))[ \t]+",
    re.I | re.M,
)

_SECTION = (
    r"(?:sections?|clauses?|articles?|paragraphs?|points?|items?|"
    r"§)\s*(?P<num>\d{1,3}(?:\.\d{1,3})*)(?P<sub>(?:\([a-z0-9]{1,4}\))*)"
)
_REPLACES = r"(?:deleted|amended|replaced|restated|substituted|struck|removed|revised|changed)"
_REPLACED_SECTION = re.compile(
    rf"\b{_SECTION}[^\"]{{0,240}}?\b{_REPLACES}\b[^\"]{{0,240}}?(?:follow(?:s|ing)|to read|\bby\b|\bwith\b|"
    rf"\bnew\b)[^\"]{{0,80}}?\"",
    re.I,
)
# A quote that follows these is of a word or a term, not of a provision.
_QUOTED_WORDS = re.compile(
    r"\b(?:definition of|terms?|words?|figures?|numbers?|references? to|phrase|amount)\s*\"$", re.I
)
_BARE_SECTION = re.compile(
    rf"\b{_SECTION}[^\":]{{0,240}}?\b{_REPLACES}\b[^\":]{{0,200}}?(?:follow(?:s|ing)|"
    rf"to read)[^\":]{{0,40}}?:\s*(?=[^\"\s])",
    re.I,
)
_DELETED_SECTION = re.compile(
    rf"\b{_SECTION}[^.;\"]{{0,160}}?\b(?:is|are|shall be|be)\s+(?:hereby\s+)?(?:deleted|removed|revoked|"
    rf"cancelled|struck(?:\s+out)?)"
    r"(?:\s+in\s+(?:its|their)\s+entirety|\s+entirely)?(?:\s+and\s+(?:is\s+)?of\s+no\s+(?:further\s+)?(?:force|"
    r"effect)[^.;]{0,40})?\s*(?:[.;]|$)",
    re.I,
)
_DEFINITION = re.compile(
    rf"\b(?P<before>(?:amend|restat|replac|delet|substitut|"
    rf"revis)\w+[^\"]{{0,100}}?)?\bdefinitions?\s+of\s+(?:the\s+term\s+)?"
    rf"\"(?P<term>[^\"]{{2,60}})\"(?:(?(before)[^\"]{{0,240}}?|"
    rf"[^\"]{{0,200}}?\b{_REPLACES}\b[^\"]{{0,160}}?))(?P<new>\")",
    re.I,
)
_NEW_MEANING = re.compile(
    r"\"(?P<term>[^\"\n]{2,60})\"\s+(?:shall\s+(?:now\s+|hereafter\s+)?mean|(?:now|hereafter)\s+means)\s+", re.I
)
_SWAPS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"\"(?P<old>[^\"\n]{{1,200}})\"[^\"]{{0,120}}?\b{_REPLACES}\b[^\"]{{0,160}}?\"(?P<new>[^\"\n]{{1,200}})\"",
        r"\b(?:deleting|replacing|striking(?: out)?|changing|"
        r"removing)\b[^\"]{0,80}\"(?P<old>[^\"\n]{1,200})\"(?:[^\"]{0,40}\b(?:definition of|the term|"
        r"defined as)\s*\"[^\"\n]{2,60}\")?"
        r"[^\"]{0,160}?\b(?:with|by|for|insert\w*|substitut\w*|to)\b[^\"]{0,60}\"(?P<new>[^\"\n]{1,200})\"",
        r"\b(?:substitut|insert|put)\w+\b[^\"]{0,60}\"(?P<new>[^\"\n]{1,200})\"[^\"]{0,40}\b(?:for|in place of|"
        r"in lieu of|instead of)\b[^\"]{0,60}\"(?P<old>[^\"\n]{1,200})\"",
    )
)
_CHANGED = (
    r"(?:extend(?:ed|s)?|postpone[ds]?|deferred|brought forward|change[ds]?|amend(?:ed|s)?|modif(?:ied|ies)|"
    r"revise[ds]?|reset|"
    r"increase[ds]?|raise[ds]?|decrease[ds]?|reduce[ds]?|lower(?:ed|s)?|fixed|moved|shall (?:now |henceforth |"
    r"hereafter )?be|will (?:now )?be|is now|(?:is|are) payable)"
)
_EXCHANGES = (
    r"\bfrom\s+(?P<old>{value})\s*,?\s+(?:to|until)\s+(?P<new>{value})",
    r"(?P<new>{value})\s*,?\s*\(?\s*(?:in place of|instead of|rather than|in lieu of|previously|"
    r"formerly)\s*:?\s*(?P<old>{value})",
)
_SETS = (
    r"\b(?P<topic>{topic})\b[^.;\n]{{0,160}}?\b{changed}\b(?:(?:[^.;\n]|\.(?!\s)){{0,160}}?\b(?:to|until|at)\b)?\s+"
    r"(?:be\s+|an?\s+|and\s+including\s+)*(?:fixed\s+|annual\s+)*(?:rate\s+of\s+)?(?P<value>{value})",
    r"\b{changed}\b[^.;\n]{{0,80}}?\b(?P<topic>{topic})\b(?:[^.;\n]|\.(?!\s)){{0,60}}?\b(?:at|of|to|is|"
    r"be)\s+(?:an?\s+)?"
    r"(?P<value>{value})",
)
_CONFIRMS = re.compile(
    r"\b(?:remains?|continues?|confirms?|confirmed|acknowledges?|acknowledged|ratif\w+|reaffirm\w*|represents?|"
    r"warrants?|unchanged|"
    r"recognis\w+|recogniz\w+|agree[sd]? that)\b",
    re.I,
)
_FROM_NOW = re.compile(
    r"\b(?:henceforth|hereafter|hereby|from (?:the date|this date|now|and after)|as (?:of|from)|effective|"
    r"with effect|becom(?:es?|ing)|"
    r"convert\w*|ceases?|no longer|shall|will|instead|in addition|is changed|replaces?)\b",
    re.I,
)
_SECURITY_NOUN = (
    r"(?:security(?:\s+interests?)?|collateral|liens?|mortgages?|charges?|pledges?|debentures?|"
    r"deeds?\s+of\s+trust|hypothecations?)"
)
_RELEASES = re.compile(
    rf"\b(?:releases?|discharges?|releases\s+and\s+discharges|reconveys?|terminates?|"
    rf"cancels?)\b[^.;\n]{{0,120}}?\b{_SECURITY_NOUN}\b|"
    rf"\b{_SECURITY_NOUN}\b[^.;\n]{{0,120}}?\b(?:is|are|shall be|be)\s+(?:hereby\s+)?(?:fully\s+|irrevocably\s+)*"
    r"(?:released|discharged|terminated|cancelled|reconveyed)",
    re.I,
)
_PARTLY = re.compile(
    r"\b(?:only|solely|part of|portion|one of|certain|other than|except(?:ing)?|remaining (?:collateral|security))\b",
    re.I,
)
_NO_RELEASE = re.compile(
    r"\b(?:not|nothing|neither|nor|without|no)\b|\b(?:upon|when|if|once|until|unless|provided that|may)\b", re.I
)
_CONVERTS = re.compile(
    r"\b(?:convert\w*|(?:is|are|be|been)\s+(?:hereby\s+)?(?:changed|turned|"
    r"transformed))\b[^.;\n]{0,120}?\b(?:in)?to\s+(?:an?\s+)?"
    r"(?P<what>[^.;,\n]{0,60})",
    re.I,
)
_TO_TERM = re.compile(r"\b(?:term|closed-?\s?end|fixed-term|instal+ment)\b", re.I)
_TO_REVOLVING = re.compile(r"\b(?:revolving|open-?\s?end|line of credit|overdraft)\b", re.I)
_FORM_WORDS = {
    "OpenEndCredit": re.compile(r"\b(?:revolving|revolver|line of credit|overdraft|re-?borrow\w*|redraw\w*)\b", re.I),
    "ClosedEndCredit": re.compile(r"\b(?:term loan|term facility|fixed term|closed-?end)\b", re.I),
}
_OPPOSITE = {
    "SecuredLoan": "UnsecuredLoan",
    "UnsecuredLoan": "SecuredLoan",
    "OpenEndCredit": "ClosedEndCredit",
    "ClosedEndCredit": "OpenEndCredit",
}
_ROLE_WORD = r"borrower|lender|guarantor|bank|debtor|creditor|obligor"
_ROLES = {"bank": "lender", "creditor": "lender", "debtor": "borrower", "obligor": "borrower"}
_PUT_IN_PLACE = re.compile(
    rf"\b(?:substitut\w+|replac\w+)\b[^.;]{{0,200}}?\b(?:as|of)\b[^.;]{{0,40}}?\b(?P<role>{_ROLE_WORD})\b|"
    rf"\bbecomes?\b[^.;]{{0,60}}?\b(?P<role2>{_ROLE_WORD})\b|"
    rf"\b(?:assigns?|transfers?|novates?|assigned|"
    rf"transferred)\b[^.;]{{0,200}}?\bas\b[^.;]{{0,40}}?\b(?P<role3>borrower|lender|bank|creditor|debtor|obligor)\b",
    re.I,
)
_DESCRIPTION = re.compile(
    r",\s+(?:an?|being|incorporated|organi[sz]ed|existing|having|whose|of|residing|born|"
    r"acting)\b[^()\"\n;]{0,200}?(?=\s*(?:[(\n;]|$|\.\s|\.$|,\s+(?:who|which)\b))",
    re.I,
)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "\u00a0": " "})


class Identity(NamedTuple):
    """Identity that a document of a deal states: agreement, amendment or restatement, its number and its day."""

    role: Role
    number: int | None
    date: dt.date | None


class Amended(NamedTuple):
    """The agreement after an amendment, and what else the amendment says.

    `clauses` are its passages that were carried out, `notes` say what could not be; `released` is the passage that
    gives up the security.
    """

    body: ConformedCopy
    rest: ConformedCopy
    clauses: tuple[Evidence, ...]
    notes: tuple[str, ...]
    released: Evidence | None


class Item(NamedTuple):
    """A numbered provision of an amendment, as a span of its text."""

    start: int
    end: int


@dataclass
class _Amending:
    """One amendment being carried out: the agreement so far, and what is left to say of the amendment itself."""

    document: Document
    text: str
    body: ConformedCopy
    used: list[tuple[int, int]] = field(default_factory=list)
    quoted: list[tuple[int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    released: tuple[int, int] | None = None

    def segment(self, start: int, end: int, item: Item) -> Segment:
        """Words of the amendment, quoted by the clause they stand in."""
        inside = item.start <= start < end <= item.end
        shown = _clause(self.text, start, end, item) if inside else (item.start, min(item.end, item.start + _SHOWN))
        return Segment(self.document, start, end, shown)


def identify(document: Document) -> Identity:
    """Role, number and date of a document, from its own first words."""
    text = document.text.translate(_QUOTES)
    head = text[:_HEAD]
    lines = [line.strip() for line in head.split("\n") if line.strip()]
    title = " ".join(takewhile(lambda line: len(line.split()) <= _TITLE_WORDS, lines[:_TITLE_LINES]))
    number = _number(head)
    dated = _DATED.search(head)
    day = (
        _day(dated["date"] or dated["alone"])
        if dated
        else next((_day(match.group()) for match in _ANY_DATE.finditer(head)), None)
    )
    if _IS_RESTATED.search(title) and not re.search(rf"\b(?:{_AMENDING})\b[^.]{{0,30}}\bto\b", title, re.I):
        return Identity("restatement", number, day)
    named = _IS_AMENDMENT.search(lines[0] if lines else "") or _IS_AMENDMENT.search(title)
    return Identity("amendment" if named or _speaks_of_changes(text) else "agreement", number, day)


def _speaks_of_changes(text: str) -> bool:
    """A letter without a title: it refers to an agreement of a date, and changes something of it."""
    refers = re.search(
        rf"\b(?:agreement|contract|facility|note|loan)\b[^.]{{0,60}}?\b(?:dated|of)\b\s+(?:as of\s+)?{_DATE}",
        text[:_HEAD],
        re.I,
    )
    changes = re.search(
        rf"\b(?:{_SECTION}|maturity|rate|limit|amount)\b[^.]{{0,120}}?\b(?:is|are|"
        rf"shall be)\s+(?:hereby\s+)?(?:amended|deleted|replaced|extended|increased|reduced|changed)",
        text,
        re.I,
    )
    return bool(refers and changes)


def _number(head: str) -> int | None:
    numbered = _NUMBERED.search(head)
    if numbered is None:
        return None
    word = (numbered["word"] or numbered["nth"] or numbered["number"] or numbered["bare"]).lower()
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    return words_to_number(word) or int(word)


def _day(words: str) -> dt.date | None:
    return next((day for day, _, _ in dates(words)), None)


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
    numbered = [item for item in by_day if _is_numbered(item[1])]
    ordered = iter(sorted(numbered, key=lambda item: item[1].number or 0))
    return [next(ordered) if _is_numbered(item[1]) else item for item in by_day]


def _is_numbered(identity: Identity) -> bool:
    return identity.role == "amendment" and identity.number is not None


def amend(body: ConformedCopy, amendment: Document) -> Amended:
    """Carries out an amendment on the agreement so far."""
    text = amendment.text.translate(_QUOTES)
    work = _Amending(amendment, text, body)
    recitals = _recitals(text)
    for item in _items(text, recitals):
        for step in (_definitions, _swaps, _sections, _deletions, _exchanges, _values, _states, _parties):
            step(work, item)
    references = [match.span() for match in _REFERENCE.finditer(text)]
    remainder = ConformedCopy.of(amendment).blanked([_title(text), *work.used, *recitals, *references])
    released = Evidence.of(amendment, *work.released) if work.released else None
    whole = [_clause(text, start, end, Item(start, len(text))) for start, end in sorted(set(work.used))]
    clauses = [strip_span(text, *span) for span in whole]
    passages = tuple(Evidence.of(amendment, start, end) for start, end in clauses if end - start > _LEAST_CLAUSE)
    return Amended(work.body, remainder, passages, tuple(work.notes), released)


def in_new_words(document: Document, read: Callable[[Document], LoanReading]) -> LoanReading:
    """Read a document with `read`; an amendment is read without the words that it replaces by others.

    These are the old value of an exchange ("from X to Y"), quoted words that give way to others, and in the recitals
    the values of terms that the provisions set. Each quote stands in the document as it is.
    """
    text = document.text.translate(_QUOTES)
    gone = _old_words(text) if identify(document).role == "amendment" else []
    if not gone:
        return read(document)
    copy = ConformedCopy.of(document).blanked(gone)
    reading = read(Document(document.id, copy.text, document.pages, document.sections))
    triples = tuple(_in_its_words(t, document) for t in reading.triples)
    second = tuple(_in_its_words(s, document) for s in reading.second)
    return reading.model_copy(update={"triples": triples, "second": second})


Said = TypeVar("Said", Triple, SecondReading)


def _in_its_words(said: Said, document: Document) -> Said:
    if said.evidence is None:
        return said
    return said.model_copy(update={"evidence": Evidence.of(document, said.evidence.start, said.evidence.end)})


def _old_words(text: str) -> list[tuple[int, int]]:
    """The words of an amendment that it replaces, wherever it gives them."""
    recitals = _recitals(text)
    provisions = ConformedCopy.of(Document("", text)).blanked(recitals).text
    gone: list[tuple[int, int]] = []
    for pattern in _SWAPS:
        swaps = [swap for swap in pattern.finditer(provisions) if not _is_provision(swap["old"], swap["new"])]
        gone += [span for swap in swaps for span in _places(text, swap["old"])]
    for topic, value, mentions in _TOPICS:
        patterns = [pattern.format(value=value) for pattern in _EXCHANGES]
        exchanges = [exchange for pattern in patterns for exchange in re.finditer(pattern, provisions, re.I)]
        gone += [span for exchange in exchanges for span in _places(text, exchange["old"])]
        sets = any(
            re.search(pattern.format(topic=topic, changed=_CHANGED, value=value), provisions, re.I) for pattern in _SETS
        )
        if exchanges or sets:
            values = mentions(text)
            gone += [(start, end) for _, start, end in values if _is_within(start, recitals)]
    return gone


def _places(text: str, words: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(rf"(?<![\w.,]){re.escape(words)}(?![\w]|[.,]\d)", text)]


def without_security(reading: LoanReading, released: Evidence) -> LoanReading:
    """The reading of an agreement whose security was given up: where it says nothing else, its loans are unsecured."""
    bare = [facility for facility in reading.facilities if facility.security == "unstated"]
    triples = [
        Triple(subject=f.subject, predicate="rdf:type", object="UnsecuredLoan", subject_type="Loan", evidence=released)
        for f in bare
    ]
    facilities = [
        facility.model_copy(update={"security": "unsecured"}) if facility in bare else facility
        for facility in reading.facilities
    ]
    return reading.model_copy(update={"facilities": tuple(facilities), "triples": (*reading.triples, *triples)})


def _title(text: str) -> tuple[int, int]:
    """The title, which names the agreement that is amended."""
    begun = re.search(r"\S", text)
    start = begun.start() if begun else 0
    end = text.find("\n\n", start)
    return start, end if 0 <= end - start <= _LONGEST_TITLE else start


def _recitals(text: str) -> list[tuple[int, int]]:
    """Recitals tell how things stood before; they change nothing."""
    begun = _RECITALS.search(text)
    if begun is None:
        return []
    after = _OPERATIVE.search(text, begun.end())
    return [(begun.start(), after.start())] if after else []


def _items(text: str, recitals: Sequence[tuple[int, int]]) -> Iterator[Item]:
    """Provisions that stand for themselves: from a number at the beginning of a line to the next outside of quotes."""
    start = recitals[0][1] if recitals else 0
    numbers = (match.start() for match in _ITEM.finditer(text, start))
    unquoted = [number for number in numbers if text.count('"', start, number) % 2 == 0]
    for begin, end in pairwise([start, *unquoted, len(text)]):
        if text[begin:end].strip():
            yield Item(begin, end)


def _closing(text: str, opening: int, end: int) -> int:
    """Find the end of a quoted provision: a quote that ends its line, or the last one before `end`."""
    closed = re.compile(r"\"[.;,)]*\s*(?:and|or)?[ \t]*(?=\n|$)").search(text, opening + 1, end)
    closing = closed.start() if closed else text.rfind('"', opening + 1, end)
    return closing if closing > opening else end


def _clause(text: str, start: int, end: int, item: Item) -> tuple[int, int]:
    """The sentence of `item` around a span, or the span with what leads to it, short enough to quote."""
    clause_start = max(item.start, max(text.rfind(mark, item.start, start) for mark in (".\n", ";\n", "\n\n")) + 1)
    clause_start = max(clause_start, start - _SHOWN)
    mark = re.compile(r"[.;](?=\s|$)|\n\n").search(text, end, min(item.end, end + _SHOWN))
    return clause_start, mark.end() if mark else min(item.end, end + _SHOWN)


def _is_used(work: _Amending, start: int, end: int) -> bool:
    return any(a < end and start < b for a, b in work.used)


def _definitions(work: _Amending, item: Item) -> None:
    """`The definition of "X" is replaced by: "X" means …`"""
    for meaning in _DEFINITION.finditer(work.text, *item):
        _define(work, item, meaning["term"], meaning.start("new"), meaning.start())
    for meaning in _NEW_MEANING.finditer(work.text, *item):
        if not _is_used(work, *meaning.span()):
            _define(work, item, meaning["term"], meaning.start(), meaning.start())


def _define(work: _Amending, item: Item, term: str, new: int, start: int) -> None:
    old = re.compile(
        rf"\"(?:the\s+)?{re.escape(term)}\"\s*(?:means?|shall mean|is|has the meaning|:)[^\n]*?(?:[.;](?=\s|$)|\n|$)",
        re.I,
    )
    definition = old.search(work.body.text.translate(_QUOTES))
    end = re.compile(r"[.;](?=\s|$)|\n\n|$").search(work.text, new, item.end)
    stop = end.start() if end else item.end
    if definition is None or stop <= new:
        return
    work.body = work.body.replaced(*definition.span(), [work.segment(new, stop, item), SPACE])
    work.used.append((start, stop))


def _swaps(work: _Amending, item: Item) -> None:
    """`The words "A" are replaced by "B"`: in the section that is named, else wherever they stand."""
    for pattern in _SWAPS:
        for swap in pattern.finditer(work.text, *item):
            if _is_used(work, *swap.span()) or _is_provision(swap["old"], swap["new"]):
                continue
            section = re.compile(rf"\b{_SECTION}", re.I).search(work.text, item.start, swap.end())
            span = _find_section(work.body.text, section["num"], section["sub"]) if section else None
            body = work.body.text.translate(_QUOTES)
            places = [
                match.span()
                for match in re.finditer(re.escape(swap["old"]), body)
                if span is None or (span[0] <= match.start() and match.end() <= span[1])
            ]
            if not places:
                work.notes.append(f'"{swap["old"]}" was not found where it is to be replaced')
                continue
            for start, end in reversed(places):
                work.body = work.body.replaced(start, end, [work.segment(*swap.span("new"), item)])
            work.used.append(swap.span())


def _is_provision(old: str, new: str) -> bool:
    return old.strip().casefold() == new.strip().casefold()


def _sections(work: _Amending, item: Item) -> None:
    """`Section N is deleted and replaced by the following: "…"`"""
    replacement = _REPLACED_SECTION.search(work.text, *item)
    while replacement is not None:
        opening = replacement.end() - 1
        closing = _closing(work.text, opening, item.end)
        if not (_is_used(work, *replacement.span()) or _QUOTED_WORDS.search(replacement.group())):
            _put_section(work, item, replacement, opening + 1, closing)
        replacement = _REPLACED_SECTION.search(work.text, closing, item.end)
    bare = _BARE_SECTION.search(work.text, item.start, item.end + _AHEAD)
    if bare is not None and work.text.rindex(":", *bare.span()) < item.end and not _is_used(work, *bare.span()):
        _put_section(work, item, bare, bare.end(), _end_of_bare(work.text, item, bare.end()))


def _put_section(work: _Amending, item: Item, found: re.Match[str], start: int, end: int) -> None:
    """The words `[start, end)` of the amendment in place of the section that it names."""
    section = _named_section(work, found, "replaced")
    if section is not None:
        work.body = work.body.replaced(*section, [work.segment(start, end, item), BREAK])
        work.used.append((found.start(), end))
        work.quoted.append((start, end))


def _named_section(work: _Amending, naming: re.Match[str], change: str) -> tuple[int, int] | None:
    """The section of the agreement that a provision names; without it, a note of what was to become of it."""
    section = _find_section(work.body.text, naming["num"], naming["sub"])
    if section is None:
        work.notes.append(f"section {naming['num']}{naming['sub']}, which is to be {change}, was not found")
    return section


def _end_of_bare(text: str, item: Item, start: int) -> int:
    """Find the end of a provision given without quotes: the amendment's own next number, or its last words."""
    begun = re.match(r"\s*(?:(?:section|clause)\s+)?(?:(\d{1,2})[.)]?\s|\(([a-y])\))", text[item.start : start], re.I)
    if begun is None:
        ahead = r"\n\n"
    else:
        following = str(int(begun[1]) + 1) if begun[1] else rf"\({chr(ord(begun[2]) + 1)}\)"
        ahead = rf"^[ \t]*(?:section |clause )?{following}[.)]?[ \t]"
    ending = rf"{ahead}|^[ \t]*(?:except|save|all other|in all other|otherwise|in witness)\b"
    stop = re.compile(ending, re.I | re.M).search(text, start)
    return stop.start() if stop else len(text)


def _deletions(work: _Amending, item: Item) -> None:
    """`Section N is deleted.`"""
    for deletion in _DELETED_SECTION.finditer(work.text, *item):
        if _is_used(work, *deletion.span()):
            continue
        section = _named_section(work, deletion, "deleted")
        if section is not None:
            work.body = work.body.replaced(*section, [BREAK])
            work.used.append(deletion.span())


def _find_section(text: str, number: str, sub: str) -> tuple[int, int] | None:
    """A section by its number at the beginning of a line, up to the next that is no part of it."""
    heads = [
        (match["num"].rstrip("."), match.start())
        for match in re.finditer(
            r"^[ \t#*]*(?:(?:section|clause|article|paragraph|sec\.|§)\s*|(?=\d{1,3}(?:\.\d{1,3})+|"
            r"\d{1,3}[.):]))"
            r"(?P<num>\d{1,3}(?:\.\d{1,3})*)(?=[.):\s])",
            text,
            re.I | re.M,
        )
    ]
    for index, (head, start) in enumerate(heads):
        if head != number:
            continue
        following = (offset for label, offset in heads[index + 1 :] if not label.startswith(f"{number}."))
        end = min(next(following, len(text)), start + _MAX_SECTION)
        return _find_paragraph(text, start, end, sub) if sub else (start, end)
    return None


def _find_paragraph(text: str, start: int, end: int, sub: str) -> tuple[int, int] | None:
    for letter in re.findall(r"\(([a-z0-9]+)\)", sub):
        marker = re.compile(rf"^[ \t]*\({letter}\)", re.M).search(text, start, end)
        if marker is None:
            return None
        after = re.compile(r"^[ \t]*\([a-z0-9]{1,4}\)", re.M).search(text, marker.end(), end)
        start, end = marker.start(), after.start() if after else end
    return start, end


_Mentions = Callable[[str], Sequence[tuple[str, int, int]]]
_TOPICS: tuple[tuple[str, str, _Mentions], ...] = (
    (
        r"(?:final\s+|stated\s+)?(?:maturity(?:\s+date)?|repayment\s+date|due\s+date|termination\s+date|"
        r"expiry(?:\s+date)?|last\s+instal+ment)",
        _DATE,
        lambda text: [(m.date, m.start, m.end) for m in find_values(text).maturities if m.probability],
    ),
    (
        r"(?:rate\s+of\s+interest|interest\s+rate|annual\s+rate|rate|interest|margin)",
        _PERCENT,
        lambda text: [(str(r.percent), r.start, r.end) for r in find_values(text).rates],
    ),
    (
        r"(?:principal(?:\s+(?:amount|sum))?|credit\s+limit|facility\s+amount|facility\s+limit|loan\s+amount|"
        r"commitments?|amount\s+of\s+(?:the\s+)?(?:loan|facility|credit)|limit|facility|loan|credit)",
        _MONEY,
        lambda text: [(str(p.amount), p.start, p.end) for p in find_values(text).principals],
    ),
    (
        r"(?:term|duration|repayment\s+period|tenor)",
        r"\d{1,3}\s+(?:months|years)",
        lambda text: [(str(t.months), t.start, t.end) for t in find_values(text).terms],
    ),
)


def _exchanges(work: _Amending, item: Item) -> None:
    """`from X to Y`, `Y instead of X`, `Y (previously X)`: Y stands wherever X stood."""
    for _, value, mentions in _TOPICS:
        for pattern in _EXCHANGES:
            for exchange in _unquoted(work, item, pattern.format(value=value), "new"):
                _set(work, item, exchange, "new", _same_values(work.body.text, exchange["old"], value, mentions))


def _same_values(text: str, old: str, value: str, mentions: _Mentions) -> list[tuple[int, int]]:
    """Find a value as it is written here; if it stands nowhere, find what the reader reads as the same value."""
    if places := _places(text, old):
        return places
    old_readings = {reading for reading, _, _ in mentions(old)}
    spans = [(start, end) for reading, start, end in mentions(text) if reading in old_readings]
    exact = [re.compile(value, re.I).search(text, start, end + _UNIT) for start, end in spans]
    return [match.span() for match in exact if match]


def _values(work: _Amending, item: Item) -> None:
    """`The Maturity Date is extended to Y`: Y stands where the value of that term stood."""
    for topic, value, mentions in _TOPICS:
        for pattern in _SETS:
            sets = pattern.format(topic=topic, changed=_CHANGED, value=value)
            for change in _unquoted(work, item, sets, "value"):
                text = work.body.text
                places = _defined_value(text, change["topic"], value) or _best_values(text, value, mentions)
                _set(work, item, change, "value", places)


def _unquoted(work: _Amending, item: Item, pattern: str, new: str) -> Iterator[re.Match[str]]:
    """What matches in an item, but for values in words that are carried out by then."""
    for match in re.compile(pattern, re.I).finditer(work.text, *item):
        if not _is_within(match.start(new), work.quoted):
            yield match


def _is_within(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _set(work: _Amending, item: Item, found: re.Match[str], new: str, places: Sequence[tuple[int, int]]) -> None:
    """The value that `found` gives put in each of the places, unless it stands there already."""
    new_value = found[new].strip(" .,;")
    if not places or all(work.body.text[start:end].strip(" .,;") == new_value for start, end in places):
        return
    for start, end in sorted(places, reverse=True):
        work.body = work.body.replaced(start, end, [work.segment(*found.span(new), item)])
    work.used.append(found.span())
    work.quoted.append(found.span(new))


def _defined_value(text: str, term: str, value: str) -> list[tuple[int, int]]:
    """Find the places where a definition gives a term its value: `"Final Repayment Date" means 30 April 2026`."""
    words = r"\s+".join(map(re.escape, term.split()))
    defined = re.compile(
        rf"[\"“](?:the\s+)?{words}[\"”]\s*(?:means?|shall mean|is|:)[^.;\n]{{0,60}}?(?P<value>{value})", re.I
    )
    return [match.span("value") for match in defined.finditer(text)]


def _best_values(text: str, value: str, mentions: _Mentions) -> list[tuple[int, int]]:
    """Find the value that the reader would take for the topic, wherever it is repeated."""
    readings = mentions(text)
    spans = []
    for start, end in ((start, end) for reading, start, end in readings if reading == readings[0][0]):
        exact = re.compile(value, re.I).search(text, start, end + _UNIT)
        spans.append(exact.span() if exact else (start, end))
    return spans


def _states(work: _Amending, item: Item) -> None:
    """Replace earlier words on security and form by what an operative provision says of them for the time to come."""
    text = work.text
    for provision in _RELEASES.finditer(text, *item):
        clause = _clause(text, *provision.span(), item)
        if _PARTLY.search(text, *clause):
            work.notes.append("a release of part of the security was not carried out")
        elif not _NO_RELEASE.search(text, clause[0], provision.end()):
            work.body = _cleared(work.body, "SecuredLoan")
            work.used.append(provision.span())
            work.released = strip_span(text, *clause)
    for provision in _CONVERTS.finditer(text, *item):
        if _TO_TERM.search(provision["what"]):
            gone = "OpenEndCredit"
        elif _TO_REVOLVING.search(provision["what"]):
            gone = "ClosedEndCredit"
        else:
            continue
        work.body = _cleared(work.body, gone)
        spans = [match.span() for match in _FORM_WORDS[gone].finditer(work.body.text)]
        work.body = work.body.blanked(spans)
        work.used.append(
            (max(_clause(text, *provision.span(), item)[0], provision.start() - _BEFORE), provision.start("what"))
        )
    masked = ConformedCopy.of(work.document).blanked([(0, item.start), (item.end, len(text)), *work.used])
    for about, start, end in _claims(masked.text):
        words = text[slice(*_clause(text, start, end, item))]
        if _FROM_NOW.search(words) and not _CONFIRMS.search(words):
            work.body = _cleared(work.body, _OPPOSITE[about])


def _claims(text: str) -> list[tuple[str, int, int]]:
    """Statements on security and form: class, and the span of the passage that makes it."""
    plain = plain_text(text)
    return [
        (claim.about, *plain.original(claim.start, claim.end))
        for claim in find_claims(text, plain, units(plain.text))
        if claim.about in _OPPOSITE and claim.belief >= STATED
    ]


def _cleared(copy: ConformedCopy, about: str) -> ConformedCopy:
    """The copy without any statement that the loan is `about`."""
    for _ in range(_MAX_PASSES):
        spans = [(start, end) for claimed, start, end in _claims(copy.text) if claimed == about]
        if not spans:
            break
        copy = copy.blanked(list(_but_for_values(copy.text, spans)))
    return copy


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


def _parties(work: _Amending, item: Item) -> None:
    """`X is substituted for Y as Borrower`: X stands where Y stood, with its own description."""
    substitution = _PUT_IN_PLACE.search(work.text, *item)
    if substitution is None:
        return
    word = (substitution["role"] or substitution["role2"] or substitution["role3"]).lower()
    role = _ROLES.get(word, word)
    mentions = getattr(find_parties(Document("", work.body.text)), f"{role}s")
    if not mentions:
        return
    old = mentions[0].name
    new = _newcomer(work.text, item, old)
    if new is None:
        return
    start, end, _ = new
    body = work.body.text
    for match in reversed(list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", body))):
        described = _DESCRIPTION.match(body, match.end())
        put = work.segment(start, end, item)
        work.body = work.body.replaced(match.start(), described.end() if described else match.end(), [put])
    work.used += [
        match.span() for match in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)(?:\s*\([^)\n]{{0,60}}\))?", work.text)
    ]
    work.used.append(item)


def _newcomer(text: str, item: Item, old: str) -> tuple[int, int, int] | None:
    """The party that an item names beside the old one: start, end with its description, end of its name."""
    for match in re.finditer(r"(?<![\w])(?=[A-Z])", text[item.start : item.end]):
        named = name_at(text, item.start + match.start(), stop=item.end)
        if named is None or old in named.text or named.text in old or _NOT_A_PARTY.search(named.text):
            continue
        described = _DESCRIPTION.match(text, named.end)
        if described is None:
            # The preamble tells what sort of person or body it is.
            for mention in re.finditer(rf"(?<!\w){re.escape(named.text)}(?!\w)", text):
                fuller = _DESCRIPTION.match(text, mention.end())
                if fuller is not None:
                    return mention.start(), fuller.end(), mention.end()
        return named.start, described.end() if described else named.end, named.end
    return None


_NOT_A_PARTY = re.compile(
    r"\b(?:Agreement|Loan|Borrower|Lender|Guarantor|Bank Agreement|Note|Section|Clause|Contract|Facility|"
    r"Amendment|Date|Effective|Mortgage)\b"
)
