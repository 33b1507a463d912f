"""Recorded answers of the dissertation, and which of them were refused because citations were read wrongly.

The published pipeline split a reply at its full stops and so gave a citation that stands behind one to the sentence
after it. The first sentence of an answer was left without, and the answer was refused. Replies as such were not kept;
they are rebuilt from the claims, where each citation is still found.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from ovrag_core.base import Frozen, RunError, read_records
from ovrag_studies.cited.answering.citations import Cited, read_citations
from ovrag_studies.cited.answering.published_pipeline import LEAST_SUPPORT, published_support
from ovrag_studies.cited.corpus.golden import Category

_APPENDED = re.compile(r"\s*Note: some evidence sources may conflict on this point.*$", re.S)
_BEFORE_STOP = re.compile(r"\s+([.!?])$")  # the blank that a citation left which stood before the full stop


class RecordedClaim(Frozen, extra="ignore"):
    """A sentence of an answer as it was checked; `citations` are the ids that it was taken to cite."""

    text: str
    citations: tuple[str, ...]


class _RecordedEvidence(Frozen, extra="ignore"):
    paragraph_id: str
    text: str


class _RecordedClaims(Frozen, extra="ignore"):
    claims: tuple[RecordedClaim, ...] = ()


class RecordedAnswer(Frozen, extra="ignore"):
    """One line of a recorded run; without claims where nothing was checked."""

    query_id: str
    category: Category
    answer: str
    is_abstained: bool
    evidence: tuple[_RecordedEvidence, ...] = ()
    claim_verification: _RecordedClaims | None = None

    @property
    def claims(self) -> tuple[RecordedClaim, ...]:
        """The sentences of the answer as they were checked."""
        return self.claim_verification.claims if self.claim_verification else ()

    def cited_sentences(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the sentences of the model's reply, each with the texts that it cites, citations read right."""
        texts = {passage.paragraph_id: passage.text for passage in self.evidence}
        # The reply as recorded where an answer was given, else rebuilt.
        is_whole = not self.is_abstained and "[CITATION:" in self.answer
        reply = _APPENDED.sub("", self.answer) if is_whole else rebuilt_reply(self.claims)
        cited: Sequence[Cited] = read_citations(reply, texts) if self.claims else ()
        return [(sentence.text, tuple(texts.get(name, "") for name in sentence.ids)) for sentence in cited]

    def is_answered_when_read_right(self) -> bool:
        """Return True where the published rule gives the answer, its citations read right; else as it was recorded."""
        supported = [published_support(*sentence) for sentence in self.cited_sentences()]
        return sum(supported) >= LEAST_SUPPORT * len(supported) if supported else not self.is_abstained


def read_answers(folder: Path) -> list[RecordedAnswer]:
    """Return the answers of a recorded run. Raises RunError naming file, line and field."""
    remedy = "give the folder of a recorded run"
    return [answer for _, answer in read_records(folder / "outputs.jsonl", RecordedAnswer, RunError, remedy)]


def rebuilt_reply(claims: Sequence[RecordedClaim]) -> str:
    """Return a reply as the model gave it, from its claims: citations stand before the claims that they were moved to.

    Of the citations of the last claim the last one is its own. A claim that ends in a blank and a full stop had its
    citations before that.
    """
    marked_claims = []
    for row, claim in enumerate(claims):
        marks = [f"[CITATION: {name}]" for name in claim.citations]
        if stop := _BEFORE_STOP.search(claim.text):
            marked_claims.append(" ".join([claim.text[: stop.start()], *marks]) + stop[1])
        elif row + 1 == len(claims):
            marked_claims.append(" ".join([*marks[:-1], claim.text, *marks[-1:]]))
        else:
            marked_claims.append(" ".join([*marks, claim.text]))
    return " ".join(marked_claims)
