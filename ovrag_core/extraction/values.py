# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Amounts, rates, dates and terms of a loan: every candidate in a text, with how well its words mark it as the loan's.

Each finder reads all values of its sort (money in any currency, percentages in figures or words, dates, durations),
judges them by the words of their row or sentence, and returns those that pass, best first. Nothing is guessed: a fee,
a late charge or a signing date does not become the principal, the rate or the maturity for want of a better one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TypeVar

from ovrag_core.types import Document


@dataclass(frozen=True, slots=True)
class Principal:
    """An amount lent, or the limit of a credit: `currency` is an ISO 4217 code, `label` the words that mark it.

    `[start, end)` is the passage (row or sentence), `[value_start, value_end)` the amount itself.
    """

    amount: Decimal
    currency: str
    label: str
    start: int
    end: int
    value_start: int
    value_end: int
    score: float


@dataclass(frozen=True, slots=True)
class Rate:
    """A contract rate in percent a year. `percent` of a variable rate is its margin, or None where none is stated."""

    percent: Decimal | None
    variable: bool
    label: str
    start: int
    end: int
    value_start: int
    value_end: int
    score: float


@dataclass(frozen=True, slots=True)
class Maturity:
    """The day on which the last of the loan falls due, as an ISO date; `computed` where it is a term from a date."""

    date: str
    computed: bool
    label: str
    start: int
    end: int
    value_start: int
    value_end: int
    score: float


@dataclass(frozen=True, slots=True)
class Term:
    """How long the loan runs, in months."""

    months: int
    label: str
    start: int
    end: int
    value_start: int
    value_end: int
    score: float


@dataclass(frozen=True, slots=True)
class _Setting:
    """A value's surroundings: the words before and after it in its row or sentence, and its passage."""

    before: str
    after: str
    label: str
    start: int
    end: int
    #: Whether the words are those of a question, or stand under a heading of other debts.
    aside: bool = False


_THRESHOLD = 4.0
_LONG, _CLEAR = 40_000, 6.0  # a long agreement is full of margins, fees and tests: its contract rate must be clear
_MAX_PASSAGE = 400
_MANY = 3000
_Found = TypeVar("_Found")

# --- surroundings ----------------------------------------------------------------------------------------------

_BREAK = re.compile(
    r"\n[ \t\r]*\n|(?<![A-Z])(?<!\bNo)(?<!\bRs)(?<!\bp\.a)(?<!\bcent)(?<!\.)[.!?;][\"”')]?\s+(?=[A-Z\"“(0-9])|\n(?=[ \t]*[A-Z][^\n:.$€£;]{2,45}:)|"
    r"\n(?=[ \t]*(?:\(?[a-z0-9]{1,3}\)|\d{1,2}(?:\.\d{1,3})+(?!\s+(?:per|pct|percent|million|%))|\d{1,2}\.|[•*#-])\s|[ \t]*\d{1,2}\s{2,}[A-Z])|[ ]{3,}(?=[A-Z][\w /-]{2,30}:)|"
    r"\n(?=[ \t]*(?:\d{1,2}[.)]?[ \t]+)?[A-Z][\w ()'’,/-]{1,40}?(?:[ ]{2,}|[ \t]*\.{2,}[ \t]*)\S)|\n(?=[ \t]*(?:Last|Final|First|Maturity|Repayment)[ ]+(?:payment|instal?ment|date|day)\b)"
)
_INNER_STOP = re.compile(r"(?<=\d)\.(?=[\d-])")
_ABBREVIATED = re.compile(r"\b(No|Nos|Inc|Ltd|Co|Corp|Mr|Mrs|Ms|Dr|Rs|St|Art|approx|cent|p\.a|p\. a|N\.A|U\.S|L\.P)\.")
_ROW = re.compile(
    r"^[\s|>*#_•-]*(?:\d{1,2}\s*\|\s*)?(?:\d{1,2}(?:\.\d{1,2})+\s+)?(?:(?:Item|ITEM|Line|Field|Box|No\.?)\s+\w{1,3}\s*[:.)-]\s*|(?:FIRST|SECOND|THIRD|FOURTH|FIFTH|SIXTH|SEVENTH|EIGHTH|First|Second|Third|Fourth|Fifth|Sixth|Seventh|Eighth)\s*[:.]\s*)?(?:\(?[0-9A-Za-z]{1,3}(?:\.\d+)*[.)]\s+|\d{1,2}\s{1,3}(?=[A-Z]))?([A-Za-zÀ-ž][^:|\n]{1,70}?)\s*(?::|\||\t|\s{2,}|\.{2,}(?=[.\s])|\s[–—]\s)[\s*_|:.]*"
)
# A heading at the beginning of its own paragraph: "3. Interest. 7% a year".
_CAPTION = re.compile(
    r"^[ \t*#_]*(?:\(?[0-9A-Za-z]{1,4}(?:\.\d+)*[.)]\s+|\d{1,2}(?:\.\d+)+\s+|§\s?\d+\s+|(?:Article|Clause|Section|Art\.)\s\w+\s*[-–—.]?\s*)([A-ZÀ-Þ][\w ’'&/()-]{1,45})[.?]\s+",
    re.MULTILINE,
)
_TITLE_LINE = re.compile(
    r"^[ \t*#_]*(?:\(?[0-9A-Za-z]{1,4}(?:\.\d+)*[.)]?\s+|(?:Article|Clause|Section|PART|Part)\s\w+\s*[-–—.]?\s*)?([A-ZÀ-Þ][^\n.:;,|$€£\d]{2,58})[ \t]*$",
    re.MULTILINE,
)
_OTHER_DEBT = re.compile(
    r"^(?:your |the |our |its |his |her )?(?:(?:other|existing|old|earlier|former|previous|prior|separate|sister|(?:first|second)(?= (?:mortgage|charge|hypothec)))\b(?!.*amend).{0,25}\b(?:loans?|debts?|advances?|facilit\w+|lenders?|borrowings?|credit\w*|agreements?|overdraft|indebtedness|hypothec|"
    r"mortgage|charges?|sub-accounts?|products?|securit\w+|liabilit\w+|money|units|things)|(?:dealer['’]s|company['’]s|borrower['’]s)? ?(?:other )?bank(?:er)?s?$|overdraft|directors['’]? |shareholders?['’]? |set-?off|guarant\w+|insurance|valuation|priority|covenants?|negative pledge)",
    re.IGNORECASE,
)


def _setting(text: str, start: int, end: int, breaks: list[tuple[int, int]]) -> _Setting:
    """The row or sentence around a value, its label where it is a row."""
    index = bisect_left(breaks, (start + 1, 0))
    left = breaks[index - 1][1] if index else 0
    if left > start:
        left = breaks[index - 2][1] if index > 1 else 0
    follow = next((b[0] for b in breaks[index : index + 2] if b[0] >= end), len(text))
    right = min(len(text), follow + (1 if follow < len(text) and text[follow] in ".!?;" else 0))
    left, right = max(left, start - 320), min(right, end + 320)
    line = text.rfind("\n", left, start) + 1 or left
    row = _ROW.match(text[line:start])
    label = row.group(1) if row else _caption(text, start)
    if "|" in text[line:start] and not (row and row.group(1).strip(" -")):
        label = _column_head(text, line, start)
    elif not label and not text[line:start].strip(" \t*_|#•-"):
        label = _label_above(text, line)
    begin, finish = left, right
    if finish - begin > _MAX_PASSAGE:
        begin = max(begin, min(start, finish - _MAX_PASSAGE, start - 120))
        finish = min(finish, begin + _MAX_PASSAGE)
    finish = max(finish, end)
    while begin < start and text[begin].isspace():
        begin += 1
    while finish > end and text[finish - 1].isspace():
        finish -= 1
    after = _smooth(text[end:right])
    aside = (not row and after.endswith("?")) or _OTHER_DEBT.match(_heading(text, start)) is not None
    return _Setting(_smooth(text[left:start]), after, " ".join(label.split()), begin, finish, aside)


@lru_cache(maxsize=4)
def _headings(text: str) -> tuple[list[int], list[str]]:
    """Where each heading or caption begins, and its words, in order."""
    found = sorted((m.start(1), m.group(1)) for pattern in (_CAPTION, _TITLE_LINE) for m in pattern.finditer(text))
    return [at for at, _ in found], [words for _, words in found]


def _heading(text: str, at: int) -> str:
    """The heading in force at `at`."""
    starts, titles = _headings(text)
    index = bisect_left(starts, at) - 1
    return titles[index] if index >= 0 else ""


def _caption(text: str, at: int) -> str:
    """The caption of the paragraph in which a value stands among the first words: "2. Duration. To 28 February"."""
    starts, titles = _headings(text)
    index = bisect_left(starts, at) - 1
    if index < 0 or at - starts[index] > 90:
        return ""
    between = text[starts[index] : at].removeprefix(titles[index])
    return titles[index] if between[:1] in (".", "?") and len(between.split()) <= 4 else ""


def _column_head(text: str, line: int, start: int) -> str:
    """The head of the column a table's cell stands in, where a line above has as many cells and no figures."""
    column = text.count("|", line, start)
    end = text.find("\n", start)
    width = text.count("|", line, len(text) if end < 0 else end)
    for _ in range(4):
        stop, line = line - 1, text.rfind("\n", 0, max(0, line - 1)) + 1
        above = text[line : max(line, stop)]
        if above.count("|") == width and not any(c.isdigit() for c in above):
            return " ".join(above.split("|")[column].split())
        if not above.strip() or line == 0:
            break
    return ""


def _smooth(words: str) -> str:
    """One line, with the full stops of figures and abbreviations gone, so that a full stop ends a sentence."""
    return _INNER_STOP.sub(",", _ABBREVIATED.sub(r"\1", " ".join(words.split())))


_ASKED = re.compile(r"^Q\.?\s?\d{1,2}\s*[.:)]\s*")


def _label_above(text: str, at: int) -> str:
    """The label of a value that stands on the line below it ("Principal Amount:" over "USD 254,000.00")."""
    above = text[max(0, at - 120) : at].rstrip(" \t*_|#\n\r")
    label = _ASKED.sub("", above.rsplit("\n", 1)[-1].strip(" \t*_|#"))
    return (
        label.rstrip(":").strip()
        if label.endswith((":", "?")) or (label and len(label.split()) <= 6 and label[-1].isalnum())
        else ""
    )


@lru_cache(maxsize=4)
def _breaks(text: str) -> list[tuple[int, int]]:
    return [(m.start(), m.end()) for m in _BREAK.finditer(text)]


