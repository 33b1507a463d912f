"""Text to causal statements: who is said to raise, lower, affect or not affect what, and in which words.

Nothing here knows a graph: mentions are the words of the text, with the words of direction ("a rise in", "falls") and
absence ("no", "without") still in them. What cannot be read is reported, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from ovrag_core.studies.causal.cues import Cue, Relation, association, find_cues
from ovrag_core.studies.causal.directions import has_motion
from ovrag_core.studies.causal.wording import any_of

Polarity = Literal["positive", "negative"]
Span = tuple[int, int]

LONGEST_SENTENCE = 1000  # characters; a longer one is no statement that could be checked
LONGEST_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class Proposition:
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


@dataclass(frozen=True, slots=True)
class State:
    """What is said to be so, with no cause: "Given: rainfall rises"."""

    mention: str
    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence that asks, and states nothing."""

    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Words that could not be read as one of the others, and why."""

    span: Span
    quote: str
    reason: str


Item = Proposition | State | Question | Unread


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a text holds, each in the order of the text."""

    propositions: tuple[Proposition, ...] = ()
    states: tuple[State, ...] = ()
    questions: tuple[Question, ...] = ()
    unread: tuple[Unread, ...] = ()


def parse(text: str, compounds: Collection[str] = ()) -> list[Proposition | Unread]:
    """The statements of a text and what could not be read of it, in order; states and questions are left out.

    `compounds` are names in lower case that hold "and", a comma, or a word that looks like a verb; they are never taken
    apart (`Lexicon.compounds`).
    """
    reading = read(text, compounds)
    found: list[Proposition | Unread] = [*reading.propositions, *reading.unread]
    return sorted(found, key=lambda each: each.span)


def read(text: str, compounds: Collection[str] = ()) -> Reading:
    """All that a text holds; every sentence is in one of its parts."""
    reader = _Reader(text, frozenset(compounds))
    items = [item for start, end in _sentences(text[:LONGEST_TEXT]) for item in reader.sentence(start, end)]
    if len(text) > LONGEST_TEXT:
        rest = (LONGEST_TEXT, len(text))
        items.append(Unread(rest, text[LONGEST_TEXT:], f"the text is longer than {LONGEST_TEXT} characters"))
    return Reading(
        tuple(item for item in items if isinstance(item, Proposition)),
        tuple(item for item in items if isinstance(item, State)),
        tuple(item for item in items if isinstance(item, Question)),
        tuple(item for item in items if isinstance(item, Unread)),
    )


# --- sentences

_END = re.compile(r"[.!?;](?=[\s\"'”’)\]]|$)[\"'”’)\]]*|\n+")
_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|mrs|ms|prof|st|u\.s|u\.k)|\b[a-z])\.$", re.IGNORECASE
)
_MARK = re.compile(r"\s*(?:[-*•–—·]+\s+|\(?\d{1,3}[.):]\s+|\(?[a-z]\)\s+|#+\s+|>\s+)")
_ASKED = re.compile(r"question\s*[:\-]", re.IGNORECASE)


def _sentences(text: str) -> Iterator[Span]:
    """Spans of the sentences, each trimmed; a line ends one too."""
    start = 0
    for match in _END.finditer(text):
        if match[0][0] == "." and _NO_END.search(text, max(start, match.start() - 12), match.start() + 1):
            if not re.match(r"\s+[A-Z]", text[match.end() : match.end() + 3]) or not _is_last_letter(
                text, start, match.start()
            ):
                continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _is_last_letter(text: str, start: int, end: int) -> bool:
    """Whether the sentence ends with a name of one letter ("… lowers Y.")."""
    return re.search(r"(?:^|\s)[A-Za-z]$", text[start:end]) is not None


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    mark = _MARK.match(text, start, end)
    start = mark.end() if mark else start
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if any(letter.isalnum() for letter in text[start:end]):
        yield start, end


# --- what opens a sentence

