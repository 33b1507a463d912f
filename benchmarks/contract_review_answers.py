"""How well the checklist of CUAD is answered: learned out of fold, and without training.

    python benchmarks/contract_review_answers.py [FOLDER] [--arms learned extractive] [--write OUT]

Prints each figure with the number of questions or spans and its 95% interval, contracts resampled. Learned figures are
of contracts, and filers, that the model has not seen (five folds). `--write` keeps the learned answers and the ranked
chunks as JSON lines, one a question. CUAD is read from contract_review/cuad under OVRAG_EXTERNAL_DATA.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from ovrag_core.base.project import external_data
from ovrag_core.evaluation.statistics import Estimate, Resampling, ratio
from ovrag_core.retrieval.embedding import MINILM, Vectors, minilm
from ovrag_core.retrieval.vectors import kept_vectors
from ovrag_studies.contract_review.answering.features import read
from ovrag_studies.contract_review.answering.learned import Trainer
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers, extractive, learned
from ovrag_studies.contract_review.measures.answer_metrics import (
    RULES,
    AnsweredQuestion,
    best_answer,
    counts,
    join,
    pooled_spans,
    presence_auroc,
    resampled,
    risk_coverage,
    span_estimates,
)
from ovrag_studies.contract_review.texts.chunkers import chunk
from ovrag_studies.contract_review.texts.datasets import Contract, categories, load_cuad

ARMS = ("learned", "extractive")
CHUNKER = "recursive-2048"
DEPTHS = (1, 3, 5)
KEPT = 20  # chunks written for a question
PLAN = Resampling(samples=1000)

Given = dict[tuple[str, str], CategoryAnswers]
Ranked = dict[tuple[str, str], list[tuple[int, int]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=external_data("contract_review", "cuad"))
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--write", type=Path, help="folder for learned answers and ranked chunks as JSON lines")
    options = parser.parse_args()
    contracts = load_cuad(options.folder)
    if "learned" in options.arms:
        began = time.perf_counter()
        given, ranked = answer_out_of_fold(contracts)
        print(f"learned, out of fold: {time.perf_counter() - began:.0f} s")
        if options.write:
            write(options.write, contracts, given, ranked)
        show_retrieval(contracts, ranked)
        show("learned", join(contracts, given))
    if "extractive" in options.arms:
        show("extractive", join(contracts, answer_without_training(contracts)))


def answer_out_of_fold(contracts: Sequence[Contract]) -> tuple[Given, Ranked]:
    """Answers and ranked chunks by contract and category, each from a model that has not seen the contract."""
    given: Given = {}
    ranked: Ranked = {}
    for contract, reading, model in Trainer(contracts, categories(contracts)).out_of_fold():
        model.refuse_known([contract])
        title = contract.document.id
        asked = [question.category for question in contract.questions]
        given |= {(title, each.category): each for each in learned(reading, asked, model, least=0.0)}
        spans = [(each.start, each.end) for each in chunk(contract.document, CHUNKER)]
        scored = model.score(reading)
        for category in asked:
            ranked[title, category] = [spans[number] for number, _ in model.rank(scored, category, spans)]
    return given, ranked


class Keeping:
    """The embedder with its vectors kept on disk: every contract is compared with the same clauses."""

    name = MINILM

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of 384 numbers per text, of unit length."""
        return kept_vectors(minilm(), texts)


def answer_without_training(contracts: Sequence[Contract]) -> Given:
    found: Given = {}
    for contract in contracts:
        asked = [question.category for question in contract.questions]
        for each in extractive(read(contract.document.text, minilm()), asked, Keeping()):
            found[contract.document.id, each.category] = each
    return found


def show_retrieval(contracts: Sequence[Contract], ranked: Ranked) -> None:
    """Recall of chunks ranked by the learned scores: a chunk hits if it holds half of a gold span."""
    for depth in DEPTHS:
        hits, asked = [], []
        for contract in contracts:
            rows = [
                any(
                    2 * (min(end, right) - max(start, left)) >= right - left
                    for start, end in ranked[contract.document.id, question.category][:depth]
                    for left, right in question.gold
                )
                for question in contract.questions
                if question.gold
            ]
            hits.append(float(sum(rows)))
            asked.append(float(len(rows)))
        print(f"learned    recall@{depth:<24} {told(ratio(hits, asked, PLAN))}  n={sum(asked):.0f}")


def show(arm: str, asked: Sequence[AnsweredQuestion]) -> None:
    """All figures of one arm."""
    spans = pooled_spans(asked)
    gold = sum(bool(each.gold) for each in asked)
    aupr, at_80 = span_estimates(asked, PLAN)
    for name, value, count in (
        ("presence AUROC", resampled(asked, presence_auroc, PLAN), len(asked)),
        ("AUPR over spans", aupr, spans.gold),
        ("P at 80% recall", at_80, spans.gold),
        ("best answer, Jaccard >= .5", best_answer(asked, PLAN), gold),
    ):
        print(f"{arm:10} {name:32} {told(value)}  n={count}")
    for rule in RULES:
        for threshold in (0.0, 0.5):
            found = counts(asked, rule, threshold, PLAN)
            name = f"P/R/F1 {rule}, present >= {threshold}"
            print(f"{arm:10} {name:32} {told(found.precision)} {told(found.recall)} {told(found.f1)}  n={len(asked)}")
    curve = risk_coverage(asked)
    shown = [f"{share:.1f}: {curve[max(0, round(share * len(curve)) - 1), 1]:.3f}" for share in (0.5, 0.8, 0.9, 1.0)]
    print(f"{arm:10} wrong on presence by coverage      {', '.join(shown)}")


def told(value: Estimate) -> str:
    if value.value is None:
        return "-"
    between = "" if value.low is None else f" [{value.low:.3f}, {value.high:.3f}]"
    return f"{value.value:.3f}{between}"


def write(folder: Path, contracts: Sequence[Contract], given: Given, ranked: Ranked) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    answers, chunks = [], []
    for contract in contracts:
        for question in contract.questions:
            place = (contract.document.id, question.category)
            found = [
                {"text": each.text, "start": each.start, "end": each.end, "score": each.score}
                for each in given[place].answers
            ]
            answers.append({"id": question.id, "answers": found, "present": given[place].present})
            kept = [{"start": start, "end": end} for start, end in ranked[place][:KEPT]]
            chunks.append({"id": question.id, "chunks": kept})
    for name, rows in (("spans.jsonl", answers), ("retrieval.jsonl", chunks)):
        folder.joinpath(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
