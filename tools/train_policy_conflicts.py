"""Learn which sentences cannot both be kept from pairs of rules: `python tools/train_policy_conflicts.py`.

Reads the pairs and triplets of `training/cited`, and the documents of TAUGHT kinds; neighbouring sentences of a
document without a label count as ones that can be kept, for little. Writes
`ovrag_studies/cited/weights/conflicts.safetensors`: a logistic regression over the features of `conflict_model`. First
parts are left out in turn, and what the others teach is measured on them, the documents of other kinds last; with
`--measure` that is all. Ten minutes on one core; nothing is drawn by chance.
"""

import argparse
import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import scipy.sparse
from labelled_documents import corpus_of, read_labelled
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from tqdm import tqdm
from training_data import notes

from ovrag_core.retrieval import minilm
from ovrag_studies.cited.conflicts.alignment import Alignment
from ovrag_studies.cited.conflicts.conflict_model import (
    SIZE,
    WEIGHTS,
    ConflictModel,
    compare,
    features_of,
    hashed,
    scaled,
    texts_of,
)
from ovrag_studies.cited.conflicts.rule_conflicts import RuleComparison, least_chance
from ovrag_studies.cited.conflicts.rules import read_rules
from ovrag_studies.cited.corpus.policies import PolicyCorpus, read_corpus
from ovrag_studies.cited.corpus.retrieval import Nearness
from ovrag_studies.cited.measuring import conflict_metrics

QUESTIONS = Path("training/cited/questions")
PAIRS = Path("training/cited/pairs")
TRIPLETS = Path("training/cited/triplets")
DOCUMENTS = Path("training/cited/calibration")
HOUSES = Path("training/cited/houses")
RULES = Path("training/cited/rule_pairs.tsv")
SAMPLES = Path("data/samples/policy")
TAUGHT = ("firm", "university", "hospital")
LEARNED_FROM = [
    f"{SAMPLES}/conflicts/pairs.jsonl", f"{SAMPLES}/corpus/**/*.*", f"{QUESTIONS}/*.txt", f"{PAIRS}/*.txt",
    f"{PAIRS}/*.tsv", f"{TRIPLETS}/*.tsv", str(RULES), *(f"{DOCUMENTS}/{kind}_*.yaml" for kind in TAUGHT),
    f"{HOUSES}/*.yaml",
]  # fmt: skip
STRENGTH = 3.0  # of the weights, against the penalty of their squares
OTHER = 0.3  # what a pair of neighbours without a label counts, beside one of a table
OF_DOCUMENT = 6.0  # and one of a document
LEAST_WIDTH = 0.1
LEFT_OUT = 4  # parts of the houses
RULES_OF_DOCUMENT = 150  # whose threshold the tables are measured at


@dataclass(frozen=True)
class Pair:
    """Two sentences, whether they conflict, and what the pair counts; `labelled` where somebody said so."""

    first: str
    second: str
    conflict: bool
    weight: float = 1.0
    labelled: bool = True


def read_table(path: Path) -> list[Pair]:
    """The pairs of a table with the columns label, first and second."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Pair(row["first"], row["second"], row["label"] == "conflict") for row in rows]


def read_triplets(path: Path) -> list[Pair]:
    """Of each rule the pair with the one that conflicts and the pair with the one that can be kept beside it."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        _, base, conflict, compatible = line.split("\t")
        found += [Pair(base, conflict, conflict=True), Pair(base, compatible, conflict=False)]
    return found


