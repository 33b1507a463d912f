"""Find out which document a text is about, from the text alone.

A text (an answer, a chunk) is compared with the asked and the other documents by the details it gives (whatever
`Finder` finds) and the passages it repeats, never by the id of a chunk: that is the truth this is measured with. Only
what tells the documents apart counts.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

from ovrag_core.base import Document, Evidence, Triple, Violation
from ovrag_core.text import STOP_WORDS, find_passages, plain_words

About = Literal["asked", "mixed", "other", "none"]
KINDS: tuple[About, ...] = ("asked", "mixed", "other", "none")
OTHER, MIXED, UNKNOWN = "other_document", "mixed_documents", "not_in_document"

SENTENCE = 5  # words that a repeated passage must have; a shorter one counts where it is a whole line of a document
SHORTEST = 4  # letters of a single word that is looked for as a name
_RARE = 0.15  # share of the documents that may hold a word which still tells them apart
_SHOWN = 4  # details and documents named in a message
_LONG = 80  # characters of a detail in a message
_PROFILES = 4_096  # kept
_JUDGED = 256  # kept

_LOWER = re.compile(r"(?<![\w'’-])[a-zà-öø-ÿ][\w]+")


@dataclass(frozen=True, slots=True)
class Detail:
    """Something a text says that may tell documents apart, at `[start, end)`.

    `keys` are its normal forms (`amount:962000`), `wider` what a document that holds it can also be said to hold
    (rounded, abbreviated). `words` are the names it goes by, the full one first: they match wherever they stand among
    a document's words. A detail that is not `telling` counts only where another document holds it: that none does
    shows nothing.
    """

    kind: str
    start: int
    end: int
    keys: frozenset[str]
    wider: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    telling: bool = True


Finder = Callable[[str], Sequence[Detail]]


@dataclass(frozen=True)
class Profile:
    """A document as it is compared: its details, its words, its lines."""

    document: Document
    details: tuple[Detail, ...]

    @cached_property
    def held(self) -> dict[str, Detail]:
        """Everything its details can be called → the first that is, by its normal forms before its wider ones."""
        wider = {key: detail for detail in reversed(self.details) for key in detail.wider}
        return wider | {key: detail for detail in reversed(self.details) for key in detail.keys}

    @cached_property
    def words(self) -> str:
        """Its words between blanks."""
        return f" {plain_words.__wrapped__(self.document.text)} "  # a whole document is not worth a place in the cache

    @cached_property
    def common(self) -> frozenset[str]:
        """Words that stand in it without a capital: as names they tell nothing."""
        return frozenset(plain_words(word) for word in _LOWER.findall(self.document.text))

    @cached_property
    def lines(self) -> frozenset[str]:
        """Its passages' words, each a whole line or sentence."""
        text = self.document.text
        return frozenset(plain_words(text[start:end]) for start, end in find_passages(text))

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Pairs of neighbouring words that mean something."""
        return frozenset(_phrases(self.document.text))

    def holds(self, detail: Detail) -> bool:
        """Return True where the document gives the detail, in whatever form."""
        return any(key in self.held for key in detail.keys) or any(map(self._names, detail.words[:1]))

    def _names(self, name: str) -> bool:
        """Return True where the words of a name follow each other in it, with or without middle names and initials."""
        if f" {name} " in self.words:
            return True
        words = [word for word in name.split() if len(word) > 1]
        if len(words) < 2 or any(f" {word} " not in self.words for word in words):
            return False
        return re.search(" " + r"(?: \w+){0,2} ".join(words) + " ", self.words) is not None

    def repeats(self, passage: str) -> bool:
        """Return True where the document holds a passage of these plain words: anywhere, or as a line if short."""
        return passage in self.lines if len(passage.split()) < SENTENCE else f" {passage} " in self.words


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing in a text and who holds it: `start:end` of the text, and the other documents (ids) that hold it."""

    kind: str
    start: int
    end: int
    own: bool
    others: frozenset[str]

    @property
    def tells(self) -> Literal["own", "foreign", "unknown", "nothing"]:
        """Whose it is: the asked document's, others' alone, or, where that tells, nobody's."""
        if self.own:
            return "own"
        return "foreign" if self.others else "nothing" if self.kind.startswith("weak") else "unknown"

    @property
    def is_unknown_name(self) -> bool:
        """True for a name that no document holds."""
        return self.kind == "name" and self.tells == "unknown"

    def overlaps(self, start: int, end: int) -> bool:
        """Return True where a part of `[start, end)` is its own."""
        return self.start < end and start < self.end