def _capped(found: Iterable[_Found]) -> list[_Found]:
    """The first and last candidates of a very long text: what a loan is about stands at its beginning or its end."""
    every = list(found)
    return every if len(every) <= _MANY else every[: _MANY // 2] + every[-_MANY // 2 :]


Cues = tuple[tuple[re.Pattern[str], float], ...]


_CAPITAL = re.compile(r"(?<!\\)[A-ZÀ-Þ]")


def _cues(*entries: tuple[str, float]) -> Cues:
    return tuple(
        (re.compile(_CAPITAL.sub(lambda m: m.group().lower(), pattern)), weight) for pattern, weight in entries
    )


def _weigh(cues: Cues, words: str) -> tuple[float, str]:
    """The best positive weight plus all negative ones, and the words of the best cue."""
    best, label, minus = 0.0, "", 0.0
    words = words.lower()
    for pattern, weight in cues:
        found = pattern.search(words)
        if not found:
            continue
        if weight > best:
            best, label = weight, found.group().strip(" :,.(")
        elif weight < 0:
            minus += weight
    return best + minus, label


# --- numbers ---------------------------------------------------------------------------------------------------

_UNITS = {
    w: n
    for n, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    w: 10 * n for n, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "lakh": 100_000,
    "lakhs": 100_000,
    "million": 10**6,
    "crore": 10**7,
    "crores": 10**7,
    "billion": 10**9,
}
_NUMBER_WORD = "|".join(sorted((*_UNITS, *_TENS, *_SCALES, "forty"), key=lambda w: (-len(w), w)))
_NUMBER_WORDS = rf"(?:(?:a\s+)?(?:{_NUMBER_WORD}))(?:(?:\s{{1,20}}|-)(?:and\s{{1,20}})?(?:{_NUMBER_WORD})){{0,16}}"
_VULGAR = {
    "½": "0.5",
    "¼": "0.25",
    "¾": "0.75",
    "⅛": "0.125",
    "⅜": "0.375",
    "⅝": "0.625",
    "⅞": "0.875",
    "⅓": "0.3333",
    "⅔": "0.6667",
    "⅕": "0.2",
    "⅖": "0.4",
    "⅗": "0.6",
    "⅘": "0.8",
    "⅙": "0.1667",
    "⅚": "0.8333",
    "⅒": "0.1",
}
_FRACTION_WORDS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "thirds": 3,
    "quarter": 4,
    "quarters": 4,
    "fourth": 4,
    "fourths": 4,
    "fifth": 5,
    "fifths": 5,
    "eighth": 8,
    "eighths": 8,
    "tenth": 10,
    "tenths": 10,
    "sixteenth": 16,
    "sixteenths": 16,
    "hundredth": 100,
    "hundredths": 100,
    "thousandth": 1000,
    "thousandths": 1000,
}


