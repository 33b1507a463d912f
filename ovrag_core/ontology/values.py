"""Values as contracts write them → typed literals: amounts, rates, dates and durations.

Every reader returns None for what it cannot read for sure; it never guesses between two readings.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from ovrag_core.text.numerals import MONTHS, WORDS

XSD = "http://www.w3.org/2001/XMLSchema#"
LONGEST = 2_000  # characters; a longer value is prose, not a value

_SYMBOLS = {
    "US$": "USD",
    "C$": "CAD",
    "CA$": "CAD",
    "A$": "AUD",
    "AU$": "AUD",
    "NZ$": "NZD",
    "HK$": "HKD",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
}
_CODES = frozenset(
    [
        "AED",
        "AUD",
        "BRL",
        "CAD",
        "CHF",
        "CNY",
        "CZK",
        "DKK",
        "EUR",
        "GBP",
        "HKD",
        "HUF",
        "IDR",
        "ILS",
        "INR",
        "JPY",
        "KRW",
        "MXN",
        "MYR",
        "NOK",
        "NZD",
        "PHP",
        "PLN",
        "RON",
        "RUB",
        "SAR",
        "SEK",
        "SGD",
        "THB",
        "TRY",
        "TWD",
        "USD",
        "ZAR",
    ]
)
_CURRENCY_WORDS = {
    "dollar": "USD",
    "euro": "EUR",
    "pound": "GBP",
    "sterling": "GBP",
    "yen": "JPY",
    "franc": "CHF",
    "rupee": "INR",
}
_SCALES = {
    "thousand": 10**3,
    "k": 10**3,
    "million": 10**6,
    "mm": 10**6,
    "mn": 10**6,
    "m": 10**6,
    "billion": 10**9,
    "bn": 10**9,
}
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10, "sixteenth": 16,
    "twentieth": 20, "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
_JOINTS = frozenset(("hundred", "thousand", "million", "billion", "and", "point", "a"))
_MONTHS = [month.lower() for month in MONTHS]
_MONTH = "|".join(month[:3] + (f"(?:{month[3:]})?" if len(month) > 3 else "") for month in _MONTHS)
_NUMBER = r"\d[\d.,'’\u00a0\u202f ]*\d|\d"


@dataclass(frozen=True, slots=True)
class Value:
    """A typed literal; `currency` is an ISO 4217 code where an amount has one."""

    lexical: str
    datatype: str
    currency: str | None = None


@lru_cache(maxsize=4096)  # a contract's values come back with every question and arm
def read_value(text: str, kind: str) -> Value | None:
    """`text` as a value of `kind` (amount, rate, date, months, boolean, text); None where that is not sure."""
    if kind != "text" and len(text) > LONGEST:
        return None
    return _READERS.get(kind, _text)(_tidy(text))


def amount(text: str) -> Value | None:
    """`USD 962,000.00`, `$1.5 million`, `1.000.000,00 EUR`, `two hundred thousand dollars ($200,000)`."""
    number = _digits_with_scale(text)
    number = _in_words(text) if number is None else number
    return None if number is None else Value(_plain(number), XSD + "decimal", _currency(text))


def rate(text: str) -> Value | None:
    """Per cent a year: `5.75%`, `4¾ per cent`, `six and nine-tenths percent`, `475 basis points`, a bare number."""
    folded = text.casefold()
    if re.search(r"\+|\b(?:plus|above|over|margin|spread)\b", folded):
        return None  # a margin over an index is not a rate
    if re.search(r"\bbasis points?\b|\bbps?\b", folded):
        number = _leading_number(text)
        return None if number is None else Value(_plain(number / 100), XSD + "decimal")
    number = _marked(folded)
    if number is None and re.search(r"%|per\s?cent\b", folded):
        number = _in_words(re.split(r"%|per\s?cent\b", folded)[0])
    if number is None and (bare := re.fullmatch(rf"(-?)({_NUMBER})", text)):
        number = _decimal(bare[2])
        number = -number if number is not None and bare[1] else number
    return None if number is None else Value(_plain(number), XSD + "decimal")


def _marked(text: str) -> Decimal | None:
    """The number before a per-cent sign: `5.75%`, `4 3/4 per cent`, `1/2 of one percent`."""
    sign = r"\s*(?:%|per\s?cent\b|p\.\s?c\.)"
    if fraction := re.search(rf"(?:(\d+)[\s-]+)?\b(\d+)/(\d+)(?:\s+of\s+(?:1|one))?{sign}", text):
        return _mixed(fraction[1] or "0", fraction[2], fraction[3])
    plain = re.search(rf"({_NUMBER}){sign}", text)
    return _decimal(plain[1]) if plain else None


def date(text: str) -> Value | None:
    """`2031-06-30`, `June 30, 2031`, `30th day of June, 2031`; `06/07/2031` is ambiguous and not read."""
    found = _date_parts(text.casefold())
    if found is None:
        return None
    try:
        day = dt.date(*found)
    except ValueError:
        return None
    return Value(f"{day.isoformat()}T00:00:00", XSD + "dateTime")


def months(text: str) -> Value | None:
    """A duration in months: `348 months`, `5 years and 6 months`, `ninety (90) days` (a month is 30.4375 days)."""
    factors = {
        "year": Decimal(12),
        "month": Decimal(1),
        "week": Decimal(7) / Decimal("30.4375"),
        "day": 1 / Decimal("30.4375"),
    }
    total = Decimal(0)
    found = re.findall(
        r"(\d+(?:\.\d+)?)\)?[\s-]*(?:calendar |full |consecutive |monthly )?(year|yr|month|week|day)s?\b",
        text.casefold(),
    )
    if not found and (words := re.search(r"([a-z -]+?)[\s-]+(year|month|week|day)s?\b", text.casefold())):
        number = _in_words(words[1])
        found = [] if number is None else [(str(number), words[2])]
    if not found and re.fullmatch(r"\d+", text):
        found = [(text, "month")]
    for number_, unit in found:
        total += Decimal(number_) * factors["year" if unit == "yr" else unit]
    return Value(_plain(round(total, 4)), XSD + "decimal") if found else None


def boolean(text: str) -> Value | None:
    """`true`, `yes`, `false`, `no`."""
    word = text.casefold()
    if word in ("true", "yes", "1"):
        return Value("true", XSD + "boolean")
    return Value("false", XSD + "boolean") if word in ("false", "no", "0") else None


def _text(text: str) -> Value | None:
    """Prose: told apart from other prose, but not carried along at any length; half a surrogate pair is replaced."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return Value(text, XSD + "string") if text else None