@dataclass(frozen=True, slots=True)
class Judgement:
    """Subject of a text: the level, the signs that say so, and the other documents it is about (most first)."""

    about: About
    own: tuple[Sign, ...] = ()
    foreign: tuple[Sign, ...] = ()
    unknown: tuple[Sign, ...] = ()
    documents: tuple[str, ...] = ()


class Shelf:
    """The documents at hand, each profiled when it is needed; profiles and the last judgements are kept."""

    def __init__(self, documents: Mapping[str, Document], find: Finder) -> None:
        self.documents = documents
        self.find = find
        self.profile = lru_cache(_PROFILES)(lambda id_: Profile(documents[id_], tuple(find(documents[id_].text))))
        self._judge = lru_cache(_JUDGED)(self._judged)

    def judge(
        self, text: str, asked: str, *, context: Sequence[str] = (), among: Collection[str] | None = None
    ) -> Judgement:
        """Judge what `text` is about.

        `asked` is the document meant, and `among` are the ids it may be mixed up with (None: all). `context` are the
        texts that it was written from, where they are known. A text that gives nothing away is about what they are
        about.
        """
        rivals = frozenset(self.documents if among is None else among) - {asked}
        judgement = self._judge(text, asked, rivals)
        # Where others also hold all that speaks for the asked document, the context must decide.
        is_shared = judgement.about == "asked" and all(sign.others for sign in judgement.own)
        if judgement.about != "none" and not (context and is_shared):
            return judgement
        placed = self._by_context(text, judgement, asked, rivals, context) if context else judgement
        return placed if placed.about != "none" else self._judge(text, asked, rivals, True)

    def _judged(self, text: str, asked: str, others: frozenset[str], weak: bool = False) -> Judgement:
        """By details and repeated sentences; `weak`: by short lines and rare phrases."""
        mine, rest = self.profile(asked), [self.profile(name) for name in sorted(others)]
        return _judgement(_weak_signs(text, mine, rest) if weak else self._signs(text, mine, rest))

    def _signs(self, text: str, mine: Profile, rest: Sequence[Profile]) -> list[Sign]:
        """Details, names known from the documents, and repeated sentences."""
        signs = [_sign(detail, mine, rest) for detail in self.find(text)]
        called = dict.fromkeys(name for p in (mine, *rest) for detail in p.details for name in detail.words)
        known_names = _known_names(text, mine, rest, called, [s for s in signs if not s.is_unknown_name])
        signs = [s for s in signs if not (s.is_unknown_name and _joins_names(text[s.start : s.end], called))]
        signs = [s for s in signs if not any(s.overlaps(n.start, n.end) for n in known_names)]
        return _without_quoted([*signs, *known_names, *_repeated(text, mine, rest)], text, mine)

    def _by_context(
        self, text: str, own: Judgement, asked: str, others: frozenset[str], context: Sequence[str]
    ) -> Judgement:
        """The judgement of a text that may be of several documents, by the chunks that say what it says."""
        passages = [plain for _, _, plain in _passages(text)]
        judged = {chunk: self._chunk_judgement(chunk, asked, others) for chunk in context}
        lent = {judged[chunk].about for chunk in context if any(p in plain_words(chunk) for p in passages)} - {"none"}
        levels = lent or {judgement.about for judgement in judged.values()} - {"none"}
        if not levels or (not lent and levels > {"asked"}):
            return own  # no chunk tells, or they disagree and nothing shows which of them the text is of
        about: About = levels.pop() if len(levels) == 1 else "mixed"
        foreign = dict.fromkeys(name for judgement in judged.values() for name in judgement.documents)
        documents = () if about == "asked" else tuple(foreign)
        return Judgement(about, own.own, own.foreign, own.unknown, documents)

    def _chunk_judgement(self, chunk: str, asked: str, others: frozenset[str]) -> Judgement:
        is_own = f" {plain_words(chunk)} " in self.profile(asked).words
        return Judgement("asked") if is_own else self._judge(chunk, asked, others)


