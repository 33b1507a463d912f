"""Dates and durations as texts of all countries write them, in figures or in words."""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

from ovrag_core.text.money import local_currency
from ovrag_core.text.number_reading import NUMBER_WORDS, ONES, ORDINALS, TENS, words_to_number
from ovrag_core.text.tokens import any_of

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
# Every writing of a month, in lower case.
_NUMBERS = {name.lower()[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))}
_NUMBERS["sept"] = 9
MONTH = any_of(_NUMBERS)
_DAYS = {word: day for day, word in enumerate(ORDINALS, 1)}
_DAYS |= {f"twenty {word}": 20 + day for word, day in list(_DAYS.items())[:9]} | {"thirtieth": 30, "thirty first": 31}
ORDINAL = any_of(_DAYS).replace(r"\s+", r"[\s-]+")
_FEASTS = {
    "new years day": (1, 1), "new years eve": (12, 31), "christmas": (12, 25), "christmas day": (12, 25),
    "christmas eve": (12, 24),
}  # fmt: skip

_DAY = rf"\d{{1,2}}(?:\s?(?:st|nd|rd|th)\b)?|\b{ORDINAL}(?=[\s,])"
_YEAR = (
    r"(?:19|20)\d\d\b|['’‘]\d\d\b|(?:B\.?\s?E\.?\s*)?2[45]\d\d\b"
    rf"|two\s+thousand(?:(?:\s+and)?\s+{any_of(TENS)}(?:[\s-]+{any_of(ONES)})?|(?:\s+and)?\s+{any_of(ONES)})?\b"
)
_OF_YEAR = r"(?:(?:in|of)\s+the\s+year\s+)?"
_DATE = re.compile(
    rf"(?<![\w./])(?P<d1>{_DAY})\.?(?:\s+day)?(?:\s+of)?(?:\s+|-|(?<=\d))(?:the\s+month\s+of\s+)?(?P<m1>{MONTH})\b\.?"
    rf"(?:,?[\s-]+|,){_OF_YEAR}(?:of\s+)?(?P<y1>{_YEAR}|(?<=[a-z]-)\d\d\b)"
    rf"|\b(?P<m2>{MONTH})\.?\s+(?:the\s+)?(?P<d2>{_DAY})(?:,\s*|\s+){_OF_YEAR}(?P<y2>{_YEAR})"
    r"|(?<![\w./-])(?P<y3>(?:19|20)\d\d)(?P<s3>[-/.])(?P<m3>\d{1,2})(?P=s3)(?P<d3>\d{1,2})(?![/-]|(?!T\d)\w)"
    r"|(?<![\w./])(?P<a4>\d{1,2})(?P<s4>\s?[./-]\s?)(?P<b4>\d{1,2})(?P=s4)(?P<y4>(?:19|20)\d\d)(?![\w/])"
    r"|(?P<y5>(?:19|20)\d\d)年(?P<m5>\d{1,2})月(?P<d5>\d{1,2})日"
    r"|(?<![\w./,-])(?:(?P<a6>\d{1,2})/(?P<b6>\d{1,2})/|(?P<a7>\d\d)(?P<s7>[.-])(?P<b7>\d\d)(?P=s7))(?P<y6>\d\d)"
    r"(?![\w/%-]|[.,]\d)"
    rf"|(?<![\w./-])(?P<y9>(?:19|20)\d\d)(?:\.|\),?|,)?\s+(?P<m9>{MONTH})\b\.?\s+(?P<d9>\d{{1,2}})\b"
    r"(?!\s*,?\s*(?:19|20)\d\d)"
    r"|\b(?P<feast>New\s+Year['’]?s\s+(?:Day|Eve)|Christmas(?:\s+(?:Day|Eve))?),?\s+(?P<y10>(?:19|20)\d\d)\b"
    rf"|\b(?:last\s+day\s+of|end\s+of)\s+(?:the\s+month\s+of\s+)?(?P<m8>{MONTH})\.?,?\s+(?:of\s+)?(?P<y8>{_YEAR})",
    re.IGNORECASE,
)
_SLASHED = re.compile(r"(?<![\w/])(\d{1,2})/(\d{1,2})/(?:(?:19|20)\d\d|\d\d)\b")
_AMERICAN = re.compile(rf"\b{MONTH}\s+\d{{1,2}},\s+(?:19|20)\d\d|U\.S\.|United States|\bUSD\b|US\$", re.IGNORECASE)
_NAMED = rf"(?=[A-Z])(?i:{MONTH})"
_PARTIAL = re.compile(
    rf"(?<![\w.,])(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m1>{_NAMED})\b"
    rf"|\b(?P<m3>{_NAMED})\.?,?\s+(?P<y3>(?:19|20)\d\d)\b"
    rf"|\b(?P<m2>{_NAMED})\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*:)"
)
_DURATION = re.compile(
    rf"(?<![\w.,$€£/])(?P<number>\d{{1,3}}|{NUMBER_WORDS})(?:\s*\((?P<figures>\d{{1,3}}|{NUMBER_WORDS})\))?[\s-]+"
    r"(?P<between>(?:(?:equal|consecutive|successive|regular|level|substantially|fixed|calendar|full|,)\s+)*)"
    r"(?P<unit>months?|years?|monthly|annual|yearly|quarterly)\b(?!\s+(?:old|notice))",
    re.IGNORECASE,
)
_IN_MONTHS = {"m": 1, "y": 12, "a": 12, "q": 3}  # by the first letter of a unit


