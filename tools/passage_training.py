"""Training of what tells which passage answers a question: adapters on all layers of the sentence embedder.

It needs no more of this project than `relevance.py`, and reads pairs as `train_passages.py` writes them.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from adapters import SMOOTHING, load_adapted, mean, saved
from torch import Tensor, nn
from tqdm import tqdm

from ovrag_core.retrieval import join_question

RANK = 16
BATCH = 192
RATE = 2e-3
DROPOUT = 0.1


class Pair(NamedTuple):
    """A question, a passage, and whether this answers that."""

    question: str
    passage: str
    answers: bool


class Row(NamedTuple):
    """The tokens of a pair, and which are the question's, which the passage's, and the first."""

    ids: list[int]
    marks: list[list[bool]]
    answers: bool


def train(pairs: Sequence[Pair], epochs: int) -> dict[str, Tensor]:
    """The weights, by AdamW (Loshchilov and Hutter 2019) in one cycle (Smith and Topin 2019), in half precision.

    A graphics card is used where there is one.
    """
    torch.manual_seed(0)
    order = random.Random(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = load_adapted(RANK, DROPOUT)
    model.to(device).train()
    head = nn.Linear(3 * model.config.hidden_size, 2).to(device)
    tokens = {text: tokenizer.encode(text).ids for pair in pairs for text in (pair.question, pair.passage)}
    rows = [Row(*join_question(tokens[pair.question], tokens[pair.passage]), pair.answers) for pair in pairs]
    right = sum(row.answers for row in rows)
    weight = torch.tensor(((len(rows) - right) / right) ** 0.5, device=device)
    trained = [value for part in (model, head) for value in part.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.01)
    steps = epochs * -(-len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps + 1, pct_start=0.1)
    for batch in tqdm(_batches(rows, epochs, order), desc="passages", unit="step", total=steps):
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            scores = _scores(model, head, batch, device)
        target = torch.tensor([row.answers for row in batch], device=device) * (1 - SMOOTHING) + SMOOTHING / 2
        loss = nn.functional.binary_cross_entropy_with_logits(scores.float(), target, pos_weight=weight)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        schedule.step()
    return {name: tensor.cpu().contiguous() for name, tensor in saved(model, head).items()}


def _batches(rows: Sequence[Row], epochs: int, order: random.Random) -> Iterator[Sequence[Row]]:
    """The batches of all epochs, rows of about one length together."""
    for _ in range(epochs):
        mixed = sorted(order.sample(rows, len(rows)), key=lambda row: len(row.ids) // 12)
        batches = [mixed[first : first + BATCH] for first in range(0, len(mixed), BATCH)]
        order.shuffle(batches)
        yield from batches


def _scores(model: nn.Module, head: nn.Module, batch: Sequence[Row], device: str) -> Tensor:
    """The log-odds that the passages of a batch answer."""
    ids = nn.utils.rnn.pad_sequence([torch.tensor(row.ids) for row in batch], batch_first=True).to(device)
    marks = nn.utils.rnn.pad_sequence([torch.tensor(row.marks).T.float() for row in batch], batch_first=True).to(device)
    lengths = torch.tensor([len(row.ids) for row in batch], device=device)
    real = (torch.arange(ids.shape[1], device=device)[None] < lengths[:, None]).float()
    states = model(input_ids=ids, attention_mask=real).last_hidden_state.float()
    found = head(torch.cat([mean(states, marks[:, :, number]) for number in range(marks.shape[2])], dim=1))
    return found[:, 1] - found[:, 0]
