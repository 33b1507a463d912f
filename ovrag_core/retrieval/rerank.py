"""A second look at texts that were retrieved, each beside the question.

By default that look is the sentence embedder's, offline. FlashRank and other cross-encoders read weights that are
already on disk; nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy

from ovrag_core.documents.passages import find_passages
from ovrag_core.errors import ModelSetupError, SettingsError
from ovrag_core.retrieval.embedding import Embedder

Reranker = Callable[[str, Sequence[str]], list[float]]
Name = Literal["sentences", "flashrank", "cross-encoder"]
FLASHRANK = "ms-marco-MiniLM-L-12-v2"
FLASHRANK_SOURCE = "https://huggingface.co/prithivida/flashrank"
DECIMALS = 6
MAX_TOKENS = 512


def by_sentences(embedder: Embedder) -> Reranker:
    """A text is worth its sentence that is nearest to the question."""
    return partial(_by_sentences, embedder)


def _by_sentences(embedder: Embedder, question: str, texts: Sequence[str]) -> list[float]:
    spans = [list(find_passages(text)) or [(0, len(text))] for text in texts]
    sentences = [text[start:end] for text, cut in zip(texts, spans, strict=True) for start, end in cut]
    vectors = embedder.embed([question, *sentences])
    cosines = numpy.round((vectors[1:] @ vectors[0]).astype(float), DECIMALS)
    ends = numpy.cumsum([len(cut) for cut in spans])
    return [float(part.max()) for part in numpy.split(cosines, ends[:-1])]


def by_flashrank(cache_dir: Path, model: str = FLASHRANK) -> Reranker:
    """FlashRank's cross-encoder with the weights in `cache_dir`.

    Raises ModelSetupError where FlashRank, or the weights, are not there or cannot be used.
    """
    try:
        from flashrank import Ranker  # noqa: PLC0415 - an option; it loads a runtime
        from flashrank.Config import listwise_rankers, model_file_map  # noqa: PLC0415
        from onnxruntime.capi import onnxruntime_pybind11_state as runtime  # noqa: PLC0415
    except ImportError:
        raise ModelSetupError("FlashRank is not installed; `pip install flashrank`, or rerank by sentences") from None
    known = sorted(set(model_file_map) - set(listwise_rankers))
    if model not in known:
        raise ModelSetupError(f"FlashRank has no cross-encoder {model!r}; known are {', '.join(known)}")
    folder = cache_dir / model
    if not (folder / model_file_map[model]).is_file():  # else FlashRank would download them
        raise ModelSetupError(
            f"FlashRank's weights are not in {folder}; unpack {model}.zip from {FLASHRANK_SOURCE} into {cache_dir}, "
            "or rerank by sentences"
        )
    broken = (runtime.Fail, runtime.InvalidProtobuf, runtime.InvalidGraph, runtime.RuntimeException)
    try:
        ranker = Ranker(model_name=model, cache_dir=str(cache_dir), max_length=MAX_TOKENS, log_level="ERROR")
    except (OSError, ValueError, *broken) as error:
        why = " ".join(str(error).split())
        raise ModelSetupError(f"FlashRank's weights in {folder} cannot be loaded ({why}); unpack them again") from None
    return partial(_by_flashrank, ranker)


def _by_flashrank(ranker: object, question: str, texts: Sequence[str]) -> list[float]:
    from flashrank import RerankRequest  # noqa: PLC0415 - see by_flashrank

    asked = [{"id": place, "text": text} for place, text in enumerate(texts)]
    ranked = ranker.rerank(RerankRequest(query=question, passages=asked))  # type: ignore[attr-defined]
    scores = {each["id"]: float(each["score"]) for each in ranked}
    return [round(scores[place], DECIMALS) for place in range(len(texts))]


def by_cross_encoder(folder: Path) -> Reranker:
    """A cross-encoder of `sentence-transformers` saved in `folder`. Raises ModelSetupError where it is none."""
    if not (folder / "config.json").is_file():
        raise ModelSetupError(f"{folder} holds no cross-encoder; save one there, or rerank by sentences")
    from sentence_transformers import CrossEncoder  # noqa: PLC0415 - takes seconds; only who asks for it shall wait

    try:
        model = CrossEncoder(str(folder), device="cpu", max_length=MAX_TOKENS, local_files_only=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelSetupError(f"the cross-encoder in {folder} cannot be loaded ({error}); save it again") from None

    def score(question: str, texts: Sequence[str]) -> list[float]:
        pairs = [(question, text) for text in texts]
        return [round(float(each), DECIMALS) for each in model.predict(pairs, show_progress_bar=False)]

    return score


def find_reranker(name: str, embedder: Embedder, cache_dir: Path | None = None) -> Reranker:
    """The reranker of that name; `cache_dir` holds the weights of a cross-encoder.

    Raises SettingsError for an unknown name or a missing `cache_dir`, ModelSetupError for missing weights.
    """
    if name == "sentences":
        return by_sentences(embedder)
    if name not in {"flashrank", "cross-encoder"}:
        raise SettingsError(f"unknown reranker {name!r}; known are sentences, flashrank and cross-encoder")
    if cache_dir is None:
        raise SettingsError(f"reranking by {name} needs cache_dir, the folder of its weights")
    return by_flashrank(cache_dir) if name == "flashrank" else by_cross_encoder(cache_dir)
