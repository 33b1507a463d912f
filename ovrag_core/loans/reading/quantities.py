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

from ovrag_core.text.numerals import ONES, TENS, WORDS

# --- numbers ---------------------------------------------------------------------------------------------------

_SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "lakh": 100_000,
    "lakhs": 100_000,
    "lac": 100_000,
    "lacs": 100_000,
    "million": 10**6,
    "crore": 10**7,
    "crores": 10**7,
    "billion": 10**9,
}
_NUMBER_WORD = "|".join(sorted((*WORDS, *_SCALES), key=lambda w: (-len(w), w)))
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
        if word in WORDS:
            current += WORDS[word]
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _SCALES:
            scale = _SCALES[word]
            # "one thousand million" counts millions, "two million five thousand" adds to them.
            total = (total + current) * scale if 0 < total < scale else total + (current or 1) * scale
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
    "US$": "USD", "£E": "EGP", "E£": "EGP", "L.E.": "EGP", "LE": "EGP", "Rs,": "Rs", "Mex$": "MXN", "COL$": "COP", "AR$": "ARS", "CLP$": "CLP", "円": "JPY", "U.S.$": "USD", "U.S. $": "USD", "US $": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "CDN$": "CAD", "NZ$": "NZD", "S$": "SGD", "HK$": "HKD", "R$": "BRL",
    "MX$": "MXN", "NT$": "TWD", "J$": "JMD", "$": "$", "£": "GBP", "€": "EUR", "¥": "¥", "₹": "INR", "Rs.": "Rs", "Rs": "Rs", "CHF": "CHF", "SFr.": "CHF", "Fr.": "CHF", "sFr.": "CHF", "Fr": "CHF", "kr.": "kr", "kr": "kr",
    "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "₺": "TRY", "TL": "TRY", "KSh": "KES", "KSh.": "KES", "Ksh.": "KES", "Kshs": "KES", "Kshs.": "KES", "Tshs": "TZS", "Tsh": "TZS", "Tshs.": "TZS", "Ushs": "UGX", "Ush": "UGX", "Shs": "Sh", "Shs.": "Sh", "Sh.": "Sh", "SG$": "SGD", "Can$": "CAD", "Cdn$": "CAD", "Php": "PHP", "RMB¥": "CNY", "CN¥": "CNY", "JP¥": "JPY", "Kčs": "CZK", "lei": "RON", "ден": "MKD", "din.": "dinar", "Afl.": "AWG", "FCFA": "XOF", "F CFA": "XOF", "CFA": "XOF", "Lek": "ALL", "₸": "KZT", "₾": "GEL", "₮": "MNT", "֏": "AMD", "₼": "AZN", "៛": "KHR", "₭": "LAK", "৳": "BDT", "₲": "PYG", "₡": "CRC",  "Ksh": "KES", "KShs": "KES", "KES": "KES", "₦": "NGN", "GH₵": "GHS", "₱": "PHP", "฿": "THB", "RM": "MYR", "Rp": "IDR", "₫": "VND", "₩": "KRW",
    "₪": "ILS", "NIS": "ILS", "RMB": "CNY", "Euro": "EUR", "Euros": "EUR", "euro": "EUR", "euros": "EUR", "₴": "UAH", "₽": "RUB", "TT$": "TTD", "EC$": "XCD", "Bds$": "BBD", "B$": "BSD", "G$": "GYD", "BZ$": "BZD", "FJ$": "FJD", "N$": "NAD", "USh": "UGX", "UShs": "UGX", "TSh": "TZS", "TShs": "TZS", "S/": "PEN", "QR": "QAR", "SR": "SAR", "Tk": "BDT", "Tk.": "BDT", "NRs.": "NPR", "NRs": "NPR", "SLRs": "LKR", "SLRs.": "LKR", "PKRs": "PKR", "MRs": "MUR", "INRs": "INR", "F$": "FJD", "Q.": "GTQ",  "Dh": "AED", "R": "ZAR", "Pula": "BWP",
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
# Each noun with the code it has alone (a key of `_local_currencies` where that depends on the country), then by adjective.
_CURRENCY_NAMES: tuple[tuple[str, str, dict[str, str]], ...] = (
    (r"dollars?", "$", {
        r"US|U\.S\.|USA|United\s+States|American": "USD", r"Canad(?:a|ian)": "CAD", r"Australian?": "AUD", r"New\s+Zealand": "NZD", r"Singapore(?:an)?": "SGD",
        r"Hong\s+Kong": "HKD", r"(?:New\s+)?Taiwan(?:ese)?": "TWD", r"Jamaican?": "JMD", r"Namibian?": "NAD", r"Fiji(?:an)?": "FJD", r"Barbad(?:os|ian)": "BBD", r"Baham(?:as|ian)": "BSD", r"Belize": "BZD",
        r"Trinidad(?:\s+and\s+Tobago|ian)?": "TTD", r"Guyan(?:a|ese)": "GYD", r"East(?:ern)?\s+Caribbean": "XCD", r"Liberian": "LRD", r"Bermud(?:a|ian)": "BMD", r"Cayman(?:\s+Islands?)?": "KYD"}),
    (r"pounds?(?:\s+sterling)?|sterling", "GBP", {r"British|UK|English": "GBP", r"Egyptian": "EGP", r"Lebanese": "LBP", r"Sudanese": "SDG", r"Gibraltar": "GIP", r"Falklands?": "FKP"}),
    (r"euros?", "EUR", {}),
    (r"francs?", "CHF", {r"Swiss": "CHF", r"CFA": "XOF", r"Rwandan?": "RWF", r"Guinean": "GNF", r"Burundian?": "BIF", r"Congolese": "CDF", r"CFP|Pacific": "XPF", r"Djibouti": "DJF"}),
    (r"yen", "JPY", {r"Japanese": "JPY"}),
    (r"rupees?", "Rs", {r"Indian": "INR", r"Pakistani?": "PKR", r"Sri\s+Lankan?": "LKR", r"Nepal(?:i|ese)": "NPR", r"Maurit(?:ian|ius)": "MUR", r"Seychell(?:es|ois)": "SCR"}),
    (r"kron(?:or|er|a|e)|kr[oó]nur|crowns?", "kr", {r"Swedish": "SEK", r"Norwegian": "NOK", r"Danish": "DKK", r"Icelandic": "ISK", r"Czech": "CZK"}),
    (r"korun(?:a|as|y)?", "CZK", {r"Czech": "CZK"}),
    (r"złotych|złote|z[lł]oty(?:s|ch)?", "PLN", {r"Polish": "PLN"}),
    (r"rands?", "ZAR", {r"South\s+African": "ZAR"}),
    (r"shillings?", "Sh", {r"Kenyan?": "KES", r"Ugandan?": "UGX", r"Tanzanian?": "TZS"}),
    (r"naira", "NGN", {r"Nigerian": "NGN"}),
    (r"reais|real", "BRL", {r"Brazilian": "BRL"}),
    (r"pesos?", "peso", {r"Mexican": "MXN", r"Philippine": "PHP", r"Colombian": "COP", r"Chilean": "CLP", r"Argentin(?:e|ian)": "ARS", r"Uruguayan": "UYU", r"Dominican": "DOP"}),
    (r"dinars?", "dinar", {r"Jordanian": "JOD", r"Kuwaiti": "KWD", r"Bahraini": "BHD", r"Tunisian": "TND", r"Algerian": "DZD", r"Serbian": "RSD", r"Iraqi": "IQD", r"Libyan": "LYD"}),
    (r"denars?", "MKD", {r"Macedonian": "MKD"}),
    (r"dirhams?", "AED", {r"UAE|Emirati": "AED", r"Moroccan": "MAD"}),
    (r"ri[yj]als?", "SAR", {r"Saudi": "SAR", r"Qatari?": "QAR", r"Omani": "OMR", r"Yemeni": "YER"}),
    (r"lei", "RON", {r"Romanian": "RON", r"Moldovan": "MDL"}),
    (r"rou?bles?", "RUB", {r"Russian": "RUB", r"Belarus(?:ian)?": "BYN"}),
    (r"kwacha", "ZMW", {r"Zambian": "ZMW", r"Malawi(?:an)?": "MWK"}),
    (r"yuan|renminbi", "CNY", {r"Chinese": "CNY"}),
    (r"ringgit", "MYR", {r"Malaysian": "MYR"}), (r"baht", "THB", {r"Thai": "THB"}), (r"won", "KRW", {r"(?:South\s+)?Korean": "KRW"}), (r"rupiahs?", "IDR", {r"Indonesian": "IDR"}),
    (r"dongs?", "VND", {r"Vietnam(?:ese)?": "VND"}), (r"cedis?", "GHS", {r"Ghana(?:ian)?": "GHS"}), (r"forints?", "HUF", {r"Hungarian": "HUF"}), (r"liras?", "TRY", {r"Turkish": "TRY"}),
    (r"shekels?", "ILS", {r"(?:New\s+)?Israeli|New": "ILS"}), (r"hryvn(?:ias?|ya|yas)", "UAH", {r"Ukrainian": "UAH"}), (r"lari", "GEL", {r"Georgian": "GEL"}), (r"tenge", "KZT", {r"Kazakh(?:stani?)?": "KZT"}),
    (r"drams?", "AMD", {r"Armenian": "AMD"}), (r"manats?", "AZN", {r"Azerbaijani?": "AZN"}), (r"lev[as]", "BGN", {r"Bulgarian": "BGN"}), (r"birr", "ETB", {r"Ethiopian": "ETB"}), (r"pula", "BWP", {}), (r"kina", "PGK", {}),
    (r"taka", "BDT", {}), (r"(?:nuevos\s+)?soles", "PEN", {}), (r"quetzal(?:es)?", "GTQ", {}), (r"lempiras?", "HNL", {}), (r"bolivianos?", "BOB", {}), (r"guaran[ií](?:es|s)?", "PYG", {}), (r"meticais|metical", "MZN", {}),
    (r"kwanzas?", "AOA", {}), (r"ariary", "MGA", {}), (r"rufiyaa", "MVR", {}), (r"tugriks?", "MNT", {}), (r"kyats?", "MMK", {}), (r"riels?", "KHR", {}), (r"convertible\s+marks?", "BAM", {}),
)  # fmt: skip
_WORD = "|".join(
    rf"(?:(?:{'|'.join(adjectives)})\s+)?(?:{noun})" if adjectives else noun for noun, _, adjectives in _CURRENCY_NAMES
)


