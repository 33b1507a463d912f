"""Amounts of money as texts of all countries write them, each with its span and currency (`money.yaml`)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import yaml
from babel import Locale
from babel.core import get_global
from babel.numbers import get_territory_currencies

from ovrag_core.text.currencies import likeliest
from ovrag_core.text.number_reading import NUMBER_WORD, NUMBER_WORDS, SCALES, parse_number, words_to_number
from ovrag_core.text.tokens import any_of


@dataclass(frozen=True, slots=True)
class MoneyMention:
    """An amount of money at `[start, end)` of a text, with its ISO 4217 code."""

    amount: Decimal
    currency: str
    start: int
    end: int


_DATA: dict[str, Any] = yaml.safe_load(resources.files(__package__).joinpath("money.yaml").read_text("utf-8"))
_DAY = date(2025, 1, 1)  # of the list of currencies, so that it is the same every year
_IN_USE = {code for place in get_global("territory_currencies") for code in get_territory_currencies(place, _DAY, _DAY)}
CURRENCIES = frozenset(_IN_USE) - {"CUP", "SOS", "TOP"}  # which are words of headlines as well
_SIGNS: dict[str, str] = {sign: meaning for meaning, signs in _DATA["signs"].items() for sign in signs}
_NOUNS: tuple[tuple[str, str, dict[str, str]], ...] = tuple(
    (name["noun"], name["alone"], name.get("of", {})) for name in _DATA["names"]
)
_NAME = "|".join(rf"(?:(?:{'|'.join(of)})\s+)?(?:{noun})" if of else noun for noun, _, of in _NOUNS)
_PESOS = re.compile("|".join(_DATA["pesos"]), re.IGNORECASE)
SHARED: dict[str, list[str]] = _DATA["shared"]  # currencies by a sign or word of several

_FIGURES = (
    r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d{1,3}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?(?!\d)"
    r"|\d{1,12}(?:[.,]\d{1,3})?(?!\d)"
)
_SCALE = (
    r"(?:\s?(?P<{0}>(?i:millions?|mio\.?|mln|mn|m(?![\w²]|\.\s?N)|billions?|bn|thousands?|k(?!\w)|lakhs?|lacs?|crores?"
    r"|cr(?=[.\s]))|万))?"
)
_MULTIPLIERS = {"m": 10**6, "b": 10**9, "t": 1000, "k": 1000, "l": 10**5, "c": 10**7, "万": 10**4}
_SIGN = any_of((*_SIGNS, *CURRENCIES)).replace(r"\s+", " ")
# Letters too common to be signs unless grouped figures or a scale follow, and no part of a document is called so.
_PARTS = "".join(rf"(?<!{part} )" for part in ("Schedule", "Annex", "Exhibit", "Section", "Item", "Form", "Part"))
_LETTER = rf"{_PARTS}[NPKQ](?=\s?\d{{1,3}}(?:[, ]\d{{3}})+|\s?\d{{1,3}}(?:\.\d{{1,2}})?\s?(?:million|m\b))"
_IN_FIGURES = re.compile(
    rf"(?<![\w$€£])(?P<sign>{_SIGN}|{_LETTER})(?:[ \u00a0]{{1,6}}|\r?\n|[ ]?\((?:{_NAME})\)[ ])?(?P<figures>{_FIGURES})"
    + _SCALE.format("scale")
    + rf"(?!\d)|(?<![\w$€£.,/])(?P<figures2>{_FIGURES})"
    + _SCALE.format("scale2")
    + r"(?:[ \u00a0]{0,2}|\s?\((?P<said>[A-Za-z][A-Za-z /,-]{2,110}|[A-Za-z][A-Za-z -]{2,100}\d\d/100)\)[,.]?\s)"
    + rf"(?P<sign2>(?:{_SIGN})(?!\w)|(?i:{_NAME})(?!\w))"
)
_CENTS = r"(?:[\s,]+(?:and\s+)?(?:no|zero|\d{1,2}|[xX]{2})/100)?(?:\s+(?:and\s+)?(?:no|zero)\s+cents)?"
_CENTS_END = re.compile(r"(?i)[\s,]*(?:and\s*)?(?:\d\d|no|xx)?/100$|\s+only$|[,-]\s*$")
_IN_WORDS = re.compile(
    rf"(?<!\d )(?<!\d-)\b(?P<words>{NUMBER_WORDS}){_CENTS}\s+(?P<currency>{_NAME}|{'|'.join(sorted(CURRENCIES))})\b"
    rf"|\b(?P<currency2>{_NAME})\s*:?\s*(?P<words2>{NUMBER_WORDS})\b"
    rf"|\b(?P<lead>(?:an?|{NUMBER_WORD})\s+and\s+|)(?P<part>(?:an?\s+|one\s+|three[\s-]+)?(?:half|quarters?))\s+"
    rf"(?:of\s+)?(?:an?\s+)?(?P<scale>(?:hundred\s+)?{any_of(('hundred', *SCALES))})\s+(?P<currency3>{_NAME})\b",
    re.IGNORECASE,
)
_NAMED = (
    re.compile(rf"\b(?:{'|'.join(sorted(CURRENCIES))})\b"),
    re.compile(rf"(?<![^\W\d_]){_SIGN}(?![^\W\d_])"),
    re.compile(rf"\b(?:{_NAME})\b", re.IGNORECASE),
)
_CODES = "|".join(sorted({code for codes in SHARED.values() for code in codes}))
_OWN_SIGN = any_of([sign for sign, meaning in _SIGNS.items() if meaning not in SHARED and len(sign) > 1])
# What stands for one of the currencies that share a sign or word: a code, a sign of its own, a name.
_OWN = re.compile(rf"\b(?:{_CODES})\b|(?<!\w){_OWN_SIGN}(?=\s?\d)|\b(?i:{_NAME})\b")
_LEAST_IN_WORDS = 100  # below, "two pounds" may be weights


def moneys(text: str) -> Iterator[MoneyMention]:
    """Every amount of money, those in figures first; one in words takes the currency that its figures have by code."""
    mentions = [*_in_figures(text), *_in_words(text)]
    coded = {money.amount: money.currency for money in mentions if text.startswith(money.currency, money.start)}
    for money in mentions:
        code = coded.get(money.amount, money.currency)
        yield replace(money, currency=code) if text[money.start].isalpha() else money


def amounts(text: str) -> list[tuple[Decimal, int, int]]:
    """Each amount of money in `text`, with its span."""
    return [(money.amount, money.start, money.end) for money in moneys(text)]


def currency_of(text: str) -> str | None:
    """The currency that a short text names: by code, else by sign, else by name; None where it names none."""
    hit = next((match for pattern in _NAMED if (match := pattern.search(text))), None)
    return _code(hit[0], text) if hit else None


def _in_figures(text: str) -> Iterator[MoneyMention]:
    for match in _IN_FIGURES.finditer(text):
        sign = match["sign"] or match["sign2"]
        value = parse_number(match["figures"] or match["figures2"])
        scale = (match["scale"] or match["scale2"] or " ").strip().lower()[:1]
        currency = _code(sign, text)
        if value is None:
            continue
        if match["said"] is None or words_to_number(_CENTS_END.sub("", match["said"])) == value:
            yield MoneyMention(value * _MULTIPLIERS.get(scale, 1), currency, *match.span())


def _in_words(text: str) -> Iterator[MoneyMention]:
    for match in _IN_WORDS.finditer(text):
        words = match["words"] or match["words2"]
        number = (
            Decimal(words_to_number(words) or 0) if words else _parted(match["lead"], match["part"], match["scale"])
        )
        name = match["currency"] or match["currency2"] or match["currency3"]
        if number >= _LEAST_IN_WORDS:
            yield MoneyMention(number, _code(" ".join(name.split()), text), *match.span())


def _code(sign: str, text: str) -> str:
    """The code of a sign, code or name as `text` means it."""
    meaning = _SIGNS.get(sign) or (sign if sign in CURRENCIES or sign in SHARED else _named(sign))
    return local_currency(meaning, text) if meaning in SHARED else meaning


@lru_cache(maxsize=512)
def _named(words: str) -> str:
    """The code of a currency's name ("Colombian pesos"), or the shared name where no country is said."""
    for noun, alone, adjectives in _NOUNS:
        if re.fullmatch(noun, words, re.IGNORECASE):
            return alone
        for adjective, code in adjectives.items():
            if re.fullmatch(rf"(?:{adjective})\s+(?:{noun})", words, re.IGNORECASE):
                return code
    return words