def _sign(detail: Detail, mine: Profile, rest: Sequence[Profile]) -> Sign:
    holders = frozenset(profile.document.id for profile in rest if profile.holds(detail))
    kind = detail.kind if detail.telling else f"weak {detail.kind}"
    return Sign(kind, detail.start, detail.end, mine.holds(detail), holders)


def _known_names(
    text: str, mine: Profile, rest: Sequence[Profile], called: Iterable[str], known: Sequence[Sign]
) -> list[Sign]:
    """Names of the documents' that stand in the text, in full or by one word, though its own build does not show them.

    `called` are all names of documents; `known` are signs that were found already.
    """
    plain = f" {plain_words(text)} "
    signs: list[Sign] = []
    for name in sorted((name for name in called if f" {name} " in plain), key=lambda name: (-name.count(" "), name)):
        span = _place(text, name)
        if span is None or any(sign.overlaps(*span) for sign in (*known, *signs)):
            continue
        if " " not in name and (
            len(name) < SHORTEST or not text[span[0]].isupper() or any(name in p.common for p in (mine, *rest))
        ):
            continue
        holders = frozenset(profile.document.id for profile in rest if f" {name} " in profile.words)
        signs.append(Sign("name", *span, f" {name} " in mine.words, holders))
    return signs


def _without_quoted(signs: Sequence[Sign], text: str, mine: Profile) -> list[Sign]:
    """The signs but those in a passage of the asked document: it is that one's, whatever it was taken for."""
    quoted = [(start, end) for start, end, plain in _passages(text) if f" {plain} " in mine.words]
    return [s for s in signs if s.own or not any(start <= s.start and s.end <= end for start, end in quoted)]


def _joins_names(name: str, called: Iterable[str]) -> bool:
    """Return True where a name holds a known one of several words beside others: two that stand side by side."""
    words = plain_words(name)
    return any(" " in known and known != words and f" {known} " in f" {words} " for known in called)


def _place(text: str, words: str) -> tuple[int, int] | None:
    """Find where words stand in a text, whatever their accents, capitals and what is between them."""
    wanted = words.split()
    spans = [match.span() for match in re.finditer(r"[^\W_]+", text)]
    for number, (start, stop) in enumerate(spans):
        word = plain_words(text[start:stop])
        if not word or not wanted[0].startswith(word):
            continue
        # N.A. is one word when folded and two as it stands: several lengths are tried.
        for _, end in spans[number : number + 2 * len(wanted) + 2]:
            if plain_words(text[start:end]) == words:
                return start, end
    return None


def _passages(text: str) -> list[tuple[int, int, str]]:
    spans = ((start, end, plain_words(text[start:end])) for start, end in find_passages(text))
    return [(start, end, plain) for start, end, plain in spans if plain.count(" ")]


def _repeated(text: str, mine: Profile, rest: Sequence[Profile], *, short: bool = False) -> list[Sign]:
    """Sentences, or the `short` lines, that stand word for word in a document; what none holds shows nothing."""
    signs = []
    for start, end, plain in _passages(text):
        if (len(plain.split()) < SENTENCE) != short:
            continue
        holders = frozenset(profile.document.id for profile in rest if profile.repeats(plain))
        is_own = mine.repeats(plain)
        if is_own or (holders and f" {plain} " not in mine.words):
            signs.append(Sign("passage", start, end, is_own, holders))
    return signs


def _weak_signs(text: str, mine: Profile, rest: Sequence[Profile]) -> list[Sign]:
    """Collect signs that may also be chance: a document's short lines, else pairs of rare words few documents hold."""
    if lines := _repeated(text, mine, rest, short=True):
        return lines
    signs = []
    limit = max(1, _RARE * (len(rest) + 1))
    for pair in dict.fromkeys(_phrases(text)):
        if any(sum(f" {word} " in profile.words for profile in (mine, *rest)) > limit for word in pair.split()):
            continue
        holders = frozenset(profile.document.id for profile in rest if pair in profile.phrases)
        is_own = pair in mine.phrases
        if (is_own or holders) and (span := _place(text, pair)):
            signs.append(Sign("phrase", *span, is_own, holders))
    return signs


def _phrases(text: str) -> Iterable[str]:
    """Pairs of neighbouring words that mean something."""
    for start, end in find_passages(text):
        for pair in pairwise(plain_words(text[start:end]).split()):
            if all(len(word) > 2 and word.isalpha() and word not in STOP_WORDS for word in pair):
                yield " ".join(pair)