class PartialDate(NamedTuple):
    """A month with what is said of its year and day, at `[start, end)` of a text."""

    year: int | None
    month: int
    day: int | None
    start: int
    end: int


def dates(text: str) -> Iterator[tuple[date, int, int]]:
    """Each full date in `text`, in figures or words, with its span; the last day of a month counts."""
    month_first = _month_first(text)
    for match in _DATE.finditer(text):
        named = {key.rstrip("0123456789"): value for key, value in match.groupdict().items() if value}
        try:
            yield date(*_parts(named, month_first)), *match.span()
        except ValueError:
            continue


def partial_dates(text: str) -> Iterator[PartialDate]:
    """Each date in `text` in which the day or the year may be missing, months by their names; the full ones first."""
    full_spans = []
    for day, start, end in dates(text):
        full_spans.append((start, end))
        yield PartialDate(day.year, day.month, day.day, start, end)
    for match in _PARTIAL.finditer(text):
        if all(match.end() <= start or end <= match.start() for start, end in full_spans):
            named = {key[0]: value for key, value in match.groupdict().items() if value}
            numbers = {key: int(value) for key, value in named.items() if key != "m"}
            yield PartialDate(numbers.get("y"), _NUMBERS[named["m"].lower()], numbers.get("d"), *match.span())


def readings(written: str, day: date) -> tuple[date, ...]:
    """The day, and the other one that figures such as 03/04/2025 may mean."""
    open_ = re.fullmatch(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{4}", written) and day.day <= 12 and day.day != day.month
    return (day, date(day.year, day.day, day.month)) if open_ else (day,)


def add_months(day: date, months: int) -> date:
    """The same day `months` later, or the last day of a shorter month."""
    return day + relativedelta(months=months)


def durations(text: str) -> list[tuple[int, int, int]]:
    """Each number of months or years in `text`, in months, with its span; "36 monthly instalments" are 36."""
    found = []
    for match in _DURATION.finditer(text):
        number = match["number"]
        count = int(number) if number.isdigit() else words_to_number(number) or 0
        found.append((count * _IN_MONTHS[match["unit"][0].lower()], *match.span()))
    return found


def _parts(named: Mapping[str, str], month_first: bool) -> tuple[int, int, int]:
    """Year, month and day of what a pattern has found."""
    year = _year(named["y"])
    if "feast" in named:
        return (year, *_FEASTS[" ".join(re.sub("['’]", "", named["feast"]).lower().split())])
    if "a" in named:
        left, right = int(named["a"]), int(named["b"])
        month_leads = month_first and named.get("s", "/").strip() != "."
        return (year, left, right) if (month_leads and left <= 12) or right > 12 else (year, right, left)
    month = _NUMBERS.get(named["m"].lower()) or int(named["m"])
    return year, month, _day(named["d"]) if "d" in named else monthrange(year, month)[1]


def _day(written: str) -> int:
    digits = re.match(r"\d+", written)
    return int(digits[0]) if digits else _DAYS[" ".join(re.split(r"[\s-]+", written.lower().strip()))]


def _year(written: str) -> int:
    """The year of "2029", "'29", "two thousand and twenty-nine", or of 2572 in the Buddhist era."""
    digits = re.search(r"\d+$", written)
    if digits is None:
        return words_to_number(written) or 0
    year = int(digits[0])
    if year < 100:
        return year + (2000 if year < 70 else 1900)
    return year - 543 if year >= 2400 else year


def _month_first(text: str) -> bool:
    """Return True where 03/04/2025 is 4 March here: as other dates of the text show, else as its country writes."""
    pairs = [(int(left), int(right)) for left, right in _SLASHED.findall(text)]
    if any(right > 12 for _, right in pairs):
        return True
    if any(left > 12 for left, _ in pairs):
        return False
    return bool(_AMERICAN.search(text)) or ("$" in text and local_currency("$", text) == "USD")
