"""Golden queries through the arms: all of them as records, and where silence begins by them."""

from collections.abc import Iterator, Sequence
from time import perf_counter

from ovrag_core.base import bar
from ovrag_studies.cited.answering.cited_answers import answer
from ovrag_studies.cited.answering.silence import Calibration, learn_then_test, score_answer
from ovrag_studies.cited.arms import ArmParts, ask, conflict_answer, contested, runnable, search
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.records import PolicyRecord
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
                yield ask(parts, arm, query.question, query.query_id), perf_counter() - begun
                progress.update()


def calibrate_on(parts: ArmParts, queries: Sequence[GoldenQuery], golden: str) -> Calibration:
    """Learn where silence begins by these queries, whose labels `golden` names.

    The score of a query is that of the copied answer to it, whoever answers in the end. An answer is wrong as scores
    count it, conflicts being reported. Conflicts below the threshold, which are reported all the same, are not covered.
    """
    scores, wrong = [], []
    with bar(len(queries), "calibrating silence", "query") as progress:
        for query in queries:
            retrieved = search(parts, query.question)
            pairs = contested(parts, query.question, retrieved)
            copied = answer(query.question, retrieved, parts.verifier)
            scores.append(score_answer(copied, retrieved, parts.verifier))
            cited_answer = conflict_answer(parts, query.question, pairs, copied.sentences)[0] if pairs else copied
            cited = {citation.paragraph_id for sentence in cited_answer.sentences for citation in sentence.citations}
            gold = {parts.paragraphs[name].id for name in query.gold}
            wrong.append(not cited_answer.silent and not (query.answerable and cited & gold))
            progress.update()
    levels = parts.options.silence
    certificate = learn_then_test(scores, wrong, levels.alpha, levels.delta)
    return Calibration(corpus=parts.digest, golden=golden, certificate=certificate)
