"""The bundled sentence embedder with low-rank adapters (Hu et al. 2022), as both judges of meaning run it.

Most of a first reading is spent here. The passages of a call stand one behind another, none padded to another's length:
no time goes into padding, and what is made of a passage depends on it alone but for the last bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy
from numpy.typing import NDArray

from ovrag_core.retrieval.embedding import load_weights

if TYPE_CHECKING:
    from tokenizers import Encoding
    from torch import Tensor

    Step = Callable[[Tensor], Tensor]

Probabilities = NDArray[numpy.float32]

MAX_TOKENS = 128
AT_ONCE = 1_024  # tokens: with more, a layer's numbers leave the processor's cache
HEADS = 12
EPSILON = 1e-12  # of the embedder's normalisation


class Encoder:
    """The embedder with the adapters of `tensors` added to its weights, W + BA for each `<layer>.a` and `<layer>.b`,
    and the linear layer behind it, `head.weight` and `head.bias`."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        model, self._tokenizer = load_weights()
        weights: dict[str, Tensor] = model.state_dict()
        for name in sorted(tensors):
            if name.endswith(".a"):
                layer = name.removesuffix(".a")
                weights[f"{layer}.weight"] += tensors[f"{layer}.b"].float() @ tensors[name].float()
        self._head = tensors["head.weight"].float().T, tensors["head.bias"].float()
        self._words = weights["embeddings.word_embeddings.weight"]
        # Every passage is of the first of the two types that the embedder was trained with.
        self._places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _norm(weights, "embeddings.LayerNorm")
        count = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
        self._layers = [_Layer(weights, f"encoder.layer.{number}") for number in range(count)]

    def tokens(self, passage: str) -> Encoding:
        """The tokens of a passage, of which the first MAX_TOKENS are seen."""
        return self._tokenizer.encode(passage)

    def probabilities(
        self, passages: Sequence[Sequence[int]], marks: Sequence[Sequence[Sequence[bool]]], choices: int
    ) -> Probabilities:
        """What the head says of each passage (n × axes × choices, float32).

        A passage is the numbers of its tokens. Its `marks` are rows of as many: of the last states of the tokens that
        a row marks the mean is taken, zero over none, and the means one behind another are what the head judges.
        """
        import torch  # noqa: PLC0415 - takes seconds; only who judges shall wait

        weight, bias = self._head
        if not passages:
            return numpy.zeros((0, len(bias) // choices, choices), dtype=numpy.float32)
        means = []
        with torch.inference_mode():
            for batch in _batches([len(ids) for ids in passages]):
                for row, own in zip(batch, self._states([passages[row] for row in batch]), strict=True):
                    marked = torch.tensor(marks[row], dtype=torch.float32)
                    means.append((marked @ own / marked.sum(1, keepdim=True).clamp(min=1)).flatten())
            scores = (torch.stack(means) @ weight + bias).view(len(passages), -1, choices)
            # Rounded, so that what is judged beside a passage, which changes the last bits, changes nothing.
            found: Probabilities = torch.softmax(scores, -1).numpy().round(4)
        return found

    def _states(self, passages: Sequence[Sequence[int]]) -> Sequence[Tensor]:
        """The last states of each passage (tokens × 384)."""
        import torch  # noqa: PLC0415

        lengths = [len(ids) for ids in passages]
        ids = torch.tensor([number for ids in passages for number in ids])
        places = torch.cat([self._places[:length] for length in lengths])
        states = self._norm(self._words[ids] + places)
        for layer in self._layers:
            states = layer(states, lengths)
        return torch.split(states, lengths)


class _Layer:
    """A layer of the embedder, normalised last (Devlin et al. 2019), for passages that stand one behind another."""

    def __init__(self, weights: Mapping[str, Tensor], name: str) -> None:
        own = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        self._asked = _linear(weights, *own)
        self._mixed = _linear(weights, f"{name}.attention.output.dense")
        self._mixed_norm = _norm(weights, f"{name}.attention.output.LayerNorm")
        self._wide = _linear(weights, f"{name}.intermediate.dense", gelu=True)
        self._narrow = _linear(weights, f"{name}.output.dense")
        self._norm = _norm(weights, f"{name}.output.LayerNorm")

    def __call__(self, states: Tensor, lengths: list[int]) -> Tensor:
        """The next states (tokens × 384) of passages of these lengths."""
        import torch  # noqa: PLC0415

        seen = [_attended(own) for own in torch.split(self._asked(states), lengths)]
        states = self._mixed_norm(states + self._mixed(torch.cat(seen)))
        return self._norm(states + self._narrow(self._wide(states)))


def _attended(asked: Tensor) -> Tensor:
    """What the tokens of one passage, given what they ask, offer and say (tokens × 3 · 384), see in each other."""
    from torch.nn.functional import scaled_dot_product_attention  # noqa: PLC0415

    query, key, value = asked.view(len(asked), 3, 1, HEADS, -1).permute(1, 2, 3, 0, 4)
    return scaled_dot_product_attention(query, key, value)[0].transpose(0, 1).flatten(1)


def _linear(weights: Mapping[str, Tensor], *names: str, gelu: bool = False) -> Step:
    """The linear layers of these names as one, with the gelu behind it where asked.

    oneDNN takes half the time of torch's own choice on processors that its choice does not know well. The two differ
    in the last bits.
    """
    import torch  # noqa: PLC0415

    weight = torch.cat([weights[f"{name}.weight"] for name in names])
    bias = torch.cat([weights[f"{name}.bias"] for name in names])
    if hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        packed = torch.ops.mkldnn._reorder_linear_weight(weight)
        fused = torch.ops.mkldnn._linear_pointwise
        return lambda x: fused(x, packed, bias, "gelu" if gelu else "none", [], "none")
    if gelu:
        return lambda x: torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias))
    return lambda x: torch.nn.functional.linear(x, weight, bias)


def _norm(weights: Mapping[str, Tensor], name: str) -> Step:
    import torch  # noqa: PLC0415

    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return lambda x: torch.nn.functional.layer_norm(x, weight.shape, weight, bias, EPSILON)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows in order, AT_ONCE tokens at most together."""
    batch: list[int] = []
    for row, length in enumerate(lengths):
        if batch and sum(lengths[each] for each in batch) + length > AT_ONCE:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
