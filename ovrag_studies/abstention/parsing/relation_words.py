"""A domain's words for its relations (`vocabulary` of `Wording`), each inflected, each with its direction."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from ovrag_studies.abstention.knowledge.domain import Domain, Wording
from ovrag_studies.abstention.parsing.english import PREPOSITIONS, noun_forms, verb_forms, words_of

Role = Literal["subject", "object"]
Phrase = tuple[str, ...]

_PLACE = re.compile(r"(?:\b(?:the|an?) )?\{(?:subject|object)\}", re.IGNORECASE)
OTHER: dict[Role, Role] = {"subject": "object", "object": "subject"}


@dataclass(frozen=True, slots=True)
class Sense:
    """Possible meaning of a word: a relation, and which part of the claim its agent (verb) or owner (noun) is.

    `needs` is the preposition without which it does not mean that; `form` is that of a verb.
    """

    relation: str
    noun: bool
    role: Role
    needs: str = ""
    form: str = ""


@dataclass(frozen=True, slots=True)
class RelationWords:
    """A domain's words. `senses` by phrase as it is written; `chains` by predicate; `longest` phrase in words.

    `templates` are wordings with the relation and the part of the claim that comes first; `texts` relations of text.
    """

    senses: dict[Phrase, tuple[Sense, ...]]
    any_verb: dict[str, Sense]
    templates: dict[Phrase, tuple[str, Role]]
    chains: dict[str, str]
    cues: frozenset[Phrase]
    fillers: frozenset[Phrase]
    others: frozenset[Phrase]
    words: frozenset[str]
    texts: frozenset[str]
    longest: int

    @property
    def going(self) -> Sense | None:
        """The sense of a verb that is not known, where the domain's things go anywhere."""
        return next(iter(self.any_verb.values()), None)

    def is_chain(self, relation: str) -> bool:
        """Return True where it is the chain of a predicate."""
        return relation in self.chains.values()

    def link_of(self, relation: str) -> str:
        """The predicate whose chain it is; itself where it is none."""
        return next((predicate for predicate, chain in self.chains.items() if chain == relation), relation)


@lru_cache(maxsize=16)
def lexicon_of(domain: Domain) -> RelationWords:
    """The words of a domain; made once."""
    senses: dict[Phrase, list[Sense]] = defaultdict(list)
    templates: dict[Phrase, tuple[str, Role]] = {}
    cues: set[Phrase] = set()
    fillers: set[Phrase] = {phrase for class_ in domain.classes.values() for phrase in _nouns(class_.labels)}
    foreign: set[Phrase] = set()
    for relation, wording, role in _wordings(domain):
        for phrase, sense in _senses(relation, wording, role):
            senses[phrase].append(sense)
        for text in (*wording.statements, *wording.questions):
            first: Role = "subject" if text.index("{subject}") < text.index("{object}") else "object"
            templates.setdefault(_frame(text), (relation, first))
        cues.update(map(_phrase, wording.vocabulary.get("cues", ())))
        fillers.update(_nouns(wording.vocabulary.get("fillers", ())))
        foreign.update(_all_forms(wording.vocabulary.get("others", ())))
    any_verb = {sense.needs: sense for sense in senses.pop(("*",), ())}
    phrases = [*senses, *cues, *fillers, *foreign]
    return RelationWords(
        {phrase: tuple(dict.fromkeys(meanings)) for phrase, meanings in senses.items()},
        any_verb,
        templates,
        {p.name: p.chain.name for p in domain.predicates.values() if p.chain},
        frozenset(cues),
        frozenset(fillers - set(senses)),
        frozenset(foreign - set(senses)),
        frozenset(chain.from_iterable(phrases)),
        frozenset(p.name for p in domain.predicates.values() if p.values != "thing"),
        max(map(len, phrases), default=1),
    )


def _wordings(domain: Domain) -> Iterator[tuple[str, Wording, Role]]:
    """Yield each wording with its relation, and whose its verbs and nouns are."""
    for name, predicate in domain.predicates.items():
        yield name, predicate, "subject"
        yield name, predicate.inverse, "object"
        if predicate.chain:
            yield predicate.chain.name, predicate.chain, "subject"


def _senses(relation: str, wording: Wording, role: Role) -> Iterator[tuple[Phrase, Sense]]:
    for key, whose in (("", role), ("inverse_", OTHER[role])):
        for text in wording.vocabulary.get(key + "verbs", ()):
            phrase, needs = _split(text)
            forms = {"*": ""} if phrase[0] == "*" else verb_forms(phrase[0])
            for form, name in forms.items():
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
        yield from ((form, *phrase[1:]) for form in noun_forms(phrase[0]))  # bodies of water


def _all_forms(texts: Sequence[str]) -> Iterator[Phrase]:
    for text in texts:
        phrase = _phrase(text)
        yield from ((form, *phrase[1:]) for form in (*verb_forms(phrase[0]), *noun_forms(phrase[0])))


def _frame(text: str) -> Phrase:
    """The words of a template, with the two places as `1` and `2` in their order, no articles before them."""
    numbers = iter("12")
    numbered = _PLACE.sub(lambda _: next(numbers), text)
    return tuple(word.text for word in words_of(numbered) if not word.sign)
