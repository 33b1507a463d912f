"""Measures of a run by a golden set, arm by arm, with intervals; and how two arms differ on the same queries.

An answer is wrong where the query has no answer, or none of the gold paragraphs is cited. An outcome is right where an
answer is not wrong, or silence meets a query without an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pandas

from ovrag_core.base import RunError
from ovrag_core.evaluation import Estimate, Resampling, exact_mcnemar, holm, ratio, recall, wilson
from ovrag_core.text import find_passages, one_line
from ovrag_studies.cited.answering.cited_answers import LONGEST_QUERY
from ovrag_studies.cited.answering.quotations import verifies
from ovrag_studies.cited.answering.verification import SentenceVerifier
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.corpus.policies import Paragraph, PolicyCorpus
from ovrag_studies.cited.measuring.paragraph_ranks import score_ranks
from ovrag_studies.cited.records import PolicyRecord
from ovrag_studies.cited.settings import Arm

Scored = dict[Arm, dict[str, Estimate]]  # figures of arms by their measures

_DIVIDED = re.compile(r"\s\|+\s")
_PUNCTUATION = re.compile(r"[^\w%£$€.]+")


class JudgedRecord(NamedTuple):
    """A record beside its query."""

    record: PolicyRecord
    query: GoldenQuery
    paragraphs: tuple[Paragraph, ...]
    cited: frozenset[str]

    @property
    def answered(self) -> bool:
        """True where it says anything."""
        return not self.record.silent

    @property
    def wrong(self) -> bool:
        """True where it is answered and the answer is wrong."""
        return self.answered and not (self.query.answerable and self.cited & set(self.query.gold))

    @property
    def right(self) -> bool:
        """True where the outcome is right."""
        return not self.wrong if self.answered else not self.query.answerable


def judge(records: Iterable[PolicyRecord], queries: Sequence[GoldenQuery], corpus: PolicyCorpus) -> list[JudgedRecord]:
    """Return records beside their queries. Raises RunError where a record is of a query that the golden set lacks."""
    by_id, known = {each.query_id: each for each in queries}, corpus.by_id()
    judged = []
    for record in records:
        query = by_id.get(record.query_id)
        if query is None or query.question[:LONGEST_QUERY] != record.question:
            raise RunError(
                f"the golden set has no query {one_line(record.query_id, 80)} with this question; "
                "give the one that the run was made for"
            )
        # A paragraph that stands in several places goes by several names.
        cited = frozenset(name for each in record.cited for name in known[each].ids)
        judged.append(JudgedRecord(record, query, tuple(known[each.paragraph_id] for each in record.evidence), cited))
    return judged


def score(judged: Sequence[JudgedRecord], corpus: PolicyCorpus, plan: Resampling, verifier: SentenceVerifier) -> Scored:
    """Return all measures of all arms. The `clusters` of an estimate are the queries or claims that it is of."""
    figures: Scored = {}
    for arm in dict.fromkeys(each.record.arm for each in judged):
        given = [each for each in judged if each.record.arm == arm]
        ranks = score_ranks([(each.query, each.paragraphs) for each in given], plan)
        del ranks["first is gold"]
        figures[arm] = _silence(given, plan) | ranks | _citations(given, corpus, plan) | _conflicts(given, plan)
        figures[arm]["ungrounded claims"] = _ungrounded(given, corpus, verifier, plan)
    return figures


def _share(of: Iterable[JudgedRecord], holds: Callable[[JudgedRecord], bool], plan: Resampling) -> Estimate:
    values = [holds(each) for each in of]
    return wilson(sum(values), len(values), plan.confidence)


def _silence(given: Sequence[JudgedRecord], plan: Resampling) -> dict[str, Estimate]:
    answered, silent = [each for each in given if each.answered], [each for each in given if not each.answered]
    plain = [each for each in given if each.query.category == "answerable"]
    return {
        "answered": _share(given, lambda each: each.answered, plan),
        "answer rate": _share(plain, lambda each: each.answered, plan),
        "abstention accuracy": _share(
            (each for each in given if not each.query.answerable), lambda each: not each.answered, plan
        ),
        "abstention precision": _share(silent, lambda each: not each.query.answerable, plan),
        "wrong of answered": _share(answered, lambda each: each.wrong, plan),
        "right": _share(given, lambda each: each.right, plan),
    }


def _citations(given: Sequence[JudgedRecord], corpus: PolicyCorpus, plan: Resampling) -> dict[str, Estimate]:
    answered = [each for each in given if each.answered and each.query.category == "answerable"]
    precision = [recall(each.cited, _names(each.paragraphs)) for each in answered]
    recalls = [recall(each.query.gold, each.cited) for each in answered]
    citations = [cited for each in given for said in each.record.sentences for cited in said.citations]
    standing = sum(verifies(each, corpus) for each in citations)
    quoted = [each for each in given if each.query.quote and each.query.answerable]
    ones = [1.0] * len(answered)
    return {
        "citation precision": ratio(precision, ones, plan),
        "citation recall": ratio(recalls, ones, plan),
        "quotes that verify": wilson(standing, len(citations), plan.confidence),
        "holds the gold quotation": _share(quoted, holds_quote, plan),
    }


def _names(paragraphs: Iterable[Paragraph]) -> frozenset[str]:
    """Return all ids of paragraphs: one that stands in several places has several."""
    return frozenset(name for paragraph in paragraphs for name in paragraph.ids)


def holds_quote(judged: JudgedRecord) -> bool:
    """Return True where sentences hold the words of a gold quotation, each sentence of it.

    Several quotations are divided by ` | `.
    """
    said = [_plain(each.text) for each in judged.record.sentences]
    quotes = [_plain_parts(quote) for quote in _DIVIDED.split(judged.query.quote)]
    return any(parts and all(any(part in text for text in said) for part in parts) for parts in quotes)


def _plain_parts(quote: str) -> list[str]:
    parts = (_plain(quote[start:end]) for start, end in find_passages(quote))
    return [part for part in parts if part.strip()]


def _plain(text: str) -> str:
    return f" {' '.join(word.strip('.') for word in _PUNCTUATION.sub(' ', text.lower()).split())} ".replace("  ", " ")


def _conflicts(given: Sequence[JudgedRecord], plan: Resampling) -> dict[str, Estimate]:
    probes = [each for each in given if each.query.category == "contradiction"]
    flagged = [each for each in given if each.record.conflicts]
    told = [each for each in probes if each.record.conflicts and each.query.expected in ("superseded", "unresolved")]
    return {
        "conflict recall": _share(probes, lambda each: bool(each.record.conflicts), plan),
        "conflict precision": _share(flagged, lambda each: each.query.category == "contradiction", plan),
        "conflicts told apart": _share(
            told, lambda each: each.query.expected in {found.status for found in each.record.conflicts}, plan
        ),
    }


def _ungrounded(
    given: Sequence[JudgedRecord], corpus: PolicyCorpus, verifier: SentenceVerifier, plan: Resampling
) -> Estimate:
    known = corpus.by_id()
    claims = [said for each in given for said in each.record.sentences]
    cited = [[known[each.paragraph_id].text for each in said.citations] for said in claims]
    wrong = sum(not verifier.supports(said.text, texts).ok for said, texts in zip(claims, cited, strict=True))
    return wilson(wrong, len(claims), plan.confidence)


def compare_arms(judged: Sequence[JudgedRecord], first: Arm = "ours") -> pandas.DataFrame:
    """Return each other arm against one on the same queries: McNemar's exact test on right outcomes.

    `p_holm` is adjusted after Holm.
    """
    outcomes: dict[Arm, dict[str, bool]] = {}
    for each in judged:
        outcomes.setdefault(each.record.arm, {})[each.query.query_id] = each.right
    rows = []
    for arm, others in outcomes.items():
        shared = [name for name in outcomes.get(first, {}) if name in others]
        if arm != first and shared:
            test = exact_mcnemar([outcomes[first][name] for name in shared], [others[name] for name in shared])
            rows.append((first, arm, test.pairs, test.first_only, test.second_only, test.p))
    frame = pandas.DataFrame(rows, columns=["arm", "other", "queries", "only_arm_right", "only_other_right", "p"])
    frame["p_holm"] = holm(frame["p"].tolist())
    return frame
