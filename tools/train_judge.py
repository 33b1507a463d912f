"""Train the judge of passages on the labelled statements: `python tools/train_judge.py`.

Low-rank adapters (Hu et al. 2022) on the linear layers of the upper half of the bundled sentence embedder, mean
pooling, and one linear layer that judges each class apart, since a sentence can state two opposites; some are made by
joining two statements. The lower half is as it comes, so it runs once. A linear screen over hashed words goes with it.
Ten minutes on two cores; the same seed gives the same weights on the same machine.
"""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
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
STATED = {"secured": 0, "unsecured": 1, "openend": 2, "closedend": 3}  # column of each mark, as in CLASSES
COLUMNS = {"security": {"secured": 0, "unsecured": 1}, "form": {"open": 2, "closed": 3}}
JOINED = 400  # passages made of a statement and its opposite, for each pair
LINKS = ("; ", ", and ", ", while ", ", but ", ", and yet ", ". ")
EPOCHS = 4

Statement = tuple[str, list[int]]  # a passage, and whether it states each class


def read_statements(folder: Path) -> list[Statement]:
    """The labelled passages."""
    return [
        (passage_of(row["heading"], row["text"]), _stating(COLUMNS[axis].get(row[axis]) for axis in COLUMNS))
        for path in sorted(folder.glob("*.jsonl"))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    ]


def _stating(columns: Iterable[int | None]) -> list[int]:
    stated = set(columns)
    return [int(column in stated) for column in STATED.values()]


def statements_of(agreement: MarkedAgreement) -> Iterator[Statement]:
    """The sentences and rows of a marked agreement with their classes, each under its heading.

    One that a mark covers for the greater part of either says what the mark says; the others say nothing of this loan.
    """
    plain = plain_text(agreement.text)
    marks = [
        (STATED[mark.label], plain.offset(mark.start), plain.offset(mark.end))
        for mark in agreement.marks
        if mark.label in STATED
    ]
    for unit in units(plain.text):
        if unit.kind not in ("sentence", "row") or unit.end <= unit.start:
            continue
        columns = [
            column
            for column, start, end in marks
            if 2 * (min(unit.end, end) - max(unit.start, start)) > min(end - start, unit.end - unit.start)
        ]
        yield passage_of(unit.heading, plain.text[unit.start : unit.end]), _stating(columns)


def marked_statements() -> list[Statement]:
    """The passages of all marked agreements: those that say something, and four times as many that say nothing."""
    telling, silent = [], []
    for agreement in marked_agreements(MARKED):
        for statement in statements_of(agreement):
            (telling if any(statement[1]) else silent).append(statement)
    return telling + random.Random(0).sample(silent, min(len(silent), 4 * len(telling)))


def joined(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Passages that state a class and its opposite: two statements in one sentence or side by side."""
    order = random.Random(1)
    for pair in ((0, 1), (2, 3)):
        sides = [[passage for passage, classes in statements if classes == _stating([column])] for column in pair]
        for _ in range(JOINED):
            first, second = order.sample([order.choice(side) for side in sides], 2)
            link = order.choice(LINKS)
            if link != ". ":
                second = second[:1].lower() + second[1:]
            yield first.rstrip(". ") + link + second, _stating(pair)


def train(passages: list[str], classes: Tensor, seed: int) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    model, tokenizer = load_trainable()
    add_adapters(model)
    head = nn.Linear(DIMENSIONS, 2 * len(STATED))
    rows = list(range(len(passages)))
    lower = lower_states(model, [tokenizer.encode(passage).ids[:MAX_TOKENS] for passage in passages])

    def shuffled() -> list[int]:
        return sorted(order.sample(rows, len(rows)), key=lambda row: len(lower[row]) // 12)

    def loss_of(batch: Sequence[int]) -> Tensor:
        scores = scored(model, head, [lower[row] for row in batch])
        return sum(
            nn.functional.cross_entropy(scores[:, column], classes[batch, column], label_smoothing=SMOOTHING)
            for column in STATED.values()
        )

    fit(model, head, rows, shuffled, loss_of, order, EPOCHS, "all")
    return model, head


def scored(model: nn.Module, head: nn.Module, lower: list[Tensor]) -> Tensor:
    """Scores of the passages, against and for each class (n × 4 × 2), from their lower states."""
    return head(mean(*upper_states(model, lower))).view(len(lower), len(STATED), 2)


def screened(passages: list[str], classes: Tensor) -> dict[str, Tensor]:
    """A linear screen over hashed words: whether a passage may say anything at all, so that few need the judge."""
    screen = LogisticRegression(C=5, max_iter=2000, class_weight="balanced")
    screen.fit(hashed_rows(passages), (classes > 0).any(1).numpy())
    weights = torch.tensor(screen.coef_[0]).half()
    return {"screen.weight": weights, "screen.bias": torch.tensor(screen.intercept_).float()}


def main() -> None:
    """Train on all statements and write the weights."""
    statements = [*read_statements(STATEMENTS), *marked_statements()]
    statements += joined(statements)
    passages, classes = [passage for passage, _ in statements], torch.tensor([stated for _, stated in statements])
    screen = screened(passages, classes)
    save_file(saved(*train(passages, classes, 0)) | screen, WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(passages)} statements")


if __name__ == "__main__":
    main()
