"""Two rules that both answer a question and cannot both be kept: what a question is answered with before silence.

Whether a pair is reported is told by a logistic regression over four numbers: how surely the likelier and the less
likely of both answer the question, by the reader, how likely they cannot both be kept, and how near the farther of both
is to the question. Its weights were learned from the queries of `training/cited/calibration` by
`tools/train_policy_silence.py`, which also says how often REPORTED is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log

from ovrag_core.retrieval import Embedder
from ovrag_studies.cited.conflicts.rule_conflicts import RuleComparison
from ovrag_studies.cited.conflicts.rules import Rule
from ovrag_studies.cited.corpus.relevance import load_reader
from ovrag_studies.cited.corpus.retrieval import RankedParagraph

# Of the four numbers, and the bias.
WEIGHTS = (0.37, 0.33, 0.63, -0.65, -2.2)
REPORTED = 0.3  # from which a pair is reported; three of four rightly on the kinds that teach
LEAST_ODDS = -4.0  # of each rule that it answers; below it no pair is looked at
INNER = 1e-4  # chances nearer to 0 or 1 count as this


@dataclass(frozen=True, slots=True)
class ContestedTraits:
    """Signs that a question is answered by two rules that contradict each other: log-odds and a cosine."""

    likely: float
    less_likely: float
    conflict: float
    near: float

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """Numbers that WEIGHTS weigh."""
        return self.likely, self.less_likely, self.conflict, self.near

    def score(self, weights: Sequence[float] = WEIGHTS) -> float:
        """From 0 to 1."""
        *own, bias = weights
        return 1 / (1 + exp(-sum(weight * number for weight, number in zip(own, self.numbers, strict=True)) - bias))


Pairs = list[tuple[Rule, Rule, ContestedTraits]]


def contested_pairs(
    query: str,
    evidence: Sequence[RankedParagraph],
    rules: Mapping[str, Sequence[Rule]],
    comparison: RuleComparison,
    embedder: Embedder,
) -> Pairs:
    """The pairs of rules of different paragraphs of the evidence that may both answer the query, likeliest first.

    `rules` are those of each paragraph, by its id, all of which `comparison` has.
    """
    own = [list(rules.get(each.paragraph.id, ())) for each in evidence]
    leaning = [window for each, of in zip(evidence, own, strict=True) for window in _windows(each.paragraph.text, of)]
    given = dict(zip([rule for of in own for rule in of], load_reader().read(query, leaning), strict=True))
    kept = [rule for rule, odds in given.items() if odds >= LEAST_ODDS]
    pairs = [
        (one, other)
        for one, other in combinations(kept, 2)
        if one.source.paragraph_id != other.source.paragraph_id and one.source.text != other.source.text
    ]
    if not pairs:
        return []
    asked, *vectors = embedder.embed([query, *(rule.source.text for rule in kept)])
    near = {rule: float(asked @ vector) for rule, vector in zip(kept, vectors, strict=True)}
    found = []
    for (one, other), chance in zip(pairs, comparison.chances(pairs), strict=True):
        less, more = sorted((given[one], given[other]))
        traits = ContestedTraits(more, less, log_odds(chance), min(near[one], near[other]))
        found.append((one, other, traits))
    return sorted(found, key=lambda each: -each[2].score())


def log_odds(chance: float) -> float:
    """The log-odds of a chance, which counts as INNER where it is nearer to 0 or 1."""
    inner = min(max(chance, INNER), 1 - INNER)
    return log(inner / (1 - inner))


def _windows(text: str, rules: Sequence[Rule]) -> Iterator[str]:
    """Each rule of a paragraph behind the one before it, on which it may lean; as `windows_of` has them, where both
    read the same sentences, so that nothing is judged twice.
    """
    ends = [text.find(rule.source.text) + len(rule.source.text) for rule in rules]
    starts = [end - len(rule.source.text) for end, rule in zip(ends, rules, strict=True)]
    for row, end in enumerate(ends):
        yield text[starts[row - 1] if row > 1 else 0 : end]
