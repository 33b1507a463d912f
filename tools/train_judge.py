"""Train the judge of passages on the labelled statements: `python tools/train_judge.py [--folds 5]`.

Low-rank adapters (Hu et al. 2022) on the linear layers of the upper half of the bundled sentence embedder, mean
pooling, and one linear layer with two heads of three classes; the lower half is as it comes, so it runs once. A linear
screen over hashed words goes with it. With `--folds` it prints how often unseen statements are judged rightly, the
folds cut so that each file's neighbouring lines, often variants of each other, stay together; then it trains on all
and writes the weights. Ten minutes on two cores; the same seed gives the same weights on the same machine.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch
from adapters import SMOOTHING, add_adapters, fit, load_trainable, lower_states, mean, saved, upper_states
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report
from sklearn.model_selection import cross_val_predict
from torch import Tensor, nn
from training_data import notes

from ovrag_core.loans import MAY_SAY, hashed_words, passage_of
from ovrag_core.loans.reading.judge import WEIGHTS
from ovrag_core.retrieval import DIMENSIONS, MAX_TOKENS, load_weights

STATEMENTS = Path("training/loans/statements")
LEARNED_FROM = [f"{STATEMENTS}/*.jsonl"]
CLASSES = {"security": ("none", "secured", "unsecured"), "form": ("none", "open", "closed")}
EPOCHS = 4
NEIGHBOURS = 10  # lines of a file that stay in one fold


def read_statements(folder: Path) -> tuple[list[str], Tensor, list[str]]:
    """The passages, their classes (n × 2), and the group of neighbours each is in."""
    passages, classes, groups = [], [], []
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            passages.append(passage_of(row["heading"], row["text"]))
            classes.append([CLASSES[axis].index(row[axis]) for axis in CLASSES])
            groups.append(f"{path.name} {number // NEIGHBOURS}")
    return passages, torch.tensor(classes), groups


def train(passages: list[str], classes: Tensor, rows: list[int], seed: int, name: str) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head, trained on the given rows."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    model, tokenizer = load_trainable()
    add_adapters(model)
    head = nn.Linear(DIMENSIONS, 6)
    lower = {row: lower_states(model, tokenizer.encode(passages[row]).ids[:MAX_TOKENS]) for row in rows}

    def shuffled() -> list[int]:
        return sorted(order.sample(rows, len(rows)), key=lambda row: len(lower[row]) // 12)

    def loss_of(batch: Sequence[int]) -> Tensor:
        scores = scored(model, head, [lower[row] for row in batch])
        return sum(
            nn.functional.cross_entropy(scores[:, axis], classes[batch, axis], label_smoothing=SMOOTHING)
            for axis in range(2)
        )

    fit(model, head, rows, shuffled, loss_of, order, EPOCHS, name)
    return model, head


def scored(model: nn.Module, head: nn.Module, lower: list[Tensor]) -> Tensor:
    """Scores of the passages (n × 2 × 3) from their lower states."""
    return head(mean(*upper_states(model, lower))).view(len(lower), 2, 3)


def cross_validate(passages: list[str], classes: Tensor, groups: list[str], folds: int) -> None:
    """Print how often statements of unseen neighbourhoods are judged rightly."""
    names = sorted(set(groups))
    random.Random(0).shuffle(names)
    fold_of = {name: number % folds for number, name in enumerate(names)}
    judged = numpy.zeros((len(passages), 2), dtype=int)
    _, tokenizer = load_weights()
    for fold in range(folds):
        rows = [row for row, group in enumerate(groups) if fold_of[group] != fold]
        unseen = [row for row, group in enumerate(groups) if fold_of[group] == fold]
        model, head = train(passages, classes, rows, fold, f"fold {fold + 1}")
        with torch.inference_mode():
            for row in unseen:
                states = lower_states(model, tokenizer.encode(passages[row]).ids[:MAX_TOKENS])
                judged[row] = scored(model, head, [states])[0].argmax(-1).numpy()
    for number, (axis, names_) in enumerate(CLASSES.items()):
        print(f"{axis}, {len(passages)} statements, unseen in training, {folds} folds")
        print(classification_report(classes[:, number], judged[:, number], target_names=names_, digits=3))


def screened(passages: list[str], classes: Tensor, folds: int = 0) -> dict[str, Tensor]:
    """A linear screen over hashed words: whether a passage may say anything at all, so that few need the judge."""
    says = (classes > 0).any(1).numpy()
    words = hashed_words().transform(passages)
    screen = LogisticRegression(C=5, max_iter=2000, class_weight="balanced")
    if folds:
        found = cross_val_predict(screen, words, says, cv=folds, method="predict_proba")[:, 1] >= MAY_SAY
        print(f"screen: keeps {found[says].mean():.3f} of what says something, {found[~says].mean():.3f} of the rest")
    screen.fit(words, says)
    weights = torch.tensor(screen.coef_[0]).half()
    return {"screen.weight": weights, "screen.bias": torch.tensor(screen.intercept_).float()}


def main() -> None:
    """Train, and say how well where folds are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=0, help="cross-validate first, in so many folds")
    parser.add_argument("--only-folds", action="store_true", help="cross-validate and write no weights")
    options = parser.parse_args()
    passages, classes, groups = read_statements(STATEMENTS)
    if options.folds:
        cross_validate(passages, classes, groups, options.folds)
    if not options.only_folds:
        screen = screened(passages, classes, folds=5)
        trained = train(passages, classes, list(range(len(passages))), 0, "all")
        save_file(saved(*trained) | screen, WEIGHTS, metadata=notes(LEARNED_FROM))
        print(f"{WEIGHTS}: trained on {len(passages)} statements")


if __name__ == "__main__":
    main()