_READERS: dict[str, Callable[[str], Value | None]] = {
    "amount": amount, "rate": rate, "date": date, "months": months, "boolean": boolean, "text": _text,
}  # fmt: skip


def _tidy(text: str) -> str:
    text = re.sub(r"[\u00bc-\u00be\u2150-\u215e]", lambda match: " " + unicodedata.normalize("NFKC", match[0]), text)
    return " ".join(unicodedata.normalize("NFKC", text).replace("\u2044", "/").split())


def _decimal(text: str) -> Decimal | None:
    """A number with thousands separators of either kind; None where it could be either (`1.000` could be one)."""
    text = re.sub(r"[\s'’]", "", text)
    if "," in text and "." in text:
        decimal = "," if text.rfind(",") > text.rfind(".") else "."
        text = text.replace("." if decimal == "," else ",", "").replace(decimal, ".")
    elif "," in text:
        text = text.replace(",", "" if re.fullmatch(r"\d{1,3}(,\d{2,3})*,\d{3}", text) else ".")
    elif text.count(".") > 1:
        text = text.replace(".", "")
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _plain(number: Decimal) -> str:
    return format(number.normalize(), "f")


def _mixed(whole: str, over: str | None, under: str | None) -> Decimal | None:
    number = _decimal(whole)
    if number is None or not over or not under or int(under) == 0:
        return number
    return number + Decimal(int(over)) / Decimal(int(under))


