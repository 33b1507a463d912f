"""Steps of the published pipeline beside retrieval: its gate, its extract, its checks, with their known flaws.

The second baseline gives the extract alone; the third adds gate and checks. The pairs of opposed words are not known
exactly; these are of the same size and kind.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from ovrag_core.text import find_passages, stems
from ovrag_studies.cited.answering.quotations import CitedAnswer, CitedSentence, Removed, cite, silent_answer
from ovrag_studies.cited.corpus.policies import Paragraph

LEAST_OVERLAP = 0.10  # Jaccard of content words from which a sentence is called supported
LEAST_SUPPORT = 0.80  # share of supported sentences below which the pipeline is silent
GATE = 0.30  # the best score of the evidence below which the pipeline is silent
SHARED, QUARTER = 2, 0.25  # content words of the question that the top paragraph must hold, or this share of them
_OPPOSED_TEXT = """must/must not, required/optional, required/not required, mandatory/optional, allowed/prohibited,
allowed/not allowed, permitted/prohibited, permitted/not permitted, may/may not, can/cannot, always/never, all/none,
include/exclude, approve/reject, enable/disable"""
OPPOSED = [pair.strip().split("/") for pair in _OPPOSED_TEXT.split(",")]

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LEAST = re.compile(r"\b(?:minimum(?: of)?|at least)\s+(\d+(?:\.\d+)?)", re.I)

# Function words in the manner of the rule that was recorded: "not" and "no" are among them.
_FUNCTION_WORDS_TEXT = """a about above after again against all also am an and any are as at be been being below between
both but by can could did do does doing down during each few for from further had has have having he her here hers him
his how i in into is it its just may me might more most must my no nor not of off on once only or other our ours out
over own same shall she should so some such than that the their theirs them then there these they this those through to
too until up very was we were what who whom why with would you your yours"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())


def extract_top(query: str, evidence: Sequence[Paragraph]) -> CitedAnswer:
    """Return the first paragraph as it stands, if it shares content words with the question; else silence."""
    if not evidence:
        return silent_answer(query, "nothing was found")
    top = evidence[0]
    wanted = set(stems(query))
    shared = len(wanted & set(stems(top.text)))
    if shared < SHARED and shared < QUARTER * len(wanted):
        return silent_answer(query, "the first paragraph shares no words with it")
    spans = list(find_passages(top.text)) or [(0, len(top.text))]
    sentences = tuple(CitedSentence(top.text[start:end], (cite(top, start, end),)) for start, end in spans)
    return CitedAnswer(query, sentences)


def checked(answer: CitedAnswer, evidence: Sequence[Paragraph]) -> CitedAnswer:
    """Return the answer without sentences that are not supported; silence below the gate or from one in five such."""
    if answer.silent:
        return answer
    if answer.confidence < GATE:
        reason = f"the best score {answer.confidence:.2f} is below {GATE:.2f}"
        return replace(answer, sentences=(), silent=True, reason=reason)
    texts = {paragraph.id: paragraph.text for paragraph in evidence}
    supported, removed = [], []
    for sentence in answer.sentences:
        if published_support(sentence.text, [texts.get(cited.paragraph_id, "") for cited in sentence.citations]):
            supported.append(sentence)
        else:
            removed.append(Removed(sentence.text, "it shares too few words with what it cites"))
    removals = (*answer.removed, *removed)
    if len(supported) < LEAST_SUPPORT * len(answer.sentences):
        return replace(answer, sentences=(), removed=removals, silent=True, reason="too few sentences are supported")
    return replace(answer, sentences=tuple(supported), removed=removals)


def published_support(sentence: str, cited: Sequence[str]) -> bool:
    """Return True where the published check accepts a sentence: one shared number, or a tenth of the content words.

    Its exact words are not known; with these 210 of 212 recorded claims are judged as recorded.
    """
    evidence = " ".join(cited)
    if not evidence:
        return False
    words, evidence_words = _content(sentence), _content(evidence)
    overlap = len(words & evidence_words) / len(words | evidence_words) if words | evidence_words else 0.0
    return overlap >= LEAST_OVERLAP or bool(set(_NUMBER.findall(sentence)) & set(_NUMBER.findall(evidence)))


def _content(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _FUNCTION_WORDS


def opposed_pairs(evidence: Sequence[Paragraph]) -> list[tuple[int, int]]:
    """Return the pairs of paragraphs, by place, in which opposed words or other minima stand."""
    texts = [paragraph.text.lower() for paragraph in evidence]
    return [(i, j) for i, j in combinations(range(len(texts)), 2) if _opposed(texts[i], texts[j])]


def _opposed(first: str, second: str) -> bool:
    def has(text: str, word: str, other: str) -> bool:
        plain = text.replace(other, " ") if word in other else text
        return re.search(rf"\b{word}\b", plain) is not None

    pairs = any(
        (has(first, left, right) and has(second, right, left)) or (has(second, left, right) and has(first, right, left))
        for left, right in OPPOSED
    )
    least = set(_LEAST.findall(first)), set(_LEAST.findall(second))
    return pairs or bool(least[0] and least[1] and least[0].isdisjoint(least[1]))
