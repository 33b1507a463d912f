# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Numbers, money, percentages, dates and durations as contracts of all countries write them, in figures or in words.

Nothing here judges what a quantity is of: each reader gives every one that a text holds, with its span.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache

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
NUMBER_WORDS = rf"(?:(?:a\s+)?(?:{_NUMBER_WORD}))(?:(?:\s{{1,20}}|-)(?:and\s{{1,20}})?(?:{_NUMBER_WORD})){{0,16}}"
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
    rf"\b(?P<words>{NUMBER_WORDS})(?:[\s,]+(?:and\s+)?(?:no|\d{{1,2}}|[xX]{{2}})/100)?(?:\s+(?:and\s+)?(?:no|zero)\s+cents)?\s+(?P<currency>{_WORD})\b",
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
class Sum:
    """An amount of money at `[start, end)` of a text, with its ISO 4217 code."""

    amount: Decimal
    currency: str
    start: int
    end: int


def moneys(text: str) -> Iterator[Sum]:
    """Every amount of money; one in words takes the currency that the same amount has by its code."""
    found = list(_stated(text))
    coded = {m.amount: m.currency for m in found if text.startswith(m.currency, m.start)}
    for money in found:
        code = coded.get(money.amount, money.currency)
        yield replace(money, currency=code) if text[money.start].isalpha() else money


def _stated(text: str) -> Iterator[Sum]:
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
        yield Sum(value * _MULTIPLIERS.get(scale, 1), local.get(currency, currency), match.start(), match.end())
    for match in _SPELLED.finditer(text):
        number = words_to_number(match["words"])
        code = next(
            (c for p, c in _WORD_CURRENCIES if re.fullmatch(p, " ".join(match["currency"].split()), re.IGNORECASE)), "$"
        )
        if number and number >= 100:
            yield Sum(Decimal(number), local.get(code, code), match.start(), match.end())


# --- percentages --------------------------------------------------------------------------------------------------

_PERCENT = re.compile(
    r"(?<![\w.,])(?P<whole>\d{1,3}(?:[.,]\d{1,5})?)?(?:[ -]?(?P<vulgar>[½¼¾⅛⅜⅝⅞⅓⅔⅕⅖⅗⅘⅙⅚⅒])|(?:[ -](?:and )?(?P<top>\d{1,2})/(?P<bottom>\d{1,3})(?:ths?)?))?\s?(?:%|per[ \n-]?cent(?:um)?\b|percent\b|pct\b|p\.c\.)",
    re.IGNORECASE,
)
_PERCENT_WORDS = re.compile(
    rf"\b(?P<words>{NUMBER_WORDS})(?:\s+point\s+(?P<point>(?:(?:{_NUMBER_WORD}|oh)[\s-]*)+?))?(?:\s+and\s+(?:(?P<top>a|an|{_NUMBER_WORD})[\s-]+)?(?P<bottom>{'|'.join(sorted(_FRACTION_WORDS, key=lambda w: (-len(w), w)))}))?(?:\s+of\s+one)?\s*(?:%|per[ \n-]?cent(?:um)?\b|percent\b)",
    re.IGNORECASE,
)


def percentages(text: str) -> Iterator[tuple[Decimal, int, int]]:
    """Each percentage in `text`, in figures or words, with its span."""
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


# --- dates -----------------------------------------------------------------------------------------------------

MONTHS = {
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
MONTH = "|".join(sorted(MONTHS, key=lambda m: (-len(m), m)))
_DATE = re.compile(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\.?(?:\s+day)?(?:\s+of)?[\s-]+(?P<m1>{MONTH})\.?,?[\s-]+(?:in the year\s+)?(?P<y1>(?:19|20)\d\d)\b"
    rf"|\b(?P<m2>{MONTH})\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y2>(?:19|20)\d\d)\b"
    r"|\b(?P<y3>(?:19|20)\d\d)-(?P<m3>\d{2})-(?P<d3>\d{2})\b"
    r"|(?<![\w./])(?P<a4>\d{1,2})(?P<s4>[./-])(?P<b4>\d{1,2})(?P=s4)(?P<y4>(?:19|20)\d\d)(?![\w/])"
    r"|(?P<y5>(?:19|20)\d\d)年(?P<m5>\d{1,2})月(?P<d5>\d{1,2})日",
    re.IGNORECASE,
)


def dates(text: str) -> Iterator[tuple[date, int, int]]:
    """Each full date in `text`, with its span."""
    month_first = _month_first(text)
    for match in _DATE.finditer(text):
        g = match.groupdict()
        if g["m1"]:
            parts = (int(g["y1"]), MONTHS[g["m1"].lower()], int(g["d1"]))
        elif g["m2"]:
            parts = (int(g["y2"]), MONTHS[g["m2"].lower()], int(g["d2"]))
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
        re.search(rf"\b(?:{MONTH})\s+\d{{1,2}},\s+(?:19|20)\d\d|U\.S\.|United States|\bUSD\b|US\$", text, re.IGNORECASE)
    ) or ("$" in text and _local_currencies(text)["$"] == "USD")


def add_months(day: date, months: int) -> date:
    """The same day `months` later, or the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


# --- durations ----------------------------------------------------------------------------------------------------

DURATION = re.compile(
    rf"(?<![\w.,$€£/])(?P<number>\d{{1,3}}|{NUMBER_WORDS})(?:\s*\((?P<figures>\d{{1,3}}|{NUMBER_WORDS})\))?[\s-]+(?P<between>(?:(?:equal|consecutive|successive|regular|level|substantially|fixed|calendar|full|,)\s+)*)(?P<unit>months?|years?|monthly|annual|yearly|quarterly)\b(?!\s+(?:old|notice))",
    re.IGNORECASE,
)


def in_months(number: str, unit: str) -> int:
    """How many months "three" "years" or "36" "monthly" are."""
    count = int(number) if number.isdigit() else words_to_number(number) or 0
    factor = {"m": 1, "y": 12, "a": 12, "q": 3}[unit[0].lower()]
    return count * factor


# --- every value, whatever it is of -----------------------------------------------------------------------------


def amounts(text: str) -> list[tuple[Decimal, int, int]]:
    """Each amount of money in `text`, with its span."""
    return [(money.amount, money.start, money.end) for money in moneys(text)]


def durations(text: str) -> list[tuple[int, int, int]]:
    """Each number of months or years in `text`, in months, with its span; "36 monthly instalments" are 36."""
    return [(in_months(m["number"], m["unit"]), m.start(), m.end()) for m in DURATION.finditer(text)]
