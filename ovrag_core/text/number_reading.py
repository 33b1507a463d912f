"""Numbers and percentages as texts of all countries write them, in figures or in words."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from ovrag_core.text.tokens import any_of

ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
)  # fmt: skip
_UNITS = {word: number for number, word in enumerate(ONES)} | {word: 10 * n for n, word in enumerate(TENS, 2)}
_GROUPS = {"hundred": 100, "dozen": 12}  # of what stands before them
SCALES = {
    "thousand": 1000, "lakh": 10**5, "lakhs": 10**5, "lac": 10**5, "lacs": 10**5, "million": 10**6, "crore": 10**7,
    "crores": 10**7, "billion": 10**9,
}  # fmt: skip
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10,
    "sixteenth": 16, "twentieth": 20, "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
_PARTS |= {f"{name}s": under for name, under in _PARTS.items() if name[-1] != "s"}

NUMBER_WORD = any_of((*_UNITS, *_GROUPS, *SCALES))
NUMBER_WORDS = rf"(?:(?:a\s+)?{NUMBER_WORD})(?:(?:\s{{1,20}}|-)(?:and\s{{1,20}})?{NUMBER_WORD}){{0,16}}"
_SIGN = r"(?:%|per[ \n-]?cent(?:um)?\b|percent\b|pct\b|p\.c\.)"
_PART = any_of(_PARTS)
_PERCENT = re.compile(
    r"(?<![\w.,])(?P<whole>\d{1,3}(?:[.,]\d{1,5})?)?(?:[ -]?(?P<vulgar>[½¼¾⅛⅜⅝⅞⅓⅔⅕⅖⅗⅘⅙⅚⅒])"
    r"|(?:(?(whole)[ -](?:and )?)(?P<top>\d{1,2})/(?P<bottom>\d{1,3})(?:ths?)?(?:\s+of\s+(?:1|one))?)"
    rf"|\s{{1,4}}and\s{{1,4}}(?P<say>an?|{NUMBER_WORD})[\s-]+(?P<part>{_PART}))?"
    rf"(?:\)|\s?\([a-z][a-z ,.-]{{1,60}}\))?\s?{_SIGN}",
    re.IGNORECASE,
)
_PERCENT_IN_WORDS = re.compile(
    rf"\b(?P<words>{NUMBER_WORDS})(?:\s+point\s+(?P<point>(?:(?:{NUMBER_WORD}|oh)[\s-]*)+?))?"
    rf"(?:\s+and\s+(?:(?P<top>a|an|{NUMBER_WORD})[\s-]+)?(?P<bottom>{_PART}))?(?:\s+of\s+one)?\s*"
    r"(?:%|per[ \n-]?cent(?:um)?\b|percent\b)"
    rf"|\b(?:(?P<top2>an?|{NUMBER_WORD})[\s-]+)?(?P<bottom2>{_PART})\s+(?:of\s+)?(?:an?\s+|one\s+)?"
    r"(?:per[ \n-]?cent(?:um)?\b|percent\b)",
    re.IGNORECASE,
)
_BASIS_POINTS = re.compile(r"(?<![\w.,])(?P<points>\d{1,4})\s(?:basis\s+points?\b|bps?\b)", re.IGNORECASE)
_FIGURES_FOLLOW = re.compile(r"\s*\(\s*\d")


def words_to_number(words: str) -> int | None:
    """The number that English words say: "two hundred seventy-five thousand" is 275000; None for other words."""
    total = group = 0
    read = False
    for word in re.split(r"[\s-]+", words.lower().strip()):
        if word in ("and", "a", ""):
            continue
        if word in _UNITS:
            group += _UNITS[word]
        elif word in _GROUPS:
            group = (group or 1) * _GROUPS[word]
        elif word in SCALES:
            scale = SCALES[word]
            # "one thousand million" counts millions, "two million five thousand" adds to them.
            total = (total + group) * scale if 0 < total < scale else total + (group or 1) * scale
            group = 0
        else:
            return None
        read = True
    return total + group if read else None


def parse_number(figures: str) -> Decimal | None:
    """A number as written in any country: "1,340,000.00", "18.500,00", "1'250'000", "12,50,000", "2 750 000"."""
    plain = re.sub(r"[\s'’]", "", figures).rstrip(".,")
    if "." in plain and "," in plain:
        decimal = max(".", ",", key=plain.rfind)
        plain = plain.replace("," if decimal == "." else ".", "").replace(decimal, ".")
    elif "," in plain or "." in plain:
        head, *groups = re.split("[.,]", plain)
        grouped = len(groups) > 1 or (len(groups[0]) == 3 and head != "0")
        plain = "".join((head, *groups)) if grouped else f"{head}.{groups[0]}"
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def percentages(text: str) -> Iterator[tuple[Decimal, int, int]]:
    """Each percentage in `text`, in figures or words, with its span; 25 basis points are 0.25.

    A comma or point in figures is a decimal mark, whatever the number of digits behind it.
    """
    ends = set()
    for match in _PERCENT.finditer(text):
        if match["whole"] or match["vulgar"] or match["top"]:
            ends.add(match.end())
            yield _percent_in_figures(match), *match.span()
    for match in _BASIS_POINTS.finditer(text):
        yield Decimal(match["points"]) / 100, *match.span()
    for match in _PERCENT_IN_WORDS.finditer(text):
        if match.end() in ends:
            continue
        if match["bottom2"] or not _FIGURES_FOLLOW.match(text, match.end()):
            yield _percent_in_words(match), *match.span()


def _percent_in_figures(match: re.Match[str]) -> Decimal:
    value = Decimal((match["whole"] or "0").replace(",", "."))
    if match["vulgar"]:
        value += Decimal(str(round(unicodedata.numeric(match["vulgar"]), 4)))
    if match["top"] and Decimal(match["bottom"]):
        value += Decimal(match["top"]) / Decimal(match["bottom"])
    return value + _fraction(match["say"], match["part"]) if match["part"] else value


def _percent_in_words(match: re.Match[str]) -> Decimal:
    if match["bottom2"]:
        return _fraction(match["top2"], match["bottom2"])
    number = words_to_number(match["words"]) or 0
    if match["point"]:
        words = re.split(r"[\s-]+", match["point"].lower().strip())
        return Decimal(f"{number}.{''.join('0' if word == 'oh' else str(_UNITS.get(word, '')) for word in words) or 0}")
    return number + _fraction(match["top"], match["bottom"]) if match["bottom"] else Decimal(number)


def _fraction(top: str | None, bottom: str) -> Decimal:
    """The fraction that "three" and "quarters" say; no top, or an article, is one."""
    count = words_to_number(top) if top and top.lower() not in ("a", "an") else 1
    return Decimal(count or 1) / _PARTS[bottom.lower()]
