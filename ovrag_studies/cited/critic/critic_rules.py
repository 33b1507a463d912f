"""Find policy prose that argues instead of ruling, by cues over classes of words; and read clauses of duty.

The classes and cues are in `critic_rules.yaml`. Strict wording alone is no finding: a duty, a ban or a threat of
dismissal is what policies are made of.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import yaml

from ovrag_core.base import Frozen
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
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")
_EVEN = str.maketrans("‘’“”\n\t\u00a0", "''\"\"   ")
_STEM = 6  # letters by which words are compared: approve and approval, photograph and photography


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


class CriticCue(Frozen):
    """Patterns that all, of which one or more, that none may be found in a sentence; that nowhere in the text."""

    all: tuple[re.Pattern[str], ...]
    some: tuple[re.Pattern[str], ...] = ()
    none: tuple[re.Pattern[str], ...] = ()
    nowhere: tuple[re.Pattern[str], ...] = ()
    why: str


class DutyClause(NamedTuple):
    """Reading of a clause: what it says of duty, and of what; stems without the words of duty, and numbers."""

    place: ProseSentence
    duties: frozenset[str]
    about: frozenset[str]
    numbers: frozenset[str]
    negated: bool


def by_rules(text: str) -> tuple[CriticFinding, ...]:
    """Find the prose of `text` that argues instead of ruling, in order of place; contradictions are not looked for."""
    found, passages, whole = [], sentences_of(text), even(text)
    for label, cue in ((label, cue) for label, cues in rules().cues.items() for cue in cues):
        if _is_any_in(cue.nowhere, whole):
            continue
        for start, end, sentence in passages:
            matches = [match for pattern in cue.all if (match := pattern.search(sentence))]
            if len(matches) < len(cue.all) or _is_any_in(cue.none, sentence):
                continue
            if not cue.some or _is_any_in(cue.some, sentence):
                # Loaded words are the span themselves, an argument is its whole sentence.
                left, right = matches[0].span() if label == "L1" else (0, end - start)
                found.append(CriticFinding(label, start + left, start + right, cue.why))
    return in_order(found)


def in_order(findings: Iterable[CriticFinding]) -> tuple[CriticFinding, ...]:
    """Sort findings by place, then by label; of several at one place under one label the first stays."""
    by_place: dict[tuple[int, int, Label], CriticFinding] = {}
    for finding in findings:
        by_place.setdefault((finding.start, finding.end, finding.label), finding)
    return tuple(by_place[place] for place in sorted(by_place))


def _is_any_in(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


def clauses_of(sentences: Iterable[ProseSentence]) -> list[DutyClause]:
    """The clauses of sentences."""
    clauses = []
    for start, _, text in sentences:
        marks = list(_CLAUSE_END.finditer(text))
        starts, ends = [0, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), len(text)]
        for left, right in zip(starts, ends, strict=True):
            if right > left:
                clauses.append(_clause(ProseSentence(start + left, start + right, text[left:right])))
    return clauses


def _clause(place: ProseSentence) -> DutyClause:
    vocabulary = rules()
    duties = set()
    unread = place.text
    for name, pattern in vocabulary.duties.items():
        if pattern.search(unread):
            duties.add(name)
            # A ban is read before a permission, so that its words do not speak twice.
            unread = pattern.sub(" ", unread)
    words = stems(vocabulary.units.sub(" ", _NUMBER.sub(" ", place.text)))
    about = frozenset(vocabulary.irregular.get(word, word)[:_STEM] for word in words) - vocabulary.light
    negated = bool(vocabulary.negated.search(place.text))
    return DutyClause(place, frozenset(duties), about, frozenset(_NUMBER.findall(place.text)), negated)


def sentences_of(text: str) -> list[ProseSentence]:
    """The sentences of a text with their places."""
    return [ProseSentence(start, end, even(text[start:end])) for start, end in sentences(text)]


def even(text: str) -> str:
    """Lower case and straight quotes, each character at its place."""
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text.translate(_EVEN))


class Rules(Frozen):
    """Content of `critic_rules.yaml`, the classes of words put in where they are named.

    `traits` are classes of words, and further marks of how a sentence is built: what a learned critic looks for.
    """

    traits: dict[str, re.Pattern[str]]
    cues: dict[Label, tuple[CriticCue, ...]]
    duties: dict[str, re.Pattern[str]]
    opposed: tuple[tuple[str, str], ...]
    irregular: dict[str, str]
    light: frozenset[str]
    units: re.Pattern[str]
    negated: re.Pattern[str]


@cache
def rules() -> Rules:
    """Load the patterns and words by which prose is read, once."""
    read = yaml.safe_load(_VOCABULARY.read_text(encoding="utf-8"))
    words = dict[str, str]()

    def filled(pattern: str) -> str:
        """The pattern with the classes it names put in; other braces count repetitions."""
        return re.sub(r"\{([a-z_]+)\}", lambda name: f"(?:{words[name[1]]})", pattern)

    for name, pattern in read.pop("words").items():
        words[name] = filled(pattern)
    for cue in chain.from_iterable(read["cues"].values()):
        cue |= {kind: [filled(pattern) for pattern in cue[kind]] for kind in cue.keys() - {"why"}}
    return Rules(traits=words | read.pop("marks"), **read)
