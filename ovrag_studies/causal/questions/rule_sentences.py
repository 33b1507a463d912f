"""Sentences that state causes, read as a grammar: "A and B together cause C and not D, and we observed E."

What a mention of a variable may look like is the caller's; everything else is here: where a clause ends and what joins
its parts. Where the words allow several readings all are returned, so that a caller can see whether they matter. What
the grammar does not cover raises `UnreadError` with the words in question.
"""

import re
from collections.abc import Callable, Sequence
from itertools import chain, dropwhile, pairwise, product
from math import prod
from typing import NamedTuple, TypeVar

from ovrag_core.base import UnreadError
from ovrag_core.text import one_line
from ovrag_studies.causal.models.boolean_models import CausalRule, Formula, Junction, Literal, joined, leaves

MOST_READINGS = 16

T = TypeVar("T")


class Token(NamedTuple):
    """A word, a verb of causing or a comma, text[start:end] of the text that was read; `lower` is compared."""

    text: str
    lower: str
    start: int
    end: int


Tokens = Sequence[Token]
Mention = Callable[[Tokens], Literal]
Split = tuple[Tokens, Tokens]


class RuleReading(NamedTuple):
    """One way to read a text: its rules, and what it says was observed."""

    rules: tuple[CausalRule, ...]
    observed: tuple[Formula, ...]


_VERB = re.compile(r"causes?|caused|leads?\s+to|led\s+to|results?\s+in|prevent(?:s|ed)?", re.IGNORECASE)
_TOKEN = re.compile(r",|(?:leads?|led)\s+to\b|results?\s+in\b|[^\s,]+", re.IGNORECASE)
_END = re.compile(r"[.;!?]+(?=[\s\"”’')]|$)")
_OPENING = re.compile(
    r"(?:,?\s{0,2}\band\b,?\s+)?\b(?:(?P<seen>we\s+(?:(?:have|had|also)\s+)*observed?\b(?:\s+that\b)?)"
    r"|(?:we\s+(?:also\s+)?know|it\s+is\s+(?:also\s+)?known|suppose|assume)\s+that\b)",
    re.IGNORECASE,
)
_DENIALS = frozenset(["not", "never", "doesn't", "don't", "didn't", "cannot", "can't"])
_DOUBTS = frozenset(["can", "may", "might", "could", "sometimes", "often", "usually", "rarely"])
_TOGETHER = "together"
_EDGES = frozenset({",", "and", "then", "also", '"'})


