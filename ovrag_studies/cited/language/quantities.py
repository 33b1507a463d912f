"""Quantities of policies with what they are of: times, money, shares, dates, frequencies, counts, and code numbers.

Each is brought into one form, so that "quarterly" is every three months, "two weeks" are 14 days and "£50" is 50 GBP.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Literal

from ovrag_core.text import NUMBER_WORDS, SCALES, Span, currency_of, partial_dates, stems, words_to_number

Bound = Literal["least", "most", ""]
Frequency = Literal["word", "figure", ""]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value and its unit: a measure ("minute", "month", "GBP", "%", "time", "date", "code") or "" for a count.

    `of` are stems of the words that say what is counted. `bound` tells a minimum or maximum; `former` a value that the
    text says held before; `every` how often is said: "weekly", "every 7 days". Times are in minutes or months, and in
    working days; dates are text, `????` for no year; the number of a heading or item has the unit "item".
    """

    value: Decimal | str
    unit: str
    start: int
    end: int
    of: frozenset[str] = frozenset()
    bound: Bound = ""
    former: bool = False
    every: Frequency = ""


# Minutes and months are the two bases of time: no number of days is a month.
TIMES = {
    "second": ("minute", Decimal(1) / 60),
    "minute": ("minute", Decimal(1)),
    "hour": ("minute", Decimal(60)),
    "day": ("minute", Decimal(1440)),
    "week": ("minute", Decimal(10080)),
    "fortnight": ("minute", Decimal(20160)),
    "month": ("month", Decimal(1)),
    "quarter": ("month", Decimal(3)),
    "year": ("month", Decimal(12)),
}
_FREQUENT = {
    word: (unit, Decimal(times))
    for unit, times, words in (
        ("minute", 60, "hourly"),
        ("minute", 1440, "daily|nightly"),
        ("minute", 10080, "weekly"),
        ("minute", 20160, "fortnightly"),
        ("month", 1, "monthly"),
        ("month", 3, "quarterly"),
        ("month", 6, "half-yearly|semi-annual|semi-annually|semiannual|semiannually|twice yearly"),
        ("month", 6, "bi-annual|bi-annually|biannual|biannually"),
        ("month", 12, "annual|annually|yearly"),
        ("month", 24, "biennial|biennially"),
    )
    for word in words.split("|")
}
_SCALES = SCALES | {"k": 1000, "m": 10**6, "bn": 10**9}
_TIME_UNIT = (
    r"(?:(?P<working>working|business|consecutive|calendar|full|further|additional)[ -])?"
    r"(?P<unit>seconds?|sec|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|quarters?|years?|yrs?)\b"
)
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"

_CLOCK = re.compile(
    r"(?<![\d.:])(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minute>[0-5]\d))?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?|(?<=:\d\d)(?![\d:]))",
    re.I,
)
_CODE = re.compile(
    r"(?<![\w.])(?=[\w-]{0,40}?\d)(?=[\w-]{0,40}?[A-Za-z])(?!\d+(?:st|nd|rd|th|k|m|bn|am|pm|%)\b)"
    r"(?:[A-Z]{1,8}[A-Za-z]{0,20}-?\d[\w-]{0,40}|\d{3,12}-[A-Z]{1,20})(?!\w)"
)
_FREQUENCY = re.compile(
    r"\b(?:(?:once|one time)\s+)?(?:per|each|every|an?(?=\s+(?:hour|day|week|fortnight|month|quarter|year)\b))\s+"
    r"(?P<working>working\s+|business\s+|calendar\s+)?(?P<unit>hour|day|week|fortnight|month|quarter|year)\b"
    rf"|\b(?P<word>{'|'.join(sorted(_FREQUENT, key=len, reverse=True))})\b"
    r"(?!\s+(?:leave|reports?|accounts|general|salary|bonus|budget|revenue|turnover|income)\b)"
    r"|\b(?P<twice>twice|two times)\s+(?:a|per|each|every)\s+(?P<unit2>day|week|month|year)\b",
    re.I,
)
_NUMBER = re.compile(
    rf"(?P<sign>US\$|[£€$¥₹]|\b(?:GBP|EUR|USD|CHF|CAD|AUD|JPY|INR)\s)?\s?(?<![\w.,])(?P<figures>{_DIGITS})(?P<plus>\+)?"
    r"(?:(?P<times>\s?x\s?)(?=\d))?(?:st|nd|rd|th)?(?:\s?(?P<scale>k|m|bn|thousand|million|billion)\b)?"
    rf"|\b(?!a\s)(?P<words>{NUMBER_WORDS})\b",
    re.I,
)
UNIT_AFTER = re.compile(
    r"[\s-]?(?:(?P<share>%|per\s?cent\b|percent\b)"
    r"|(?P<money>GBP|EUR|USD|CHF|CAD|AUD|JPY|INR|pounds?|euros?|dollars?|sterling|yen|rupees)\b"
    rf"|{_TIME_UNIT})",
    re.I,
)
_SPAN = re.compile(r"\b(?:than|within|least|most|for|in|of|after|before|up to|to)\s$", re.I)
_EVERY = re.compile(r"\b(?:every|each|per)\s$", re.I)
_JOINED = re.compile(r"\s*(?:-|–|—|\bto\b|\bor\b|\band\b|/)\s*")
_LIST_NUMBER = re.compile(r"(?:^|[.:;]\s)\s*(\d{1,2})[.)]\s+(?=[A-Z])")
_FOLLOWING = re.compile(r"[\s-]*([A-Za-z][A-Za-z'-]*)")
_ENDS_PHRASE_TEXT = """in on at of for from to by with within per a an the is are was were be will must may shall
should can and or but if before after under over when where which who that as not only unless until during between about
via using without than then so it they this these those has have had do does each every"""
_ENDS_PHRASE = frozenset(_ENDS_PHRASE_TEXT.split())
_LABEL = re.compile(r"([A-Za-z][\w-]*)\s$")
_LEAST = re.compile(
    r"\b(?:at (?:the )?least|minimum(?: \w+){0,3}(?: of| is)?|(?:no|not) (?:less|fewer|shorter|lower) than"
    r"|more than|(?:longer|faster|higher|larger|bigger|heavier) than|exceed(?:s|ing)?|over|above)\s*$",
    re.I,
)
_MOST = re.compile(
    r"\b(?:at most|up to|maximum(?: \w+){0,3}(?: of| is)?|(?:no|not) (?:more|longer|later|higher) than"
    r"|not exceed(?:ing)?|within|limited to|less than|fewer than|under|below|capped at|upper limit of)\s*"
    r"(?:a (?:maximum|total) of\s*)?$",
    re.I,
)
_LEAST_AFTER = re.compile(r"\s*(?:or more|or longer|or higher|or above|minimum|at least|at a minimum)\b", re.I)
_MOST_AFTER = re.compile(r"\s*(?:or less|or fewer|or lower|maximum|at most)\b", re.I)
_FORMER = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|prior|old|initially|originally|used to be|instead of|rather than"
    r"|(?:increased|reduced|raised|lowered|shortened|extended|changed|up|down)(?: \w+)? from|replac(?:es|ing) (?:the )?"
    r"|superse(?:des|ding) (?:the )?|(?<=\()from)(?:\s+(?!now\b)[\w'-]+){0,5}\s*$",
    re.I,
)


