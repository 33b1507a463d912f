"""What contracts are sampled and worded from: the lists of the YAML files here, which explain them, and phrasings.

Phrasings are clause texts with the conditions under which each fits, a file for each voice in `phrasings/`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

_FOLDER = Path(__file__).resolve().parent
Entry = dict[str, Any]  # of a list: a place, a register, a kind of loan


@cache
def lists() -> Entry:
    """The lists of all files by name, each in its file's order."""
    named: Entry = {}
    for path in _FOLDER.glob("*.yaml"):
        named |= yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return named


class Phrasing(NamedTuple):
    """A text with `{tokens}`, and the conditions under which it fits, such as `company` and `!card`.

    `says` is what it states on which a contradiction may turn; empty for ordinary clauses.
    """

    text: str
    conditions: tuple[str, ...]
    says: str


def fits(conditions: Sequence[str], tags: frozenset[str]) -> bool:
    """Return True where a contract has all tags of the conditions, and none of those after a `!`."""
    return all((condition.removeprefix("!") in tags) != condition.startswith("!") for condition in conditions)


@cache
def phrasings(voice: str) -> dict[str, list[Phrasing]]:
    """All phrasings of a voice by clause, in the file's order."""
    clauses: defaultdict[str, list[Phrasing]] = defaultdict(list)
    clause = says = ""
    for line in (_FOLDER / "phrasings" / f"{voice}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            clause, _, says = line.removeprefix("== ").partition(" says ")
        elif line and not line.startswith("#"):
            conditions, _, text = line[1:].partition("] ") if line.startswith("[") else ("", "", line)
            clauses[clause].append(Phrasing(text, tuple(conditions.split()), says))
    return dict(clauses)


def fitting(voice: str, clause: str, tags: frozenset[str]) -> list[Phrasing]:
    """All that fits of a clause, in the file's order. Raises KeyError for a clause that the voice lacks."""
    return [phrasing for phrasing in phrasings(voice)[clause] if fits(phrasing.conditions, tags)]


def choose(random: Random, voice: str, clause: str, tags: frozenset[str]) -> Phrasing:
    """One fitting phrasing of a clause. Raises KeyError for an unknown clause, IndexError where nothing fits."""
    return random.choice(fitting(voice, clause, tags))


def only(voice: str, clause: str, tags: frozenset[str]) -> Phrasing:
    """The one fitting phrasing of a clause. Raises ValueError unless exactly one fits."""
    (phrasing,) = fitting(voice, clause, tags)
    return phrasing