def tokenise(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The words and commas of text[start:end]."""
    matches = _TOKEN.finditer(text, start, len(text) if end is None else end)
    return [Token(match[0], match[0].casefold().replace("’", "'"), *match.span()) for match in matches]


def words_of(tokens: Tokens) -> str:
    """Tokens as text, for messages."""
    return one_line(" ".join(token.text for token in tokens).replace(" ,", ","), 80)


def read_statements(text: str, mention: Mention) -> list[RuleReading]:
    """Every reading of a text's rules and observations, the likeliest first. Raises UnreadError for other sentences."""
    choices: list[list[tuple[CausalRule, ...]]] = []
    observed: list[Formula] = []
    for is_observation, start, end in _sentences(text):
        tokens = _trimmed(tokenise(text, start, end))
        if tokens and is_observation:
            observed.append(read_formula(tokens, mention))
        elif tokens:
            choices.append(_read_rules(text, tokens, mention))
    return [RuleReading(rules, tuple(observed)) for rules in _combined(choices)]


def _sentences(text: str) -> list[tuple[bool, int, int]]:
    """(observation or not, start, end) of each sentence; an opening such as "we observed" begins one anywhere."""
    sentences = []
    ends = list(_END.finditer(text))
    for begin, end in zip([0, *(m.end() for m in ends)], [*(m.start() for m in ends), len(text)], strict=True):
        is_observation, start = False, begin
        for opening in _OPENING.finditer(text, begin, end):
            sentences.append((is_observation, start, opening.start()))
            is_observation, start = bool(opening["seen"]), opening.end()
        sentences.append((is_observation, start, end))
    return sentences


def read_formula(tokens: Tokens, mention: Mention) -> Formula:
    """The only reading of a condition. Raises `UnreadError` where there are two."""
    formula, *more = read_condition(tokens, mention)
    if more:
        raise UnreadError(f'"{words_of(tokens)}" can be grouped in two ways')
    return formula


def read_condition(tokens: Tokens, mention: Mention) -> list[Formula]:
    """The readings of a condition; "and" binds closer than "or" in the first. A list holds as a whole."""
    tokens = _trimmed([token for token in tokens if token.lower != _TOGETHER])
    items: list[list[Token]] = [[]]
    joints: list[str] = []
    for token in tokens:
        word = token.lower
        if word not in (",", "and", "or"):
            items[-1].append(token)
        elif not items[-1] and joints and joints[-1] == ",":
            joints[-1] = word
        else:
            items.append([])
            joints.append(word)
    if not tokens:
        raise UnreadError("nothing stands where a variable is expected")
    if not all(items):
        raise UnreadError(f'a connective stands alone in "{words_of(tokens)}"')
    following = "and"
    for index in reversed(range(len(joints))):  # a comma is what the next connective is
        following = joints[index] = joints[index] if joints[index] != "," else following
    operands = [mention(item) for item in items]
    return [_grouped(operands, joints, inner) for inner in (("and", "or") if len(set(joints)) > 1 else ("and",))]


def _grouped(parts: Sequence[Formula], joints: Sequence[str], inner: str) -> Formula:
    groups = [[parts[0]]]
    for operand, joint in zip(parts[1:], joints, strict=True):
        if joint == inner:
            groups[-1].append(operand)
        else:
            groups.append([operand])
    return joined([joined(group, every=inner == "and") for group in groups], every=inner == "or")


def _trimmed(tokens: Tokens) -> list[Token]:
    """Without commas and “and” at either end."""
    kept = list(dropwhile(lambda token: token.lower in _EDGES, tokens))
    while kept and kept[-1].lower in (",", '"'):
        kept.pop()
    return kept


def _read_rules(text: str, tokens: Tokens, mention: Mention) -> list[tuple[CausalRule, ...]]:
    verbs = [i for i, token in enumerate(tokens) if _VERB.fullmatch(token.text)]
    if not verbs:
        raise UnreadError(f'"{words_of(tokens)}" is neither a rule nor an observation')
    splits = [[[split] for split in _boundaries(tokens[a + 1 : b], mention)] for a, b in pairwise(verbs)]
    readings = []
    for choice in _combined(splits):
        causes = [tokens[: verbs[0]], *(right for _, right in choice)]
        effects = [*(left for left, _ in choice), tokens[verbs[-1] + 1 :]]
        clauses = [
            _clause(text, cause, tokens[verb], effect, mention)
            for cause, verb, effect in zip(causes, verbs, effects, strict=True)
        ]
        readings += _combined(clauses)
    return readings


def _boundaries(segment: Tokens, mention: Mention) -> list[Split]:
    """Find where the words between two verbs are cut into the end of one clause and the beginning of the next."""
    for marks in ((",",), (",", "and")):
        indices = [index for index, token in enumerate(segment) if token.lower in marks]
        splits = [split for index in indices if (split := _valid(segment, index, mention))]
        if not splits:
            continue
        words = {token.lower for token in splits[-1][0]}
        if "and" not in marks and ("," not in words or "and" in words):
            return [splits[-1]]
        return splits[::-1]
    for index, (left, right) in enumerate(pairwise(segment), 1):
        if left.lower == right.lower:  # "Blaf Blaf": a comma is missing between an effect and the same as a cause
            return [(segment[:index], segment[index:])]
    raise UnreadError(f'it cannot be told where in "{words_of(segment)}" one cause ends and the next begins')


def _valid(segment: Tokens, place: int, mention: Mention) -> Split | None:
    left, right = _trimmed(segment[:place]), _trimmed(segment[place + 1 :])
    try:
        _effects(left, mention)
        causes = leaves(read_condition(right, mention)[0])
    except UnreadError:
        return None
    twice = len({cause.variable for cause in causes}) < len(causes)
    alone = len(causes) == 1 and any(token.lower == _TOGETHER for token in right)
    return None if twice or alone else (left, right)


def _effects(tokens: Tokens, mention: Mention) -> list[Literal]:
    formula = read_formula(tokens, mention)
    if isinstance(formula, Junction) and not formula.every:
        raise UnreadError(f'"{words_of(tokens)}" leaves open which effect there is')
    return leaves(formula)


def _clause(text: str, causes: Tokens, verb: Token, effects: Tokens, mention: Mention) -> list[tuple[CausalRule, ...]]:
    causes, effects = _trimmed(causes), _trimmed(effects)
    if not causes or not effects:
        raise UnreadError(f'"{words_of([*causes, verb, *effects])}" lacks a cause or an effect')
    quoted = words_of([*causes[-2:], verb])
    if causes[-1].lower in _DENIALS:
        raise UnreadError(f'"{quoted}" denies a cause and gives no rule')
    if causes[-1].lower in _DOUBTS:
        raise UnreadError(f'"{quoted}" says what may be, and only rules without exception can be solved')
    start, end = causes[0].start, effects[-1].end
    brings_about = not verb.lower.startswith("prevent")
    return [
        tuple(
            CausalRule(condition, Literal(effect.variable, effect.holds == brings_about), text[start:end], (start, end))
            for effect in _effects(effects, mention)
        )
        for condition in read_condition(causes, mention)
    ]


def _combined(choices: Sequence[Sequence[Sequence[T]]]) -> list[tuple[T, ...]]:
    """Every way to choose one of each, what is chosen put together."""
    if prod(map(len, choices)) > MOST_READINGS:
        raise UnreadError(f"the text has more than {MOST_READINGS} readings")
    return [tuple(chain.from_iterable(choice)) for choice in product(*choices)]