def words_to_number(words: str) -> int | None:
    """The number that English words say: "two hundred seventy-five thousand" is 275000; None for other words."""
    total = current = 0
    seen = False
    for word in re.split(r"[\s-]+", words.lower().strip()):
        if word in ("and", "a", ""):
            continue
        if word in _UNITS:
            current += _UNITS[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _SCALES:
            total += (current or 1) * _SCALES[word]
            current = 0
        else:
            return None
        seen = True
    return total + current if seen else None


def parse_number(figures: str) -> Decimal | None:
    """A number as written in any country: "1,340,000.00", "18.500,00", "1'250'000", "12,50,000", "2 750 000"."""
    plain = re.sub(r"[\s\u00a0\u202f'’]", "", figures).rstrip(".,")
    if "." in plain and "," in plain:
        decimal = max(".", ",", key=plain.rfind)
        plain = plain.replace("," if decimal == "." else ".", "").replace(decimal, ".")
    elif "," in plain or "." in plain:
        mark = "," if "," in plain else "."
        head, *groups = plain.split(mark)
        if len(groups) > 1 or (len(groups[0]) == 3 and head != "0"):
            plain = "".join((head, *groups))
        else:
            plain = f"{head}.{groups[0]}"
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


# --- money -----------------------------------------------------------------------------------------------------

_SIGNS = {
    "US$": "USD", "U.S.$": "USD", "U.S. $": "USD", "US $": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "CDN$": "CAD", "NZ$": "NZD", "S$": "SGD", "HK$": "HKD", "R$": "BRL",
    "MX$": "MXN", "NT$": "TWD", "J$": "JMD", "$": "$", "£": "GBP", "€": "EUR", "¥": "¥", "₹": "INR", "Rs.": "Rs", "Rs": "Rs", "CHF": "CHF", "SFr.": "CHF", "Fr.": "CHF", "kr.": "kr", "kr": "kr",
    "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "₺": "TRY", "TL": "TRY", "KSh": "KES", "Ksh": "KES", "KShs": "KES", "KES": "KES", "₦": "NGN", "GH₵": "GHS", "₱": "PHP", "฿": "THB", "RM": "MYR", "Rp": "IDR", "₫": "VND", "₩": "KRW",
    "₪": "ILS", "NIS": "ILS", "RMB": "CNY", "Euro": "EUR", "Euros": "EUR", "euro": "EUR", "euros": "EUR", "₴": "UAH", "₽": "RUB", "TT$": "TTD", "EC$": "XCD", "Bds$": "BBD", "B$": "BSD", "G$": "GYD", "BZ$": "BZD", "FJ$": "FJD", "N$": "NAD", "USh": "UGX", "UShs": "UGX", "TSh": "TZS", "TShs": "TZS", "S/": "PEN", "QR": "QAR", "SR": "SAR", "Tk": "BDT", "Dh": "AED", "R": "ZAR", "Pula": "BWP",
}  # fmt: skip
_CODES = [
    "USD",
    "EUR",
    "GBP",
    "CHF",
    "JPY",
    "CNY",
    "INR",
    "AUD",
    "CAD",
    "NZD",
    "SGD",
    "HKD",
    "SEK",
    "NOK",
    "DKK",
    "ISK",
    "PLN",
    "CZK",
    "HUF",
    "RON",
    "BGN",
    "TRY",
    "ZAR",
    "KES",
    "NGN",
    "GHS",
    "UGX",
    "TZS",
    "RWF",
    "MXN",
    "BRL",
    "ARS",
    "CLP",
    "COP",
    "PEN",
    "PHP",
    "THB",
    "MYR",
    "IDR",
    "VND",
    "KRW",
    "TWD",
    "ILS",
    "AED",
    "SAR",
    "QAR",
    "KWD",
    "BHD",
    "OMR",
    "EGP",
    "MAD",
    "PKR",
    "LKR",
    "BDT",
    "NPR",
    "MUR",
    "BWP",
    "NAD",
    "ZMW",
    "JMD",
    "TTD",
    "XOF",
    "XAF",
    "UAH",
    "RUB",
    "KZT",
    "GEL",
    "RSD",
    "MKD",
    "ALL",
    "BAM",
    "JOD",
    "LBP",
    "XCD",
    "BBD",
    "BSD",
    "BZD",
    "GYD",
    "FJD",
    "PYG",
    "GTQ",
    "UYU",
    "BOB",
    "AZN",
    "AMD",
    "ETB",
    "TND",
    "DZD",
    "MVR",
    "SCR",
    "MZN",
    "AOA",
    "MWK",
    *(
        "MDL",
        "PGK",
        "AFN",
        "AWG",
        "BIF",
        "BMD",
        "BND",
        "BTN",
        "BYN",
        "CDF",
        "CRC",
        "CVE",
        "DJF",
        "DOP",
        "FKP",
        "GIP",
        "GMD",
        "GNF",
        "HNL",
        "HTG",
        "IQD",
        "KGS",
    ),
    *(
        "KHR",
        "KMF",
        "KYD",
        "LAK",
        "LRD",
        "LSL",
        "LYD",
        "MGA",
        "MMK",
        "MNT",
        "MRU",
        "NIO",
        "PAB",
        "SBD",
        "SDG",
        "SLE",
        "SRD",
        "SSP",
        "SZL",
        "TJS",
        "TMT",
        "UZS",
        "VES",
        "VUV",
        "WST",
        "XPF",
        "YER",
        "ZWG",
    ),
]
_WORD_CURRENCIES: tuple[tuple[str, str], ...] = (
    (r"(?:US|U\.S\.|United\s+States|American)\s+dollars?", "USD"), (r"Canadian\s+dollars?", "CAD"), (r"Australian\s+dollars?", "AUD"), (r"New\s+Zealand\s+dollars?", "NZD"),
    (r"Singapore\s+dollars?", "SGD"), (r"Hong\s+Kong\s+dollars?", "HKD"), (r"dollars?", "$"), (r"pounds?\s+sterling", "GBP"), (r"pounds?", "GBP"), (r"sterling", "GBP"), (r"euros?", "EUR"),
    (r"Swiss\s+francs?", "CHF"), (r"(?:Japanese\s+)?yen", "JPY"), (r"(?:Indian\s+)?rupees?", "Rs"), (r"Swedish\s+(?:kronor|krona)", "SEK"), (r"Norwegian\s+kroner?", "NOK"), (r"Danish\s+kroner?", "DKK"), (r"kron(?:or|er|a|e)|krónur", "kr"),
    (r"złotych|zloty(?:s|ch)?", "PLN"), (r"(?:South\s+African\s+)?rand", "ZAR"), (r"Kenya\s+shillings|(?:Kenyan?\s+)?shillings?", "KES"), (r"naira", "NGN"), (r"reais|real", "BRL"), (r"(?:Mexican\s+)?pesos?", "MXN"), (r"ringgit", "MYR"), (r"baht", "THB"),
    (r"yuan|renminbi", "CNY"), (r"won", "KRW"), (r"dirhams?", "AED"), (r"cedis?", "GHS"), (r"kina", "PGK"), (r"Jordanian\s+dinars?", "JOD"), (r"Kuwaiti\s+dinars?", "KWD"), (r"Bahraini\s+dinars?", "BHD"), (r"Tunisian\s+dinars?", "TND"),
    (r"Algerian\s+dinars?", "DZD"), (r"Serbian\s+dinars?", "RSD"), (r"Philippine\s+pesos?", "PHP"), (r"Moldovan\s+lei", "MDL"), (r"(?:Romanian\s+)?lei", "RON"), (r"forints?", "HUF"), (r"hryvnias?", "UAH"), (r"lari", "GEL"), (r"pula", "BWP"), (r"kwacha", "ZMW"), (r"riyals?", "SAR"), (r"taka", "BDT"),
)  # fmt: skip
_FIGURES = r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d{1,3}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?(?!\d)|\d{1,12}(?:[.,]\d{1,3})?(?!\d)"
_SCALE = r"(?:\s?(?P<{0}>millions?|mio\.?|mln|mn|m(?![\w²])|billions?|bn|thousands?|k(?!\w)|lakhs?|lacs?|crores?))?"
_SIGN = "|".join(re.escape(s) for s in sorted((*_SIGNS, *_CODES), key=lambda s: (-len(s), s)))
_NAIRA = r"N(?=\d{1,3}(?:,\d{3})+)"  # too common a letter to be a sign unless grouped figures follow
_WORD = "|".join(f"(?:{pattern})" for pattern, _ in _WORD_CURRENCIES)
_MONEY = re.compile(
    rf"(?<![\w$€£])(?P<sign>{_SIGN}|{_NAIRA})(?:[ \u00a0]|\r?\n)?(?P<figures>{_FIGURES})"
    + _SCALE.format("scale")
    + r"(?!\d)"
    rf"|(?<![\w$€£.,])(?P<figures2>{_FIGURES})"
    + _SCALE.format("scale2")
    + rf"[ \u00a0]?(?P<sign2>(?:{_SIGN})(?!\w)|(?i:{_WORD})(?!\w))"
)
_SPELLED = re.compile(
    rf"\b(?P<words>{_NUMBER_WORDS})(?:[\s,]+(?:and\s+)?(?:no|\d{{1,2}}|[xX]{{2}})/100)?(?:\s+(?:and\s+)?(?:no|zero)\s+cents)?\s+(?P<currency>{_WORD})\b",
    re.IGNORECASE,
)
_MULTIPLIERS = {"m": 10**6, "b": 10**9, "t": 1000, "k": 1000, "l": 10**5, "c": 10**7}
_AMERICAN = re.compile(
    r"United States|U\.S\.|\bUSA\b|\bUS (?:dollar|citizen|bank)|Delaware|New York|California|Texas|Florida|Illinois|Nevada|\b[A-Z]{2} \d{5}\b"
)
_COUNTRY_DOLLARS: tuple[tuple[str, str], ...] = (
    (r"Canadian|Canada|Ontario|Qu[ée]bec|British Columbia|Alberta|Manitoba|Nova Scotia|Saskatchewan|New Brunswick|Newfoundland|Winnipeg|Toronto|Vancouver|Calgary|Montr[ée]al", "CAD"),
    (r"Australia|Queensland|New South Wales|Pty|\bA[BC]N\b|Tasmania", "AUD"),
    (r"New Zealand|Auckland|Aotearoa", "NZD"),
    (r"Singapore|\bPte\b", "SGD"),
    (r"Hong Kong|Kowloon", "HKD"),
)  # fmt: skip


@lru_cache(maxsize=8)
def _local_currencies(text: str) -> dict[str, str]:
    """What $, kr, Rs and ¥ mean in this document, by the other signs, countries and currencies it names."""
    explicit = {
        code
        for sign, code in _SIGNS.items()
        if len(sign) > 1 and sign.endswith("$") and re.search(rf"(?<!\w){re.escape(sign)}\s?\d", text)
    }
    explicit |= {code for code in ("CAD", "AUD", "NZD", "SGD", "HKD", "USD") if re.search(rf"\b{code}\b", text)}
    explicit -= {"BRL", "TWD", "MXN"}
    dollar = next(iter(explicit)) if len(explicit) == 1 else ""
    if not dollar:
        counts = [(len(re.findall(pattern, text)), code) for pattern, code in _COUNTRY_DOLLARS]
        best = max(counts, key=lambda c: c[0])
        dollar = best[1] if best[0] > len(_AMERICAN.findall(text)) else ""
    crowns = [
        (len(re.findall(p, text)), c)
        for p, c in (
            (r"Swed|Stockholm|\bAB\b|SEK|Göteborg", "SEK"),
            (r"Norw|Norge|Oslo|NOK|Bergen|\bASA?\b", "NOK"),
            (r"Danish|Denmark|Danmark|DKK|Aarhus|\bApS\b|A/S", "DKK"),
            (r"Iceland|Ísland|ISK|Reykjavík|hf\.", "ISK"),
            (r"Czech|Prague|Praha|CZK", "CZK"),
        )
    ]
    rupee = (
        "PKR"
        if re.search(r"Pakistan|Karachi|Lahore", text)
        else "LKR"
        if re.search(r"Sri Lanka|Colombo", text)
        else "NPR"
        if "Nepal" in text
        else "MUR"
        if "Mauriti" in text
        else "INR"
    )
    return {
        "$": dollar or "USD",
        "kr": max(crowns, key=lambda c: c[0])[1],
        "Rs": rupee,
        "¥": "CNY" if re.search(r"China|RMB|Renminbi|Shanghai|Beijing", text) else "JPY",
    }


@dataclass(frozen=True, slots=True)
class _Money:
    amount: Decimal
    currency: str
    start: int
    end: int


def _moneys(text: str) -> Iterator[_Money]:
    """Every amount of money; one in words takes the currency that the same amount has by its code."""
    found = list(_stated(text))
    coded = {m.amount: m.currency for m in found if text.startswith(m.currency, m.start)}
    for money in found:
        code = coded.get(money.amount, money.currency)
        yield replace(money, currency=code) if text[money.start].isalpha() else money


def _stated(text: str) -> Iterator[_Money]:
    local = _local_currencies(text)
    for match in _MONEY.finditer(text):
        sign = match["sign"] or match["sign2"]
        value = parse_number(match["figures"] or match["figures2"])
        scale = (match["scale"] or match["scale2"] or " ").strip().lower()[:1]
        if value is None:
            continue
        currency = (
            "NGN"
            if sign == "N"
            else _SIGNS.get(sign)
            or (
                sign
                if sign in _CODES
                else next((c for p, c in _WORD_CURRENCIES if re.fullmatch(p, sign, re.IGNORECASE)), sign)
            )
        )
        yield _Money(value * _MULTIPLIERS.get(scale, 1), local.get(currency, currency), match.start(), match.end())
    for match in _SPELLED.finditer(text):
        number = words_to_number(match["words"])
        code = next(
            (c for p, c in _WORD_CURRENCIES if re.fullmatch(p, " ".join(match["currency"].split()), re.IGNORECASE)), "$"
        )
        if number and number >= 100:
            yield _Money(Decimal(number), local.get(code, code), match.start(), match.end())


_PRINCIPAL_LABEL = _cues(
    (
        r"\bprincipal\b|\bloan amount|\bamount of (?:the )?(?:loan|credit|advance|facility)|\bnet loan|\bamount (?:financed|borrowed|lent|advanced|of loan)|\bsum (?:advanced|lent|borrowed)|\bcapital (?:amount|sum|lent|borrowed)|\bamount and currency|\bloan sum|\bface (?:amount|value)|\bamount of (?:the )?note|\bnominal (?:amount|loan)|\bamount applied",
        11.0,
    ),
    (
        r"\bcredit (?:limit|line|amount)|\bfacility (?:amount|limit|size)?|\b(?:total )?commitments?\b|\bline of credit|\blimit\b|\bmaximum (?:credit|amount|advance)|\badvance\b|\bloan\b|\boriginal amount|\bsanctioned|\bfinance amount",
        9.0,
    ),
    (
        r"^(?:the )?(?:amount|sum|credit|capital|total amount|maximum|how much|what (?:am|are|do|did) (?:i|we|you) (?:borrow|lend|get)\w*)\b|\bat your disposal",
        8.0,
    ),
    (
        r"\bfees?\b|\bcharges?\b|\bpayments?\b|\binstal?l?ments?|\bpremium|\bprice\b|\bdeposit|\bcosts?\b|\btotal of|\btotal (?:amount )?(?:payable|repayable|to pay)|\binterest\b|\bfinance charge|\bdown|\bvalue\b|\bincome|\binsur|\btax|\bpenalt|\bminimum|\bthreshold|\brent\b|\brepayments?\b|\bbalance\b|\bnumber\b|\bpaid\b|\brebate|\bsub-?limit|\bswing|\boverdraft\b|\bdisburse|\bforg[ai]v",
        -12.0,
    ),
)
_PRINCIPAL_BEFORE = _cues(
    (
        r"\bfinances?\b[^.;]{0,80}\bup to\W*$|\bat the disposal of\b[^.;]{0,80}\b(?:maximum|amount|sum|total)? ?of\W*$",
        7.5,
    ),
    (r"\b(?:loan|facility|credit) of (?:19|20)\d\d\b[^.;]{0,30}$", -9.0),
    (r"\b(?:house bank|senior (?:bank|lender|creditor))\b[^.;]{0,140}$", -6.0),
    (
        r"\b(?:aggregate|outstanding|balance|total|advances)\b[^.;]{0,80}\bnot (?:to |at any time )?exceed(?:ing)?\W*$",
        10.0,
    ),
    (r"\bprincipal\W*(?:[a-z -]+\W*\(\W*)?$", 9.0),
    (r"\b(?:delivers?|hands?)\b[^.;]{0,100}$", 3.5),
    (r"\bstays? within\W*$", 7.0),
    (
        r"\b(?:disclosed|told us|declared|informed|pa(?:y|ys|id|ying) off|refinanc\w*|another|separate|earlier|replac\w*)\b[^.;]{0,80}$",
        -8.0,
    ),
    (r"\b(?:reduced?|reduces|falls?|decreases?)\b[^.;]{0,50}\bby\W*$", -9.0),
    (r"\blimit\b[^.;]{0,20}\b(?:is|of|stands at|at)\W*$", 8.0),
    (r"\ba sum of\W*$", 4.5),
    (r"\b(?:line of credit|credit line|limit)\b[^.;]{0,25}\bgoes (?:up )?to\W*$", 8.0),
    (r"\bcommits?\W*(?:to lend|to advance)?\W*$", 8.0),
    (r"\b(?:note|loan|bond)\b[^.;]{0,40}\bis for\W*$", 8.0),
    (
        r"\b(?:you|i|he|she|they|we) had (?:an? |taken )[^.;]{0,40}$|\b(?:my|his|her|your) (?:brother|sister|father|mother|parents?|son|daughter|friend|spouse|husband|wife)\b[^.;]{0,40}$",
        -9.0,
    ),
    (r"\b(?:filed|registered|recorded) (?:for|in)\b[^.;]{0,60}$", -8.0),
    (
        r"\b(?:senior|subordinated|public|unsecured) (?:\w+ ){0,3}?notes\b[^.;]{0,140}$|\b(?:notes|bonds|debentures) due\b[^.;]{0,120}$",
        -12.0,
    ),
    (
        r"\b(?:loan|credit|facility|advance|note|mortgage|overdraft|line)\b(?:\s+(?:facility|is|are|of|for|to|at|up|in|the|a|an|amounts?|sum|maximum|limit|limited|being|will|shall|be|you|us|have|taken|granted|hereby|total|totals|totalling))*\W*$",
        7.5,
    ),
    (
        r"\b(?:borrowing|asked (?:us )?for|applied for|apply for|receives?|get|use up to|spend up to|draw up to|draw|stays? (?:within|below|under)|within|reach(?:es)?|rise to|rise above|goes? (?:over|above|past|to)|top out at|ceiling (?:of|is))\W*$",
        6.0,
    ),
    (r"\bmost (?:that|you|which)\b[^.;]{0,70}\bis\W*(?:[a-z -]+\(\W*)?$", 7.5),
    (r"\b(?:indebtedness|debt|capital)\b[^.;]{0,40}\b(?:is|of|amounts? to)\W*$", 5.5),
    (r"\bcounted out and paid\b[^.;]{0,160}$|\backnowledges? receipt\b[^.;]{0,80}$", 6.5),
    (r"^\W*(?:we (?:will|shall|can) )?(?:pay|lend|send|transfer|advance|give)\s+(?:you\s+)?\W*$", 5.0),
    (r"\b(?:place|places|put|puts|keep|keeps|make|makes|holds?|set(?:s)? aside)\b[^.;]{0,90}$", 3.0),
    (
        r"\b(?:shall|must|may|will) be (?:in |for )?(?:an? |each )*(?:aggregate |minimum |principal )*(?:amounts? )?(?:of|not less than|at least)?\W*$",
        -8.0,
    ),
    (r"\bprincipal amount of each\b[^.;]{0,60}$|\bminimum\b[^.;]{0,30}$", -8.0),
    (r"\bsum of\b[^.;]{0,130}\(\W*$", 8.0),
    (r"\bowes?\b[^.;]{0,120}\bsum of\W*$", 8.0),
    (r"\bup to\W*$", 3.0),
    (r"\bprincipal\s+(?:amount|sum)?[^.]{0,50}?(?:of|is|:|exceed(?:ing)?|to)?\W*$", 9.0),
    (r"\b(?:aggregate |total )?commitments?\b[^.;]{0,70}?(?:means|is|are|of|total(?:s|ling)?|amounts? to|to)\W*$", 9.0),
    (r"\b(?:facility|loan) (?:amount|limit)\W{0,3}\s(?:means|shall mean)\s*$", 9.0),
    (r"\bcredit (?:limit|line)\b[^.;]{0,60}\W*$", 8.5),
    (
        r"\b(?:term |bridge |bridging |personal |business |mortgage |student |home |auto |car |secured |unsecured |green |single |private |family )?(?:loan|credit|facility|advance|overdraft|mortgage|line of credit)\s+(?:facility\s+)?(?:in the (?:amount|sum)\s+|for\s+|up to\s+|to a maximum\s+)*(?:of|for|to|at|is)?\W*$",
        8.0,
    ),
    (r"\b(?:promises?|undertakes?|agrees?|covenants?)\s+to\s+(?:re)?pay\b[^.;]{0,260}$", 7.0),
    (r"\b(?:lend|lends|lent|loaned|lending|advances?|advanced|borrows?|borrowed|borrowing)\b[^.;]{0,140}$", 6.5),
    (
        r"\b(?:make|makes|made|making)\s+available\b[^.;]{0,140}$|\bgrants?\b[^.;]{0,80}(?:loan|credit|facility)[^.;]{0,80}$|\breceived\b[^.;]{0,80}$",
        6.5,
    ),
    (
        r"\b(?:the )?(?:amount|sum)\s+(?:lent|borrowed|advanced|of the (?:loan|credit|advance))?[^.;]{0,20}\bis\W*$|^\W*(?:the )?amount is\W*$",
        7.5,
    ),
    (r"\bloans?\b[^.;]{0,120}\b(?:up to|exceed(?:ing)?|maximum of|limit of|of|sum of|amount of)\W*$", 6.5),
    (
        r"\b(?:draw|drawn|outstanding|owe|owing|debit|balance)\b[^.;]{0,90}\b(?:more than|up to|exceed(?:ing)?|limit of|maximum of)\W*$",
        5.5,
    ),
    (r"\b(?:the sum of|a total of|in the amount of|the amount of)\W*$", 4.5),
    (r"\bwe (?:credit|paid|pay|transfer(?:red)?)\W*$", 5.0),
    (r"\bcommitment\b[^.;]{0,60}$", 4.5),
    (r"\bbears interest\b", -1.0),
    (r"\bfees?\b[^.;]{0,60}$|\bfee\b[^,;]{0,80}(?:of|is)\W*$", -9.0),
    (r"\b(?:instal?l?ments?|payments?|repayments?)\b[^,;]{0,50}$", -8.0),
    (
        r"\b(?:charge|penalty|premium|costs?|expenses?|fine|deductible|rent|salary|income|tax(?:es)?|deposit|price|rebate|refund|worth|revenue|turnover|EBITDA|valued|appraised|insur\w+)\b(?:(?!, up to)[^.;]){0,50}$",
        -8.0,
    ),
    (
        r"\b(?:at least|not less than|less than|minimum(?: of)?|multiples? of|increments? of|in excess of|greater of|lesser of|threshold(?: of)?|above|below|each|every)\W*(?:\(\w\)\s*)?$",
        -7.0,
    ),
    (r"\b(?:exceeds?|exceeding|more than|over)\W*$", -3.0),
    (
        r"\b(?:sub-?limit|swing ?line|letters? of credit|existing|previous|prior|former|other|judgments?|owed to|(?<!limited )liabilit\w+|claims?|loss(?:es)?|reserve|dispos(?:e|es|ed|ing|ition)\b|indebtedness(?! created| evidenced| hereunder)|capital expenditures?)\b[^.;]{0,90}$",
        -6.0,
    ),
    (r"\b(?:guarantee|guaranty|guarantor)\b[^.;]{0,60}$", -4.0),
    (r"\b(?:default|judgment|damages|late)\b[^.;]{0,60}$", -5.0),
    (r"\b(?:increase[ds]?|increasing)\b[^.;]{0,30}\bby\W*$", -5.0),
)
_PRINCIPAL_AFTER = _cues(
    (r"^[^.;]{0,60}\boutstanding at any (?:one )?time\b", 5.5),
    (r"^[^.]{0,80}\bnot (?:a )?part of\b", -9.0),
    (r"^[^.;]{0,40}\bissued (?:pursuant to|under) (?:the|an) indenture\b", -12.0),
    (
        r"^[^.;]{0,40}\b(?:which|that) (?:ran out|ended|expired|was repaid)\b|^[^.;]{0,40}\b(?:is|are) (?:forgiven|restored)\b",
        -9.0,
    ),
    (
        r"^[^.;]{0,25}\b(?:paid|lent|advanced|sent|delivered|remitted) (?:in|as|by) one (?:amount|sum|act|transfer|payment|go)\b|^[^.;]{0,12}\bone (?:bank )?transfer\b",
        6.0,
    ),
    (r"^\W*(?:in|as a|by way of|on) loan\b", 6.5),
    (r"^\W*of principal\b", 7.0),
    (
        r"^[^.;]{0,60}\b(?:is|was|were|are|be) (?:to be )?(?:paid off|repaid|refinanced|discharged|redeemed|settled|closed|cleared)\b",
        -8.0,
    ),
    (r"^\W*in \w+ (?:equal )?steps\b", -8.0),
    (
        r"^\W*(?:in total\s+)?(?:is |are |be |has been |hereby )*(?:made )?(?:available\b|at (?:the |your |its |his |her )?(?:free )?disposal|at the disposal)",
        7.0,
    ),
    (
        r"^\W*(?:as a loan|from us\b|of principal\b|as an advance|goes (?:in)?to (?:the|your) account|into (?:the|your) account|to (?:the|your) account|as a single|in one go|will be (?:lent|paid out|advanced))",
        5.5,
    ),
    (r"^[^.;]{0,40}\bwe are (?:happy|glad|pleased|willing) to lend\b", 7.0),
    (r"^[^.;]{0,25}\bthat is all we (?:will|can) (?:ever )?lend\b", 6.0),
    (
        r"^\W*(?:to \w+ )?to cover\b|^\W*(?:or (?:any |a )?(?:larger|integral|whole)|and (?:in )?(?:integral|larger)|\(or (?:a|any))",
        -7.0,
    ),
    (r"^[^.;]{0,30}\b(?:integral )?multiples?\b", -6.0),
    (r"^\W*at (?:any )?one time\b|^\W*in all\b", 3.0),
    (r"^\W*(?:is )?(?:to|for) (?:redeem|refinance|repay|pay off|clear|the price|working capital|be paid to)\b", -3.0),
    (
        r"^\W{0,4}(?:\(?(?:the|this|this amount is called|such amount)?\W*(?:principal|loan|commitment|facility|credit limit|advance|note|line of credit|maximum)\b)",
        6.0,
    ),
    (
        r"^\W{0,3}(?:term |revolving |secured |unsecured |senior |bridge |personal |commercial )*(?:loan|credit facility|facility|line of credit|revolving|advance)\b",
        6.0,
    ),
    (r"^[^.;]{0,60}\bin (?:one|a single) (?:advance|payment|drawdown|drawing|sum|draw|instal)", 5.0),
    (
        r"^\W*(?:or so much thereof|together with interest|plus interest|with interest|lent|at any (?:one )?time outstanding)",
        5.5,
    ),
    (
        r"^\W*(?:per|a|each|every|an)\s+(?:month|week|day|year|annum|quarter|hour|share|payment|instal|unit)|^\W*(?:each|monthly|weekly|apiece)\b",
        -10.0,
    ),
    (r"^\W*(?:or more|or less|or greater|deductible|fee|charge|in fees)\b", -7.0),
)


def find_principals(document: Document) -> list[Principal]:
    """The amounts that `document` marks as lent or as the limit of its credit, best first."""
    text = document.text
    breaks = _breaks(text)
    moneys = _capped(_moneys(text))
    counts: dict[tuple[Decimal, str], int] = {}
    for money in moneys:
        counts[money.amount, money.currency] = counts.get((money.amount, money.currency), 0) + 1
    found: list[Principal] = []
    for money in moneys:
        if money.amount < 50 or text[max(0, money.start - 1) : money.start] == "/":
            continue
        setting = _setting(text, money.start, money.end, breaks)
        score, label = _principal_score(text, money, setting)
        if score < _THRESHOLD:
            continue
        score += min(3, counts[money.amount, money.currency] - 1) * 0.6 - money.start / max(1, len(text))
        found.append(
            Principal(
                money.amount, money.currency, label, setting.start, setting.end, money.start, money.end, round(score, 4)
            )
        )
    if found:
        largest = max(p.amount for p in found)
        found = [_plus(p, 1.0) if p.amount == largest else p for p in found]
    return sorted(found, key=lambda p: (-p.score, p.value_start))


def _plus(principal: Principal, bonus: float) -> Principal:
    p = principal
    return Principal(p.amount, p.currency, p.label, p.start, p.end, p.value_start, p.value_end, p.score + bonus)


_HELD_ELSEWHERE = re.compile(r"\W*(?:owed |held |outstanding )?(?:with|at)\s+[A-ZÀ-Þ]")


def _principal_score(text: str, money: _Money, setting: _Setting) -> tuple[float, str]:
    options: list[tuple[float, str]] = []
    after, after_label = _weigh(_PRINCIPAL_AFTER, setting.after)
    if setting.label:
        row, label = _weigh(_PRINCIPAL_LABEL, setting.label)
        if row != 0:
            options.append((row + min(after, 0.0), setting.label if label else ""))
    before, label = _weigh(_PRINCIPAL_BEFORE, setting.before[-300:])
    if _HELD_ELSEWHERE.match(setting.after):
        after -= 7.0
    if setting.aside:
        after -= 8.0
    both = max(before, after) + (0.4 * min(before, after) if min(before, after) > 0 else min(before, after))
    options.append((both, label if before >= after else after_label))
    best = options[0] if options[0][0] < 0 else max(options)
    if _alone(text, money) and money.start < 2500 and best[0] >= 0:
        best = max(best, (9.0 if money.start < 800 else 6.5, "heading"))
    return best


_STACKED = re.compile(r"(?:^|\n)[ \t]*[$€£]?[\d,.]{3,}[ \t]*%?[ \t]*\n\s*\Z")
_STACK = re.compile(r"[ \t]*\n\s*[$€£][\d,.]{3,}[ \t]*\n")


def _alone(text: str, money: _Money) -> bool:
    """Whether an amount stands at the beginning of its line and all but alone: a note's heading."""
    line_start = text.rfind("\n", 0, money.start) + 1
    line_end = text.find("\n", money.end)
    rest = text[money.end : len(text) if line_end < 0 else line_end]
    if _STACKED.search(text[max(0, line_start - 40) : line_start]) or _STACK.match(text, money.end):
        return False  # a column of figures whose labels stand elsewhere
    return not text[line_start : money.start].strip(" *#_|") and (
        not rest.strip(" *_|") or rest.startswith("   ") or bool(re.match(r"\s+[A-Z][\w., ]+\d{4}\s*$", rest))
    )


# --- rates -----------------------------------------------------------------------------------------------------

_PERCENT = re.compile(
    r"(?<![\w.,])(?P<whole>\d{1,3}(?:[.,]\d{1,5})?)?(?:[ -]?(?P<vulgar>[½¼¾⅛⅜⅝⅞⅓⅔⅕⅖⅗⅘⅙⅚⅒])|(?:[ -](?:and )?(?P<top>\d{1,2})/(?P<bottom>\d{1,3})(?:ths?)?))?\s?(?:%|per[ \n-]?cent(?:um)?\b|percent\b|pct\b|p\.c\.)",
    re.IGNORECASE,
)
_PERCENT_WORDS = re.compile(
    rf"\b(?P<words>{_NUMBER_WORDS})(?:\s+point\s+(?P<point>(?:(?:{_NUMBER_WORD}|oh)[\s-]*)+?))?(?:\s+and\s+(?:(?P<top>a|an|{_NUMBER_WORD})[\s-]+)?(?P<bottom>{'|'.join(sorted(_FRACTION_WORDS, key=lambda w: (-len(w), w)))}))?(?:\s+of\s+one)?\s*(?:%|per[ \n-]?cent(?:um)?\b|percent\b)",
    re.IGNORECASE,
)
_INDEX = r"(?:benchmark|prime(?: lending)? rate|\bprime\b|SOFR|LIBOR|EURIBOR|SONIA|BBSW|BBSY|BKBM|TIBOR|TONAR|STIBOR|NIBOR|CIBOR|WIBOR|PRIBOR|JIBAR|SORA|SARON|€STR|ESTR|HIBOR|MCLR|repo rate|CORRA|base rate|base lending rate|bank rate|reference rate|treasury (?:rate|yield|bill)|federal funds|index rate|the index\b|TIIE|\bCDI\b|Selic|KIBOR|EIBOR|SAIBOR|MIBOR|SIBOR|BUBOR|ROBOR|TELBOR|TLREF|KLIBOR|BIBOR|JIBOR|repo[- ]linked|lending rate|discount rate|cash rate|policy rate|key rate|central bank(?:['’]s)? rate|eurodollar rate|euro-dollar|adjusted term|alternate base|T-bill|standard variable)"
_VARIABLE = re.compile(
    rf"\b(?:variable|floating|adjustable)(?:[- ](?:rate|interest))|\b(?:rate|interest|APR)\b[^.;]{{0,60}}\b(?:var(?:y|ies)|floats?|adjusts?|may (?:change|go up|increase)|will (?:vary|change)|can (?:change|move)|is (?:variable|not fixed|floating))\b|{_INDEX}[^.;]{{0,90}}\b(?:plus|margin)\b|\b(?:above|over|plus|below)\s+(?:the\s+)?(?:[\w'’]+\s+){{0,5}}?{_INDEX}|\b(?:margin|applicable rate)\b[^.;]{{0,60}}\b(?:over|above|plus|aggregate)\b|\b(?:aggregate|sum) of\b[^.;]{{0,60}}\bmargin\b|\brate equal to\b[^.;]{{0,60}}{_INDEX}|\bbears? interest at\b[^.;]{{0,60}}{_INDEX}|\b(?:rate|interest)\b[^.;\n]{{0,30}}\blinked\b[^;\n]{{0,60}}\bfloating\b|{_INDEX}[^;\n]{{0,40}}\s\+\s?\d|{_INDEX}[^.;\n]{{0,30}}\b(?:less|minus|m[aá]s|today|currently|at present|presently|now standing)\b[^.;\n]{{0,30}}\d|\bpercentage points? (?:higher|lower|more|less) than\b[^.;]{{0,40}}{_INDEX}|\d ?(?:%|per cent)[^.;\n]{{0,25}}[(,]\s*(?:variable|floating)\b",
    re.IGNORECASE,
)
_HINT = re.compile(
    rf"\b(?:variable|floating|adjustable|var(?:y|ies)|floats?|adjusts?|change|move|margin)\b|{_INDEX}", re.IGNORECASE
)
_REGARDLESS = re.compile(
    r"before and after|both before|also after any default|no default rate|not charge a default", re.IGNORECASE
)
_LATE = re.compile(r"\b(?:payments?|instal\w+|you|they|amounts?) (?:are|is|were) (?:late|overdue)\b", re.IGNORECASE)
_DEFAULTING = re.compile(
    r"\b(?:(?:payments?|you|they|instal\w+) (?:are|is) late|default|overdue|late|past[- ]due|delinquen\w*|arrears|unpaid when due|not paid when due|post-maturity|unpaid (?:sums?|instal\w+)|sums? (?:unpaid|not paid)|damages for|in lieu of the interest|until cured|if .{0,30}not paid|after maturity|penalty|late[- ]payment|dishonou?red|additional interest|misses|missed)\b",
    re.IGNORECASE,
)
_RATE_LABEL = _cues(
    (
        r"\b(?:interest|borrowing|contract|nominal|lending|fixed|loan|note|yearly|simple|coupon|debit)\s*(?:rate|interest)?\b.*|(?<!advance )\brate\b|\binterest\b|\bcoupon\b|\bprice\b|\bwhat do (?:you|we) (?:charge|pay for it)\b|\bwhat (?:does it|will it) cost\b|"
        r"\b(?:funding|discount|finance|financing|credit|borrowing|profit) (?:charge|cost|rate)",
        11.0,
    ),
    (r"\bAPRC?\b|\bannual percentage|\beffective|\brepresentative|\bTAEG|\bcomparison", -5.5),
    (
        r"\bfees?\b|(?<!funding )(?<!discount )(?<!finance )(?<!financing )(?<!credit )(?<!interest )(?<!you )\bcharges?\b|\bdefault|\blate\b|\boverdue|\bpenalt|\bpremium|\bLTV|\bloan.to.value|\bdeposit|\bmargin\b|\btax|\bshare\b|\bguarantee|"
        r"\bprepay|\bearly|\badvance rate|\bpenal\b|\bcommission",
        -12.0,
    ),
)
_RATE_BEFORE = _cues(
    (r"\bon what (?:I|we|you|is|remains|he|she|it)\b[^.;]{0,60}$", 5.0),
    (r"\b(?:contract|agreed|applicable) rate (?:of interest )?(?:is|of|:)\W*$", 16.0),
    (r"\b(?:per|a|each|every) month\b[^.;]{0,50}\b(?:being|that is|i\.?e\.?|or|equal to|equivalent to)\W*$", 9.0),
    (r"\b(?:price|cost)\b[^.;]{0,30}\bis\W*$", 6.5),
    (r"\bannual\s+percentage\b[^.;]{60,240}$", -4.5),
    (r"\bundivided\b[^.;]{0,20}$", -9.0),
    (
        r"\b(?:bears?|bearing|carr(?:y|ies)|accrues?|accruing|with|pays?|plus|add|together with)\s+(?:simple\s+|annual\s+|compound\s+|monthly\s+|fixed\s+)*interest\b[^.;]{0,120}$",
        8.0,
    ),
    (r"\binterest\b[^.;]{0,130}\b(?:at|of|is|be|by|rate|equal to|runs at|amounts to|charged)\b[^.;]{0,60}$", 8.0),
    (
        r"\b(?:interest|fixed|yearly|annual|contract|nominal|borrowing)\s+rate\b[^.;]{0,60}$|\brate\s+(?:of\s+interest\s+)?(?:of|is|at|:|,|shall be|will be)?\W*$",
        8.0,
    ),
    (r"\brate\b[^.;]{0,50}$", 6.0),
    (r"^\W*(?:interest|rate)\W*$|\binterest\b[^.;]{0,15}$", 7.5),
    (r"\bcosts?\b[^.;]{0,40}$", 1.5),
    (r"\b(?:discount|finance|funding|profit) (?:charge|rate|cost)\b[^.;]{0,20}$", 8.0),
    (r"\b(?:APRC?|annual percentage rate|effective (?:annual )?rate|annual rate of charge)\b[^.;]{0,60}$", -4.5),
    (
        r"\b(?:fees?|premium|commission|discount(?! charge| rate| interest)|tax|VAT|GST|deposit|ratio|margin of|equity|shares?|ownership|purchase price|value|worth|limit|haircut|advance rate|minimum payment|down ?payment|guarantee|surcharge|rebate|points)\b[^,;]{0,60}$",
        -9.0,
    ),
    (
        r"\b(?:plus|over|above|exceed(?:s|ing)?|more than|less than|at least|not less than|greater of|lesser of|increased? by|additional|further|extra|minimum|below|cap(?:ped)? at|maximum)\W*(?:\w+\W+){0,2}$",
        -7.0,
    ),
)
_RATE_AFTER = _cues(
    (
        r"^[^.;]{0,40}\b(?:in the case of|for|on) (?:an? |the |any )?(?:ABR|base rate|alternate base|eurodollar|euro-?dollar|euro rate|libor|sofr|prime rate|swing ?line|letters? of credit|term benchmark|floating rate)\b",
        -12.0,
    ),
    (
        r"^[^.;]{0,30}\bis (?:our|the|an?|only)\b[^.;]{0,20}\b(?:advertised|reference|indicative|illustrat\w+|example)\b",
        -16.0,
    ),
    (r"^\W{0,3}(?:per cent |percent )?interest\b(?! in)(?! on (?:late|overdue))", 6.5),
    (r"^[^.;]{0,60}\b(?:net profits|royalty|working|undivided|membership|ownership) interest\b", -9.0),
    (r"^\W{0,3}(?:per annum|a year|p\.a\.?|per year)?\W{0,3}(?:above|over|higher than|in excess of|more than)\b", -7.0),
    (
        r"^\W{0,3}(?:per annum|per year|p\.?\s?a\b|a year|yearly|annually|annual|each year|every year|by the year|per cent\. per annum)",
        4.0,
    ),
    (r"^[^.;]{0,40}\bfixed\b", 3.0),
    (
        r"^\W{0,3}(?:of|on)\s+(?:the|any|each|all|its|such|that|my|your|your|an?|Consolidated|that|what|amounts?|principal|purchase|gross|net)\b",
        -7.0,
    ),
    (r"^\W{0,3}(?:for|in)\s+(?:each|every|any|a)\s+(?:month|week|day|quarter)\b", -9.0),
    (r"^[^.;]{0,12}\bfrom that (?:day|date)\b", -9.0),
    (r"^\W{0,3}(?:a|per) (?:year|annum) on (?:the|all|what)\b", 5.0),
    (r"^\W{0,3}(?:per|a|each|every)\s+(?:month|week|day|quarter)\b", -6.0),
    (
        r"^\W{0,3}(?:fee|charge|discount|deposit|premium|owned|interest in|of\b.{0,20}amount|points?|above|over|in excess|higher|margin|greater|plus)\b",
        -7.0,
    ),
    (r"^\W{0,3}(?:or more|or less|of each payment|late)\b", -7.0),
)


def find_rates(document: Document) -> list[Rate]:
    """The contract rates of `document`, best first. The main rate is None where the first is variable."""
    text = document.text
    breaks = _breaks(text)
    found = list(_fixed(text, breaks))
    found.extend(_variable(text, breaks))
    found = _settle(found)
    return sorted(found, key=lambda r: (-r.score, r.value_start))


def _percentages(text: str) -> Iterator[tuple[Decimal, int, int]]:
    for match in _PERCENT.finditer(text):
        if not (match["whole"] or match["vulgar"] or match["top"]):
            continue
        value = parse_percent(match["whole"] or "0")
        if match["vulgar"]:
            value += Decimal(_VULGAR[match["vulgar"]])
        if match["top"] and Decimal(match["bottom"]):
            value += Decimal(match["top"]) / Decimal(match["bottom"])
        yield value, match.start(), match.end()
    for match in _PERCENT_WORDS.finditer(text):
        number = words_to_number(match["words"])
        if number is None or re.match(r"\s*\(\s*\d", text[match.end() : match.end() + 8]):
            continue
        value = Decimal(number)
        if match["bottom"]:
            top = match["top"]
            value += (
                Decimal(1 if not top or top.lower() in ("a", "an") else words_to_number(top) or 1)
                / _FRACTION_WORDS[match["bottom"].lower()]
            )
        if match["point"]:
            digits = "".join(
                "0" if w == "oh" else str(_UNITS.get(w, _TENS.get(w, "")))
                for w in re.split(r"[\s-]+", match["point"].lower().strip())
            )
            value = Decimal(f"{number}.{digits or 0}")
        yield value, match.start(), match.end()


def parse_percent(figures: str) -> Decimal:
    """Figures before a percent sign; a comma is a decimal comma."""
    return Decimal(figures.replace(",", "."))


def _fixed(text: str, breaks: list[tuple[int, int]]) -> Iterator[Rate]:
    for value, start, end in _capped(_percentages(text)):
        if not 0 <= value < 100:
            continue
        setting = _setting(text, start, end, breaks)
        options: list[tuple[float, str]] = []
        after, _ = _weigh(_RATE_AFTER, setting.after)
        if setting.label:
            row, label = _weigh(_RATE_LABEL, setting.label)
            if row != 0:
                options.append((row + min(after, 0.0) + (1.0 if after > 0 else 0.0), setting.label if label else ""))
        before, label = _weigh(_RATE_BEFORE, setting.before[-260:])
        if before >= 8:  # a caption such as "Charges" does not undo what the sentence says
            options = [option for option in options if option[0] >= 0]
        options.append((before + after, label))
        score, label = options[0] if options[0][0] < 0 else max(options)
        if re.search(r"\b(?:variable|floating|adjustable)\b", setting.label, re.IGNORECASE):
            continue
        if setting.aside:
            score -= 8.0
        near = f"{setting.label} {setting.before[-110:]} {setting.after[:60]}"
        if "annual percentage" in setting.before[-240:].lower() and re.match(
            r"rate\b\W*$", setting.label, re.IGNORECASE
        ):
            score -= 6.5
        if _LATE.search(near):
            score -= 12.0
        elif _DEFAULTING.search(near) and not _REGARDLESS.search(near):
            score -= 7.0
        if re.search(
            rf"{_INDEX}|\bmargin\b", f"{setting.before[-70:]} {setting.after[:70]}", re.IGNORECASE
        ) and not re.search(r"\bfixed\b", near, re.IGNORECASE):
            score -= 6.0
        if score >= (_THRESHOLD if len(text) < _LONG else _CLEAR):
            yield Rate(
                value, False, label, setting.start, setting.end, start, end, round(score - start / max(1, len(text)), 4)
            )


def _variable_hits(text: str) -> Iterator[re.Match[str]]:
    """The first words that make a rate variable, looked for only around words such as "margin" or "prime"."""
    done = 0
    for count, hint in enumerate(_HINT.finditer(text)):
        if count > 200:
            return
        if hint.start() < done:
            continue
        match = _VARIABLE.search(text, max(done, hint.start() - 160), min(len(text), hint.end() + 160))
        done = match.end() if match else hint.end()
        if match:
            yield match


def _variable(text: str, breaks: list[tuple[int, int]]) -> Iterator[Rate]:
    for match in _variable_hits(text):
        setting = _setting(text, match.start(), match.end(), breaks)
        begin, end = _cell(text, setting.start, setting.end, match.start())
        sentence = text[begin:end]
        if _DEFAULTING.search(sentence) or re.search(
            r"\b(?:not|no|never|without|nor)\b[^.;]{0,30}$", setting.before[-40:], re.IGNORECASE
        ):
            continue
        if re.search(
            r"(?<!no )(?<!not )(?<!not a )\bfixed\b|\bnot (?:a )?variable|does not (?:vary|change)|shall not (?:vary|change)|will not (?:vary|change)|\bother\b|insurance|hedg|swap",
            sentence,
            re.IGNORECASE,
        ):
            continue
        margin = next((value for value, _, _ in _percentages(sentence)), None)
        score = (
            7.0
            + (1.5 if re.search(r"\binterest\b", sentence, re.IGNORECASE) else 0.0)
            + (1.5 if margin is not None else 0.0)
        )
        yield Rate(
            margin,
            True,
            " ".join(match.group().split())[:60],
            begin,
            end,
            match.start(),
            match.end(),
            round(score - match.start() / max(1, len(text)), 4),
        )


def _cell(text: str, start: int, end: int, at: int) -> tuple[int, int]:
    """The cell of a row of several cells that `at` stands in; the whole row where it is a label and a value."""
    if text.count("|", start, end) < 2:
        return start, end
    left, right = text.rfind("|", start, at), text.find("|", at, end)
    return (left + 1 if left >= 0 else start), (right if right >= 0 else end)


def _settle(found: list[Rate]) -> list[Rate]:
    """A percentage inside a passage that makes the rate variable is not a fixed contract rate."""
    variable = [r for r in found if r.variable]
    return [r for r in found if r.variable or not any(v.start <= r.value_start < v.end for v in variable)]


# --- dates -----------------------------------------------------------------------------------------------------

_MONTHS = {
    m: n
    for n, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for m in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=lambda m: (-len(m), m)))
