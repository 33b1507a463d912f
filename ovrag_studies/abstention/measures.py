"""Metrics of how well a system knows what it knows: the published and corrected ones, on the same outcomes.

An outcome is a card's gold answer beside a system's. Outcomes are counted in a table of three rows and four columns.
The rows are gold YES, NO and UNKNOWN: the labels E, C, U. The columns are answered YES, NO, UNKNOWN, and no answer at
all: a reply that was not understood, a call that failed, or a claim that could not be checked. The published metrics
know only whether a system answered, so they leave the fourth column out. In the corrected ones it is never an
abstention, and never right.

Intervals resample clusters of cards (see `clusters`), as cards on one drainage are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ovrag_core.evaluation import Estimate, Resampling, RiskCoverage, expected_risk, least_risk, ratio, risk_coverage
from ovrag_studies.abstention.cards.card import GOLD, Gold

ANSWERS: tuple[str, ...] = GOLD
NO_ANSWER = "no answer"
COLUMNS = (*ANSWERS, NO_ANSWER)

Counts = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CardOutcome:
    """A card's gold answer and a system's, with the system's confidence in it (any scale; higher is surer).

    An answer other than YES, NO and UNKNOWN is none. `cluster` names the cards that are not independent of this one;
    empty: the card stands alone. `kind` is the card's subtype.
    """

    card: str
    gold: Gold
    answer: str
    confidence: float = 1.0
    cluster: str = ""
    kind: str = ""

    @property
    def right(self) -> bool:
        """Correctness of the answer: it is the gold one. Abstaining is right where gold is UNKNOWN."""
        return self.answer == self.gold


@dataclass(frozen=True, slots=True)
class Share:
    """A metric as a share of cells: counted cells of the table over those they are counted in.

    Both are patterns of three rows E, C, U of four digits for YES, NO, UNKNOWN and no answer; 1 means counted.
    """

    top: str
    bottom: str

    def of(self, tables: Counts) -> tuple[Vector, Vector]:
        """Numerators and denominators of tables of shape (…, 3, 4)."""
        return _sums(tables, self.top), _sums(tables, self.bottom)

    def value(self, table: Counts) -> float | None:
        """The metric of one table (3, 4); None where nothing is counted in."""
        top, bottom = self.of(table)
        return float(top / bottom) if bottom else None


# As published: ANSWER is YES or NO, ABSTAIN is UNKNOWN.
PUBLISHED: dict[str, Share] = {
    "AP": Share("0000 0010 0010", "0010 0010 0010"),
    "CVRR": Share("0000 0010 0000", "0000 1110 0000"),
    "FAR-NE": Share("0000 1100 1100", "0000 1110 1110"),
    "LA": Share("1100 0000 0000", "1110 0000 0000"),
    "AP_C": Share("0000 0010 0000", "0010 0010 0000"),
    "AP_U": Share("0000 0000 0010", "0010 0000 0010"),
    "AR": Share("0000 0010 0010", "0000 1110 1110"),
    "coverage": Share("1100 1100 1100", "1110 1110 1110"),
    "answer accuracy": Share("1100 0000 0000", "1100 1100 1100"),
    "overall": Share("1100 0010 0010", "1110 1110 1110"),
}
CORRECTED: dict[str, Share] = {
    "LA*": Share("1000 0000 0000", "1111 0000 0000"),
    "CVRR*": Share("0000 0100 0000", "0000 1111 0000"),
    "FAR*": Share("0000 1000 1100", "0000 1111 1111"),
    "false YES": Share("0000 1000 1000", "0000 1111 1111"),
    "AP*": Share("0000 0000 0010", "0010 0010 0010"),
    "AR*": Share("0000 0000 0010", "0000 0000 1111"),
    "accuracy": Share("1000 0100 0010", "1111 1111 1111"),
    "coverage*": Share("1100 1100 1100", "1111 1111 1111"),
    "answer accuracy*": Share("1000 0100 0000", "1100 1100 1100"),
    "no answer": Share("0001 0001 0001", "1111 1111 1111"),
}
# What can become of a card, as cells of the table. Each cell stands in one of them.
OUTCOMES = {
    "right": "1000 0100 0010",
    "wrong": "0100 1000 1100",
    "silent": "0010 0010 0000",
    NO_ANSWER: "0001 0001 0001",
}
MACRO_F1 = "macro-F1"
RISKS = ("AURC", "excess AURC")


def _sums(tables: Counts, pattern: str) -> Vector:
    mask = np.array([[int(cell) for cell in row] for row in pattern.split()])
    return np.asarray((tables * mask).sum(axis=(-2, -1)), dtype=float)


# -- tables and figures -----------------------------------------------------------------------------------------------


def count(outcomes: Iterable[CardOutcome]) -> Counts:
    """The table (3, 4) of gold against answered."""
    table = np.zeros((len(GOLD), len(COLUMNS)), dtype=np.int64)
    for outcome in outcomes:
        table[_cell(outcome)] += 1
    return table


def counts_by_outcome(outcomes: Iterable[CardOutcome]) -> dict[str, int]:
    """The number of cards of each of OUTCOMES. `silent`: UNKNOWN where gold is YES or NO."""
    table = count(outcomes)
    return {name: int(_sums(table, cells)) for name, cells in OUTCOMES.items()}


def macro_f1(tables: Counts) -> Vector:
    """The mean F1 of the three answers, of tables (…, 3, 4), over those that are gold of some card; nan without any."""
    hits = np.stack([tables[..., row, row] for row in range(len(GOLD))], axis=-1)
    gold = tables.sum(axis=-1)
    answered = tables.sum(axis=-2)[..., : len(GOLD)]
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(gold > 0, 2 * hits / (gold + answered), 0.0).sum(axis=-1) / (gold > 0).sum(axis=-1)
    return np.asarray(scores, dtype=float)


def values(outcomes: Sequence[CardOutcome]) -> dict[str, float | None]:
    """Every figure of a system, without intervals: published, corrected, macro-F1, AURC and its excess."""
    table = count(outcomes)
    figures = {name: share.value(table) for name, share in (PUBLISHED | CORRECTED).items()}
    figures[MACRO_F1] = float(macro_f1(table)) if outcomes else None
    if not outcomes:
        return figures | dict.fromkeys(RISKS)
    risks = risk_curve(outcomes)
    return figures | dict(zip(RISKS, (risks.aurc, risks.excess), strict=True))


def estimates(outcomes: Sequence[CardOutcome], plan: Resampling) -> dict[str, Estimate]:
    """Every figure of `values` with its interval over clusters."""
    if not outcomes:
        return dict.fromkeys((*PUBLISHED, *CORRECTED, MACRO_F1, *RISKS), Estimate(None))
    tables = _by_cluster(outcomes)
    figures = {name: _estimate(share, tables, plan) for name, share in (PUBLISHED | CORRECTED).items()}
    drawn = _draws(len(tables), plan)
    resampled = np.tensordot(drawn, tables, axes=1)
    figures[MACRO_F1] = _percentiles(float(macro_f1(count(outcomes))), macro_f1(resampled), len(tables), plan)
    return figures | _risk_estimates(outcomes, drawn, plan)


def share_estimate(share: Share, outcomes: Sequence[CardOutcome], plan: Resampling) -> Estimate:
    """One share of cells with its interval over clusters."""
    return _estimate(share, _by_cluster(outcomes), plan)


def shares_by_kind(outcomes: Iterable[CardOutcome]) -> dict[str, float]:
    """The share answered rightly by the kind of card, kinds in the order in which they come first."""
    kinds: dict[str, list[bool]] = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.kind, []).append(outcome.right)
    return {kind: sum(rights) / len(rights) for kind, rights in kinds.items()}


def references(outcomes: Sequence[CardOutcome]) -> dict[str, tuple[CardOutcome, ...]]:
    """Build the outcomes that a perfect system and the constant ones would have on the same cards."""
    perfect = {"perfect": tuple(replace(outcome, answer=outcome.gold, confidence=1.0) for outcome in outcomes)}
    constant = {
        f"always {answer}": tuple(replace(outcome, answer=answer, confidence=1.0) for outcome in outcomes)
        for answer in ANSWERS
    }
    return perfect | constant


def _estimate(share: Share, tables: Counts, plan: Resampling) -> Estimate:
    top, bottom = share.of(tables)
    return ratio(top.tolist(), bottom.tolist(), plan)


def _cell(outcome: CardOutcome) -> tuple[int, int]:
    column = ANSWERS.index(outcome.answer) if outcome.answer in ANSWERS else len(ANSWERS)
    return GOLD.index(outcome.gold), column


def _by_cluster(outcomes: Sequence[CardOutcome]) -> Counts:
    """One table for each cluster (clusters, 3, 4), in the clusters' order of first appearance."""
    places, clusters = _places(outcomes)
    tables = np.zeros((clusters, len(GOLD), len(COLUMNS)), dtype=np.int64)
    for number, outcome in zip(places, outcomes, strict=True):
        tables[(number, *_cell(outcome))] += 1
    return tables


