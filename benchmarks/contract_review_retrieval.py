"""Retrieval on CUAD: arms by chunkers with intervals, and the thesis's second experiment.

    python benchmarks/contract_review_retrieval.py [--chunkers recursive-2048,clause-1024]
        [--only arms|chunkers|pooled|e2]

Reads CUAD below `OVRAG_EXTERNAL_DATA`; vectors are kept in data/cache/vectors, so only the first run embeds. Every
figure is over the answerable questions; intervals (95%) resample contracts. Zero-shot throughout, but for the arm
`learned` of `chunkers`, by models that have not seen the contract nor its filer. `vocabulary` is the study's own list
of words and model clauses, `unplaced` the same without the rule that title, parties and dates stand at the beginning.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy
import pandas

from ovrag_core.base.project import external_data
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.retrieval.embedding import MINILM, Vectors, minilm
from ovrag_core.retrieval.rerank import by_sentences
from ovrag_studies.contract_review.answering.learned import Trainer
from ovrag_studies.contract_review.arms import KnownContract, learned_arm
from ovrag_studies.contract_review.measures import chunk_metrics
from ovrag_studies.contract_review.retrieval.expansion import Wording, queries, read_descriptions, titled
from ovrag_studies.contract_review.retrieval.reranking import rerank
from ovrag_studies.contract_review.retrieval.retrievers import ContractShelf, FoundChunk, search, shelve
from ovrag_studies.contract_review.texts.chunkers import CHUNKERS
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract, categories, load_cuad
from tables import estimate, table

PLAN = Resampling()
ARMS: tuple[tuple[str, Wording], ...] = (
    ("minilm", "description"),
    ("sentences", "description"),
    ("bm25", "description"),
    ("rrf-chunks", "description"),
    ("rrf", "description"),
    ("rrf", "rewordings"),
    ("sentences", "unplaced"),
    ("bm25", "unplaced"),
    ("rrf", "unplaced"),
    ("blend", "unplaced"),
    ("blend", "vocabulary"),
)
MAIN: tuple[tuple[str, Wording], ...] = (
    ("minilm", "description"),
    ("bm25", "description"),
    ("sentences", "description"),
    ("rrf", "description"),
    ("blend", "unplaced"),
    ("blend", "vocabulary"),
)
COMPACT = ("recall_3", "hit")
SHOWN = ("recall_1", "recall_3", "mrr", "hit", "presence", "relevancy")
CANDIDATES = 10  # chunks that are reranked
Frames = dict[str, pandas.DataFrame]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunkers", default=",".join(CHUNKERS))
    options.add_argument("--only", choices=["arms", "chunkers", "pooled", "e2"])
    options.add_argument("--data", type=Path, default=external_data("contract_review", "cuad"))
    given = options.parse_args()
    contracts = load_cuad(given.data)
    descriptions = read_descriptions(given.data)
    if given.only in {None, "arms"}:
        for chunker in given.chunkers.split(","):
            show_arms(contracts, chunker, descriptions)
    if given.only in {None, "chunkers"}:
        show_chunkers(contracts, given.chunkers.split(","), descriptions)
    if given.only in {None, "pooled"}:
        show_pooled(contracts, descriptions)
    if given.only in {None, "e2"}:
        show_e2(contracts, descriptions)


def show_arms(contracts: Sequence[Contract], chunker: str, descriptions: Mapping[str, str]) -> None:
    shelf = on_shelf(contracts, chunker)
    frames = {
        f"{retriever}, {wording}": chunk_metrics.run(contracts, searching(shelf, retriever, wording, descriptions))
        for retriever, wording in ARMS
    }
    chunks = shelf.chunks(shelf.scope(None))
    show(frames, f"{chunker}: {len(chunks)} chunks")
    print(frame_table(chunk_metrics.differences(frames, "bm25, description", "recall_3", PLAN)))


def searching(
    shelf: ContractShelf, retriever: str, wording: Wording, descriptions: Mapping[str, str]
) -> chunk_metrics.Arm:
    def arm(contract: Contract, question: ChecklistQuestion) -> list[FoundChunk]:
        asked = queries(question.category, wording, descriptions)
        return search(shelf, retriever, asked, chunk_metrics.DEPTH, within=contract.document.id)

    return arm


def show_chunkers(contracts: Sequence[Contract], chunkers: Sequence[str], descriptions: Mapping[str, str]) -> None:
    """The main arms by every way of cutting, a row for each measure."""
    print(f"\nWays of cutting: {sum(bool(each.gold) for one in contracts for each in one.questions)} questions")
    known = {
        contract.document.id: KnownContract(reading, model)
        for contract, reading, model in Trainer(contracts, categories(contracts)).out_of_fold()
    }
    rows = []
    for chunker in chunkers:
        shelf = on_shelf(contracts, chunker)
        arms = [searching(shelf, retriever, wording, descriptions) for retriever, wording in MAIN]
        frames = [chunk_metrics.run(contracts, arm) for arm in [*arms, learned_arm(known, chunker)]]
        for measured in COMPACT:
            cells = [estimate(chunk_metrics.estimate(frame, measured, PLAN)) for frame in frames]
            rows.append([chunker, len(shelf.chunks(shelf.scope(None))), measured, *cells])
    print(table(["cut", "chunks", "measure", *(f"{name}, {wording}" for name, wording in MAIN), "learned"], rows))


def show_pooled(contracts: Sequence[Contract], descriptions: Mapping[str, str]) -> None:
    """The same question asked of all contracts at once, with the title in it, and with the title as a prefilter."""
    shelf = on_shelf(contracts, "recursive-2048")
    frames: Frames = {}
    for retriever, wording in (("sentences", "description"), ("bm25", "description"), ("blend", "vocabulary")):
        for how in ("pooled", "pooled, title", "pooled, title, prefilter", "scoped"):

            def arm(
                contract: Contract,
                question: ChecklistQuestion,
                retriever: str = retriever,
                wording: Wording = wording,
                how: str = how,
            ) -> list[FoundChunk]:
                asked = queries(question.category, wording, descriptions)
                if "title" in how:
                    asked = tuple(titled(each, contract.document.id) for each in asked)
                within = contract.document.id if how == "scoped" else None
                documents = 1 if "prefilter" in how else None
                return search(shelf, retriever, asked, 10, within=within, documents=documents)

            frames[f"{retriever}, {wording}, {how}"] = chunk_metrics.run(contracts, arm)
    show(frames, f"scope, recursive-2048, {len(contracts)} contracts")


def show_e2(contracts: Sequence[Contract], descriptions: Mapping[str, str]) -> None:
    """Chunkings, rerank, expansion + rerank by whole-chunk vectors with the title query, scoped, on all contracts."""
    reranker = by_sentences(Remembering(on_shelf(contracts, "recursive-2048")))
    frames: Frames = {}
    for chunker, wording, reranked in (
        ("fixed-2048", "description", False),
        ("paragraph", "description", False),
        ("recursive-2048", "description", False),
        ("recursive-2048-200", "description", False),
        ("recursive-2048", "description", True),
        ("recursive-2048", "rewordings", True),
        ("recursive-2048", "rewordings", False),
    ):
        shelf = on_shelf(contracts, chunker)

        def arm(
            contract: Contract,
            question: ChecklistQuestion,
            shelf: ContractShelf = shelf,
            wording: str = wording,
            reranked: bool = reranked,
        ) -> list[FoundChunk]:
            asked = queries(question.category, wording, descriptions)
            named = [titled(each, contract.document.id) for each in asked]
            found = search(shelf, "minilm", named, CANDIDATES, within=contract.document.id)
            return rerank(found, asked[0].text, reranker) if reranked else found

        name = f"{chunker}{', expansion' if wording == 'rewordings' else ''}{', rerank' if reranked else ''}"
        frames[name] = chunk_metrics.run(contracts, arm)
    show(frames, "E2, MiniLM, title query, all contracts")
    print(frame_table(chunk_metrics.differences(frames, "recursive-2048", "recall_3", PLAN)))
    print("\nE2 in the thesis's setting (two contracts, 82 cases), redrawn 200 times: recall@3 over what has an answer")
    drawn = {name: chunk_metrics.redrawn(contracts, frame, "recall_3") for name, frame in frames.items()}
    rows = []
    base = drawn["recursive-2048"]["value"]
    for name, draws in drawn.items():
        low, middle, high = draws["value"].quantile([0.025, 0.5, 0.975])
        better = (draws["value"] > base).mean()
        rows.append((name, draws["answerable"].median(), draws["value"].mean(), low, middle, high, better))
    columns = ["arm", "answerable", "mean", "2.5%", "median", "97.5%", "above baseline"]
    print(frame_table(pandas.DataFrame(rows, columns=columns)))


class Remembering:
    """The embedder with the vectors of a shelf's sentences at hand; a vector depends on its text alone."""

    name = MINILM

    def __init__(self, shelf: ContractShelf) -> None:
        self._known: dict[str, Vectors] = {}
        for each in shelf.contracts.values():
            texts = [each.document.text[start:end] for start, end in each.passages]
            self._known |= dict(zip(texts, each.sentence_vectors, strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of 384 numbers per text, of unit length."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(missing, minilm().embed(missing), strict=True))
        return numpy.stack([self._known[text] for text in texts])


def on_shelf(contracts: Sequence[Contract], chunker: str) -> ContractShelf:
    return shelve([contract.document for contract in contracts], chunker, minilm())


def show(frames: Frames, title: str) -> None:
    rows = []
    for name, frame in frames.items():
        rows.append(
            (name, len(frame), *(estimate(chunk_metrics.estimate(frame, measured, PLAN)) for measured in SHOWN))
        )
    print(table((title, "n", *SHOWN), rows))


def frame_table(frame: pandas.DataFrame) -> str:
    rows = [
        [f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row] for row in frame.to_numpy(dtype=object)
    ]
    return table([str(name) for name in frame.columns], rows)


if __name__ == "__main__":
    main()