_DENIAL = re.compile(
    r"(?:it(?:'s| is|’s)|that(?:'s| is)) (?:simply |just |plainly )?(?:not (?:true|the case|so|correct|right|a fact)|false|untrue|wrong(?: to say)?|incorrect|a myth|a mistake to think)"
    r" that\s+|contrary to (?:popular |common )?belief,?\s+(?!x)x|it does not follow that\s+",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"there is no (?:\w+ )?(?:evidence|proof|sign) (?:that|of)\b|it is (?:unlikely|doubtful|unclear|unknown|possible|disputed|debated|uncertain)\b|nobody knows|perhaps|maybe\b|(?:we|i) doubt\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:(?:given|assume|suppose|assumption|premise|premises|fact|facts|note|conclusion|answer|context|claim|statement|result|step \d+|hint|known|also|summary|observation)(?: \d+)?\s*:\s*"
    r"|(?:given that|assume that|suppose that|assuming that|we know that|it is known that|it is well known that|it is true that|it is a fact that|it is clear that|it follows that|it turns out that|it is (?:often |widely |generally )?(?:said|believed|held|established|accepted|argued) that|we observe[d]? that|we find that|note that|recall that|remember that|this means that|that means that|the fact is that|studies (?:have )?(?:show|shown|find|found) that|research (?:shows|has shown|finds) that|evidence shows that|experts (?:say|agree) that|as everybody knows|as is well known|as a rule|in fact|of course|in general|in practice|all else (?:being )?equal|other things (?:being )?equal|ceteris paribus|in conclusion|to sum up|in summary|in short|in other words|put differently|that is|for example|for instance|on the other hand|at the same time|by contrast|in contrast|in addition|as a result of this|as a result|as a consequence|in consequence|in turn|after that|from this|it also holds that|according to [a-z ]{3,40}(?=,)|given the above|based on this|what we start from is|we start from|we start with|our starting point is|the starting point is|it (?:all )?starts with|suppose that there is|suppose there is|assume there is|suppose|assume|imagine that|imagine|let us assume that|consider)\b\s*,?\s*"
    r"|(?:therefore|thus|hence|so|then|consequently|accordingly|moreover|furthermore|also|finally|first|firstly|second|secondly|third|thirdly|next|lastly|similarly|likewise|overall|ultimately|eventually|generally|typically|usually|often|importantly|clearly|indeed|still|however|nevertheless|nonetheless|conversely|additionally|meanwhile|instead|afterwards|subsequently|and|but|note|again|here|now|yes|no|remember|apparently|presumably|obviously|basically|essentially)\b\s*,\s*"
    r"|(?:therefore|thus|hence|then|and|but|also|consequently|finally|so)\b\s+(?!(?:does|do|is|are)\b))",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"(?:given|assume|suppose|assumption|premise|observation|what we start|we start|our start|the start|it (?:all )?starts|imagine|let us assume|consider|we observe)\b",
    re.IGNORECASE,
)

# --- clauses