def _places(outcomes: Sequence[CardOutcome]) -> tuple[list[int], int]:
    """The number of each outcome's cluster, and how many there are."""
    numbers: dict[tuple[str, str], int] = {}
    places = [numbers.setdefault(_cluster(outcome), len(numbers)) for outcome in outcomes]
    return places, len(numbers)


def _cluster(outcome: CardOutcome) -> tuple[str, str]:
    return ("cluster", outcome.cluster) if outcome.cluster else ("card", outcome.card)


def _draws(clusters: int, plan: Resampling) -> Counts:
    """Count how often each cluster is drawn in each resample (samples, clusters)."""
    chance = np.random.default_rng(plan.seed)
    drawn: Counts = chance.multinomial(clusters, np.full(clusters, 1 / max(1, clusters)), size=plan.samples)
    return drawn


def _percentiles(value: float, drawn: Vector, clusters: int, plan: Resampling) -> Estimate:
    drawn = drawn[np.isfinite(drawn)]
    if clusters < 2 or not drawn.size or np.ptp(drawn) < 1e-12:
        return Estimate(value, clusters=clusters)
    tail = (1 - plan.confidence) / 2
    low, high = (float(bound) for bound in np.quantile(drawn, [tail, 1 - tail]))
    return Estimate(value, low, high, clusters, "percentile")


