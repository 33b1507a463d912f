"""All arms over the queries of a golden set, as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from ovrag_core.base.progress import bar
from ovrag_studies.cited.answering.calibration import Calibration, learn
from ovrag_studies.cited.answering.cited_answers import CitedAnswer, ScoredParagraph
from ovrag_studies.cited.arms import ArmParts, ask, copy, runnable, search, settle
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.records import PolicyRecord, record_of
from ovrag_studies.cited.settings import Arm


def run_arms(
    parts: ArmParts, queries: Sequence[GoldenQuery], arms: Sequence[Arm]
) -> Iterator[tuple[PolicyRecord, float]]:
    """Each query through each arm that can run, with the seconds it took; golden labels are not looked at."""
    chosen = runnable(arms, parts)
    with bar(len(chosen) * len(queries), "asking", "query") as progress:
        for arm in chosen:
            for query in queries:
                begun = perf_counter()
                result = ask(parts, arm, query.question)
                yield record_of(query.query_id, result, parts.digest), perf_counter() - begun
                progress.update()


def calibrate_on(parts: ArmParts, queries: Sequence[GoldenQuery], golden: str) -> Calibration:
    """Where silence begins by these queries. An answer is wrong as scores count it, conflicts being settled."""

    def copied(question: str) -> tuple[CitedAnswer, Sequence[ScoredParagraph]]:
        found = search(parts, question)
        return copy(parts, question, found), found.evidence

    def is_wrong(query: GoldenQuery, answer: CitedAnswer) -> bool:
        settled, _ = settle(parts, answer)
        cited = {each.paragraph_id for said in settled.sentences for each in said.citations}
        gold = {parts.paragraphs[name].id for name in query.gold}
        return not answer.silent and not (query.answerable and cited & gold)

    levels = parts.options.silence
    return learn(queries, copied, is_wrong, parts.reader, parts.digest, golden, (levels.alpha, levels.delta))
