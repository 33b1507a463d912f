"""Train what tells which facts a question asks for: `python tools/train_questions.py`.

Low-rank adapters (Hu et al. 2022) on the upper half of the bundled sentence embedder, the mean of a question's tokens
and one linear layer: asked for or not, for each fact. `--across` leaves each author's file out in turn and tells how
many of its questions are understood whole. A minute on two cores; the same seed gives the same weights on the same
machine.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from adapters import SMOOTHING, add_adapters, fit, load_trainable, lower_states, mean, saved, upper_states
from safetensors.torch import save_file
from torch import Tensor, nn
from training_data import notes

from ovrag_core.loans.fact_answering import ASKABLE, WEIGHTS
from ovrag_core.retrieval import DIMENSIONS, MAX_TOKENS

QUESTIONS = Path("training/loans/questions")
LEARNED_FROM = [f"{QUESTIONS}/*.jsonl"]
NAMES = {"kind": "loan_types"}  # of facts, where the files say it shorter
EPOCHS = 10


class Asked(NamedTuple):
    """A question and which of ASKABLE it asks for, 0 or 1 each."""

    question: str
    facts: list[int]


def read_questions(paths: Sequence[Path]) -> list[Asked]:
    """The questions of some files."""
    lines = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Asked(line["question"], [int(name in {NAMES.get(each, each) for each in line["asks"]}) for name in ASKABLE])
        for line in lines
    ]


def train(questions: Sequence[Asked], seed: int) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    model, tokenizer = load_trainable()
    add_adapters(model)
    head = nn.Linear(DIMENSIONS, 2 * len(ASKABLE))
    lower = lower_states(model, [tokenizer.encode(each.question).ids[:MAX_TOKENS] for each in questions])
    facts = torch.tensor([each.facts for each in questions])
    rows = list(range(len(questions)))

    def loss_of(batch: Sequence[int]) -> Tensor:
        scores = head(mean(*upper_states(model, [lower[row] for row in batch]))).view(-1, 2)
        return nn.functional.cross_entropy(scores, facts[batch].flatten(), label_smoothing=SMOOTHING)

    fit(model, head, rows, lambda: order.sample(rows, len(rows)), loss_of, order, EPOCHS, "questions")
    return model, head


def understood(model: nn.Module, head: nn.Module, questions: Sequence[Asked]) -> float:
    """The share of questions of which all facts, and no others, are found."""
    tokenizer = load_trainable()[1]
    right = 0
    with torch.inference_mode():
        all_lower = lower_states(model, [tokenizer.encode(each.question).ids[:MAX_TOKENS] for each in questions])
        for each, lower in zip(questions, all_lower, strict=True):
            scores = head(mean(*upper_states(model, [lower]))).view(-1, 2)
            right += scores.argmax(1).tolist() == each.facts
    return right / len(questions)


def main() -> None:
    """Train on all questions and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--across", action="store_true", help="leave each author out and measure on them")
    paths = sorted(QUESTIONS.glob("*.jsonl"))
    if parser.parse_args().across:
        for path in paths:
            others = [each for each in paths if each != path]
            share = understood(*train(read_questions(others), 0), read_questions([path]))
            print(f"{path.stem}, left out: {share:.3f} understood")
        return
    questions = read_questions(paths)
    save_file(saved(*train(questions, 0)), WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(questions)} questions")


if __name__ == "__main__":
    main()
