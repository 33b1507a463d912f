"""A query, an upload or a run as HTML. Contract text, answers and names are untrusted: all of it is escaped."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from markupsafe import Markup, escape

from ovrag_core.app.review_page import Marks, cut
from ovrag_core.base import Chunk, Document, LatencyRecord, QueryRecord, Retrieved, Violation, page_templates, shown
from ovrag_core.loans import (
    NEAREST,
    OUTCOMES,
    FactRow,
    Passage,
    Piece,
    contradictions,
    is_nearest,
    is_silent,
    is_validated,
    outcome_words,
    passage,
    place,
)
from ovrag_core.loop import CAUSES

ANSWER = "answer"  # what evidence in an answer names as its document
MOST_PICTURES = 6
_PAGES = page_templates("ovrag_core.app")

Excerpt = tuple[Retrieved, list[Piece]]  # a chunk's text cut at the marked passages; no pieces where it is not at hand


def query_view(
    record: QueryRecord,
    find_chunk: Callable[[str], Chunk | None],
    document: Document | None,
    latency: LatencyRecord | None = None,
    name: str = "query",
    facts: Sequence[tuple[str, Sequence[FactRow]]] = (),
) -> str:
    """All that came of a query, and the asked contract's text (None: not at hand) with the quoted passages marked.

    `name` tells its links from those of other queries on the page. `facts` are those that the question asks for, by
    facility.
    """
    violations = _violations(record)
    answer = record.answer
    quoted = answer.evidence if answer else ()
    # Passages by the sign that marks them: the number of a violation, A for the answer's quotes, F for those of facts.
    marks = [(str(number), passages) for number, _, passages in violations]
    marks += [("A", list(map(passage, quoted))), ("F", _grounds(facts))]

    def anchor(marked: Passage) -> str:
        return f"ovx-{name}-" if document and marked.document == document.id else ""

    return _PAGES.get_template("explorer/query.html.j2").render(
        record=record,
        answer=cut(answer.text, marks, ANSWER) if answer else [],
        sources=sorted({quote.document_id for quote in quoted}),
        name=name,
        first_quote=next((quote.start for quote in quoted if anchor(passage(quote))), None),
        is_nearest=is_nearest(record),
        nearest=NEAREST,
        facts=facts,
        anchor=anchor,
        fact_place=partial(place, named=False),
        where=_where,
        passage=passage,
        verdict=_verdict_words(record),
        is_silent=is_silent(record),
        outcome=outcome_words(record),
        causes=CAUSES,
        violations=violations,
        pictures={number: picture(broken) for number, broken, _ in violations[:MOST_PICTURES] if broken.triples},
        retrieved=_retrieved(record, find_chunk, marks),
        triples={
            "the answer": record.attempts[-1].triples if record.attempts else (),
            "the contract" if record.arm == "ovrag_evidence" else "the retrieved chunks": record.context_triples,
        },
        document=document,
        text=cut(document.text, marks, document.id) if document else [],
        latency=latency,
    )


def run_view(records: Sequence[QueryRecord]) -> str:
    """A run by arm: how many queries came to which outcome."""
    arms = dict.fromkeys(record.arm for record in records)
    outcomes = {arm: Counter(record.outcome for record in records if record.arm == arm) for arm in arms}
    return _PAGES.get_template("explorer/run.html.j2").render(
        outcomes=outcomes,
        words={name: words for name, words in OUTCOMES.items() if any(name in counts for counts in outcomes.values())},
        models=sorted({record.model for record in records}),
        queries=len(records),
        errors=Counter(record.error for record in records if record.outcome == "error"),
        contracts=len({record.document_id for record in records}),
    )


def message(text: str, kind: str = "note") -> str:
    """A sentence for the page; `kind` is note, good or bad."""
    role = "alert" if kind == "bad" else "status"
    return f'<div class="ovx"><p class="{escape(kind)} say" role="{role}">{escape(shown(text))}</p></div>'


def style() -> str:
    """The style sheet of everything here, once a page."""
    return _PAGES.get_template("explorer/style.html.j2").render()


def picture(violation: Violation) -> Markup:
    """The explanation graph as an image: what stands in it is drawn, not markup of the page."""
    from ovrag_core.ontology import draw  # noqa: PLC0415 - drawing takes a second to import, for which the first answer shall not wait

    drawn = io.BytesIO()
    draw(violation, 6.6).savefig(drawn, format="svg")
    data = base64.b64encode(drawn.getvalue()).decode()
    label = escape(f"Explanation graph: {violation.message}")
    return Markup(f'<img class="graph" src="data:image/svg+xml;base64,{data}" alt="{label}">')


def _verdict_words(record: QueryRecord) -> str:
    """Say in a sentence what validation says; arms that do not validate say so."""
    verdict = record.attempts[-1].verdict if record.attempts else None
    if record.error:
        return record.error
    if verdict is None or not is_validated(record):
        return "This arm does not validate: whether the answer can be true was not checked."
    if verdict.status == "unchecked":
        return f"Not checked: {verdict.reason}"
    if verdict.status == "consistent":
        return "There is no answer to check." if is_silent(record) else "Answer and contract can be true together."
    return CAUSES[record.cause][0].upper() + CAUSES[record.cause][1:] + "." if record.cause else "A contradiction."


def _violations(record: QueryRecord) -> list[tuple[int, Violation, list[Passage]]]:
    """What the last attempt breaks, numbered, with the passages that show it, each once."""
    verdict = record.attempts[-1].verdict if record.attempts else None
    return [
        (number, broken, list(dict.fromkeys(passage(triple.evidence) for triple in broken.triples if triple.evidence)))
        for number, broken in enumerate(contradictions(verdict.violations) if verdict else (), 1)
    ]


def _where(quoted: Passage) -> str:
    return "in the answer" if quoted.document == ANSWER else place(quoted, named=True)


def _grounds(facts: Sequence[tuple[str, Sequence[FactRow]]]) -> list[Passage]:
    """The passages that facts rest on."""
    return [found for _, rows in facts for row in rows if row.grounds for found in row.grounds.evidence]


def _retrieved(
    record: QueryRecord, find_chunk: Callable[[str], Chunk | None], marks: Marks
) -> Mapping[str, list[Excerpt]]:
    """The retrieved chunks by contract, the asked one first."""
    by_contract: dict[str, list[Excerpt]] = {record.document_id: []}
    for hit in record.retrieved:
        chunk = find_chunk(hit.chunk_id)
        shown_pieces = cut(chunk.text, marks, hit.document_id, chunk.start) if chunk else []
        by_contract.setdefault(hit.document_id, []).append((hit, shown_pieces))
    return {name: hits for name, hits in by_contract.items() if hits}
