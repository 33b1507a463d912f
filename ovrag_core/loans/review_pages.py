"""A review as one self-contained HTML page: facts, findings, and the text with the passages marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from ovrag_core.base import Document, page_templates
from ovrag_core.loans.deal import DealReview
from ovrag_core.loans.grounds import Passage
from ovrag_core.loans.reviewing import MARK, Review, facts_shown, headline, title


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, where it begins, and the marks of the passages that it is in (None for plain text)."""

    start: int
    text: str
    mark: str | None


def review_page(reviews: Sequence[tuple[Review, Sequence[Document]]]) -> str:
    """The page for reviews in order, each with the documents whose text is shown (none where it could not be read)."""
    sections = [_part(number, review, documents) for number, (review, documents) in enumerate(reviews, 1)]
    models = dict.fromkeys(f"the language model {fact.by}" for review, _ in reviews for fact in review.model_facts)
    readers = ", ".join(("a deterministic reader", *models))
    template = page_templates(__package__).get_template("review.html.j2")
    return template.render(parts=sections, mark=Markup(MARK), readers=readers)


def _part(number: int, review: Review, documents: Sequence[Document]) -> dict[str, object]:
    places = {document.id: f"d{number}t{position}" for position, document in enumerate(documents, 1)}
    deal = review if isinstance(review, DealReview) else None
    marks = [(str(position), finding.evidence) for position, finding in enumerate(review.violations, 1)]
    for change in deal.superseded if deal else ():
        marks += [(sign, (quoted,)) for sign, quoted in (("was", change.was_said), ("now", change.by)) if quoted]
    facts = facts_shown(review)
    marks += [("fact", row.grounds.evidence) for _, rows in facts for row in rows if row.grounds]
    return {
        "review": review,
        "deal": deal,
        "title": title(review),
        "headline": headline(review),
        "facilities": facts,
        "places": places,
        "texts": [
            (document.id, places[document.id], pieces(document.text, _within(marks, document.id)))
            for document in documents
        ],
    }


def _within(marks: Sequence[tuple[str, Sequence[Passage]]], document: str) -> list[tuple[str, Sequence[Passage]]]:
    return [(sign, [p for p in passages if p.document == document]) for sign, passages in marks]


def pieces(text: str, marks: Sequence[tuple[str, Sequence[Passage]]]) -> list[Piece]:
    """`text` cut at the quoted passages, each piece with the marks of all that it is in. Joined, they are the text."""
    spans = [(passage.start, passage.end, sign) for sign, passages in marks for passage in passages]
    cuts = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    return [Piece(start, text[start:end], _marks(start, end, spans)) for start, end in pairwise(cuts)]


def _marks(start: int, end: int, spans: Sequence[tuple[int, int, str]]) -> str | None:
    return ", ".join(dict.fromkeys(sign for low, high, sign in spans if low <= start and end <= high)) or None