def _leading_number(text: str) -> Decimal | None:
    found = re.search(_NUMBER, text)
    return _decimal(found[0]) if found else _in_words(text)


def _digits_with_scale(text: str) -> Decimal | None:
    found = re.search(
        rf"(-\s?)?[$€£¥₹]?\s?({_NUMBER})\s*(thousand|million|billion|mm|mn|bn|k|m)?\b", text, re.IGNORECASE
    )
    number = _decimal(found[2]) if found else None
    if found is None or number is None:
        return None
    number *= _SCALES[found[3].casefold()] if found[3] else 1
    return -number if found[1] else number


def _currency(text: str) -> str | None:
    for code in re.findall(r"\b[A-Z]{3}\b", text):
        if code in _CODES:
            return str(code)
    for symbol in sorted(_SYMBOLS, key=len, reverse=True):
        if symbol in text:
            return _SYMBOLS[symbol]
    for word, code in _CURRENCY_WORDS.items():
        if re.search(rf"\b{word}s?\b", text.casefold()):
            return code
    return None


def _in_words(text: str) -> Decimal | None:
    """`two hundred and fifty thousand`, `six and nine-tenths`, `six point five`; None for other words."""
    words = re.findall(r"[a-z]+", text.casefold())
    numbers = [word for word in words if word in WORDS or word in _JOINTS or word.removesuffix("s") in _PARTS]
    while numbers and numbers[0] in ("and", "a"):
        numbers.pop(0)
    if not any(word in WORDS for word in numbers):
        return None
    if "point" in numbers:
        return _spoken_decimal(numbers)
    if numbers[-1].removesuffix("s") in _PARTS:
        return _spoken_fraction(numbers)
    return _spoken_whole(numbers)


def _spoken_whole(words: list[str]) -> Decimal:
    total, group = 0, 0
    for word in words:
        if word in WORDS:
            group += WORDS[word]
        elif word == "hundred":
            group = max(group, 1) * 100
        elif word in _SCALES:
            total, group = total + max(group, 1) * _SCALES[word], 0
    return Decimal(total + group)


def _spoken_fraction(words: list[str]) -> Decimal:
    under = _PARTS[words[-1].removesuffix("s")]
    split = len(words) - 1 - words[::-1].index("and") if "and" in words else -1
    over = _spoken_whole(words[split + 1 : -1]) or Decimal(1)
    whole = _spoken_whole(words[:split]) if split > 0 else Decimal(0)
    return whole + over / under


def _spoken_decimal(words: list[str]) -> Decimal:
    point = words.index("point")
    digits = "".join(str(WORDS[word]) for word in words[point + 1 :] if word in WORDS)
    return Decimal(f"{_spoken_whole(words[:point])}.{digits or 0}")


def _date_parts(text: str) -> tuple[int, int, int] | None:
    """Year, month, day. One unambiguous date only: a text with two is not a value."""
    patterns: tuple[tuple[str, Callable[[re.Match[str]], tuple[int, int, int]]], ...] = (
        (r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?=\b|t)", lambda m: (int(m[1]), int(m[2]), int(m[3]))),
        (
            rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s+(\d{{4}})\b",
            lambda m: (int(m[3]), _month(m[1]), int(m[2])),
        ),
        (
            rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?({_MONTH})\.?\s*,?\s+(\d{{4}})\b",
            lambda m: (int(m[3]), _month(m[2]), int(m[1])),
        ),
        (r"\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})\b", _day_or_month_first),
    )
    found = [make(match) for pattern, make in patterns for match in re.finditer(pattern, text)]
    distinct = set(found)
    return found[0] if len(distinct) == 1 else None


def _month(word: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(word[:3]))


def _day_or_month_first(match: re.Match[str]) -> tuple[int, int, int]:
    first, second, year = int(match[1]), int(match[2]), int(match[3])
    if first == second or second > 12:
        return year, first, second
    return (year, second, first) if first > 12 else (year, 0, 0)