_NOUN_REASON = r"(?:because of|due to|owing to|thanks to|as a result of|as a consequence of|on account of|in response to|as an effect of|under the influence of|in consequence of|by virtue of)"
_CLAUSE_REASON = r"(?:because|as soon as|every time|each time|whenever|when|if|once)"
_WEAK_REASON = r"(?:since|as|with|without|under|where|wherever|given|in the absence of|for|while)"
_THEREFORE = (
    r"(?:,?\s*and\s+(?:so|therefore|thus|hence|consequently|as a result|then|in consequence)|,?\s*(?:therefore|hence|consequently|so that|with the result that|which means that|which means|meaning that|meaning|which is why)"
    r"|,\s*(?:so|thus|then|as a result|which is why)|;\s*(?:so|therefore|thus|hence|then|consequently|as a result))"
)
_FIRST_CLAUSE = re.compile(
    rf"^(?P<word>{_NOUN_REASON}|{_CLAUSE_REASON}|{_WEAK_REASON})\s+(?P<cause>[^,]+?)(?:,\s*(?:then\s+)?|\s+then\s+)(?P<effect>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LAST_CLAUSE = re.compile(
    rf"^(?P<effect>.*?\S)(?P<comma>,?)\s+(?:(?:precisely|mainly|largely|chiefly|simply|partly|just|mostly|only|even)\s+)?(?P<word>{_NOUN_REASON}|{_CLAUSE_REASON}|{_WEAK_REASON})\s+(?P<cause>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_SO_CLAUSE = re.compile(rf"^(?P<cause>.*?\S){_THEREFORE}\s*,?\s+(?P<effect>\S.*)$", re.IGNORECASE | re.DOTALL)
_CORRELATIVE = re.compile(
    r"^the\s+(?P<first>more|less|fewer|higher|lower|greater|smaller|larger|stronger|weaker|faster|slower|longer|shorter|bigger)\s+(?P<cause>[^,]+),\s*"
    r"the\s+(?P<second>more|less|fewer|higher|lower|greater|smaller|larger|stronger|weaker|faster|slower|longer|shorter|bigger)\s+(?P<effect>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_LINKING_VERB = re.compile(
    r"\s+(?:(?:there )?(?:is|are|was|were|gets?|becomes?|will be|it is|there will be))(?:\s+there)?$|^of\s+",
    re.IGNORECASE,
)
_UNRELATED = re.compile(
    r"^(?P<first>.+?)\s+and\s+(?P<second>.+?)\s+are\s+(?:causally |completely |entirely |mutually )?(?:independent|unrelated|unconnected)(?:\s+of each other|\s+of one another)?$"
    r"|^there\s+is\s+no\s+(?:causal |direct )?(?:link|effect|influence|connection|relation|relationship)\s+(?:of|between|from)\s+(?P<third>.+?)\s+(?:and|on|to)\s+(?P<fourth>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(
    r"\b(?:unless|although|though|even if|even though|only if|only when|whether|except|provided that|as long as|until)\b",
    re.IGNORECASE,
)
_MENTION_EDGE = ' \t\r\n.,;:!?"“”‘*_`'
_BEFORE_MENTION = re.compile(
    r"^(?:(?:and|but|or|so|then|that|both|either|in turn|also|thus|hence|while|whereas|because|to|therefore)\b[,\s]*)+",
    re.IGNORECASE,
)
_AFTER_MENTION = re.compile(
    r"(?:[,\s]+(?:and|but|or|so|then|in turn|as well|too|also|thus|hence|while|whereas|both|thereby|therefore))+$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?:(?P<event>(?:all |and )?(?:this|that|these|those|the latter)(?:\s+(?:change|rise|fall|increase|decrease|drop|decline|effect|shift|reduction|growth))?|which|a change that|something that|this in turn|which in turn)|(?P<vague>it|they|he|she|the former|one))$",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"^(?:this|that|these|those)\s+(?P<word>rise|fall|increase|decrease|drop|decline|reduction|growth)$", re.IGNORECASE
)
_BREAKS = (
    re.compile(
        r"(?:;\s*(?:and|but|while|whereas)?|,\s*(?:and|but|while|whereas|so)|\s(?:but|while|whereas))(?=\s|$)",
        re.IGNORECASE,
    ),
    re.compile(r"\sand(?=\s|$)", re.IGNORECASE),
    re.compile(r",(?=\s|$)"),
)
_LISTED = re.compile(r"\s*,\s*(?:and|or|as well as)\s+|\s*,\s*|\s+(?:and|as well as|or)\s+", re.IGNORECASE)
_RELATIVE = re.compile(r"(?:,?\s*)\b(?:which|that)(?:\s+in\s+turn)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Clause:
    """The two sides of a cue while a sentence is read."""

    cause: str
    effect: str
    cue: Cue


@dataclass(slots=True)
class _Reader:
    """A text that is read sentence by sentence. `before` is what "this" in the next sentence stands for."""

    text: str
    compounds: frozenset[str]
    before: str | None = None
    _given: bool = field(default=False)

    def sentence(self, start: int, end: int) -> list[Item]:
        """What one sentence holds, at least one item."""
        whole = self.text[start:end]
        if whole.rstrip("\"'”’)").endswith("?") or _ASKED.match(whole):
            return [Question((start, end), whole)]
        if end - start > LONGEST_SENTENCE:
            return [Unread((start, end), whole, f"the sentence is longer than {LONGEST_SENTENCE} characters")]
        body, end = start, start + len(whole.rstrip(" .!;:"))
        denied, self._given = False, False
        while True:
            if match := _DENIAL.match(self.text, body, end):
                denied = not denied
            elif match := _OPENING.match(self.text, body, end):
                self._given = self._given or _GIVEN.match(match[0]) is not None
            else:
                break
            body = match.end()
        items = self._body(body, end)
        stated = [self._denied(item) if denied else item for item in items]
        last = [item for item in stated if isinstance(item, Proposition)]
        self.before = _event(last[-1]) if last and last[-1].polarity == "positive" else None
        if not last and len(stated) == 1 and isinstance(stated[0], State):
            self.before = stated[0].mention
        return stated

    def _denied(self, item: Item) -> Item:
        if isinstance(item, Proposition):
            polarity: Polarity = "positive" if item.polarity == "negative" else "negative"
            return Proposition(item.subject, item.relation, item.object, polarity, item.span, item.quote)
        if isinstance(item, State):
            return Unread(item.span, item.quote, "a denied state relates nothing")
        return item

    def _body(self, start: int, end: int) -> list[Item]:
        if start >= end:
            return []
        text = self.text[start:end]
        lower = text.lower()
        if _DOUBT.match(lower):
            return [self._unread(start, end, "it states doubt, which claims nothing")]
        if match := _UNRELATED.match(text):
            first, second = match["first"] or match["third"], match["second"] or match["fourth"]
            return [
                *self._stated(first, "affects", second, True, start, end),
                *(self._stated(second, "affects", first, True, start, end) if match["first"] else []),
            ]
        if match := _CORRELATIVE.match(text):
            cause, effect = (
                _compared(match[side], match[what]) for side, what in (("first", "cause"), ("second", "effect"))
            )
            return self._stated(cause, "raises", effect, False, start, end)
        cues = find_cues(lower, self._names(lower))
        frame = self._frame(text, cues, start, end)
        if frame is not None:
            return frame
        if cues and not (self._given and all(cue.weak for cue in cues)):
            return self._chain(text, cues, start, end)
        if association(lower):
            return [self._unread(start, end, "it says that two things go together, not which is the cause")]
        if self._given or has_motion(text):
            return [State(_mention(text), (start, end), text)]
        return [self._unread(start, end, "no words that relate a cause and an effect")]

    def _frame(self, text: str, cues: list[Cue], start: int, end: int) -> list[Item] | None:
        """Two clauses that a conjunction makes cause and effect; None where there are none."""
        if _CONDITION.search(text):
            return [self._unread(start, end, "it holds under a condition or concession only")]
        for pattern in (_FIRST_CLAUSE, _SO_CLAUSE, _LAST_CLAUSE):
            match = pattern.match(text)
            if match is None:
                continue
            cause, effect = match["cause"], match["effect"]
            word = match["word"].lower() if "word" in pattern.groupindex else "so"
            inner = [
                any(not cue.weak for cue in find_cues(side.lower(), self._names(side.lower())))
                for side in (cause, effect)
            ]
            if re.fullmatch(_WEAK_REASON, word) and (
                any(inner) or not (has_motion(effect) and (word in _BARE or has_motion(cause)))
            ):
                continue
            if (
                any(
                    cue.start <= match.start("word" if "word" in pattern.groupindex else "cause") < cue.end
                    for cue in cues
                )
                and pattern is _LAST_CLAUSE
            ):
                continue
            if not any(inner):
                if (
                    pattern is not _FIRST_CLAUSE
                    and not has_motion(effect)
                    and word not in _NOUN_WORDS
                    and pattern is _SO_CLAUSE
                ):
                    continue
                if word in ("without", "in the absence of"):
                    cause = f"{word} {cause}" if word == "without" else f"absence of {cause}"
                return self._stated(_mention(cause), "raises", _bare(_mention(effect)), False, start, end)
            if word in ("so",) or re.fullmatch(_NOUN_REASON, word):
                continue
            if word == "because":
                at = [start + match.start(side) for side in ("cause", "effect")]
                parts = [self._body(begin, begin + len(side)) for begin, side in zip(at, (cause, effect), strict=True)]
                found = [item for part in parts for item in part if not isinstance(item, State)]
                return [*found, self._unread(start, end, "a relation is given as a reason")]
            return [self._unread(start, end, "it holds under a condition that is a relation itself")]
        return None

    def _chain(self, text: str, cues: list[Cue], start: int, end: int) -> list[Item]:
        """Clauses that follow one another, each with its cue."""
        items: list[Item] = []
        clause: _Clause | None = None
        for at, cue in enumerate(cues):
            left_from = cues[at - 1].end if at else 0
            right_to = cues[at + 1].start if at + 1 < len(cues) else len(text)
            left, right = text[left_from : cue.start], text[cue.end : right_to]
            subject = self._subject(left, cue, clause, at)
            if isinstance(subject, str) and at + 1 < len(cues):
                right = _object_of(right, cues[at + 1])
            if isinstance(subject, Unread):
                subject_reason = subject.reason
                items.append(self._unread(start, end, subject_reason))
                return items
            begin = start + (left_from if at else 0)
            object_ = _mention(right)
            if not object_ and at + 1 < len(cues) and _AFTER_MENTION.search(" " + right.rstrip()):
                object_ = _mention(
                    _object_of(
                        text[cues[at + 1].end : cues[at + 2].start if at + 2 < len(cues) else len(text)],
                        cues[at + 2] if at + 2 < len(cues) else None,
                    )
                )
            if not subject or not object_:
                items.append(self._unread(start, end, "a cause or an effect is missing"))
                return items
            if cue.hedged and cue.negative:
                items.append(self._unread(start, end, "it says that there need be no effect, which denies nothing"))
                return items
            cause, effect = (object_, subject) if cue.kind == "backward" else (subject, object_)
            clause = _Clause(cause, effect, cue)
            items += self._stated(
                cause, cue.relation, effect, cue.negative, begin if at else start, start + cue.end + len(right.rstrip())
            )
            if cue.kind == "both":
                items += self._stated(
                    effect,
                    cue.relation,
                    cause,
                    cue.negative,
                    begin if at else start,
                    start + cue.end + len(right.rstrip()),
                )
        return items

    def _subject(self, left: str, cue: Cue, before: _Clause | None, at: int) -> str | Unread:
        """What stands before a cue, or what it stands for."""
        none = Unread((0, 0), "", "")
        if at == 0:
            words = (
                _mention(_RELATIVE.sub("", left)) if _RELATIVE.search(left) and "," in left[-12:] else _mention(left)
            )
            if re.match(r"(?:neither|no|none|nobody|nothing)\b", words, re.IGNORECASE):
                return Unread((0, 0), "", '"no" may deny the effect or the thing')
            return self._pronoun(words, self.before) or none
        assert before is not None
        if cue.trailing:
            return _thing(before) if before.cue.kind != "both" else none
        if _RELATIVE.search(left.rstrip()):
            if before.cue.negative:
                return Unread((0, 0), "", '"which" stands for something that is denied')
            if before.cue.relation == "lowers" and "turn" not in left[-8:]:
                return Unread((0, 0), "", '"which" may be the fall or the thing that falls')
            return _thing(before)
        tail = _after_break(left)
        if tail is None:
            return Unread((0, 0), "", "two verbs, and no word between them that says what belongs to which")
        words = _mention(tail)
        if not words:
            return before.effect if before.cue.kind == "backward" else before.cause
        return self._pronoun(words, None if before.cue.negative else _thing(before)) or none

    def _pronoun(self, words: str, stands_for: str | None) -> str | Unread:
        words = re.sub(r"\s+in turn$", "", words, flags=re.IGNORECASE)
        match = _PRONOUN.match(words)
        if match is None:
            return words
        if match["vague"] or stands_for is None:
            return Unread((0, 0), "", f"what {words.lower()!r} stands for is not clear")
        return stands_for

    def _stated(self, cause: str, relation: Relation, effect: str, negative: bool, start: int, end: int) -> list[Item]:
        """One proposition for each cause and each effect."""
        while end > start and self.text[end - 1] in " ,\n":
            end -= 1
        while start < end and self.text[start] in " ,\n":
            start += 1
        if re.search(r"\b(?:together|jointly|combined|in combination)\b", cause, re.IGNORECASE):
            return [self._unread(start, end, "causes that act together only are no single cause")]
        causes, effects = self._members(cause), self._members(effect)
        if not causes or not effects:
            return [self._unread(start, end, "a cause or an effect is missing")]
        if len(effects) > 1 and re.search(r"\bor\b", effect, re.IGNORECASE) and not negative:
            return [self._unread(start, end, "one effect or another is no statement of either")]
        polarity: Polarity = "negative" if negative else "positive"
        quote = self.text[start:end]
        return [Proposition(one, relation, other, polarity, (start, end), quote) for one in causes for other in effects]

    def _members(self, mention: str) -> list[str]:
        """The members of a list, which share what stands before the first ("a rise in X and Y")."""
        names = self._names(mention.lower())
        parts, start = [], 0
        for match in _LISTED.finditer(mention):
            if not any(first < match.end() and match.start() < last for first, last in names):
                parts.append(_mention(mention[start : match.start()]))
                start = match.end()
        parts.append(_mention(mention[start:]))
        return _shared([part for part in parts if part])

    def _names(self, text: str) -> list[Span]:
        """Where names stand that must not be taken apart."""
        pattern = _pattern(self.compounds)
        return [match.span() for match in pattern.finditer(text)] if pattern else []

    def _unread(self, start: int, end: int, reason: str) -> Unread:
        return Unread((start, end), self.text[start:end], reason)


@lru_cache(maxsize=64)
def _pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    return re.compile(rf"(?<!\w){any_of(names)}(?!\w)") if names else None


_BARE = ("with", "without", "under", "in the absence of", "given", "for")
_NOUN_WORDS = frozenset(_NOUN_REASON[3:-1].split("|"))
_COMMON = re.compile(
    r"^(?P<head>(?:an?|the)?\s*(?:\w+\s+)?(?:rise|increase|fall|decrease|drop|decline|reduction|growth|gain|loss)s? (?:in|of)|"
    r"(?:higher|lower|more|less|fewer|rising|falling|increased|reduced|greater|decreased))\s+",
    re.IGNORECASE,
)


def _shared(parts: list[str]) -> list[str]:
    """ "a rise in X", "Y" as "a rise in X", "a rise in Y"; members with words of direction of their own keep them."""
    head = _COMMON.match(parts[0]) if parts else None
    if head is None:
        return parts
    return [parts[0], *(part if has_motion(part) else f"{head['head']} {part}" for part in parts[1:])]


def _mention(text: str) -> str:
    """The words of a mention without what joins it to others."""
    text = text.strip(_MENTION_EDGE)
    text = _BEFORE_MENTION.sub("", text)
    text = _AFTER_MENTION.sub("", text)
    return " ".join(text.strip(_MENTION_EDGE).split())


def _bare(effect: str) -> str:
    return re.sub(r"\s+(?:is|are|was|were)(?:\s+\w+ly)?$", "", effect)


def _compared(word: str, rest: str) -> str:
    return f"{word.lower()} {_LINKING_VERB.sub('', _mention(rest))}"


def _thing(clause: _Clause) -> str:
    """What "which" or "this" stands for behind a clause: what happens to its effect."""
    if clause.cue.kind == "backward" or clause.cue.relation != "lowers":
        return clause.effect if clause.cue.relation != "lowers" else f"a fall in {clause.effect}"
    return f"a fall in {clause.effect}"


def _event(proposition: Proposition) -> str:
    return f"a fall in {proposition.object}" if proposition.relation == "lowers" else proposition.object


def _after_break(left: str) -> str | None:
    """What stands behind the last word that separates two clauses; None where there is no such word."""
    for pattern in _BREAKS:
        matches = list(pattern.finditer(left))
        if matches:
            return left[matches[-1].end() :]
    return None


def _object_of(right: str, following: Cue | None) -> str:
    """The words between two cues that are the object of the first: those before the last separating word."""
    if following is None or following.trailing:
        return right
    if (match := _RELATIVE.search(right.rstrip())) is not None:
        return right[: match.start()]
    for pattern in _BREAKS:
        matches = list(pattern.finditer(right))
        if matches:
            return right[: matches[-1].start()]
    return right
