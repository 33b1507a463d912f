"""Role and kind of a named person or body in the loan, by what the judge makes of every mention of it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from operator import itemgetter
from typing import Literal, NamedTuple

from ovrag_core.loans.reading.judge import ROLES, load_judge
from ovrag_core.loans.reading.names import Name, find_names, is_form, likely_bearers, words
from ovrag_core.loans.reading.sentences import as_read
from ovrag_core.retrieval import Probabilities
from ovrag_core.text import Span, amounts

Role = Literal["borrower", "lender", "guarantor"]
PARTIES: tuple[Role, Role, Role] = ("borrower", "lender", "guarantor")
PRINCIPALS = PARTIES[:2]
DEFINED = 5.0  # log odds that a term which names a role adds to it
DOUBTED = 2.0  # the same, of a term that names a role in some documents only
LEAST = -2.0  # weight above which somebody is named at all; beside another in the same role, only above 0
LEAST_IN_A_PASSAGE = 1.0  # the same, where a passage is all there is to read
MOST = 60  # mentions of names that are judged, from the beginning and from the end
HEAD = 60  # characters before a line in which a label may stand alone
REACH = 320  # characters from a name to the brackets that define a term for it
LIKELY_A_PARTY = 0.5  # probability from which a name may bear the term that is defined behind it
NOBODY = 0.99  # probability from which a name, by its words, is no party's
ALONE = 1.0  # log odds by which a single word is less likely a party's name
TERMS = 4  # mentions of a term that are judged
NO_ROLE: tuple[Role | None, bool] = (None, False)
_LEADING = {"for", "by", "to", "from", "the", "and"}  # words that may stand before a name, as if they were of it
_TERM = r"(?:the\s+)?([A-Z][\w/-]*(?:\s[A-Z][\w/-]*)?)"
_BARE = re.compile(
    r"\s*(?:hereinafter\s+)?(?:called\s+)?(?:the|an?|as|our|your)?\s*([A-Za-z][\w/-]*(?:\s[A-Za-z][\w/-]*)?)\s*$"
)
_CALLED = re.compile(
    rf"\b(?:called|known as|referred to as|designated(?: as)?|herein(?:after)?|hereafter)\s*,?\s*(?:the\s+|an?\s+)?"
    rf"[\"“‘']{_TERM}"
    rf"|\bherein(?:after)?,?\s+(?:called|referred to as|known as)\s+{_TERM}"
)
_AS = re.compile(  # "Hall Bank, N.A., a national bank, as Administrative Agent"
    r"(?:,\s+an?\s[^,;()\"“]{3,80})?,?\s+(?:in\s+its\s+capacity\s+)?[Aa][Ss]\s+(?:the\s+|an?\s+)?"
    r"([A-Z][\w/-]*(?:\s[A-Z][\w/-]*){0,2})"
)
_LABEL = re.compile(
    r"[ \t|*(\d.)]*(?:the\s+)?([A-Za-z][A-Za-z /-]{2,30}?)(?:\s*\([^)\n]{1,30}\))?"
    r"\s*(?::|\||\.{3,}|\t|[ ]{2,}|\s(?:is|are))[ \t|]*(?:(?:Mr|Mrs|Ms|Miss|Dr|Messrs|M/s)\.?\s+)*",
    re.IGNORECASE,
)
_HEAD = re.compile(r"(?:^|\n)[ \t]*(?:the\s+)?([A-Za-z][A-Za-z-]{2,30})[ \t]*:\s*\n[ \t]*\Z", re.IGNORECASE)
_TERM_IN_QUOTES = re.compile(r"[\"“]([A-Z][\w' -]{1,40})[,.]?[\"”]")  # which is no party's name
_BRACKETS = re.compile(r"\(([^()]{1,220})\)|\[([^\[\]]{1,80})\]")
_QUOTED = re.compile(
    r"[\"“”„«‘'’]{1,2}\s*(?:the\s+|The\s+)?([A-Za-z][\w/&-]*(?:[ \n]{1,2}[A-Za-z][\w/&-]*){0,3})"
    r"\s*[,.;]?\s*[\"“”»’']{1,2}"
)
_TRADES_AS = re.compile(
    r",?\s+(?:individually\s+)?(?:and\s+)?(?:d/?b/?a|t/as?|trading\s+as|doing\s+business\s+as)\b\s*", re.IGNORECASE
)
_AND = re.compile(r",?\s+and\s+")
_HEADS = frozenset(["borrower", "creditor", "debtor", "guarantor", "lender", "mortgagee", "mortgagor", "noteholder"])


@dataclass(frozen=True, slots=True)
class Sighting:
    """A name seen in a role, with how much that weighs."""

    role: Role
    name: Name
    weight: float
    shown: Name  # the mention itself, where the name is a fuller one of its bearer
    own: float  # of the weight what the mention itself adds
    kinds: tuple[float, ...]  # how likely the bearer is of each kind


@cache
def role_words() -> dict[str, tuple[Role, bool]]:
    """Role words in lower case with their role and whether they are certain."""
    groups: tuple[tuple[str, Role, bool], ...] = (
        ("weakBorrowerTerm", "borrower", False),
        ("weakLenderTerm", "lender", False),
        ("borrowerTerm", "borrower", True),
        ("lenderTerm", "lender", True),
        ("guarantorTerm", "guarantor", True),
    )
    return {entry.lower(): (role, certain) for kind, role, certain in groups for entry in words(kind)}


def candidates(text: str) -> list[Name]:
    """The names in `text` that could be a party's, in order; what somebody trades as is none of its own."""
    quoted = {term.lower() for term in _TERM_IN_QUOTES.findall(text)}
    found = [name for name in find_names(text) if not _is_term(name.text, quoted)]
    found = [name for name in found if not (is_form(name.text) or any(amounts(name.text)))]
    nobody = likely_bearers([name.text for name in found])[:, 0]
    names: list[Name] = []
    trade: Name | None = None
    for name, unlikely in zip(found, nobody, strict=True):
        if (names and _TRADES_AS.fullmatch(text, names[-1].end, name.start)) or (
            trade and _AND.fullmatch(text, trade.end, name.start)
        ):
            trade = name
        elif unlikely < NOBODY:
            names.append(name)
    return names


