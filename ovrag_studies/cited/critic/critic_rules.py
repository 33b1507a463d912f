"""Find policy prose that argues instead of ruling, by rules: cues over classes of words, and clauses that clash.

The classes and cues are in `critic_rules.yaml`. Strict wording alone is no finding: a duty, a ban or a threat of
dismissal is what policies are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple, Required, TypedDict, cast, get_args

import yaml

from ovrag_core.text import sentences, stems

Label = Literal["L1", "L2", "L3", "L4", "L5", "L6"]
LABELS: tuple[Label, ...] = get_args(Label)
NAMES: Mapping[Label, str] = {
    "L1": "loaded language",
    "L2": "one-sided framing",
    "L3": "unsupported claim",
    "L4": "internal contradiction",
    "L5": "false dilemma",
    "L6": "slippery slope",
}

_VOCABULARY = Path(__file__).with_name("critic_rules.yaml")
_CLAUSE_END = re.compile(
    r"; |, (?:and|but|yet|while|whereas|since|because|as) |\b(?:and|but) (?=\w+ (?:may|must|who)\b)"
)
_VERB = re.compile(r"\b(is|are|was|were|must|shall|should|may|can|cannot|has to|have to|need|needs|will|do|does)\b")
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")
_EVEN = str.maketrans("‘’“”\n\t\u00a0", "''\"\"   ")
_STEM = 6  # letters by which words are compared: approve and approval, photograph and photography
_ALIKE = 0.6  # share of the content words of the shorter clause that stand in the other
_WHOLE = 0.28  # share of the content words of both that they share
_SAME = 0.75  # the same where only a number differs


@dataclass(frozen=True, slots=True)
class CriticFinding:
    """A label, the passage `[start, end)` of the text that earns it, and why in a few words."""

    label: Label
    start: int
    end: int
    why: str


class ProseSentence(NamedTuple):
    """A passage with its place, in lower case and with straight quotes; as long as it is in the text."""

    start: int
    end: int
    text: str


class CriticCue(NamedTuple):
    """Patterns that all, of which one or more, that none may be found in a sentence; that nowhere in the text."""

    label: Label
    all: tuple[re.Pattern[str], ...]
    some: tuple[re.Pattern[str], ...]
    none: tuple[re.Pattern[str], ...]
    nowhere: tuple[re.Pattern[str], ...]
    why: str


class DutyClause(NamedTuple):
    """Reading of a clause: what it says of duty, and of what; stems without the words of duty, and numbers."""

    place: ProseSentence
    duties: frozenset[str]
    about: frozenset[str]
    subject: str
    numbers: frozenset[str]
    negated: bool
    quantified: bool
    narrow: bool  # it names a case of its own
    closed: bool  # it rules out any other case


def by_rules(text: str) -> tuple[CriticFinding, ...]:
    """Find the prose of `text` that argues instead of ruling, in order of place; nothing for an empty text."""
    sentences = tuple(sentences_of(text))
    whole = even(text)
    findings = {(finding.label, finding.start, finding.end): finding for finding in _contradictions(sentences)}
    for cue in _cues():
        if any(pattern.search(whole) for pattern in cue.nowhere):
            continue
        for sentence in sentences:
            if finding := _judge(cue, sentence):
                findings.setdefault((finding.label, finding.start, finding.end), finding)
    return tuple(sorted(findings.values(), key=lambda finding: (finding.start, finding.end, finding.label)))


def _judge(cue: CriticCue, sentence: ProseSentence) -> CriticFinding | None:
    """The finding of a cue in a sentence. Loaded words are the span themselves, an argument is its whole sentence."""
    met = [pattern.search(sentence.text) for pattern in cue.all]
    if not all(met) or any(pattern.search(sentence.text) for pattern in cue.none):
        return None
    if cue.some and not any(pattern.search(sentence.text) for pattern in cue.some):
        return None
    first_match = met[0]
    if cue.label == "L1" and first_match:
        return CriticFinding(
            cue.label, sentence.start + first_match.start(), sentence.start + first_match.end(), cue.why
        )
    return CriticFinding(cue.label, sentence.start, sentence.end, cue.why)


def _contradictions(sentences: Sequence[ProseSentence]) -> Iterator[CriticFinding]:
    """Clauses of the text about the same thing that cannot both hold, as one span from the first to the second."""
    clauses = [clause_of(passage) for sentence in sentences for passage in parts_of(sentence)]
    for earlier, later in combinations(clauses, 2):
        if why := clash(earlier, later):
            yield CriticFinding("L4", earlier.place.start, later.place.end, why)


def clash(first: DutyClause, second: DutyClause) -> str | None:
    """Say why two clauses cannot both hold; None if they may, as where one names an exception or a narrower case."""
    vocabulary = rules()
    shared = first.about & second.about
    if not shared or _other_case(first, second) or _other_case(second, first):
        return None
    whole = len(shared) / len(first.about | second.about)
    same_matter, denied = _on_the_same(first, second), first.negated != second.negated
    if same_matter and any(opposed(first.duties, second.duties, pair) for pair in vocabulary.opposed):
        return "two clauses on the same thing cannot both be kept"
    if same_matter and len(shared) > 1 and whole >= _ALIKE and denied:
        return "a clause denies what another says"
    if any(_apart(first.about, second.about, pair) for pair in vocabulary.antonyms):
        return "two clauses say opposite things of the same"
    if whole >= _SAME and _other_numbers(first, second):
        return "two clauses give different numbers for the same"
    return None


def _other_case(first: DutyClause, second: DutyClause) -> bool:
    """Return True where the first clause is for a case of its own that the second one leaves open."""
    return first.narrow and not second.closed


def _other_numbers(first: DutyClause, second: DutyClause) -> bool:
    return bool(first.numbers and second.numbers) and not first.numbers & second.numbers


def _on_the_same(first: DutyClause, second: DutyClause) -> bool:
    """Return True where two clauses that share words are about the same: one subject, or most of their words."""
    of_one = first.subject == second.subject != "" and first.negated != second.negated
    if of_one and (first.quantified or second.quantified):
        return True
    shared, fewer = len(first.about & second.about), min(len(first.about), len(second.about))
    whole = shared / len(first.about | second.about)
    return shared / fewer >= _ALIKE and whole >= _WHOLE and (shared > 1 or fewer == 1)


def opposed(first: frozenset[str], second: frozenset[str], pair: tuple[str, str]) -> bool:
    """Return True where one set has one word of the pair and the other set has the other."""
    word, opposite = pair
    return (word in first and opposite in second) or (opposite in first and word in second)


def _apart(first: frozenset[str], second: frozenset[str], pair: tuple[str, str]) -> bool:
    """One word of the pair stands in each clause, neither has both, and the rest is about the same."""
    for word, opposite in (pair, pair[::-1]):
        if word in first and opposite in second and opposite not in first and word not in second:
            left, right = first - {word}, second - {opposite}
            shared = left & right
            if left and right and len(shared) / min(len(left), len(right)) >= _ALIKE:
                return len(shared) / len(left | right) >= _WHOLE
    return False


def clause_of(place: ProseSentence) -> DutyClause:
    """Read what a clause says of duty, and of what."""
    vocabulary = rules()
    duties = set()
    unread = place.text
    for name, pattern in vocabulary.duties.items():
        if pattern.search(unread):
            duties.add(name)
            # A ban is read before a permission, so that its words do not speak twice.
            unread = pattern.sub(" ", unread)
    numbers = frozenset(_NUMBER.findall(place.text))
    words = stems(vocabulary.units.sub(" ", _NUMBER.sub(" ", place.text)))
    about = [short for word in words if (short := vocabulary.irregular.get(word, word)[:_STEM]) not in vocabulary.light]
    narrow = bool(vocabulary.narrowing.search(place.text))
    return DutyClause(
        place,
        frozenset(duties),
        frozenset(about),
        _subject(place),
        numbers,
        negated=bool(vocabulary.negated.search(place.text)),
        quantified=bool(vocabulary.quantified.search(place.text)),
        narrow=narrow,
        closed=not narrow and bool(vocabulary.universal.search(place.text)),
    )


def _subject(place: ProseSentence) -> str:
    """Return the beginning of a clause up to its first verb of duty or being, without an article."""
    head, verb, _ = re.split(_VERB, place.text, maxsplit=1) if _VERB.search(place.text) else ("", "", "")
    return re.sub(r"^(?:the|an?|all|every|each|any|no) ", "", head.strip()) if verb else ""


def parts_of(sentence: ProseSentence) -> Iterator[ProseSentence]:
    """The clauses of a sentence."""
    start = 0
    for end in [*_CLAUSE_END.finditer(sentence.text), None]:
        stop = end.start() if end else len(sentence.text)
        if stop > start:
            yield ProseSentence(sentence.start + start, sentence.start + stop, sentence.text[start:stop])
        start = end.end() if end else stop


def sentences_of(text: str) -> Iterator[ProseSentence]:
    """The sentences of a text with their places."""
    for start, end in sentences(text):
        yield ProseSentence(start, end, even(text[start:end]))


def even(text: str) -> str:
    """Lower case and straight quotes, each character at its place."""
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text.translate(_EVEN))


class Worded(TypedDict, total=False):
    """A cue as it is written."""

    all: Required[list[str]]
    some: list[str]
    none: list[str]
    nowhere: list[str]
    why: Required[str]


class CriticVocabulary(TypedDict):
    """Content of `critic_rules.yaml`."""

    words: dict[str, str]
    marks: dict[str, str]
    cues: dict[Label, list[Worded]]
    duties: dict[str, str]
    opposed: list[tuple[str, str]]
    antonyms: list[tuple[str, str]]
    irregular: dict[str, str]
    light: list[str]
    units: str
    negated: str
    quantified: str
    universal: str
    narrowing: str


class Rules(NamedTuple):
    """Patterns and words by which clauses are read."""

    duties: dict[str, re.Pattern[str]]
    opposed: tuple[tuple[str, str], ...]
    antonyms: tuple[tuple[str, str], ...]
    irregular: dict[str, str]
    light: frozenset[str]
    units: re.Pattern[str]
    negated: re.Pattern[str]
    quantified: re.Pattern[str]
    universal: re.Pattern[str]
    narrowing: re.Pattern[str]


@cache
def rules() -> Rules:
    """Load the patterns and words by which clauses are read, once."""
    read = _vocabulary()
    return Rules(
        duties={name: re.compile(pattern) for name, pattern in read["duties"].items()},
        opposed=tuple((word, opposite) for word, opposite in read["opposed"]),
        antonyms=tuple((word, opposite) for word, opposite in read["antonyms"]),
        irregular=read["irregular"],
        light=frozenset(read["light"]),
        units=re.compile(read["units"]),
        negated=re.compile(read["negated"]),
        quantified=re.compile(read["quantified"]),
        universal=re.compile(read["universal"]),
        narrowing=re.compile(read["narrowing"]),
    )


@cache
def _words() -> dict[str, str]:
    """The classes of words, each with those that it names put in."""
    words = dict[str, str]()
    for name, pattern in _vocabulary()["words"].items():
        words[name] = _filled(pattern, words)
    return words


@cache
def traits() -> dict[str, re.Pattern[str]]:
    """Classes of words, and further marks of how a sentence is built, by name: what a learned critic looks for."""
    return {name: re.compile(pattern) for name, pattern in (_words() | _vocabulary()["marks"]).items()}


@cache
def _cues() -> tuple[CriticCue, ...]:
    def compiled(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(_filled(pattern, _words())) for pattern in patterns)

    return tuple(
        CriticCue(
            label,
            compiled(cue["all"]),
            compiled(cue.get("some", ())),
            compiled(cue.get("none", ())),
            compiled(cue.get("nowhere", ())),
            cue["why"],
        )
        for label, cues in _vocabulary()["cues"].items()
        for cue in cues
    )


def _filled(pattern: str, words: Mapping[str, str]) -> str:
    """The pattern with the classes it names put in; other braces count repetitions."""
    return re.sub(r"\{([a-z_]+)\}", lambda name: f"(?:{words[name[1]]})", pattern)


@cache
def _vocabulary() -> CriticVocabulary:
    return cast(CriticVocabulary, yaml.safe_load(_VOCABULARY.read_text(encoding="utf-8")))
