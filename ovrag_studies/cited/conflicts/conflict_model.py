"""Probability that two sentences cannot both be kept, by weights that were learned from pairs of rules.

A logistic regression over the words and pairs of words that only one of the two sentences has or that both have,
hashed (Weinberger et al. 2009), over how their amounts compare, and over the numbers of `compare`: what they have in
common and what sets them apart, for any wording. `tools/train_policy_conflicts.py` makes the weights from the pairs in
`training/cited`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import chain, pairwise, product
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from ovrag_core.base import SettingsError, read_tensors
from ovrag_core.text import NEGATION, stems
from ovrag_studies.cited.conflicts.alignment import FEATURES, Alignment
from ovrag_studies.cited.corpus.retrieval import Nearness
from ovrag_studies.cited.language.amounts import find_amounts, without_amounts
from ovrag_studies.cited.language.quantities import Quantity
from ovrag_studies.cited.language.readings import RULING, concepts, read

WEIGHTS = Path(__file__).parents[1] / "weights" / "conflicts.safetensors"
SIZE = 2**14  # of the table of weights
SHARE = 0.1  # of a number of `compare`, beside a feature that is there
NEARNESS = 3.0  # what a cosine of 1 counts beside a feature that is there
TIMES = ("minute", "month", "working day", "time", "date")

Features = dict[str, float]
_WORD = re.compile(r"[a-z']+|\d+")
_FUNCTION_TEXT = """the a an of to in on at by for and or is are be must shall may will with from as it that this any
all no not"""
_FUNCTION = frozenset(_FUNCTION_TEXT.split())
_OFTEN = frozenset(stems("every each per once a"))
# Marks of what a sentence makes of its matter.
_FLAG_PATTERNS = {
    "negative": rf"{NEGATION}|\b(?:refus|declin|reject)\w+",
    "banned": r"\b(?:(?:must|shall|may|should|can) (?:not|never)|cannot|prohibit\w*|forbid\w*|forbidden|banned?|barred"
    r"|not (?:be )?(?:allowed|permitted)|no (?:one|person|\w+) (?:may|shall|must|can)|nobody|out of bounds"
    r"|off[- ]limits|ruled out|disallowed|do not|don['’]t|never|unacceptable|not acceptable|on no account"
    r"|under no circumstances)\b",
    "bound": r"\b(?:must|shall|has to|have to|required?|requires|mandatory|compulsory|obligat\w+|obliged|needs? to"
    r"|is to|are to|necessary|essential|without exception|always|ought)\b",
    "waived": r"\b(?:need not|needn['’]t|not (?:be )?(?:required|necessary|needed|obliged|compulsory|mandatory)"
    r"|no (?:need|requirement|obligation|duty|further)|exempt\w*|waive[sd]?|excused|(?:does|do) not (?:need|require"
    r"|have to)|without (?:the |any |prior |further |needing|having|asking|approv|permi|consent|notice|writ)\w*"
    r"|requires? no|needs? no|unnecessary|dispensed)\b",
    "only": r"\b(?:only|solely|exclusively|alone|restricted to|limited to|reserved|no one (?:but|except|other)"
    r"|nobody (?:but|except|other)|not (?:before|until)|unless|except)\b",
    "always": r"\b(?:all|every|each|any|anyone|anybody|everyone|everybody|always|at all times|any time|whenever|however"
    r"|regardless|whatever|irrespective|both|throughout|everywhere|no matter|without exception|around the clock"
    r"|including|whether)\b",
    "if": r"\b(?:if|when|where|provided|in case|in the event|during|while|once|subject to|as long as|for \w+ing)\b",
    "except": r"\b(?:except\w*|unless|other than|apart from|save (?:for|in|where)|excluding|notwithstanding|exempt\w*"
    r"|instead|but)\b",
    "before": r"\b(?:before\w*|prior|in advance|ahead|until|till|first|earlier|pre-\w+)\b",
    "outside": r"\b(?:outside|out of|beyond|off|elsewhere|external\w*|away)\b",
    "inside": r"\b(?:inside|within|in|on|internal\w*)\b",
    "more": r"\b(?:more than|above|over|exceed\w*|at least|minimum|not less|longer than|or more)\b",
    "less": r"\b(?:less than|below|under|at most|maximum|not more|no more|up to|no longer|or less|within|no later)\b",
}  # fmt: skip
_FLAGS = [re.compile(pattern, re.I) for pattern in _FLAG_PATTERNS.values()]
NUMBERS = FEATURES + 9 + 2 * len(_FLAGS)  # that `compare` gives of two sentences


class ConflictModel(NamedTuple):
    """The weights of hashed features; of the numbers of `compare` the middles, widths and weights; the bias."""

    hashed: NDArray[numpy.float32]
    numbers: NDArray[numpy.float32]
    bias: float

    def chances(self, pairs: Sequence[tuple[str, str]], alignment: Alignment, nearness: Nearness) -> list[float]:
        """For each pair how likely it is that both cannot be kept, from 0 to 1; the same for both orders."""
        nearness.embed(text for pair in pairs for text in texts_of(*pair))
        return [float(1 / (1 + numpy.exp(-self._score(left, right, alignment, nearness)))) for left, right in pairs]

    def _score(self, one: str, other: str, alignment: Alignment, nearness: Nearness) -> float:
        if _restated(one, other):
            return -numpy.inf
        rows, values = hashed(features_of(one, other, nearness))
        middles, widths, weights = self.numbers
        numbers = scaled(compare(one, other, alignment), middles, widths)
        return float(self.hashed[rows] @ values + weights @ numbers) + self.bias


def scaled(numbers: NDArray[Any], middles: NDArray[Any], widths: NDArray[Any]) -> NDArray[Any]:
    """Numbers of `compare` as they are weighed."""
    return numpy.asarray(numpy.clip((numbers - middles) / widths, -4, 4) * SHARE)


def texts_of(one: str, other: str) -> Iterator[str]:
    """Yield the texts to embed before two sentences are compared: both sentences, and what each has alone."""
    yield from filter(None, (one, other, left_over(one, other), left_over(other, one)))


def features_of(one: str, other: str, nearness: Nearness) -> Features:
    """Return by name what two sentences differ in and share; the same for both orders."""
    mine, theirs = terms_of(one), terms_of(other)
    share = 1 / sqrt(len(mine | theirs) or 1)
    features: Features = {f"one {term}": share for term in mine ^ theirs}
    features |= {f"both {term}": share for term in mine & theirs}
    my_stems, their_stems = frozenset(stems(one)), frozenset(stems(other))
    features["words shared"] = len(my_stems & their_stems) / (len(my_stems | their_stems) or 1)
    features["lengths"] = min(len(mine), len(theirs)) / (max(len(mine), len(theirs)) or 1)
    features |= dict.fromkeys(_amounts(find_amounts(one), find_amounts(other)), 1.0)
    leftovers = left_over(one, other), left_over(other, one)
    features["cosine"] = NEARNESS * nearness.cosine(one, other)
    features["cosine of the rest"] = NEARNESS * nearness.cosine(*leftovers) if all(leftovers) else -0.5
    features["nothing left"] = float(sum(not text for text in leftovers))
    return features


def compare(one: str, other: str, alignment: Alignment) -> NDArray[numpy.float64]:
    """NUMBERS that tell how two sentences compare; the same for both orders of two sentences that are aligned."""
    flags = [(bool(pattern.search(one)), bool(pattern.search(other))) for pattern in _FLAGS]
    mine, theirs = read(one).content, read(other).content
    lost = alignment.lost(mine, theirs), alignment.lost(theirs, mine)
    least_weight, most_weight = sorted(sum(alignment.weights.get(word, 1.0) for word in side) for side in lost)
    my_words, their_words = ([word for word in concepts(text) if word not in RULING] for text in (one, other))
    matcher = SequenceMatcher(None, my_words, their_words, autojunk=False)
    shortest, longest = sorted((len(my_words), len(their_words)))
    # The cosine of the sums of the lost words' vectors, and the highest of two words; -0.5 where either side has none.
    cosine = highest = -0.5
    rows = [sorted(alignment.words[word] for word in side if word in alignment.words) for side in lost]
    if all(rows):
        table = alignment.word_cosines
        between, lengths = table[numpy.ix_(*rows)], [float(table[numpy.ix_(side, side)].sum()) for side in rows]
        cosine, highest = float(between.sum()) / max(sqrt(lengths[0] * lengths[1]), 1e-9), float(between.max())
    numbers = (
        most_weight,
        least_weight,
        cosine,
        highest,
        matcher.ratio(),
        matcher.find_longest_match().size / max(shortest, 1),
        shortest / max(longest, 1),
        min(shortest, 12) / 12,
        len(mine & theirs) / max(1, min(len(mine), len(theirs))),
        *chain.from_iterable((in_one != in_other, in_one and in_other) for in_one, in_other in flags),
    )
    return numpy.array([*alignment.features(one, other), *numbers], float)


def _restated(one: str, other: str) -> bool:
    """Return True where two sentences differ only in how amounts are written: "once a year", "every 12 months"."""
    mine, theirs = (
        ({(a.value, a.unit) for a in find_amounts(text)}, frozenset(stems(without_amounts(text))) - _OFTEN)
        for text in (one, other)
    )
    return mine == theirs


def hashed(features: Features) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
    """Rows of the table of weights, and what each counts."""
    rows = numpy.array([crc32(name.encode()) % SIZE for name in features], dtype=numpy.int64)
    return rows, numpy.array(list(features.values()), dtype=numpy.float32)


@lru_cache(maxsize=1 << 14)
def terms_of(text: str) -> frozenset[str]:
    """The words and pairs of words of a text, figures alike."""
    words = ["#" if word.isdigit() else word for word in _WORD.findall(text.lower())]
    return frozenset(words) | {f"{left} {right}" for left, right in pairwise(words)}


def left_over(one: str, other: str) -> str:
    """The words of one sentence that the other has not, without the plainest."""
    other_stems = frozenset(stems(other))
    words = (word for word in re.findall(r"[A-Za-z']+", one) if word.lower() not in _FUNCTION)
    return " ".join(word for word in words if not frozenset(stems(word)) <= other_stems)


def _amounts(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> Iterator[str]:
    """Name how the amounts of one unit compare, and within which bounds."""
    by_unit: defaultdict[str, list[tuple[Quantity, Quantity]]] = defaultdict(list)
    for left, right in product(mine, theirs):
        if left.unit == right.unit:
            by_unit[left.unit].append((left, right))
    if not by_unit:
        yield ("no amounts", "amounts in one", "amounts apart")[bool(mine) + bool(theirs)]
    for unit, pairs in by_unit.items():
        my_values, their_values = ({amount.value for amount in side} for side in zip(*pairs, strict=True))
        how = "same" if my_values == their_values else "overlap" if my_values & their_values else "differ"
        yield f"amounts {how}"
        yield f"amounts {unit if unit in (*TIMES, '%', 'code', '') else 'money'} {how}"
        for bounds in {tuple(sorted((left.bound, right.bound))) for left, right in pairs}:
            yield f"amounts {' '.join(bounds)} {'unequal' if how == 'differ' else 'equal'}"


@cache
def read_model(path: Path = WEIGHTS) -> ConflictModel:
    """The model of a file, the bundled one. Raises SettingsError where it holds none, or one for other features."""
    again = "make it anew with tools/train_policy_conflicts.py"
    try:
        tensors, _ = read_tensors(path)
        table, numbers = (tensors[name].astype(numpy.float32) for name in ("hashed", "numbers"))
        bias = float(tensors["bias"][0])
    except (OSError, SafetensorError, KeyError, IndexError):
        raise SettingsError(f"{path} cannot be read; {again}") from None
    if table.shape != (SIZE,) or numbers.shape != (3, NUMBERS):
        raise SettingsError(f"the weights in {path} were learned for other features; {again}")
    return ConflictModel(table, numbers, bias)
