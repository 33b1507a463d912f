"""Sentences that state causes, read as a grammar: "A and B together cause C and not D, and we observed E."

What a mention of a variable may look like is the caller's; everything else is here: where a clause ends, what joins its
parts, which way the verb points. Where the words allow several readings all are returned, so that a caller can see
whether they matter. What the grammar does not cover raises `UnreadError` with the words in question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TypeVar

from ovrag_core.base import UnreadError
from ovrag_core.text import one_line
from ovrag_studies.causal.models.boolean_models import CausalRule, Formula, Junction, Literal, mentioned, negate

MOST_READINGS = 16
MOST_NESTED = 40  # parentheses of a condition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a punctuation mark, text[start:end] of the text that was read."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """The word as it is compared."""
        return self.text.casefold().replace("’", "'")


Tokens = Sequence[Token]
Mention = Callable[[Tokens], Literal]


@dataclass(frozen=True, slots=True)
class RuleReading:
    """One way to read a text: its rules, and what it says was observed."""

    rules: tuple[CausalRule, ...]
    observed: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class _Verb:
    first: int
    last: int  # first token after the verb
    prevents: bool
    passive: bool
    plural: bool
    makes: bool = False  # "makes Trune occur"


_TOKEN = re.compile(r"[,()]|[^\s,()]+")
_END = re.compile(r"[.;!?]+(?=[\s\"”’')]|$)")
_JOINT = r"(?:,?\s{0,2}\b(?:and|but|so|also|moreover|furthermore|further)\b,?\s+)?"
_OPENING = re.compile(
    rf"{_JOINT}\b(?:"
    r"(?P<seen>(?:we|i|you)\s+(?:(?:have|had|also|then|now)\s+)*(?:observed?|saw|see|noticed?)\b(?:\s+that\b)?:?"
    r"|(?:given|it\s+(?:is|was))\s+observed\s+that\b|observed:|observation:)"
    r"|(?:(?:we|i|you)\s+(?:(?:also|further|now|all|then)\s+)*(?:know|assume|suppose|learn|are\s+told)"
    r"|it\s+is\s+(?:also\s+)?(?:known|given|assumed|true)|given|suppose|assume|consider)\s+that\b:?"
    r")",
    re.IGNORECASE,
)
_CAUSING = """
cause/causes/caused, produce/produces/produced, trigger/triggers/triggered, induce/induces/induced,
create/creates/created,
generate/generates/generated, yield/yields/yielded, imply/implies/implied, lead to/leads to/led to,
result in/results in/resulted in, bring about/brings about/brought about, give rise to/gives rise to/gave rise to
"""
_MAKING = "make/makes/made"  # "makes Trune occur"
_PREVENTING = """
prevent/prevents/prevented, block/blocks/blocked, suppress/suppresses/suppressed, inhibit/inhibits/inhibited,
preclude/precludes/precluded, avert/averts/averted, stop/stops/stopped, rule out/rules out/ruled out
"""
_BACKWARD = """
result from/results from/resulted from, stem from/stems from/stemmed from, arise from/arises from/arose from,
follow from/follows from/followed from, are due to/is due to/was due to,
are the result of/is the result of/was the result of
"""  # "Trune results from Blaf"


@dataclass(frozen=True, slots=True)
class _Form:
    """How a form of a verb is read; a past tense, which one cause and several share, is taken for no plural."""

    base: str
    prevents: bool
    backward: bool
    plural: bool


def _forms() -> dict[tuple[str, ...], _Form]:
    kinds = ((_CAUSING, False, False), (_MAKING, False, False), (_PREVENTING, True, False), (_BACKWARD, False, True))
    return {
        tuple(form.split()): _Form(verb.split("/")[0].strip(), prevents, backward, place == 0)
        for verbs, prevents, backward in kinds
        for verb in verbs.split(",")
        for place, form in enumerate(verb.split("/"))
    }


_VERBS = _forms()
_LONGEST_VERB = max(map(len, _VERBS))
_PASSIVE = {
    form: made.prevents
    for (form, *rest), made in _VERBS.items()
    if not rest and form.endswith("ed") and made.base not in ("imply", "yield")
}
_BE = frozenset({"is", "are", "was", "were"})
_FROM_ACTING = re.compile(r"\bfrom (?:occurring|happening|taking place|being present)$", re.IGNORECASE)
_EVENTS = frozenset({"occur", "happen", "present", "true"})
_JOINTLY = frozenset({"together", "jointly"})
_SEVERALLY = frozenset({"each", "separately", "individually", "independently"})
_FILLERS = frozenset({"always", "also", "then", "thus", "therefore", "hence", "will", "directly"})
_DENIALS = frozenset({"not", "never", "doesn't", "don't", "didn't", "won't", "cannot", "can't", "isn't", "aren't"})
_DOUBTS = frozenset({"can", "may", "might", "could", "sometimes", "often", "usually", "rarely", "would", "should"})
_AND = frozenset({"and", "&", "plus", "but"})
_OR = frozenset({"or", "and/or"})
_STARTERS = frozenset({"and", "while", "then", "so", "but", "also", "whereas"})
_IF = frozenset({"if", "when", "whenever"})
_ANAPHORA = frozenset({"which", "this", "that", "it"})


def tokenise(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The words, commas and parentheses of text[start:end]."""
    return [Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text, start, len(text) if end is None else end)]


