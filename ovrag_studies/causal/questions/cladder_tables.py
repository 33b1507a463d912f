"""Printed probabilities put together: tables of one outcome by the states of one or two factors.

The language prints the absent state of a factor before the present one. That order is followed where neither a “not”
nor another number that names a state tells them apart, and then noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import StrataError
from ovrag_studies.causal.questions.cladder_text import PrintedNumber
from ovrag_studies.causal.questions.phrases import is_negation, likeness, words

LEAST_LIKENESS = 0.6  # from which a phrase is another wording of an outcome

Factor = tuple[str, str]
"""How a variable reads where it is absent, and where it is present."""


@dataclass(frozen=True, eq=False)
class Table:
    """P(outcome | states): `cells` has the place of the number among the statements, an axis of 2 for each factor.

    `numbers[cells]` are the numbers of the table, where `numbers` has a row for each statement, of what it may be.
    """

    outcome: str
    factors: tuple[Factor, ...]
    cells: NDArray[np.int64]

    @property
    def uses(self) -> list[int]:
        """The places of its numbers, as they are printed."""
        return sorted(self.cells.ravel().tolist())

    def led_by(self, place: int) -> Table:
        """The table with the factor of this place first."""
        return Table(self.outcome, self.factors[::-1], self.cells.T) if place else self

    def turned(self, place: int) -> Table:
        """The table with the two states of a factor exchanged."""
        factors = tuple(factor[::-1] if i == place else factor for i, factor in enumerate(self.factors))
        return Table(self.outcome, factors, np.flip(self.cells, place))


@dataclass(frozen=True)
class Tables:
    """All that is printed; `notes` says what had to be read by order rather than by words."""

    statements: tuple[PrintedNumber, ...]
    conditional: tuple[Table, ...]
    notes: tuple[str, ...]

    def overall(self, phrase: str | None = None) -> int | None:
        """The place of P(phrase), or of the only overall probability."""
        places = [i for i in self._overall if phrase is None or self.statements[i].of.lower() == phrase.lower()]
        return places[0] if len(places) == 1 else None

    def overall_of(self, factor: Factor) -> int | None:
        """The place of the overall probability that speaks of the factor most; the only one where there is one."""
        return max(self._overall, key=lambda place: factor_likeness(self.statements[place].of, factor), default=None)

    @property
    def _overall(self) -> list[int]:
        return [i for i, statement in enumerate(self.statements) if statement.kind == "overall"]

    def of(self, phrase: str) -> Table:
        """The table whose outcome reads so, or is nearest to it. Raises StrataError."""
        for table in self.conditional:
            if table.outcome.lower() == phrase.lower():
                return table
        fitting = [table for table in self.conditional if likeness(table.outcome, phrase) >= LEAST_LIKENESS]
        if not fitting:
            printed = ", ".join(table.outcome for table in self.conditional) or "none"
            raise StrataError(f"no probability of “{phrase}” by strata is printed; those of {printed} are")
        return max(fitting, key=lambda table: (likeness(table.outcome, phrase), table.outcome))


def make_tables(statements: tuple[PrintedNumber, ...]) -> Tables:
    """Group what is printed by outcome. Raises StrataError for a missing stratum or one that is printed twice."""
    groups: dict[str, list[int]] = {}
    for index, statement in enumerate(statements):
        if statement.kind == "conditional":
            groups.setdefault(statement.of, []).append(index)
    named = [s.of for s in statements if s.kind in ("overall", "conditional")]
    tables, notes = [], list[str]()
    for outcome, indices in groups.items():
        given = [statements[index].given for index in indices]
        table = _table(outcome, indices, given)
        notes += [f"strata of “{outcome}” read alike and are told by order"] if len(set(given)) < len(given) else []
        for axis, factor in enumerate(table.factors):
            present = _present(factor, named)
            table = table.turned(axis) if present == 0 else table
            notes += [f"“{factor[1]}” is taken for the present state by order"] if present is None else []
        tables.append(table)
    return Tables(statements, tuple(tables), tuple(dict.fromkeys(notes)))


def _table(outcome: str, places: list[int], given: list[str]) -> Table:
    """A table of strata; those that read alike are in the order of the language: the second variable changes first."""
    strata = "; ".join(given)
    if len(given) == 2:
        if given[0] == given[1]:
            raise StrataError(f"“{given[0]}” is printed twice for “{outcome}”; the two strata read alike")
        return Table(outcome, ((given[0], given[1]),), np.array(places))
    if len(given) != 4:
        missing = "one is missing" if len(given) in (1, 3) else "2 or 4 can be read"
        raise StrataError(f"“{outcome}” is given for {len(given)} strata ({strata}): {missing}")
    alike = len(set(given)) < 4
    for cut in product(*map(cuts, given)):
        (a, b), (c, d), (e, f), (g, h) = cut
        if alike and (a, e) == (c, g) and (b, d) == (f, h):
            return Table(outcome, ((a, e), (b, d)), np.array(places).reshape(2, 2))
        first, second = (list(dict.fromkeys(states)) for states in zip(*cut, strict=True))
        if not alike and len(first) == len(second) == 2 and len(set(cut)) == 4:
            cells = np.empty((2, 2), dtype=np.int64)
            for (left, right), place in zip(cut, places, strict=True):
                cells[first.index(left), second.index(right)] = place
            return Table(outcome, ((first[0], first[1]), (second[0], second[1])), cells)
    if alike:
        raise StrataError(f"strata of “{outcome}” read alike ({strata}); word each in its own way")
    raise StrataError(f"the four strata of “{outcome}” are not the states of two variables crossed: {strata}")


def cuts(text: str) -> list[tuple[str, str]]:
    """Cut a joint state in two at each “and”."""
    return [(text[: match.start()], text[match.end() :]) for match in re.finditer(r"\s+and\s+", text)]


def _present(factor: Factor, named: Iterable[str]) -> int | None:
    """The place of the state that is not negated or that a printed number names; None where neither tells."""
    negated = [is_negated(state) for state in factor]
    if negated[0] != negated[1]:
        return int(negated[0])
    mentioned = [any(reads_alike(phrase, state) for phrase in named) for state in factor]
    return None if mentioned[0] == mentioned[1] else int(mentioned[1])


def is_negated(phrase: str) -> bool:
    """Return True where a phrase is turned round."""
    return sum(map(is_negation, words(phrase))) % 2 == 1


def reads_alike(one: str, other: str) -> bool:
    """Return True where two phrases are equal, or one is the end of the other, whatever their case."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return short == long or long.endswith(" " + short)


def state_of(phrase: str, factor: Factor) -> int:
    """1 for the present state, 0 where the phrase is that for the absent one, or it alone is negated with it."""
    alike = [reads_alike(phrase, state) for state in factor]
    if alike[0] != alike[1]:
        return int(alike[1])
    absent, present = map(is_negated, factor)
    return int(absent == present or is_negated(phrase) != absent)


def same_factor(one: Factor, other: Factor) -> bool:
    """Check that two pairs of phrases are for the same variable: equal, or one the end of the other."""
    return all(map(reads_alike, one, other))


def factor_likeness(phrase: str, factor: Factor) -> float:
    """Measure how much a phrase speaks of what the factor speaks of."""
    return max(likeness(phrase, state) for state in factor)


def place_of(phrase: str, other: str, factors: Sequence[Factor]) -> int:
    """Find the place of the one of two factors that a phrase speaks of, where another phrase speaks of the other."""
    in_order = factor_likeness(phrase, factors[0]) + factor_likeness(other, factors[1])
    return int(factor_likeness(phrase, factors[1]) + factor_likeness(other, factors[0]) > in_order)