# -- risk and coverage ------------------------------------------------------------------------------------------------


def risk_curve(outcomes: Sequence[CardOutcome]) -> RiskCoverage:
    """The risk and coverage of a system. Raises ValueError without an outcome, or for a confidence that is no number.

    A card of gold UNKNOWN is an error once it is answered.
    """
    return risk_coverage(*_errors(outcomes), int(_answerable(outcomes).sum()))


def _errors(outcomes: Sequence[CardOutcome]) -> tuple[Vector, Vector]:
    """1 where an answer is wrong or none was given, and the confidence, -inf where none was given."""
    answers = np.array([outcome.answer in ("YES", "NO") for outcome in outcomes], dtype=bool)
    right = np.array([outcome.right for outcome in outcomes], dtype=bool)
    confidence = np.array([outcome.confidence for outcome in outcomes], dtype=float)
    return np.where(answers & right, 0.0, 1.0), np.where(answers, confidence, -np.inf)


def _answerable(outcomes: Sequence[CardOutcome]) -> npt.NDArray[np.bool_]:
    return np.array([outcome.gold != "UNKNOWN" for outcome in outcomes], dtype=bool)


def _risk_estimates(outcomes: Sequence[CardOutcome], drawn: Counts, plan: Resampling) -> dict[str, Estimate]:
    places, clusters = _places(outcomes)
    errors, confidence = _errors(outcomes)
    answerable = _answerable(outcomes)
    areas = np.empty((plan.samples, 2))
    for row, times in enumerate(drawn):
        weights = times[places]
        area = expected_risk(errors, confidence, weights).mean()
        areas[row] = area, area - least_risk(int(weights.sum()), int(weights[answerable].sum())).mean()
    curve = risk_curve(outcomes)
    points = (curve.aurc, curve.excess)
    return {
        name: _percentiles(point, areas[:, column], clusters, plan)
        for column, (name, point) in enumerate(zip(RISKS, points, strict=True))
    }
