"""A run as one self-contained HTML page: metrics, tables of gold against answered, curves, each card with its proof.

Nothing is loaded and no script runs; whatever cards, graphs and models say is escaped, and cannot turn text around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from pyoxigraph import RdfFormat, Triple, parse

from ovrag_core.base.errors import CardError
from ovrag_core.base.pages import page_templates
from ovrag_core.base.records import write_text
from ovrag_core.evaluation.risk import RiskCoverage
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.study.scores import told
from ovrag_core.text.lines import one_line
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.licensing.asking import sentence
from ovrag_studies.abstention.measures import (
    COLUMNS,
    CORRECTED,
    MACRO_F1,
    PUBLISHED,
    RISKS,
    Outcome,
    count,
    estimates,
    risk_curve,
    shares_by_kind,
)
from ovrag_studies.abstention.parsing.name_index import Names
from ovrag_studies.abstention.records import Record, by_arm

WIDTH, HEIGHT = 640, 320  # of the drawing, in pixels, without its margins
POINTS = 200  # of a curve
COLOURS = ("#0173b2", "#de8f05", "#029e73", "#cc78bc", "#ca9161", "#949494", "#56b4e9", "#d55e00", "#000000")
DASHES = ("", "7 3", "2 3", "9 3 2 3")
ROWS = ("entailed", "contradicted", "neither")


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of the drawing: its points in pixels, and where the arm stops answering by itself."""

    arm: str
    colour: str
    dash: str
    points: str
    beyond: str
    end: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Said:
    """What an arm said of a card; `proof` pairs each piece of evidence with a sentence, empty for plain text."""

    record: Record
    proof: tuple[tuple[str, str], ...]


def write_report(page: str, path: Path) -> None:
    """Write the page; it appears when it is whole. Raises CardError where it cannot be written."""
    write_text(page, path, CardError)


def report_page(
    title: str, cards: Sequence[Card], records: Sequence[Record], domain: Domain, names: Names, plan: Resampling
) -> str:
    """The page of a run; `domain` and `names` put triples into words. Raises CardError for records of no card."""
    known = {card.id: card for card in cards}
    if strange := next((each for each in records if each.id not in known), None):
        raise CardError(f"the run has an answer to {one_line(strange.id, 60)}, which is no card; give its own cards")
    if not records:
        raise CardError("the run holds no answer; run the cards first")
    outcomes = {arm: [each.outcome() for each in listed] for arm, listed in by_arm(records).items()}
    measured = {arm: estimates(listed, plan) for arm, listed in outcomes.items()}
    said: dict[str, list[Said]] = {}
    for each in records:
        said.setdefault(each.id, []).append(Said(each, tuple(proof_of(each, domain, names))))
    return (
        page_templates(finalize=shown)
        .get_template("epistemic.html.j2")
        .render(
            title=title,
            cards=[known[id_] for id_ in said],
            said=said,
            clusters=len({each.cluster or each.id for each in records}),
            plan=plan,
            measured=measured,
            groups=[("Corrected", [*CORRECTED, MACRO_F1, *RISKS]), ("As published", list(PUBLISHED))],
            tables={arm: count(listed).tolist() for arm, listed in outcomes.items()},
            columns=COLUMNS,
            rows=ROWS,
            kinds=_kinds(outcomes),
            curves=curves(outcomes),
            size=(WIDTH, HEIGHT),
            figure=told,
        )
    )


def shown(value: object) -> object:
    """Text on one line, without what moves a cursor or turns what follows around."""
    return one_line(value) if type(value) is str else value


def proof_of(record: Record, domain: Domain, names: Names) -> list[tuple[str, str]]:
    """Each piece of evidence with its sentence, which is empty where the piece is no triple."""
    return [(each, _in_words(each, domain, names)) for each in record.evidence]


def _in_words(text: str, domain: Domain, names: Names) -> str:
    try:
        triples = [quad.triple for quad in parse(text.encode("utf-8", "replace"), RdfFormat.N_TRIPLES)]
    except (SyntaxError, ValueError):
        return ""
    return sentence(triples[0], domain, names) if len(triples) == 1 and isinstance(triples[0], Triple) else ""


def curves(outcomes: Mapping[str, Sequence[Outcome]]) -> list[Curve]:
    """Risk against coverage of each arm, in pixels from the drawing's upper left corner."""
    found = []
    for number, (arm, listed) in enumerate(outcomes.items()):
        curve = risk_curve(listed)
        own = round(curve.answered * len(curve.coverage))
        end = _place(curve, own - 1) if own else None
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        last = len(curve.coverage)
        found.append(Curve(arm, colour, dash, _points(curve, 0, own), _points(curve, max(0, own - 1), last), end))
    return found


def _points(curve: RiskCoverage, start: int, stop: int) -> str:
    if stop <= start:
        return ""
    places = numpy.unique(numpy.linspace(start, stop - 1, min(POINTS, stop - start)).round().astype(int))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in (_place(curve, int(place)) for place in places))


def _place(curve: RiskCoverage, place: int) -> tuple[float, float]:
    return WIDTH * float(curve.coverage[place]), HEIGHT * (1 - float(curve.risk[place]))


def _kinds(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, dict[str, float]]:
    """The share answered rightly by kind of card, then arm."""
    found: dict[str, dict[str, float]] = {}
    for arm, listed in outcomes.items():
        for kind, share in shares_by_kind(listed).items():
            found.setdefault(kind, {})[arm] = share
    return found
