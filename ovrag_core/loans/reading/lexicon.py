"""The clause reader's lexicon: cue phrases and scope markers, read from `ontologies/lexicon/cues.ttl`.

In a phrase, `{name}` is a vocabulary entry, `..`, `...` and `....` are gaps of 40, 110 and 300 characters inside a
clause, `word*` is a stem, `a-b` is written `ab`, `a-b` or `a b`, `#` is a number. Everything else is the usual notation
of alternatives and options.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from rdflib import Graph, Namespace
from rdflib import Literal as Text
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.term import Node

from ovrag_core.base import ROOT, OntologyError

CUE = Namespace("urn:ovrag:cues#")
CUES_FILE = ROOT / "ontologies" / "lexicon" / "cues.ttl"

Where = Literal["any", "title", "row", "answer"]
Reach = Literal["sentence", "before", "heading"]

_NUMBER_WORD = (
    r"(?:\d[\d,.]*\d|\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    r"(?:one )?hundred)(?:[- ](?:and )?[a-z]+)?)"
)
_CHARACTER = r"(?:[^.;]|\.(?=\d)|(?<=\bno)\.)"
_GAP = rf",?\s(?:(?:{_CHARACTER}{{0,LONGEST}}?)\s)??\s*"
_TOKEN = re.compile(r"\[[^\]]*\]|\(\?!| \.\.\.\. | \.\.\. | \.\. | |#|(?<=\w)-(?=[\w(])|(?<=\))-(?=[\w(])|(?<=\w)\*")
_TOKENS = {
    " .... ": _GAP.replace("LONGEST", "300"),
    " ... ": _GAP.replace("LONGEST", "110"),
    " .. ": _GAP.replace("LONGEST", "40"),
    " ": r"\s+",
    "#": _NUMBER_WORD,
    "-": r"[\s-]*",
    "*": r"\w*",
}


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase that speaks for a class (or, where it denies, for the class's opposite)."""

    about: str
    pattern: re.Pattern[str]
    denies: bool
    strength: int
    implied: bool
    where: Where
    negatable: bool
    firm: bool
    defining: bool


@dataclass(frozen=True, slots=True)
class Marker:
    """A phrase that shows that cues of the classes in `blocks` do not speak of this loan."""

    name: str
    pattern: re.Pattern[str]
    reach: Reach
    blocks: frozenset[str]
    unless: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Cues by class, markers by blocked class, and what goes with a class: opposite, stems, labels.

    `words` are the vocabularies by which the scope of a clause is told: its own debt, other debts, other creditors.
    """

    cues: dict[str, tuple[Cue, ...]]
    markers: dict[str, tuple[Marker, ...]]
    opposites: dict[str, str]
    triggers: dict[str, re.Pattern[str]]
    labels: dict[str, re.Pattern[str]]
    words: dict[str, re.Pattern[str]]


@lru_cache(maxsize=4)
def load_lexicon(path: Path = CUES_FILE) -> Lexicon:
    """The lexicon of a Turtle file. Raises OntologyError where it is missing, broken or has a bad phrase."""
    try:
        graph = Graph().parse(path, format="turtle")
    except FileNotFoundError:
        raise OntologyError(f"{path} does not exist; the clause reader needs its cue phrases") from None
    except (BadSyntax, ParserError, UnicodeDecodeError) as error:
        raise OntologyError(f"{path} is not valid Turtle: {str(error).splitlines()[0]}") from None
    vocabulary = {_local(subject): str(word) for subject, word in graph.subject_objects(CUE.word)}
    try:
        return _build(graph, vocabulary)
    except (re.error, KeyError, ValueError) as error:
        raise OntologyError(f"{path} has a phrase that cannot be used: {error}") from None


def compile_phrase(phrase: str, vocabulary: dict[str, str]) -> re.Pattern[str]:
    """The pattern of a phrase, for lower-case text, at word boundaries. Raises KeyError for an unknown `{name}`."""
    for _ in range(4):
        phrase = re.sub(r"\{([a-z]+)\}", lambda match: vocabulary[match[1]], phrase)
    phrase = re.sub(r"(?<!\\)\((?!\?)", "(?:", phrase)
    body = _TOKEN.sub(lambda match: _TOKENS.get(match.group(), match.group()), phrase)
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)")


def _build(graph: Graph, vocabulary: dict[str, str]) -> Lexicon:
    names = {subject: str(name) for subject, name in graph.subject_objects(CUE.name)}

    def _name(node: Node) -> str:
        return names.get(node, _local(node))

    cues: dict[str, list[tuple[str, Cue]]] = {}
    for subject, node in graph.subject_objects(CUE.cue):
        phrase, cue = _cue(graph, _name(subject), node, vocabulary)
        cues.setdefault(cue.about, []).append((phrase, cue))
    markers: dict[str, list[Marker]] = {}
    for subject, text in graph.subject_objects(CUE.marker):
        blocks = frozenset(_name(blocked) for blocked in graph.objects(subject, CUE.blocks))
        reach = str(graph.value(subject, CUE.reach))
        if reach not in ("sentence", "before", "heading"):
            raise ValueError(f"reach {reach!r} of {_local(subject)}")
        void = graph.value(subject, CUE.unless)
        unless = re.compile(str(void).replace(" ", r"\s+")) if void is not None else None
        marker = Marker(_name(subject), _scope_pattern(str(text)), reach, blocks, unless)  # type: ignore[arg-type]
        for blocked in sorted(blocks):
            markers.setdefault(blocked, []).append(marker)
    return Lexicon(
        cues={
            about: tuple(cue for _, cue in sorted(pairs, key=lambda pair: pair[0]))
            for about, pairs in sorted(cues.items())
        },
        markers={
            about: tuple(sorted(group, key=lambda marker: marker.name)) for about, group in sorted(markers.items())
        },
        opposites={_name(s): _name(o) for s, o in sorted(graph.subject_objects(CUE.opposite))},
        triggers={_name(s): re.compile(str(o)) for s, o in sorted(graph.subject_objects(CUE.trigger))},
        labels={_name(s): re.compile(str(o)) for s, o in sorted(graph.subject_objects(CUE.label))},
        words={_local(s): _scope_pattern(str(o)) for s, o in sorted(graph.subject_objects(CUE.scope))},
    )


def _cue(graph: Graph, about: str, node: Node, vocabulary: dict[str, str]) -> tuple[str, Cue]:
    values = {_local(key): value for key, value in graph.predicate_objects(node)}
    phrase = str(values["phrase"])
    where = str(values.get("where", "any"))
    if where not in ("any", "title", "row", "answer"):
        raise ValueError(f"where {where!r} of {phrase!r}")
    cue = Cue(
        about=about,
        pattern=compile_phrase(phrase, vocabulary),
        denies=str(values.get("polarity", "asserts")) == "denies",
        strength=int(str(values["strength"])),
        implied=str(values.get("kind", "explicit")) == "implied",
        where=where,  # type: ignore[arg-type]
        negatable=_flag(values.get("negatable"), default=True),
        firm=_flag(values.get("firm"), default=False),
        defining=_flag(values.get("defining"), default=False),
    )
    return phrase, cue


def _scope_pattern(text: str) -> re.Pattern[str]:
    """A marker begins at a word's beginning: "old loan" is not found in "hold loan papers"."""
    return re.compile(rf"(?<!\w)(?:{text})".replace(" ", r"\s+"))


def _flag(value: Node | None, *, default: bool) -> bool:
    return bool(value.value) if isinstance(value, Text) else default


def _local(node: Node) -> str:
    return re.split(r"[#/]", str(node))[-1]
