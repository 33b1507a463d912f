"""Train the judge of passages on the labelled statements: `python tools/train_judge.py`.

Low-rank adapters (Hu et al. 2022) on the linear layers of the upper half of the bundled sentence embedder, mean
pooling, and one linear layer with two heads of three classes; the lower half is as it comes, so it runs once. A linear
screen over hashed words goes with it. Ten minutes on two cores; the same seed gives the same weights
on the same machine.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from adapters import SMOOTHING, add_adapters, fit, load_trainable, lower_states, mean, saved, upper_states
from marked_agreements import MarkedAgreement, marked_agreements
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from training_data import hashed_rows, notes

from ovrag_core.loans import passage_of
from ovrag_core.loans.reading.judge import WEIGHTS
from ovrag_core.loans.reading.sentences import plain_text, units
from ovrag_core.retrieval import DIMENSIONS, MAX_TOKENS

STATEMENTS = Path("training/loans/statements")
MARKED = Path("training/loans/marked")
LEARNED_FROM = [f"{STATEMENTS}/*.jsonl", f"{MARKED}/*/*.txt"]
STATED = {"secured": (0, 1), "unsecured": (0, 2), "openend": (1, 1), "closedend": (1, 2)}  # axis and class
CLASSES = {"security": ("none", "secured", "unsecured"), "form": ("none", "open", "closed")}
EPOCHS = 4


def read_statements(folder: Path) -> tuple[list[str], Tensor]:
    """The passages and their classes (n × 2)."""
    passages, classes = [], []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            passages.append(passage_of(row["heading"], row["text"]))
            classes.append([CLASSES[axis].index(row[axis]) for axis in CLASSES])
    return passages, torch.tensor(classes)


def statements_of(agreement: MarkedAgreement) -> Iterator[tuple[str, list[int]]]:
    """The sentences and rows of a marked agreement with their classes, each under its heading.

    One that a mark covers for the greater part of either says what the mark says; the others say nothing of this loan.
    """
    plain = plain_text(agreement.text)
    marks = [
        (*STATED[mark.label], plain.offset(mark.start), plain.offset(mark.end))
        for mark in agreement.marks
        if mark.label in STATED
    ]
    for unit in units(plain.text):
        if unit.kind not in ("sentence", "row") or unit.end <= unit.start:
            continue
        classes = [0, 0]
        for axis, column, start, end in marks:
            shared = min(unit.end, end) - max(unit.start, start)
            if 2 * shared > min(end - start, unit.end - unit.start):
                classes[axis] = column
        yield passage_of(unit.heading, plain.text[unit.start : unit.end]), classes


def marked_statements() -> tuple[list[str], Tensor]:
    """The passages of all marked agreements and their classes (n × 2): those that say something, and four times as many
    that say nothing."""
    order = random.Random(0)
    telling, silent = [], []
    for agreement in marked_agreements(MARKED):
        for passage, classes in statements_of(agreement):
            (telling if any(classes) else silent).append((passage, classes))
    silent = order.sample(silent, min(len(silent), 4 * len(telling)))
    return [passage for passage, _ in telling + silent], torch.tensor([classes for _, classes in telling + silent])


def train(passages: list[str], classes: Tensor, seed: int) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    model, tokenizer = load_trainable()
    add_adapters(model)
    head = nn.Linear(DIMENSIONS, 6)
    rows = list(range(len(passages)))
    lower = lower_states(model, [tokenizer.encode(passage).ids[:MAX_TOKENS] for passage in passages])

    def shuffled() -> list[int]:
        return sorted(order.sample(rows, len(rows)), key=lambda row: len(lower[row]) // 12)

    def loss_of(batch: Sequence[int]) -> Tensor:
        scores = scored(model, head, [lower[row] for row in batch])
        return sum(
            nn.functional.cross_entropy(scores[:, axis], classes[batch, axis], label_smoothing=SMOOTHING)
            for axis in range(2)
        )

    fit(model, head, rows, shuffled, loss_of, order, EPOCHS, "all")
    return model, head


def scored(model: nn.Module, head: nn.Module, lower: list[Tensor]) -> Tensor:
    """Scores of the passages (n × 2 × 3) from their lower states."""
    return head(mean(*upper_states(model, lower))).view(len(lower), 2, 3)


def screened(passages: list[str], classes: Tensor) -> dict[str, Tensor]:
    """A linear screen over hashed words: whether a passage may say anything at all, so that few need the judge."""
    screen = LogisticRegression(C=5, max_iter=2000, class_weight="balanced")
    screen.fit(hashed_rows(passages), (classes > 0).any(1).numpy())
    weights = torch.tensor(screen.coef_[0]).half()
    return {"screen.weight": weights, "screen.bias": torch.tensor(screen.intercept_).float()}


def main() -> None:
    """Train on all statements and write the weights."""
    passages, classes = read_statements(STATEMENTS)
    others, of_others = marked_statements()
    passages, classes = passages + others, torch.cat([classes, of_others])
    screen = screened(passages, classes)
    save_file(saved(*train(passages, classes, 0)) | screen, WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(passages)} statements")


if __name__ == "__main__":
    main()
