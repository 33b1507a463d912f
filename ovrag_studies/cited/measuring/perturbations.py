"""Sentences made wrong on purpose, with evidence that does not support them: a check is measured by what it rejects."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ovrag_core.text.passages import find_passages

Kind = Literal["must", "number", "paragraph"]

_MUST = re.compile(r"\bmust(?P<turned> (?:not|never))?\b")
_NUMBER = re.compile(r"(?<![\w.,:-])\d+(?:\.\d+)?(?![\w:]|[.,]\d)")


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A sentence that `evidence` does not support, and in what way."""

    kind: Kind
    sentence: str
    evidence: tuple[str, ...]


def perturb(paragraphs: Sequence[str]) -> Iterator[Perturbed]:
    """Of each sentence: every must turned into must not and back, and every number changed, one at a time."""
    for text in paragraphs:
        for start, end in find_passages(text):
            sentence = text[start:end]
            if _MUST.search(sentence):
                yield Perturbed("must", swap_must(sentence), (text,))
            yield from (Perturbed("number", changed, (text,)) for changed in change_numbers(sentence))


def misplace(
    sentences: Iterable[tuple[str, Sequence[str]]], paragraphs: Sequence[str], times: int = 5, seed: int = 42
) -> Iterator[Perturbed]:
    """Sentences with their evidence exchanged for `times` other paragraphs each, drawn by `seed`."""
    drawn = random.Random(seed)
    for sentence, evidence in sentences:
        others = [text for text in paragraphs if text not in evidence]
        for text in drawn.sample(others, min(times, len(others))):
            yield Perturbed("paragraph", sentence, (text,))


def swap_must(sentence: str) -> str:
    """Must as must not, and must not or must never as must, wherever they stand."""
    return _MUST.sub(lambda match: "must" if match["turned"] else "must not", sentence)


def change_numbers(sentence: str) -> list[str]:
    """The sentence once for each number in figures, with that number more than doubled."""
    return [
        f"{sentence[: match.start()]}{_other(match[0])}{sentence[match.end() :]}"
        for match in _NUMBER.finditer(sentence)
    ]


def _other(number: str) -> str:
    return str(2 * int(number) + 1) if number.isdigit() else str(round(2 * float(number) + 1, 3))
