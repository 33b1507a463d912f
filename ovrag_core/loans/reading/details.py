"""Details that tell one agreement from another: who, how much, when, at what rate, where, each in normal forms.

`find_details` is what `ovrag_core.loop.identity` compares texts by; amounts, dates, rates and names are found as the
clause reader finds them, so that formatting, currencies' spellings and line breaks do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import chain

from ovrag_core.base import Document
from ovrag_core.loans.reading import names
from ovrag_core.loans.reading.parties import find_parties
from ovrag_core.loop import Detail
from ovrag_core.text import date_reading as dates
from ovrag_core.text import money, plain_words
from ovrag_core.text import number_reading as numbers

_NUMBER = re.compile(r"(?<![\w.,/-])\d{1,3}(?:[ ,.'’]\d{2,3})+(?:\.\d+)?(?![\w%])|(?<![\w.,])\d{4,}(?:\.\d+)?(?![\w%])")
_ADDRESS = re.compile(r"(?<![\w.,/-])(?P<number>\d{2,5})(?:[ \u00a0]|\r?\n)(?P<word>[A-Z][\w'’]{2,})")
_ABOUT = re.compile(
    r"(?:\babout|\baround|\bapproximately|\bapprox\.?|\broughly|\bnearly|\bsome|~|≈)\s*$|\best\w*\s*$", re.I
)
_SCALED = re.compile(r"[a-z]\.?$", re.IGNORECASE)
_UNITS = re.compile(
    r"(?:Months?|Monthly|Years?|Days?|Weeks?|Equal|Consecutive|Instal\w*|Payments?|Quarterly|Annual|Hours?|Sections?|"
    r"Percent|Per|USD|EUR|GBP|Pages?|Loans?|Contracts?|Business|And|Or|The|"
    rf"{dates.MONTH.title()})\b"
)
JOINING = frozenset(("and", "the", "of", "for", "de", "la"))  # words that join those of a name
_SCALED_FROM = 1000
_YEARS = range(1900, 2101)
_DERIVED = 12  # dates and durations of a document that are combined: "60 months from 1 March 2023"
_MAX_NAMES = 2000
_LONGEST = 24  # characters of a number
_HUGE = 10**18


def find_details(text: str) -> list[Detail]:
    """The details of a document, a chunk or an answer in the order of the text; none overlaps a more telling one."""
    spans: list[tuple[int, int]] = []
    details: list[Detail] = []
    finders = (_dates, _amounts, _rates, _durations, _addresses, _names, _numbers)
    for detail in chain.from_iterable(find(text) for find in finders):
        if all(detail.end <= start or end <= detail.start for start, end in spans):
            spans.append((detail.start, detail.end))
            details.append(detail)
    return sorted(details, key=lambda detail: detail.start)


def _dates(text: str) -> Iterator[Detail]:
    months = sorted({count for count, _, _ in _months(text)})[:_DERIVED]
    for number, (day, start, end) in enumerate(dates.dates(text)):
        keys = {f"date:{d.isoformat()}" for d in dates.readings(text[start:end], day)}
        wider = {f"month:{day:%Y-%m}", f"number:{day.year}"}
        if number < _DERIVED:
            ends = [dates.add_months(day, count) for count in months]
            wider |= {f"date:{d.isoformat()}" for d in ends} | {f"month:{d:%Y-%m}" for d in ends}
        yield Detail("date", start, end, frozenset(keys), frozenset(wider))
    for month in dates.partial_dates(text):
        if month.day is None:
            yield Detail("date", month.start, month.end, frozenset([f"month:{month.year}-{month.month:02d}"]))


def _amounts(text: str) -> Iterator[Detail]:
    for amount, start, end in money.amounts(text):
        if amount >= _HUGE:
            continue
        about = _ABOUT.search(text[max(0, start - 20) : start]) is not None
        scaled = bool(_SCALED.search(text[start:end])) and amount >= _SCALED_FROM
        keys = {f"amount:{_plain(amount)}"}
        if about or scaled:
            keys.add(f"about:{_plain(amount)}")
        yield Detail("amount", start, end, frozenset(keys), frozenset(_wider(amount)))


def _wider(amount: Decimal) -> set[str]:
    """Give other names of an amount: without its currency, rounded to units, or to two or three figures."""
    whole = amount.quantize(Decimal(1))
    size = len(str(int(whole)))
    rounded = {_plain(whole.quantize(Decimal(1).scaleb(size - figures))) for figures in (2, 3) if size > figures}
    keys = {f"number:{_plain(amount)}", f"amount:{_plain(amount)}", f"amount:{_plain(whole)}", f"about:{_plain(whole)}"}
    return keys | {f"about:{r}" for r in rounded}


def _rates(text: str) -> Iterator[Detail]:
    for value, start, end in numbers.percentages(text):
        yield Detail("rate", start, end, frozenset([f"rate:{_plain(value)}"]))


def _durations(text: str) -> Iterator[Detail]:
    for months, start, end in _months(text):
        yield Detail("duration", start, end, frozenset([f"months:{months}"]), telling=False)


def _months(text: str) -> list[tuple[int, int, int]]:
    return [d for d in dates.durations(text) if d[0] > 1]


def _addresses(text: str) -> Iterator[Detail]:
    for match in _ADDRESS.finditer(text):
        number = int(match["number"])
        if _UNITS.match(match["word"]) or number in _YEARS:
            continue
        key = f"address:{number} {plain_words(match['word'])}"
        yield Detail("address", *match.span(), frozenset([key]), frozenset([f"number:{number}"]))


def _numbers(text: str) -> Iterator[Detail]:
    """Bare numbers of four figures and more; years are too common to tell anything."""
    for match in _NUMBER.finditer(text):
        value = numbers.parse_number(match[0]) if len(match[0]) <= _LONGEST else None
        if value is None or (value in _YEARS and len(match[0]) == 4):
            continue
        keys = {f"number:{_plain(value)}", f"amount:{_plain(value)}"}
        yield Detail("number", *match.span(), frozenset(keys), frozenset(_wider(value)))


def _names(text: str) -> Iterator[Detail]:
    """The parties by what the text says of them, then people and organisations by the build of their names."""
    for party in find_parties(Document("", text), whole=False):
        yield from _named(party.name, party.start, party.end, person=party.kind == "natural_person")
    for name in names.find_names(text)[:_MAX_NAMES]:
        if kind := names.shown_bearer(name.text):
            yield from _named(name.text, name.start, name.end, person=kind == "natural_person")


def _named(name: str, start: int, end: int, *, person: bool) -> Iterator[Detail]:
    core = bare_words(name)
    if not core or all(word in names.common_words() for word in plain_words(name).split()):
        return
    full = " ".join(core)
    # A single word that may stand for somebody.
    alone = [word for word in (core[-1], core[0]) if person and word.isalpha() and word not in names.common_words()]
    yield Detail("name", start, end, frozenset([f"name:{full}"]), _calls(core, person=person), words=(full, *alone))


def bare_words(name: str) -> list[str]:
    """Words of a name in lower case, without its legal form."""
    words = plain_words(name).split()
    while len(words) > 1 and words[-1] in _form_words():
        words.pop()
    return words


@lru_cache(maxsize=1)
def _form_words() -> frozenset[str]:
    return frozenset(word for form in names.words("legalForm") for word in plain_words(form).split())


def _calls(core: list[str], *, person: bool) -> frozenset[str]:
    """The shorter ways to call somebody: by surname, by initials, by the first words, by an acronym."""
    calls = {" ".join(core[:count]) for count in range(2, len(core))}
    if person:
        calls |= {core[0], core[-1], f"{core[0]} {core[-1]}", f"{core[0][0]} {core[-1]}"}
        calls.add(" ".join((*(word[0] for word in core[:-1]), core[-1])))
    elif len(core) > 2:
        calls.add("".join(word[0] for word in core))
        calls.add("".join(word[0] for word in core if word not in JOINING))
    return frozenset(f"name:{call}" for call in calls if len(call) > 2)


def _plain(value: Decimal) -> str:
    text = f"{value.normalize():f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
