"""Text to causal statements: who is said to raise, lower, affect or not affect what, and in which words.

Nothing here knows a graph: mentions are the words of the text, with the words of direction ("a rise in", "falls") and
absence ("no", "without") still in them. What cannot be read is reported, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from ovrag_core.text.tokens import any_of
from ovrag_studies.causal.language import clause_pairs
from ovrag_studies.causal.language.clause_pairs import ClauseFrame, mention
from ovrag_studies.causal.language.cue_patterns import Relation
from ovrag_studies.causal.language.cues import CausalCue, association, find_cues, signed
from ovrag_studies.causal.language.directions import is_state
from ovrag_studies.causal.language.listed_sides import CHANGES, contrasted, members, paired
from ovrag_studies.causal.language.sentence_openings import is_question, opening, ruling, statements
from ovrag_studies.causal.language.statements import (
    AskingSentence,
    BareState,
    Item,
    Proposition,
    Span,
    TextReading,
    Unread,
)

LONGEST_SENTENCE = 1000  # characters; a longer one is no statement that could be checked
LONGEST_TEXT = 100_000


def parse(text: str, compounds: Collection[str] = ()) -> list[Proposition | Unread]:
    """The statements of a text and what could not be read of it, in order; states and questions are left out.

    `compounds` are names in lower case that hold "and", a comma, or a word that looks like a verb; they are never taken
    apart (`Lexicon.compounds`).
    """
    reading = read(text, compounds)
    found: list[Proposition | Unread] = [*reading.propositions, *reading.unread]
    return sorted(found, key=lambda each: each.span)


def read(text: str, compounds: Collection[str] = ()) -> TextReading:
    """All that a text holds; every sentence is in one of its parts."""
    reader = _Reader(text, frozenset(compounds))
    by_sentence: list[list[Item]] = []
    for start, end in statements(text[:LONGEST_TEXT]):
        by_sentence.append(reader.sentence(start, end, by_sentence[-1] if by_sentence else []))
    items = [item for each in by_sentence for item in each]
    if len(text) > LONGEST_TEXT:
        rest = (LONGEST_TEXT, len(text))
        items.append(Unread(rest, text[LONGEST_TEXT:], f"the text is longer than {LONGEST_TEXT} characters"))
    return TextReading(
        tuple(item for item in items if isinstance(item, Proposition)),
        tuple(item for item in items if isinstance(item, BareState)),
        tuple(item for item in items if isinstance(item, AskingSentence)),
        tuple(item for item in items if isinstance(item, Unread)),
    )


# --- sentences

_CLEFT = re.compile(r"it (?:is|was) (?P<thing>(?:not\b.+\bbut\b.+|(?!not\b).+?)) (?:that|which|who)$", re.IGNORECASE)
_QUESTION_WORD = re.compile(r"^(?:what|how|whether|it (?:is|was) not)\b|\bwhat$", re.IGNORECASE)
_NOTHING = re.compile(r"(?:no|none|nobody|nothing)\b", re.IGNORECASE)
_NEITHER = re.compile(r"neither\s+(?P<first>.+?)\s+nor\s+(?P<second>.+)$", re.IGNORECASE | re.DOTALL)
_JOINT = re.compile(r"\b(?:together|jointly|combined|in combination)\b", re.IGNORECASE)
_LATER = re.compile(
    r"\b(?:in turn|as a consequence|as a result|consequently)\b|\b(?:then|finally|eventually|ultimately),? to\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r",?\s*\b(?:which|that)(?:\s+in\s+turn)?\s*$", re.IGNORECASE)
_PRONOUN = re.compile(
    rf"(?:(?P<event>(?:all )?(?:this|that|these|those)(?:\s+(?:{CHANGES}))?|the latter|something that|a change that)"
    r"|(?P<vague>it|they|he|she|the former|one|which))$",
    re.IGNORECASE,
)


class _Unclear(Exception):
    """A sentence that cannot be read, with the reason."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """A cue with both sides, `start` and `end` in the text."""

    cause: str
    effect: str
    cue: CausalCue
    start: int
    end: int

    @property
    def outcome(self) -> str:
        """What "which" or "this" stands for behind it: what happens to its effect."""
        return f"a fall in {self.effect}" if self.cue.relation == "lowers" else self.effect


@dataclass(slots=True)
class _Reader:
    """A text that is read sentence by sentence; `before` is what "this" in the next one stands for."""

    text: str
    names: frozenset[str]
    before: str | None = None

    def sentence(self, start: int, end: int, last: list[Item]) -> list[Item]:
        """What one sentence holds, given what the last one did. One that says of that whether it is so adds nothing to
        it, and changes it where it is not.
        """
        whole = self.text[start:end]
        if is_question(whole):
            return [AskingSentence((start, end), whole)]
        if end - start > LONGEST_SENTENCE:
            return [Unread((start, end), whole, f"the sentence is longer than {LONGEST_SENTENCE} characters")]
        end = start + len(whole.rstrip(" .!;:"))
        ruled = ruling(self.text[start:end])
        if ruled and not ruled.end and any(isinstance(item, Proposition) for item in last):
            if not ruled.holds:
                last[:] = self._taken_back(last, last[0].span[0], end)
                self.before = _outcome(last)
            return []
        opened = opening(self.text, start, end)
        if opened.body >= end:
            return [Unread((start, end), self.text[start:end], "it has no matter of its own")]
        ruled = ruling(self.text[opened.body : end])
        if ruled and ruled.end:
            items = self._matter(opened.body + ruled.start, opened.body + ruled.end, opened.given)
            if not ruled.holds:
                items = self._taken_back(items, opened.body, end)
        else:
            items = self._matter(opened.body, end, opened.given)
        if opened.consequent and self.before and len(items) == 1 and isinstance(items[0], BareState):
            items = self._stated(self.before, "raises", items[0].mention, False, *items[0].span)
        if opened.denied:
            items = [_denied(item) for item in items]
        self.before = _outcome(items)
        return items

    def _taken_back(self, items: list[Item], start: int, end: int) -> list[Item]:
        """What was read of words between `start` and `end`, of which others there say that they are not so."""
        if len(items) > 1:
            return [self._unread(start, end, "it is said not to be so, and which part of it is not clear")]
        (item,) = items
        denied = _denied(item)
        if not isinstance(denied, Proposition):
            return [denied]
        return [replace(denied, span=(start, end), quote=self.text[start:end])]

    def _matter(self, start: int, end: int, given: bool = False) -> list[Item]:
        """What a sentence holds behind its opening."""
        text = self.text[start:end]
        cues = find_cues(text.lower(), self._spans(text))
        if given and all(cue.weak for cue in cues):
            return [BareState(mention(text), (start, end), text)]
        try:
            return (
                self._whole(text, start, end) or self._framed(text, cues, start, end) or self._chained(cues, start, end)
            )
        except _Unclear as why:
            return [self._unread(start, end, str(why))]

    def _whole(self, text: str, start: int, end: int) -> list[Item]:
        """Sentences of a form of their own."""
        if clause_pairs.is_doubt(text):
            raise _Unclear("it states doubt, which claims nothing")
        if pairs := clause_pairs.unrelated(text):
            return [item for one, other in pairs for item in self._stated(one, "affects", other, True, start, end)]
        if pair := clause_pairs.correlative(text):
            return self._stated(pair[0], "raises", pair[1], False, start, end)
        if named := clause_pairs.named_cause(text):
            return self._stated(named[0], "raises", named[1], named[2], start, end)
        if signed := clause_pairs.signed_effect(text):
            cause, effect, up, negative = signed
            return self._stated(cause, "raises" if up else "lowers", effect, negative, start, end)
        if clause_pairs.is_conditional(text):
            raise _Unclear("it holds under a condition or in spite of something")
        return []

    # --- two clauses

    def _framed(self, text: str, cues: list[CausalCue], start: int, end: int) -> list[Item]:
        """Two clauses that a conjunction makes cause and effect; nothing where there are none."""
        for frame in clause_pairs.frames(text):
            if not clause_pairs.is_plain(frame) or any(cue.start <= frame.joint_at < cue.end for cue in cues):
                continue
            if not self._relates(frame.cause) and not self._relates(frame.effect):
                return self._stated(mention(frame.cause), "raises", mention(frame.effect), False, start, end)
            if frame.strength == "clause":
                return self._of_relations(frame, start, end)
            if frame.strength == "therefore" and not self._relates(frame.effect):
                return self._concluded(frame, start, end)
        return []

    def _relates(self, side: str) -> bool:
        return any(not cue.weak for cue in find_cues(side.lower(), self._spans(side)))

    def _concluded(self, frame: ClauseFrame, start: int, end: int) -> list[Item]:
        """ "X lowers Y, so Z falls": what follows from the effect of the first clause."""
        items = self._matter(start + frame.cause_at, start + frame.cause_at + len(frame.cause))
        if thing := clause_pairs.so_does(self.text[start + frame.effect_at : end]):
            return [*items, *self._likewise(items, thing, start + frame.effect_at, end)]
        outcome = _outcome(items)
        if outcome is None:
            return [*items, self._unread(start + frame.effect_at, end, "what it follows from is not clear")]
        return [*items, *self._stated(outcome, "raises", mention(frame.effect), False, start + frame.effect_at, end)]

    def _likewise(self, items: list[Item], thing: str, start: int, end: int) -> list[Item]:
        """ "X raises Y, and so does Z", "Y results from X, and so does Z": Z in the place of what stands first."""
        (item, *more) = items
        if more or not isinstance(item, Proposition) or item.polarity == "negative":
            return [self._unread(start, end, "what it says the same of is not clear")]
        if item.quote.find(item.subject) <= item.quote.find(item.object):
            return self._stated(thing, item.relation, item.object, False, start, end)
        return self._stated(item.subject, item.relation, thing, False, start, end)

    def _of_relations(self, frame: ClauseFrame, start: int, end: int) -> list[Item]:
        """A clause that relates something and stands under "because" is stated; under "if" it is not."""
        if frame.word != "because":
            raise _Unclear("it holds under a condition that is a relation itself")
        sides = [(start + frame.cause_at, frame.cause), (start + frame.effect_at, frame.effect)]
        found = [item for at, side in sides if self._relates(side) for item in self._matter(at, at + len(side))]
        return [*found, self._unread(start, end, "a relation is given as a reason")]

    # --- clauses in a row

    def _chained(self, cues: list[CausalCue], start: int, end: int) -> list[Item]:
        """Clauses that follow one another, each with its cue."""
        text = self.text[start:end]
        if not cues:
            return [self._without_cue(text, start, end)]
        if self._alternative(cues, text):
            return [self._unread(start, end, "one effect or another is no statement of either")]
        items: list[Item] = []
        clause: _Clause | None = None
        for at, cue in enumerate(cues):
            try:
                clause, negative = self._clause(cues, at, clause, start, end)
                items += self._stated(
                    clause.cause, clause.cue.relation, clause.effect, negative, clause.start, clause.end
                )
                if cue.kind == "both":
                    items += self._stated(
                        clause.effect, clause.cue.relation, clause.cause, negative, clause.start, clause.end
                    )
            except _Unclear as why:
                begin = start if clause is None else clause.end
                return [*items, self._unread(begin, end, str(why))]
        return items

    def _alternative(self, cues: list[CausalCue], text: str) -> bool:
        """Whether "or" stands between two verbs of which the first is not denied."""
        for first, second in pairwise(cues):
            between = text[first.end : second.start]
            names = self._spans(between)
            for match in re.finditer(r"\bor\b", between, re.IGNORECASE):
                if not first.negative and not any(start <= match.start() < end for start, end in names):
                    return True
        return False

    def _without_cue(self, text: str, start: int, end: int) -> Item:
        if association(text.lower()):
            return self._unread(start, end, "it says that two things go together, not which is the cause")
        if "," not in text and is_state(text):
            return BareState(mention(text), (start, end), text)
        return self._unread(start, end, "no words that relate a cause and an effect")

    def _clause(
        self, cues: list[CausalCue], at: int, before: _Clause | None, start: int, end: int
    ) -> tuple[_Clause, bool]:
        """A cue with its sides, and whether it is denied. Raises _Unclear where a side is missing or not certain."""
        cue, text = cues[at], self.text[start:end]
        left = text[cues[at - 1].end if at else 0 : cue.start]
        if cue.hedged and cue.negative:
            raise _Unclear("it says that there need be no effect, which denies nothing")
        neither = _NEITHER.match(mention(left)) if not at else None
        if neither:
            subject, negative = f"{neither['first']} and {neither['second']}", not cue.negative
        else:
            subject, negative = self._subject(left, cue, before), cue.negative
        object_ = self._object(text, cues, at)
        if not subject or not object_:
            raise _Unclear("a cause or an effect is missing")
        relation = cue.relation
        if (adverb := re.search(r"\s+\w+ly$", object_)) and signed(
            relation, adverb[0]
        ) != relation:  # "affects Y negatively"
            relation, object_ = signed(relation, adverb[0]), object_[: adverb.start()]
        cause, effect = (object_, subject) if cue.kind == "backward" else (subject, object_)
        begins = cue.start if at else 0
        gap = clause_pairs.break_at(left) if at else None
        if gap and mention(left[gap[1] :]):
            begins = cue.start - len(left) + gap[1]
        ends = cue.end + len(self._right(text, cues, at).rstrip())
        return _Clause(
            cause, effect, replace(cue, negative=negative, relation=relation), start + begins, start + ends
        ), negative

    def _subject(self, left: str, cue: CausalCue, before: _Clause | None) -> str:
        """What stands before a cue, or what it stands for."""
        if before is None:
            relative = _RELATIVE.search(left)
            words = mention(left[: relative.start()] if relative and "," in relative[0] else left)
            if _NOTHING.match(words):
                raise _Unclear('"no" may deny the effect or the thing')
            if cleft := _CLEFT.match(words):
                words = mention(cleft["thing"])
            if _QUESTION_WORD.search(words):
                raise _Unclear("what is said by the words before the verb is not clear")
            return self._meant(words, self.before)
        if cue.means:
            return before.cause
        if cue.trailing or _RELATIVE.search(left):
            return self._outcome_of(before, sure=cue.trailing or cue.in_turn)
        gap = clause_pairs.break_at(left)
        if gap is None:
            raise _Unclear("two verbs, and no word between them that says what belongs to which")
        words = mention(left[gap[1] :])
        if not words and cue.in_turn:
            return self._outcome_of(before, sure=True)
        if not words:
            return before.effect if before.cue.kind == "backward" else before.cause
        return self._meant(words, None if before.cue.negative else before.outcome)

    def _outcome_of(self, before: _Clause, *, sure: bool) -> str:
        if before.cue.negative:
            raise _Unclear("what follows from something that is denied is not clear")
        if before.cue.relation == "lowers" and not sure:
            raise _Unclear('"which" may be the fall or the thing that falls')
        return before.outcome

    def _meant(self, words: str, outcome: str | None) -> str:
        match = _PRONOUN.match(re.sub(r"\s+in turn$", "", words, flags=re.IGNORECASE))
        if match is None:
            return words
        if match["vague"] or outcome is None:
            raise _Unclear(f"what {words.lower()!r} stands for is not clear")
        return outcome

    def _object(self, text: str, cues: list[CausalCue], at: int) -> str:
        """What stands behind a cue; behind the next one where only "and" is between ("raises and lowers Y")."""
        right = self._right(text, cues, at)
        behind = text[cues[at].end : cues[at + 1].start] if at + 1 < len(cues) else ""
        if not mention(right) and clause_pairs.is_joined(behind):
            return mention(self._right(text, cues, at + 1))
        return mention(right)

    def _right(self, text: str, cues: list[CausalCue], at: int) -> str:
        """The words behind a cue up to the clause of the next."""
        if at + 1 == len(cues):
            return text[cues[at].end :]
        right = text[cues[at].end : cues[at + 1].start]
        if cues[at + 1].trailing:
            return right
        if relative := _RELATIVE.search(right):
            return right[: relative.start()]
        gap = clause_pairs.break_at(right)
        return right[: gap[0]] if gap else right

    # --- statements

    def _stated(self, cause: str, relation: Relation, effect: str, negative: bool, start: int, end: int) -> list[Item]:
        """One proposition for each cause and each effect."""
        while end > start and self.text[end - 1] in " ,\n":
            end -= 1
        while start < end and self.text[start] in " ,\n":
            start += 1
        if relation == "lowers":
            effect = re.sub(r"\s+down$", "", effect)  # "slows Y down"
        causes, effects = contrasted(cause, negative), contrasted(effect, negative)
        if len(causes) + len(effects) > 2:
            sides = [(one, other, no if len(causes) > 1 else not_) for one, no in causes for other, not_ in effects]
            return [item for one, other, no in sides for item in self._stated(one, relation, other, no, start, end)]
        quote = self.text[start:end]
        return [
            Proposition(one, relation, other, "negative" if denied else "positive", (start, end), quote)
            for one, other, denied in paired(*self._sides(cause, effect, negative), negative)
        ]

    def _sides(self, cause: str, effect: str, negative: bool) -> tuple[list[str], list[str]]:
        """The members of both sides. Raises _Unclear where it cannot be told what belongs to what."""
        if _JOINT.search(cause):
            raise _Unclear("causes that act together only are no single cause")
        if _LATER.search(effect):
            raise _Unclear("which of the effects is the cause of another is not clear")
        causes, effects = (members(words, self._spans(words)) for words in (cause, effect))
        if not causes or not effects:
            raise _Unclear("a cause or an effect is missing")
        if len(effects) > 1 and re.search(r"\bor\b", effect, re.IGNORECASE) and not negative:
            raise _Unclear("one effect or another is no statement of either")
        return causes, effects

    def _spans(self, words: str) -> list[Span]:
        """Where names stand that must not be taken apart."""
        pattern = _pattern(self.names)
        return [match.span() for match in pattern.finditer(words.lower())] if pattern else []

    def _unread(self, start: int, end: int, reason: str) -> Unread:
        while start < end and self.text[start] in " ,\n":
            start += 1
        return Unread((start, end), self.text[start:end], reason)


@lru_cache(maxsize=64)
def _pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    return re.compile(rf"(?<!\w){any_of(names)}(?!\w)") if names else None


def _denied(item: Item) -> Item:
    if isinstance(item, Proposition):
        return replace(item, polarity="positive" if item.polarity == "negative" else "negative")
    if isinstance(item, BareState):
        return Unread(item.span, item.quote, "a denied state relates nothing")
    return item


def _outcome(items: list[Item]) -> str | None:
    """What "this" in the next sentence stands for: the last effect, or the only state."""
    stated = [item for item in items if isinstance(item, Proposition)]
    if stated:
        last = stated[-1]
        if last.polarity == "negative" or len({each.object for each in stated if each.span == last.span}) > 1:
            return None
        return f"a fall in {last.object}" if last.relation == "lowers" else last.object
    return items[0].mention if len(items) == 1 and isinstance(items[0], BareState) else None