def words_of(tokens: Tokens) -> str:
    """Tokens as text, for messages."""
    return one_line(" ".join(token.text for token in tokens).replace(" ,", ","), 80)


def read_statements(text: str, mention: Mention, *, verbs: Iterable[str] | None = None) -> list[RuleReading]:
    """Every reading of the rules and observations of a text, the likeliest first.

    `verbs` restricts the verbs to those that begin with one of these words, for texts whose names hold other verbs.
    Raises `UnreadError` where a sentence is neither.
    """
    allowed = {words for words, form in _VERBS.items() if verbs is None or form.base in set(verbs)}
    choices: list[list[tuple[CausalRule, ...]]] = []
    observed: list[Formula] = []
    for seen, start, end in _sentences(text):
        tokens = _trimmed(_without_in_turn(tokenise(text, start, end)))
        if not tokens:
            continue
        if seen:
            observed.append(_only(read_condition(tokens, mention), tokens))
        elif found := _verbs(tokens, allowed):
            choices.append(_read_rules(text, tokens, found, mention))
        elif tokens[0].lower in _IF:
            choices.append(_read_conditionals(text, tokens, mention))
        else:
            observed.append(_bare_observation(tokens, mention))
    readings = [tuple(rule for part in choice for rule in part) for choice in _combined(choices)]
    return [RuleReading(rules, tuple(observed)) for rules in readings]


def read_condition(tokens: Tokens, mention: Mention) -> list[Formula]:
    """The readings of a condition; "and" binds closer than "or" in the first.

    A bare list, or one with "together", holds as a whole; with "each" any of its parts is enough.
    """
    tokens = _trimmed(tokens)
    if len(tokens) > 2 and tokens[0].lower == "not" and tokens[1].lower in ("both", "either"):
        return [negate(each) for each in read_condition(tokens[1:], mention)]
    severally = any(token.lower in _SEVERALLY for token in tokens)
    tokens = _without(tokens, _JOINTLY | _SEVERALLY)
    first = tokens[0].lower if tokens else ""
    if first in ("both", "either", "neither"):
        tokens = tokens[1:]
    tokens, exclusive = _without_both(tokens)
    items, joints = _split(tokens)
    parts = [_part(item, mention) for item in items]
    if exclusive:
        if joints != ["or"]:
            raise UnreadError(f'"not both" of "{words_of(tokens)}" needs two parts joined by "or"')
        return [Junction(True, (Junction(False, pair), negate(Junction(True, pair)))) for pair in _combined(parts)]
    if first == "neither":
        return [Junction(True, tuple(negate(part) for part in choice)) for choice in _combined(parts)]
    joints = ["or" if severally else joint for joint in joints]
    return [formula for choice in _combined(parts) for formula in _groupings(choice, joints)]


def _without_both(tokens: Tokens) -> tuple[Tokens, bool]:
    """Without "or both" at the end, which says what "or" says; whether "but not both" stood there."""
    words = [token.lower for token in tokens if token.text != ","]
    if words[-3:-1] in (["but", "not"], ["and", "not"]) and words[-1] == "both":
        return _trimmed(tokens[:-3]), True
    if words[-2:] in (["or", "both"], ["and/or", "both"]):
        return _trimmed(tokens[:-2]), False
    return tokens, False


