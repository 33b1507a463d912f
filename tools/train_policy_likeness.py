"""Learn what documents silence is for: `python tools/train_policy_likeness.py`.

Reads `training/cited/calibration` and `training/cited/houses`, and texts of other kinds from `training/loans` and the
samples. Writes `ovrag_studies/cited/weights/likeness.safetensors`: what `ovrag_studies/cited/answering/likeness.py`
compares with. First it is measured which documents are called unlike, each kind by what the others teach, and those of
other publishers where OVRAG_EXTERNAL_DATA names them; with `--measure` that is all. Three minutes on one core.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm
from training_data import notes

from ovrag_core.base import external_data
from ovrag_core.documents import load
from ovrag_core.retrieval import Vectors, minilm
from ovrag_studies.cited.answering.likeness import SIZES, UNLIKE, WEIGHTS, Likeness
from ovrag_studies.cited.measuring.labelled_documents import LabelledDocument, read_labelled

KNOWN = (Path("training/cited/calibration"), Path("training/cited/houses"))
OTHERS = Path("training/cited/questions")
AGREEMENTS, OTHER_TEXTS = Path("training/loans/agreements"), Path("training/loans/others")
STORIES = Path("data/samples/causal/cladder.jsonl")
LEARNED_FROM = [
    *(f"{folder}/*.yaml" for folder in KNOWN), f"{AGREEMENTS}/*/*.txt", f"{OTHER_TEXTS}/*.jsonl", str(STORIES)
]  # fmt: skip
EXTERNAL = {
    "prose loan agreements": "loan_prose/documents/*.txt", "genuine loan agreements": "loan_genuine/documents/*",
    "contracts of CUAD": "contract_review/cuad/texts/*",
}  # fmt: skip
LEAST_WORDS, LEAST = 5, 3  # of a paragraph; paragraphs of a document
SEED, MIXED, FOLDS, FEW = 0, 20, 6, 6
MOST = 60  # paragraphs of a document of another publisher that are looked at
OF_DOCUMENT = 10.0  # what a document counts, against the penalty of squared weights


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a text that are more than a heading."""
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    return [block for block in blocks if len(block.split()) >= LEAST_WORDS]


def marked_lines(path: Path, marks: str) -> list[str]:
    """The lines of a file of questions that begin with one of these marks."""
    return [line[2:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line[:1] in marks]


def lines_of(path: Path) -> Iterator[dict[str, str]]:
    """The objects of JSON Lines."""
    return map(json.loads, path.read_text(encoding="utf-8").split("\n")[:-1])


def foreign_documents() -> dict[str, list[list[str]]]:
    """Documents that silence is not for, by kind."""
    stories: dict[str, list[str]] = {}
    for line in lines_of(STORIES):
        stories.setdefault(line["story"], []).append(f"{line['given_info']} {line['question']}")
    loans = [path.read_text(encoding="utf-8") for path in sorted(AGREEMENTS.rglob("*.txt"))]
    texts = [line["text"] for path in sorted(OTHER_TEXTS.glob("*.jsonl")) for line in lines_of(path)]
    found = {
        "loan agreements": list(map(paragraphs_of, loans)),
        "other agreements and texts about money": list(map(paragraphs_of, texts)),
        "causal stories": list(stories.values()),
    }
    return {kind: [each for each in listed if len(each) >= LEAST] for kind, listed in found.items()}


def mixed(read: Sequence[LabelledDocument]) -> dict[str, list[list[str]]]:
    """Own documents that were spoilt."""
    order = random.Random(SEED)
    pool = [text for each in read for text in each.paragraphs]
    words = [[" ".join(order.sample(text.split(), len(text.split()))) for text in each.paragraphs] for each in read]
    return {
        "paragraphs of many documents mixed": [order.sample(pool, len(read[0].paragraphs)) for _ in range(MIXED)],
        "documents with their words shuffled": words[::3],
    }


def weights_of(own: Sequence[Vectors], foreign: Sequence[Vectors]) -> NDArray[numpy.float32]:
    """Weights that tell paragraphs of own documents from foreign ones; each document counts the same."""
    listed = [*own, *foreign]
    sure = numpy.concatenate([numpy.full(len(each), OF_DOCUMENT / len(each)) for each in listed])
    kinds = numpy.repeat([True] * len(own) + [False] * len(foreign), [len(each) for each in listed])
    model = LogisticRegression(C=1.0, max_iter=1000).fit(numpy.vstack(listed), kinds, sure)
    return numpy.asarray(model.coef_[0], dtype=numpy.float32)


def learn(own: Sequence[Vectors], foreign: Sequence[Vectors]) -> Likeness:
    """What is known of own documents; the mean of each is by what others teach."""
    known = numpy.zeros((len(SIZES), len(own)), dtype=numpy.float32)
    for fold in range(FOLDS):
        weights = weights_of([each for place, each in enumerate(own) if place % FOLDS != fold], foreign)
        for place in range(fold, len(own), FOLDS):
            known[:, place] = [float((own[place][:size] @ weights).mean()) for size in SIZES]
    return Likeness(weights_of(own, foreign), known)


def report(kind: str, likeness: Likeness, listed: Sequence[Vectors]) -> None:
    """Print how many documents are called unlike, whole and of their first paragraphs alone."""
    counts = [
        sum(likeness.p_value(each[:size]) <= UNLIKE for each in listed) for size in (len(max(listed, key=len)), FEW)
    ]
    print(f"| {kind} | {len(listed)} | {counts[0]} | {counts[1]} |", flush=True)


def external_documents() -> dict[str, list[list[str]]]:
    """Documents of other publishers, by kind, as far as they are here."""
    found: dict[str, list[list[str]]] = {}
    for kind, pattern in EXTERNAL.items():
        for path in sorted(external_data().glob(pattern)):
            text = paragraphs_of(load(path, path.name).text)
            found.setdefault(kind, []).append(text[:MOST])
    return {kind: [each for each in listed if len(each) >= LEAST] for kind, listed in found.items()}


def main() -> None:
    """Learn, measure and write, or do not write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    embed = minilm().embed
    read = [read_labelled(path) for folder in KNOWN for path in sorted(folder.glob("*.yaml"))]
    own = [embed(list(each.paragraphs)) for each in tqdm(read, desc="own documents")]
    kinds = {kind: [embed(texts) for texts in tqdm(listed, desc=kind)] for kind, listed in foreign_documents().items()}
    print(f"| documents | n | called unlike | by {FEW} paragraphs |\n|---|---|---|---|")
    likeness = learn(own, [each for listed in kinds.values() for each in listed])
    others = [embed(marked_lines(path, "=")) for path in sorted(OTHERS.glob("*.txt"))]
    report("policies that nothing learned from", likeness, others)
    for kind, listed in kinds.items():
        told = learn(own, [each for other, given in kinds.items() if other != kind for each in given])
        report(f"{kind}, learned from the other kinds", told, listed)
    for kind, texts in (mixed(read) | external_documents()).items():
        report(kind, likeness, [embed(each) for each in texts])
    if not asked.measure:
        save_file(likeness._asdict(), WEIGHTS, metadata=notes(LEARNED_FROM))
        WEIGHTS.chmod(0o644)


if __name__ == "__main__":
    main()
