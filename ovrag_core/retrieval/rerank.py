"""A second look at texts that were retrieved, each beside the question.

By default that look is the sentence embedder's, offline. A cross-encoder's weights are read from a folder that is
already on disk; nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy

from ovrag_core.base import ModelSetupError, SettingsError
from ovrag_core.retrieval.embedding import Embedder
from ovrag_core.text import find_passages

Reranker = Callable[[str, Sequence[str]], list[float]]
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


def by_cross_encoder(folder: Path) -> Reranker:
    """A cross-encoder of `sentence-transformers` saved in `folder`. Raises ModelSetupError where it is none."""
    if not (folder / "config.json").is_file():
        raise ModelSetupError(f"{folder} holds no cross-encoder; save one there, or rerank by sentences")
    from safetensors import SafetensorError  # noqa: PLC0415
    from sentence_transformers import CrossEncoder  # noqa: PLC0415 - takes seconds; only who asks for it shall wait

    try:
        model = CrossEncoder(str(folder), device="cpu", max_length=MAX_TOKENS, local_files_only=True)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        why = " ".join(str(error).split())
        raise ModelSetupError(f"the cross-encoder in {folder} cannot be loaded ({why}); save it again") from None

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
    if name != "cross-encoder":
        raise SettingsError(f"unknown reranker {name!r}; known are sentences and cross-encoder")
    if cache_dir is None:
        raise SettingsError(f"reranking by {name} needs cache_dir, the folder of its weights")
    return by_cross_encoder(cache_dir)
