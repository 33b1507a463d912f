# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Purpose of a loan, and the kind of loan that it makes, whoever borrows.

Two linear models that `tools/train_purposes.py` learns from the marked agreements: one on hashed words chooses the
passages that may tell what the money is for, one on their vectors by the bundled sentence embedder tells what each
says of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy
from numpy.typing import NDArray

from ovrag_core.base import project_file, read_tensors
from ovrag_core.loans.reading.judge import passage_of
from ovrag_core.loans.reading.sentences import Unit
from ovrag_core.text import score_words

KINDS_BY_USE = ("ConsumerLoan", "CommercialLoan", "StudentLoan")
WEIGHTS = Path("ontologies/lexicon/purposes.safetensors")
MAY_TELL = 0.2  # of the screen: below, a passage is not looked at
MOST = 8  # passages that are looked at
TELLS = 0.2  # probability from which a passage states the purpose, and from which a kind is told
DENIED = 0.5  # of the probability of a kind that a passage with a denial keeps: "not for a business" names one
LONGEST = 400  # characters of a purpose
_DENIAL = re.compile(r"\b(?:not|no|never|nothing|none|neither|nor|cannot|nobody|without)\b|n['’]t\b", re.IGNORECASE)

Array = NDArray[numpy.float32]

_HOME = re.compile(
    r"\b(?:(?:build|buy|purchase|acquire|house|home|flat|maisonette|apartment|dwelling|property|chalet|place)\b[^.;]{0,60}"
    r"\b(?:to live in|in which (?:you|they|he|she|I|we) (?:are going to|will|intend to) live|where (?:you|they|he|she|I|we) will live)|"
    r"(?:will|shall) (?:be|become) (?:the |your |my |our |his |her |their )?(?:[\w'’]+ )?(?:own |main |family |principal )*(?:home|residence)\b|"
    r"(?:borrowers?|debtors?|grantors?|mortgagors?|you|they|we|I) (?:will|shall|intends? to|are going to) (?:live in|occupy|reside)|"
    r"for (?:the |your |my |our |his |her |their )?(?:[\w'’]+ )?own (?:house|home|flat|apartment|dwelling))",
    re.IGNORECASE,
)
# A definition of something that is not the loan itself.
_DEFINES_ANOTHER = re.compile(
    r"\W{0,3}[\"“](?![^\"”]*\b(?:Loans?|Facilit|Credit|Advances?|Note|Line|Account|Card|Agreement|Purpose)\b)"
    r"[A-Z][^\"”]{1,60}[\"”]\s+(?:means?|shall mean|has the meaning|includes?)\b"
)
_BEFORE_IN_PASSING = re.compile(
    r"\b(?:whether|if any|none|nothing)\b[^.]{0,20}\b(?:save|except|other than|of (?:it|this|the))\b[^.]*$|"
    r"\b(?:asked|know|matter|decide) whether\b[^.;]*$",
    re.IGNORECASE,
)
_AFTER_IN_PASSING = re.compile(
    r"[^.;,]{0,30}\b(?:with|from|of|by) (?:an)?other (?:bank|lender|creditor|company|provider|institution)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Purpose:
    """Purpose of the loan in the text's words, with their span and their unit.

    `kinds` tells how likely each of `KINDS_BY_USE` is, and a green loan. Each has the unit that shows it best.
    """

    text: str
    start: int
    end: int
    unit: int
    kinds: dict[str, tuple[float, int]]


def find_purpose(text: str, units: Sequence[Unit]) -> Purpose | None:
    """Find what a plain text says the loan is for; None where no passage tells it."""
    numbers = [
        number for number, unit in enumerate(units) if unit.kind in ("sentence", "row") and unit.end > unit.start
    ]
    passages = [passage_of(units[number].heading, text[units[number].start : units[number].end]) for number in numbers]
    screened = _screened(passages)
    best = [row for row in numpy.argsort(-screened, kind="stable")[:MOST] if screened[row] >= MAY_TELL]
    if not best:
        return None
    uses, green = _told([passages[row] for row in best])
    tells = 1 - uses[:, 0]
    if tells.max() < TELLS:
        return None
    weights = numpy.array([DENIED if _DENIAL.search(passages[row]) else 1 for row in best])
    kinds = {
        kind: (float(scores.max()), numbers[best[scores.argmax()]])
        for kind, scores in (
            *zip(KINDS_BY_USE, (uses[:, 1:] * weights[:, None]).T, strict=True),
            ("GreenLoan", green * tells),
        )
    }
    number = numbers[best[(numpy.log(tells / (1 - tells + 1e-6)) + screened[best]).argmax()]]
    unit = units[number]
    start = unit.value_start if unit.kind == "row" and unit.value_start < unit.end else unit.start
    end = min(unit.end, start + LONGEST)
    return Purpose(" ".join(text[start:end].split()), start, end, number, kinds)


@cache
def _weights() -> dict[str, Array]:
    tensors, _ = read_tensors(project_file(WEIGHTS))
    return {name: tensor.astype(numpy.float32) for name, tensor in tensors.items()}


def _screened(passages: Sequence[str]) -> Array:
    """Estimate how likely each passage tells a purpose, by its words alone (n, float32)."""
    weights = _weights()
    scores = numpy.array([score_words(passage, weights["screen.weight"]) for passage in passages])
    return _logistic(scores + weights["screen.bias"])


def _told(passages: Sequence[str]) -> tuple[Array, Array]:
    """Estimate what each passage says of a purpose, as two arrays of probabilities.

    The first is for no purpose and for each of `KINDS_BY_USE` (n × 4), the second for a green one (n).
    """
    weights = _weights()
    vectors = numpy.array([_vector(passage) for passage in passages]).reshape(len(passages), -1)
    scores = vectors @ weights["uses.weight"].T + weights["uses.bias"]
    raised = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    green = vectors @ weights["green.weight"] + weights["green.bias"]
    return raised / raised.sum(axis=1, keepdims=True), _logistic(green)


def _logistic(scores: Array) -> Array:
    return numpy.asarray(1 / (1 + numpy.exp(-scores)), dtype=numpy.float32)


@lru_cache(4096)
def _vector(text: str) -> Array:
    from ovrag_core.retrieval import minilm  # noqa: PLC0415 - brings the embedder's weights, which most readings do not need

    vector: Array = minilm().embed([text])[0]
    return vector


def find_home_use(text: str) -> tuple[int, int] | None:
    """Find where a plain text says that what is bought with the loan is to be the borrower's home."""
    for match in _HOME.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        if not re.search(r"\b(?:not|never|nor|nobody|if|unless|or)\b[^.;]*$", before + match.group(), re.IGNORECASE):
            return match.span()
    return None


def says_in_passing(statement: str, at: int) -> bool:
    """Return True where the words of a kind at `at` in a sentence or row are said of something else than the loan.

    They stand in the definition of another term, in a list of exceptions or in a question reported. Or they speak of
    another creditor's product.
    """
    return (
        _DEFINES_ANOTHER.match(statement) is not None
        or _BEFORE_IN_PASSING.search(statement[:at]) is not None
        or _AFTER_IN_PASSING.match(statement, at) is not None
    )