def _is_term(name: str, quoted: Collection[str]) -> bool:
    """Return True for words that name a role ("U.S. Borrower"), or that the document defines as a term."""
    words = [singular(word) for word in re.findall(r"[\w'’-]+", name)]
    return name.lower() in quoted or role_words().keys() >= {*words} or words[-1].removesuffix("s") in _HEADS


class Definition(NamedTuple):
    """A term that a document defines for a party, with who may bear it and where else it stands."""

    term: str
    rows: tuple[int, ...]  # the names before it, as places in their list
    places: tuple[Span, ...]  # the first few mentions elsewhere; none of a term that names a role itself


def definitions(text: str, names: Sequence[Span]) -> Iterator[Definition]:
    """The terms that a text defines in brackets or by "hereinafter called", each once."""
    known: set[str] = set()
    before = last = 0  # where the definition before, and the one before that in other brackets, ended
    for start, term, stop in sorted(_defined_terms(text)):
        if start >= last:
            before, last = last, stop
        rows = [row for row, (_, end) in enumerate(names) if 0 <= start - end < REACH]
        rows = [row for row in rows if "\n\n" not in text[names[row][1] : start]]
        rows = [row for row in rows if names[row][0] >= before] or rows
        if rows and term not in known:
            known.add(term)
            _, certain = role_words().get(singular(term), NO_ROLE)
            places = [] if certain else _places(text, term, [(start, stop), *names])
            yield Definition(term, tuple(rows), tuple(places))


