"""The words of a sentence that relate a cause and an effect: patterns made of `language.yaml`, found and sorted out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ovrag_core.text import any_of
from ovrag_studies.causal.language.directions import split
from ovrag_studies.causal.language.wording import ADVERB, AUXILIARY, BE, DETERMINER, NOT, Form, entries, forms, inflect

Relation = Literal["raises", "lowers", "affects"]
Kind = Literal["forward", "backward", "both"]  # cause first, effect first, neither ("is independent of")
RELATIONS: tuple[Relation, ...] = ("raises", "lowers", "affects")

_PRE = rf"(?P<pre>(?:(?:{NOT}|{AUXILIARY}|{ADVERB})\s+){{0,5}})"
_START, _STOP = r"(?<![\w-])", r"(?![\w-])"
_BEING = rf"{BE}(?:n't|n’t)?\s+(?:(?:{NOT}|{ADVERB}|been|being|at least|in part|partly)\s+){{0,3}}"
_INNER_ADVERB = "(?:directly|indirectly|eventually|ultimately|usually|often|also|inevitably|quickly|slowly|mainly)"
_SIGNS: tuple[tuple[Relation, re.Pattern[str]], ...] = (
    ("raises", re.compile(r"\b(?:positive|favou?rable|beneficial|boosting|stimulating|reinforcing)")),
    ("lowers", re.compile(r"\b(?:negative|adverse|unfavou?rable|detrimental|inverse|harmful|inhibit|dampening)")),
)
_NEGATED = re.compile(rf"\b{NOT}(?=\s|$)|n't\b|n’t\b")
_ONLY = re.compile(r"\bnot (?:only|just|merely)\b")
_HEDGED = re.compile(  # denied of one way of causing only, or of its strength, or not quite
    r"\b(?:may|might|need|could|hardly|scarcely|barely|rarely|seldom)\b"
    r"|(?:\bnot|n't|n’t|\bnever)\s+(?:necessarily|always|usually|often|directly|immediately|strongly|greatly|much|solely"
    r"|entirely|wholly|fully|completely|exclusively|primarily|mainly|largely|substantially|considerably)\b"
    r"|\bno\s+(?:[a-z-]+\s+)?(?:direct|immediate|lasting|strong|large|big|great|major|known|proven|obvious|clear|further"
    r"|substantial|considerable|long-term|short-term)\s"
)
_NOUN_AFTER = re.compile(
    r"\s*(?:(?:of|in|for|by|at(?! (?:least|most))|from|with|on|among|between|do|does|did|is|are|was|were|has|have|had"
    r"|will|can|may|than)\b|[,.;:)]|$|and\s+(?:of|in)\b)"
)
_ADJECTIVE_BEFORE = re.compile(rf"(?:^|\b)(?:{DETERMINER}|more|less|fewer|higher|greater|further)\s*$")
_ADJECTIVES = frozenset((*entries("directions", "up", "adjectives"), *entries("directions", "down", "adjectives")))
_IN_TURN = re.compile(r"\b(?:in turn|thereby|thus|hence)\b")


class CausalCue(NamedTuple):
    """Words at `start` to `end` that relate what is before and behind them.

    `weak`: the words may be a noun or an adjective as well. `trailing`: an -ing form behind a clause ("…, raising Y").
    """

    start: int = 0
    end: int = 0
    relation: Relation = "raises"
    kind: Kind = "forward"
    negative: bool = False
    hedged: bool = False
    weak: bool = False
    trailing: bool = False
    in_turn: bool = False
    means: bool = False  # "by raising Y", which the same cause does
    moving: bool = False  # its object says where it goes: "makes X rise"


Verbs = Mapping[str, tuple[Relation, bool]]
"""What a verb says, and whether it may be no verb."""
CueForm = tuple[str, CausalCue, Verbs]
"""A pattern of cues, what all of them have in common, and what its verbs say. Its group `no` denies."""


def find_cues(sentence: str, names: Sequence[tuple[int, int]] = ()) -> list[CausalCue]:
    """Return the cues of a sentence in lower case, in order, none within another or within one of the `names` (spans).

    Nouns and adjectives that look like verbs are left out.
    """
    disjoint: list[CausalCue] = []
    for cue in sorted(_all(sentence), key=lambda cue: (cue.start, -cue.end)):
        named = any(start <= cue.start and cue.end <= end for start, end in names)
        if named or _is_no_verb(cue, "x", sentence[cue.end :]):
            continue
        if not disjoint or cue.start >= disjoint[-1].end:
            disjoint.append(cue)
    cues = _spaced(sentence, disjoint)
    ends = [0, *(cue.end for cue in cues)]
    starts = [*(cue.start for cue in cues[1:]), len(sentence)]
    return [
        cue
        for before, cue, after in zip(ends, cues, starts, strict=False)
        if not _is_no_verb(cue, sentence[before : cue.start], sentence[cue.end : after])
    ]


def may_relate(name: str) -> bool:
    """Return True where a word of a name looks like a verb that relates something."""
    return next(_all(f"x {name} y"), None) is not None


def _spaced(sentence: str, cues: list[CausalCue]) -> list[CausalCue]:
    """Of two cues with nothing between them one is no verb: "tax cuts boost", "leads to reduced"."""
    spaced: list[CausalCue] = []
    for cue in cues:
        if spaced and not cue.trailing and not sentence[spaced[-1].end : cue.start].strip():
            if cue.weak and (not spaced[-1].weak or sentence[cue.start : cue.end] in _ADJECTIVES):
                continue
            spaced.pop()
        spaced.append(cue)
    return spaced


def _is_no_verb(cue: CausalCue, before: str, after: str) -> bool:
    """Return True for a noun ("a rise in", "the causes of"), an adjective ("reduced growth"), and without an object."""
    if cue.kind != "forward" or cue.trailing:
        return False
    if not after.strip(" ,.") or _NOUN_AFTER.match(after) is not None:
        return True
    if cue.moving and split(after.split(",", maxsplit=1)[0]).direction == "none":
        return True
    return cue.weak and (not before.strip(" ,") or _ADJECTIVE_BEFORE.search(before) is not None)


def _all(sentence: str) -> Iterator[CausalCue]:
    """Everything that may be a cue, in no order, overlapping."""
    for pattern, form, by_verb in _FORMS:
        for match in pattern.finditer(sentence):
            yield _cue(match, form, by_verb)


def _cue(match: re.Match[str], form: CausalCue, by_verb: Verbs) -> CausalCue:
    words, groups = _ONLY.sub("", match[0]), match.groupdict()
    head, *particles = (groups.get("verb") or "-").split()
    verb = " ".join([head, *(word for word in particles if not re.fullmatch(_INNER_ADVERB, word))])
    relation, weak = by_verb.get(verb, (form.relation, False))
    if relation == "affects":
        relation = next((sign for sign, pattern in _SIGNS if pattern.search(words)), relation)
    # something before the verb or in its form shows that it is one
    is_verb = form.kind != "forward" or form.trailing or bool(groups.get("pre") or groups.get("helped"))
    denials = len(_NEGATED.findall(words)) + bool(groups.get("no"))
    return form._replace(
        start=match.start(),
        end=match.end(),
        relation=relation,
        negative=form.negative or denials % 2 == 1,
        hedged=_HEDGED.search(words) is not None,
        weak=(weak or form.moving) and not is_verb,
        in_turn=_IN_TURN.search(words) is not None,
        means=groups.get("by") is not None,
    )


def _verbs(*names: Form) -> Verbs:
    """These forms of the verbs, each with what it says and whether it may be no verb at all: a noun or an adjective."""
    return {
        verb[name]: (relation, strength == "ambiguous" if name == "third" else " " not in verb["base"])
        for relation in RELATIONS
        for strength in ("ambiguous", "plain")
        for verb in map(inflect, entries("verbs", relation, strength))
        for name in names
    }


def _forms() -> Iterator[CueForm]:
    forward, passive, trailing = _verbs("base", "past", "participle", "third"), _verbs("participle"), _verbs("ing")
    after = CausalCue(kind="backward")
    loose = any_of(forward).replace(r"\s+", rf"\s+(?:{_INNER_ADVERB}\s+)?")
    yield rf"{_START}{_PRE}(?P<verb>{loose}){_STOP}", CausalCue(), forward
    aside = r"(?:(?:up|down|in part|at least in part|mainly|largely|chiefly)\s+)?"
    by = rf"(?P<verb>{any_of(passive)})\s+{aside}(?:by|through|via){_STOP}"
    yield rf"{_START}{_PRE}{_BEING}{by}", after, passive
    for relation in RELATIONS:
        listed = any_of(forms(entries("backward", relation), "base", "third", "past"))
        yield rf"{_START}{_PRE}{listed}{_STOP}", after._replace(relation=relation), {}
    due = any_of(entries("adjectival"))
    yield rf"{_START}{_PRE}{_BEING}{due}{_STOP}", after, {}
    then = r"(?:(?:and|thus|thereby|hence|so|ultimately|in turn|therefore|then|eventually|finally|not)\s+){0,3}"
    behind = rf"(?:,\s*{then}|\s(?:thus|thereby|hence)\s+|\s(?P<by>by)\s+)"
    yield rf"{behind}(?P<verb>{any_of(trailing)}){_STOP}", CausalCue(trailing=True), trailing
    nouns = entries("movers that are nouns")
    movers = any_of([*forms(entries("movers"), "base", "third", "past"), *forms(nouns, "third", "past")])
    helped = rf"(?P<helped>(?:(?:{NOT}|{AUXILIARY}|{ADVERB})\s+){{1,5}}){any_of(forms(nouns, 'base'))}"
    moved = rf"{_START}(?:{helped}|{_PRE}{movers}){_STOP}(?=\s+(?!of\b|in\b))"
    yield moved, CausalCue(moving=True), {}
    effect = r"(?:effect|influence|impact|bearing)s?\s+(?:whatsoever |at all |whatever )?(?:on|upon)"
    amount = r"(?:(?:absolutely |virtually |practically )?(?P<no>no|zero)|an?|some|any)\s+(?:[a-z-]+\s+){0,2}?"
    have = r"(?:has|have|had|having|exerts?|exerted)\s+"
    yield rf"{_START}{_PRE}{have}{amount}{effect}{_STOP}", CausalCue(relation="affects"), {}
    source = r"(?:an?|the|one|one of the)\s+(?:[a-z-]+\s+){0,2}?(?:causes?|drivers?|source|reasons?) (?:of|for|behind)"
    yield rf"{_START}{_PRE}{_BEING}(?:{source}|responsible for|behind){_STOP}", CausalCue(), {}
    nothing = (
        r"(?:(?:does|do|did)(?: nothing|n't do anything| not do anything) (?:at all )?to"
        r"|(?:makes?|made) no difference (?:at all |whatsoever )?to)"
    )
    yield rf"{_START}{_PRE}{nothing}{_STOP}", CausalCue(relation="affects", negative=True), {}
    apart = (
        rf"(?:{BE} (?:{ADVERB} )?(?:independent of|unrelated to|not related to)|(?:has|have|had) nothing to do with)"
    )
    yield rf"{_START}{apart}{_STOP}", CausalCue(kind="both", relation="affects", negative=True), {}
    untouched = rf"(?:{BE}|remains?|remained|stays?|stayed) (?:untouched|unaffected|unchanged|uninfluenced) by"
    yield rf"{_START}{untouched}{_STOP}", after._replace(relation="affects", negative=True), {}
    yield r"\s*(?:-+>|=+>|→|⟶|⇒|⟹)\s*", CausalCue(trailing=True), {}


_FORMS = [(re.compile(pattern), form, by_verb) for pattern, form, by_verb in _forms()]
