"""Train what tells loan documents from others: `python tools/train_gate.py`.

A logistic regression on hashed words and pairs of words (Weinberger et al. 2009). Loan documents are those that teach
the reader, and, with little weight, stretches of them around the sum lent; others are `training/loans/others/` and the
policies that teach the study of cited answers, whole and in parts. Prints what it takes and refuses of texts that it
did not learn from. A minute.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from marked_agreements import ASIDE, MarkedAgreement, marked_agreements
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression
from training_data import hashed_rows, notes

from ovrag_core.loans.reading.gate import LOAN, WEIGHTS

MARKED = Path("training/loans/marked")
OTHERS = Path("training/loans/others")
POLICIES = Path("training/cited/questions")
AGREEMENTS = Path("training/loans/agreements")
# With more agreements than there are other contracts, all that is about money passes: these drafters are enough.
DRAFTERS = (
    "american_notes",
    "bank_paper",
    "bilingual",
    "britain_and_ireland",
    "canada_and_caribbean",
    "community",
    "companies",
    "continental_europe",
    "forms_and_cards",
    "hidden_roles",
    "oceania",
    "south_asia",
    "southeast_asia",
)
LEARNED_FROM = [
    *[f"{MARKED}/{name}/*.txt" for name in DRAFTERS],
    f"{AGREEMENTS}/*/*.txt",
    f"{OTHERS}/*.jsonl",
    f"{POLICIES}/*.txt",
]
PARTS = 2  # of each text, beside the whole
WEIGHT = 0.03  # of a stretch of a loan document: most of its paragraphs could stand in other contracts too
_PARAGRAPH = re.compile(r"(?:(?!\n\s*\n).)+", re.S)


def parts(text: str, order: random.Random) -> Iterator[str]:
    """The text, and some stretches of its paragraphs."""
    yield text
    paragraphs = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    for _ in range(PARTS):
        count = order.randint(1, max(1, len(paragraphs) // 2))
        first = order.randrange(max(1, len(paragraphs) - count + 1))
        yield "\n\n".join(paragraphs[first : first + count])


def around_the_sum(agreement: MarkedAgreement, order: random.Random) -> Iterator[str]:
    """A stretch of paragraphs that holds a sum lent, if one is marked."""
    sums = [mark.start for mark in agreement.marks if mark.label == "principal"]
    if sums:
        paragraphs = [match.span() for match in _PARAGRAPH.finditer(agreement.text)]
        place = order.choice(sums)
        holds = next(number for number, (start, end) in enumerate(paragraphs) if start <= place < end)
        count = order.randint(1, max(1, len(paragraphs) // 2))
        first = max(0, holds - order.randrange(count))
        yield "\n\n".join(agreement.text[start:end] for start, end in paragraphs[first : first + count])


def agreements() -> list[MarkedAgreement]:
    """The marked agreements that the gate learns from."""
    return [each for each in marked_agreements(MARKED) if each.name.split("/")[0] in DRAFTERS]


def read_texts() -> tuple[dict[str, str], dict[str, str]]:
    """Loan documents and others, by name."""
    loans = {agreement.name: agreement.text for agreement in agreements()}
    loans |= {str(path): path.read_text(encoding="utf-8") for path in sorted(AGREEMENTS.glob("*/*.txt"))}
    others = {str(path): path.read_text(encoding="utf-8") for path in sorted(POLICIES.glob("*.txt"))}
    for path in sorted(OTHERS.glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        others |= {f"{path.stem}/{number}": json.loads(line)["text"] for number, line in enumerate(lines)}
    return loans, others


def learned(loans: Mapping[str, str], others: Mapping[str, str]) -> LogisticRegression:
    """What tells the first from the second, each side with the same weight in all."""
    order = random.Random(0)
    stretches = [text for agreement in agreements() for text in around_the_sum(agreement, order)]
    negatives = [part for text in others.values() for part in parts(text, order)]
    texts = [*loans.values(), *stretches, *negatives]
    likewise = len(loans) + WEIGHT * len(stretches)
    weights = [1.0] * len(loans) + [WEIGHT] * len(stretches) + [likewise / len(negatives)] * len(negatives)
    labels = [True] * (len(loans) + len(stretches)) + [False] * len(negatives)
    model = LogisticRegression(C=100, max_iter=2000)
    return model.fit(hashed_rows(texts, counted=False), labels, sample_weight=weights)


def refused_in_turn(others: Mapping[str, str], loans: Mapping[str, str]) -> int:
    """How many of the others are refused by what did not learn from them, a third at a time."""
    refused = 0
    for third in range(3):
        held_out = [name for number, name in enumerate(others) if number % 3 == third]
        model = learned(loans, {name: text for name, text in others.items() if name not in held_out})
        likely = model.predict_proba(hashed_rows([others[name] for name in held_out], counted=False))[:, 1]
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
    taken = int((model.predict_proba(hashed_rows(aside, counted=False))[:, 1] >= LOAN).sum())
    print(f"of {len(aside)} loan documents by drafters set aside {taken} are taken for such")
    print(
        f"of {len(others)} others {refused_in_turn(others, loans)} are refused, each by weights that it did not teach"
    )


if __name__ == "__main__":
    main()
