"""Metrics of how well a system knows what it knows: the published and corrected ones, on the same outcomes.

Outcomes are counted in a table: rows are gold YES, NO and UNKNOWN (the labels E, C, U), columns the same answers and no
answer at all. The published metrics leave the fourth column out; in the corrected ones it is never right. Intervals
resample clusters of cards (see `clusters`), as cards on one drainage are not independent.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ovrag_core.evaluation import Estimate, Resampling, RiskCoverage, expected_risk, least_risk, ratio, risk_coverage
from ovrag_studies.abstention.cards.card import GOLD, Gold

NO_ANSWER = "no answer"
COLUMNS = (*GOLD, NO_ANSWER)

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


# Each metric is a share: the cells counted over those they are counted in. Both are patterns of three rows E, C, U of
# four digits for YES, NO, UNKNOWN and no answer; 1 means counted. As published, YES and NO are answers, UNKNOWN is not.
PUBLISHED: dict[str, tuple[str, str]] = {
    "AP": ("0000 0010 0010", "0010 0010 0010"),
    "CVRR": ("0000 0010 0000", "0000 1110 0000"),
    "FAR-NE": ("0000 1100 1100", "0000 1110 1110"),
    "LA": ("1100 0000 0000", "1110 0000 0000"),
    "AP_C": ("0000 0010 0000", "0010 0010 0000"),
    "AP_U": ("0000 0000 0010", "0010 0000 0010"),
    "AR": ("0000 0010 0010", "0000 1110 1110"),
    "coverage": ("1100 1100 1100", "1110 1110 1110"),
    "answer accuracy": ("1100 0000 0000", "1100 1100 1100"),
    "overall": ("1100 0010 0010", "1110 1110 1110"),
}
CORRECTED: dict[str, tuple[str, str]] = {
    "LA*": ("1000 0000 0000", "1111 0000 0000"),
    "CVRR*": ("0000 0100 0000", "0000 1111 0000"),
    "FAR*": ("0000 1000 1100", "0000 1111 1111"),
    "false YES": ("0000 1000 1000", "0000 1111 1111"),
    "AP*": ("0000 0000 0010", "0010 0010 0010"),
    "AR*": ("0000 0000 0010", "0000 0000 1111"),
    "accuracy": ("1000 0100 0010", "1111 1111 1111"),
    "coverage*": ("1100 1100 1100", "1111 1111 1111"),
    "answer accuracy*": ("1000 0100 0000", "1100 1100 1100"),
    "no answer": ("0001 0001 0001", "1111 1111 1111"),
}
# What can become of a card, as cells of the table. Each cell stands in one of them.
OUTCOMES = {
    "right": "1000 0100 0010",
    "wrong": "0100 1000 1100",
    "silent": "0010 0010 0000",
    NO_ANSWER: "0001 0001 0001",
}
MACRO_F1 = "macro-F1"


def _sums(tables: Counts, pattern: str) -> Vector:
    mask = np.array([[int(cell) for cell in row] for row in pattern.split()])
    return np.asarray((tables * mask).sum(axis=(-2, -1)), dtype=float)


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
    """Every figure of a system, without intervals. Raises ValueError without an outcome."""
    table, risks = count(outcomes), risk_curve(outcomes)
    cells = {name: (_sums(table, top), _sums(table, bottom)) for name, (top, bottom) in (PUBLISHED | CORRECTED).items()}
    figures = {name: float(counted / of) if of else None for name, (counted, of) in cells.items()}
    return figures | {MACRO_F1: float(macro_f1(table)), "AURC": risks.aurc, "excess AURC": risks.excess}


def estimates(outcomes: Sequence[CardOutcome], plan: Resampling) -> dict[str, Estimate]:
    """Every figure of `values` with its interval over clusters."""
    numbers: dict[str, int] = {}
    cluster_of = [numbers.setdefault(outcome.cluster or outcome.card, len(numbers)) for outcome in outcomes]
    tables = np.zeros((len(numbers), len(GOLD), len(COLUMNS)), dtype=np.int64)
    for number, outcome in zip(cluster_of, outcomes, strict=True):
        tables[(number, *_cell(outcome))] += 1
    figures = {
        name: ratio(_sums(tables, top).tolist(), _sums(tables, bottom).tolist(), plan)
        for name, (top, bottom) in (PUBLISHED | CORRECTED).items()
    }
    # How often each cluster is drawn in each resample (samples, clusters).
    clusters = len(tables)
    drawn = np.random.default_rng(plan.seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=plan.samples)
    aurc, excess = _risk_areas(outcomes, drawn[:, cluster_of]).T
    resampled = {MACRO_F1: macro_f1(np.tensordot(drawn, tables, axes=1)), "AURC": aurc, "excess AURC": excess}
    found = values(outcomes)
    return figures | {name: _percentiles(found[name], draws, clusters, plan) for name, draws in resampled.items()}


def shares_by_kind(outcomes: Sequence[CardOutcome]) -> dict[str, float]:
    """The share answered rightly by the kind of card, kinds in the order in which they come first."""
    right = Counter(outcome.kind for outcome in outcomes if outcome.right)
    return {kind: right[kind] / cards for kind, cards in Counter(outcome.kind for outcome in outcomes).items()}


def references(outcomes: Sequence[CardOutcome]) -> dict[str, tuple[CardOutcome, ...]]:
    """Build the outcomes that a perfect system and the constant ones would have on the same cards."""
    perfect = tuple(replace(outcome, answer=outcome.gold, confidence=1.0) for outcome in outcomes)
    always = {f"always {answer}": tuple(replace(o, answer=answer) for o in perfect) for answer in GOLD}
    return {"perfect": perfect, **always}


def _cell(outcome: CardOutcome) -> tuple[int, int]:
    return GOLD.index(outcome.gold), COLUMNS.index(outcome.answer if outcome.answer in GOLD else NO_ANSWER)


def _percentiles(value: float | None, drawn: Vector, clusters: int, plan: Resampling) -> Estimate:
    drawn = drawn[np.isfinite(drawn)]
    if clusters < 2 or not drawn.size or np.ptp(drawn) < 1e-12:
        return Estimate(value, clusters=clusters)
    tail = (1 - plan.confidence) / 2
    low, high = (float(bound) for bound in np.quantile(drawn, [tail, 1 - tail]))
    return Estimate(value, low, high, clusters, "percentile")


def risk_curve(outcomes: Sequence[CardOutcome]) -> RiskCoverage:
    """The risk and coverage of a system; an answer is an error where gold is UNKNOWN.

    Raises ValueError without an outcome, or for a confidence that is no number.
    """
    return risk_coverage(*_errors(outcomes), sum(outcome.gold != "UNKNOWN" for outcome in outcomes))


def _errors(outcomes: Sequence[CardOutcome]) -> tuple[Vector, Vector]:
    """1 where an answer is wrong or none was given, and the confidence, -inf where none was given."""
    answers = np.array([outcome.answer in ("YES", "NO") for outcome in outcomes], dtype=bool)
    right = np.array([outcome.right for outcome in outcomes], dtype=bool)
    confidence = np.array([outcome.confidence for outcome in outcomes], dtype=float)
    return np.where(answers & right, 0.0, 1.0), np.where(answers, confidence, -np.inf)


def _risk_areas(outcomes: Sequence[CardOutcome], weights: Counts) -> Vector:
    """AURC and its excess (samples, 2), where each outcome counts as often as its weight (samples, outcomes)."""
    errors, confidence = _errors(outcomes)
    answerable = np.array([outcome.gold != "UNKNOWN" for outcome in outcomes], dtype=bool)
    areas = np.empty((len(weights), 2))
    for row, times in enumerate(weights):
        area = expected_risk(errors, confidence, times).mean()
        areas[row] = area, area - least_risk(int(times.sum()), int(times[answerable].sum())).mean()
    return areas
