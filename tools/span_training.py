"""Training of a judge of spans in windows of their document: low-rank adapters (Hu et al. 2022) on every layer of the
bundled sentence embedder, and one linear layer on the mean of a span's tokens beside the mean of all."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from adapters import SMOOTHING, add_adapters, load_trainable
from tokenizers import Tokenizer
from torch import Tensor, nn
from tqdm import tqdm

from ovrag_core.loans.reading.windows import Window, windows
from ovrag_core.retrieval import DIMENSIONS

BATCH = 32  # windows
RATE = 2e-3
DROPOUT = 0.1
UNKNOWN = -1  # the class of a span that teaches nothing on an axis
EXCHANGED = 0.5  # share of the texts that are seen with other names


@dataclass(frozen=True, slots=True)
class Marked:
    """A span `[start, end)` of a text, its class on each axis, and what stands there if it is a name."""

    start: int
    end: int
    classes: tuple[int, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A text and its marked spans."""

    text: str
    spans: tuple[Marked, ...]


Row = tuple[Window, list[tuple[int, ...]]]  # a window, and the classes of its spans


def train_spans(
    texts: Sequence[Text], axes: int, choices: int, order: random.Random, epochs: int, rank: int
) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head, by AdamW (Loshchilov and Hutter 2019) in one cycle (Smith and Topin 2019).

    A graphics card is used where there is one.
    """
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = load_trainable()
    tokenizer.no_truncation()
    add_adapters(model, rank, frozen=0)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = DROPOUT
    for layer in model.encoder.layer:
        layer.attention.self.dropout_prob = DROPOUT
    model, head = model.to(device).train(), nn.Linear(2 * DIMENSIONS, axes * choices).to(device)
    trained = [weight for weight in (*model.parameters(), *head.parameters()) if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.01)
    names = _names(texts)
    steps = epochs * len(_batches(texts, names, tokenizer, random.Random(0)))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps + steps // 10, pct_start=0.1)
    with tqdm(total=steps, desc="steps") as bar:
        for _ in range(epochs):
            for batch in _batches(texts, names, tokenizer, order):
                with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                    loss = _loss(model, head, batch, axes, choices)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(trained, 1.0)
                optimizer.step()
                schedule.step()
                bar.update()
    return model.cpu().eval(), head.cpu().eval()


def _names(texts: Sequence[Text]) -> dict[tuple[int, ...], list[str]]:
    """The names that are marked, by their classes."""
    names: dict[tuple[int, ...], list[str]] = {}
    for text in texts:
        for span in text.spans:
            if span.name:
                names.setdefault(span.classes, []).append(span.name)
    return names


def exchanged(text: Text, names: dict[tuple[int, ...], list[str]], order: random.Random) -> Text:
    """The text with each marked name replaced by another of its classes; names that share a word are one's."""
    instead: dict[str, str] = {}
    made, spans, at = "", list[Marked](), 0
    for span in sorted(text.spans, key=lambda span: (span.start, -span.end)):
        if span.start < at:
            continue  # inside the span before
        made += text.text[at : span.start]
        words = text.text[span.start : span.end]
        if span.name:
            known = next((name for name in instead if _words(name) & _words(span.name)), span.name)
            words = instead.setdefault(known, order.choice(names[span.classes]))
        spans.append(replace(span, start=len(made), end=len(made) + len(words)))
        made += words
        at = span.end
    return Text(made + text.text[at:], tuple(spans))


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w{4,}", name.casefold()))


def _batches(
    texts: Sequence[Text], names: dict[tuple[int, ...], list[str]], tokenizer: Tokenizer, order: random.Random
) -> list[list[Row]]:
    """The windows of all texts, those of about one length together."""
    rows = [
        row
        for text in texts
        for row in _rows(exchanged(text, names, order) if order.random() < EXCHANGED else text, tokenizer, order)
    ]
    order.shuffle(rows)
    rows.sort(key=lambda row: len(row[0].ids) // 32)
    batches = [rows[first : first + BATCH] for first in range(0, len(rows), BATCH)]
    order.shuffle(batches)
    return batches


def _rows(text: Text, tokenizer: Tokenizer, order: random.Random) -> Iterator[Row]:
    spans = [(span.start, span.end) for span in text.spans]
    for window in windows(text.text, spans, tokenizer, before=order.randrange(200)):
        yield window, [text.spans[number].classes for number, _, _ in window.spans]


def _loss(model: nn.Module, head: nn.Module, batch: Sequence[Row], axes: int, choices: int) -> Tensor:
    device = head.weight.device
    ids = nn.utils.rnn.pad_sequence([torch.tensor(window.ids) for window, _ in batch], batch_first=True).to(device)
    lengths = torch.tensor([len(window.ids) for window, _ in batch], device=device)
    real = (torch.arange(ids.shape[1], device=device)[None] < lengths[:, None]).float()
    states = model(input_ids=ids, attention_mask=real).last_hidden_state.float()
    whole = (states * real[..., None]).sum(1) / lengths[:, None]
    sums = nn.functional.pad(states.cumsum(1), (0, 0, 1, 0))
    places = [(row, first, end) for row, (window, _) in enumerate(batch) for _, first, end in window.spans]
    row, first, end = torch.tensor(places, device=device).T
    own = (sums[row, end] - sums[row, first]) / (end - first)[:, None]
    scores = head(torch.cat([whole[row], own], 1)).view(-1, axes, choices)
    classes = torch.tensor([each for _, found in batch for each in found], device=device)
    return sum(
        nn.functional.cross_entropy(scores[:, axis], classes[:, axis], ignore_index=UNKNOWN, label_smoothing=SMOOTHING)
        for axis in range(axes)
        if (classes[:, axis] != UNKNOWN).any()
    )