@lru_cache(maxsize=1 << 14)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """All quantities of `text` in order."""
    quantities: list[Quantity] = []
    for quantity in chain(_marks(text), _frequencies(text), _numbers(text)):
        if not overlaps(quantity, quantities):
            quantities.append(quantity)
    return tuple(sorted(_with_shared_units(quantities, text), key=lambda quantity: quantity.start))


def overlaps(quantity: Quantity, others: Iterable[Quantity]) -> bool:
    """Return True where a quantity and one of the others are written in the same place."""
    return any(quantity.start < other.end and other.start < quantity.end for other in others)


def made(
    text: str, value: Decimal | str, unit: str, span: Span, of: frozenset[str] = frozenset(), every: Frequency = ""
) -> Quantity:
    """A quantity with what the words around it say of its bound, and whether it held before."""
    start, end = span
    before, after = re.split(r"[.;:]\s", text[max(0, start - 60) : start])[-1], text[end : end + 20]
    bound: Bound = ""
    if _LEAST.search(before) or _LEAST_AFTER.match(after):
        bound = "least"
    if _MOST.search(before) or _MOST_AFTER.match(after):
        bound = "most"
    return Quantity(value, unit, start, end, of, bound, bool(_FORMER.search(before)), every)


def _marks(text: str) -> Iterator[Quantity]:
    """Numbers of items, dates, times of the day, and code numbers."""
    for match in _LIST_NUMBER.finditer(text):
        yield Quantity(Decimal(match[1]), "item", *match.span(1))
    for date in partial_dates(text):
        year, day = ("????" if date.year is None else date.year), ("??" if date.day is None else f"{date.day:02}")
        yield made(text, f"{year}-{date.month:02}-{day}", "date", (date.start, date.end))
    for match in _CLOCK.finditer(text):
        hour, half = int(match["hour"]), (match["half"] or "").lower()
        if half:
            hour = hour % 12 + 12 * (half == "p")
        yield made(text, Decimal(60 * hour + int(match["minute"] or 0)), "time", match.span())
    for match in _CODE.finditer(text):
        yield Quantity(match[0].replace("-", "").upper(), "code", *match.span())


def _frequencies(text: str) -> Iterator[Quantity]:
    for match in _FREQUENCY.finditer(text):
        name = (match["word"] or match["unit"] or match["unit2"]).lower()
        unit, value = _FREQUENT[name] if match["word"] else _time_unit(name, match["working"])
        if match["twice"]:
            value /= 2
        in_span = match["unit"] and _SPAN.search(text, max(0, match.start() - 12), match.start())
        every: Frequency = "" if in_span and match[0][0] in "aA" else "word"
        yield made(text, value, unit, match.span(), every=every)


