"""Evidence that a party is a human being.

Without any, the kind of a party whose name shows no organisation is unknown, and an unknown kind contradicts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ovrag_core.extraction.names import find_cue, given_names, plain_words, words
from ovrag_core.extraction.sightings import Sighting, Terms, certain_terms

Span = tuple[int, int]

_BLOCK = 300  # characters after a name in which rows about its bearer may stand
_RELATIVES = (
    r"(?:brother|sister|father|mother|son|daughter|uncle|aunt|cousin|nephew|niece|husband|wife|spouse|widow|friend|"
    r"grand(?:son|daughter|father|mother)|(?:brother|sister|father|mother|son|daughter)-in-law)"
)
_RELATIVE_BEFORE = re.compile(rf"\b(?:my|his|her|our|your|their)\s+(?:[a-z-]+\s+){{0,2}}{_RELATIVES}\s*,?\s*$")
_RELATIVE_AFTER = re.compile(rf"\s*,?\s*\(?(?:the\s+)?(?:{_RELATIVES}\s+of\b|[wsd]/o\b|née\b|nee\b)", re.IGNORECASE)
_OWN = r"(?:own\s+)?(?:(?:personal|private),?\s+)?(?:and\s+|or\s+)?"
_BELONGINGS = (
    r"(?:famil(?:y|ies)|households?|spouse|husband|wife|children|salary|wages|pay\s?slip|employer|date\s+of\s+birth|"
    r"funeral|pension|studies)\b"
)
_POSSESSIVE = {"i": "my", "we": "our", "you": "your"}


def person_shown(text: str, group: Sequence[Sighting], terms: Terms) -> Span | None:
    """Return the span of the first sign that the bearer of the sighted names is a person; None where there is none."""
    signs = (_spoken_in_person, _personal_term, _relative, _row_below, _addressed, _given, _personal_belongings)
    return next((span for sign in signs for span in sign(text, group, terms)), None)


def _spoken_in_person(text: str, group: Sequence[Sighting], _: Terms) -> Iterator[Span]:
    """Yield where the bearer says "I"."""
    speaking = re.compile(rf"\b(?:I|me),\s+(?:the\s+undersigned,?\s+)?(?:(?:{_titles()})\s+)?$")
    for name in (sighting.name for sighting in group):
        if speaking.search(text[max(0, name.start - 60) : name.start]):
            yield name.start, name.end


def _personal_term(_: str, group: Sequence[Sighting], __: Terms) -> Iterator[Span]:
    """Yield where the bearer is called by a word for people only: the Student, the Employee."""
    personal = {entry.lower() for entry in words("personTerm")}
    for sighting in group:
        if sighting.term.lower().removeprefix("the ") in personal:
            yield sighting.name.start, sighting.name.end


def _relative(text: str, group: Sequence[Sighting], _: Terms) -> Iterator[Span]:
    """Yield where the bearer is somebody's relative."""
    for name in (sighting.name for sighting in group):
        before = text[max(0, name.start - 60) : name.start]
        if _RELATIVE_BEFORE.search(before) or _RELATIVE_AFTER.match(text, name.end):
            yield name.start, name.end


def _row_below(text: str, group: Sequence[Sighting], _: Terms) -> Iterator[Span]:
    """Yield descriptions that only people have, in the lines about the bearer that follow the name."""
    next_party = re.compile(rf"\n\s*\n|\n[^\n:]{{0,30}}\b(?:{certain_terms()})\b[^\n:]{{0,30}}:", re.IGNORECASE)
    for name in (sighting.name for sighting in group):
        end = next_party.search(text, name.end, name.end + _BLOCK)
        rows = re.compile(r"\n").search(text, name.end, name.end + _BLOCK)
        stop = end.start() if end else min(len(text), name.end + _BLOCK)
        cue = find_cue(text, rows.end(), stop) if rows and rows.end() < stop else None
        if cue and cue.kind == "natural_person":
            yield cue.start, cue.end


def _addressed(text: str, group: Sequence[Sighting], _: Terms) -> Iterator[Span]:
    """Yield where a form of address or a salutation stands before a word of the name."""
    own = group[0].name.text.split()
    telling = [word for word in own if len(word.strip(".,")) > 2 and word.lower() not in _ordinary()]
    if telling:
        called = "|".join(re.escape(word) for word in telling)
        between = "|".join([*(re.escape(word) for word in own), r"[A-ZÀ-Þ]\."])
        address = re.compile(rf"(?<!\w)(?:[Dd]ear|DEAR|{_titles()})\s+(?:(?:{between})\s+){{0,3}}(?:{called})(?!\w)")
        for match in address.finditer(text):
            yield match.span()


def _given(text: str, group: Sequence[Sighting], _: Terms) -> Iterator[Span]:
    """Yield the name itself where it holds a given name and the text never uses it as the name of a thing."""
    name = group[0].name
    parts = given_names(name.text)
    joining = {*words("particle"), "and"}
    rest = [word for word in plain_words(name.text) if len(word) > 1 and word not in parts | joining]
    spelled = r"\s+".join(map(re.escape, name.text.split()))
    thing = re.search(rf"\b(?:an?|the|each|any|such)\s+{spelled}\b", text, re.IGNORECASE)
    if parts and not thing and not any(re.search(rf"(?<![\w'’-]){re.escape(word)}(?![\w'’-])", text) for word in rest):
        yield name.start, name.end


def _personal_belongings(text: str, group: Sequence[Sighting], terms: Terms) -> Iterator[Span]:
    """Yield where a borrower has what only people have: "your family", "the Borrower's employer"."""
    role = group[0].role
    if role != "borrower":
        return
    owners = [owner for pronoun, owner in _POSSESSIVE.items() if terms.role(pronoun) == role]
    owners += sorted({rf"the\s+{re.escape(s.term)}['’]s" for s in group if len(s.term) > 3})
    if owners:
        belonging = re.compile(rf"\b(?:{'|'.join(owners)})\s+{_OWN}{_BELONGINGS}", re.IGNORECASE)
        for match in belonging.finditer(text):
            yield match.span()


@lru_cache(maxsize=1)
def _titles() -> str:
    """Return the forms of address as alternatives, longest first; single letters are initials as often."""
    titles = sorted((t for t in words("personTitle") if len(t.rstrip(".")) > 1), key=lambda t: (-len(t), t))
    return "|".join(re.escape(title) for title in titles)


@lru_cache(maxsize=1)
def _ordinary() -> frozenset[str]:
    return frozenset(entry.lower() for entry in (*words("notAName"), *words("place"), *words("companyWord")))