def _part(item: Tokens, mention: Mention) -> list[Formula]:
    if sum(token.text == "(" for token in item) > MOST_NESTED:
        raise UnreadError(f"there are more than {MOST_NESTED} parentheses in one condition")
    if item and item[0].text == "(" and item[-1].text == ")":
        return read_condition(item[1:-1], mention)
    if len(item) > 2 and item[0].lower == "not" and item[1].text == "(" and item[-1].text == ")":
        return [negate(each) for each in read_condition(item[2:-1], mention)]
    if any(token.text in "()" for token in item):
        raise UnreadError(f'the parentheses in "{words_of(item)}" do not close')
    return [mention(item)]


def _split(tokens: Tokens) -> tuple[list[list[Token]], list[str]]:
    """Items and what stands between them, `and` or `or`; a comma is what the next connective is."""
    items: list[list[Token]] = [[]]
    joints: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        word = token.lower
        joint = "," if word == "," else "and" if word in _AND else "or" if word in _OR or word == "nor" else ""
        if depth or not joint:
            items[-1].append(token)
        elif not items[-1] and joints and joints[-1] == ",":
            joints[-1] = joint
        else:
            items.append([])
            joints.append(joint)
    if not tokens:
        raise UnreadError("nothing stands where a variable is expected")
    if not all(items):
        raise UnreadError(f'a connective stands alone in "{words_of(tokens)}"')
    following = "and"
    for place in reversed(range(len(joints))):
        following = joints[place] = joints[place] if joints[place] != "," else following
    return items, joints


def _groupings(parts: Sequence[Formula], joints: Sequence[str]) -> list[Formula]:
    if len(set(joints)) < 2:
        return [_join(parts, every="or" not in joints)]
    return [_grouped(parts, joints, inner) for inner in ("and", "or")]


def _grouped(parts: Sequence[Formula], joints: Sequence[str], inner: str) -> Formula:
    groups = [[parts[0]]]
    for part, joint in zip(parts[1:], joints, strict=True):
        if joint == inner:
            groups[-1].append(part)
        else:
            groups.append([part])
    return _join([_join(group, every=inner == "and") for group in groups], every=inner == "or")


def _join(parts: Sequence[Formula], *, every: bool) -> Formula:
    return parts[0] if len(parts) == 1 else Junction(every, tuple(parts))


def _sentences(text: str) -> list[tuple[bool, int, int]]:
    """(observation or not, start, end) of each sentence; an opening such as "we observed" begins one anywhere."""
    found = []
    begins = [0, *(m.end() for m in _END.finditer(text))]
    ends = [*(m.start() for m in _END.finditer(text)), len(text)]
    for begin, end in zip(begins, ends, strict=True):
        seen, start = False, begin
        for opening in _OPENING.finditer(text, begin, end):
            found.append((seen, start, opening.start()))
            seen, start = bool(opening["seen"]), opening.end()
        found.append((seen, start, end))
    return found


def _trimmed(tokens: Tokens) -> list[Token]:
    """Without commas, quotation marks and fillers at either end, and without "and" at the beginning."""
    first, last = 0, len(tokens)
    while first < last and tokens[first].lower in {",", '"', *_STARTERS, *_FILLERS}:
        first += 1
    while first < last and tokens[last - 1].lower in {",", '"', "too", "also"}:
        last -= 1
    return list(tokens[first:last])


def _without_in_turn(tokens: Tokens) -> list[Token]:
    words = [token.lower for token in tokens]
    pairs = {place for place in range(len(tokens)) if words[place : place + 2] == ["in", "turn"]}
    return [token for place, token in enumerate(tokens) if place not in pairs and place - 1 not in pairs]


def _without(tokens: Tokens, words: frozenset[str]) -> list[Token]:
    return [token for token in tokens if token.lower not in words]


def _verbs(tokens: Tokens, allowed: set[tuple[str, ...]]) -> list[_Verb]:
    found, place = [], 0
    lower = [token.lower for token in tokens]
    while place < len(tokens):
        verb = _verb_at(lower, place, allowed)
        if verb is None:
            place += 1
            continue
        found.append(verb)
        place = verb.last
    return found


