"""A domain's words for its relations, made ready for reading questions: each inflected, each with its direction.

In the domain file, `vocabulary` of a predicate, of its inverse and of its chain holds lists under these keys:

- `verbs`: of a predicate, verbs whose grammatical subject is the claim's subject (*flow into*: S flows into O); of an
  inverse, the claim's object (*receive*: O receives S). `* into` stands for any verb with that preposition.
- `nouns`: of a predicate, nouns that belong to the claim's subject (*mouth*: the mouth of S is O); of an inverse, to
  the claim's object (*tributary*: S is a tributary of O).
- `inverse_verbs`, `inverse_nouns`: the same of a chain, which has no inverse of its own (*basin*: S lies in O's basin).
- `cues`: words that make the chain of the predicate (*downstream rivers*).
- `fillers`: words that carry no relation (*waters*, *course*). `others`: words of relations that are not in the domain.

A last word that is a preposition is the one that the relation needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ovrag_studies.abstention.knowledge.domain import Domain, Wording
from ovrag_studies.abstention.parsing.english import ARTICLES, PREPOSITIONS
from ovrag_studies.abstention.parsing.word_forms import key_of, noun_forms, verb_forms, words_of

Role = Literal["subject", "object"]
Phrase = tuple[str, ...]

OTHER: dict[Role, Role] = {"subject": "object", "object": "subject"}


@dataclass(frozen=True, slots=True)
class Sense:
    """What a word may mean: a relation, and which part of the claim its agent (verb) or owner (noun) is.

    `needs` is the preposition without which it does not mean that; `form` is that of a verb (`words.verb_forms`).
    """

    relation: str
    noun: bool
    role: Role
    needs: str = ""
    form: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A wording of the domain, word for word: the relation, and the parts of the claim in the order of the sentence."""

    relation: str
    order: tuple[Role, Role]


@dataclass(frozen=True, slots=True)
class RelationWords:
    """A domain's words. `senses` by phrase as it is written; `chains` by predicate; `longest` phrase in words; `texts`:
    relations whose objects are text."""

    senses: dict[Phrase, tuple[Sense, ...]]
    any_verb: dict[str, Sense]
    templates: dict[Phrase, Template]
    chains: dict[str, str]
    cues: dict[Phrase, str]
    fillers: frozenset[Phrase]
    others: frozenset[Phrase]
    words: frozenset[str]
    texts: frozenset[str]
    longest: int

    def is_chain(self, relation: str) -> bool:
        """Whether it is the chain of a predicate."""
        return relation in self.chains.values()


@lru_cache(maxsize=16)
def _compiled(key: _ByIdentity) -> RelationWords:
    domain = key.domain
    senses: dict[Phrase, list[Sense]] = defaultdict(list)
    any_verb: dict[str, Sense] = {}
    templates: dict[Phrase, Template] = {}
    cues: dict[Phrase, str] = {}
    fillers: set[Phrase] = {phrase for each in domain.classes.values() for phrase in _nouns(each.labels)}
    others: set[Phrase] = set()
    for relation, predicate, wording, role in _wordings(domain):
        for phrase, sense in _senses(relation, wording, role):
            if phrase[0] == "*":
                any_verb[sense.needs] = sense
            else:
                senses[phrase].append(sense)
        for text in (*wording.questions, *wording.statements):
            templates.setdefault(_frame(text), Template(relation, _order(text)))
        cues.update((_phrase(text), predicate) for text in wording.vocabulary.get("cues", ()))
        fillers.update(_nouns(wording.vocabulary.get("fillers", ())))
        others.update(_all_forms(wording.vocabulary.get("others", ())))
    phrases = [*senses, *cues, *fillers, *others]
    return RelationWords(
        {phrase: tuple(dict.fromkeys(found)) for phrase, found in senses.items()},
        any_verb,
        templates,
        {each.name: each.chain.name for each in domain.predicates.values() if each.chain},
        cues,
        frozenset(fillers - set(senses)),
        frozenset(others - set(senses)),
        frozenset(word for phrase in phrases for word in phrase),
        frozenset(each.name for each in domain.predicates.values() if each.values != "thing"),
        max((len(phrase) for phrase in phrases), default=1),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ByIdentity:
    """A domain as a key: by which object it is, as its parts cannot be hashed."""

    domain: Domain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.domain is self.domain

    def __hash__(self) -> int:
        return id(self.domain)


def lexicon_of(domain: Domain) -> RelationWords:
    """The words of a domain; made once."""
    return _compiled(_ByIdentity(domain))


def _wordings(domain: Domain) -> Iterator[tuple[str, str, Wording, Role]]:
    """Each wording with the relation it is of, the predicate behind that, and whose its verbs and nouns are."""
    for name, predicate in domain.predicates.items():
        yield name, name, predicate, "subject"
        yield name, name, predicate.inverse, "object"
        if predicate.chain:
            yield predicate.chain.name, name, predicate.chain, "subject"


def _senses(relation: str, wording: Wording, role: Role) -> Iterator[tuple[Phrase, Sense]]:
    for key, whose in (("", role), ("inverse_", OTHER[role])):
        for text in wording.vocabulary.get(key + "verbs", ()):
            phrase, needs = _split(text)
            if phrase[0] == "*":
                yield phrase, Sense(relation, False, whose, needs)
                continue
            for form, name in verb_forms(phrase[0]).items():
                yield (form, *phrase[1:]), Sense(relation, False, whose, needs, name)
        for text in wording.vocabulary.get(key + "nouns", ()):
            phrase, needs = _split(text)
            for form in noun_forms(phrase[-1]):
                yield (*phrase[:-1], form), Sense(relation, True, whose, needs)


def _split(text: str) -> tuple[Phrase, str]:
    phrase = _phrase(text)
    return (phrase[:-1], phrase[-1]) if len(phrase) > 1 and phrase[-1] in PREPOSITIONS else (phrase, "")


def _phrase(text: str) -> Phrase:
    return tuple(word.text for word in words_of(text))


def _nouns(texts: Sequence[str]) -> Iterator[Phrase]:
    for text in texts:
        phrase = _phrase(text)
        yield from ((*phrase[:-1], form) for form in noun_forms(phrase[-1]))
        if len(phrase) > 1:  # bodies of water
            yield from ((form, *phrase[1:]) for form in noun_forms(phrase[0]))


def _all_forms(texts: Sequence[str]) -> Iterator[Phrase]:
    for text in texts:
        phrase = _phrase(text)
        yield from ((form, *phrase[1:]) for form in (*verb_forms(phrase[0]), *noun_forms(phrase[0])))


def _order(text: str) -> tuple[Role, Role]:
    return ("subject", "object") if text.index("{subject}") < text.index("{object}") else ("object", "subject")


def _frame(text: str) -> Phrase:
    """The words of a template, with the two places as `1` and `2` in their order."""
    first, second = ("{subject}", "{object}") if _order(text)[0] == "subject" else ("{object}", "{subject}")
    before, rest = text.split(first)
    between, after = rest.split(second)
    return (*_bare(before), "1", *_bare(between), "2", *_plain(after))


def _bare(text: str) -> list[str]:
    """The words before a name, without its article."""
    words = list(_plain(text))
    return words[:-1] if words[-1:] and words[-1] in ARTICLES else words


def _plain(text: str) -> Iterator[str]:
    return (word.text for word in words_of(text) if key_of([word]) or word.text == "'s")
