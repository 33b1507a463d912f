"""Rules that cannot both be kept: near in meaning, judged by learned weights, settled by clauses of precedence.

A conflict is superseded where a clause lets one side prevail, else unresolved.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal

import numpy

from ovrag_core.retrieval import Embedder, minilm
from ovrag_studies.cited.conflicts.alignment import Alignment
from ovrag_studies.cited.conflicts.conflict_model import read_model
from ovrag_studies.cited.conflicts.learned_precedence import LearnedPrecedence
from ovrag_studies.cited.conflicts.precedence import Precedence, find_precedence
from ovrag_studies.cited.conflicts.rules import Rule, RuleSource, read_rules
from ovrag_studies.cited.corpus.policies import PolicyCorpus
from ovrag_studies.cited.corpus.retrieval import Nearness

Status = Literal["superseded", "unresolved"]
Sides = tuple[Rule, Rule]


CHANCE = 0.12  # from which on two sentences are taken to conflict, by the learned weights, where there are no others
RARER = 0.157  # by which the log-odds asked for rise with the logarithm of their number
BESIDE = 0.15  # more is asked for within one paragraph
# Cosine from which two sentences are looked at, where one is among the NEIGHBOURS most like the other; and from which
# they are in any case. Conflicts are looked for among NEAREST and those that are NEAR only.
LOOK, NEIGHBOURS, CLOSE = 0.35, 8, 0.55
NEAREST, NEAR = 1, 0.62

_RANKING = re.compile(r"\b(?:supersed\w+|prevails?|(?:take|have|has)s? (?:precedence|priority)|overrid\w+)\b", re.I)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two rules that cannot both be kept, and what becomes of it; `chance` is how likely they cannot.

    `prevails` is the side that `clause` lets prevail; both are None where it is unresolved.
    """

    first: Rule
    second: Rule
    chance: float
    status: Status
    prevails: Literal["first", "second"] | None
    clause: RuleSource | None


def find_corpus_conflicts(corpus: PolicyCorpus, embedder: Embedder | None = None) -> tuple[Conflict, ...]:
    """All conflicts of a corpus, settled by its own clauses, likeliest first."""
    clauses, learned = find_precedence(corpus), LearnedPrecedence(corpus, embedder or minilm())
    clashes = find_clashes(read_rules(corpus), embedder)
    return tuple(settle(sides, chance, clauses, learned) for sides, chance in clashes)


def least_chance(rules: int) -> float:
    """The chance that is asked for where so many rules are compared.

    The more there are, the likelier two are near that do not conflict.
    """
    return 1 / (1 + exp(-log(CHANCE / (1 - CHANCE)) - RARER * log(max(rules, 2) / 2)))


def find_clashes(rules: Sequence[Rule], embedder: Embedder | None = None) -> list[tuple[Sides, float]]:
    """The pairs of rules that cannot both be kept and how likely that is, likeliest first."""
    comparison = RuleComparison(rules, embedder or minilm())
    pairs = list(comparison.near(NEAREST, NEAR))
    clashes = []
    for sides, chance in zip(pairs, comparison.chances(pairs), strict=True):
        adjusted = chance - BESIDE * (sides[0].source.paragraph_id == sides[1].source.paragraph_id)
        if adjusted >= least_chance(len(rules)):
            clashes.append((sides, adjusted))
    return sorted(clashes, key=lambda clash: (-clash[1], *(rule.source.start for rule in clash[0])))


class RuleComparison:
    """Rules with what aligns them; titles, and who only says which rules prevail, are left out."""

    def __init__(self, rules: Iterable[Rule], embedder: Embedder) -> None:
        every = list(rules)
        # A title is what a document begins with and does not end as a sentence.
        titles = [rule for rule in every if rule.source.start == 0 and rule.source.text[-1:] not in ".!?;:"]
        self.rules = [rule for rule in every if rule not in titles and not _RANKING.search(rule.source.text)]
        self.alignment = Alignment(_with_context(every), embedder)
        self._nearness = Nearness(embedder)

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
        return read_model().chances(texts, self.alignment, self._nearness)


def _with_context(rules: Iterable[Rule]) -> dict[str, str]:
    """Each sentence with its heading and those before it in its paragraph; the first place of one said twice."""
    contexts: dict[str, str] = {}
    preceding: dict[str, list[str]] = {}
    for rule in rules:
        texts = preceding.setdefault(rule.source.paragraph_id, [rule.heading])
        contexts.setdefault(rule.source.text, " ".join(texts))
        texts.append(rule.source.text)
    return contexts


def settle(sides: Sides, chance: float, clauses: Sequence[Precedence], learned: LearnedPrecedence) -> Conflict:
    """The conflict of two rules: by which clause one of them prevails, if any.

    What is `learned` is asked where no clause, read by its form, ranks the rules' document against others.
    """
    first_rule, second_rule = sides
    for_first, for_second = _deciding(first_rule, second_rule, clauses), _deciding(second_rule, first_rule, clauses)
    decided = None
    if for_first and not for_second:
        decided = first_rule, for_first
    elif for_second and not for_first:
        decided = second_rule, for_second
    elif all(first_rule.source.doc_id not in (c.winner, *c.losers) for c in clauses if c.winner not in c.losers):
        decided = learned.deciding(first_rule, second_rule)
    if not decided:
        return Conflict(*sides, chance, "unresolved", None, None)
    winner, clause = decided
    return Conflict(*sides, chance, "superseded", "first" if winner == first_rule else "second", clause)


def _deciding(winner: Rule, loser: Rule, clauses: Sequence[Precedence]) -> RuleSource | None:
    """The clause by which one rule prevails over another, that beside it before one for its document."""
    decisive = [clause for clause in clauses if clause.decides(winner, loser)]
    return min(decisive, key=lambda clause: clause.whole).source if decisive else None