def _verb_at(lower: Sequence[str], place: int, allowed: set[tuple[str, ...]]) -> _Verb | None:
    if lower[place] in _BE and place + 2 < len(lower) and lower[place + 2] == "by" and lower[place + 1] in _PASSIVE:
        return _Verb(place, place + 3, _PASSIVE[lower[place + 1]], True, lower[place] == "are")
    for size in range(_LONGEST_VERB, 0, -1):
        words = tuple(lower[place : place + size])
        if words in allowed:
            form = _VERBS[words]
            if lower[place + size : place + size + 1] == ["by"]:
                raise UnreadError(f'"{" ".join(words)} by" is read after "is" or "are" alone')
            return _Verb(place, place + size, form.prevents, form.backward, form.plural, form.base == "make")
    return None


def _read_rules(text: str, tokens: Tokens, verbs: Sequence[_Verb], mention: Mention) -> list[tuple[CausalRule, ...]]:
    for verb in verbs:
        _refuse_doubt(tokens, verb)
    between = [tokens[verb.last : after.first] for verb, after in pairwise(verbs)]
    splits = [
        _boundaries(segment, verb, after, mention)
        for segment, (verb, after) in zip(between, pairwise(verbs), strict=True)
    ]
    made = []
    for choice in _combined(splits):
        before = [tokens[: verbs[0].first], *(right for _, right in choice)]
        behind = [*(left for left, _ in choice), tokens[verbs[-1].last :]]
        clauses = [_clause(text, b, v, a, mention) for b, v, a in zip(before, verbs, behind, strict=True)]
        made += [tuple(rule for clause in each for rule in clause) for each in _combined(clauses)]
    return made


def _read_conditionals(text: str, tokens: Tokens, mention: Mention) -> list[tuple[CausalRule, ...]]:
    """ "If Blaf and Trune, then Ziklo, and if Ziklo, then Plun": each "if" begins a rule."""
    starts = [place for place, token in enumerate(tokens) if token.lower in _IF]
    made = []
    for start, end in pairwise([*starts, len(tokens)]):
        part = list(tokens[start + 1 : end])
        while part and part[-1].lower in {",", *_STARTERS}:
            part.pop()
        cuts = [place for place, token in enumerate(part) if token.lower == "then"]
        cuts = cuts or [place for place, token in enumerate(part) if token.text == ","]
        if len(cuts) != 1:
            raise UnreadError(f'it cannot be told where in "{words_of(part)}" the condition ends; write "then" there')
        verb = _Verb(cuts[0], cuts[0] + 1, prevents=False, passive=False, plural=False)
        made.append(_clause(text, part[: cuts[0]], verb, part[cuts[0] + 1 :], mention))
    return [tuple(rule for rules in choice for rule in rules) for choice in _combined(made)]


def _refuse_doubt(tokens: Tokens, verb: _Verb) -> None:
    place = verb.first - 1
    while place >= 0 and tokens[place].lower in _FILLERS | _JOINTLY | _SEVERALLY | {"do", "does", "did"}:
        place -= 1
    word = tokens[place].lower if place >= 0 else ""
    said = words_of(tokens[max(place - 1, 0) : verb.last])
    if word in _DENIALS:
        raise UnreadError(f'"{said}" denies a cause and gives no rule')
    if word in _DOUBTS:
        raise UnreadError(f'"{said}" says what may be, and only rules without exception can be solved')


Split = tuple[Tokens, Tokens]


def _boundaries(segment: Tokens, verb: _Verb, after: _Verb, mention: Mention) -> list[Split]:
    """Where what stands between two verbs is cut into the end of one clause and the beginning of the next."""
    for marks in (frozenset({","}), frozenset({"and", ",", "while", "but"})):
        places = [place for place, token in enumerate(segment) if token.lower in marks]
        found = [split for place in places if (split := _valid(segment, place, verb, after, mention))]
        if not found:
            continue
        last = found[-1]
        if "," in marks and len(marks) == 1 and not _asyndetic(last[0]):
            return [last]
        if after.plural and not after.passive:
            found = [split for split in found if _count(split[1], mention) > 1] or found
        return found[::-1]
    for place in range(1, len(segment)):  # "Blaf Blaf": a comma is missing between an effect and the same as a cause
        if segment[place].lower == segment[place - 1].lower:
            return [(segment[:place], segment[place:])]
    raise UnreadError(f'it cannot be told where in "{words_of(segment)}" one cause ends and the next begins')


