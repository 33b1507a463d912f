"""Boosted trees as plain arrays: learned by scikit-learn, kept and read without it."""

import numpy
from numpy.typing import NDArray

from ovrag_studies.contract_review.answering.features import Numbers
from ovrag_studies.contract_review.answering.scorers import Tables

# Nodes of all trees one after the other, `roots` where each begins; a leaf has itself for both sons. Thresholds stay as
# they are: a row that equals one goes left.
KINDS = {
    "answering.roots": numpy.int32,
    "answering.column": numpy.int16,
    "answering.threshold": numpy.float64,
    "answering.left": numpy.int32,
    "answering.right": numpy.int32,
    "answering.value": numpy.float32,
    "answering.start": numpy.float64,  # the logit before any tree, and the depth of the trees
}


def probabilities(tables: Tables, rows: Numbers) -> Numbers:
    """Probabilities of rows (n): the logit is `start` plus the sum of the leaves that a row comes to."""
    roots, column, threshold, left, right, value, (start, depth) = (tables[name] for name in KINDS)
    logits = numpy.full(len(rows), start)
    numbers = numpy.arange(len(rows))
    for root in roots:
        nodes = numpy.full(len(rows), root)
        for _ in range(int(depth)):
            goes_left = rows[numbers, column[nodes]] <= threshold[nodes]
            nodes = numpy.where(goes_left, left[nodes], right[nodes])
        logits += value[nodes].astype(numpy.float64)
    return numpy.asarray(1 / (1 + numpy.exp(-logits)), dtype=numpy.float32)


def fit_trees(rows: Numbers, truth: NDArray[numpy.bool_], count: int, depth: int = 4, least: int = 20) -> Tables:
    """Gradient boosting (Friedman 2001, 2002) on half of the rows and a third of the columns at a time.

    With one class in `truth` the trees are none, and the probability is that class's smoothed share.
    """
    share = (truth.sum() + 0.5) / (len(truth) + 1)
    if truth.all() or not truth.any():
        nothing = {name: numpy.zeros(0, dtype=kind) for name, kind in KINDS.items()}
        return nothing | {"answering.start": numpy.array([numpy.log(share / (1 - share)), depth])}
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
    roots = numpy.cumsum([0, *(tree.node_count for tree in trees)])[:-1]

    def sons(side: str) -> NDArray[numpy.integer]:
        numbers = [numpy.where(t.children_left < 0, numpy.arange(t.node_count), getattr(t, side)) for t in trees]
        return numpy.concatenate([nodes + root for nodes, root in zip(numbers, roots, strict=True)])

    tables = [
        roots,
        numpy.concatenate([numpy.maximum(tree.feature, 0) for tree in trees]),
        numpy.concatenate([tree.threshold for tree in trees]),
        sons("children_left"),
        sons("children_right"),
        numpy.concatenate([tree.value[:, 0, 0] for tree in trees]) * boosted.learning_rate,
        numpy.array([numpy.log(prior / (1 - prior)), depth]),
    ]
    return dict(zip(KINDS, tables, strict=True))
