"""Amounts that a rule sets beside plain quantities: "immediately", "the same day", "one signature", "every Friday".

Read for the comparison of rules only; whether a sentence gives the figures of its evidence is for `quantities`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from ovrag_core.text import MONTHS, NUMBER_WORD, ORDINALS, any_of, words_to_number
from ovrag_studies.cited.language.quantities import (
    TIMES,
    UNIT_AFTER,
    Quantity,
    counted,
    find_quantities,
    made,
    overlaps,
)

# Times in words, in minutes; each is a maximum. "The same day" is taken for half a day.
_SAID = {
    r"(?<!effective )(?:immediately|at once|straight ?away|right away|forthwith|without (?:any |undue )?delay)": 0,
    r"within the hour": 60,
    r"(?:(?:on|within|by the end of) )?the (?:same|very) (?:(?:working|business) )?day|on the day(?= of)|within the day"
    r"|(?:by|before) the end of (?:the|that|your|their|a) (?:day|shift)|that day|overnight": 720,
    r"(?:on |by )?the (?:next|following) (?:working |business )?day": 1440,
}
_SAID_TIME = re.compile("|".join(rf"(?P<t{row}>\b(?:{pattern})\b)" for row, pattern in enumerate(_SAID)), re.I)
_FIGURES = rf"{NUMBER_WORD}|\d{{1,2}}"
# Times of the day in words: "noon", "two in the afternoon", "6 o'clock".
_HOUR_SAID = re.compile(
    rf"\b(?:(?P<noon>noon|midday)|(?P<midnight>midnight)|(?P<past>half past |quarter past |quarter to )?"
    rf"(?P<hour>{_FIGURES})(?:\s+o['’]clock)?\s+(?:in the|at) (?P<part>morning|afternoon|evening|night)"
    rf"|(?P<clock>{_FIGURES})\s+o['’]clock)\b",
    re.I,
)
_PAST = {"half past ": 30, "quarter past ": 15, "quarter to ": -15}
_TIMES_EVERY = re.compile(
    rf"\b(?P<times>{NUMBER_WORD}|\d+)\s+times\s+(?:a|an|per|each|every)\s+(?P<unit>hour|day|week|month|quarter|year)\b"
    r"|\bevery (?:other|second) (?P<other>day|week|month|year)\b",
    re.I,
)
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SEASONS = "spring|summer|autumn|fall|winter|" + "|".join(MONTHS).lower()
_EVERY_NAMED = re.compile(
    rf"\b(?:every|each)\s+(?:(?P<day>morning|evening|night|noon)|(?P<weekday>{_DAYS})|(?P<season>{_SEASONS}))\b"
    rf"(?P<more>\s+and\s+(?:each\s+|every\s+)?(?:morning|evening|night|{_DAYS}|{_SEASONS})\b)?",
    re.I,
)
_BEFORE = re.compile(r"\b(?:on )?the (?P<unit>day|week|month)(?= before\b)", re.I)
_HALF = re.compile(r"\bhalf an? (?P<unit>hour|day|week|year)\b", re.I)
_NTH = re.compile(
    rf"\b(?P<nth>{any_of(ORDINALS)})\s+(?:(?:working|business|calendar)\s+)?(?P<unit>day|week|month|year)\b", re.I
)
_ONE = re.compile(
    r"(?<!no )(?<!any)\bone(?=\s+(?!of\b|or\b|another\b|and\b|who\b|to\b|day's\b|time\b|side\b|party\b|hand\b)[a-z]+)",
    re.I,
)
# What makes a maximum of a minimum: "Nobody stays longer than 30 minutes".
_CAPPED = re.compile(
    r"\b(?:nobody|no one|nothing|none|no|never|not)\b[^,.;]*?\b(?:longer|faster|slower|more|higher|larger|bigger"
    r"|heavier|later|over|above|exceed(?:s|ing)?|beyond)(?:\s+than)?\s*$",
    re.I,
)


@lru_cache(maxsize=1 << 14)
def find_amounts(text: str) -> tuple[Quantity, ...]:
    """All that a rule may set: quantities, and what is said without a figure; "the third day" is of "nth day"."""
    amounts = [*_said(text), *_counts(text), *_frequencies(text)]
    plain = (
        replace(quantity, bound="most")
        if quantity.bound == "least" and _CAPPED.search(text, 0, quantity.start)
        else quantity
        for quantity in find_quantities(text)
        if not overlaps(quantity, amounts)
    )
    return tuple(sorted((*amounts, *plain), key=lambda amount: amount.start))


def without_amounts(text: str) -> str:
    """A text with blanks in place of its amounts."""
    for amount in find_amounts(text):
        text = text[: amount.start] + " " * (amount.end - amount.start) + text[amount.end :]
    return text


def _said(text: str) -> Iterator[Quantity]:
    values = list(_SAID.values())
    for match in _SAID_TIME.finditer(text):
        yield Quantity(Decimal(values[int(str(match.lastgroup)[1:])]), "minute", *match.span(), bound="most")
    for match in _BEFORE.finditer(text):
        unit, value = TIMES[match["unit"].lower()]
        yield Quantity(value, unit, *match.span(), bound="least")
    for match in _HALF.finditer(text):
        unit, value = TIMES[match["unit"].lower()]
        yield made(text, value / 2, unit, match.span())
    for match in _HOUR_SAID.finditer(text):
        minutes = 720 if match["noon"] else 1440
        if figure := match["hour"] or match["clock"]:
            hour = _number(figure)
            later = (match["part"] or "").lower() in ("afternoon", "evening", "night") and hour < 12
            minutes = 60 * (hour + 12 * later) + _PAST.get((match["past"] or "").lower(), 0)
        yield made(text, Decimal(minutes), "time", match.span())


def _number(figure: str) -> int:
    return int(figure) if figure.isdigit() else words_to_number(figure.lower()) or 0


def _counts(text: str) -> Iterator[Quantity]:
    for match in _NTH.finditer(text):
        value = Decimal(ORDINALS.index(match["nth"].lower()) + 1)
        yield made(text, value, f"nth {match['unit'].lower()}", match.span())
    for match in _ONE.finditer(text):
        if not UNIT_AFTER.match(text, match.end()):
            yield made(text, Decimal(1), "", match.span(), counted(text, *match.span()))


def _frequencies(text: str) -> Iterator[Quantity]:
    for match in _EVERY_NAMED.finditer(text):
        unit, period = ("month", 12) if match["season"] else ("minute", 1440 if match["day"] else 10080)
        yield made(text, Decimal(period) / (2 if match["more"] else 1), unit, match.span(), every="word")
    for match in _TIMES_EVERY.finditer(text):
        unit, value = TIMES[(match["unit"] or match["other"]).lower()]
        if times := _number(match["times"] or ""):
            yield made(text, value / times, unit, match.span(), every="word")
        elif match["other"]:
            yield made(text, 2 * value, unit, match.span(), every="word")
