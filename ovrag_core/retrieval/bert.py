"""The encoder of BERT (Devlin et al. 2019), as far as the bundled sentence embedder needs it: inference in NumPy.

It computes what `transformers.BertModel` does but for the last bits, which a test compares. Importing PyTorch takes
seconds, at the start of every command, worker and notebook, and more room on disk than everything else together.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import sqrt

import numpy
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Floats = NDArray[numpy.float32]
Ids = Sequence[int]

HEADS = 12
EPSILON = 1e-12  # of the embedder's normalisation
AT_ONCE = 512  # tokens: with more, a layer's numbers leave the processor's cache
# Products are made of blocks of rows, whose size and the order in which they sum up the processor decides. A passage
# begins at a multiple of START rows, and all rows together are a multiple of ROWS, so that it meets whole blocks only.
START, ROWS = 12, 48
BLOCK = 1 << 16  # numbers that a processor's cache holds several times over
# Abramowitz and Stegun (1964), 7.1.26: the error function to 1.5e-7.
_ERF = tuple(numpy.float32(number) for number in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))
_ERF_SCALE = numpy.float32(0.3275911 / sqrt(2))
_HALF, _ONE = numpy.float32(0.5), numpy.float32(1)


class Bert:
    """Token ids to states by published weights, whose names are those of `transformers.BertModel`."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        self._weights = dict(weights)
        # Every passage is of the first of the two types that the embedder was trained with.
        self._places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        count = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
        self._layers = [f"encoder.layer.{number}" for number in range(count)]
        for layer in self._layers:
            for kind in ("weight", "bias"):
                parts = [weights[f"{layer}.attention.self.{role}.{kind}"] for role in ("query", "key", "value")]
                self._weights[f"{layer}.attention.self.{kind}"] = numpy.concatenate(parts)

    def states(self, passages: Sequence[Ids]) -> Iterator[Floats]:
        """The last states of each passage (tokens × dimensions), in their order.

        Passages stand one behind another, none padded to another's length, AT_ONCE tokens at most together; each thread
        takes such a batch. What is made of a passage depends on it alone.
        """
        with _blas().limit(limits=1, user_api="blas"):
            for states in _pool().map(self._through, _batches(passages)):
                yield from states

    def _through(self, passages: Sequence[Ids]) -> list[Floats]:
        starts = numpy.cumsum([0, *(-(-len(ids) // START) * START for ids in passages)])
        slices = [slice(start, start + len(ids)) for start, ids in zip(starts[:-1], passages, strict=True)]
        words = self._weights["embeddings.word_embeddings.weight"]
        states = numpy.zeros((-(-int(starts[-1]) // ROWS) * ROWS, words.shape[1]), dtype=numpy.float32)
        for passage, ids in zip(slices, passages, strict=True):
            states[passage] = words[numpy.asarray(ids, numpy.intp)] + self._places[: len(ids)]
        states = self._normed("embeddings", states)
        for layer in self._layers:
            states = self._next(layer, states, slices)
        return [states[s] for s in slices]

    def _next(self, layer: str, states: Floats, passages: Sequence[slice]) -> Floats:
        """The states behind a layer (tokens × dimensions), normalised last, of passages one behind another."""
        projected = self._linear(f"{layer}.attention.self", states)
        attended = numpy.zeros_like(states)
        for passage in passages:
            attended[passage] = _attended(projected[passage])
        mixed = self._linear(f"{layer}.attention.output.dense", attended)
        states = self._normed(f"{layer}.attention.output", mixed + states)
        wide = _gelu(self._linear(f"{layer}.intermediate.dense", states))
        return self._normed(f"{layer}.output", self._linear(f"{layer}.output.dense", wide) + states)

    def _linear(self, name: str, x: Floats) -> Floats:
        product: Floats = x @ self._weights[f"{name}.weight"].T
        product += self._weights[f"{name}.bias"]
        return product

    def _normed(self, name: str, x: Floats) -> Floats:
        """Each row normalised (Ba et al. 2016)."""
        normed: Floats = x - x.mean(-1, keepdims=True)
        normed /= numpy.sqrt(numpy.square(normed).mean(-1, keepdims=True) + numpy.float32(EPSILON))
        normed *= self._weights[f"{name}.LayerNorm.weight"]
        normed += self._weights[f"{name}.LayerNorm.bias"]
        return normed


@cache
def _pool() -> ThreadPoolExecutor:
    """Return a thread for each processor, or as many as OMP_NUM_THREADS says."""
    return ThreadPoolExecutor(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1))


@cache
def _blas() -> ThreadpoolController:
    """Return the controller that keeps the library of products to one thread; its own would slow down the others."""
    return ThreadpoolController()


def _attended(asked: Floats) -> Floats:
    """Compute what a passage's tokens see in each other, given what they ask, offer and say (tokens × 3 · 384)."""
    query, key, value = asked.reshape(len(asked), 3, HEADS, -1).transpose(1, 2, 0, 3)
    scores: Floats = query @ key.transpose(0, 2, 1)
    scores *= numpy.float32(1 / sqrt(query.shape[-1]))
    scores -= scores.max(-1, keepdims=True)
    numpy.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    attended: Floats = (scores @ value).transpose(1, 0, 2).reshape(len(asked), -1)
    return attended


def _gelu(x: Floats) -> Floats:
    """x · Φ(x) in place (Hendrycks and Gimpel 2016): the positive part of x less |x| times the tail beyond |x|."""
    numbers = x.reshape(-1)
    for start in range(0, len(numbers), BLOCK):
        block = numbers[start : start + BLOCK]
        size = numpy.abs(block)
        share = size * _ERF_SCALE
        share += _ONE
        numpy.reciprocal(share, out=share)
        tail = share * _ERF[0]
        for number in _ERF[1:]:
            tail += number
            tail *= share
        tail *= size
        size *= size
        size *= -_HALF
        tail *= numpy.exp(size, out=size)
        tail *= _HALF
        numpy.maximum(block, 0, out=block)
        block -= tail
    return x


def _batches(passages: Sequence[Ids]) -> Iterator[list[Ids]]:
    """Passages in order, AT_ONCE tokens at most together."""
    batch: list[Ids] = []
    tokens = 0
    for ids in passages:
        if batch and tokens + len(ids) > AT_ONCE:
            yield batch
            batch, tokens = [], 0
        batch.append(ids)
        tokens += len(ids)
    if batch:
        yield batch
