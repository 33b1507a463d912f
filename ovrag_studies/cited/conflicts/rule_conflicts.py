"""Rules that cannot both be kept: near in meaning, judged by learned weights, settled by clauses of precedence.

A conflict is superseded where a clause lets one side prevail, else unresolved. Which of a corpus's rules both answer a
question, that they may be reported before silence, is told by a logistic regression, whose weights were learned from
the queries of `training/cited/calibration` by `tools/train_policy_silence.py`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import exp, log
from typing import Literal, NamedTuple

import numpy

from ovrag_core.base import Frozen
from ovrag_core.retrieval import Embedder, log_odds, minilm
from ovrag_studies.cited.conflicts.alignment import Alignment
from ovrag_studies.cited.conflicts.conflict_model import read_model
from ovrag_studies.cited.conflicts.learned_precedence import CorpusPrecedence
from ovrag_studies.cited.conflicts.rules import Rule, RuleSource, read_rules
from ovrag_studies.cited.corpus.policies import Paragraph, PolicyCorpus
from ovrag_studies.cited.corpus.relevance import load_reader
from ovrag_studies.cited.corpus.retrieval import Nearness, RankedParagraph

Sides = tuple[Rule, Rule]

CHANCE = 0.12  # from which on two sentences are taken to conflict, by the learned weights, where there are no others
RARER = 0.157  # by which the log-odds asked for rise with the logarithm of their number
BESIDE = 0.15  # more is asked for within one paragraph
# Cosine from which two sentences are looked at, where one is among the NEIGHBOURS most like the other; and from which
# they are in any case. Conflicts are looked for among NEAREST and those that are NEAR only.
LOOK, NEIGHBOURS, CLOSE = 0.35, 8, 0.55
NEAREST, NEAR = 1, 0.62
WEIGHTS = (0.37, 0.33, 0.63, -0.65, -2.2)  # of the four numbers of ContestedTraits, and the bias
REPORTED = 0.3  # from which a pair is reported; three of four rightly on the kinds that teach
LEAST_ODDS = -4.0  # of each rule that it answers; below it no pair is looked at

_RANKING = re.compile(r"\b(?:supersed\w+|prevails?|(?:take|have|has)s? (?:precedence|priority)|overrid\w+)\b", re.I)


class Conflict(Frozen):
    """Sentences of two rules that cannot both be kept, and the clause that lets one prevail; None where none does."""

    status: Literal["superseded", "unresolved"]
    first: RuleSource
    second: RuleSource
    prevails: Literal["first", "second"] | None
    clause: RuleSource | None


def find_corpus_conflicts(corpus: PolicyCorpus, embedder: Embedder | None = None) -> tuple[Conflict, ...]:
    """All conflicts of a corpus, settled by its own clauses, likeliest first."""
    precedence = CorpusPrecedence(corpus, embedder or minilm())
    return tuple(settle(sides, precedence) for sides, _ in find_clashes(read_rules(corpus), embedder))


def least_chance(rules: int) -> float:
    """The chance asked for where so many rules are compared: the more, the likelier two are near without conflict."""
    return 1 / (1 + exp(-log(CHANCE / (1 - CHANCE)) - RARER * log(max(rules, 2) / 2)))


def find_clashes(rules: Sequence[Rule], embedder: Embedder | None = None) -> list[tuple[Sides, float]]:
    """The pairs of rules that cannot both be kept and how likely that is, likeliest first."""
    comparison = RuleComparison(rules, embedder or minilm())
    pairs = list(comparison.near(NEAREST, NEAR))
    clashes = [
        (sides, chance - BESIDE * (sides[0].source.paragraph_id == sides[1].source.paragraph_id))
        for sides, chance in zip(pairs, comparison.chances(pairs), strict=True)
    ]
    certain = [clash for clash in clashes if clash[1] >= least_chance(len(rules))]
    return sorted(certain, key=lambda clash: (-clash[1], *(rule.source.start for rule in clash[0])))


class RuleComparison:
    """Rules with what aligns them; titles, and who only says which rules prevail, are left out."""

    def __init__(self, rules: Iterable[Rule], embedder: Embedder) -> None:
        self.every, self.nearness = list(rules), Nearness(embedder)
        # A title is what a document begins with and does not end as a sentence.
        titles = [rule for rule in self.every if rule.source.start == 0 and rule.source.text[-1:] not in ".!?;:"]
        self.rules = [rule for rule in self.every if rule not in titles and not _RANKING.search(rule.source.text)]
        # Each sentence with its heading and those before it in its paragraph; the first place of one said twice.
        contexts: dict[str, str] = {}
        preceding: dict[str, list[str]] = {}
        for rule in self.every:
            texts = preceding.setdefault(rule.source.paragraph_id, [rule.heading])
            contexts.setdefault(rule.source.text, " ".join(texts))
            texts.append(rule.source.text)
        self.alignment = Alignment(contexts, embedder)

    def near(self, neighbours: int = NEIGHBOURS, close: float = CLOSE) -> Iterator[Sides]:
        """Rules that are near enough in meaning to be judged."""
        rows = [self.alignment.rows[rule.source.text] for rule in self.rules]
        cosines = self.alignment.cosines[numpy.ix_(rows, rows)] - 2 * numpy.eye(len(rows), dtype=numpy.float32)
        near = numpy.zeros(cosines.shape, dtype=bool)
        nearest = numpy.argsort(-cosines, axis=1, kind="stable")[:, :neighbours]
        numpy.put_along_axis(near, nearest, values=True, axis=1)
        chosen = ((near | near.T) & (cosines >= LOOK)) | (cosines >= close)
        for left, right in zip(*numpy.nonzero(numpy.triu(chosen, 1)), strict=True):
            if self.rules[left].source.text != self.rules[right].source.text:
                yield self.rules[left], self.rules[right]

    def chances(self, pairs: Sequence[Sides]) -> list[float]:
        """Estimate how likely the two rules of each pair cannot both be kept."""
        texts = [(left.source.text, right.source.text) for left, right in pairs]
        return read_model().chances(texts, self.alignment, self.nearness)


class ContestedTraits(NamedTuple):
    """Signs that a question is answered by two rules that contradict each other: log-odds and a cosine.

    How surely the likelier and the less likely of both answer it, by the reader, how likely they cannot both be kept,
    and how near the farther of both is to the question. WEIGHTS weigh these numbers.
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


