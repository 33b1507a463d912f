# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Principal, rate, maturity and term of a loan: every value in a text, and what the words around it make of it.

The judge reads what stands around each amount of money, percentage, date and duration. What it does not find likely is left out: nothing is guessed for want of a better one. A last day that is
not stated is reckoned from a term and the day it runs from, or from counted instalments.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from ovrag_core.loans.reading.grids import facility_cells
from ovrag_core.loans.reading.judge import SORTS, load_judge
from ovrag_core.retrieval import Probabilities
from ovrag_core.text import (
    MONTH,
    NUMBER_WORDS,
    ORDINAL,
    add_months,
    dates,
    durations,
    moneys,
    percentages,
    words_to_number,
)

LIKELY = 0.3  # probability from which a value is the loan's; of .3 to .5, chosen on the drafters set aside
MENTIONS = 3  # of one value that are judged
MOST = 60  # values of a sort that are judged, from the beginning and from the end
DEFINED = 0.99  # probability of a value that a term such as "Principal" is defined for
NEARLY = 0.03  # of probability, by which sums count as alike
REACH = 120  # characters from a term to the value that it means
MATURITY = SORTS.index("maturity")
LEAST_AMOUNT = 50
HIGHEST_RATE = 200  # percent a year
LONGEST_TERM = 600  # months


@dataclass(frozen=True, slots=True)
class Value:
    """A value at `[start, end)` of a text, with the probability that it is the loan's; 0 where it is reckoned.

    Values are equal that say the same, wherever they stand.
    """

    start: int = field(compare=False)
    end: int = field(compare=False)
    probability: float = field(compare=False)


V = TypeVar("V", bound=Value)


@dataclass(frozen=True, slots=True)
class Principal(Value):
    """An amount lent, or the limit of a credit: `currency` is an ISO 4217 code."""

    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Rate(Value):
    """A contract rate in percent a year; `periodic` where it is stated by the month, quarter or week."""

    percent: Decimal
    periodic: bool


@dataclass(frozen=True, slots=True)
class Maturity(Value):
    """The day on which the last of the loan falls due, as an ISO date."""

    date: str


@dataclass(frozen=True, slots=True)
class Term(Value):
    """Term of the loan, in months."""

    months: int


class Values(NamedTuple):
    """The values of a loan by their sorts, each best first."""

    principals: list[Principal]
    rates: list[Rate]
    maturities: list[Maturity]
    terms: list[Term]


def values_in(text: str) -> Values:
    """Every amount of money, percentage, date and duration in `text` that could be a loan's, not judged yet."""
    return Values(
        [Principal(m.start, m.end, 0.0, m.amount, m.currency) for m in moneys(text) if m.amount >= LEAST_AMOUNT],
        [rate for rate in (_by_year(text, *found) for found in percentages(text)) if 0 <= rate.percent < HIGHEST_RATE],
        [Maturity(start, end, 0.0, day.isoformat()) for day, start, end in dates(text)],
        [Term(start, end, 0.0, months) for months, start, end in durations(text) if 1 <= months <= LONGEST_TERM],
    )


@lru_cache(maxsize=8)
def find_values(text: str) -> Values:
    """The values that `text` gives the loan; what is reckoned stands behind what is stated."""
    stated = Values(*_likely(text, values_in(text)))
    reckoned = [*_ends(text, stated.terms), *_counted(text)]
    return Values(
        _greatest_first(stated.principals, lambda principal: principal.amount),
        sorted((r for r in stated.rates if not _TURNS.match(text, r.end)), key=lambda rate: rate.periodic),
        _greatest_first(stated.maturities, lambda maturity: maturity.date)
        + [value for value in reckoned if isinstance(value, Maturity)],
        stated.terms + [value for value in reckoned if isinstance(value, Term)],
    )


def _greatest_first(values: list[V], measure: Callable[[V], Any]) -> list[V]:
    """The values with the greatest of the likeliest first: a limit before its sub-limits, a last day before others."""
    least = max((value.probability for value in values), default=0.0) - NEARLY
    likeliest = [value for value in values if value.probability >= least]
    return sorted(likeliest, key=measure, reverse=True) + [value for value in values if value.probability < least]


