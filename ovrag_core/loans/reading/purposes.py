# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""What a loan is for, and what kind of loan that makes it where wording alone does not decide.

A purpose is compared with the prototypes of the lexicon by the bundled sentence embedder. It is a weak witness: real
purposes do not always match the kind of loan, so it never turns a person's loan into a commercial one, nor a company's
into a consumer one, unless it is close to one kind and far from the other.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

from ovrag_core.loans.loan_facts import PartyKind
from ovrag_core.loans.reading.lexicon import Lexicon
from ovrag_core.loans.reading.sentences import Unit

MARGIN = 0.06  # cosine between the best kind and the next
LIKELY = 0.35
AGAINST_PARTY = (0.60, 0.25)  # similarity and margin needed to speak against the kind of the borrower

_LABEL = re.compile(
    r"(?:(?:loan |credit |stated |main |intended )?purposes?(?: of (?:the )?(?:loan|credit|advance|facility|"
    r"borrowing|finance|card))?|use of (?:the )?(?:proceeds|funds|loan|money|advance)|"
    r"what (?:it is|the (?:loan|money) is) for|for what|intended use|reason for (?:the )?loan|"
    r"object(?: of (?:the )?(?:loan|finance))?|purpose code|to be used for)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"\b(?:(?:for the (?:sole |exclusive |specific )?purposes? of|solely (?:for|to)|only (?:for|to)|"
    r"exclusively (?:for|to)|to be (?:used|applied|spent) (?:\w+ ){0,2}?(?:for|to|in|towards?|on)|"
    r"(?:shall|will|must|may|is to|are to) (?:only )?be (?:used|applied|spent) (?:\w+ ){0,3}?(?:for|to|in|towards?|"
    r"on)|(?:proceeds|money|funds|loan|advances?|facility) (?:\w+ ){0,4}?(?:is|are|will be|"
    r"shall be) (?:\w+ ){0,2}?(?:for|to)|"
    r"(?:use|apply|spend) (?:\w+ ){0,6}?(?:for|to|on|towards?)|in order to (?:finance|fund|purchase|buy|acquire|pay)|"
    r"to (?:finance|fund|help (?:finance|fund|pay))|it is to pay for|for the (?:purchase|acquisition|construction|"
    r"refurbishment|renovation) of|"
    r"(?:loan|credit|money|advance|facility|sum|note|card|lender|creditor|financier) (?:pays? for|finances|"
    r"helps? (?:you|me|him|her|the borrower)? ?with|covers)|(?:loan|credit|money|advance|facility) (?:is|"
    r"are) (?:taken )?for|"
    r"(?:spends?|employs?|uses?) (?:the|this) (?:sum|money|loan|advance|credit|note|proceeds) (?:on|for)|"
    r"what it is for:|object financed is|serves? (?:to|for)|purpose (?:of (?:the|"
    r"this) \w+ )?is(?: to)?)\s+(?P<what>[^.;]{4,220}))",
    re.IGNORECASE,
)


_HOME = re.compile(
    r"\b(?:(?:build|buy|purchase|acquire|house|home|flat|maisonette|apartment|dwelling|property|chalet|place)\b[^.;]{0,60}"
    r"\b(?:to live in|in which (?:you|they|he|she|I|we) (?:are going to|will|intend to) live|where (?:you|they|he|she|I|we) will live)|"
    r"(?:will|shall) (?:be|become) (?:the |your |my |our |his |her |their )?(?:[\w'’]+ )?(?:own |main |family |principal )*(?:home|residence)\b|"
    r"(?:borrowers?|debtors?|grantors?|mortgagors?|you|they|we|I) (?:will|shall|intends? to|are going to) (?:live in|occupy|reside)|"
    r"for (?:the |your |my |our |his |her |their )?(?:[\w'’]+ )?own (?:house|home|flat|apartment|dwelling))",
    re.IGNORECASE,
)


_STUDY = re.compile(
    r"\b(?:stud(?:y|ies|ent|ying)|tuition|universit\w+|college|degree|diploma|apprentice\w*|vocational|graduate|"
    r"master|bachelor|doctora\w+|semester|academic)\b",
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
    """What the loan is for, in the text's words, with the span of those words and the unit they stand in."""

    text: str
    start: int
    end: int
    unit: int
    labelled: bool


def find_purpose(text: str, units: Sequence[Unit]) -> Purpose | None:
    """The purpose a plain text states: a labelled one before one in a sentence, one under its heading before others."""
    sentences: list[tuple[int, Purpose]] = []
    for index, unit in enumerate(units):
        if unit.kind == "row" and _LABEL.fullmatch(unit.label.strip(" .:")):
            value = text[unit.value_start : unit.end].strip()
            if value:
                return Purpose(" ".join(value.split()), unit.value_start, unit.end, index, True)
        if unit.kind != "sentence":
            continue
        headed = re.search(r"purpose|use of (?:proceeds|funds)|what .* for\b", unit.heading, re.IGNORECASE) is not None
        match = _SENTENCE.search(text, unit.start, unit.end)
        if match is not None and re.search(
            r"\b(?:not|never|nor|no|cannot)\b[^,;]{0,40}$",
            text[max(unit.start, match.start() - 50) : match.start() + 12],
        ):
            match = None
        if match is not None or headed:
            span = match.span("what") if match is not None else (unit.start, unit.end)
            if span[1] - span[0] > 400:
                span = (span[0], span[0] + 400)
            found = Purpose(" ".join(text[span[0] : span[1]].split()), span[0], span[1], index, False)
            sentences.append((0 if headed and match else 1 if headed else 2, found))
    if not sentences:
        return None
    return min(sentences, key=lambda pair: (pair[0], pair[1].unit))[1]


def find_home_use(text: str) -> tuple[int, int] | None:
    """Where a plain text says that what is bought with the loan is to be the borrower's home."""
    for match in _HOME.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        if not re.search(r"\b(?:not|never|nor|nobody|if|unless|or)\b[^.;]*$", before + match.group(), re.IGNORECASE):
            return match.span()
    return None


def is_study(purpose: str) -> bool:
    """Whether a purpose names the borrower's studies, and not a child's school alone."""
    return _STUDY.search(purpose) is not None


def says_in_passing(statement: str, at: int) -> bool:
    """Whether the words of a kind at `at` in a sentence or row are said of something else than the loan: in the
    definition of another term, in a list of exceptions, in a question reported, or of another creditor's product."""
    return (
        _DEFINES_ANOTHER.match(statement) is not None
        or _BEFORE_IN_PASSING.search(statement[:at]) is not None
        or _AFTER_IN_PASSING.match(statement, at) is not None
    )


def kind_of_purpose(purpose: str, borrower: PartyKind | None, lexicon: Lexicon) -> tuple[str, float] | None:
    """The kind of loan whose prototypes the purpose is nearest to, with its similarity; None where it stays open."""
    similarity = _similarities(purpose, lexicon)
    ranked = sorted(similarity.items(), key=lambda pair: (-pair[1], pair[0]))
    (kind, best), (_, second) = ranked[0], ranked[1]
    if best < LIKELY or best - second < MARGIN:
        return None
    against = (kind == "CommercialLoan" and borrower == "natural_person") or (
        kind in ("ConsumerLoan", "StudentLoan") and borrower not in (None, "natural_person")
    )
    if against and (best < AGAINST_PARTY[0] or best - second < AGAINST_PARTY[1]):
        return None
    return kind, best


@lru_cache(maxsize=4096)
def _vector(text: str) -> NDArray[numpy.float32]:
    from ovrag_core.retrieval import minilm  # noqa: PLC0415 - brings torch, which most readings do not need

    vector: NDArray[numpy.float32] = minilm().embed([text])[0]
    return vector


_first = threading.Lock()  # threads that begin together wait for the first one's prototypes instead of making their own


@lru_cache(maxsize=4)
def _prototypes(items: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, NDArray[numpy.float32]]:
    from ovrag_core.retrieval import minilm  # noqa: PLC0415

    return {kind: minilm().embed(list(texts)) for kind, texts in items}


def _similarities(purpose: str, lexicon: Lexicon) -> dict[str, float]:
    vector = _vector(purpose[:300])
    with _first:
        kinds = _prototypes(tuple(sorted(lexicon.prototypes.items())))
    return {kind: float(numpy.sort(matrix @ vector)[-2:].mean()) for kind, matrix in kinds.items()}
