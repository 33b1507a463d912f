"""Tests of whether a passage can say what a statement takes from it.

A name must stand in the text, a figure in the quote, and a class of security or of credit must be what the quote means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ovrag_core.base import Triple
from ovrag_core.loans.reading.claims import OPPOSITES
from ovrag_core.loans.reading.judge import STATEMENTS, load_judge
from ovrag_core.loans.reading.sentences import as_read
from ovrag_core.loans.reading.subjects import ROLES, bare_name
from ovrag_core.ontology import OntologyTerm, read_value

_FIGURE = re.compile(r"[-+]?\d(?:[\d.,'’/\u00a0\u202f ]*\d)?")
ABSENT = 0.1  # probability below which a passage does not mean the class claimed
_AFTER = 16  # characters behind a figure that may hold its scale
_PER_CENT = re.compile(r"\s*[¼½¾⅐-⅞]?\s*(?:%|per\s?cent\b|basis points?\b|bps?\b)", re.IGNORECASE)
_CURRENCY = re.compile(r"(?:[$€£¥₹]|\b[A-Z]{3})\s?$")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_WORD = re.compile(r"[^\W_]+")


def is_supported(value: str, term: OntologyTerm, quote: str, texts: Sequence[str]) -> bool:
    """Return True where `value`, given for the property `term`, can come from `quote`, a passage of one of `texts`.

    Every word of a party's name must stand in the texts. An amount or rate must be one of those that the quote gives in
    figures, and the year of a date one of its years, where it gives any: values may be written out in words. All else
    is a matter of reading, which no comparison of words decides.
    """
    if term.name in ROLES:
        return _words([bare_name(value)]) <= _words(texts)
    if term.values in ("amount", "rate"):
        read = read_value(value, term.values)
        figures = {figure for marked in _figures(quote, term.values) for figure in marked}
        return read is None or not figures or read.lexical in figures
    if term.values == "date":
        years = set(_YEAR.findall(quote))
        return not years or bool(years & set(_YEAR.findall(value))) or not _YEAR.search(value)
    return True


def is_borne_out(triple: Triple) -> bool:
    """Check that a statement's passage means the class that it claims; of other statements nothing is judged."""
    if triple.predicate != "rdf:type" or triple.object not in OPPOSITES or triple.evidence is None:
        return True
    quote = as_read(triple.evidence.quote)
    likely = load_judge().read(quote).statements([(0, len(quote))])[0]
    return bool(likely[STATEMENTS.index(triple.object)] >= ABSENT)


def _words(texts: Iterable[str]) -> set[str]:
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


def _figures(quote: str, kind: str) -> Iterator[list[str]]:
    """Readings of each figure of the quote that is by its looks of the kind: alone, and with its scale or fraction."""
    for match in _FIGURE.finditer(quote):
        after = quote[match.end() : match.end() + _AFTER]
        if kind == "rate":
            is_marked = _PER_CENT.match(after) is not None
        else:
            is_marked = len(re.findall(r"\d", match[0])) > 3 or _CURRENCY.search(quote, 0, match.start()) is not None
        if is_marked and not (kind == "amount" and _PER_CENT.match(after)):
            readings = [read_value(text, kind) for text in (match[0], match[0] + after)]
            yield [read.lexical for read in readings if read]