def _parted(lead: str, part: str, scale: str) -> Decimal:
    """The number of "two and a half million" or "three quarters of a million"."""
    whole = words_to_number(lead.replace(" a ", " one ")) if lead.strip() else 0
    if lead.strip().lower().split()[:1] in (["a"], ["an"]):
        whole = 1
    quarters = 2 if "half" in part.lower() else 3 if part.lower().startswith("three") else 1
    return (Decimal(whole or 0) + Decimal(quarters) / 4) * (words_to_number(scale) or 0)


@lru_cache(maxsize=64)
def local_currency(name: str, text: str) -> str:
    """The code that a sign or word of several countries means here, by the signs, codes and names in the text.

    It is the one whose own sign, code or name stands in the text, else the one whose country or people it names, else
    the likeliest by all names in it. A bare dollar is a peso where the text speaks of pesos and of no dollar.
    """
    if name == "$" and _PESOS.search(text) and not re.search(r"(?i)\bdollars?\b", text):
        name = "peso"
    codes = SHARED[name]
    own = (" ".join(match[0].split()) for match in _OWN.finditer(text))
    explicit = {_SIGNS.get(mention) or _named(mention) for mention in own}.intersection(codes)
    at_home = {code for code in codes if _country(code).search(text)}
    told = next((found for found in (explicit, at_home) if len(found) == 1), None)
    return told.pop() if told else likeliest(text, codes)


@cache
def _country(code: str) -> re.Pattern[str]:
    """The names of the countries that have a currency, and of their peoples."""
    territories = Locale("en").territories.items()
    names = [name.split(" (")[0] for place, name in territories if code in get_territory_currencies(place, _DAY)]
    written = any_of([*names, *(name.replace("St.", "Saint").replace("&", "and") for name in names)])
    # "US" may be a pronoun in capitals.
    peoples = [adjective.removeprefix("US|") for _, _, of in _NOUNS for adjective, own in of.items() if own == code]
    return re.compile(rf"(?<!\w)(?:{'|'.join([written, *peoples])})(?!\w)")
