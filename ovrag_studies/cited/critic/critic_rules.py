"""Find policy prose that argues instead of ruling, by cues over classes of words; and read clauses of duty.

The classes and cues are in `critic_rules.yaml`. Strict wording alone is no finding: a duty, a ban or a threat of
dismissal is what policies are made of.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
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

    @property
    def place(self) -> tuple[int, int, Label]:
        """Where it stands and what it is, by which findings are sorted and told apart."""
        return self.start, self.end, self.label


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
    sentences = list(sentences_of(text))
    whole = even(text)
    findings: dict[tuple[int, int, Label], CriticFinding] = {}
    for label, cues in rules().cues.items():
        for cue in cues:
            if not _is_any_in(cue.nowhere, whole):
                for finding in _judge(label, cue, sentences):
                    findings.setdefault(finding.place, finding)
    return in_order(findings.values())


def in_order(findings: Iterable[CriticFinding]) -> tuple[CriticFinding, ...]:
    """Sort findings by place, then by label."""
    return tuple(sorted(findings, key=lambda finding: finding.place))


def _judge(label: Label, cue: CriticCue, sentences: Iterable[ProseSentence]) -> Iterator[CriticFinding]:
    """The findings of a cue. Loaded words are the span themselves, an argument is its whole sentence."""
    for start, end, text in sentences:
        matches = [match for pattern in cue.all if (match := pattern.search(text))]
        if len(matches) < len(cue.all) or _is_any_in(cue.none, text):
            continue
        if not cue.some or _is_any_in(cue.some, text):
            left, right = matches[0].span() if label == "L1" else (0, end - start)
            yield CriticFinding(label, start + left, start + right, cue.why)


def _is_any_in(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


def clauses_of(sentences: Iterable[ProseSentence]) -> list[DutyClause]:
    """The clauses of sentences."""
    return [_clause(passage) for sentence in sentences for passage in _parts(sentence)]


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


def _parts(sentence: ProseSentence) -> Iterator[ProseSentence]:
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
    for name, pattern in read.pop("words").items():
        words[name] = _filled(pattern, words)
    for cue in chain.from_iterable(read["cues"].values()):
        for kind in cue.keys() - {"why"}:
            cue[kind] = [_filled(pattern, words) for pattern in cue[kind]]
    return Rules(traits=words | read.pop("marks"), **read)


def _filled(pattern: str, words: Mapping[str, str]) -> str:
    """The pattern with the classes it names put in; other braces count repetitions."""
    return re.sub(r"\{([a-z_]+)\}", lambda name: f"(?:{words[name[1]]})", pattern)
