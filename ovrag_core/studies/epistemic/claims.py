"""A claim about a graph, and how a question was read as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

Span = tuple[int, int]  # from and to, in characters of the question


@dataclass(frozen=True, slots=True)
class Claim:
    """That the subject has the object under a predicate of the domain, named as there, or under its chain's name."""

    subject: NamedNode
    predicate: str
    object: NamedNode | Literal


@dataclass(frozen=True, slots=True)
class Reading:
    """How a question was read. Without a claim, `reason` says why, and `candidates` what it may have meant.

    `confidence` is from 0 to 1; `mentions` are the spans of `subject`, `object` and `relation` in the question.
    """

    claim: Claim | None
    confidence: float
    reason: str = ""
    mentions: Mapping[str, Span] = field(default_factory=dict)
    candidates: tuple[Claim, ...] = ()