_DATE = re.compile(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\.?(?:\s+day)?(?:\s+of)?[\s-]+(?P<m1>{_MONTH})\.?,?[\s-]+(?:in the year\s+)?(?P<y1>(?:19|20)\d\d)\b"
    rf"|\b(?P<m2>{_MONTH})\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y2>(?:19|20)\d\d)\b"
    r"|\b(?P<y3>(?:19|20)\d\d)-(?P<m3>\d{2})-(?P<d3>\d{2})\b"
    r"|(?<![\w./])(?P<a4>\d{1,2})(?P<s4>[./-])(?P<b4>\d{1,2})(?P=s4)(?P<y4>(?:19|20)\d\d)(?![\w/])"
    r"|(?P<y5>(?:19|20)\d\d)年(?P<m5>\d{1,2})月(?P<d5>\d{1,2})日",
    re.IGNORECASE,
)


def _dates(text: str) -> Iterator[tuple[date, int, int]]:
    month_first = _month_first(text)
    for match in _DATE.finditer(text):
        g = match.groupdict()
        if g["m1"]:
            parts = (int(g["y1"]), _MONTHS[g["m1"].lower()], int(g["d1"]))
        elif g["m2"]:
            parts = (int(g["y2"]), _MONTHS[g["m2"].lower()], int(g["d2"]))
        elif g["y3"]:
            parts = (int(g["y3"]), int(g["m3"]), int(g["d3"]))
        elif g["y5"]:
            parts = (int(g["y5"]), int(g["m5"]), int(g["d5"]))
        else:
            a, b = int(g["a4"]), int(g["b4"])
            first = month_first and g["s4"] != "."
            parts = (int(g["y4"]), a, b) if (first and a <= 12) or b > 12 else (int(g["y4"]), b, a)
        try:
            yield date(*parts), match.start(), match.end()
        except ValueError:
            continue


