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
    by_id, paragraphs = {q.query_id: q for q in queries}, corpus.by_id()
    judged = []
    for record in records:
        query = by_id.get(record.query_id)
        if query is None or query.question[:LONGEST_QUERY] != record.question:
            raise RunError(
                f"the golden set has no query {one_line(record.query_id, 80)} with this question; "
                "give the one that the run was made for"
            )
        # A paragraph that stands in several places goes by several names.
        cited = frozenset(name for id_ in record.cited for name in paragraphs[id_].ids)
        judged.append(
            JudgedRecord(record, query, tuple(paragraphs[passage.paragraph_id] for passage in record.evidence), cited)
        )
    return judged


def score(judged: Sequence[JudgedRecord], corpus: PolicyCorpus, plan: Resampling, verifier: SentenceVerifier) -> Scored:
    """Return all measures of all arms. The `clusters` of an estimate are the queries or claims that it is of."""
    figures: Scored = {}
    for arm in dict.fromkeys(j.record.arm for j in judged):
        arm_records = [j for j in judged if j.record.arm == arm]
        ranks = score_ranks([(j.query, j.paragraphs) for j in arm_records], plan)
        del ranks["first is gold"]
        figures[arm] = (
            _silence(arm_records, plan) | ranks | _citations(arm_records, corpus, plan) | _conflicts(arm_records, plan)
        )
        figures[arm]["ungrounded claims"] = _ungrounded(arm_records, corpus, verifier, plan)
    return figures


def _share(of: Iterable[JudgedRecord], holds: Callable[[JudgedRecord], bool], plan: Resampling) -> Estimate:
    values = [holds(j) for j in of]
    return wilson(sum(values), len(values), plan.confidence)


def _silence(given: Sequence[JudgedRecord], plan: Resampling) -> dict[str, Estimate]:
    answered, silent = [j for j in given if j.answered], [j for j in given if not j.answered]
    plain = [j for j in given if j.query.category == "answerable"]
    return {
        "answered": _share(given, lambda each: each.answered, plan),
        "answer rate": _share(plain, lambda each: each.answered, plan),
        "abstention accuracy": _share(
            (j for j in given if not j.query.answerable), lambda each: not each.answered, plan
        ),
        "abstention precision": _share(silent, lambda each: not each.query.answerable, plan),
        "wrong of answered": _share(answered, lambda each: each.wrong, plan),
        "right": _share(given, lambda each: each.right, plan),
    }


def _citations(given: Sequence[JudgedRecord], corpus: PolicyCorpus, plan: Resampling) -> dict[str, Estimate]:
    answered = [j for j in given if j.answered and j.query.category == "answerable"]
    precision = [recall(j.cited, _names(j.paragraphs)) for j in answered]
    recalls = [recall(j.query.gold, j.cited) for j in answered]
    citations = [citation for j in given for sentence in j.record.sentences for citation in sentence.citations]
    standing = sum(verifies(citation, corpus) for citation in citations)
    quoted = [j for j in given if j.query.quote and j.query.answerable]
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
    texts = [_plain(sentence.text) for sentence in judged.record.sentences]
    quotes = [_plain_parts(quote) for quote in _DIVIDED.split(judged.query.quote)]
    return any(passages and all(any(passage in text for text in texts) for passage in passages) for passages in quotes)


def _plain_parts(quote: str) -> list[str]:
    passages = (_plain(quote[start:end]) for start, end in find_passages(quote))
    return [passage for passage in passages if passage.strip()]


def _plain(text: str) -> str:
    return f" {' '.join(word.strip('.') for word in _PUNCTUATION.sub(' ', text.lower()).split())} ".replace("  ", " ")


def _conflicts(given: Sequence[JudgedRecord], plan: Resampling) -> dict[str, Estimate]:
    probes = [j for j in given if j.query.category == "contradiction"]
    flagged = [j for j in given if j.record.conflicts]
    flagged_probes = [j for j in probes if j.record.conflicts and j.query.expected in ("superseded", "unresolved")]
    return {
        "conflict recall": _share(probes, lambda each: bool(each.record.conflicts), plan),
        "conflict precision": _share(flagged, lambda each: each.query.category == "contradiction", plan),
        "conflicts told apart": _share(
            flagged_probes,
            lambda each: each.query.expected in {conflict.status for conflict in each.record.conflicts},
            plan,
        ),
    }


def _ungrounded(
    given: Sequence[JudgedRecord], corpus: PolicyCorpus, verifier: SentenceVerifier, plan: Resampling
) -> Estimate:
    paragraphs = corpus.by_id()
    claims = [claim for j in given for claim in j.record.sentences]
    cited = [[paragraphs[c.paragraph_id].text for c in claim.citations] for claim in claims]
    wrong = sum(not verifier.supports(claim.text, texts).ok for claim, texts in zip(claims, cited, strict=True))
    return wilson(wrong, len(claims), plan.confidence)


def compare_arms(judged: Sequence[JudgedRecord], first: Arm = "ours") -> pandas.DataFrame:
    """Return each other arm against one on the same queries: McNemar's exact test on right outcomes.

    `p_holm` is adjusted after Holm.
    """
    outcomes: dict[Arm, dict[str, bool]] = {}
    for judged_record in judged:
        outcomes.setdefault(judged_record.record.arm, {})[judged_record.query.query_id] = judged_record.right
    rows = []
    for arm, arm_outcomes in outcomes.items():
        shared = [name for name in outcomes.get(first, {}) if name in arm_outcomes]
        if arm != first and shared:
            test = exact_mcnemar([outcomes[first][name] for name in shared], [arm_outcomes[name] for name in shared])
            rows.append((first, arm, test.pairs, test.first_only, test.second_only, test.p))
    frame = pandas.DataFrame(rows, columns=["arm", "other", "queries", "only_arm_right", "only_other_right", "p"])
    frame["p_holm"] = holm(frame["p"].tolist())
    return frame
