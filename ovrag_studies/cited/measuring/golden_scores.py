"""Measures of a run by a golden set, arm by arm, with intervals; and how two arms differ on the same queries.

An answer is wrong where the query has no answer, or none of the gold paragraphs is cited. An outcome is right where an
answer is not wrong, or silence meets a query without an answer.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import pandas

from ovrag_core.base import RunError
from ovrag_core.evaluation import (
    Estimate,
    Resampling,
    exact_mcnemar,
    first_rank,
    holm,
    ratio,
    recall,
    reciprocal,
    wilson,
)
from ovrag_core.text import find_passages, one_line, plain_words
from ovrag_studies.cited.answering.cited_answers import LONGEST_QUERY
from ovrag_studies.cited.answering.quotations import verifies
from ovrag_studies.cited.answering.verification import SentenceVerifier
from ovrag_studies.cited.corpus.golden import CATEGORIES, GoldenQuery
from ovrag_studies.cited.corpus.policies import Paragraph, PolicyCorpus
from ovrag_studies.cited.records import PolicyRecord
from ovrag_studies.cited.settings import Arm

DEPTH = 5  # paragraphs that ranks are measured among
Scored = dict[Arm, dict[str, Estimate]]  # figures of arms by their measures

_DIVIDED = re.compile(r"\s\|+\s")


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
    by_id = {q.query_id: q for q in queries}
    judged = []
    for record in records:
        query = by_id.get(record.query_id)
        if query is None or query.question[:LONGEST_QUERY] != record.question:
            name = one_line(record.query_id, 80)
            raise RunError(
                f"the golden set has no query {name} with this question; give the one that the run was made for"
            )
        # A paragraph that stands in several places goes by several names.
        cited = frozenset(name for id_ in record.cited for name in corpus.by_id[id_].ids)
        evidence = tuple(corpus.by_id[passage.paragraph_id] for passage in record.evidence)
        judged.append(JudgedRecord(record, query, evidence, cited))
    return judged


def by_arm(judged: Iterable[JudgedRecord]) -> dict[Arm, list[JudgedRecord]]:
    """Return the records of each arm."""
    arms: dict[Arm, list[JudgedRecord]] = {}
    for judged_record in judged:
        arms.setdefault(judged_record.record.arm, []).append(judged_record)
    return arms


def score(judged: Sequence[JudgedRecord], corpus: PolicyCorpus, plan: Resampling, verifier: SentenceVerifier) -> Scored:
    """Return all measures of all arms. The `clusters` of an estimate are the queries or claims that it is of."""
    return {arm: _measure(records, corpus, plan, verifier) for arm, records in by_arm(judged).items()}


def _measure(
    judged: Sequence[JudgedRecord], corpus: PolicyCorpus, plan: Resampling, verifier: SentenceVerifier
) -> dict[str, Estimate]:
    facts = pandas.DataFrame([_facts(judged_record) for judged_record in judged])

    def share(of: str, among: str) -> Estimate:
        counted = facts.loc[facts[among], of]
        return wilson(int(counted.sum()), len(counted), plan.confidence)

    ranks = score_ranks([(j.query, j.paragraphs) for j in judged], plan)
    answered = [j for j in judged if j.answered and j.query.category == "answerable"]
    # One paragraph that stands in several places has several ids.
    precision = [recall(j.cited, chain.from_iterable(p.ids for p in j.paragraphs)) for j in answered]
    ones = [1.0] * len(answered)
    claims = [claim for j in judged for claim in j.record.sentences]
    verified = [verifies(citation, corpus) for claim in claims for citation in claim.citations]
    ungrounded = [
        bool(verifier.objection(claim.text, [corpus.by_id[citation.paragraph_id].text for citation in claim.citations]))
        for claim in claims
    ]
    return {
        "answered": share("answered", "asked"),
        "answer rate": share("answered", "answerable"),
        "abstention accuracy": share("silent", "unanswerable"),
        "abstention precision": share("unanswerable", "silent"),
        "wrong of answered": share("wrong", "answered"),
        "right": share("right", "asked"),
        "recall@5": ranks["recall@5"],
        "MRR@5": ranks["MRR@5"],
        "citation precision": ratio(precision, ones, plan),
        "citation recall": ratio([recall(j.query.gold, j.cited) for j in answered], ones, plan),
        "quotes that verify": wilson(sum(verified), len(verified), plan.confidence),
        "holds the gold quotation": share("holds the quotation", "has a quotation"),
        "conflict recall": share("conflict", "contradiction"),
        "conflict precision": share("contradiction", "conflict"),
        "conflicts told apart": share("told apart", "settled"),
        "ungrounded claims": wilson(sum(ungrounded), len(ungrounded), plan.confidence),
    }


def _facts(judged: JudgedRecord) -> dict[str, bool]:
    """Facts of a record and its query, by the names under which `_measure` counts them."""
    query, conflicts = judged.query, judged.record.conflicts
    has_status = query.expected in ("superseded", "unresolved")
    return {
        "asked": True,
        **{category: query.category == category for category in CATEGORIES},
        "answered": judged.answered,
        "silent": not judged.answered,
        "wrong": judged.wrong,
        "right": judged.right,
        "has a quotation": bool(query.quote) and query.answerable,
        "holds the quotation": holds_quote(judged),
        "conflict": bool(conflicts),
        "settled": query.category == "contradiction" and has_status and bool(conflicts),
        "told apart": any(conflict.status == query.expected for conflict in conflicts),
    }


def score_ranks(found: Iterable[tuple[GoldenQuery, Sequence[Paragraph]]], plan: Resampling) -> dict[str, Estimate]:
    """Return recall, mean reciprocal rank and hits at one of queries with the paragraphs found for them, best first.

    Queries without gold paragraphs are left out; intervals resample the others. A paragraph that stands in several
    places is one.
    """
    with_gold = [(query.gold, [p.ids for p in paragraphs[:DEPTH]]) for query, paragraphs in found if query.gold]
    ranks = [first_rank(not ids.isdisjoint(gold) for ids in names) for gold, names in with_gold]
    recalls = [recall(gold, chain.from_iterable(names)) for gold, names in with_gold]
    ones = [1.0] * len(ranks)
    return {
        "recall@5": ratio(recalls, ones, plan),
        "MRR@5": ratio([reciprocal(rank) for rank in ranks], ones, plan),
        "first is gold": ratio([float(rank == 1) for rank in ranks], ones, plan),
    }


def holds_quote(judged: JudgedRecord) -> bool:
    """Return True where sentences hold each sentence of a gold quotation; several are divided by ` | `."""
    texts = [f" {plain_words(sentence.text)} " for sentence in judged.record.sentences]
    for quote in _DIVIDED.split(judged.query.quote):
        passages = [plain_words(quote[start:end]) for start, end in find_passages(quote)]
        told = [any(f" {passage} " in text for text in texts) for passage in passages if passage]
        if told and all(told):
            return True
    return False


def compare_arms(judged: Sequence[JudgedRecord], first: Arm = "ours") -> pandas.DataFrame:
    """Return each other arm against one on the same queries: McNemar's exact test of right outcomes, p after Holm."""
    outcomes = {arm: {j.query.query_id: j.right for j in arm_records} for arm, arm_records in by_arm(judged).items()}
    ours, rows = outcomes.pop(first, {}), []
    for arm, arm_outcomes in outcomes.items():
        if shared := [name for name in ours if name in arm_outcomes]:
            test = exact_mcnemar([ours[name] for name in shared], [arm_outcomes[name] for name in shared])
            rows.append((first, arm, test.pairs, test.first_only, test.second_only, test.p))
    frame = pandas.DataFrame(rows, columns=["arm", "other", "queries", "only_arm_right", "only_other_right", "p"])
    frame["p_holm"] = holm(frame["p"].tolist())
    return frame