def _judgement(signs: Sequence[Sign]) -> Judgement:
    own, foreign, unknown = (tuple(s for s in signs if s.tells == whose) for whose in ("own", "foreign", "unknown"))
    if not (own or foreign or unknown):
        return Judgement("none")
    if own and not foreign and not any(sign.is_unknown_name for sign in unknown):
        return Judgement("asked", own, (), unknown)
    documents = _explaining(foreign, own)
    exclusive = any(sign.others.isdisjoint(documents) for sign in own)
    return Judgement("mixed" if exclusive else "other", own, foreign, unknown, documents)


def _explaining(foreign: Sequence[Sign], own: Sequence[Sign]) -> tuple[str, ...]:
    """Few documents that together hold all foreign signs: the one that holds most first, then what it leaves open."""
    chosen: list[str] = []
    left = list(foreign)
    while left:
        counts = Counter(name for sign in left for name in sign.others)
        support = Counter(name for sign in own for name in sign.others)
        best = min(counts, key=lambda name: (-counts[name], -support[name], name))
        chosen.append(best)
        left = [sign for sign in left if best not in sign.others]
    return tuple(chosen)


def violation(judgement: Judgement, text: str, asked: str, shelf: Shelf) -> Violation | None:
    """The finding that an answer is not about the asked document alone; None where it is, or nothing tells.

    A warning of kind `identity`: it makes no document contradictory. Its triples are what the answer mentions, each
    with its place in the answer, and beside it the place in another document that holds it.
    """
    if judgement.about in ("asked", "none"):
        return None
    against = (*judgement.foreign, *(sign for sign in judgement.unknown if sign.is_unknown_name or not judgement.own))
    rule = MIXED if judgement.about == "mixed" else OTHER if judgement.documents else UNKNOWN
    return Violation(
        rule=rule,
        clash_type=None,
        severity="warning",
        kind="identity",
        # Another document's facts are in it: documents were mixed. What no document holds, the answer has made up.
        cause="mixture" if judgement.documents else "answer",
        triples=tuple(triple for sign in against for triple in _triples(sign, judgement.documents, text, shelf)),
        message=_message(judgement, against, text, asked),
    )


def _triples(sign: Sign, documents: Sequence[str], text: str, shelf: Shelf) -> list[Triple]:
    quoted = Evidence.of(Document("answer", text), sign.start, sign.end)
    mention = Triple(
        subject="the answer",
        predicate="mentions",
        object=quoted.quote,
        object_type=sign.kind,
        origin="answer",
        evidence=quoted,
    )
    holder = next((name for name in documents if name in sign.others), None)
    if holder is None:
        return [mention]
    profile = shelf.profile(holder)
    written = text[sign.start : sign.end]
    keys = [key for detail in shelf.find(written) for key in sorted(detail.keys)] if sign.kind != "passage" else []
    detail = next((profile.held[key] for key in keys if key in profile.held), None)
    span = (detail.start, detail.end) if detail else _place(profile.document.text, plain_words(written))
    evidence = Evidence.of(profile.document, *span) if span else None
    held = {"subject": holder, "predicate": "holds", "origin": "context", "evidence": evidence}
    return [mention, mention.model_copy(update=held)]


def _message(judgement: Judgement, against: Sequence[Sign], text: str, asked: str) -> str:
    where = ", ".join(judgement.documents[:_SHOWN]) + (" and others" if len(judgement.documents) > _SHOWN else "")
    if not against:
        degree = "partly about" if judgement.about == "mixed" else "about"
        return f"The answer names nothing to know {asked} by, and what it was written from is {degree} {where}."
    shown = list(dict.fromkeys(" ".join(text[sign.start : sign.end].split()) for sign in against))
    quotes = ", ".join(f"“{q if len(q) <= _LONG else q[: _LONG - 1] + '…'}”" for q in shown[:_SHOWN])
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    also = "also " if judgement.about == "mixed" else ""
    if not judgement.documents:
        return f"The answer {also}says {quotes}{more}, which neither {asked} nor any other document at hand holds."
    holds = "holds" if len(judgement.documents) == 1 else "hold"
    return f"The answer {also}says {quotes}{more}, which {asked} does not hold but {where} {holds}."
