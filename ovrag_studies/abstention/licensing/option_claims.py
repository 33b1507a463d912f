"""Multiple choice: a question that asks *which*, with an option put in its place, is a claim to be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ovrag_core.graph import Store
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.licensing.licence import Licence, Verdict, license_any, license_claim
from ovrag_studies.abstention.parsing.claim_reader import Reading, read_claim
from ovrag_studies.abstention.parsing.english import BE, DO, HAVE
from ovrag_studies.abstention.parsing.name_index import Names
from ovrag_studies.abstention.parsing.word_forms import Word, words_of

_ASKS = frozenset({"which", "what"})
_SECOND = re.compile(r"[,;]?\s+and\s+(?:what|which|where|how|when|who)\b.*$", re.IGNORECASE | re.DOTALL)


def read_choice(question: str, option: str, names: Names, domain: Domain, about: str = "") -> Reading:
    """The claim that an option makes as the answer to a question with `which` or `what`.

    Only the first thing asked counts (`... which river, and how long is it?`), with the part of the option before a
    comma. `about` is the full name of what is asked about, where that is known and the question shortens it.
    """
    asked = _SECOND.sub("?", question)
    several = asked != question
    statement = _put(asked, _name(option, names, several))
    if statement is None:
        return Reading(None, 0.0, "the question asks for no thing with 'which' or 'what'")
    short = _shortened(about, statement, names)
    if not short:
        return read_claim(statement, names, domain)
    reading = read_claim(statement.replace(short, about, 1), names, domain)
    return replace(reading, mentions={})  # places in a text that the reader does not see


def _name(option: str, names: Names, several: bool) -> str:
    """The name in an option: all of it, or what stands before its comma where several things are asked."""
    plain = re.sub(r"^the\s+", "", option.strip(), flags=re.IGNORECASE)
    head = plain.split(",")[0].strip()
    return head if several or (not names.of(plain) and names.of(head)) else plain


def _put(question: str, name: str) -> str | None:
    """The question with the name where it asks `which ...`; nothing where it does not ask so."""
    words = words_of(question)
    start = next((at for at, word in enumerate(words) if word.text in _ASKS), None)
    if start is None:
        return None
    end = _end(words, start)
    after = question[words[end].start :] if end < len(words) else ""
    return f"{question[: words[start].start]}{name} {after}".strip()


def _end(words: Sequence[Word], start: int) -> int:
    """Where the asked phrase ends: before the next verb of a question, or the next sign."""
    for at in range(start + 1, len(words)):
        if words[at].sign or words[at].text in BE | DO | (HAVE & {"has", "have", "had"}):
            return at
    return len(words)


def _shortened(about: str, statement: str, names: Names) -> str:
    """How the statement shortens the full name: without its qualifier; nothing if it is written whole or not at all."""
    short = re.sub(r"\s*(?:\([^()]*\)|,.*)\s*$", "", about)
    if not about or short == about or about in statement or not names.of(about):
        return ""
    return short if short in statement else ""


def license_choice(reading: Reading, store: Store, domain: Domain) -> Licence | None:
    """The licence of an option; None where it could not be read.

    An option names its thing for this question only: where several things have that name, one of them that the graph
    records is meant. Nothing else that is ambiguous is decided.
    """
    if reading.claim is not None:
        return license_claim(reading.claim, store, domain)
    if not reading.candidates:
        return None
    if len({(claim.subject, claim.predicate) for claim in reading.candidates}) == 1:
        licences = (license_claim(claim, store, domain) for claim in reading.candidates)
        if meant := next((licence for licence in licences if licence.verdict == Verdict.YES), None):
            return meant
    return license_any(reading.candidates, store, domain)
