"""Train what tells which of the currencies with one sign a text means: `python tools/train_currencies.py`.

A logistic regression for each currency on the letters of names (`ovrag_core/text/currencies.py`), from the marked
agreements, whole and in parts. `--across` leaves a quarter of the drafters out at a time and prints how many sums
without a code get theirs. A minute on one core.
"""

import argparse
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch
from marked_agreements import ASIDE, FOLDER, MarkedAgreement, marked_agreements
from safetensors.torch import save_file
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier
from training_data import notes

from ovrag_core.text.currencies import BUCKETS, WEIGHTS, letters, margin
from ovrag_core.text.money import SHARED

LEARNED_FROM = ["training/loans/marked/*/*.txt"]
LEAST = 2  # agreements in a currency
PARTS = 2  # of each agreement, beside the whole
CODES = sorted({code for codes in SHARED.values() for code in codes})


def currency(agreement: MarkedAgreement) -> str:
    """The code of the sum lent; empty where none is known."""
    code = re.search(r"\b[A-Z]{3}$", agreement.facts.get("principal") or "")
    return code[0] if code else ""


def parts(text: str, order: random.Random) -> list[str]:
    """The text, and some stretches of its paragraphs."""
    paragraphs = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    firsts = [order.randrange(len(paragraphs)) for _ in range(PARTS)]
    return [text, *("\n\n".join(paragraphs[at : at + order.randint(1, 3)]) for at in firsts)]


def matrix(texts: Sequence[str]) -> csr_matrix:
    """The letters of each text, a row of unit length each (texts × BUCKETS)."""
    rows = [letters(text) for text in texts]
    values = numpy.concatenate([numpy.full(len(row), max(1, len(row)) ** -0.5) for row in rows])
    return csr_matrix((values, numpy.concatenate(rows), numpy.cumsum([0, *map(len, rows)])), shape=(len(rows), BUCKETS))


def learned(agreements: Sequence[MarkedAgreement]) -> SGDClassifier:
    """What tells the currencies of these agreements apart."""
    order = random.Random(0)
    told = [(part, currency(each)) for each in agreements for part in parts(each.text, order)]
    model = SGDClassifier("log_loss", alpha=1e-5, max_iter=15, tol=None, random_state=0)
    return model.fit(matrix([text for text, _ in told]), [code for _, code in told])


def right(model: SGDClassifier, agreements: Sequence[MarkedAgreement]) -> tuple[int, int]:
    """Of sums in a shared currency whose code their agreement does not give: those that get it, and all."""
    bare = [each for each in agreements if currency(each) in CODES and currency(each) not in each.text]
    scores = model.decision_function(matrix([each.text for each in bare]))
    found = 0
    for each, row in zip(bare, scores, strict=True):
        score = dict(zip(model.classes_, row, strict=True))
        codes = max((codes for codes in SHARED.values() if currency(each) in codes), key=len)
        best = max((code for code in codes if code in score), key=lambda code: score[code])
        found += (
            best if score[best] > score.get(codes[0], 0) + margin(len(letters(each.text))) else codes[0]
        ) == currency(each)
    return found, len(bare)


def main() -> None:
    """Train on all and write the weights, or tell how well drafters are read who are left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--across", action="store_true")
    agreements = [each for each in marked_agreements(Path(FOLDER)) if currency(each)]
    if parser.parse_args().across:
        drafters = sorted({each.name.split("/")[0] for each in agreements})
        for quarter in range(4):
            out = {name for number, name in enumerate(drafters) if number % 4 == quarter}
            held = [each for each in agreements if each.name.split("/")[0] in out]
            model = learned([each for each in agreements if each.name.split("/")[0] not in out])
            print("drafters left out: {} of {} right".format(*right(model, held)), flush=True)
        return
    model = learned(agreements)
    counts = {code: sum(currency(each) == code for each in agreements) for code in CODES}
    rows = zip(model.classes_, model.coef_, model.intercept_, strict=True)
    tensors = {
        str(code): torch.tensor(numpy.append(weight, bias)).half()
        for code, weight, bias in rows
        if counts.get(str(code), 0) >= LEAST
    }
    save_file(tensors, WEIGHTS, metadata=notes(LEARNED_FROM))
    WEIGHTS.chmod(0o644)
    print(f"{WEIGHTS.name}: {len(tensors)} currencies, from {len(agreements)} agreements; none for", end=" ")
    print(", ".join(code for code, count in counts.items() if count < LEAST))
    print("drafters set aside: {} of {} right".format(*right(model, list(marked_agreements(ASIDE)))))


if __name__ == "__main__":
    main()