@lru_cache(maxsize=512)
def _named(words: str) -> str:
    """The code of a currency's name ("Colombian pesos"), or the key of `_local_currencies` where no country is said."""
    for noun, alone, adjectives in _CURRENCY_NAMES:
        if re.fullmatch(noun, words, re.IGNORECASE):
            return alone
        for adjective, code in adjectives.items():
            if re.fullmatch(rf"(?:{adjective})\s+(?:{noun})", words, re.IGNORECASE):
                return code
    return words


_FIGURES = r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d{1,3}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?(?!\d)|\d{1,12}(?:[.,]\d{1,3})?(?!\d)"
_SCALE = r"(?:\s?(?P<{0}>(?i:millions?|mio\.?|mln|mn|m(?![\w²]|\.\s?N)|billions?|bn|thousands?|k(?!\w)|lakhs?|lacs?|crores?|cr(?=[.\s]))|万))?"
_SIGN = "|".join(re.escape(s) for s in sorted((*_SIGNS, *_CODES), key=lambda s: (-len(s), s)))
# Letters too common to be signs unless grouped figures or a scale follow; all but the naira's need their country.
_LETTER = r"[NPKQ](?=\s?\d{1,3}(?:[, ]\d{3})+|\s?\d{1,3}(?:\.\d{1,2})?\s?(?:million|m\b))"
_MONEY = re.compile(
    rf"(?<![\w$€£])(?P<sign>{_SIGN}|{_LETTER})(?:[ \u00a0]{{1,6}}|\r?\n|[ ]?\((?:{_WORD})\)[ ])?(?P<figures>{_FIGURES})"
    + _SCALE.format("scale")
    + r"(?!\d)"
    rf"|(?<![\w$€£.,/])(?P<figures2>{_FIGURES})"
    + _SCALE.format("scale2")
    + r"(?:[ \u00a0]{0,2}|\s?\((?P<said>[A-Za-z][A-Za-z /,-]{2,110}|[A-Za-z][A-Za-z -]{2,100}\d\d/100)\)[,.]?\s)"
    + rf"(?P<sign2>(?:{_SIGN})(?!\w)|(?i:{_WORD})(?!\w))"
)
_CENTS = r"(?:[\s,]+(?:and\s+)?(?:no|zero|\d{1,2}|[xX]{2})/100)?(?:\s+(?:and\s+)?(?:no|zero)\s+cents)?"
_SPELLED = re.compile(
    rf"(?<!\d )(?<!\d-)\b(?P<words>{NUMBER_WORDS}){_CENTS}\s+(?P<currency>{_WORD}|{'|'.join(_CODES)})\b"
    rf"|\b(?P<currency2>{_WORD})\s*:?\s*(?P<words2>{NUMBER_WORDS})\b"
    rf"|\b(?P<lead>(?:an?|{_NUMBER_WORD})\s+and\s+|)(?P<part>(?:an?\s+|one\s+|three[\s-]+)?(?:half|quarters?))\s+(?:of\s+)?(?:an?\s+)?(?P<scale>(?:hundred\s+)?(?:{'|'.join(_SCALES)}))\s+(?P<currency3>{_WORD})\b",
    re.IGNORECASE,
)
_MULTIPLIERS = {"m": 10**6, "b": 10**9, "t": 1000, "k": 1000, "l": 10**5, "c": 10**7, "万": 10**4}
_AMERICAN = re.compile(
    r"United States|U\.S\.|\bUSA\b|\bUS (?:dollar|citizen|bank)|Delaware|New York|California|Texas|Florida|Illinois|Nevada|Truth[- ]in[- ]Lending|\b[A-Z]{2} \d{5}\b"
)
_COUNTRY_DOLLARS: tuple[tuple[str, str], ...] = (
    (r"Canad(?:a|ian)|Ontario|Qu[ée]bec|British Columbia|Alberta|Manitoba|Nova Scotia|Saskatchewan|New Brunswick|Newfoundland|Prince Edward Island|Yukon|Winnipeg|Toronto|Vancouver|Calgary|Montr[ée]al|Ottawa|Edmonton|Halifax|Saskatoon|Moncton|Scotiabank|Desjardins|caisse populaire|\b(?:ON|QC|BC|AB|NS|NB|MB|SK|NL) [A-Z]\d[A-Z] ?\d[A-Z]\d\b", "CAD"),
    (r"Australian?|Queensland|New South Wales|\bNSW\b|\bQLD\b|Pty|\bA[BC]N\b|Tasmania|Sydney|Melbourne|Brisbane|Adelaide|Canberra|Hobart", "AUD"),
    (r"New Zealand|Auckland|Aotearoa|Wellington|Christchurch|Dunedin|Invercargill|Tauranga|Palmerston North|\bNZBN\b|\bWhakat[aā]ne|\bRotorua|\bNapier|Te Whatu", "NZD"),
    (r"Singapore|\bPte\b", "SGD"),
    (r"Hong Kong|Kowloon", "HKD"),
    (r"Jamaica|Kingston(?!,? Ontario)|Montego Bay", "JMD"),
    (r"Trinidad|Port of Spain", "TTD"),
    (r"Barbados|Bridgetown", "BBD"),
    (r"Namibia|Windhoek", "NAD"),
    (r"\bFiji\b|Suva\b", "FJD"),
    (r"Taiwan|Taipei", "TWD"),
)  # fmt: skip
_COUNTRY_PESOS: tuple[tuple[str, str], ...] = (
    (r"(?<!New )\bM[eé]xic(?:o|an)|\bM\.N\.|de C\.V\.|SOFOM|\bTIIE\b|Quer[eé]taro|Monterrey|Guadalajara", "MXN"),
    (r"₱|Philippin|Manila|Cebu|Davao|Quezon|barangay", "PHP"),
    (r"Colombia|Bogot[aá]|Medell[ií]n|\bC\.C\.|Ltda", "COP"),
    (r"Chile|Santiago|Valpara[ií]so|\bUF\b", "CLP"),
    (r"Argentin|Buenos Aires|C[oó]rdoba|Rosario", "ARS"),
    (r"Urugua|Montevideo", "UYU"),
    (r"Dominican|Santo Domingo", "DOP"),
)
_PESOS = re.compile(r"\bpesos?\b|\bM\.\s?N\.|\bmoneda nacional\b|\bde C\.V\.", re.IGNORECASE)


