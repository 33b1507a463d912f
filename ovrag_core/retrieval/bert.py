"""The encoder of BERT (Devlin et al. 2019), as far as the bundled sentence embedder needs it: inference in PyTorch.

It computes what `transformers.BertModel` does, bit for bit, which a test compares. Importing that class loads training,
generation and distributed computing with it and takes seconds, at the start of every command, worker and notebook.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention


class States(NamedTuple):
    """What the last layer makes of each token (texts × tokens × dimensions)."""

    last_hidden_state: Tensor


class Bert(nn.Module):
    """Token ids to states. Modules are called as in the published weights, which adapters refer to."""

    def __init__(self, config: dict[str, int]) -> None:
        super().__init__()
        size, eps = config["hidden_size"], float(config["layer_norm_eps"])
        self._heads, self._depth = config["num_attention_heads"], config["num_hidden_layers"]
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": _table(config["vocab_size"], size),
                "position_embeddings": _table(config["max_position_embeddings"], size),
                "token_type_embeddings": _table(config["type_vocab_size"], size),
                "LayerNorm": nn.LayerNorm(size, eps),
            }
        )
        layers = (_layer(size, config["intermediate_size"], eps) for _ in range(self._depth))
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})

    def forward(self, ids: Tensor, attention_mask: Tensor) -> States:
        """States of the tokens of each text (texts × tokens); where the mask is 0, a token is padding."""
        named = self.embeddings
        hidden = named["word_embeddings"](ids) + named["token_type_embeddings"](torch.zeros_like(ids))
        hidden = named["LayerNorm"](hidden + named["position_embeddings"](torch.arange(ids.shape[1])))
        real = attention_mask.bool()
        seen = None if bool(real.all()) else real[:, None, None, :].expand(-1, -1, ids.shape[1], -1)
        for number in range(self._depth):
            hidden = self._through(self.encoder.get_submodule(f"layer.{number}"), hidden, seen)
        return States(hidden)

    def _through(self, layer: nn.Module, hidden: Tensor, seen: Tensor | None) -> Tensor:
        part = layer.get_submodule
        mixed = part("attention.output.dense")(self._attended(part("attention.self"), hidden, seen))
        hidden = part("attention.output.LayerNorm")(mixed + hidden)
        wide = gelu(part("intermediate.dense")(hidden))
        states: Tensor = part("output.LayerNorm")(part("output.dense")(wide) + hidden)
        return states

    def _attended(self, layer: nn.Module, hidden: Tensor, seen: Tensor | None) -> Tensor:
        texts, tokens, size = hidden.shape
        shape = (texts, tokens, self._heads, size // self._heads)
        projected = (layer.get_submodule(name)(hidden) for name in ("query", "key", "value"))
        query, key, value = (each.view(shape).transpose(1, 2) for each in projected)
        return scaled_dot_product_attention(query, key, value, attn_mask=seen).transpose(1, 2).reshape(hidden.shape)


def load_bert(folder: Path) -> Bert:
    """The encoder with the weights of `folder`, in which `config.json` and `model.safetensors` are."""
    model = Bert(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    weights = load_file(folder / "model.safetensors")
    # Copies, or the numbers would lie in the file's bytes as they are aligned there, and sums could differ in a bit.
    model.load_state_dict({name: weights[name].clone() for name in model.state_dict()}, assign=True)
    return model.eval()


def _layer(size: int, wide: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict(
        {
            "attention": nn.ModuleDict(
                {
                    "self": nn.ModuleDict({name: _linear(size, size) for name in ("query", "key", "value")}),
                    "output": _added(size, size, eps),
                }
            ),
            "intermediate": nn.ModuleDict({"dense": _linear(size, wide)}),
            "output": _added(wide, size, eps),
        }
    )


def _added(from_size: int, size: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": _linear(from_size, size), "LayerNorm": nn.LayerNorm(size, eps)})


# Without numbers, since drawing any would be a waste; `torch.device("meta")` would load a compiler.
def _linear(from_size: int, size: int) -> nn.Linear:
    return nn.Linear(from_size, size, device="meta")


def _table(rows: int, size: int) -> nn.Embedding:
    return nn.Embedding(rows, size, _weight=torch.empty(rows, size))
