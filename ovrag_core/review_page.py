"""A review as one self-contained HTML page: facts, findings, and the text with the passages marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from jinja2 import Environment, PackageLoader

from ovrag_core.review import Finding, Review, fact_rows, headline
from ovrag_core.types import Document


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, where it begins, and the number of the first finding that quotes it (None for plain text)."""

    start: int
    text: str
    finding: int | None


def review_page(reviews: Sequence[tuple[Review, Document | None]]) -> str:
    """The page for reviews in order; the text of a document that could not be read is left out."""
    environment = Environment(
        loader=PackageLoader("ovrag_core", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    parts = [
        {
            "review": review,
            "headline": headline(review),
            "facilities": [(facility.name, fact_rows(facility)) for facility in review.facilities],
            "pieces": pieces(document.text, review.violations) if document else [],
        }
        for review, document in reviews
    ]
    return environment.get_template("review.html.j2").render(parts=parts)


def pieces(text: str, findings: Sequence[Finding]) -> list[Piece]:
    """`text` cut at the quoted passages; where passages overlap the first finding's number stands.

    The pieces joined are the text.
    """
    spans = [
        (passage.start, passage.end, number)
        for number, finding in enumerate(findings, 1)
        for passage in finding.evidence
    ]
    cuts = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    return [
        Piece(
            start,
            text[start:end],
            next((number for first, last, number in spans if first <= start and end <= last), None),
        )
        for start, end in pairwise(cuts)
    ]
