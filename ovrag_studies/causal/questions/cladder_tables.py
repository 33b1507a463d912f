"""Printed probabilities put together: tables of one outcome by the states of one or two factors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from ovrag_core.base import StrataError
from ovrag_studies.causal.questions.cladder_text import PrintedNumber
from ovrag_studies.causal.questions.phrases import likeness, positive
from ovrag_studies.causal.questions.sides import StateSide, nearness, side, side_of_name

Factor = tuple[str, str]
"""How the two states of a variable read, in the order in which they are printed."""


@dataclass(frozen=True)
class Table:
    """P(outcome | states): `cells` has the place of the number among the statements, by the place of each state."""

    outcome: str
    factors: tuple[Factor, ...]
    cells: dict[tuple[int, ...], int]


@dataclass(frozen=True)
class Tables:
    """All that is printed; `notes` says what had to be read by order rather than by words."""

    statements: tuple[PrintedNumber, ...]
    conditional: tuple[Table, ...]
    notes: tuple[str, ...]

    def overall(self, phrase: str | None = None) -> int | None:
        """The place of P(phrase), or of the only overall probability."""
        found = [place for place, one in enumerate(self.statements) if one.kind == "overall"]
        if phrase is not None:
            found = [place for place in found if self.statements[place].of.lower() == phrase.lower()]
        return found[0] if len(found) == 1 else None

    def of(self, phrase: str) -> Table | None:
        """The table whose outcome reads so, or is nearest to it."""
        for table in self.conditional:
            if table.outcome.lower() == phrase.lower():
                return table
        near = sorted(
            ((likeness(table.outcome, phrase), table.outcome, table) for table in self.conditional), reverse=True
        )
        return near[0][2] if near and near[0][0] >= 0.6 else None


def make_tables(statements: tuple[PrintedNumber, ...]) -> Tables:
    """Group what is printed by outcome. Raises StrataError for a missing stratum or one that is printed twice."""
    groups: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        if statement.kind == "conditional":
            groups.setdefault(statement.of, []).append(place)
    tables, notes = [], list[str]()
    for outcome, places in groups.items():
        table, note = _table(outcome, places, [statements[place].given for place in places])
        tables.append(table)
        notes += note
    return Tables(statements, tuple(tables), tuple(notes))


def _table(outcome: str, places: list[int], given: list[str]) -> tuple[Table, list[str]]:
    if len(given) == 2:
        if given[0] == given[1]:
            raise StrataError(f"“{given[0]}” is printed twice for “{outcome}”; the two strata read alike")
        return Table(outcome, ((given[0], given[1]),), {(0,): places[0], (1,): places[1]}), []
    if len(given) == 4:
        return _crossed(outcome, places, given)
    missing = "one is missing" if len(given) in (1, 3) else "2 or 4 can be read"
    raise StrataError(f"“{outcome}” is given for {len(given)} strata ({'; '.join(given)}): {missing}")


def _crossed(outcome: str, places: list[int], given: list[str]) -> tuple[Table, list[str]]:
    for cut in product(*map(_cuts, given)):
        firsts, seconds = _distinct(one for one, _ in cut), _distinct(other for _, other in cut)
        if len(firsts) == len(seconds) == 2 and len(set(cut)) == 4:
            factors = ((firsts[0], firsts[1]), (seconds[0], seconds[1]))
            cells: dict[tuple[int, ...], int]
            cells = {(firsts.index(a), seconds.index(b)): place for (a, b), place in zip(cut, places, strict=True)}
            return Table(outcome, factors, cells), []
    if len(set(given)) < len(given):
        return _by_order(outcome, places, given)
    raise StrataError(f"the four strata of “{outcome}” are not the states of two variables crossed: {'; '.join(given)}")


def _by_order(outcome: str, places: list[int], given: list[str]) -> tuple[Table, list[str]]:
    """Strata that read alike, in the order of the language: the second variable changes first."""
    for cut in product(*map(_cuts, given)):
        (a, b), (c, d), (e, f), (g, h) = cut
        if (a, e) == (c, g) and (b, d) == (f, h):
            at: list[tuple[int, ...]] = [(0, 0), (0, 1), (1, 0), (1, 1)]
            cells = dict(zip(at, places, strict=True))
            return Table(outcome, ((a, e), (b, d)), cells), [f"strata of “{outcome}” read alike and are told by order"]
    raise StrataError(f"strata of “{outcome}” read alike ({'; '.join(given)}); word each in its own way")


def _cuts(text: str) -> list[tuple[str, str]]:
    """At each “and”."""
    return [(text[: match.start()], text[match.end() :]) for match in re.finditer(r"\s+and\s+", text)]


def _distinct(items: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(items))


def same_factor(one: Factor, other: Factor) -> bool:
    """Whether two pairs of phrases are for the same variable: equal, or one the end of the other."""
    return all(a == b or a.endswith(" " + b) or b.endswith(" " + a) for a, b in zip(one, other, strict=True))


def factor_likeness(phrase: str, factor: Factor) -> float:
    """How much a phrase speaks of what the factor speaks of."""
    return max(likeness(phrase, state) for state in factor)


def place_of(phrase: str, other: str, factors: tuple[Factor, ...]) -> int:
    """Which of two factors a phrase speaks of, where another phrase speaks of the other; by meaning if words tie."""
    for like in (factor_likeness, _factor_nearness):
        first = like(phrase, factors[0]) + like(other, factors[1])
        second = like(phrase, factors[1]) + like(other, factors[0])
        if first != second:
            return int(second > first)
    return 0


def _factor_nearness(phrase: str, factor: Factor) -> float:
    return max(nearness(phrase, state) for state in factor)


def nearest(phrases: Sequence[str], factor: Factor) -> str | None:
    """The phrase that speaks of the factor most, by meaning where no word does."""
    if not phrases:
        return None
    if len(phrases) == 1:
        return phrases[0]
    found = max(phrases, key=lambda phrase: factor_likeness(phrase, factor))
    if factor_likeness(found, factor):
        return found
    return max(phrases, key=lambda phrase: _factor_nearness(phrase, factor))


@dataclass(frozen=True, slots=True)
class FactorState:
    """The place of a state of a factor, and what told it."""

    place: int
    by: Literal["words", "likeness", "order"]

    @property
    def told(self) -> bool:
        """Whether more than the order told."""
        return self.by != "order"


def state_of(phrase: str, factor: Factor) -> FactorState:
    """The state that a phrase names; where nothing tells, the one printed last, as the absent one leads."""
    return _state(side(phrase.lower(), factor[0].lower(), factor[1].lower()))


def present_state(factor: Factor, name: str = "") -> FactorState:
    """The state that is not negated, or that the variable is named after; where nothing tells, the one printed last."""
    found = positive(factor[0], factor[1])
    if found is not None:
        return FactorState(found, "words")
    return _state(side_of_name(name.lower(), factor[0].lower(), factor[1].lower()) if name else None)


def _state(found: StateSide | None) -> FactorState:
    return FactorState(1, "order") if found is None else FactorState(found.place, found.by)
