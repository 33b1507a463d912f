"""Phrasings: clause texts with the conditions under which each fits, read from the text files in `phrasings/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

_FOLDER = Path(__file__).resolve().parent / "phrasings"
_CONDITION = re.compile(r"^\[([^\]]+)\] ")
Voice = Literal["third", "you", "first", "rows", "parties", "plain", "answers"]
_FILES = {"third": "third_person.txt", "you": "you_and_we.txt", "first": "first_person.txt"}  # others by their voice


class Phrasing(NamedTuple):
    """A text with `{tokens}`, and the conditions under which it fits, such as `company` and `!card`."""

    text: str
    conditions: tuple[str, ...] = ()


def fits(conditions: Sequence[str], tags: frozenset[str]) -> bool:
    """Return True where a contract has all tags of the conditions, and none of those after a `!`."""
    return all((condition.removeprefix("!") in tags) != condition.startswith("!") for condition in conditions)


@cache
def phrasings(voice: Voice) -> dict[str, tuple[Phrasing, ...]]:
    """All phrasings of a voice by clause, in the file's order."""
    clauses: dict[str, list[Phrasing]] = {}
    clause = ""
    for line in (_FOLDER / _FILES.get(voice, f"{voice}.txt")).read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            clause = line[3:].strip()
        elif line.strip() and not line.startswith("#"):
            condition = _CONDITION.match(line.strip())
            conditions = tuple(condition[1].split()) if condition else ()
            clauses.setdefault(clause, []).append(
                Phrasing(line.strip()[condition.end() if condition else 0 :], conditions)
            )
    return {clause: tuple(texts) for clause, texts in clauses.items()}


def fitting(voice: Voice, clause: str, tags: frozenset[str]) -> list[str]:
    """All fitting texts of a clause, in the file's order. Raises KeyError for a clause that the voice lacks."""
    return [phrasing.text for phrasing in phrasings(voice)[clause] if fits(phrasing.conditions, tags)]


def choose(random: Random, voice: Voice, clause: str, tags: frozenset[str]) -> str:
    """One fitting text of a clause. Raises KeyError for an unknown clause, IndexError where nothing fits."""
    return random.choice(fitting(voice, clause, tags))


def only(voice: Voice, clause: str, tags: frozenset[str]) -> str:
    """The one fitting text of a clause. Raises ValueError unless exactly one fits."""
    (text,) = fitting(voice, clause, tags)
    return text