def paragraphs_of(path: Path) -> list[str]:
    """The paragraphs of a document; see the README of the folder."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line[2:].strip() for line in lines if line[:1] in ("#", "=")]


def plain(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


@dataclass
class Part:
    """Pairs with the numbers that tell how they compare, one row each."""

    pairs: list[Pair]
    numbers: NDArray[numpy.float64]
    hashed: scipy.sparse.csr_matrix


def part_of(pairs: list[Pair], alignment: Alignment) -> Part:
    """The pairs of sentences that an alignment has."""
    nearness = Nearness(minilm())
    nearness.embed(text for pair in pairs for text in texts_of(pair.first, pair.second))
    numbers = numpy.array([compare(pair.first, pair.second, alignment) for pair in pairs])
    rows = [hashed(features_of(pair.first, pair.second, nearness)) for pair in pairs]
    ends = numpy.cumsum([0, *(len(columns) for columns, _ in rows)])
    values, columns = (numpy.concatenate([row[place] for row in rows]) for place in (1, 0))
    found = scipy.sparse.csr_matrix((values, columns, ends), shape=(len(pairs), SIZE))
    found.sum_duplicates()
    return Part(pairs, numbers, found)


def of_table(pairs: list[Pair]) -> Part:
    """The pairs of a table, of which each sentence stands alone."""
    texts = dict.fromkeys((text for each in pairs for text in (each.first, each.second)), "")
    return part_of(pairs, Alignment(texts, minilm()))


def of_corpus(name: str, corpus: PolicyCorpus, known: Iterable[Pair]) -> Part:
    """The pairs of a corpus, and its neighbours. Of two quotations the sentences most alike are judged."""
    comparison = RuleComparison(read_rules(corpus), minilm())
    alignment = comparison.alignment
    labels: dict[frozenset[str], bool] = {}
    passed: set[frozenset[str]] = set()
    for pair in known:
        sides = [
            [text for text in alignment.rows if plain(text) in plain(quote) or plain(quote) in plain(text)]
            for quote in (pair.first, pair.second)
        ]
        found = {
            frozenset({one, other}): float(alignment.cosines[alignment.rows[one], alignment.rows[other]])
            for one in sides[0]
            for other in sides[1]
            if one != other
        }
        if found:
            labels[max(found, key=found.__getitem__)] = pair.conflict
            passed |= found.keys()
        else:
            print(f"{name}: no sentence for {pair.first!r} and {pair.second!r}")
    pairs = [Pair(*sorted(both), conflict, OF_DOCUMENT) for both, conflict in labels.items()]
    near = dict.fromkeys(frozenset({one.source.text, other.source.text}) for one, other in comparison.near())
    pairs += [Pair(*sorted(both), conflict=False, weight=OTHER, labelled=False) for both in near if both not in passed]
    return part_of(pairs, alignment)


def parts() -> Iterator[tuple[str, Part]]:
    """All that is learned from or measured on, by name."""
    for path in (RULES, *sorted(PAIRS.glob("table_*.tsv"))):
        yield path.stem, of_table(read_table(path))
    for path in sorted(TRIPLETS.glob("*.tsv")):
        yield path.stem, of_table(read_triplets(path))
    for path in sorted((*QUESTIONS.glob("*.txt"), *PAIRS.glob("*.txt"))):
        table = PAIRS / f"{path.stem}.tsv"
        if table.exists():  # of the others nobody has said which sentences conflict
            yield path.stem, of_corpus(path.stem, corpus_of(path.stem, paragraphs_of(path)), read_table(table))
    known = [
        Pair(each.first_quote, each.second_quote, each.label == "conflict")
        for each in conflict_metrics.read_pairs(SAMPLES / "conflicts/pairs.jsonl")
    ]
    yield "samples", of_corpus("samples", read_corpus(SAMPLES / "corpus"), known)
    houses = {
        path: f"{path.stem} houses_{row % LEFT_OUT + 1}" for row, path in enumerate(sorted(HOUSES.glob("*.yaml")))
    }
    for path, name in (houses | {path: path.stem for path in sorted(DOCUMENTS.glob("*.yaml"))}).items():
        document = read_labelled(path)
        pairs = [Pair(each.first, each.second, each.label == "conflict") for each in document.pairs]
        yield name, of_corpus(path.stem, document.corpus(path.stem), pairs)


def learn(given: Sequence[Part]) -> ConflictModel:
    """The weights that parts teach."""
    numbers = numpy.vstack([each.numbers for each in given])
    middles, widths = numbers.mean(0), numpy.maximum(numbers.std(0), LEAST_WIDTH)
    dense = scipy.sparse.csr_matrix(scaled(numbers, middles, widths))
    rows = scipy.sparse.hstack([scipy.sparse.vstack([each.hashed for each in given]), dense]).tocsr()
    pairs = [pair for each in given for pair in each.pairs]
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    model.fit(rows, [pair.conflict for pair in pairs], [pair.weight for pair in pairs])
    weights = model.coef_[0].astype(numpy.float32)
    table = numpy.array([middles, widths, weights[SIZE:]], dtype=numpy.float32)
    return ConflictModel(weights[:SIZE], table, float(model.intercept_[0]))


def judge(part: Part, model: ConflictModel) -> NDArray[numpy.float64]:
    """The chances of a part's pairs."""
    middles, widths, weights = model.numbers
    scores = part.hashed @ model.hashed + scaled(part.numbers, middles, widths) @ weights + model.bias
    return numpy.asarray(1 / (1 + numpy.exp(-scores)))


def kind_of(name: str) -> str:
    """What is left out together: some of the houses, the documents of a kind; everything else by file."""
    return name.split()[1] if " " in name else name.rpartition("_")[0] if name.rpartition("_")[2].isdigit() else name


def measure(given: dict[str, Part]) -> None:
    """Print what the others teach of each part that is left out; kinds that teach nothing are judged by all."""
    chance = least_chance(RULES_OF_DOCUMENT)
    print("| left out | AUROC | conflicts found | lookalikes flagged | others flagged |\n|---|---|---|---|---|")
    for kind in dict.fromkeys(map(kind_of, given)):
        own = [name for name in given if kind_of(name) == kind]
        model = learn([part for name, part in given.items() if name not in own and teaches(name)])
        chances = numpy.concatenate([judge(given[name], model) for name in own])
        pairs = [pair for name in own for pair in given[name].pairs]
        conflict, labelled = numpy.array([(pair.conflict, pair.labelled) for pair in pairs]).T
        area = roc_auc_score(conflict[labelled], chances[labelled])
        chosen = (conflict, labelled & ~conflict, ~labelled)
        shares = [f"{((chances >= chance) & each).sum()} of {each.sum()}" for each in chosen]
        print(f"| {kind} | {area:.3f} | {' | '.join(shares)} |", flush=True)


def teaches(name: str) -> bool:
    """Whether the weights are learned from a part."""
    return " " in name or kind_of(name) == name or kind_of(name) in TAUGHT


def main() -> None:
    """Measure, learn and write, or only measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    given = dict(tqdm(parts(), desc="parts"))
    measure(given)
    if asked.measure:
        return
    taught = [part for name, part in given.items() if teaches(name)]
    model = learn(taught)
    tensors = {
        "hashed": model.hashed.astype(numpy.float16),
        "numbers": model.numbers,
        "bias": numpy.array([model.bias], dtype=numpy.float32),
    }
    save_file(tensors, WEIGHTS, metadata=notes(LEARNED_FROM))
    WEIGHTS.chmod(0o644)
    print(f"{WEIGHTS}: from {sum(pair.labelled for part in taught for pair in part.pairs)} labelled pairs")


if __name__ == "__main__":
    main()
