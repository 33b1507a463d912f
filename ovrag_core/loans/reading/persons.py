"""Evidence that a party is a human being.

Without any, the kind of a party whose name shows no organisation is unknown, and an unknown kind contradicts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from ovrag_core.loans.reading.names import Name, find_cue, given_names, plain_words, words
from ovrag_core.loans.reading.sightings import Sighting, Terms, certain_terms
from ovrag_core.text import Span, any_of

_BLOCK = 300  # characters after a name in which rows about its bearer may stand
_RELATIVES = (
    r"(?:brother|sister|father|mother|son|daughter|uncle|aunt|cousin|nephew|niece|husband|wife|spouse|widow|friend|"
    r"grand(?:son|daughter|father|mother)|(?:brother|sister|father|mother|son|daughter)-in-law)"
)
_RELATIVE_BEFORE = re.compile(rf"\b(?:my|his|her|our|your|their)\s+(?:[a-z-]+\s+){{0,2}}{_RELATIVES}\s*,?\s*$")
_RELATIVE_AFTER = re.compile(rf"\s*,?\s*\(?(?:the\s+)?(?:{_RELATIVES}\s+of\b|[wsd]/o\b|née\b|nee\b)", re.IGNORECASE)
_BELONGING = re.compile(
    r"\b(?P<owner>my|our|your|the\s+[A-Za-z -]{3,30}?['’]s)\s+(?:own\s+)?"
    r"(?:(?:personal|private),?\s+)?(?:and\s+|or\s+)?"
    r"(?:famil(?:y|ies)|households?|spouse|husband|wife|children|salary|wages|pay\s?slip|employer|date\s+of\s+birth|"
    r"funeral|pension|studies)\b",
    re.IGNORECASE,
)
_POSSESSIVE = {"i": "my", "we": "our", "you": "your"}
_CAPITALISED = r"[A-ZÀ-Þ][\w'’.-]*"
_AFTER_ARTICLE = re.compile(
    rf"\b(?:an?|the|each|any|such|An?|The|Each|Any|Such)\s+({_CAPITALISED}(?:\s+{_CAPITALISED}){{1,3}})"
)


class PersonSigns:
    """Signs in one document that a party is a person; what is the same for all parties is looked for once."""

    def __init__(self, text: str, terms: Terms) -> None:
        self._text = text
        self._terms = terms

    def of(self, group: Sequence[Sighting]) -> Span | None:
        """Return the span of the first sign that the bearer of the sighted names is a person, None without any."""
        signs = (_own_words, _personal_term, _relative, _row_below)
        near = (span for sign in signs for sighting in group for span in sign(self._text, sighting))
        name = group[0].name
        return next(near, None) or self._addressed(name) or self._given(name) or self._belonging(group)

    def _addressed(self, name: Name) -> Span | None:
        """Return where a form of address or a salutation stands before words of the name."""
        name_words = {word.strip(".,").casefold() for word in name.text.split()}
        telling = {word for word in name_words if len(word) > 2} - _ordinary()
        for called, span in self._addresses if telling else ():
            called_words = [word.strip(".,").casefold() for word in called.split()]
            stop = next(
                (index for index, word in enumerate(called_words) if word not in name_words and len(word) > 1),
                len(called_words),
            )
            if telling & set(called_words[:stop]):
                return span
        return None

    def _given(self, name: Name) -> Span | None:
        """Return the name where it holds a given name, and the text uses neither it nor its other words of things."""
        given_words = given_names(name.text)
        joining = {*words("particle"), "and"}
        other_words = {word for word in plain_words(name.text) if len(word) > 1} - given_words - joining
        is_thing = " ".join(plain_words(name.text)) in self._things
        return (name.start, name.end) if given_words and not is_thing and not other_words & self._small_words else None

    def _belonging(self, group: Sequence[Sighting]) -> Span | None:
        """Return where a borrower has what only people have: "your family", "the Borrower's employer"."""
        if group[0].role != "borrower":
            return None
        owners = {owner for pronoun, owner in _POSSESSIVE.items() if self._terms.role(pronoun) == "borrower"}
        owners |= {f"the {s.term.lower()}'s" for s in group if len(s.term) > 3}
        return next((span for owner, span in self._belongings if owner in owners), None)

    @cached_property
    def _addresses(self) -> list[tuple[str, Span]]:
        address = rf"(?<!\w)(?:[Dd]ear|DEAR|{_titles()})\s+({_CAPITALISED}(?:[ \n]{_CAPITALISED}){{0,3}})"
        return [(match.group(1), match.span()) for match in re.finditer(address, self._text)]

    @cached_property
    def _belongings(self) -> list[tuple[str, Span]]:
        matches = _BELONGING.finditer(self._text)
        return [(" ".join(m["owner"].lower().replace("’", "'").split()), m.span()) for m in matches]

    @cached_property
    def _things(self) -> frozenset[str]:
        """Return capitalised words that follow an article, from two to four of them."""
        after = [plain_words(match.group(1)) for match in _AFTER_ARTICLE.finditer(self._text)]
        return frozenset(" ".join(named[:size]) for named in after for size in range(2, len(named) + 1))

    @cached_property
    def _small_words(self) -> frozenset[str]:
        return frozenset(word for word in re.findall(r"(?<![\w'’-])[^\W\d_]+(?![\w'’-])", self._text) if word.islower())


def _own_words(text: str, sighting: Sighting) -> Iterator[Span]:
    """Yield where the bearer says "I"."""
    name = sighting.name
    if _speaking().search(text[max(0, name.start - 60) : name.start]):
        yield name.start, name.end


def _personal_term(_: str, sighting: Sighting) -> Iterator[Span]:
    """Yield where the bearer is called by a word for people only: the Student, the Employee."""
    if sighting.term.lower().removeprefix("the ") in words("personTerm"):
        yield sighting.name.start, sighting.name.end


def _relative(text: str, sighting: Sighting) -> Iterator[Span]:
    """Yield where the bearer is somebody's relative."""
    name = sighting.name
    if _RELATIVE_BEFORE.search(text[max(0, name.start - 60) : name.start]) or _RELATIVE_AFTER.match(text, name.end):
        yield name.start, name.end


