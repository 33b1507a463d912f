"""Learn which sentences cannot both be kept from pairs of rules: `python tools/train_policy_conflicts.py`.

Reads the pairs of `training/cited` (tables, and pairs of documents) and the samples; every other pair of sentences of a
document of `training/cited/questions` counts as one that can be kept, for little. Writes
`ovrag_studies/cited/weights/conflicts.json`: a logistic regression over `opposition.NAMES`. First each set is left out
in turn, and what the others teach is measured on it; with `--measure` that is all. A minute on one core; nothing is
drawn by chance.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from training_data import learned_from

from ovrag_core.retrieval import minilm
from ovrag_studies.cited.conflicts.conflict_model import WEIGHTS, ConflictModel
from ovrag_studies.cited.conflicts.deontic import NormSource, read_norms
from ovrag_studies.cited.conflicts.norm_conflicts import ConflictSettings, NormComparison, by_sentence
from ovrag_studies.cited.conflicts.opposition import NAMES, compare
from ovrag_studies.cited.corpus.policies import FileParagraph, PolicyCorpus, assemble, read_corpus
from ovrag_studies.cited.measuring import conflict_metrics

TRAINING = Path("training/cited/questions")
PAIRS = Path("training/cited/pairs")
RULES = Path("training/cited/rule_pairs.tsv")
SAMPLES = Path("data/samples/policy")
LEARNED_FROM = [
    *(f"{folder}/*.{kind}" for folder, kind in ((TRAINING, "txt"), (PAIRS, "txt"), (PAIRS, "tsv"))),
    *(str(RULES), f"{SAMPLES}/conflicts/pairs.jsonl", f"{SAMPLES}/corpus/**/*.*"),
]
STRENGTH = 0.02  # of the weights, against the penalty of their squares
OTHER = 0.1  # what a pair without a label counts, beside one of a table; half of it in a table
OF_DOCUMENT = 2.0  # and one of a document
LEAST_WIDTH = 0.1


@dataclass(frozen=True)
class Judged:
    """Two quotations, and whether they conflict."""

    first: str
    second: str
    conflict: bool


@dataclass(frozen=True)
class Set:
    """The numbers of pairs of sentences, which conflict, which have a label, and what each counts."""

    name: str
    features: NDArray[numpy.float64]
    conflict: NDArray[numpy.bool_]
    judged: NDArray[numpy.bool_]
    weight: NDArray[numpy.float64]


def read_table(path: Path) -> list[Judged]:
    """The pairs of a table with the columns label, first and second."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Judged(row["first"], row["second"], row["label"] == "conflict") for row in rows]


def corpus_of(texts: dict[str, Sequence[str]]) -> PolicyCorpus:
    """A corpus of documents by name."""
    read = [
        FileParagraph(name, f"{name}.txt", 1, row, text)
        for name, rows in texts.items()
        for row, text in enumerate(rows)
    ]
    return assemble(read, dict.fromkeys(texts, "0" * 64))