def _month_first(text: str) -> bool:
    """Whether 03/04/2025 is the fourth of March here: as other dates of the document show, else as its country writes."""
    pairs = [(int(a), int(b)) for a, b in re.findall(r"(?<![\w/])(\d{1,2})/(\d{1,2})/(?:19|20)\d\d", text)]
    if any(b > 12 for _, b in pairs):
        return True
    if any(a > 12 for a, _ in pairs):
        return False
    return bool(
        re.search(
            rf"\b(?:{_MONTH})\s+\d{{1,2}},\s+(?:19|20)\d\d|U\.S\.|United States|\bUSD\b|US\$", text, re.IGNORECASE
        )
    ) or ("$" in text and _local_currencies(text)["$"] == "USD")


_MATURITY_LABEL = _cues(
    (
        r"\bmaturity|\bmatures?\b|\bfinal (?:repayment|payment|instal?l?ment|due|date|maturity)|\blast (?:payment|instal?l?ment|repayment|due)|\brepay(?:ment|able)? (?:date|by|on|in full)|\bfirst\s*/\s*last|\bfinal\b|\bpayable (?:on|in full)|\brepay by|\bend of (?:the )?(?:term|loan)|\bexpir|\bend date|\bredemption|\bpaid off by|\bover and done|\bdone by|\bback by|\buntil when|\blast day|\bfinal day|\bclosing day|\bballoon|\bvalid(?:ity)?\b|\blast \w+|\baccount ends|\bfacility ends",
        11.0,
    ),
    (
        r"\bdue(?: date)?\b|\brepayment\b|\btermination|\bends?\b|\bterm\b|\buntil\b|\btenor|\btenure|\bduration|^period\b|\brepayment period|\blength\b",
        6.5,
    ),
    (
        r"\bfirst (?:payment|instal?l?ment|repayment|due)(?!\s*/)|\bstart|\bcommenc|\bpaid out|\bpay-?out|\bvalue date|\beffective|\bsign|\bissue|\bloan date|\bcontract date|\bbirth|\bdrawdown|\badvance|\bdisburse|\bdate of (?:this|agreement|loan|note|the agreement)|\bdated?$(?<!maturity date)(?<!due date)(?<!repayment date)(?<!end date)(?<!termination date)(?<!expiry date)(?<!payment date)(?<!final date)(?<!redemption date)",
        -14.0,
    ),
)
_MATURITY_BEFORE = _cues(
    (r"\ball (?:the )?(?:principal|capital)\s+on\W*$|\bbrings? (?:us|you|it|that|this) to\W*$", 8.5),
    (r"\bcompletes? (?:the )?(?:project|works?|building|construction|plant|development)\b[^.;]{0,40}$", -16.0),
    (r"\b(?:was|were|been) (?:re)?paid\b[^.;]{0,30}\bon\W*$", -12.0),
    (r"\b(?:free|clear|rid) of (?:this|the|my|all) (?:debt|loan)[^.;]{0,20}\b(?:on|by)\W*(?:the\s*)?$", 9.0),
    (
        r"\bcorrespond\w*\b[^.;]{0,20}$|\beach (?:month|quarter|year)\b(?:(?!pay|paid|due|balance|principal|last|final)[^.;]){0,40}$",
        -12.0,
    ),
    (r"\b(?:existing|another|separate|earlier|overdraft with|other)\b[^.;]{0,120}$", -8.0),
    (
        r"\b(?:over|ends?|finish(?:ed|es)?|expires?|runs out|comes to (?:its|an) end|closes?)\b[^.;]{0,15}\bon\W*(?:the\s*)?$",
        8.0,
    ),
    (r"\bon or before\W*(?:the\s*)?$", 6.0),
    (r"\b(?:complete|completed|finished|cleared)\b[^;]{0,90}\b(?:on|by)\W*(?:the\s*)?$", 8.0),
    (r"\b(?:first|earliest)\b(?:(?!last|final|second|remainder|balance)[^.;]){0,45}$", -10.0),
    (
        r"\b(?:paid out|lends?|lent|disbursed|advanced|credited)\b(?:(?!repa|due|until|matur)[^.;]){0,60}\b(?:on|by)\W*(?:the\s*)?$",
        -9.0,
    ),
    (r"\b(?:born|birth|granted|reckoned from|counted from)\b[^.;]{0,30}$", -10.0),
    (r"\bcommission expires?\W*$", -20.0),
    (r"\bkeep the line open (?:until|to)\W*$|\bopen until\W*$", 7.0),
    (r"\b(?:months|years|instal?ments|draw again|reborrow)\W*(?:up )?(?:to|until|ending(?: on)?)\W*(?:the\s*)?$", 8.0),
    (r"\b(?:to be )?repaid\b[^.;]{0,80}\band on\W*(?:the\s*)?$", 6.0),
    (r"\bthe (?:balance|rest|remainder) on\W*(?:the\s*)?$", 9.0),
    (r"\btermination date\W*(?:means|is|shall mean)\W*$", 9.0),
    (
        r"\bending (?:on or )?after\W*$|\b(?:fiscal|quarter|(?<!availability )(?<!credit )(?<!loan )(?<!repayment )period|year)s?\b[^.;]{0,20}\bend(?:s|ed|ing)?\b[^.;]{0,20}$",
        -9.0,
    ),
    (r"\b(?:last|final)(?:\s+\w+){0,3}?\s*[:–-]?\W*$", 9.0),
    (
        r"\b(?:remainder|rest|residue|remaining (?:sum|balance|amount|principal))\b[^.;]{0,60}\b(?:on|by|at)\W*(?:the\s*)?$",
        9.0,
    ),
    (
        r"\b(?:payments?|instal?l?ments?|deductions?|repayments?|repayable)\b[^.;]{0,110}\bfrom\b[^.;]{0,40}\b(?:to|until|through|till)\W*$",
        8.5,
    ),
    (r"\bmaturity(?: date)?\W*[^.;]{0,60}(?:means|is|be|being|:|of|on|falls on|date)?\W*$", 9.0),
    (r"\b(?:final |ultimate )?repayment date\W{0,3}\s(?:means|is|shall (?:be|mean))\s*$", 9.0),
    (
        r"\b(?:the )?(?:last|final)(?: of (?:them|these|which))?\b[^.;]{0,70}\b(?:on|due|is|,|falls due on|payable on|by|later than)\W*(?:the\s*)?$",
        9.0,
    ),
    (
        r"\b(?:due|payable|repayable|paid|repaid|repay|pay|settled?|cleared|discharged|finished|redeemed)\b[^.;]{0,50}\b(?:in full|in one|in a single|single sum|lump sum|bullet|whole|entire|all|balance|balloon|one payment|at once)\b[^.;]{0,70}\b(?:on|by|before|no later than|not later than)\W*(?:the\s*)?$",
        9.0,
    ),
    (
        r"\b(?:whole|entire|full|all|any|outstanding|unpaid|remaining|total|balance|principal|loan|loans|advances?|note|debt|sum|money|everything|capital)\b[^.;]{0,130}\b(?:due|payable|repayable|repaid|repay|paid|pay|pay out|returned?|back|settled?)\b[^.;]{0,50}\b(?:on|by|before|until|no later than|not later than|latest)\W*(?:the\s*)?$",
        8.0,
    ),
    (
        r"\b(?:re)?pa(?:y|id)\b[^.;]{0,60}\b(?:debt|loan|principal|balance|sum|money|everything|advance|note|amount|it|in full|back|out)\b[^.;]{0,60}\b(?:on|by|before|no later than|not later than)\W*(?:the\s*)?$",
        8.0,
    ),
    (r"\bmatur(?:es?|ing)\b[^.;]{0,30}$", 9.0),
    (r"\bin full\b[^.;]{0,25}\b(?:on|by)\W*$", 9.0),
    (r"\b(?:repayment|payment in full|repayable|repaid)\b[^.;]{0,60}\b(?:on|by|before)\W*$", 7.0),
    (
        r"\b(?:ends?|ending|expires?|terminates?|runs (?:until|to)|concludes?|comes to an end|continues? (?:until|to)|through|until|up to and including|to and including|available until|advances[^.;]{0,60}up to)\b[^.;]{0,25}$",
        6.0,
    ),
    (r"\bif,? on\W*$", 6.0),
    (r"\bdue on\W*$|\bdue(?: and payable)?\b[^.;]{0,20}$", 6.0),
    (
        r"\b(?:dated|date of|as of|entered into|made on|made this|signed|executed|effective|commenc\w+|beginning|begins?|starting|starts?|from|since|opened|born|issued|registered|incorporated|prior to|deliver\w*|adopted|until and including|fiscal year|year ended|ended|expired)\b(?:\s+\w+){0,2}\W*(?:the\s*)?$",
        -10.0,
    ),
    (
        r"\b(?:first|initial) (?:payment|instal?l?ment|repayment|due)\b(?:(?!last|final)[^.;]){0,60}$|\bfirst (?:of (?:them|which)|due)\b(?:(?!last|final)[^.;]){0,30}$",
        -10.0,
    ),
    (
        r"\b(?:prepay|prepaid|prepayment|drawn|drawdown|disburs\w+|advance\w*|lend|transfer\w*)\b(?:(?!ends?|until|matur|lasts|repa|due)[^.;]){0,50}\b(?:on|by|before)\W*$",
        -6.0,
    ),
    (
        r"\b(?:default|accelerat\w+|financial statements|audited|withdraw\w*)\b[^.;]{0,60}$|\b(?:tax|insurance|notice)\b[^.;,]{0,60}$",
        -5.0,
    ),
    (r"\bpaid (?:out )?(?:in one|once|as one|by one)\b[^.;]{0,40}\b(?:account|transfer)\b[^.;]{0,20}$", -18.0),
    (r"(?<!with )\b(?:interest)\b[^.;]{0,30}\b(?:payable|due|paid)\b[^.;]{0,40}\b(?:on|from)\W*$", -3.0),
)
_MATURITY_AFTER = _cues(
    (r"^[^.;]{0,60}\b(?:comes? to an end|ends\b|expires\b|is closed)", 8.0),
    (r"^\W*is (?:to be )?(?:re)?paid\b", 6.0),
    (r"^\W*at the (?:very )?latest\b", 7.0),
    (
        r"^\W*(?:you|I|we|it|the \w+|\w+)\W+(?:must|will|shall|has to|have to|is to)\W+(?:have\W+)?(?:paid|repaid|pay|repay|settle|return)\b(?!\W*(?:US|USD|EUR|GBP)?\W?\d)(?!\W*[$€£¥])",
        8.5,
    ),
    (r"^[^.;]{0,30}\bafter that you cannot draw\b", 5.0),
    (r"^[^.;]{0,120}\bthen (?:we are|it is|i am|the loan is) (?:done|finished|over|at an end|even|square)", 7.0),
    (
        r"^[^.;]{0,60}\b(?:whatever|anything|all that|what) (?:is|remains|interest)[^.;]{0,60}\b(?:unpaid|owing|outstanding|left)\b",
        5.0,
    ),
    (
        r"^\W{0,4}(?:\(?\W*(?:as (?:it|the same) may be extended[^)]{0,40}|or such earlier[^.;(]{0,160}|being[^.;(]{0,60})?\W*(?:the|such date[^.;(]{0,20}|called)?\W*(?:final )?(?:maturity|repayment|due|termination|expiry|final payment) date)",
        9.0,
    ),
    (r"^[^.;]{0,60}\b(?:whichever|maturity)\b", 3.0),
    (
        r"^[^.;]{0,40}\b(?:remaining|final) (?:balance|payment|instal?l?ment)|^\W*(?:when|on which (?:date|day))\b[^.;]{0,60}\b(?:balance|all|remaining|entire|whole|principal)",
        6.0,
    ),
    (r"^[^.;]{0,30}\b(?:the debt|the loan) (?:is|will be|shall be) (?:finished|repaid|paid|at an end)", 7.0),
    (r"^\W*(?:and (?:on|each|every|continuing|the same)|and thereafter|with the last)\b", -4.0),
)


