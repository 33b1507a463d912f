"""Values as contracts write them → typed literals: amounts, rates, dates and durations.

Every reader returns None for what it cannot read for sure; it never guesses between two readings.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from ovrag_core.text import (
    NUMBER_WORDS,
    SCALES,
    currency_of,
    dates,
    parse_number,
    percentages,
    readings,
    words_to_number,
)

XSD = "http://www.w3.org/2001/XMLSchema#"
LONGEST = 2_000  # characters; a longer value is prose, not a value

_SCALES = SCALES | {"k": 10**3, "mm": 10**6, "mn": 10**6, "m": 10**6, "bn": 10**9}
_NUMBER = r"\d[\d.,'’\u00a0\u202f ]*\d|\d"
_AMOUNT = re.compile(
    rf"(?P<minus>-\s?)?[$€£¥₹]?\s?(?P<figures>{_NUMBER})\s*(?P<scale>thousand|million|billion|mm|mn|bn|k|m)?\b"
    rf"|\b(?P<words>{NUMBER_WORDS})\b",
    re.IGNORECASE,
)
_VULGAR = re.compile(r"[\u00bc-\u00be\u2150-\u215e]")  # fractions in one sign
_MARGIN = re.compile(r"\+|\b(?:plus|above|over|margin|spread)\b", re.IGNORECASE)
_MONTHS = {"year": Decimal(12), "yr": Decimal(12), "month": Decimal(1)}
_DAYS_OF_A_MONTH = Decimal("30.4375")
_DURATION = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?|\b{NUMBER_WORDS})\)?[\s-]*(?:(?:business|calendar|consecutive|full|monthly|working) )?"
    r"(?P<unit>year|yr|month|week|day)s?\b",
    re.IGNORECASE,
)


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
    text = _VULGAR.sub(lambda match: " " + unicodedata.normalize("NFKC", match[0]), text)
    plain = " ".join(unicodedata.normalize("NFKC", text).replace("\u2044", "/").split())
    return _READERS.get(kind, _text)(plain)


def amount(text: str) -> Value | None:
    """`USD 962,000.00`, `$1.5 million`, `1.000.000,00 EUR`, `two hundred thousand dollars ($200,000)`."""
    best = min(_AMOUNT.finditer(text), key=lambda match: match["words"] is not None, default=None)
    if best is None:
        return None
    number = parse_number(best["figures"]) if best["figures"] else words_to_number(best["words"])
    if number is None:
        return None
    value = Decimal(number) * (_SCALES[best["scale"].lower()] if best["scale"] else 1)
    return Value(_plain(-value if best["minus"] else value), XSD + "decimal", currency_of(text))


def rate(text: str) -> Value | None:
    """Per cent a year: `5.75%`, `4¾ per cent`, `six and nine-tenths percent`, `475 basis points`, a bare number."""
    if _MARGIN.search(text):
        return None  # a margin over an index is not a rate
    percents = sorted(percentages(text), key=lambda percentage: percentage[1])
    if percents:
        return Value(_plain(percents[0][0]), XSD + "decimal")
    bare = re.fullmatch(r"(-?\d+(?:[.,]\d+)?)\s*%?", text)
    return Value(_plain(Decimal(bare[1].replace(",", "."))), XSD + "decimal") if bare else None


def date(text: str) -> Value | None:
    """`2031-06-30`, `June 30, 2031`, `30th day of June, 2031`; `06/07/2031` is ambiguous and not read."""
    days = {reading for day, start, end in dates(text) for reading in readings(text[start:end], day)}
    return Value(f"{days.pop().isoformat()}T00:00:00", XSD + "dateTime") if len(days) == 1 else None


def months(text: str) -> Value | None:
    """A duration in months: `348 months`, `5 years and 6 months`, `ninety (90) days` (a month is 30.4375 days)."""
    counts = [(match["number"], match["unit"].lower()) for match in _DURATION.finditer(text)]
    if not counts and re.fullmatch(r"\d+", text):
        counts = [(text, "month")]
    total = Decimal(0)
    for written, unit in counts:
        number = Decimal(written) if written[0].isdigit() else Decimal(words_to_number(written) or 0)
        total += number * _MONTHS[unit] if unit in _MONTHS else number * (7 if unit == "week" else 1) / _DAYS_OF_A_MONTH
    return Value(_plain(round(total, 4)), XSD + "decimal") if counts else None


def boolean(text: str) -> Value | None:
    """`true`, `yes`, `false`, `no`."""
    truth = {"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}
    return Value(truth[text.casefold()], XSD + "boolean") if text.casefold() in truth else None


def _text(text: str) -> Value | None:
    """Prose: told apart from other prose, but not carried along at any length; half a surrogate pair is replaced."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return Value(text, XSD + "string") if text else None


_READERS: dict[str, Callable[[str], Value | None]] = {
    "amount": amount, "rate": rate, "date": date, "months": months, "boolean": boolean, "text": _text,
}  # fmt: skip
KINDS = frozenset(_READERS)


def _plain(number: Decimal) -> str:
    return format(number.normalize(), "f")
