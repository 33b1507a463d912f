"""Training of the judge of documents: low-rank adapters (Hu et al. 2022) on every layer of the bundled sentence
embedder, one linear layer on the mean of a span's tokens beside the mean of its window's, and one on each token.

It needs no more of this project than `windows.py`, and reads texts as `train_judge.py` writes them.
"""

import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from multiprocessing import get_context

import torch
from adapters import SMOOTHING, Adapted, load_adapted
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from ovrag_core.loans.reading.windows import Windows

AXES = (4, 4, 5)  # classes of role, kind and sort; the axes behind them are told apart by yes and no
UNKNOWN = -1  # on an axis, of a span that teaches nothing there
RANK = 16
BATCH_TOKENS = 12_000
BATCH_WINDOWS = 96
RATE = 2e-3
DROPOUT = 0.1
EXCHANGED = 0.5  # share of the texts that are seen with other names
CROPPED = 0.3  # the same, of which only some sentences are seen
SENTENCES = (1, 1, 1, 2, 2, 3, 4, 6, 8)  # how many
SHORT = 6  # sentences of a text that is never cropped
RARE = 3.0  # weight of a token that is of what secures the loan
WORKERS = 12  # processes that prepare the epochs for a graphics card

Span = tuple[int, int]
Labels = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """A span `[start, end)` of a text, its label on each axis, and what stands there if it is a party's name."""

    start: int
    end: int
    labels: Labels
    name: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its marked spans, its sentences and rows, what secures the loan if that is known, and its share of
    the epochs.
    """

    text: str
    spans: tuple[Marked, ...]
    parts: tuple[Span, ...] = ()
    things: tuple[Span, ...] | None = None
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """A window: numbers of its tokens, places and labels of its spans, which tokens are of what secures the loan."""

    ids: list[int]
    places: list[Span]
    labels: list[Labels]
    things: list[float] | None


def train(texts: Sequence[Text], epochs: int) -> dict[str, Tensor]:
    """The weights, by AdamW (Loshchilov and Hutter 2019) in one cycle (Smith and Topin 2019), in half precision.

    A graphics card is used where there is one.
    """
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = load_adapted(RANK, DROPOUT)
    tokenizer.no_truncation()
    model.to(device).train()
    yes_or_no = len(texts[0].spans[0].labels) - len(AXES)
    head = nn.Linear(2 * model.config.hidden_size, sum(AXES) + yes_or_no).to(device)
    thing = nn.Linear(model.config.hidden_size, 1).to(device)
    trained = [weight for part in (model, head, thing) for weight in part.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.01)
    steps = epochs * len(_epoch(texts, tokenizer, 0))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps * 9 // 8, pct_start=0.1)
    with tqdm(total=steps, desc="judge", unit="step") as bar:
        for batches in _epochs(texts, tokenizer, epochs, device):
            for batch in batches:
                with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                    loss = _loss(model, head, thing, batch)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(trained, 1.0)
                optimizer.step()
                if schedule.last_epoch + 1 < schedule.total_steps:
                    schedule.step()
                bar.update()
    return _saved(model, head, thing)


def _epochs(texts: Sequence[Text], tokenizer: Tokenizer, epochs: int, device: str) -> Iterator[list[list[Row]]]:
    if device == "cpu":
        yield from (_epoch(texts, tokenizer, epoch) for epoch in range(epochs))
        return
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("fork")) as pool:
        yield from pool.map(partial(_epoch, texts, tokenizer), range(epochs))


def _epoch(texts: Sequence[Text], tokenizer: Tokenizer, epoch: int) -> list[list[Row]]:
    """The windows of an epoch in batches, those of about one length together."""
    order = random.Random(epoch)
    names: dict[Labels, list[str]] = {}
    for text in texts:
        for span in text.spans:
            if span.name:
                names.setdefault(span.labels, []).append(span.name)
    rows = [row for text in texts for row in _rows(_seen(text, names, order), tokenizer, order)]
    order.shuffle(rows)
    rows.sort(key=lambda row: len(row.ids) // 32)
    batches: list[list[Row]] = [[]]
    for row in rows:
        batch = batches[-1]
        if batch and (len(batch) == BATCH_WINDOWS or (len(batch) + 1) * len(row.ids) > BATCH_TOKENS):
            batches.append([])
        batches[-1].append(row)
    order.shuffle(batches)
    return batches


def _seen(text: Text, names: dict[Labels, list[str]], order: random.Random) -> Text:
    """The text as an epoch has it: at all, with other names, some sentences of it."""
    if text.share < 1 and order.random() > text.share:
        return Text("", ())
    if order.random() < EXCHANGED:
        text = exchanged(text, names, order)
    return cropped(text, order) if order.random() < CROPPED and len(text.parts) >= SHORT else text


def exchanged(text: Text, names: dict[Labels, list[str]], order: random.Random) -> Text:
    """The text with each party's name replaced by another of its labels; names that share a word are one's."""
    instead: dict[str, str] = {}
    cuts: list[tuple[int, int, str]] = []
    for span in sorted(text.spans, key=lambda span: (span.start, -span.end)):
        if span.name and span.start >= (cuts[-1][1] if cuts else 0):
            known = next((name for name in instead if _words(name) & _words(span.name)), span.name)
            name = instead.setdefault(known, order.choice(names[span.labels]))
            cuts.append((span.start, span.end, name))
    ends = [end for _, end, _ in cuts]
    moves = list(accumulate((len(name) - (end - start) for start, end, name in cuts), initial=0))

    def moved(at: int, *, is_end: bool) -> int:
        cut = bisect_right(ends, at)
        if cut < len(cuts) and cuts[cut][0] < at:  # inside a name
            return cuts[cut][0] + moves[cut] + (len(cuts[cut][2]) if is_end else 0)
        return at + moves[cut]

    def whole(span: Span) -> Span:
        return moved(span[0], is_end=False), moved(span[1], is_end=True)

    made, at = "", 0
    for start, end, name in cuts:
        made += text.text[at:start] + name
        at = end
    spans = [replace(span, start=s, end=e) for span in text.spans for s, e in [whole((span.start, span.end))] if s < e]
    things = None if text.things is None else tuple(map(whole, text.things))
    return replace(
        text, text=made + text.text[at:], spans=tuple(spans), parts=tuple(map(whole, text.parts)), things=things
    )


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w{4,}", name.casefold()))


def cropped(text: Text, order: random.Random) -> Text:
    """Some sentences of the text in a row; roles, which may be told in others, teach nothing there."""
    many = min(order.choice(SENTENCES), len(text.parts))
    first = order.randrange(len(text.parts) - many + 1)
    start, end = text.parts[first][0], text.parts[first + many - 1][1]
    spans = [
        replace(span, start=span.start - start, end=span.end - start, labels=(UNKNOWN, *span.labels[1:]))
        for span in text.spans
        if start <= span.start and span.end <= end
    ]
    things = (
        None if text.things is None else tuple((a - start, b - start) for a, b in text.things if start <= a < b <= end)
    )
    return replace(text, text=text.text[start:end], spans=tuple(spans), things=things)


def _rows(text: Text, tokenizer: Tokenizer, order: random.Random) -> Iterator[Row]:
    windows = Windows(text.text, tokenizer, before=order.randrange(200))
    found: dict[int, Row] = {}
    for span in text.spans:
        if set(span.labels) != {UNKNOWN}:
            at, first, end = windows.place((span.start, span.end))
            row = found.setdefault(at, Row(windows.ids(at), [], [], _of_things(windows, at, text.things)))
            row.places.append((first, end))
            row.labels.append(span.labels)
    yield from found.values()


def _of_things(windows: Windows, at: int, things: Sequence[Span] | None) -> list[float] | None:
    if things is None:
        return None
    tokens = windows.offsets(at, 1, len(windows.ids(at)) - 1)
    return [0.0, *(float(any(a <= start < end <= b for a, b in things)) for start, end in tokens), 0.0]


def _loss(model: nn.Module, head: nn.Module, thing: nn.Module, batch: Sequence[Row]) -> Tensor:
    device = head.weight.device
    ids = nn.utils.rnn.pad_sequence([torch.tensor(row.ids) for row in batch], batch_first=True).to(device)
    lengths = torch.tensor([len(row.ids) for row in batch], device=device)
    real = (torch.arange(ids.shape[1], device=device)[None] < lengths[:, None]).float()
    states = model(input_ids=ids, attention_mask=real).last_hidden_state.float()
    whole = (states * real[..., None]).sum(1) / lengths[:, None]
    sums = functional.pad(states.cumsum(1), (0, 0, 1, 0))
    places = [(number, first, end) for number, row in enumerate(batch) for first, end in row.places]
    number, first, end = torch.tensor(places, device=device).T
    own = (sums[number, end] - sums[number, first]) / (end - first)[:, None]
    scores = head(torch.cat([whole[number], own], 1))
    labels = torch.tensor([label for row in batch for label in row.labels], device=device)
    return _of_spans(scores, labels) + _of_tokens(thing(states)[..., 0], real, batch)


def _of_spans(scores: Tensor, labels: Tensor) -> Tensor:
    total, at = scores.new_zeros(()), 0
    for axis, classes in enumerate(AXES):
        if (labels[:, axis] != UNKNOWN).any():
            total = total + functional.cross_entropy(
                scores[:, at : at + classes], labels[:, axis], ignore_index=UNKNOWN, label_smoothing=SMOOTHING
            )
        at += classes
    said = labels[:, len(AXES) :]
    known = said != UNKNOWN
    if not known.any():
        return total
    smooth = said.clamp(min=0) * (1 - 0.8 * SMOOTHING) + 0.4 * SMOOTHING
    losses = functional.binary_cross_entropy_with_logits(scores[:, at:], smooth, reduction="none")
    return total + (losses * known).sum() / known.any(1).sum()


def _of_tokens(scores: Tensor, real: Tensor, batch: Sequence[Row]) -> Tensor:
    rows = [number for number, row in enumerate(batch) if row.things is not None]
    if not rows:
        return scores.new_zeros(())
    things = nn.utils.rnn.pad_sequence([torch.tensor(batch[row].things) for row in rows], batch_first=True)
    length = things.shape[1]
    smooth = things.to(scores.device) * (1 - 0.8 * SMOOTHING) + 0.4 * SMOOTHING
    losses = functional.binary_cross_entropy_with_logits(
        scores[rows, :length], smooth, reduction="none", pos_weight=scores.new_tensor(RARE)
    )
    return 2 * (losses * real[rows, :length]).sum() / real[rows].sum()


def _saved(model: nn.Module, head: nn.Module, thing: nn.Module) -> dict[str, Tensor]:
    """The trained additions and the linear layers, and nothing of the embedder, in half precision."""
    tensors = {
        f"{name}.{part}": weight
        for name, layer in (("head", head), ("thing", thing))
        for part, weight in layer.named_parameters()
    }
    tensors |= {
        f"{name}.{part}": getattr(layer, part)
        for name, layer in model.named_modules()
        if isinstance(layer, Adapted)
        for part in ("a", "b")
    }
    return {name: weight.detach().cpu().half().contiguous() for name, weight in tensors.items()}
