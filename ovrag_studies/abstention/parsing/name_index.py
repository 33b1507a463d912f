"""The names in a graph, found in a question: by their words, the longest first, and what is nearest where none fits."""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from ovrag_core.graph import LABEL, Store
from ovrag_core.text import fold
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.knowledge.known import pairs_of
from ovrag_studies.abstention.knowledge.likeness import label_order, local_name
from ovrag_studies.abstention.parsing.english import NO_NAMES, Word, key_of, words_of

Thing = NamedNode | Literal

# What tells things of one name apart stands in brackets or behind a comma: `Salt Creek (Utah)`, `Salt Creek, Utah`.
_QUALIFIER = re.compile(r"\s*(?:\([^()]*\)|,.*)\s*$")
_NEAR = 0.6  # a name shares so much of its letters with another, at least, to be called near


@dataclass(frozen=True, slots=True)
class Mention:
    """Place of a name in a question (words from, to) and the things it may name, `whole` or without a qualifier."""

    start: int
    end: int
    things: tuple[Thing, ...]
    whole: bool = True


class Names:
    """An index of the names of things, as given. Ambiguous names are kept as such."""

    def __init__(
        self,
        labels: Iterable[tuple[Thing, str]],
        short: Mapping[str, str] = NO_NAMES,
        heads: frozenset[str] = frozenset(),
    ) -> None:
        """`short` writes out abbreviations inside names, by their folded text.

        `heads` are words for classes of things (*creek*), which make a name of the words before them.
        """
        self._short = short
        self.heads = heads
        self._whole: dict[str, dict[Thing, None]] = defaultdict(dict)
        self._part: dict[str, dict[Thing, None]] = defaultdict(dict)
        self._labels: dict[Thing, str] = {}
        self._longest = 1
        for thing, label in labels:
            words = words_of(label)
            if not (key := key_of(words, short)):
                continue
            self._labels.setdefault(thing, label)
            self._whole[key.removeprefix("the ") or key][thing] = None
            self._longest = max(self._longest, len(words) + 2)
            short_key = key_of(words_of(_QUALIFIER.sub("", label)), short)
            if short_key and short_key != key:
                self._part[short_key][thing] = None

    def label(self, thing: Thing) -> str:
        """The name of a thing; its IRI or text where it has none."""
        return self._labels.get(thing, thing.value)

    def called(self, thing: Thing) -> str:
        """The name of a thing; the last part of its IRI where it has none."""
        label = self.label(thing)
        return local_name(label) if isinstance(thing, NamedNode) and label == thing.value else label

    def mentions(self, text: str, words: Sequence[Word]) -> Iterator[Mention]:
        """Every stretch of words that is the name of something, also those inside longer ones."""
        for start, word in enumerate(words):
            if word.sign or word.text in ("'s", "the"):
                continue
            for end in range(start + 1, min(start + self._longest, len(words)) + 1):
                if (end_word := words[end - 1]).sign and end_word.text not in "%).":
                    continue
                if mention := self._mention(text, words, start, end):
                    yield mention

    def nearest(self, name: str) -> tuple[str, ...]:
        """The names most like it in their letters, three at most."""
        return tuple(difflib.get_close_matches(name, dict.fromkeys(self._labels.values()), n=3, cutoff=_NEAR))

    def _mention(self, text: str, words: Sequence[Word], start: int, end: int) -> Mention | None:
        key = key_of(words[start:end], self._short)
        if key not in self._whole and key not in self._part:
            return None
        span = text[words[start].start : words[end - 1].end]
        # A possessor's mark that is the last of the words is the sentence's, not the name's.
        possessor = words[end - 1].text == "'s" and not any(word.capital for word in words[end : end + 1])
        if possessor or span.count("(") != span.count(")"):
            return None
        bearers = tuple(self._whole.get(key, ()))
        verbatim = tuple(bearer for bearer in bearers if self._labels[bearer] == span)
        if span.endswith(".") and not verbatim:
            return None  # the full stop of the sentence
        return Mention(start, end, verbatim or bearers or tuple(self._part[key]), whole=bool(bearers))


def names_of(store: Store, domain: Domain) -> Names:
    """The names in a graph: labels of its things, and the values of the domain's predicates that are text."""
    labels: list[tuple[Thing, Thing]] = [*pairs_of(store, LABEL)]
    for predicate in domain.predicates.values():
        labels += dict.fromkeys((value, value) for _, value in pairs_of(store, predicate.node))
    heads = {fold(label) for class_ in domain.classes.values() for label in class_.labels}
    written = [(thing, label) for thing, label in labels if isinstance(label, Literal)]
    ordered = sorted(written, key=lambda pair: (*label_order(pair[1]), str(pair[0])))
    return Names(((thing, label.value) for thing, label in ordered), domain.names.short, frozenset(heads))
