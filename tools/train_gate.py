"""Train what tells loan documents from others: `python tools/train_gate.py`.

A logistic regression on hashed words and pairs of words (Weinberger et al. 2009). Loan documents are those that teach
the reader; others are `training/loans/others/` and the policies that teach the study of cited answers, whole and in
parts. Prints what it takes and refuses of texts that it did not learn from. Less than a minute.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from marked_agreements import ASIDE, marked_agreements
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression
from training_data import notes

from ovrag_core.loans.reading.gate import LOAN, WEIGHTS, words_present

MARKED = Path("training/loans/marked")
OTHERS = Path("training/loans/others")
POLICIES = Path("training/cited/questions")
AGREEMENTS = Path("training/loans/agreements")
LEARNED_FROM = [f"{MARKED}/*/*.txt", f"{AGREEMENTS}/*/*.txt", f"{OTHERS}/*.jsonl", f"{POLICIES}/*.txt"]
PARTS = 2  # of each text, beside the whole


def parts(text: str, order: random.Random) -> Iterator[str]:
    """The text, and some stretches of its paragraphs."""
    yield text
    paragraphs = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    for _ in range(PARTS):
        count = order.randint(1, max(1, len(paragraphs) // 2))
        first = order.randrange(max(1, len(paragraphs) - count + 1))
        yield "\n\n".join(paragraphs[first : first + count])


def read_texts() -> tuple[dict[str, str], dict[str, str]]:
    """Loan documents and others, by name."""
    loans = {agreement.name: agreement.text for agreement in marked_agreements(MARKED)}
    loans |= {str(path): path.read_text(encoding="utf-8") for path in sorted(AGREEMENTS.glob("*/*.txt"))}
    others = {str(path): path.read_text(encoding="utf-8") for path in sorted(POLICIES.glob("*.txt"))}
    for path in sorted(OTHERS.glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        others |= {f"{path.stem}/{number}": json.loads(line)["text"] for number, line in enumerate(lines)}
    return loans, others


def learned(loans: Mapping[str, str], others: Mapping[str, str]) -> LogisticRegression:
    """What tells the first from the second."""
    order = random.Random(0)
    texts = [*loans.values(), *(part for text in others.values() for part in parts(text, order))]
    labels = [True] * len(loans) + [False] * (len(texts) - len(loans))
    model = LogisticRegression(C=100, class_weight="balanced", max_iter=1000)
    return model.fit(words_present().transform(texts), labels)


def refused_in_turn(others: Mapping[str, str], loans: Mapping[str, str]) -> int:
    """How many of the others are refused by what did not learn from them, a third at a time."""
    refused = 0
    for third in range(3):
        held_out = [name for number, name in enumerate(others) if number % 3 == third]
        model = learned(loans, {name: text for name, text in others.items() if name not in held_out})
        likely = model.predict_proba(words_present().transform([others[name] for name in held_out]))[:, 1]
        refused += int((likely < LOAN).sum())
    return refused


def main() -> None:
    """Train on all and write the weights."""
    loans, others = read_texts()
    model = learned(loans, others)
    tensors = {"weight": torch.tensor(model.coef_[0]).half(), "bias": torch.tensor(model.intercept_).float()}
    save_file(tensors, WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(loans)} loan documents and {len(others)} others")
    aside = [agreement.text for agreement in marked_agreements(ASIDE)]
    taken = int((model.predict_proba(words_present().transform(aside))[:, 1] >= LOAN).sum())
    print(f"of {len(aside)} loan documents by drafters set aside {taken} are taken for such")
    print(
        f"of {len(others)} others {refused_in_turn(others, loans)} are refused, each by weights that it did not teach"
    )


if __name__ == "__main__":
    main()
