"""A review as one self-contained HTML page: facts, findings, and the text with the passages marked."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ovrag_core.base import Document, page_templates
from ovrag_core.loans import Passage, Piece, Review, deal, pieces, reviewing

Marks = Sequence[tuple[str, Sequence[Passage]]]  # a sign, and the passages that it marks


def review_page(reviews: Sequence[tuple[Review, Sequence[Document]]]) -> str:
    """The page for reviews in order, each with the documents whose text is shown (none where it could not be read)."""
    sections = [_section(number, review, documents) for number, (review, documents) in enumerate(reviews, 1)]
    models = dict.fromkeys(f"the language model {fact.by}" for review, _ in reviews for fact in review.model_facts)
    readers = ", ".join(("a deterministic reader", *models))
    template = page_templates("ovrag_core.app").get_template("review.html.j2")
    return template.render(sections=sections, mark=Markup(reviewing.MARK), readers=readers)


def _section(number: int, review: Review, documents: Sequence[Document]) -> dict[str, object]:
    """What the page shows of a review; `place` and `anchor` tell where a passage stands, in words and on the page."""
    anchors = {document.id: f"d{number}t{position}c" for position, document in enumerate(documents, 1)}
    whole = review if isinstance(review, deal.DealReview) else None
    facts = reviewing.facts_shown(review)
    marks = [(str(position), finding.evidence) for position, finding in enumerate(review.violations, 1)]
    for change in whole.superseded if whole else ():
        marks += [(sign, (quoted,)) for sign, quoted in (("was", change.was_said), ("now", change.by)) if quoted]
    marks += [("F", row.grounds.evidence) for _, rows in facts for row in rows if row.grounds]

    def anchor(passage: Passage) -> str:
        return anchors.get(passage.document or "", "" if whole else next(iter(anchors.values()), ""))

    return {
        "review": review,
        "deal": whole,
        "title": reviewing.title(review),
        "headline": reviewing.headline(review),
        "facilities": facts,
        "place": lambda passage: reviewing.place(passage, whole is not None),
        "anchor": anchor,
        "texts": [
            (document.id, anchors[document.id], cut(document.text, marks, document.id)) for document in documents
        ],
    }


def cut(text: str, marks: Marks, document_id: str, start: int = 0) -> list[Piece]:
    """A text that begins at `start` of the document, cut at the parts of the passages that lie in it."""
    end = start + len(text)
    within = []
    for sign, passages in marks:
        inside = [
            span.model_copy(update={"start": max(span.start, start) - start, "end": min(span.end, end) - start})
            for span in passages
            if span.document == document_id and span.start < end and span.end > start
        ]
        within.append((sign, inside))
    return pieces(text, within)