# Of a sort, terms in quotes that are defined for it, right behind a value, figures in brackets between, or before it.
_LEAD = r"(?:(?:final|stated|scheduled|aggregate|total|maximum|revolving|credit|term|loan|facility|commitment)\s+)*"
_TERMS = {
    1: rf"(?:loan\s+)?principal(?:\s+(?:amount|sum))?|{_LEAD}(?:loan|commitments?|(?:loan|committed|maximum)\s+amount)|"
    r"credit\s+limit",
    3: rf"{_LEAD}(?:maturity|termination|expiry|expiration)\s+date",
}
_BEHIND = {
    sort: re.compile(
        rf"(?:\s*\([^()\"“]*\))?[^.;\n\"“\d]{{0,60}}[\"“]\s*(?:the\s+)?(?:{terms})[,.]?\s*[\"”]", re.IGNORECASE
    )
    for sort, terms in _TERMS.items()
}
_BEFORE = {
    sort: re.compile(
        rf"[\"“]\s*(?:the\s+)?(?:{terms})[,.]?\s*[\"”]\s+(?:shall\s+)?(?:means?|be)\b[^.;\"“\d]{{0,{REACH}}}\Z",
        re.IGNORECASE,
    )
    for sort, terms in _TERMS.items()
}
_OTHER_DAY = re.compile(
    r"\s*\(\s*(?:the\s+)?[\"“]\s*(?!maturity|termination|expir|due|final|re-?pay|end)[\w ]+?\s+date\s*[\"”]",
    re.IGNORECASE,
)


def _likely(text: str, found: Values) -> Iterator[list[Any]]:
    """Of each sort the values that the judge finds likely, the likeliest first."""
    sorts: tuple[Sequence[Any], ...] = found
    values = [(column, value) for column, of_sort in enumerate(sorts, 1) for value in _few(of_sort)]
    judged = _judged(text, [value for _, value in values])
    for column in range(1, len(SORTS)):
        likely = [
            replace(value, probability=_defined(text, value, column, chance[column]))
            for (sort, value), chance in zip(values, judged.tolist(), strict=True)
            if sort == column
        ]
        likely = [value for value in likely if value.probability >= LIKELY]
        yield sorted(likely, key=lambda value: (-value.probability, value.start))


def _defined(text: str, value: Value, sort: int, probability: float) -> float:
    """The probability of a value, which a term that is defined for it or by it makes certain, or for another rules out."""
    if sort == MATURITY and _OTHER_DAY.match(text, value.end):
        return 0.0
    before = text[max(0, value.start - 2 * REACH) : value.start]
    defined = sort in _TERMS and (_BEHIND[sort].match(text, value.end) or _BEFORE[sort].search(before))
    return max(probability, DEFINED) if defined else probability


def _judged(text: str, values: Sequence[Value]) -> Probabilities:
    """What the judge makes of each value, of one in a table of facilities by its cell under its headings."""
    judge = load_judge()
    judged = judge.read(text).values([(value.start, value.end) for value in values])
    cells = facility_cells(text)
    for row, value in enumerate(values):
        cell = next((cell for cell in cells if cell.start <= value.start and value.end <= cell.end), None)
        if cell is not None:
            headed = f"{cell.facility}\n{cell.term}: "
            offset = len(headed) - cell.start
            seen = judge.read(headed + text[cell.start : cell.end])
            judged[row] = seen.values([(value.start + offset, value.end + offset)])[0]
    return judged