def _most(text: str, countries: tuple[tuple[str, str], ...], alone: str, least: int = 0) -> str:
    """The code whose country `text` names most, if more than `least` times."""
    counts = [(len(re.findall(pattern, text)), code) for pattern, code in countries]
    number, code = max(counts, key=lambda count: count[0])
    return code if number > least else alone


@lru_cache(maxsize=8)
def _local_currencies(text: str) -> dict[str, str]:
    """What $, kr, Rs, ¥, a peso, a shilling and a dinar mean here, by the signs, countries and currencies named."""
    peso = _most(text, _COUNTRY_PESOS, "MXN")
    explicit = {
        code
        for sign, code in _SIGNS.items()
        if len(sign) > 1 and sign.endswith("$") and re.search(rf"(?<!\w){re.escape(sign)}\s?\d", text)
    }
    explicit |= {code for code in ("CAD", "AUD", "NZD", "SGD", "HKD", "USD") if re.search(rf"\b{code}\b", text)}
    explicit -= {"BRL", "TWD", "MXN"}
    dollar = next(iter(explicit)) if len(explicit) == 1 else ""
    if not explicit and _PESOS.search(text) and not re.search(r"(?i)\bdollars?\b", text):
        dollar = peso
    if not dollar:
        dollar = _most(text, _COUNTRY_DOLLARS, "", len(_AMERICAN.findall(text)))
    crowns = (
        (r"Swed|Stockholm|\bAB\b|SEK|Göteborg", "SEK"),
        (r"Norw|Norge|Oslo|NOK|Bergen|\bASA?\b", "NOK"),
        (r"Danish|Denmark|Danmark|DKK|Aarhus|\bApS\b|A/S", "DKK"),
        (r"Iceland|Ísland|ISK|Reykjavík|hf\.", "ISK"),
        (r"Czech|Prague|Praha|CZK", "CZK"),
    )
    rupees = (
        (r"Pakistan|Karachi|Lahore|Sialkot|Islamabad|Faisalabad|KIBOR|\bPKR\b", "PKR"),
        (r"Sri Lanka|Colombo|Kandy|AWPLR|\bLKR\b", "LKR"),
        (r"Nepal|Kathmandu|Lalitpur|Pokhara|\bNPR\b", "NPR"),
        (r"Mauriti|\bMUR\b", "MUR"),
    )
    shillings = (
        (r"Kenya|Nairobi|SACCO|Kisumu|Mombasa", "KES"),
        (r"Uganda|Kampala|UGX", "UGX"),
        (r"Tanzania|Dar es Salaam|TZS", "TZS"),
    )
    dinars = (
        (r"Jordan|Amman", "JOD"),
        (r"Kuwait", "KWD"),
        (r"Bahrain|Manama", "BHD"),
        (r"Tunis", "TND"),
        (r"Alger", "DZD"),
        (r"Serbia|Belgrade|Beograd|Novi Sad", "RSD"),
        (r"Iraq|Baghdad", "IQD"),
    )
    letters = {
        "P": (
            (r"Philippin|Manila|Cebu|Davao|Quezon|Iloilo|[Bb]arangay|[Pp]esos", "PHP"),
            (r"Botswana|Gaborone|Pula", "BWP"),
        ),
        "K": (
            (r"(?i)\bkyats?\b|Burm|Myanmar|Yangon", "MMK"),
            (r"Zambia|Lusaka", "ZMW"),
            (r"Malawi|Lilongwe|Blantyre", "MWK"),
            (r"Papua|\b[Kk]ina\b", "PGK"),
        ),
        "Q": ((r"(?i)quetzal|Guatemal", "GTQ"),),
    }
    return {
        "N": "NGN",
        **{letter: _most(text, countries, "") for letter, countries in letters.items()},
        "$": dollar or "USD",
        "kr": _most(text, crowns, "SEK"),
        "Rs": _most(text, rupees, "INR"),
        "¥": "CNY" if re.search(r"China|RMB|Renminbi|Shanghai|Beijing", text) else "JPY",
        "peso": peso,
        "Sh": _most(text, shillings, "KES"),
        "dinar": _most(text, dinars, "RSD"),
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
        if sign in ("P", "K", "Q") and not local[sign]:
            continue
        if value is None or (match["said"] and words_to_number(_CENTS_END.sub("", match["said"])) != value):
            continue
        currency = (
            local[sign]
            if sign in ("N", "P", "K", "Q")
            else _SIGNS.get(sign) or (sign if sign in _CODES else _named(sign))
        )
        yield Sum(value * _MULTIPLIERS.get(scale, 1), local.get(currency, currency), match.start(), match.end())
    for match in _SPELLED.finditer(text):
        words = match["words"] or match["words2"]
        number = (
            Decimal(words_to_number(words) or 0) if words else _parted(match["lead"], match["part"], match["scale"])
        )
        name = match["currency"] or match["currency2"] or match["currency3"]
        code = name if name in _CODES else _named(" ".join(name.split()))
        if number >= 100:
            yield Sum(number, local.get(code, code), match.start(), match.end())


_CENTS_END = re.compile(r"(?i)[\s,]*(?:and\s*)?(?:\d\d|no|xx)?/100$|\s+only$|[,-]\s*$")


def _parted(lead: str, part: str, scale: str) -> Decimal:
    """The number of "two and a half million" or "three quarters of a million"."""
    whole = words_to_number(lead.replace(" a ", " one ")) if lead.strip() else 0
    if lead.strip().lower().split()[:1] in (["a"], ["an"]):
        whole = 1
    share = (
        Decimal("0.5") if "half" in part.lower() else Decimal("0.75" if part.lower().startswith("three") else "0.25")
    )
    return (Decimal(whole or 0) + share) * (words_to_number(scale) or 0)


# --- percentages --------------------------------------------------------------------------------------------------

_PER_CENT = r"(?:%|per[ \n-]?cent(?:um)?\b|percent\b|pct\b|p\.c\.)"
_FRACTION = "|".join(sorted(_FRACTION_WORDS, key=lambda w: (-len(w), w)))
_PERCENT = re.compile(
    rf"(?<![\w.,])(?P<whole>\d{{1,3}}(?:[.,]\d{{1,5}})?)?(?:[ -]?(?P<vulgar>[½¼¾⅛⅜⅝⅞⅓⅔⅕⅖⅗⅘⅙⅚⅒])|(?:[ -](?:and )?(?P<top>\d{{1,2}})/(?P<bottom>\d{{1,3}})(?:ths?)?)|\s{{1,4}}and\s{{1,4}}(?P<say>an?|{_NUMBER_WORD})[\s-]+(?P<part>{_FRACTION}))?"
    rf"(?:\)|\s?\([a-z][a-z ,.-]{{1,60}}\))?\s?{_PER_CENT}",
    re.IGNORECASE,
)
_PERCENT_WORDS = re.compile(
    rf"\b(?P<words>{NUMBER_WORDS})(?:\s+point\s+(?P<point>(?:(?:{_NUMBER_WORD}|oh)[\s-]*)+?))?(?:\s+and\s+(?:(?P<top>a|an|{_NUMBER_WORD})[\s-]+)?(?P<bottom>{_FRACTION}))?(?:\s+of\s+one)?\s*(?:%|per[ \n-]?cent(?:um)?\b|percent\b)"
    rf"|\b(?:(?P<top2>an?|{_NUMBER_WORD})[\s-]+)?(?P<bottom2>{_FRACTION})\s+(?:of\s+)?(?:an?\s+|one\s+)?(?:per[ \n-]?cent(?:um)?\b|percent\b)",
    re.IGNORECASE,
)
_BASIS_POINTS = re.compile(r"(?<![\w.,])(?P<points>\d{1,4})\s(?:basis\s+points?\b|bps?\b)", re.IGNORECASE)


def percentages(text: str) -> Iterator[tuple[Decimal, int, int]]:
    """Each percentage in `text`, in figures or words, with its span."""
    ends = set()
    for match in _PERCENT.finditer(text):
        if not (match["whole"] or match["vulgar"] or match["top"]):
            continue
        value = parse_percent(match["whole"] or "0")
        if match["vulgar"]:
            value += Decimal(_VULGAR[match["vulgar"]])
        if match["top"] and Decimal(match["bottom"]):
            value += Decimal(match["top"]) / Decimal(match["bottom"])
        if match["part"]:
            value += _fraction(match["say"], match["part"])
        ends.add(match.end())
        yield value, match.start(), match.end()
    for match in _BASIS_POINTS.finditer(text):
        yield Decimal(match["points"]) / 100, match.start(), match.end()
    for match in _PERCENT_WORDS.finditer(text):
        if match.end() in ends:
            continue
        if match["bottom2"]:
            yield _fraction(match["top2"], match["bottom2"]), match.start(), match.end()
            continue
        number = words_to_number(match["words"])
        if number is None or re.match(r"\s*\(\s*\d", text[match.end() : match.end() + 8]):
            continue
        value = Decimal(number)
        if match["bottom"]:
            value += _fraction(match["top"], match["bottom"])
        if match["point"]:
            digits = "".join(
                "0" if w == "oh" else str(WORDS.get(w, "")) for w in re.split(r"[\s-]+", match["point"].lower().strip())
            )
            value = Decimal(f"{number}.{digits or 0}")
        yield value, match.start(), match.end()


def _fraction(top: str | None, bottom: str) -> Decimal:
    """The fraction that "three" and "quarters" say; no top, or an article, is one."""
    said = words_to_number(top) if top and top.lower() not in ("a", "an") else 1
    return Decimal(said or 1) / _FRACTION_WORDS[bottom.lower()]


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
_TENTHS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_ORDINALS = {
    word: day
    for day, word in enumerate(
        (
            *_TENTHS,
            *[
                "tenth",
                "eleventh",
                "twelfth",
                "thirteenth",
                "fourteenth",
                "fifteenth",
                "sixteenth",
                "seventeenth",
                "eighteenth",
                "nineteenth",
            ],
            "twentieth",
            *(f"twenty {unit}" for unit in _TENTHS),
            "thirtieth",
            "thirty first",
        ),
        1,
    )
}
ORDINAL = "|".join(sorted(_ORDINALS, key=lambda w: (-len(w), w))).replace(" ", r"[\s-]+")
_DAY = rf"\d{{1,2}}(?:\s?(?:st|nd|rd|th)\b)?|\b(?:{ORDINAL})(?=[\s,])"
_YEAR = rf"(?:19|20)\d\d\b|['’‘]\d\d\b|(?:B\.?\s?E\.?\s*)?2[45]\d\d\b|two\s+thousand(?:(?:\s+and)?\s+(?:{'|'.join(TENS)})(?:[\s-]+(?:{'|'.join(ONES)}))?|(?:\s+and)?\s+(?:{'|'.join(ONES)}))?\b"
_DATE = re.compile(
    rf"(?<![\w./])(?P<d1>{_DAY})\.?(?:\s+day)?(?:\s+of)?(?:[\s-]+|(?<=\d))(?:the\s+month\s+of\s+)?(?P<m1>{MONTH})\b\.?(?:,?[\s-]+|,)(?:(?:in|of)\s+the\s+year\s+)?(?:of\s+)?(?P<y1>{_YEAR}|(?<=[a-z]-)\d\d\b)"
    rf"|\b(?P<m2>{MONTH})\.?\s+(?:the\s+)?(?P<d2>{_DAY})(?:,\s*|\s+)(?:(?:in|of)\s+the\s+year\s+)?(?P<y2>{_YEAR})"
    r"|(?<![\w./-])(?P<y3>(?:19|20)\d\d)(?P<s3>[-/.])(?P<m3>\d{1,2})(?P=s3)(?P<d3>\d{1,2})(?![\w/-])"
    r"|(?<![\w./])(?P<a4>\d{1,2})(?P<s4>\s?[./-]\s?)(?P<b4>\d{1,2})(?P=s4)(?P<y4>(?:19|20)\d\d)(?![\w/])"
    r"|(?P<y5>(?:19|20)\d\d)年(?P<m5>\d{1,2})月(?P<d5>\d{1,2})日"
    r"|(?<![\w./,-])(?:(?P<a6>\d{1,2})/(?P<b6>\d{1,2})/|(?P<a7>\d\d)(?P<s7>[.-])(?P<b7>\d\d)(?P=s7))(?P<y6>\d\d)(?![\w/%-]|[.,]\d)"
    rf"|(?<![\w./-])(?P<y9>(?:19|20)\d\d)(?:\.|\),?|,)?\s+(?P<m9>{MONTH})\b\.?\s+(?P<d9>\d{{1,2}})\b(?!\s*,?\s*(?:19|20)\d\d)"
    rf"|\b(?P<feast>New\s+Year['’]?s\s+(?:Day|Eve)|Christmas(?:\s+(?:Day|Eve))?),?\s+(?P<y10>(?:19|20)\d\d)\b"
    rf"|\b(?:last\s+day\s+of|end\s+of)\s+(?:the\s+month\s+of\s+)?(?P<m8>{MONTH})\.?,?\s+(?:of\s+)?(?P<y8>{_YEAR})",
    re.IGNORECASE,
)


_FEASTS = {
    "new years day": (1, 1),
    "new years eve": (12, 31),
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
}


def dates(text: str) -> Iterator[tuple[date, int, int]]:
    """Each full date in `text`, in figures or words, with its span; the last day of a month counts."""
    month_first = _month_first(text)
    for match in _DATE.finditer(text):
        g = match.groupdict()
        if g["m1"]:
            parts = (_year(g["y1"]), MONTHS[g["m1"].lower()], _day(g["d1"]))
        elif g["m2"]:
            parts = (_year(g["y2"]), MONTHS[g["m2"].lower()], _day(g["d2"]))
        elif g["y3"]:
            parts = (int(g["y3"]), int(g["m3"]), int(g["d3"]))
        elif g["y5"]:
            parts = (int(g["y5"]), int(g["m5"]), int(g["d5"]))
        elif g["m9"]:
            parts = (int(g["y9"]), MONTHS[g["m9"].lower()], int(g["d9"]))
        elif g["feast"]:
            parts = (
                int(g["y10"]),
                *_FEASTS[" ".join(re.findall(r"[a-z]+", g["feast"].lower().replace("'", "").replace("’", "")))],
            )
        elif g["m8"]:
            year, month = _year(g["y8"]), MONTHS[g["m8"].lower()]
            parts = (year, month, monthrange(year, month)[1])
        else:
            a, b = int(g["a4"] or g["a6"] or g["a7"]), int(g["b4"] or g["b6"] or g["b7"])
            first = month_first and (g["s4"] or g["s7"] or "/").strip() != "."
            year = int(g["y4"]) if g["y4"] else _year(g["y6"])
            parts = (year, a, b) if (first and a <= 12) or b > 12 else (year, b, a)
        try:
            yield date(*parts), match.start(), match.end()
        except ValueError:
            continue


def _day(written: str) -> int:
    digits = re.match(r"\d+", written)
    return int(digits.group()) if digits else _ORDINALS[" ".join(re.split(r"[\s-]+", written.lower().strip()))]


def _year(written: str) -> int:
    """The year of "2029", "'29", "two thousand and twenty-nine", or of 2572 in the Buddhist era."""
    digits = re.search(r"\d+$", written)
    if digits is None:
        return words_to_number(written) or 0
    year = int(digits.group())
    if year < 100:
        return year + (2000 if year < 70 else 1900)
    return year - 543 if year >= 2400 else year


def _month_first(text: str) -> bool:
    """Whether 03/04/2025 is the fourth of March here: as other dates of the document show, else as its country writes."""
    pairs = [(int(a), int(b)) for a, b in re.findall(r"(?<![\w/])(\d{1,2})/(\d{1,2})/(?:(?:19|20)\d\d|\d\d)\b", text)]
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