def _row_below(text: str, sighting: Sighting) -> Iterator[Span]:
    """Yield descriptions that only people have, in the lines about the bearer that follow the name."""
    start = text.find("\n", sighting.name.end, sighting.name.end + _BLOCK)
    if start < 0:
        return
    next_party = _other_party().search(text, sighting.name.end, sighting.name.end + _BLOCK)
    stop = next_party.start() if next_party else min(len(text), sighting.name.end + _BLOCK)
    cue = find_cue(text, start, stop) if start < stop else None
    if cue and cue.kind == "natural_person":
        yield cue.start, cue.end


@lru_cache(maxsize=1)
def _other_party() -> re.Pattern[str]:
    """Return the pattern of an empty line, or of a row about another party."""
    return re.compile(rf"\n\s*\n|\n[^\n:]{{0,30}}\b(?:{certain_terms()})\b[^\n:]{{0,30}}:", re.IGNORECASE)


@lru_cache(maxsize=1)
def _speaking() -> re.Pattern[str]:
    """Return the pattern of what stands before the name of whoever says "I"."""
    return re.compile(rf"\b(?:I|me),\s+(?:the\s+undersigned,?\s+)?(?:{_titles()}\s+)?$")


@lru_cache(maxsize=1)
def _titles() -> str:
    """Return the forms of address as alternatives, longest first; single letters are initials as often."""
    return any_of(title for title in words("personTitle") if len(title.rstrip(".")) > 1)


@lru_cache(maxsize=1)
def _ordinary() -> frozenset[str]:
    return frozenset(entry.lower() for entry in (*words("notAName"), *words("place"), *words("companyWord")))
