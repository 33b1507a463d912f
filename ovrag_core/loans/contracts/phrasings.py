"""Phrasings: clause texts with the conditions under which each fits, read from the text files in `phrasings/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

_FOLDER = Path(__file__).resolve().parent / "phrasings"
_CONDITION = re.compile(r"^\[([^\]]+)\] ")
Voice = Literal["third", "you", "first", "rows", "parties", "plain", "answers"]
_FILES: dict[Voice, str] = {
    "third": "third_person.txt",
    "you": "you_and_we.txt",
    "first": "first_person.txt",
    "rows": "rows.txt",
    "parties": "parties.txt",
    "plain": "plain.txt",
    "answers": "answers.txt",
}


@dataclass(frozen=True, slots=True)
class Phrasing:
    """A text with `{tokens}`; it fits where all of `wanted` and none of `barred` hold."""

    text: str
    wanted: frozenset[str] = frozenset()
    barred: frozenset[str] = frozenset()

    def fits(self, tags: frozenset[str]) -> bool:
        """Whether the conditions hold for a contract with these tags."""
        return self.wanted <= tags and not self.barred & tags


@cache
def phrasings(voice: Voice) -> dict[str, tuple[Phrasing, ...]]:
    """All phrasings of a voice by clause, in the file's order."""
    clauses: dict[str, list[Phrasing]] = {}
    current: list[Phrasing] = []
    for line in (_FOLDER / _FILES[voice]).read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            current = clauses.setdefault(line[3:].strip(), [])
        elif line.strip() and not line.startswith("#"):
            current.append(_parse(line.strip()))
    return {clause: tuple(texts) for clause, texts in clauses.items()}


def _parse(line: str) -> Phrasing:
    found = _CONDITION.match(line)
    if not found:
        return Phrasing(line)
    conditions = found.group(1).split()
    return Phrasing(line[found.end() :], *split_conditions(conditions))


def split_conditions(conditions: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Wanted and barred tags of conditions such as `company` and `!card`."""
    wanted = frozenset(condition for condition in conditions if not condition.startswith("!"))
    barred = frozenset(condition[1:] for condition in conditions if condition.startswith("!"))
    return wanted, barred


def choose(random: Random, voice: Voice, clause: str, tags: frozenset[str]) -> str:
    """One fitting text of a clause. Raises KeyError for an unknown clause, IndexError where nothing fits."""
    return random.choice([phrasing.text for phrasing in phrasings(voice)[clause] if phrasing.fits(tags)])


def only(voice: Voice, clause: str, tags: frozenset[str]) -> str:
    """The one fitting text of a clause. Raises ValueError unless exactly one fits."""
    (text,) = [phrasing.text for phrasing in phrasings(voice)[clause] if phrasing.fits(tags)]
    return text


def choose_several(random: Random, voice: Voice, clause: str, tags: frozenset[str], count: int) -> list[str]:
    """Up to `count` different fitting texts of a clause, in random order; none where the voice has no such clause."""
    fitting = [phrasing.text for phrasing in phrasings(voice).get(clause, ()) if phrasing.fits(tags)]
    return random.sample(fitting, min(count, len(fitting)))
