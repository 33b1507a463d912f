"""Train the judge of documents: `python tools/train_judge.py [--texts FILE] [--weights FILE]`.

What it learns from is told in `judge_texts.py`, how in `judge_training.py`. Minutes on a graphics card, hours on two
cores. A linear screen over hashed words goes with it, by which a long document is searched for what may say anything.
`--texts` only writes the texts, for training on another machine; `--weights` takes weights that were trained there.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from judge_texts import all_texts
from judge_training import AXES, UNKNOWN, Text, train
from safetensors.torch import load_file, save_file
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from training_data import hashed_rows, notes

from ovrag_core.loans.reading.judge import WEIGHTS

LOANS = Path("training/loans")
FOLDERS = ("development", "development2", "hard_negatives", "hard_negatives2")
GENERATED = ("plain", "varied")
LEARNED_FROM = [
    f"{LOANS}/marked/*/*.txt",
    f"{LOANS}/roles/*.jsonl",
    f"{LOANS}/values/*.jsonl",
    f"{LOANS}/statements/*.jsonl",
    f"{LOANS}/purposes.tsv",
    *[f"{LOANS}/agreements/{name}/{kind}" for name in FOLDERS for kind in ("*.txt", "gold.json", "stated.json")],
    *[f"{LOANS}/generated/{name}/{kind}" for name in GENERATED for kind in ("*.txt", "gold.json", "stated.json")],
]
EPOCHS = 30


def screened(texts: Sequence[Text]) -> dict[str, Tensor]:
    """A linear screen over hashed words: whether a sentence may say anything at all, so that few need the judge."""
    said = [
        (text.text[span.start : span.end], 1 in span.labels[len(AXES) :])
        for text in texts
        for span in text.spans
        if set(span.labels[len(AXES) :]) != {UNKNOWN}
    ]
    screen = LogisticRegression(C=5, max_iter=2000, class_weight="balanced")
    screen.fit(hashed_rows([passage for passage, _ in said]), [says for _, says in said])
    return {
        "screen.weight": torch.tensor(screen.coef_[0]).half(),
        "screen.bias": torch.tensor(screen.intercept_).float(),
    }


def main() -> None:
    """Train on all there is and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--weights", type=Path)
    arguments = parser.parse_args()
    texts = all_texts(
        [LOANS / "agreements" / name for name in FOLDERS], [LOANS / "generated" / name for name in GENERATED]
    )
    if arguments.texts:
        arguments.texts.write_text(json.dumps([asdict(text) for text in texts], ensure_ascii=False), encoding="utf-8")
        return
    tensors = load_file(arguments.weights) if arguments.weights else train(texts, EPOCHS)
    save_file(tensors | screened(texts), WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {sum(len(text.spans) for text in texts)} spans in {len(texts)} texts")


if __name__ == "__main__":
    main()