_STARTS = re.compile(r"\b(?:from|starting|beginning|commencing|first on|dated)\W*$", re.IGNORECASE)


def find_maturities(document: Document) -> list[Maturity]:
    """The days on which `document` lets the last of the loan fall due, best first."""
    text = document.text
    breaks = _breaks(text)
    found: list[Maturity] = []
    dates = _capped(_dates(text))
    latest = max((day for day, _, _ in dates), default=None)
    for day, start, end in dates:
        setting = _setting(text, start, end, breaks)
        after, after_label = _weigh(_MATURITY_AFTER, setting.after)
        options: list[tuple[float, str]] = []
        if setting.label:
            row, label = _weigh(_MATURITY_LABEL, setting.label)
            weak = -9.0 if row > 0 and _STARTS.search(setting.before) else 0.0
            if row:
                options.append((row + min(after, 0.0) + weak, setting.label if label else ""))
        before, label = _weigh(_MATURITY_BEFORE, setting.before[-260:])
        before -= 8.0 if setting.aside else 0.0
        options.append(
            (before + max(after, 0.0) if before < 0 else max(before, after) + min(after, 0.0), label or after_label)
        )
        score, label = options[0] if options[0][0] < 0 else max(options)
        if score < _THRESHOLD:
            continue
        score += 1.5 if day == latest else 0.0
        found.append(
            Maturity(
                day.isoformat(),
                False,
                label,
                setting.start,
                setting.end,
                start,
                end,
                round(score - 0.5 * start / max(1, len(text)), 4),
            )
        )
    found.extend(_computed(text, breaks))
    found.extend(_counted(text, breaks))
    return sorted(found, key=lambda m: (-m.score, m.value_start))


