"""What the published pipeline does beside retrieval: its gate, its extract, its checks, with their known flaws.

The second baseline gives the extract alone; the third adds gate and checks. The pairs of opposed words are not known
exactly; these are of the same size and kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from ovrag_core.text.passages import find_passages
from ovrag_core.text.stems import stems
from ovrag_studies.cited.answering.cited_answers import CitedAnswer, CitedSentence, Removed, ScoredParagraph, cite
from ovrag_studies.cited.answering.recorded import LEAST_SUPPORT, published_support

GATE = 0.30  # the best score of the evidence below which the pipeline is silent
SHARED, QUARTER = 2, 0.25  # content words of the question that the top paragraph must hold, or this share of them
OPPOSED = (
    ("must", "must not"),
    ("required", "optional"),
    ("required", "not required"),
    ("mandatory", "optional"),
    ("allowed", "prohibited"),
    ("allowed", "not allowed"),
    ("permitted", "prohibited"),
    ("permitted", "not permitted"),
    ("may", "may not"),
    ("can", "cannot"),
    ("always", "never"),
    ("all", "none"),
    ("include", "exclude"),
    ("approve", "reject"),
    ("enable", "disable"),
)

_LEAST = re.compile(r"\b(?:minimum(?: of)?|at least)\s+(\d+(?:\.\d+)?)", re.I)


def extract_top(query: str, evidence: Sequence[ScoredParagraph], confidence: float) -> CitedAnswer:
    """The first paragraph as it stands, if it shares content words with the question; else silence."""
    if not evidence:
        return CitedAnswer(query, (), (), True, "nothing was found", confidence, "extractive")
    top = evidence[0].paragraph
    wanted = set(stems(query))
    shared = len(wanted & set(stems(top.text)))
    if shared < SHARED and shared < QUARTER * len(wanted):
        return CitedAnswer(query, (), (), True, "the first paragraph shares no words with it", confidence, "extractive")
    spans = list(find_passages(top.text)) or [(0, len(top.text))]
    sentences = tuple(CitedSentence(top.text[start:end], (cite(top, start, end),)) for start, end in spans)
    return CitedAnswer(query, sentences, (), False, "", confidence, "extractive")


def checked(answer: CitedAnswer, evidence: Sequence[ScoredParagraph]) -> CitedAnswer:
    """The answer without what a tenth of the words or one number does not support; silence from one in five such."""
    texts = {each.paragraph.id: each.paragraph.text for each in evidence}
    kept = [
        each
        for each in answer.sentences
        if published_support(each.text, [texts.get(cited.paragraph_id, "") for cited in each.citations])
    ]
    removed = tuple(
        Removed(each.text, "it shares too few words with what it cites")
        for each in answer.sentences
        if each not in kept
    )
    if answer.silent or len(kept) < LEAST_SUPPORT * len(answer.sentences):
        return _silenced(answer, answer.reason or "too few sentences are supported", removed)
    return replace(answer, sentences=tuple(kept), removed=(*answer.removed, *removed))


def gated(answer: CitedAnswer) -> CitedAnswer:
    """Silence where the best score is below the gate."""
    if answer.silent or answer.confidence >= GATE:
        return answer
    return _silenced(answer, f"the best score {answer.confidence:.2f} is below {GATE:.2f}", ())


def opposed_pairs(evidence: Sequence[ScoredParagraph]) -> list[tuple[int, int]]:
    """Pairs of paragraphs, by place, in which opposed words or other minima stand."""
    texts = [each.paragraph.text.lower() for each in evidence]
    return [(one, two) for one, two in combinations(range(len(texts)), 2) if _opposed(texts[one], texts[two])]


def _opposed(first: str, second: str) -> bool:
    def has(text: str, word: str, other: str) -> bool:
        plain = text.replace(other, " ") if word in other else text
        return re.search(rf"\b{word}\b", plain) is not None

    pairs = any(
        (has(first, one, two) and has(second, two, one)) or (has(second, one, two) and has(first, two, one))
        for one, two in OPPOSED
    )
    least = set(_LEAST.findall(first)), set(_LEAST.findall(second))
    return pairs or bool(least[0] and least[1] and least[0].isdisjoint(least[1]))


def _silenced(answer: CitedAnswer, reason: str, removed: tuple[Removed, ...]) -> CitedAnswer:
    return replace(answer, sentences=(), removed=(*answer.removed, *removed), silent=True, reason=reason)