def _time_unit(name: str, kind: str | None) -> tuple[str, Decimal]:
    """The unit that a time is brought into, and how many of it there are; of days, the working ones have their own."""
    is_working = name == "day" and (kind or "").strip().lower() in ("working", "business")
    return ("working day", Decimal(1)) if is_working else TIMES[name]


def _numbers(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        if match["figures"]:
            value = Decimal(match["figures"].replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1)
        else:
            value = Decimal(words_to_number(match["words"]) or 0)
        start, end = match.start() + len(match[0]) - len(match[0].lstrip()), match.end()
        after = UNIT_AFTER.match(text, end)
        if match["sign"]:
            yield made(text, value, currency_of(match["sign"].upper()) or "", (start, end))
        elif after:
            yield _measured(text, value, after, start)
        elif (match["words"] or "").lower() != "one":  # a pronoun as often as a number
            yield made(text, value, "", (start, end), counted(text, start, end))


def _measured(text: str, value: Decimal, after: re.Match[str], start: int) -> Quantity:
    span = start, after.end()
    if after["share"]:
        return made(text, value, "%", span)
    if after["money"]:
        return made(text, value, currency_of(after["money"].upper()) or "", span)
    short = after["unit"].lower().removesuffix("s")
    name = {"min": "minute", "hr": "hour", "yr": "year", "sec": "second"}.get(short, short)
    unit, factor = _time_unit(name, after["working"])
    every: Frequency = "figure" if _EVERY.search(text, max(0, start - 8), start) else ""
    return made(text, value * factor, unit, span, every=every)


def counted(text: str, start: int, end: int) -> frozenset[str]:
    """Find what a number counts: the phrase's words after it, and the word before that it may number ("Section 4")."""
    words: list[str] = []
    position = end
    while len(words) < 6 and (match := _FOLLOWING.match(text, position)):
        if match[1].lower() in _ENDS_PHRASE:
            break
        words.append(match[1])
        position = match.end()
    if (label := _LABEL.search(text, max(0, start - 30), start)) and label[1].lower() not in _ENDS_PHRASE:
        words.append(label[1])
    return frozenset(stems(" ".join(words)))


def _with_shared_units(quantities: list[Quantity], text: str) -> Iterator[Quantity]:
    """Gives "20" of "20-22 degrees" and "from 30 to 7 days" the unit of the number that it is joined with."""
    later: Quantity | None = None
    for quantity in sorted(quantities, key=lambda quantity: -quantity.start):
        joined = later and not quantity.unit and _JOINED.fullmatch(text, quantity.end, later.start)
        shared = quantity
        of_its_own = joined and quantity.of and "and" in joined[0].lower()  # "Section 4 and 2 days"
        if later and joined and not of_its_own and later.unit not in ("code", "time", "date"):
            shared = replace(quantity, unit=later.unit, of=quantity.of | later.of)
            if isinstance(quantity.value, Decimal) and later.unit in ("minute", "month"):
                unit = text[later.start : later.end]
                factors = (factor for name, (_, factor) in TIMES.items() if re.search(rf"\b{name}", unit, re.I))
                shared = replace(shared, value=quantity.value * next(factors, 1))
        yield shared
        later = shared


def agrees(claimed: Quantity, given: Quantity) -> bool:
    """Return True where a sentence claims what its evidence gives: value, unit, what is counted, no other bound.

    A value that the evidence says held before does not support one that is claimed to hold.
    """
    if claimed.unit == given.unit == "date":
        pairs = zip(str(claimed.value).split("-"), str(given.value).split("-"), strict=True)
        return all("?" in left + right or left == right for left, right in pairs)
    bare = any(not quantity.unit and not quantity.of for quantity in (claimed, given))
    same_things = bare or (claimed.unit == given.unit and bool(claimed.unit or claimed.of & given.of))
    other_bound = {claimed.bound, given.bound} == {"least", "most"} or {claimed.every, given.every} == {"word", ""}
    holds = claimed.former or not given.former
    return claimed.value == given.value and same_things and not other_bound and holds


def find_missing(sentence: str, evidence: str) -> Quantity | None:
    """The first quantity of a sentence that the evidence does not give; None where it gives all.

    Each is to be given as often as it is claimed: where "3 months, 3 years" becomes "3 years, 3 years", one is missing.
    """
    given, claimed = find_quantities(evidence), find_quantities(sentence)
    for row, quantity in enumerate(claimed):
        times, times_before = (sum(agrees(quantity, q) for q in others) for others in (given, claimed[:row]))
        fewer = times <= times_before and quantity.every != "word"
        if fewer if times else not _dispensable(quantity, given):
            return quantity
    return None


def _dispensable(claimed: Quantity, given: Sequence[Quantity]) -> bool:
    """Return True where the evidence need not give a quantity in the same form."""
    if claimed.unit == "item":
        return not any(q.unit == "item" for q in given)  # the sentence's own numbering
    if claimed.unit or not claimed.of:
        return False
    # "four levels" of a "four-tier scheme": another word for what is counted, unless the evidence counts that too.
    counts = [q for q in given if not q.unit]
    return not any(q.of & claimed.of for q in counts) and any(q.value == claimed.value for q in counts)
