"""Boosted trees as plain arrays: learned by scikit-learn, kept and read without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from ovrag_studies.contract_review.answering.features import Numbers


@dataclass(frozen=True, slots=True)
class Trees:
    """Nodes of all trees one after the other, `roots` where each begins; a leaf has itself for both sons.

    The logit of a row is `start` plus the sum of the leaves it comes to.
    """

    roots: NDArray[numpy.int32]
    column: NDArray[numpy.int32]
    threshold: NDArray[numpy.float64]
    left: NDArray[numpy.int32]
    right: NDArray[numpy.int32]
    value: NDArray[numpy.float64]
    start: float
    depth: int

    def __call__(self, rows: Numbers) -> Numbers:
        """Probabilities of rows (n)."""
        logits = numpy.full(len(rows), self.start)
        numbers = numpy.arange(len(rows))
        for root in self.roots:
            nodes = numpy.full(len(rows), root)
            for _ in range(self.depth):
                goes_left = rows[numbers, self.column[nodes]] <= self.threshold[nodes]
                nodes = numpy.where(goes_left, self.left[nodes], self.right[nodes])
            logits += self.value[nodes]
        probabilities: Numbers = (1 / (1 + numpy.exp(-logits))).astype(numpy.float32)
        return probabilities


def fit_trees(rows: Numbers, truth: NDArray[numpy.bool_], count: int, depth: int, least: int, seed: int = 42) -> Trees:
    """Gradient boosting (Friedman 2001, 2002) on half of the rows and a third of the columns at a time.

    With one class in `truth` the trees are none, and the probability is that class's smoothed share.
    """
    share = (truth.sum() + 0.5) / (len(truth) + 1)
    if truth.all() or not truth.any():
        nothing = numpy.zeros(0, dtype=numpy.int32)
        none = numpy.zeros(0)
        return Trees(nothing, nothing, none, nothing, nothing, none, float(numpy.log(share / (1 - share))), depth)
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415 - only who learns shall wait for it

    boosted = GradientBoostingClassifier(
        n_estimators=count,
        max_depth=depth,
        min_samples_leaf=min(least, max(1, len(rows) // 40)),
        learning_rate=0.06,
        subsample=0.5,
        max_features=0.33,
        random_state=seed,
    ).fit(rows, truth)
    prior = float(numpy.clip(truth.mean(), 1e-9, 1 - 1e-9))
    trees = [tree.tree_ for tree in boosted.estimators_[:, 0]]
    roots = numpy.cumsum([0, *(tree.node_count for tree in trees)])
    node_numbers = [numpy.arange(tree.node_count) for tree in trees]
    leaf = [tree.children_left < 0 for tree in trees]
    left = [
        numpy.where(end, nodes, tree.children_left) for tree, nodes, end in zip(trees, node_numbers, leaf, strict=True)
    ]
    right = [
        numpy.where(end, nodes, tree.children_right) for tree, nodes, end in zip(trees, node_numbers, leaf, strict=True)
    ]
    return Trees(
        roots[:-1].astype(numpy.int32),
        numpy.concatenate([numpy.maximum(tree.feature, 0) for tree in trees]).astype(numpy.int32),
        numpy.concatenate([tree.threshold for tree in trees]),
        numpy.concatenate([sons + root for sons, root in zip(left, roots, strict=False)]).astype(numpy.int32),
        numpy.concatenate([sons + root for sons, root in zip(right, roots, strict=False)]).astype(numpy.int32),
        numpy.concatenate([tree.value[:, 0, 0] for tree in trees]) * boosted.learning_rate,
        float(numpy.log(prior / (1 - prior))),
        depth,
    )
