# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Parties at the end of a document: names in columns under their roles, at lines to sign on, over captions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ovrag_core.loans.reading.names import Name, Role, built_kind, has_form, name_at, plain_words, words
from ovrag_core.loans.reading.sightings import (
    Sighting,
    Terms,
    cells_of,
    certain_terms,
    is_party,
    lines_of,
    office_pattern,
)

_SIGNING = re.compile(r"_{5,}[ \t]*\r?\n[ \t\r\n]*(?!By\b|Per\b|Name\b|Date\b|Title\b)(?=[^\W\d_])")
_OTHER_SIGNER = re.compile(r"(?:for|signed|witness(?:es)?|in the presence|guarantors?|sureties|date)\b", re.IGNORECASE)
_UNDERLINE = r"(?:[ \t|]*(?:_{4,}|\.{6,}|-{8,})[^\n]*\n)"


def signed_columns(text: str, terms: Terms) -> Iterator[Sighting]:
    """Names in columns under "LENDER      BORROWER" at the end of a document, wrapped within their column."""
    lines = list(lines_of(text, max(0, len(text) - 6000), len(text)))
    for number, (at, line) in enumerate(lines):
        cells = list(cells_of(line, at)) if "  " in line.strip() else []
        labels = [re.sub(r"^the\s+|[:().]", "", text[b:e].strip(), flags=re.IGNORECASE) for b, e in cells]
        roles = [terms.certain(label) for label in labels]
        if (
            len(cells) < 2
            or not any(roles)
            or not all(role or _OTHER_SIGNER.match(label) for role, label in zip(roles, labels, strict=True))
        ):
            continue
        edges = [b - at for b, _ in cells] + [200]
        for role, label, left, right in zip(roles, labels, edges, edges[1:], strict=False):
            name = _in_column(text, lines[number + 1 : number + 10], left, right) if role else None
            kind = built_kind(name.text) if name else None
            if role and name and kind and is_party(name, terms):
                yield Sighting(role, name, 5.5 if kind != "natural_person" else 4.0, (name.end, name.end), label)


def _in_column(text: str, lines: list[tuple[int, str]], left: int, right: int) -> Name | None:
    """The name that the first lines of a column spell; None where an office or anything else stands there."""
    name: Name | None = None
    for at, line in lines:
        begin, end = at + min(len(line), left), at + min(len(line), max(left, right - 1))
        if not text[begin:end].strip(" _.\t"):
            if name:
                return name
            continue
        if name is None:
            name = name_at(text, begin, stop=end, wrap=False)
            if name is None or text[name.end : end].strip(" ,"):
                return name
            continue
        if built_kind(name.text) == "natural_person" and _shows_office(text[begin:end]):
            return None
        more = name_at(f"{name.text} {text[begin:end].strip()}", 0)
        longer = more and len(more.text.split()) > len(name.text.split())
        if more and longer and not has_form(name.text) and built_kind(more.text) == "legal_entity":
            return Name(name.start, name.end, more.text, name.title)
        return name
    return name


def _shows_office(line: str) -> bool:
    """Whether a line begins with an office ("Head of Lending", "Director")."""
    first = plain_words(line)[:1]
    return bool(first) and (first[0] in words("officeWord") or first[0] == "head")


@lru_cache(maxsize=1)
def _signed_as() -> re.Pattern[str]:
    """ "The lender agrees to the above:" over a line to sign on; the name follows."""
    return re.compile(
        r"^[ \t]*(?:(?:signed|executed|agreed|accepted|acknowledged|confirmed|for|by|on|behalf|of|and|the|as|to|signature)\b[ ,]*){0,6}"
        rf"({certain_terms()})(?:[ ]+(?:agree|accept|sign|hereby|ha[sv]|acknowledge|confirm)[^\n:.;()]{{0,60}})?:?[ \t]*\n(?:[ \t]*\n)*{_UNDERLINE}(?:[ \t]*\n)*[ \t]*(?!Name|By|Date|Title)(?=[^\W\d_])",
        re.IGNORECASE | re.MULTILINE,
    )


@lru_cache(maxsize=1)
def _caption_below() -> re.Pattern[str]:
    """A role alone on the line under a name that stands under a line to sign on."""
    return re.compile(
        rf"{_UNDERLINE}[ \t]*(?P<name>[^\W\d_][^\n:_]{{3,60}}?)[ \t]*\n[ \t]*\(?(?:the\s+|as\s+|for\s+the\s+)?(?P<role>{certain_terms()})\)?[ \t]*(?:\n|$)",
        re.IGNORECASE,
    )


def signing_parties(text: str, terms: Terms) -> Iterator[Sighting]:
    """Names at a line to sign on whose role stands above the line or below the name."""
    tail = max(0, len(text) - 8000)
    for pattern, weight in ((_signed_as(), 7.5), (_caption_below(), 5.0)):
        for match in pattern.finditer(text, tail):
            term = match["role"] if "role" in pattern.groupindex else match.group(1)
            role = terms.certain(term)
            at = match.start("name") if "name" in pattern.groupindex else match.end()
            name = name_at(text, at, stop=min(len(text), at + 120), wrap=False)
            if (
                role
                and name
                and name.start - at < 8
                and is_party(name, terms)
                and built_kind(name.text)
                and not office_pattern().match(text[name.end : name.end + 60])
            ):
                yield Sighting(role, name, weight, (name.end, min(len(text), name.end + 200)), term)


def names_below_lines(text: str, tail: int, terms: Terms) -> Iterator[Name]:
    """Names right below a line to sign on, whatever describes them."""
    for match in _SIGNING.finditer(text, tail):
        name = name_at(text, match.end(), stop=min(len(text), match.end() + 120), wrap=False)
        if name and is_party(name, terms) and not office_pattern().match(text[name.end : name.end + 60]):
            yield name


def signed_captions(text: str, terms: Terms) -> Iterator[Sighting]:
    """Names with their role in brackets below: as many captions as names, in the same order."""
    tail = max(0, len(text) - 6000)
    names: list[Name] = []
    roles: list[tuple[Role, str]] = []
    for at, line in lines_of(text, tail, len(text)):
        for begin, end in cells_of(line, at):
            piece = text[begin:end].strip(" _*\t")
            caption = re.fullmatch(r"\((?:the\s+)?([A-Za-z][A-Za-z -]{2,30})\)", piece)
            role = terms.certain(caption.group(1)) if caption else None
            if caption and role:
                roles.append((role, caption.group(1)))
            elif piece:
                if roles:
                    yield from _paired(names, roles)
                    names, roles = [], []
                name = name_at(text, begin, stop=end, wrap=False)
                if name and name.end >= end - 1 and is_party(name, terms) and built_kind(name.text):
                    names.append(name)
    yield from _paired(names, roles)


def _paired(names: list[Name], roles: list[tuple[Role, str]]) -> Iterator[Sighting]:
    if roles and len(names) >= len(roles):
        for name, (role, term) in zip(names[-len(roles) :], roles, strict=True):
            yield Sighting(role, name, 4.0, (name.end, name.end), term)
