"""Boosted trees as plain arrays: learned by scikit-learn, kept and read without it."""

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
        return numpy.asarray(1 / (1 + numpy.exp(-logits)), dtype=numpy.float32)


def fit_trees(rows: Numbers, truth: NDArray[numpy.bool_], count: int, depth: int = 4, least: int = 20) -> Trees:
    """Gradient boosting (Friedman 2001, 2002) on half of the rows and a third of the columns at a time.

    With one class in `truth` the trees are none, and the probability is that class's smoothed share.
    """
    share = (truth.sum() + 0.5) / (len(truth) + 1)
    if truth.all() or not truth.any():
        nothing, none = numpy.zeros(0, dtype=numpy.int32), numpy.zeros(0)
        return Trees(nothing, nothing, none, nothing, nothing, none, float(numpy.log(share / (1 - share))), depth)
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415 - only who learns shall wait for it

    boosted = GradientBoostingClassifier(
        n_estimators=count,
        max_depth=depth,
        min_samples_leaf=min(least, max(1, len(rows) // 40)),
        learning_rate=0.06,
        subsample=0.5,
        max_features=0.33,
        random_state=42,
    ).fit(rows, truth)
    prior = float(numpy.clip(truth.mean(), 1e-9, 1 - 1e-9))
    trees = [tree.tree_ for tree in boosted.estimators_[:, 0]]
    roots = numpy.cumsum([0, *(tree.node_count for tree in trees)])[:-1].astype(numpy.int32)

    def sons(side: str) -> NDArray[numpy.int32]:
        numbers = [numpy.where(t.children_left < 0, numpy.arange(t.node_count), getattr(t, side)) for t in trees]
        return numpy.concatenate([nodes + root for nodes, root in zip(numbers, roots, strict=True)]).astype(numpy.int32)

    return Trees(
        roots,
        numpy.concatenate([numpy.maximum(tree.feature, 0) for tree in trees]).astype(numpy.int32),
        numpy.concatenate([tree.threshold for tree in trees]),
        sons("children_left"),
        sons("children_right"),
        numpy.concatenate([tree.value[:, 0, 0] for tree in trees]) * boosted.learning_rate,
        float(numpy.log(prior / (1 - prior))),
        depth,
    )