_FROM_DATE = re.compile(
    rf"\b(?P<number>\d{{1,3}}|{_NUMBER_WORDS})(?:\s*\(\d{{1,3}}\))?[\s-]+(?P<unit>months?|years?)\s+(?:from|after|following|of)\s+(?:and including\s+)?(?=\d|{_MONTH})",
    re.IGNORECASE,
)


def _computed(text: str, breaks: list[tuple[int, int]]) -> Iterator[Maturity]:
    """Terms counted from a stated date: "thirty-six months from 1 May 2024"."""
    for match in _FROM_DATE.finditer(text):
        given = next(
            ((day, end) for day, start, end in _dates(text[match.end() : match.end() + 40]) if start == 0), None
        )
        months = _months(match["number"], match["unit"])
        if given is None or not months:
            continue
        setting = _setting(text, match.start(), match.end(), breaks)
        near = f"{setting.label} {setting.before[-160:]} {setting.after[:120]}"
        if not re.search(r"repa|matur|\bdue\b|\bterm\b|final|\bend", near, re.IGNORECASE) or re.search(
            r"notice|prepay|grace", near, re.IGNORECASE
        ):
            continue
        day = add_months(given[0], months)
        yield Maturity(
            day.isoformat(),
            True,
            "term from a date",
            setting.start,
            setting.end,
            match.start(),
            match.end() + given[1],
            6.0,
        )


