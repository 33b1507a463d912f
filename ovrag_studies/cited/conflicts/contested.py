"""Two rules that both answer a question and cannot both be kept: what a question is answered with before silence.

Whether a pair is reported is told by a logistic regression over four numbers: how surely the likelier and the less
likely of both answer the question, by the reader, how likely they cannot both be kept, and how near the farther of both
is to the question. Its weights were learned from the queries of `training/cited/calibration` by
`tools/train_policy_silence.py`, which also says how often REPORTED is right.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from math import exp
from typing import NamedTuple

from ovrag_core.retrieval import Embedder
from ovrag_studies.cited.conflicts.rule_conflicts import RuleComparison
from ovrag_studies.cited.conflicts.rules import Rule
from ovrag_studies.cited.corpus.relevance import load_reader, log_odds
from ovrag_studies.cited.corpus.retrieval import RankedParagraph

# Of the four numbers, and the bias.
WEIGHTS = (0.37, 0.33, 0.63, -0.65, -2.2)
REPORTED = 0.3  # from which a pair is reported; three of four rightly on the kinds that teach
LEAST_ODDS = -4.0  # of each rule that it answers; below it no pair is looked at


class ContestedTraits(NamedTuple):
    """Signs that a question is answered by two rules that contradict each other: log-odds and a cosine.

    These are the numbers that WEIGHTS weigh.
    """

    likely: float
    less_likely: float
    conflict: float
    near: float

    def score(self, weights: Sequence[float] = WEIGHTS) -> float:
        """From 0 to 1."""
        *coefficients, bias = weights
        return 1 / (1 + exp(-sum(weight * number for weight, number in zip(coefficients, self, strict=True)) - bias))


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
    paragraph_rules = [list(rules.get(ranked.paragraph.id, ())) for ranked in evidence]
    windows = [
        window
        for ranked, group in zip(evidence, paragraph_rules, strict=True)
        for window in _windows(ranked.paragraph.text, group)
    ]
    answer_odds = dict(zip(chain.from_iterable(paragraph_rules), load_reader().read(query, windows), strict=True))
    candidates = [rule for rule, odds in answer_odds.items() if odds >= LEAST_ODDS]
    pairs = [
        (a, b)
        for a, b in combinations(candidates, 2)
        if a.source.paragraph_id != b.source.paragraph_id and a.source.text != b.source.text
    ]
    if not pairs:
        return []
    query_vector, *vectors = embedder.embed([query, *(rule.source.text for rule in candidates)])
    near = {rule: float(query_vector @ vector) for rule, vector in zip(candidates, vectors, strict=True)}
    contested = []
    for (rule_a, rule_b), chance in zip(pairs, comparison.chances(pairs), strict=True):
        less, more = sorted((answer_odds[rule_a], answer_odds[rule_b]))
        traits = ContestedTraits(more, less, log_odds(chance), min(near[rule_a], near[rule_b]))
        contested.append((rule_a, rule_b, traits))
    return sorted(contested, key=lambda pair: -pair[2].score())


def _windows(text: str, rules: Sequence[Rule]) -> Iterator[str]:
    """Each rule of a paragraph behind the one before it, on which it may lean; as `windows_of` has them, where both
    read the same sentences, so that nothing is judged twice.
    """
    starts = [text.find(rule.source.text) for rule in rules]
    for row, (start, rule) in enumerate(zip(starts, rules, strict=True)):
        yield text[starts[row - 1] if row > 1 else 0 : start + len(rule.source.text)]