def _defined_terms(text: str) -> Iterator[tuple[int, str, int]]:
    """Each term with where the words that define it begin and end."""
    for bracket in _BRACKETS.finditer(text):
        quoted = [" ".join(match[1].split()) for match in _QUOTED.finditer(text, bracket.start() + 1, bracket.end())]
        bare = None if quoted else _BARE.match(bracket[1] or bracket[2])
        if bare and singular(bare[1]) in role_words() and (bare[1][0].isupper() or role_words()[singular(bare[1])][1]):
            quoted = [bare[1]]
        yield from ((bracket.start(), term, bracket.end()) for term in quoted)
    for match in _CALLED.finditer(text):
        yield match.start(), " ".join((match[1] or match[2]).split()), match.end()


def _owner_of(definition: Definition, names: Sequence[Name], party: Probabilities) -> int:
    """Whom a term is defined for: who has its words in the name, else the nearest that is likely a party's."""
    words = set(re.findall(r"\w+", definition.term.casefold()))
    return max(
        definition.rows, key=lambda row: (words <= _words(names[row]), min(float(party[row]), LIKELY_A_PARTY), row)
    )


def _places(text: str, term: str, passed_over: Sequence[Span]) -> Iterator[Span]:
    spelled = re.escape(term).replace(r"\ ", r"\s+")
    places = (match.span() for match in re.finditer(rf"(?<![\w\"“‘'-]){spelled}(?![\w\"”-])", text))
    elsewhere = (place for place in places if not any(start <= place[0] < end for start, end in passed_over))
    return islice(elsewhere, TERMS)


def sighted(text: str, least: float) -> list[Sighting]:
    """Each name of a text in each role that what is said around it, its bearer's other names and terms makes likely.

    The weight is the greatest log odds of the role among the mentions of a bearer, more by DEFINED where a term that
    names the role is defined for it, less where the name looks like no party's; what is not above `least` is no
    sighting.
    """
    names = _few(text, candidates(text))
    spans = [(name.start, name.end) for name in names]
    defined = list(definitions(text, spans))
    places = [(place, number) for number, definition in enumerate(defined) for place in definition.places]
    found = load_judge().read(as_read(text)).names([*spans, *(place for place, _ in places)])
    owners = [_owner_of(definition, names, found[:, 0, 1:].sum(1)) for definition in defined]
    rows = [*range(len(names)), *(owners[number] for _, number in places)]  # the name of each judgement
    bearers = _bearers(names)
    whole = _fullest(text, names, bearers)
    by_name = {bearer: _log_likely(name.text) for bearer, name in whole.items()}
    more = sorted(_called(text, names, zip(owners, defined, strict=True)), key=itemgetter(2))
    called = {(bearers[row], role): weight for row, role, weight in more}  # the greatest of each, which comes last
    sightings = []
    for row, bearer in enumerate(bearers):
        judged = found[[judgement for judgement, of_row in enumerate(rows) if bearers[of_row] == bearer]]
        kinds = tuple(map(float, judged[:, 1].mean(0)))
        for role in PARTIES:
            column = ROLES.index(role)
            best = max(_log_odds(likely) for likely in judged[:, 0, column])
            weight = best + called.get((bearer, role), 0.0) + by_name[bearer]
            if weight > least:
                own = _log_odds(found[row, 0, column]) - best + float(row in owners)
                sightings.append(Sighting(role, whole[bearer], weight, names[row], own, kinds))
    return sightings


