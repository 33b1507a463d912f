"""Learn the weights of the policy critic from written examples, and say how it does on examples left out.

Reads `critic_training.yaml` and `snippets.yaml` of the samples, and the paragraphs of the sample corpus as examples of
prose that rules; writes `ovrag_studies/cited/weights/critic.safetensors`. A part of a marked example is learned
from as well as the whole. Figures are by cross-validation in eight parts, an example and its sentences in one of them.

Run from the project's folder: `python tools/train_policy_critic.py`.
"""

from __future__ import annotations

import json
import runpy
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import yaml
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from training_data import notes

from ovrag_core.retrieval import minilm
from ovrag_studies.cited.critic.critic_learned import (
    THRESHOLD,
    WEIGHTS,
    WINDOW_LABELS,
    clauses_of,
    pair_features,
    window_features,
)
from ovrag_studies.cited.critic.critic_rules import sentences_of, traits
from ovrag_studies.cited.critic.criticism import LABELS, by_rules

SOURCE = Path("data/samples/policy/source")
PARAGRAPHS = Path("data/samples/policy/corpus/processed/paragraphs.jsonl")
EXAMPLES = ("critic_training.yaml", "snippets.yaml")
LEARNED_FROM = [*(f"{SOURCE}/{name}" for name in EXAMPLES), str(PARAGRAPHS)]
PARTS, SEED = 8, 0
WINDOW_STRENGTH, PAIR_STRENGTH = 10.0, 1.0  # inverse of the penalty


class Example(NamedTuple):
    """A text, its labels, and the spans that earn them."""

    text: str
    labels: frozenset[str]
    spans: tuple[tuple[str, int, int], ...]


class Rows(NamedTuple):
    """Features and labels of what is learned from, and the example that each row is of."""

    features: numpy.ndarray
    labels: numpy.ndarray
    example: numpy.ndarray


def read_examples() -> tuple[list[Example], int]:
    """The examples; from that number on they are paragraphs of the sample corpus."""
    unmark = runpy.run_path("tools/policy_samples.py")["unmark"]
    examples = []
    for name in EXAMPLES:
        for label, texts in yaml.safe_load((SOURCE / name).read_text(encoding="utf-8")).items():
            for marked in texts:
                text, spans = unmark(marked)
                found = tuple((span["label"], span["start"], span["end"]) for span in spans)
                if not found and label in LABELS:
                    found = ((label, 0, len(text)),)
                examples.append(Example(text, frozenset(each for each, _, _ in found), found))
    first = len(examples)
    for line in PARAGRAPHS.read_text(encoding="utf-8").splitlines():
        examples.append(Example(json.loads(line)["text"], frozenset(), ()))
    return examples, first


def windows(examples: list[Example]) -> Rows:
    """Each example, and each of its sentences where it has several."""
    texts, labels, owner = [], [], []
    for number, example in enumerate(examples):
        texts.append(example.text)
        labels.append(example.labels)
        owner.append(number)
        sentences = list(sentences_of(example.text))
        for sentence in sentences if len(sentences) > 1 else []:
            texts.append(example.text[sentence.start : sentence.end])
            earned = {name for name, start, end in example.spans if start < sentence.end and sentence.start < end}
            labels.append(frozenset(earned))
            owner.append(number)
    wanted = numpy.array([[label in earned for label in WINDOW_LABELS] for earned in labels])
    return Rows(window_features(texts, minilm()), wanted, numpy.array(owner))


def pairs(examples: list[Example]) -> Rows:
    """Two clauses of an example; of one that contradicts itself, the two that are likeliest to."""
    features, labels, owner = [], [], []
    for number, example in enumerate(examples):
        clauses = clauses_of(list(sentences_of(example.text)))
        if len(clauses) < 2:
            continue
        vectors = minilm().embed([clause.place.text for clause in clauses])
        found = [
            pair_features(clauses[one], clauses[other], float(vectors[one] @ vectors[other]))
            for one, other in combinations(range(len(clauses)), 2)
        ]
        contrary = "L4" in example.labels
        if contrary:
            # Cosine, share of words, and whether one denies or opposes the other: the first four of the features.
            found = [max(found, key=lambda each: each[0] + each[1] + each[3] + each[4])]
        features += found
        labels += [contrary] * len(found)
        owner += [number] * len(found)
    return Rows(numpy.array(features, dtype=float), numpy.array(labels)[:, None], numpy.array(owner))