def _valid(segment: Tokens, place: int, verb: _Verb, after: _Verb, mention: Mention) -> Split | None:
    left, right = _trimmed(segment[:place]), _trimmed(segment[place + 1 :])
    if place + 1 < len(segment) and segment[place + 1].lower in _OR:
        return None
    if len(right) == 1 and right[0].lower in _ANAPHORA:
        return left, _referred(left, right[0], mention)
    try:
        (read_condition if verb.passive else _effects)(left, mention)
        formulas = (_effects if after.passive else read_condition)(right, mention)
    except UnreadError:
        return None
    literals = [leaf.variable for leaf in _leaves(formulas[0])]
    together = any(token.lower in _JOINTLY | _SEVERALLY | {"both"} for token in right)
    bare_list = not together and _asyndetic(right) and not any(token.lower in _OR for token in right)
    if len(set(literals)) < len(literals) or (together and len(literals) == 1) or bare_list:
        return None
    return left, right


def _referred(left: Tokens, pronoun: Token, mention: Mention) -> Tokens:
    """What "which" after a clause stands for: its effect, where there is one and it is not negated."""
    items, _ = _split(left)
    if len(items) != 1 or not mention(items[0]).holds:
        raise UnreadError(f'it cannot be told what "{pronoun.text}" after "{words_of(left)}" stands for')
    return items[0]


def _asyndetic(tokens: Tokens) -> bool:
    lower = [token.lower for token in tokens]
    return "," in lower and "and" not in lower


def _count(tokens: Tokens, mention: Mention) -> int:
    return len(mentioned(read_condition(tokens, mention)[0]))


def _effects(tokens: Tokens, mention: Mention) -> list[Formula]:
    formulas = read_condition(_without(_trimmed(tokens), frozenset({"both"})), mention)
    leaves = _leaves(formulas[0])
    if formulas[0] != _join(leaves, every=True):
        raise UnreadError(f'"{words_of(tokens)}" leaves open which effect there is')
    return formulas


def _leaves(formula: Formula) -> list[Literal]:
    return [formula] if isinstance(formula, Literal) else [leaf for part in formula.parts for leaf in _leaves(part)]


def _clause(text: str, before: Tokens, verb: _Verb, behind: Tokens, mention: Mention) -> list[tuple[CausalRule, ...]]:
    before, behind = _without_fillers(before), _trimmed(behind)
    causes, effects = (behind, before) if verb.passive else (before, behind)
    if before and before[0].lower == "neither":
        raise UnreadError(f'"{words_of(before)}" denies a cause and gives no rule')
    if not causes or not effects:
        raise UnreadError(f'"{words_of([*before, *behind])}" lacks a cause or an effect')
    tail = effects[-1].lower
    if verb.makes and tail not in _EVENTS:
        raise UnreadError(f'"{words_of([*before, *behind])}" does not say that the effect occurs')
    if not verb.prevents and _FROM_ACTING.search(words_of(effects)):
        raise UnreadError(f'"{words_of(effects)}" is no effect')
    start, end = min(t.start for t in [*before, *behind]), max(t.end for t in [*before, *behind])
    literals = _leaves(_effects(effects, mention)[0])
    return [
        tuple(
            CausalRule(condition, Literal(each.variable, each.holds != verb.prevents), text[start:end], (start, end))
            for each in literals
        )
        for condition in read_condition(causes, mention)
    ]


def _without_fillers(tokens: Tokens) -> list[Token]:
    tokens = _trimmed(tokens)
    while tokens and tokens[-1].lower in _FILLERS:
        tokens = tokens[:-1]
    return tokens


def _bare_observation(tokens: Tokens, mention: Mention) -> Formula:
    """ "Trune occurred", "Trune was observed": the mention has a verb of its own."""
    tail = tokens[-1].lower
    if len(tokens) < 2 or tail not in ("occurred", "happened", "observed", "present", "absent"):
        raise UnreadError(f'"{words_of(tokens)}" is neither a rule nor an observation')
    return _only(read_condition(tokens, mention), tokens)


def _only(formulas: Sequence[Formula], tokens: Tokens) -> Formula:
    if len(formulas) > 1:
        raise UnreadError(f'"{words_of(tokens)}" can be grouped in two ways')
    return formulas[0]


def _combined(choices: Sequence[Sequence[T]]) -> list[tuple[T, ...]]:
    size = 1
    for each in choices:
        size *= len(each)
    if size > MOST_READINGS:
        raise UnreadError(f"the text has more than {MOST_READINGS} readings")
    return list(product(*choices))