def contested_pairs(query: str, evidence: Sequence[RankedParagraph], comparison: RuleComparison) -> Pairs:
    """The pairs of rules of different paragraphs that may both answer the query, likeliest first, compared with all."""
    windows = {rule: window for ranked in evidence for rule, window in _windows(ranked.paragraph, comparison.every)}
    answer_odds = dict(zip(windows, load_reader().read(query, list(windows.values())), strict=True))
    candidates = [rule for rule, odds in answer_odds.items() if odds >= LEAST_ODDS]
    pairs = [
        (a, b)
        for a, b in combinations(candidates, 2)
        if a.source.paragraph_id != b.source.paragraph_id and a.source.text != b.source.text
    ]
    cosines = comparison.nearness.likeness(query, [rule.source.text for rule in candidates])
    near = dict(zip(candidates, cosines, strict=True))
    contested = []
    for (rule_a, rule_b), chance in zip(pairs, comparison.chances(pairs), strict=True):
        less, more = sorted((answer_odds[rule_a], answer_odds[rule_b]))
        traits = ContestedTraits(more, less, log_odds(chance), min(near[rule_a], near[rule_b]))
        contested.append((rule_a, rule_b, traits))
    return sorted(contested, key=lambda pair: -pair[2].score())


def _windows(paragraph: Paragraph, rules: Iterable[Rule]) -> Iterator[tuple[Rule, str]]:
    """Each rule of a paragraph behind the one before it, on which it may lean, as `windows_of` has them."""
    own_rules = [rule for rule in rules if rule.source.paragraph_id in paragraph.ids]
    starts = [paragraph.text.find(rule.source.text) for rule in own_rules]
    for begin, start, rule in zip([0, 0, *starts[1:]], starts, own_rules, strict=False):
        yield rule, paragraph.text[begin : start + len(rule.source.text)]


def settle(sides: Sides, precedence: CorpusPrecedence) -> Conflict:
    """The conflict of two rules: by which clause one of them prevails, if any; one beside it before one for a document.

    What is learned is asked where no clause, read by its form, ranks the rules' document against others.
    """
    first, second = sides
    decisions = [
        (winner, clause.source)
        for clause in sorted(precedence.clauses, key=lambda clause: clause.whole)
        for winner, loser in (sides, sides[::-1])
        if clause.decides(winner, loser)
    ]
    decided = decisions[0] if len({winner for winner, _ in decisions}) == 1 else None
    ranked = {doc_id for c in precedence.clauses if c.winner not in c.losers for doc_id in (c.winner, *c.losers)}
    if decided is None and first.source.doc_id not in ranked:
        decided = precedence.deciding(first, second)
    return Conflict(
        status="superseded" if decided else "unresolved",
        first=first.source,
        second=second.source,
        prevails=None if decided is None else "first" if decided[0] == first else "second",
        clause=decided[1] if decided else None,
    )