def _few(text: str, names: list[Name]) -> list[Name]:
    """The names that are judged: of a long text the first, the last and those for which a role is defined."""
    if len(names) <= MOST:
        return names
    defined = definitions(text, [(name.start, name.end) for name in names])
    near = {row for definition in defined if role_of(definition.term)[0] for row in definition.rows}
    near |= {row for row, name in enumerate(names) if _labelled(text, name)}
    return [names[row] for row in sorted({*range(MOST * 2 // 3), *range(len(names) - MOST // 3, len(names)), *near})]


def _called(
    text: str, names: Sequence[Name], defined: Iterable[tuple[int, Definition]]
) -> Iterator[tuple[int, Role, float]]:
    """What each term, capacity and label that names a role adds to the log odds of a name in it."""
    for row, definition in defined:
        role, certain = role_of(definition.term)
        if role:
            yield row, role, DEFINED if certain else DOUBTED
    capacities = ((row, _AS.match(text, name.end)) for row, name in enumerate(names))
    roles = ((row, role_of(capacity[1])[0]) for row, capacity in capacities if capacity)
    yield from ((row, role, DOUBTED) for row, role in roles if role)
    labels = ((row, _labelled(text, name)) for row, name in enumerate(names))
    yield from ((row, role, DEFINED) for row, role in labels if role)


def _log_likely(name: str) -> float:
    """How likely a name is a party's at all, as a logarithm, less by ALONE for a single word."""
    return math.log(1 - float(likely_bearers([name])[0, 0])) - ALONE * (" " not in name)


def _labelled(text: str, name: Name) -> Role | None:
    """The role that a label names beyond doubt, right before a name or on a line above: "Borrower: Ida Roth"."""
    line = text.rfind("\n", 0, name.start) + 1
    label = _LABEL.fullmatch(text, line, name.start) or _HEAD.search(text, max(0, line - HEAD), name.start)
    role, certain = role_words().get(singular(label[1]), NO_ROLE) if label else NO_ROLE
    return role if certain else None


def _fullest(text: str, names: Sequence[Name], bearers: Sequence[frozenset[str]]) -> dict[frozenset[str], Name]:
    """The name of each bearer that is best given: as behind a label, else the longest."""
    order = partial(_order, {_words(name) for name in names if _labelled(text, name)})
    best: dict[frozenset[str], Name] = {}
    for bearer, name in zip(bearers, names, strict=True):
        best[bearer] = min(best.get(bearer, name), name, key=order)
    return best


def _order(labelled: Collection[frozenset[str]], name: Name) -> tuple[bool, int, int, bool, int]:
    """Order names: spelled out behind a label, by most words, by fewest initials, not in capitals, the shortest."""
    words = _words(name)
    initials = sum(len(word) == 1 for word in words)
    is_best = words in labelled and len(words) > 1 and not initials
    return not is_best, -len(words), initials, name.text.isupper(), len(name.text)


def _log_odds(likely: float) -> float:
    likely = min(max(float(likely), 0.01), 0.99)
    return math.log(likely / (1 - likely))


def _bearers(names: Sequence[Name]) -> list[frozenset[str]]:
    """Whom each name names, as the words of the longest name that holds all of its own or begins as its initials do."""
    words = [_words(name) for name in names]
    words.sort(key=lambda w: (len(w), sum(map(len, w)), sorted(w)))
    return [next(w for w in reversed(words) if _holds(w, _words(name))) for name in names]


def _holds(fuller: frozenset[str], words: frozenset[str]) -> bool:
    """Return True where `fuller` has each of the words, or for an initial one that begins with it."""
    more, missing = fuller - words, words - fuller
    initials = all(len(word) == 1 and any(w.startswith(word) for w in more) for word in missing)
    return initials and len(missing) <= len(more)


def _words(name: Name) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", name.text.casefold())) - _LEADING


def role_of(term: str) -> tuple[Role | None, bool]:
    """The role that a term names and whether it does beyond doubt, which the last of several words leaves open."""
    word = singular(term)
    if word in role_words():
        return role_words()[word]
    role, certain = role_words().get(word.rpartition(" ")[2], NO_ROLE)
    return (role if certain else None), False


def singular(term: str) -> str:
    """A term in lower case, without its plural or possessive ending unless the lexicon knows it so."""
    key = " ".join(term.lower().split())
    key = re.sub(r"\(s\)|['’]s$|['’]$", "", key)
    return key if key in role_words() or not key.endswith("s") else key[:-1]
