"""All arms over the queries of a golden set, as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from ovrag_core.progress import bar
from ovrag_core.studies.policy.arms import Parts, ask, runnable
from ovrag_core.studies.policy.golden import Query
from ovrag_core.studies.policy.records import PolicyRecord, corpus_digest, record_of
from ovrag_core.studies.policy.settings import Arm


def run_arms(parts: Parts, queries: Sequence[Query], arms: Sequence[Arm]) -> Iterator[tuple[PolicyRecord, float]]:
    """Each query through each arm that can run, with the seconds it took; golden labels are not looked at."""
    digest = corpus_digest(parts.index.corpus)
    chosen = runnable(arms, parts)
    with bar(len(chosen) * len(queries), "asking", "query") as progress:
        for arm in chosen:
            for query in queries:
                begun = perf_counter()
                result = ask(parts, arm, query.question)
                yield record_of(query.query_id, result, digest), perf_counter() - begun
                progress.update()