_COUNTED = re.compile(
    rf"\b(?P<number>\d{{1,3}}|{_NUMBER_WORDS})(?:\s*\(\d{{1,3}}\))?[ \n]+(?:(?:equal|equated|consecutive|successive|regular|level|fixed|approximately)[ ,\n]+)*"
    rf"(?P<unit>monthly|quarterly|half-yearly|semi-annual|yearly|annual)?[ \n]*(?:(?:equal|consecutive|principal)[ ,\n]+)*(?:instal?l?ments?|payments?|amorti[sz]ations?|repayments?)\b"
    rf"(?:[^.;]{{0,40}}?\bat[ \n]+intervals[ \n]+of[ \n]+(?P<every>{_NUMBER_WORDS}|\d{{1,2}})[ \n]+months)?",
    re.IGNORECASE,
)
_FIRST_ON = re.compile(
    rf"\bfirst\b(?:(?!last|final|year|half|to vote)[^;\n]|\n(?!\s*\n)){{0,50}}?(?:\bon|\bin|\bis|:|,|\bdue)\s+(?:the\s+)?(?=\d|(?:{_MONTH})\b)",
    re.IGNORECASE,
)
_EVERY = {"m": 1, "q": 3, "h": 6, "s": 6, "y": 12, "a": 12}


def _counted(text: str, breaks: list[tuple[int, int]]) -> Iterator[Maturity]:
    """The last of a number of regular instalments, reckoned from the first: "36 monthly …, the first on 15 May 2026"."""
    for match in _COUNTED.finditer(text):
        number = int(match["number"]) if match["number"].isdigit() else words_to_number(match["number"]) or 0
        every = _EVERY[match["unit"][0].lower()] if match["unit"] else 0
        if match["every"]:
            every = int(match["every"]) if match["every"].isdigit() else words_to_number(match["every"]) or 0
        blank = text.find("\n\n", match.end(), match.end() + 320)
        reach = blank if blank >= 0 else min(len(text), match.end() + 320)
        first = _FIRST_ON.search(text, match.end(), reach) if every and 2 <= number <= 480 else None
        given = (
            next(((d, e) for d, s, e in _dates(text[first.end() : first.end() + 30]) if s == 0), None)
            if first
            else None
        )
        setting = _setting(text, match.start(), match.end(), breaks)
        if first is None or given is None or setting.aside or _PARTIAL.search(text[match.start() : reach]):
            continue
        yield Maturity(
            add_months(given[0], every * (number - 1)).isoformat(),
            True,
            "number of instalments from the first",
            setting.start,
            max(setting.end, first.end() + given[1]),
            match.start(),
            first.end() + given[1],
            5.0,
        )


# Instalments that do not pay the loan off, or are another's.
_PARTIAL = re.compile(
    r"\b(?:interest[- ]only|interest alone|balloon|(?:remaining|outstanding) balance|and the (?:rest|remainder|balance)|prepa\w+ in)\b",
    re.IGNORECASE,
)


def add_months(day: date, months: int) -> date:
    """The same day `months` later, or the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


# --- terms -----------------------------------------------------------------------------------------------------

_DURATION = re.compile(
    rf"(?<![\w.,$€£/])(?P<number>\d{{1,3}}|{_NUMBER_WORDS})(?:\s*\((?P<figures>\d{{1,3}}|{_NUMBER_WORDS})\))?[\s-]+(?P<between>(?:(?:equal|consecutive|successive|regular|level|substantially|fixed|calendar|full|,)\s+)*)(?P<unit>months?|years?|monthly|annual|yearly|quarterly)\b(?!\s+(?:old|notice))",
    re.IGNORECASE,
)
_TERM_LABEL = _cues(
    (
        r"\b(?:term|tenor|tenure|duration|loan period|repayment period|period of (?:the )?loan|length|life|number of (?:payments|instal?l?ments))\b",
        10.0,
    ),
    (r"\b(?:repayment|instal?l?ments?|payment schedule|payments?)\b", 6.0),
    (r"\bnotice|\bgrace|\bfixed[- ]rate period|\bwarranty|\bfee|\bintroductory", -12.0),
)
_TERM_BEFORE = _cues(
    (
        r"\b(?:interest period|fiscal|consecutive|trailing|LIBOR|SOFR|Eurodollar|Euro-Dollar|excess|deficiency|Treasury|maturities)\b[^.;]{0,80}$",
        -9.0,
    ),
    (r"\b(?:term|period|tenor|tenure|duration|life)\b[^.;]{0,30}\b(?:of|is|:|be|over)?\W*$", 7.0),
    (
        r"\b(?:repa(?:y|id|yable|yment)|payable|amorti[sz]\w*|instal?l?ments?|loan|advance)\b[^.;]{0,60}\b(?:over|for|in|by|of)\W*(?:a (?:term|period) of\W*)?$",
        6.0,
    ),
    (r"\b(?:in|by|of|pay|makes?|over)\W*$", 2.0),
    (
        r"\b(?:within|notice|grace|after|first|every|each|last|past|preceding|deferment|forbearance|up to|within the|prior|statement|warrant\w*|interest[- ]only|less than|more than|at least|exceed\w*|limitation|availability|intro\w*)\b[^.;]{0,30}$",
        -8.0,
    ),
)
_TERM_AFTER = _cues(
    (r"^[^.;]{0,60}\b(?:LIBOR|SOFR|Eurodollar|Euro-Dollar|interest period|EURIBOR|Treasury)\b", -7.0),
    (r"^\W*(?:instal?l?ments?|payments?|repayments?)\b", 5.0),
    (r"^\W*(?:term|loan|period|amorti)\b", 6.0),
    (
        r"^\W*(?:of|from|after|following)\s+(?:and including\s+)?(?:the )?(?:date|drawdown|advance|disburse|closing|first|loan)",
        2.0,
    ),
    (r"^\W*(?:after|before|prior|notice|written|of default|days|late|past|of each|period ending|interest)\b", -6.0),
)


def _months(number: str, unit: str) -> int:
    count = int(number) if number.isdigit() else words_to_number(number) or 0
    factor = {"m": 1, "y": 12, "a": 12, "q": 3}[unit[0].lower()]
    return count * factor


def find_terms(document: Document) -> list[Term]:
    """How long `document` says the loan runs, in months, best first; a number of monthly instalments counts."""
    text = document.text
    breaks = _breaks(text)
    found: list[Term] = []
    for match in _capped(_DURATION.finditer(text)):
        instalments = match["unit"].lower() in ("monthly", "annual", "yearly", "quarterly")
        months = _months(match["number"], match["unit"])
        if not 1 <= months <= 600:
            continue
        setting = _setting(text, match.start(), match.end(), breaks)
        after, after_label = _weigh(_TERM_AFTER, setting.after)
        if (
            instalments
            and not re.match(
                r"^\W*(?:\w+\s+){0,3}?(?:instal?l?ments?|payments?|repayments?|,)", setting.after, re.IGNORECASE
            )
            and not setting.label
        ):
            continue
        options: list[tuple[float, str]] = []
        if setting.label:
            row, label = _weigh(_TERM_LABEL, setting.label)
            if row:
                options.append((row + min(after, 0.0), setting.label if label else ""))
        before, label = _weigh(_TERM_BEFORE, setting.before[-140:])
        options.append((before + after, label or after_label))
        score, label = options[0] if options[0][0] < 0 else max(options)
        if score >= _THRESHOLD:
            found.append(
                Term(
                    months,
                    label,
                    setting.start,
                    setting.end,
                    match.start(),
                    match.end(),
                    round(score - match.start() / max(1, len(text)), 4),
                )
            )
    return sorted(found, key=lambda t: (-t.score, t.value_start))


def show(value: Principal | Rate | Maturity | Term) -> str:
    """One line for people: the value, its label and score."""
    if isinstance(value, Principal):
        said = f"{value.currency} {value.amount:,}"
    elif isinstance(value, Rate):
        said = f"{'variable ' if value.variable else ''}{value.percent}%"
    else:
        said = value.date if isinstance(value, Maturity) else f"{value.months} months"
    return f"{said} [{value.label}] {value.score:.1f}"


# --- every value, whatever it is of -----------------------------------------------------------------------------

MONTHS, MONTH = _MONTHS, _MONTH
"""Number of each month by its lower-case name, and a pattern of these names."""


def amounts(text: str) -> list[tuple[Decimal, int, int]]:
    """Each amount of money in `text`, with its span."""
    return [(money.amount, money.start, money.end) for money in _moneys(text)]


def percentages(text: str) -> list[tuple[Decimal, int, int]]:
    """Each percentage in `text`, in figures or words, with its span."""
    return list(_percentages(text))


def dates(text: str) -> list[tuple[date, int, int]]:
    """Each full date in `text`, with its span."""
    return list(_dates(text))


def durations(text: str) -> list[tuple[int, int, int]]:
    """Each number of months or years in `text`, in months, with its span; "36 monthly instalments" are 36."""
    return [(_months(m["number"], m["unit"]), m.start(), m.end()) for m in _DURATION.finditer(text)]
