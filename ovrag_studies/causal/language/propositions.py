"""Text to causal statements: who is said to raise, lower, affect or not affect what, and in which words.

Nothing here knows a graph: mentions are the words of the text, with the words of direction ("a rise in", "falls") and
absence ("no", "without") still in them. What cannot be read is reported, never guessed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from ovrag_core.text import any_of, sentences
from ovrag_studies.causal.language import causal_clauses as clauses
from ovrag_studies.causal.language.causal_clauses import ClauseJoint, joint_of, mention
from ovrag_studies.causal.language.cues import CausalCue, Relation, find_cues
from ovrag_studies.causal.language.directions import is_state
from ovrag_studies.causal.language.wording import entries

LONGEST_SENTENCE = 1000  # characters; a longer one is no statement that could be checked
Polarity = Literal["positive", "negative"]
Span = tuple[int, int]


class Proposition(NamedTuple):
    """One statement. `subject` is the cause, whatever the order of words; `relation` is what it does to the object.

    `polarity` is negative where the text denies it ("does not raise", "it is not true that"; "has no effect on" is
    `affects` denied). `span` are offsets of the clause in the text, and `quote` is the text there. Mentions are words
    of the text, but for a pronoun, for which what it stands for is given ("this" after "X lowers Y": "a fall in Y").
    """

    subject: str
    relation: Relation
    object: str
    polarity: Polarity
    span: Span
    quote: str


class BareState(NamedTuple):
    """State that is said to be so, with no cause: "Given: rainfall rises"."""

    mention: str
    span: Span
    quote: str


class AskingSentence(NamedTuple):
    """Sentence that asks, and states nothing."""

    span: Span
    quote: str


class Unread(NamedTuple):
    """Words that could not be read as one of the others, and why."""

    span: Span
    quote: str
    reason: str


Item = Proposition | BareState | AskingSentence | Unread


class TextReading(NamedTuple):
    """All that a text holds, each in the order of the text."""

    propositions: tuple[Proposition, ...] = ()
    states: tuple[BareState, ...] = ()
    questions: tuple[AskingSentence, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def statements(self) -> list[Proposition | Unread]:
        """What is stated and what could not be read, in order, without states and questions."""
        return sorted([*self.propositions, *self.unread], key=lambda statement: statement.span)


@lru_cache(maxsize=1 << 12)
def read(text: str, compounds: frozenset[str] = frozenset()) -> TextReading:
    """Return all that a text holds; every sentence is in one of its parts.

    `compounds` are names in lower case that hold "and", a comma, or a word that looks like a verb; they are never taken
    apart (`NameLexicon.compounds`).
    """
    reader = _Reader(text, compounds)
    by_sentence: list[list[Item]] = [[]]
    for start, end in _sentences(text):
        by_sentence.append(reader.sentence(start, end, by_sentence[-1]))
    items = [item for sentence_items in by_sentence for item in sentence_items]
    return TextReading(
        tuple(item for item in items if isinstance(item, Proposition)),
        tuple(item for item in items if isinstance(item, BareState)),
        tuple(item for item in items if isinstance(item, AskingSentence)),
        tuple(item for item in items if isinstance(item, Unread)),
    )


# --- sentences and their openings

_ITEM_MARK = re.compile(r"\s*(?:[-*•–—·]+\s+|\(?\d{1,3}[.):]\s+|\(?[a-z]\)\s+|#+\s+|>\s+)")
_ASKED = re.compile(r"(?:question|task|query)\s*[:\-]", re.IGNORECASE)
_CLOSING = "\"'”’)] "
_OPENING = re.compile(
    rf"(?P<denied>(?:it|that)(?: is|'s|’s| would be) {any_of(entries('denials'))} that\s+)"
    rf"|(?P<given>{any_of(entries('openings', 'given'))}\b(?!\s+that\b)\s*[,:]?\s*)"
    rf"|(?P<consequent>{any_of(entries('openings', 'consequences'))}\b\s*,?\s*(?=\S))"
    rf"|{any_of(entries('openings', 'labels'))}(?: \d+)?\s*:\s*|{any_of(entries('openings', 'clauses'))}\s*,?\s*"
    rf"|{any_of(entries('openings', 'phrases'))}\b\s*,?\s*|{any_of(entries('openings', 'adverbs'))}\s*,\s*"
    r"|according to [a-z ]{3,40},\s*|(?:therefore|thus|hence|then|and|but|also|consequently|finally|so)\s+",
    re.IGNORECASE,
)


def _sentences(text: str) -> Iterator[Span]:
    """Spans of the sentences, without marks of lists and white space; the end of a line ends a sentence too."""
    for start, end in sentences(text, loose=True):
        mark = _ITEM_MARK.match(text, start, end)
        begin = mark.end() if mark else start
        if any(letter.isalnum() for letter in text[begin:end]):
            yield begin, end


# --- what a sentence states

_UNCERTAIN = re.compile(rf"(?<!\w){any_of(entries('conditions'))}(?!\w)", re.IGNORECASE)
_NOT_SO = re.compile(
    r"(?:\s*[,;(–—]+\s*|^|\s+(?=(?:and|but|yet)\s))(?:(?:and|but|yet|no|in fact|in reality)\b[,\s]*)*"
    r"(?:which|this|that|it)(?:\s+is|['’]s)\s+(?:(?:just|of course|in fact|[a-z]+ly)\s+)?"
    rf"{any_of(entries('denials'))}\)?$",
    re.IGNORECASE,
)
_CLEFT = re.compile(r"it (?:is|was) (?P<thing>(?:not\b.+\bbut\b.+|(?!not\b).+?)) (?:that|which|who)$", re.IGNORECASE)
_NOTHING = re.compile(r"(?:no|none|nobody|nothing)\b", re.IGNORECASE)
_NEITHER = re.compile(r"neither\s+(?P<first>.+?)\s+nor\s+(?P<second>.+)$", re.IGNORECASE | re.DOTALL)
_JOINED = re.compile(
    r"\b(?:together|jointly|combined|in combination|in turn|as a consequence|as a result|consequently)\b"
    r"|\b(?:then|finally|eventually|ultimately),? to\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    rf"(?:(?P<event>(?:all )?(?:this|that|these|those)(?:\s+(?:{clauses.CHANGES}))?|the latter|something that"
    r"|a change that)|(?P<vague>it|they|he|she|the former|one|which))$",
    re.IGNORECASE,
)


class _Unclear(Exception):
    """A sentence that cannot be read, with the reason."""


class _Clause(NamedTuple):
    """A cue with both sides, `start` and `end` in the text."""

    cause: str
    effect: str
    cue: CausalCue
    start: int
    end: int

    @property
    def outcome(self) -> str:
        """Referent of "which" or "this" behind the clause: what happens to its effect."""
        return f"a fall in {self.effect}" if self.cue.relation == "lowers" else self.effect


@dataclass(slots=True)
class _Reader:
    """A text that is read sentence by sentence; `before` is what "this" in the next one stands for."""

    text: str
    names: frozenset[str]
    before: str | None = None

    def sentence(self, start: int, end: int, last: list[Item]) -> list[Item]:
        """Read one sentence, given what the last one held; one that says only that this is not so changes the last."""
        whole = self.text[start:end]
        if whole.rstrip(_CLOSING).endswith("?") or _ASKED.match(whole):
            return [AskingSentence((start, end), whole)]
        if end - start > LONGEST_SENTENCE:
            return [Unread((start, end), whole, f"the sentence is longer than {LONGEST_SENTENCE} characters")]
        end = start + len(whole.rstrip(" .!;:"))
        ruled = _NOT_SO.search(self.text[start:end])
        if ruled and not ruled.start() and last:
            last[:] = self._taken_back(last, last[0].span[0], end)
            self.before = _outcome(last)
            return []
        items = self._opened(start, start + ruled.start() if ruled and ruled.start() else end)
        if ruled and ruled.start():
            items = self._taken_back(items, start, end)
        self.before = _outcome(items)
        return items

    def _opened(self, start: int, end: int) -> list[Item]:
        """Read a sentence by what opens it: words that deny it, that merely give it, or that say it follows."""
        body, kinds = start, list[str | None]()
        while match := _OPENING.match(self.text, body, end):
            kinds.append(match.lastgroup)
            body = match.end()
        if body >= end:
            return [Unread((start, end), self.text[start:end], "it has no matter of its own")]
        items = self._matter(body, end, "given" in kinds)
        if "consequent" in kinds and self.before and len(items) == 1 and isinstance(items[0], BareState):
            items = self._stated(self.before, "raises", items[0].mention, False, *items[0].span)
        return [_denied(item) for item in items] if kinds.count("denied") % 2 else items

    def _taken_back(self, items: list[Item], start: int, end: int) -> list[Item]:
        """Take back what was read of the words between `start` and `end`, which are said there not to be so."""
        if len(items) == 1:
            return [_denied(items[0])]
        return [self._unread(start, end, "it is said not to be so, and which part of it is not clear")]

    def _matter(self, start: int, end: int, given: bool = False) -> list[Item]:
        text = self.text[start:end]
        cues = find_cues(text.lower(), self._spans(text))
        if given and all(cue.weak for cue in cues):
            return [BareState(mention(text), (start, end), text)]
        try:
            if pair := clauses.correlative(text):
                return self._stated(pair[0], "raises", pair[1], False, start, end)
            if _UNCERTAIN.search(text):
                raise _Unclear("it holds under a condition, in spite of something, or perhaps")
            return self._framed(text, cues, start, end) or self._chained(cues, start, end)
        except _Unclear as why:
            return [self._unread(start, end, str(why))]

    def _framed(self, text: str, cues: list[CausalCue], start: int, end: int) -> list[Item]:
        """Two clauses that a conjunction makes cause and effect; nothing where there are none."""
        for frame in clauses.frames(text):
            if any(cue.start <= frame.joint_at < cue.end for cue in cues):
                continue
            relates = [self._relates(side) for side in (frame.cause, frame.effect)]
            if not any(relates):
                return self._stated(mention(frame.cause), "raises", mention(frame.effect), False, start, end)
            if frame.strength == "clause":
                raise _Unclear("a relation is given as a reason or as a condition")
            if frame.strength == "therefore" and not relates[1]:
                return self._concluded(frame, start, end)
        return []

    def _relates(self, side: str) -> bool:
        return any(not cue.weak for cue in find_cues(side.lower(), self._spans(side)))

    def _concluded(self, frame: clauses.ClauseFrame, start: int, end: int) -> list[Item]:
        """ "X lowers Y, so Z falls": what follows from the effect of the first clause."""
        items = self._matter(start, start + len(frame.cause))
        begin, outcome = start + frame.effect_at, _outcome(items)
        if outcome is None:
            return [*items, self._unread(begin, end, "what it follows from is not clear")]
        return [*items, *self._stated(outcome, "raises", mention(frame.effect), False, begin, end)]

    # --- clauses in a row

    def _chained(self, cues: list[CausalCue], start: int, end: int) -> list[Item]:
        text = self.text[start:end]
        if not cues:
            if "," not in text and is_state(text):
                return [BareState(mention(text), (start, end), text)]
            return [self._unread(start, end, "no words that relate a cause and an effect")]
        joints = [ClauseJoint(0, 0, "break"), *(joint_of(text, *pair) for pair in pairwise(cues))]
        ends = [*(joint.object_end for joint in joints[1:]), len(text)]
        objects = [mention(text[cue.end : stop]) for cue, stop in zip(cues, ends, strict=True)]
        items: list[Item] = []
        clause: _Clause | None = None
        for index, cue in enumerate(cues):
            object_ = next((o for o in objects[index:] if o), "")  # "raises and lowers Y"
            try:
                clause = self._clause(text[: ends[index]], cue, joints[index], object_, clause, start)
                sides = [(clause.cause, clause.effect), (clause.effect, clause.cause)]
                items += [
                    item
                    for cause, effect in (sides if cue.kind == "both" else sides[:1])
                    for item in self._stated(cause, cue.relation, effect, clause.cue.negative, clause.start, clause.end)
                ]
            except _Unclear as why:
                return [*items, self._unread(clause.end if clause else start, end, str(why))]
        return items

    def _clause(
        self, text: str, cue: CausalCue, joint: ClauseJoint, object_: str, before: _Clause | None, offset: int
    ) -> _Clause:
        """A cue with its sides; `text`, which begins at `offset`, ends with its object. Raises _Unclear."""
        left = text[joint.subject_start : cue.start]
        subject, negative = self._subject(left, cue, joint, before)
        if cue.hedged and negative:
            raise _Unclear("it says that there need be no effect, which denies nothing")
        if not subject or not object_:
            raise _Unclear("a cause or an effect is missing")
        begin = joint.subject_start if before is None or mention(left) else cue.start
        cause, effect = (object_, subject) if cue.kind == "backward" else (subject, object_)
        ends = max(cue.end, len(text.rstrip()))
        return _Clause(cause, effect, cue._replace(negative=negative), offset + begin, offset + ends)

    def _subject(self, left: str, cue: CausalCue, joint: ClauseJoint, before: _Clause | None) -> tuple[str, bool]:
        """Find what stands before a cue, or what that stands for, and whether the clause is denied."""
        words = mention(left)
        if before is None:
            if match := _NEITHER.match(words):
                return f"{match['first']} and {match['second']}", not cue.negative
            if _NOTHING.match(words):
                raise _Unclear('"no" may deny the effect or the thing')
            match = _CLEFT.match(words)
            return self._meant(mention(match["thing"]) if match else words, self.before), cue.negative
        if cue.means:
            return before.cause, cue.negative
        if joint.kind == "none":
            raise _Unclear("two verbs, and no word between them that says what belongs to which")
        if joint.kind in ("trailing", "relative") or (not words and cue.in_turn):
            return _outcome_of(before, sure=joint.kind == "trailing" or cue.in_turn), cue.negative
        if not words:
            return before.effect if before.cue.kind == "backward" else before.cause, cue.negative
        return self._meant(words, None if before.cue.negative else before.outcome), cue.negative

    def _meant(self, words: str, outcome: str | None) -> str:
        match = _PRONOUN.match(re.sub(r"\s+in turn$", "", words, flags=re.IGNORECASE))
        if match is None:
            return words
        if match["vague"] or outcome is None:
            raise _Unclear(f"what {words.lower()!r} stands for is not clear")
        return outcome

    # --- statements

    def _stated(self, cause: str, relation: Relation, effect: str, negative: bool, start: int, end: int) -> list[Item]:
        """One proposition for each cause and each effect. Raises _Unclear where it cannot be told which these are."""
        start, end = self._trimmed(start, end)
        if relation == "lowers":
            effect = re.sub(r"\s+down$", "", effect)  # "slows Y down"
        if _JOINED.search(cause) or _JOINED.search(effect):
            raise _Unclear("whether its parts act together or one after the other is not clear")
        causes, effects = (clauses.members(words, self._spans(words), negative) for words in (cause, effect))
        if not causes or not effects:
            raise _Unclear("a cause or an effect is missing")
        if len(effects) > 1 and re.search(r"\bor\b", effect, re.IGNORECASE) and not negative:
            raise _Unclear("one effect or another is no statement of either")
        return [
            Proposition(
                subject,
                relation,
                object_,
                "negative" if negative != (subject_turned != object_turned) else "positive",
                (start, end),
                self.text[start:end],
            )
            for subject, subject_turned in causes
            for object_, object_turned in effects
        ]

    def _spans(self, words: str) -> list[Span]:
        pattern = _pattern(self.names)
        return [match.span() for match in pattern.finditer(words.lower())] if pattern else []

    def _trimmed(self, start: int, end: int) -> Span:
        end = start + len(self.text[start:end].rstrip(" ,\n"))
        return end - len(self.text[start:end].lstrip(" ,\n")), end

    def _unread(self, start: int, end: int, reason: str) -> Unread:
        start, _ = self._trimmed(start, end)
        return Unread((start, end), self.text[start:end], reason)


@lru_cache(maxsize=64)
def _pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    return re.compile(rf"(?<!\w){any_of(names)}(?!\w)") if names else None


def _outcome_of(before: _Clause, *, sure: bool) -> str:
    if before.cue.negative:
        raise _Unclear("what follows from something that is denied is not clear")
    if before.cue.relation == "lowers" and not sure:
        raise _Unclear('"which" may be the fall or the thing that falls')
    return before.outcome


def _denied(item: Item) -> Item:
    if isinstance(item, Proposition):
        return item._replace(polarity="positive" if item.polarity == "negative" else "negative")
    if isinstance(item, BareState):
        return Unread(item.span, item.quote, "a denied state relates nothing")
    return item


def _outcome(items: Sequence[Item]) -> str | None:
    """Referent of "this" in the next sentence: the last effect, or the only state."""
    stated = [item for item in items if isinstance(item, Proposition)]
    if stated:
        latest = stated[-1]
        if latest.polarity == "negative" or len({p.object for p in stated if p.span == latest.span}) > 1:
            return None
        return f"a fall in {latest.object}" if latest.relation == "lowers" else latest.object
    return items[0].mention if len(items) == 1 and isinstance(items[0], BareState) else None
