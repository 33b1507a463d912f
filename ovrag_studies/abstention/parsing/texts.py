"""A question as a text with names in it: which of those that it may hold are meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ovrag_core.text import one_line
from ovrag_studies.abstention.parsing.english import FUNCTION, LONG_PREPOSITIONS, SHELL
from ovrag_studies.abstention.parsing.frames import SentencePart
from ovrag_studies.abstention.parsing.name_index import Mention, Names
from ovrag_studies.abstention.parsing.relation_words import RelationWords
from ovrag_studies.abstention.parsing.word_forms import Word


@dataclass(frozen=True)
class Text:
    """A question while it is read."""

    question: str
    words: list[Word]
    lexicon: RelationWords
    names: Names

    def quoted(self, mention: Mention) -> str:
        """A name as it is written, for a sentence to people."""
        start, end = self.span(mention)
        return f"'{one_line(self.question[start:end], 80)}'"

    def span(self, mention: Mention) -> tuple[int, int]:
        """Return the span of a name, in characters."""
        return self.words[mention.start].start, self.words[mention.end - 1].end

    @cached_property
    def every(self) -> list[Mention]:
        """All that may be a name, inside longer ones too."""
        return list(self.names.mentions(self.question, self.words))

    @cached_property
    def cased(self) -> bool:
        """Flag that capitals tell names from other words.

        Some words have them, or the names found have none either.
        """
        letters = [word.capital for word in self.words[1:] if not word.sign and word.text[:1].isalpha()]
        labels = [self.names.label(mention.things[0]) for mention in self.every]
        return not all(letters) and (any(letters) or not any(label != label.lower() for label in labels))

    def known(self, word: Word) -> bool:
        """Return True for a word of the language or the domain, as far as they are known here."""
        return word.sign or word.text in FUNCTION or word.text in SHELL or word.text in self.lexicon.words

    def mentions(self) -> list[Mention]:
        """The names that are meant, in order, without overlap: the weightiest first, common words at need only."""
        chosen: list[Mention] = []
        for mention in sorted(self.every, key=lambda m: (self._is_common(m), -self._weight(m), m.start)):
            if len(chosen) >= 2 and self._is_common(mention):
                break
            if not any(mention.start < c.end and c.start < mention.end for c in chosen):
                chosen.append(mention)
        return sorted(chosen, key=lambda m: m.start)

    def _is_common(self, mention: Mention) -> bool:
        words = self.words[mention.start : mention.end]
        return all(self.known(word) and (not word.capital or word.start == 0) for word in words)

    def _weight(self, mention: Mention) -> float:
        """Weigh the part of the question that a name accounts for.

        It is less where the name is not whole, or is written in other letters.
        """
        start, end = self.span(mention)
        written = self.question[start:end]
        labels = [self.names.label(node) for node in mention.things]
        verbatim = any(label.startswith(written) or label[4:].startswith(written) for label in labels)  # "the ocean"
        words = self.words[mention.start : mention.end]
        weight = sum(0.3 if self.known(word) and not (word.capital and self.cased) else 1.0 for word in words)
        return weight - (0 if mention.whole else 0.01) - (0 if verbatim or not self.cased else 0.35)

    def pieces(self, found: Sequence[Mention], slots: Sequence[int]) -> list[SentencePart]:
        """The words with the names taken out, each name by its number."""
        pieces: list[SentencePart] = []
        start = 0
        for slot, mention in zip(slots, found, strict=True):
            pieces += self._between(start, mention.start)
            pieces.append(SentencePart("", *self.span(mention), slot))
            start = mention.end
        return _resolved(_shortened(pieces + self._between(start, len(self.words))))

    def _between(self, start: int, end: int) -> list[SentencePart]:
        """The words that are not in names; a hyphen inside a word joins nothing here (`sub-tributary`)."""
        return [
            SentencePart(word.text, word.start, word.end) for word in self.words[start:end] if not self._is_hyphen(word)
        ]

    def _is_hyphen(self, word: Word) -> bool:
        around = self.question[word.start - 1 : word.start] + self.question[word.end : word.end + 1]
        return word.text == "-" and len(around) == 2 and around.isalpha()


def _resolved(pieces: list[SentencePart]) -> list[SentencePart]:
    """`The former` and `the latter` as the names that they stand for."""
    resolved: list[SentencePart] = []
    for piece in pieces:
        slots = [p.slot for p in resolved if p.slot]
        stands = piece.text in ("former", "latter") and len(slots) > 1
        slot = slots[piece.text == "latter"] if stands else piece.slot
        resolved.append(SentencePart("" if slot else piece.text, piece.start, piece.end, slot))
    return resolved


def _shortened(pieces: list[SentencePart]) -> list[SentencePart]:
    """Prepositions of several words as the one that they amount to: `as far as` is `to`."""
    shortened: list[SentencePart] = []
    for piece in pieces:
        shortened.append(piece)
        for phrase, short in LONG_PREPOSITIONS.items():
            tail = shortened[-len(phrase) :]
            if tuple(p.text for p in tail) == phrase:
                shortened[-len(phrase) :] = [SentencePart(short, tail[0].start, tail[-1].end)]
    return shortened
