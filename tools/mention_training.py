"""Training of a judge of mentions: low-rank adapters (Hu et al. 2022) on the upper half of the bundled sentence
embedder, the mean of the mention's tokens beside the mean of all, and one linear layer."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from adapters import RANK, SMOOTHING, add_adapters, fit, load_trainable, lower_states, mean, upper_states
from tokenizers import Tokenizer
from torch import Tensor, nn

from ovrag_core.loans import marked, named
from ovrag_core.retrieval import DIMENSIONS, MAX_TOKENS

MARKED = re.compile(r"<<([^|<>]+)\|([\w.]+)>>")
Row = tuple[Tensor, Tensor, int]  # the states of the frozen layers, which tokens are the mention, and its class


@dataclass(frozen=True, slots=True)
class Example:
    """A mention at `[start, end)` of a text, and its class."""

    text: str
    start: int
    end: int
    column: int


def unmarked(passage: str) -> tuple[str, list[tuple[int, int, str]]]:
    """The text of a passage that marks its mentions as `<<mention|label>>`, and each mention's span and label."""
    text, marks, at = "", [], 0
    for match in MARKED.finditer(passage):
        text += passage[at : match.start()]
        marks.append((len(text), len(text) + len(match[1]), match[2]))
        text += match[1]
        at = match.end()
    return text + passage[at:], marks


def train_judge(
    examples: Sequence[Example], classes: int, order: random.Random, epochs: int, name: str, rank: int = RANK
) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head; `order` draws the order of the examples."""
    torch.manual_seed(0)
    model, tokenizer = load_trainable()
    rows = _prepared(model, tokenizer, examples)
    add_adapters(model, rank)
    head = nn.Linear(2 * DIMENSIONS, classes)

    def shuffled() -> list[Row]:
        order.shuffle(rows)
        rows.sort(key=lambda row: len(row[1]) // 16)
        return rows

    def loss_of(batch: Sequence[Row]) -> Tensor:
        columns = torch.tensor([column for _, _, column in batch])
        return nn.functional.cross_entropy(_scored(model, head, batch), columns, label_smoothing=SMOOTHING)

    fit(model, head, rows, shuffled, loss_of, order, epochs, name)
    return model, head


def _prepared(model: nn.Module, tokenizer: Tokenizer, examples: Sequence[Example]) -> list[Row]:
    """For each example the states of the frozen layers, which tokens are the mention, and the class."""
    seen = [marked(example.text, example.start, example.end) for example in examples]
    tokens = [tokenizer.encode(words) for words, _, _ in seen]
    lower = lower_states(model, [encoding.ids[:MAX_TOKENS] for encoding in tokens])
    return [
        (states, torch.tensor(named(encoding.offsets[:MAX_TOKENS], first, last)).float(), example.column)
        for states, encoding, (_, first, last), example in zip(lower, tokens, seen, examples, strict=True)
    ]


def _scored(model: nn.Module, head: nn.Module, rows: Sequence[Row]) -> Tensor:
    """Scores of the examples (n × classes)."""
    hidden, real = upper_states(model, [states for states, _, _ in rows])
    mention = nn.utils.rnn.pad_sequence([inside for _, inside, _ in rows], batch_first=True)
    return head(torch.cat([mean(hidden, real), mean(hidden, mention)], dim=1))
