"""Tests of whether two things are certainly two: by their classes, by what may lie in what, and by their names.

Names are not unlike where they have the same words in another order, only one is qualified ("Hudson River (New York)"),
one is a part of the other ("Dago Bay of Lake Vermilion"), or a long word differs by a letter.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product, takewhile

from pyoxigraph import Literal, NamedNode
from rapidfuzz.distance import Levenshtein

from ovrag_core.ontology import Value, read_value
from ovrag_core.text import fold
from ovrag_studies.abstention.knowledge.domain import Domain, Predicate

Words = tuple[str, ...]

_SILENT = frozenset({"the", "a", "an"})
_BRACKETS = re.compile(r"\s*[(\[](?P<inside>[^)\]]*)[)\]]\s*$")
_LONG = 5  # letters from which a word may be misspelt by one


@dataclass(frozen=True, slots=True)
class Thing:
    """Something in a graph, with the classes of the domain that it is of and the names that it bears, one at least."""

    node: NamedNode | Literal
    classes: tuple[str, ...]
    names: tuple[str, ...]


def why_alike(one: Thing, other: Thing, domain: Domain, predicate: Predicate) -> str | None:
    """Give a reason why the two may be one thing, or one lie in the other; None where they are certainly two."""
    if isinstance(one.node, Literal) or isinstance(other.node, Literal):
        return _why_values_alike(one, other, predicate)
    if domain.apart & {*product(one.classes, other.classes)}:
        return None
    for thing in (one, other):
        if not any(domain.ancestors[name] & set(domain.names.different) for name in thing.classes):
            kind = ", ".join(thing.classes) or "of no recorded kind"
            return f"{called(thing)} is {kind}, whose name alone does not tell it apart"
    if domain.nesting & {*product(one.classes, other.classes)}:
        return f"{called(one)} and {called(other)} may lie one in the other"
    if any(names_alike(*pair, domain) for pair in product(one.names, other.names)):
        return f"{called(one)} and {called(other)} may be names of one thing"
    return None


def label_order(label: Literal) -> tuple[bool, str]:
    """The order of a thing's names: those in English, as questions are, or in no language come first."""
    return (label.language or "en").partition("-")[0].lower() != "en", label.value


def called(thing: Thing) -> str:
    """The name by which people know a thing."""
    return thing.names[0]


def same_value(one: NamedNode | Literal, other: NamedNode | Literal, predicate: Predicate) -> bool:
    """Return True for the same thing, and for literals that say the same: in their words, or as values of the kind.

    An amount without a currency is meant in that of the other.
    """
    if one == other or isinstance(one, NamedNode) or isinstance(other, NamedNode):
        return one == other
    ours, theirs = _value(one, predicate), _value(other, predicate)
    if ours is None or theirs is None:
        return _plain(one.value) == _plain(other.value)
    currencies = {ours.currency, theirs.currency} - {None}
    return ours.lexical == theirs.lexical and len(currencies) <= 1


def canonical(literals: Sequence[Literal], predicate: Predicate) -> dict[Literal, Literal]:
    """Each literal as one that stands for its value, so that those that say the same are the same.

    A text that cannot be read as a value of the predicate's kind is left out: nothing says what it differs from.
    """
    read = [one for one in literals if predicate.values in ("thing", "text") or _value(one, predicate) is not None]
    return {literal: next(one for one in read if same_value(one, literal, predicate)) for literal in read}


def names_alike(one: str, other: str, domain: Domain) -> bool:
    """Return True where two names may be names of one thing, or of a part and its whole."""
    (qualifier, parts), (other_qualifier, other_parts) = _parsed(one, domain), _parsed(other, domain)
    if qualifier is not None and other_qualifier is not None and qualifier != other_qualifier:
        return False  # qualified, so that they are told apart
    return any(_words_alike(mine, yours, domain.class_words) for mine, yours in product(parts, other_parts))


def _words_alike(one: Words, other: Words, kinds: frozenset[str]) -> bool:
    if not one or not other:
        return True
    if sorted(one) == sorted(other) or _misspelt(one, other):
        return True
    shared = [mine for mine, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]
    if shared and (len(shared) in (len(one), len(other)) or shared[-1] in kinds) and not set(shared) <= kinds:
        return True  # one or both carry something behind the name that may only say which of several it is
    bare, other_bare = set(one) - kinds, set(other) - kinds
    kind_words, other_kind_words = set(one) & kinds, set(other) & kinds
    return bool(bare) and bare == other_bare and (kind_words <= other_kind_words or other_kind_words <= kind_words)


def _misspelt(one: Words, other: Words) -> bool:
    if len(one) != len(other):
        return False
    unequal = [(mine, yours) for mine, yours in zip(one, other, strict=True) if mine != yours]
    return len(unequal) == 1 and min(map(len, unequal[0])) >= _LONG and Levenshtein.distance(*unequal[0]) == 1


def _why_values_alike(one: Thing, other: Thing, predicate: Predicate) -> str | None:
    both = f"{called(one)} and {called(other)}"
    if not isinstance(one.node, Literal) or not isinstance(other.node, Literal):
        return f"{both} are a thing and a text"
    if same_value(one.node, other.node, predicate):
        return f"{both} say the same"
    readable = _value(one.node, predicate) is not None and _value(other.node, predicate) is not None
    return None if readable else f"{both} are texts, which may say one thing in two ways"


def _value(literal: Literal, predicate: Predicate) -> Value | None:
    return None if predicate.values in ("thing", "text") else read_value(literal.value, predicate.values)


def bare(name: str) -> str:
    """A name without what qualifies it in brackets behind it; one that is all in brackets is whole."""
    return _BRACKETS.sub("", name) or name


def local_name(iri: str) -> str:
    """The last part of an IRI as words, for a thing without a name."""
    return re.split(r"[/#]", iri.rstrip("/#"))[-1].replace("_", " ")


@lru_cache(maxsize=65536)
def _parsed(name: str, domain: Domain) -> tuple[Words | None, list[Words]]:
    """The words in brackets behind a name; its other words, and what stands before and behind joints ("of", "in")."""
    brackets = _BRACKETS.search(name)
    qualifier = _words(brackets["inside"], domain) if brackets else None
    words = _words(name[: brackets.start()] if brackets else name, domain)
    joints = [i for i, word in enumerate(words) if word in domain.names.joints]
    sides = [side for i in joints for side in (words[:i], words[i + 1 :]) if len(side) > 1]
    return qualifier, [words, *sides]


def _words(text: str, domain: Domain) -> Words:
    words = re.findall(r"\w+", _plain(text))
    return tuple(domain.names.short.get(word, word) for word in words if word not in _SILENT)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"['’ʼ]s\b|['’ʼ.]", "", fold(text)).split())