def _few(values: Sequence[V]) -> list[V]:
    """The values that are judged: few of those that are alike, and of a long text the first and the last."""
    seen: Counter[V] = Counter()
    few = []
    for value in values:
        seen[value] += 1
        if seen[value] <= MENTIONS:
            few.append(value)
    return few if len(few) <= MOST else [*few[: MOST * 2 // 3], *few[-(MOST // 3) :]]


_PERIODS = {"m": 12, "p": 12, "q": 4, "h": 2, "s": 2, "w": 52, "f": 26}
_PER_PERIOD = re.compile(
    r"^\W{0,3}(?:of )?(?:interest )?(?:flat |simple )?(?:(?:per|a|an|each|every|for (?:each|every)|by the|/)\s?(?:calendar |full )?(month|mensem|quarter|half[- ]year|week|fortnight)\b"
    r"|(monthly|p\.?\s?m\b|pcm\b)(?! (?:reducing|rest|compound|in arrear|payment|instal|repayment)))[)\]]?",
    re.IGNORECASE,
)
_PERIODIC_BEFORE = re.compile(
    r"\b(?:(month|quarter|week)ly (?:interest(?: rate)?|rate)(?: of interest)?|(?:rate|interest) (?:per|a|each|/) ?(month|quarter|week))\W*(?:of|is|at|being)?\W*$",
    re.IGNORECASE,
)


# A rate that is the contract's at first only.
_TURNS = re.compile(
    r"[^\n]{0,60}?\b(?:thereafter|afterwards?|followed by|then|from (?:year|month) \w+|for the (?:rest|remainder))\b[^\n]{0,50}?(?:\b(?:variable|floating|revised|re-?viewed|re-?set|adjust(?:ed|able|s))\b|\+)",
    re.IGNORECASE,
)


def _by_year(text: str, percent: Decimal, start: int, end: int) -> Rate:
    """A percentage as a rate by the year, without compounding."""
    after, before = " ".join(text[end : end + 60].split()), " ".join(text[max(0, start - 80) : start].split())
    period = _PER_PERIOD.match(after) or _PERIODIC_BEFORE.search(before)
    if period is None:
        return Rate(start, end, 0.0, percent, periodic=False)
    unit = period[period.lastindex or 0].lower()
    return Rate(start, end, 0.0, percent * _PERIODS[unit[0]], periodic=True)


_FROM = re.compile(
    r"(?:\s+(?:counted|reckoned|calculated))?,?\s+(?:as\s+)?(?:from|after|following|of)\s+(?:and\s+including\s+)?(?:the\s+)?",
    re.IGNORECASE,
)
_OWN_DAY = re.compile(
    r"(?P<own>(?:said\s+)?date\s+(?:hereof|hereon|above|first|of\s+(?:this|the|its|signature|signing|execution|issue|conclusion)\b(?!\s+(?:first|last|initial|advance|draw|disburse|loan\s+being|closing|payment)))|signature|signing|execution|conclusion|today|this\s+da(?:y|te)|now\b|hereof|such\s+date|that\s+date|issue)"
    r"|(?:said\s+)?(?:date\s+of\s+)?(?:the\s+)?(?:lending|advance|disbursement|drawdown|drawing|payout|payment\s+out|loan\s+date|closing)",
    re.IGNORECASE,
)


def _ends(text: str, terms: Sequence[Term]) -> Iterator[Maturity]:
    """The ends of terms that run from a stated day, from the day a document is made, or from that of payment."""
    for term in terms:
        if not (joined := _FROM.match(text, term.end)):
            continue
        dated = _date_at(text, joined.end())
        if dated is None and (named := _OWN_DAY.match(text, joined.end())):
            day = _own_date(text) if named["own"] else _payout(text)
            dated = (day, named.end()) if day else None
        if dated is not None:
            yield Maturity(term.start, dated[1], 0.0, add_months(dated[0], term.months).isoformat())


_COUNTED = re.compile(
    rf"(?<![\w.,$€£/-])(?P<number>\d{{1,3}}|{NUMBER_WORDS})(?:\s*\((?:\d{{1,3}}|[a-z -]{{3,40}})\))?[ \n]+(?:(?:equal|equated|consecutive|successive|regular|level|fixed|uniform|constant|deferred|approximately|substantially|calendar|principal|capital)[ ,\n]+(?:and[ \n]+)?)*"
    rf"(?P<unit>monthly|month-end|quarterly|half-yearly|six-monthly|semi-?annual|yearly|annual|weekly|fortnightly|bi-?weekly)?[ \n]*(?:(?:equal|equated|consecutive|successive|principal|capital|level)[ ,\n]+)*(?P<noun>instal?l?ments?|payments?|amorti[sz]ations?|repayments?|deductions?|debits?|redemptions?|E[MQ]Is?|months\b(?=, (?:the )?first))\b"
    rf"(?:[^.;]{{0,40}}?\bat[ \n]+intervals[ \n]+of[ \n]+(?P<every>{NUMBER_WORDS}|\d{{1,2}})[ \n]+months)?",
    re.IGNORECASE,
)
_COUNT_ROW = re.compile(
    rf"\bnumber\s+of\s+(?P<unit>monthly|quarterly|annual|yearly|weekly)?\s*(?:payments|instal?l?ments|repayments)[ \t]*[:.|]*[ \t]*(?P<number>\d{{1,3}}|{NUMBER_WORDS})\b",
    re.IGNORECASE,
)
_DAY_NEXT = rf"(?=\d{{1,2}}(?:st|nd|rd|th)?\b|(?:19|20)\d\d|(?:{MONTH})\b|(?:{ORDINAL})\s)"
_FIRST_ON = re.compile(
    rf"\bfirst\b(?:(?!last|final|year|half|to vote)[^;\n]|\n(?!\s*\n)){{0,50}}?(?:\bon|\bin|\bis|:|,|\bdue|\bone)\s+(?:the\s+)?{_DAY_NEXT}|\b(?:beginning|commencing|starting|(?<!interest )from)\s+(?:on\s+|from\s+)?(?:the\s+)?{_DAY_NEXT}",
    re.IGNORECASE,
)
_FIRST_ROW = re.compile(
    r"\bfirst\s+(?:monthly\s+)?(?:payment|instal?l?ment|repayment|deduction|EMI)(?:\s+(?:date|due|is|on|falls|falling)){0,4}[ \t]*[:.|-]*\s{0,4}",
    re.IGNORECASE,
)
_RHYTHMS: tuple[tuple[str, int], ...] = (
    (r"\b(?:each|every|per|a|succeeding|following) (?:succeeding |calendar |following )?month\b|\bmonthly\b|\bof the month\b", 1),
    (r"\b(?:each|every|per) (?:calendar )?quarter\b|\bquarterly\b|\bevery three months\b", 3),
    (r"\b(?:each|every) (?:half[- ]year|six months)\b|\bhalf-yearly\b", 6),
    (r"\b(?:each|every) year\b|\byearly\b|\bannually\b", 12),
)  # fmt: skip
_EVERY = {"m": 1, "q": 3, "h": 6, "s": 6, "y": 12, "a": 12}
_MONTH_END = re.compile(
    r"\b(?:last (?:\w+ )?day of (?:each|every|the)|month[- ]end|end of (?:each|every))\b", re.IGNORECASE
)
_ONE_MORE = re.compile(r"\b(?:and|followed by|plus)\s+(?:a|one|1)\s+(?:last|final)\s+(?:\w+\s+)?(?:payment|instal?l?ment)", re.IGNORECASE)  # fmt: skip


def _counted(text: str) -> Iterator[Maturity | Term]:
    """What regular instalments make: a term, and the day of the last, reckoned from the first."""
    rows = list(_dates_behind(_FIRST_ROW.finditer(text)))
    for match in (*_COUNTED.finditer(text), *_COUNT_ROW.finditer(text)):
        number = _count_of(match["number"])
        blank = text.find("\n\n", match.end(), match.end() + 320)
        reach = blank if blank >= 0 else min(len(text), match.end() + 320)
        wording = text[match.start() : reach]
        if not 2 <= number <= 480 or (_PARTIAL.search(wording) and not _WHOLE_LAST.search(wording)):
            continue
        near = text[max(0, match.start() - 80) : reach]
        months, days = _rhythm(match.groupdict(), near)
        if 2 <= number * months <= LONGEST_TERM:
            yield Term(*match.span(), 0.0, number * months)
        named_day = next(_dates_behind(_FIRST_ON.finditer(text, match.end(), reach)), None)
        first_due = named_day or (rows[0] if len({day for day, _ in rows}) == 1 else None)
        if first_due and (months or days):
            first, end = first_due
            steps = number if _ONE_MORE.search(wording) else number - 1
            last = _day_after(first, months * steps, days * steps, at_month_end=_MONTH_END.search(near) is not None)
            yield Maturity(match.start(), end if end > match.start() else match.end(), 0.0, last.isoformat())


def _day_after(first: date, months: int, days: int, *, at_month_end: bool) -> date:
    """The day so many months and days after the first, the last of its month where the first is and it says so."""
    last = add_months(first, months) + timedelta(days=days)
    if at_month_end and months and first.day == monthrange(first.year, first.month)[1]:
        last = last.replace(day=monthrange(last.year, last.month)[1])
    return last


def _count_of(words: str) -> int:
    """A number in figures or in words; 0 where it is none."""
    return int(words) if words.isdigit() else words_to_number(words) or 0


def _dates_behind(matches: Iterable[re.Match[str]]) -> Iterator[tuple[date, int]]:
    """The dates that begin where matches end, and where each ends."""
    return (dated for match in matches if (dated := _date_at(match.string, match.end())))


def _date_at(text: str, start: int) -> tuple[date, int] | None:
    """The date that begins at `start`, and where it ends."""
    mention = next(dates(text[start : start + 80]), None)
    return (mention[0], start + mention[2]) if mention and mention[1] == 0 else None


def _rhythm(match: dict[str, str | None], near: str) -> tuple[int, int]:
    """Months and days from one instalment to the next; none where it is not said."""
    unit, every = (match["unit"] or "").lower(), match.get("every")
    if unit.startswith(("week", "fort", "bi")):
        return 0, 7 if unit.startswith("week") else 14
    if every:
        return _count_of(every), 0
    if unit:
        return _EVERY[unit[0]], 0
    if (match.get("noun") or "").lower().startswith(("emi", "month")):
        return 1, 0
    return next((months for rhythm, months in _RHYTHMS if re.search(rhythm, near, re.IGNORECASE)), 0), 0


# Instalments that do not pay the loan off, or are another's.
_PARTIAL = re.compile(
    r"\b(?:interest[- ]only|interest alone|balloon|(?<!on )(?<!on the )(?:remaining|outstanding) balance(?! of)|(?:the|and) remainder on|and the (?:rest|remainder|balance)(?! (?:on|by) the \w+ (?:day )?of (?:each|every)| (?:each|every) month)|prepa\w+ in)\b",
    re.IGNORECASE,
)
_WHOLE_LAST = re.compile(r"\b(?:last|final|\w+th) (?:\w+ ){0,3}(?:whole|entire|all|full) (?:the )?(?:principal|capital|loan|balance)", re.IGNORECASE)  # fmt: skip


_DATED = re.compile(
    r"\b(?:dated?(?: of (?:this )?(?:agreement|note|loan|issue|contract|deed|making of agreement|offer))?|(?:(?:made|executed|signed|entered into|concluded|agreed|done|drawn up|issued|effective|given|granted) (?:and \w+ )?(?:(?:at|in) [\w' .-]{2,40}?,? ?)?(?:on|as of|this|as at|the)))\W{1,12}(?:as of |this |the |on )*(?=\w)",
    re.IGNORECASE,
)
_ON_PAYOUT = re.compile(
    r"\b(?:disburs\w+|drawn|draw(?:down|n)|paid out|pay(?:out|ment out)|advanced|lent|lending|loan date|closing|transferred)\b[^.;]{0,40}?\b(?:on|date|is|:)\W*(?:the\s+)?(?=\w)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)
def _own_date(text: str) -> date | None:
    """The day a document is made: dated, signed, or a date that stands on a line with no more than a place."""
    if dated := next(_dates_behind(_DATED.finditer(text)), None):
        return dated[0]
    for day, start, end in dates(text):
        line = text[text.rfind("\n", 0, start) + 1 : start].strip(" \t,|")
        following = text[end : (text.find("\n", end) + 1 or len(text))].strip(" \t\n.,|")
        if (
            not following
            and len(line) <= 40
            and ":" not in line
            and not re.search(r"\d|\b(?:due|by|until|to|from|payment)\b", line)
        ):
            return day
    return None


def _payout(text: str) -> date | None:
    """The one day on which the money is said to be lent or paid out."""
    days = {day for day, _ in _dates_behind(_ON_PAYOUT.finditer(text))}
    return days.pop() if len(days) == 1 else None