def fit(rows: Rows, kept: numpy.ndarray, strength: float) -> list[Any]:
    """A regression for each label."""
    return [
        LogisticRegression(C=strength, class_weight="balanced", max_iter=3000).fit(rows.features[kept], column[kept])
        for column in rows.labels.T
    ]


def left_out(rows: Rows, strength: float, examples: int) -> numpy.ndarray:
    """For each example and label the highest probability of its rows, by models that did not see it."""
    part = numpy.random.default_rng(SEED).permutation(examples) % PARTS
    best = numpy.zeros((examples, rows.labels.shape[1]))
    for number in range(PARTS):
        out = part[rows.example] == number
        models = fit(rows, ~out, strength)
        for row in numpy.flatnonzero(out):
            shares = [model.predict_proba(rows.features[row : row + 1])[0, 1] for model in models]
            best[rows.example[row]] = numpy.maximum(best[rows.example[row]], shares)
    return best


def report(examples: list[Example], corpus: int, window: Rows, pair: Rows) -> None:
    """Print F1 by label, and how many neutral examples and paragraphs are flagged."""
    whole = numpy.r_[True, window.example[1:] != window.example[:-1]]
    alone = Rows(window.features[whole], window.labels[whole], window.example[whole])
    part = numpy.random.default_rng(SEED).permutation(len(examples)) % PARTS
    shares = numpy.zeros((len(examples), len(WINDOW_LABELS)))
    for number in range(PARTS):
        models = fit(window, part[window.example] != number, WINDOW_STRENGTH)
        out = part[alone.example] == number
        shares[out] = numpy.stack([model.predict_proba(alone.features[out])[:, 1] for model in models], axis=1)
    contrary = left_out(pair, PAIR_STRENGTH, len(examples))[:, 0]
    found = [
        {label for label, share in zip(WINDOW_LABELS, row, strict=True) if share > THRESHOLD}
        | ({"L4"} if contrary[number] > THRESHOLD else set())
        for number, row in enumerate(shares)
    ]
    for name, given in (
        ("learned", found),
        ("rules and learned", [each | {f.label for f in by_rules(examples[i].text)} for i, each in enumerate(found)]),
    ):
        scores = []
        for label in LABELS:
            right = sum(label in each.labels and label in said for each, said in zip(examples, given, strict=True))
            both = sum((label in each.labels) + (label in said) for each, said in zip(examples, given, strict=True))
            scores.append(2 * right / both)
        neutral = [bool(said) for each, said in zip(examples[:corpus], given, strict=False) if not each.labels]
        print(
            f"{name}: macro F1 {sum(scores) / len(scores):.3f} ({' '.join(f'{score:.2f}' for score in scores)}); "
            f"neutral flagged {sum(neutral)}/{len(neutral)}; paragraphs flagged {sum(map(bool, given[corpus:]))}/"
            f"{len(examples) - corpus}"
        )


def main() -> None:
    """Learn, report and write the weights."""
    examples, corpus = read_examples()
    window, pair = windows(examples), pairs(examples)
    report(examples, corpus, window, pair)
    models = fit(window, numpy.ones(len(window.example), dtype=bool), WINDOW_STRENGTH)
    [contrary] = fit(pair, numpy.ones(len(pair.example), dtype=bool), PAIR_STRENGTH)
    tensors = {
        "window": numpy.stack([model.coef_[0] for model in models]),
        "window_bias": numpy.array([model.intercept_[0] for model in models]),
        "pair": contrary.coef_[0],
        "pair_bias": contrary.intercept_,
    }
    WEIGHTS.parent.mkdir(exist_ok=True)
    said = notes(LEARNED_FROM, embedder=minilm().name, traits=list(traits()))
    save_file({name: tensor.astype(numpy.float32) for name, tensor in tensors.items()}, WEIGHTS, metadata=said)
    WEIGHTS.chmod(0o644)


if __name__ == "__main__":
    main()