def paragraphs_of(path: Path) -> list[str]:
    """The paragraphs of a document; see the README of the folder."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line[2:].strip() for line in lines if line[:1] in ("#", "=")]


def sets() -> Iterator[Set]:
    """All that is learned from."""
    for path in (RULES, *sorted(PAIRS.glob("table_*.tsv"))):
        pairs = read_table(path)
        texts = {f"{side}{row}": [text] for row, each in enumerate(pairs)
                 for side, text in (("first", each.first), ("second", each.second))}  # fmt: skip
        yield set_of(path.stem, corpus_of(texts), pairs, 1.0)
    for path in sorted((*TRAINING.glob("*.txt"), *PAIRS.glob("*.txt"))):
        table = PAIRS / f"{path.stem}.tsv"
        pairs = read_table(table) if table.exists() else []
        yield set_of(path.stem, corpus_of({path.stem: paragraphs_of(path)}), pairs, OF_DOCUMENT)
    known = conflict_metrics.read_pairs(SAMPLES / "conflicts/pairs.jsonl")
    judged = [Judged(each.first_quote, each.second_quote, each.label == "conflict") for each in known]
    yield set_of("samples", read_corpus(SAMPLES / "corpus"), judged, OF_DOCUMENT)


def set_of(name: str, corpus: PolicyCorpus, pairs: Sequence[Judged], weight: float) -> Set:
    """The pairs of a corpus. Of two quotations the sentences most alike are judged, the others passed over."""
    comparison = NormComparison(by_sentence(read_norms(corpus)), minilm(), ConflictSettings(), ())
    alignment = comparison.alignment
    labels: dict[frozenset[NormSource], bool] = {}
    passed: set[frozenset[NormSource]] = set()
    for pair in pairs:
        found = [
            (float(alignment.cosines[alignment.rows[one.text], alignment.rows[other.text]]), frozenset({one, other}))
            for one in held(comparison.sources, pair.first)
            for other in held(comparison.sources, pair.second)
            if one != other
        ]
        if found:
            labels[max(found, key=lambda each: each[0])[1]] = pair.conflict
            passed |= {both for _, both in found}
        else:
            print(f"{name}: no sentence for {pair.first!r} and {pair.second!r}")
    looked = dict.fromkeys([*labels, *(frozenset(both) for both in comparison.pairs())])
    chosen = [both for both in looked if both in labels or both not in passed]
    ordered = [sorted(both, key=lambda each: (each.doc_id, each.start)) for both in chosen]
    rows = [compare(comparison.told[one], comparison.told[other], alignment) for one, other in ordered]
    judged = numpy.array([both in labels for both in chosen])
    other_weight = OTHER if weight == OF_DOCUMENT else OTHER / 2
    return Set(
        name,
        numpy.array(rows),
        numpy.array([labels.get(both, False) for both in chosen]),
        judged,
        numpy.where(judged, weight, other_weight),
    )


def held(sources: Iterable[NormSource], quote: str) -> list[NormSource]:
    """The sentences that hold a quotation, or that it holds."""
    plain = " ".join(quote.split())
    texts = ((source, " ".join(source.text.split())) for source in sources)
    return [source for source, text in texts if text in plain or plain in text]


def learn(given: Sequence[Set]) -> ConflictModel:
    """The weights that the sets teach."""
    features = numpy.vstack([each.features for each in given])
    weight = numpy.concatenate([each.weight for each in given])
    middles = numpy.average(features, axis=0, weights=weight)
    widths = numpy.maximum(numpy.sqrt(numpy.average((features - middles) ** 2, axis=0, weights=weight)), LEAST_WIDTH)
    regression = LogisticRegression(C=STRENGTH, max_iter=5000)
    scaled = numpy.clip((features - middles) / widths, -4, 4)
    regression.fit(scaled, numpy.concatenate([each.conflict for each in given]), sample_weight=weight)
    return ConflictModel(middles, widths, regression.coef_[0], float(regression.intercept_[0]))


def measure(given: Set, model: ConflictModel, chance: float) -> str:
    """What a model finds of a set, as a row of a table."""
    chances = numpy.array([model.chance(row) for row in given.features])
    flagged = chances >= chance
    conflicts, alike = given.judged & given.conflict, given.judged & ~given.conflict
    area = "–"
    if conflicts.any() and alike.any():
        area = f"{roc_auc_score(given.conflict[given.judged], chances[given.judged]):.3f}"
    shares = [f"{(flagged & each).sum()} of {each.sum()}" for each in (conflicts, alike, ~given.judged)]
    return f"| {given.name} | {area} | {' | '.join(shares)} |"


def main() -> None:
    """Measure, learn and write, or only measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    given = list(sets())
    chance = ConflictSettings().chance
    print("| set left out | AUROC | conflicts found | lookalikes flagged | others flagged |\n|---|---|---|---|---|")
    for left in given:
        if left.judged.any():
            print(measure(left, learn([each for each in given if each is not left]), chance), flush=True)
    if asked.measure:
        return
    model = learn(given)
    columns = zip(NAMES, model.middles, model.widths, model.weights, strict=True)
    rows = {name: [round(float(value), 5) for value in values] for name, *values in columns}
    text = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    learned = json.dumps(learned_from(LEARNED_FROM))
    whole = f'{{"bias": {model.bias:.5f}, "features": {{\n{text}\n}},\n"learned_from": {learned}}}\n'
    WEIGHTS.write_text(whole, encoding="utf-8")
    print(f"{WEIGHTS}: from {sum(int(each.judged.sum()) for each in given)} judged pairs")


if __name__ == "__main__":
    main()
