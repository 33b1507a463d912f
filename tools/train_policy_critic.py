"""Learn the weights of the policy critic from written examples.

Reads `critic_training.yaml` and `snippets.yaml` of the samples, and the paragraphs of the sample corpus as examples of
prose that rules; writes `ovrag_studies/cited/weights/critic.safetensors`. A part of a marked example is learned
from as well as the whole.

Run from the project's folder: `python tools/train_policy_critic.py`.
"""

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
from ovrag_studies.cited.critic.critic_rules import LABELS, clauses_of, rules, sentences_of
from ovrag_studies.cited.critic.criticism import WEIGHTS, WINDOW_LABELS, pair_features, window_features

SOURCE = Path("data/samples/policy/source")
PARAGRAPHS = Path("data/samples/policy/corpus/processed/paragraphs.jsonl")
EXAMPLES = ("critic_training.yaml", "snippets.yaml")
LEARNED_FROM = [*(f"{SOURCE}/{name}" for name in EXAMPLES), str(PARAGRAPHS)]
WINDOW_STRENGTH, PAIR_STRENGTH = 10.0, 1.0  # inverse of the penalty


class Example(NamedTuple):
    """A text, its labels, and the spans that earn them."""

    text: str
    labels: frozenset[str]
    spans: tuple[tuple[str, int, int], ...]


class Rows(NamedTuple):
    """Features and labels of what is learned from, a row each."""

    features: numpy.ndarray
    labels: numpy.ndarray


def read_examples() -> list[Example]:
    """The examples, then the paragraphs of the sample corpus."""
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
    for line in PARAGRAPHS.read_text(encoding="utf-8").splitlines():
        examples.append(Example(json.loads(line)["text"], frozenset(), ()))
    return examples


def windows(examples: list[Example]) -> Rows:
    """Each example, and each of its sentences where it has several."""
    texts, labels = [], []
    for example in examples:
        texts.append(example.text)
        labels.append(example.labels)
        sentences = list(sentences_of(example.text))
        for sentence in sentences if len(sentences) > 1 else []:
            texts.append(example.text[sentence.start : sentence.end])
            earned = {name for name, start, end in example.spans if start < sentence.end and sentence.start < end}
            labels.append(frozenset(earned))
    wanted = numpy.array([[label in earned for label in WINDOW_LABELS] for earned in labels])
    return Rows(window_features(texts, minilm()), wanted)


def pairs(examples: list[Example]) -> Rows:
    """Two clauses of an example; of one that contradicts itself, the two that are likeliest to."""
    features, labels = [], []
    for example in examples:
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
    return Rows(numpy.array(features, dtype=float), numpy.array(labels)[:, None])


def fit(rows: Rows, strength: float) -> list[Any]:
    """A regression for each label."""
    return [
        LogisticRegression(C=strength, class_weight="balanced", max_iter=3000).fit(rows.features, column)
        for column in rows.labels.T
    ]


def main() -> None:
    """Learn and write the weights."""
    examples = read_examples()
    models = fit(windows(examples), WINDOW_STRENGTH)
    [contrary] = fit(pairs(examples), PAIR_STRENGTH)
    tensors = {
        "window": numpy.stack([model.coef_[0] for model in models]),
        "window_bias": numpy.array([model.intercept_[0] for model in models]),
        "pair": contrary.coef_[0],
        "pair_bias": contrary.intercept_,
    }
    WEIGHTS.parent.mkdir(exist_ok=True)
    said = notes(LEARNED_FROM, embedder=minilm().name, traits=list(rules().traits))
    save_file({name: tensor.astype(numpy.float32) for name, tensor in tensors.items()}, WEIGHTS, metadata=said)
    WEIGHTS.chmod(0o644)


if __name__ == "__main__":
    main()
