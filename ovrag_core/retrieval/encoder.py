"""The bundled sentence embedder with low-rank adapters (Hu et al. 2022), as all judges of meaning run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy
from numpy.typing import NDArray

from ovrag_core.retrieval.bert import Bert
from ovrag_core.retrieval.embedding import load_tokenizer, load_weights

if TYPE_CHECKING:
    from tokenizers import Encoding

Probabilities = NDArray[numpy.float32]

MAX_TOKENS = 128


class Encoder:
    """The embedder with the adapters of `tensors` added to its weights, W + BA for each `<layer>.a` and `<layer>.b`,
    and the linear layer behind it, `head.weight` and `head.bias`."""

    def __init__(self, tensors: Mapping[str, NDArray[numpy.floating]]) -> None:
        single = {name: tensor.astype(numpy.float32) for name, tensor in tensors.items()}
        weights = dict(load_weights())
        for name, down in single.items():
            if name.endswith(".a"):
                layer = name.removesuffix(".a")
                weights[f"{layer}.weight"] = weights[f"{layer}.weight"] + single[f"{layer}.b"] @ down
        self._bert, self._tokenizer = Bert(weights), load_tokenizer()
        self._head = single["head.weight"].T, single["head.bias"]

    def tokens(self, passage: str) -> Encoding:
        """The tokens of a passage, of which the first MAX_TOKENS are seen."""
        return self._tokenizer.encode(passage)

    def probabilities(
        self, passages: Sequence[Sequence[int]], marks: Sequence[Sequence[Sequence[bool]]], choices: int
    ) -> Probabilities:
        """Compute the probabilities that the head gives each passage (n × axes × choices, float32).

        A passage is the numbers of its tokens. Its `marks` are rows of as many. For each row, the mean is taken of the
        last states of the tokens that it marks, zero over none. The means one behind another are what the head judges.
        """
        weight, bias = self._head
        if not passages:
            return numpy.zeros((0, len(bias) // choices, choices), dtype=numpy.float32)
        means = []
        for states, rows in zip(self._bert.states(passages), marks, strict=True):
            marked = numpy.asarray(rows, dtype=numpy.float32)
            means.append((marked @ states / marked.sum(1, keepdims=True).clip(min=1)).ravel())
        scores = (numpy.stack(means) @ weight + bias).reshape(len(passages), -1, choices)
        odds = numpy.exp(scores - scores.max(-1, keepdims=True))
        # Rounded, so that what is judged beside a passage, which changes the last bits, changes nothing.
        probabilities: Probabilities = (odds / odds.sum(-1, keepdims=True)).round(4)
        return probabilities
