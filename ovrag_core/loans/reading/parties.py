# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Lenders, borrowers and guarantors, from the text of one loan document.

The judge of roles tells who is named as what. What remains to rules is structure: people named in one breath, the owner
behind a trade name, the passage that shows a party, and what a description or the form of a name says of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ovrag_core.base import Document
from ovrag_core.loans.loan_facts import PartyKind
from ovrag_core.loans.reading.judge import KINDS
from ovrag_core.loans.reading.names import (
    Name,
    Role,
    built_kind,
    find_cue,
    given_names,
    has_form,
    name_at,
    party_kind,
    word_set,
)
from ovrag_core.loans.reading.roles import LEAST, LEAST_IN_A_PASSAGE, PRINCIPALS, sighted
from ovrag_core.loans.reading.sightings import (
    TRADES_AS,
    Sighting,
    Terms,
    sure_person,
)
from ovrag_core.text import Span, strip_span

__all__ = ["Parties", "PartyMention", "find_parties"]


@dataclass(frozen=True, slots=True)
class PartyMention:
    """A party in a role: `[start, end)` is a passage that names it, `[kind_start, kind_end)` one that shows its kind."""

    role: Role
    name: str
    kind: PartyKind | None
    start: int
    end: int
    kind_start: int
    kind_end: int


@dataclass(frozen=True, slots=True)
class Parties:
    """The parties of a document by role, best first, and the terms it calls them by ("Obligor" → "borrower")."""

    borrowers: tuple[PartyMention, ...] = ()
    lenders: tuple[PartyMention, ...] = ()
    guarantors: tuple[PartyMention, ...] = ()
    defined_terms: dict[str, str] = field(default_factory=dict)


_MAX_PASSAGE = 400
_LENDING_HOUSES = {"bank", "society"}  # words of terms that only those have who lend by trade
FORMED = 0.3  # log odds by which, of two names alike in all else, that with a legal form is the party's
LIKELY = 0.8  # probability from which a kind that nothing else shows is said
SURE = 0.8  # probability above which the judge overrules a description or the form of a name
_PRONOUNS = word_set("i me my we us our you your")
_DESCRIBES = re.compile(
    r"\s*[,(–—-]|\s+(?:of|an?|residing|whose|with|is|trading|t/a)\b|[ \t]*\n[ \t(]*(?:Registered|Licen[sc]ed|Authori[sz]ed|Incorporated|Regulated|Creditor|Credit|Lender|An?)\b",
    re.IGNORECASE,
)
_DESCRIPTION_END = re.compile(
    r"\n\s*\n|\n(?=[ \t]*[A-Z][\w ()/-]{1,30}(?::|[ ]{2,}))|(?<=[a-z0-9)])[.;]\s+[A-Z]|,?\s+and\s+the\s+[a-z]+\s+is\b|\((?:the|hereinafter|\"|“)|\b(?:promises?|acknowledges?|owes?|agrees?|undertakes?|lends?|borrows?|shall|will|order of|in favou?r of)\b"
)


def find_parties(document: Document, *, whole: bool = True) -> Parties:
    """The parties of `document`, best first by role. Offsets are into `document.text`.

    A passage, which is not the `whole` document, need not name any party: it takes more evidence there.
    """
    text = document.text
    terms = Terms(text)
    sightings = sighted(text, terms, LEAST if whole else LEAST_IN_A_PASSAGE)
    sightings = [
        replace(s, name=_owner(text, name)) for s, name in zip(sightings, _in_one_breath(text, sightings), strict=True)
    ]
    parties = _rank(text, sightings)
    for role, mentions in parties.items():
        for mention in mentions:
            for s in sightings:
                if s.term and s.role == role and _key(s.name.text) == _key(mention.name):
                    terms.define(s.term, role)
    return Parties(parties["borrower"], parties["lender"], parties["guarantor"], terms.table())


_OWNED_BY = re.compile(
    r"\b(?:belong(?:s|ing)\s+to|(?:name|style|firm)\s+(?:of|under\s+which|used\s+by|registered\s+by)|deals?\s+with(?!\s+it\b)|owned\s+by|proprietor(?:\s+is|,|:)|carried\s+on\s+by)\s+(?=[A-ZÀ-Þ])"
)


_DIVISION = re.compile(
    r"[\"”]?[\s,(–—-]{1,8}(?:is\s+)?(?:an?|the)\s+(?:\w+\s+){0,2}?(?:division|branch|brand|department|business\s+unit|(?:trading|business|trade)\s+(?:name|style|arm))\s+of\s+(?=(?:the\s+)?[A-ZÀ-Þ])"
)


def _owner(text: str, name: Name) -> Name:
    """The person behind a trade name that the text explains: '"Quay Works" is a business name of Ida Roth'."""
    if has_form(name.text) or name.title or len(name.text.split()) > 5:
        return name
    division = _DIVISION.match(text, name.end)
    whole = name_at(text, division.end(), stop=division.end() + 120) if division else None
    if whole and _sure_party(whole):
        return whole
    spelled = r"\s+".join(map(re.escape, name.text.split()))
    explained = re.search(
        rf"[\"“]?{spelled}[\"”]?,?\s+(?:is|being)\s+(?:only\s+|merely\s+|just\s+)?(?:an?|the|his|her)\s+(?:\w+\s+){{0,2}}?(?:name|style|firm|sole\s+proprietorship)\b",
        text,
        re.IGNORECASE,
    )
    for match in _OWNED_BY.finditer(text, explained.end(), explained.end() + 420) if explained else ():
        person = name_at(text, match.end(), stop=match.end() + 80)
        if person and sure_person(person):
            return person
    return name


def _in_one_breath(text: str, sightings: Sequence[Sighting]) -> Iterator[Name]:
    """The name of each sighting, with that of another in the same role that it is joined with: "Ana and Luis Ortega"."""
    joined = {(s.name.start, s.role): _joint(text, s.name, s.name.end + 80) for s in sightings}
    for s in sightings:
        around = (
            name for (_, role), name in joined.items() if role == s.role and name.start <= s.name.start < name.end
        )
        yield min(around, key=lambda name: name.start)


def _joint(text: str, name: Name, stop: int) -> Name:
    """Two people named in one breath, "Ana and Luis Ortega", as one name; otherwise the name itself."""
    link = re.compile(r"\s+(?:and|&)\s+(?=[A-ZÀ-Þ])").match(text, name.end, stop)
    if not link or built_kind(name.text) not in (None, "natural_person"):
        return name
    second_name = name_at(text, link.end(), stop=stop)
    if second_name is None or " " not in second_name.text or built_kind(second_name.text) != "natural_person":
        return name
    if " " not in name.text and built_kind(name.text + " X") != "natural_person":
        return name
    name_words, second_words = name.text.split(), second_name.text.split()
    if len(name_words) > 2 and len(second_words) > 2 and name_words[-1] != second_words[-1]:
        return name  # two whole names: the first is the party's, the other a further party's
    return Name(name.start, second_name.end, " ".join(text[name.start : second_name.end].split()), name.title)


def _sure_party(name: Name) -> bool:
    """Return True where a name is an organisation's by its form or a person's beyond doubt."""
    return has_form(name.text) or built_kind(name.text) in ("financial_institution", "government") or sure_person(name)


# --- ranking ---------------------------------------------------------------------------------------------------


def _key(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _rank(text: str, sightings: Iterable[Sighting]) -> dict[Role, tuple[PartyMention, ...]]:
    """Names by role, best first: the strongest sighting counts, others add a little; a name keeps its better role."""
    groups: dict[tuple[str, Role], list[Sighting]] = {}
    for sighting in sightings:
        groups.setdefault((_key(sighting.name.text), sighting.role), []).append(sighting)
    scores = {key: _score(group) for key, group in groups.items()}
    roles: dict[str, list[Role]] = {}
    for name, role in groups:
        roles.setdefault(name, []).append(role)
    result: dict[Role, tuple[PartyMention, ...]] = {"borrower": (), "lender": (), "guarantor": ()}
    likeliest = _likeliest_pair(scores)
    for role in result:
        keys = [
            k
            for k in groups
            if k[1] == role
            and (
                likeliest.get(role) == k[0]
                or (
                    k[0] not in likeliest.values()
                    and scores[k] > 0
                    and all(scores[k] >= scores[k[0], r] for r in roles[k[0]])
                )
            )
        ]
        keys.sort(key=lambda k: (k[0] != likeliest.get(role), -scores[k], min(s.name.start for s in groups[k])))
        result[role] = tuple(
            _mention(text, groups[k], [s for o in roles[k[0]] if o != role for s in groups[k[0], o]]) for k in keys
        )
    return result


def _likeliest_pair(scores: Mapping[tuple[str, Role], float]) -> dict[Role, str]:
    """The borrower and the lender, two different names, that weigh most together; a side may stay open."""
    borrowers, lenders = (
        {"": LEAST, **{name: score for (name, r), score in scores.items() if r == role}} for role in PRINCIPALS
    )
    pairs = [(borrower, lender) for borrower in borrowers for lender in lenders if borrower != lender or not borrower]
    borrower, lender = max(pairs, key=lambda pair: borrowers[pair[0]] + lenders[pair[1]])
    named: dict[Role, str] = {"borrower": borrower, "lender": lender}
    return {role: name for role, name in named.items() if name}


def _score(group: list[Sighting]) -> float:
    weights = sorted((s.weight for s in group), reverse=True)
    return weights[0] + min(0.5, 0.05 * sum(weights[1:])) + FORMED * has_form(group[0].name.text)


def _mention(text: str, group: list[Sighting], elsewhere: list[Sighting]) -> PartyMention:
    group = sorted(group, key=lambda s: (-s.own, s.name.start))
    best = group[0]
    spelled = next((s.name.text for s in group if not s.name.text.isupper()), best.name.text)
    exact = [s.shown for s in group if s.shown and s.shown.text == spelled]
    shown = exact[0] if exact else best.shown or best.name
    start, end = _passage(text, shown.start, shown.end)
    kind, where = _kind(text, [*group, *elsewhere], best.role)
    kind_start, kind_end = _passage(text, *where) if where else (start, end)
    return PartyMention(best.role, spelled, kind, start, end, kind_start, kind_end)


def _kind(text: str, group: list[Sighting], role: Role) -> tuple[PartyKind | None, Span | None]:
    """Return what a party is, and the span of what shows it where that is not its name.

    What a description or the form of the name tells, the judge overrules only where it is sure; what they leave open it
    tells where it is likely.
    """
    best = group[0]
    likeliest = max(range(len(KINDS)), key=lambda column: best.kinds[column])
    kind, sure = KINDS[likeliest], best.kinds[likeliest]
    told = party_kind(best.name.text, role=role)
    shown = None
    for start, stop in _descriptions(text, group):
        if cue := find_cue(text, start, stop):
            described = party_kind(best.name.text, text[start:stop], role=role)
            if described == cue.kind:
                shown = cue.start, cue.end
            told = described
            break
    if role == "lender" and shown is None and told in (None, "legal_entity") and _called_a_bank(group):
        told = "financial_institution"
    trades = built_kind(best.name.text) == "natural_person" and any(TRADES_AS.match(text, s.name.end) for s in group)
    if trades or (told in (None, "natural_person") and shown is None and best.name.title):
        return "natural_person", None
    if told in (None, "natural_person") and shown is None:
        needed = 0.5 if kind == "natural_person" and _has_given_name(text, best.name) else LIKELY
        return (kind if sure > needed else None), None
    if sure > SURE and kind != told:
        return kind, None
    return told, shown


def _has_given_name(text: str, name: Name) -> bool:
    """Return True where a name holds a given name and nowhere follows an article, as a thing's does ("the Grant")."""
    return bool(given_names(name.text)) and not re.search(rf"\b[Tt]he\s+{re.escape(name.text)}", text)


def _called_a_bank(group: Sequence[Sighting]) -> bool:
    return any(words.intersection(_LENDING_HOUSES) for words in (set(s.term.lower().split()) for s in group))


def _descriptions(text: str, group: list[Sighting]) -> Iterator[tuple[int, int]]:
    """Spans that may describe a party: the words after its name, and sentences that say what it is."""
    for sighting in group[:6]:
        start, stop = sighting.described
        between = text[start:stop]
        if _DESCRIBES.match(between):
            end = _DESCRIPTION_END.search(between)
            yield start, start + (end.start() if end else len(between))
    for term in sorted({s.term for s in group if s.term and s.term.lower() not in _PRONOUNS}):
        statement = re.search(rf"\b[Tt]he\s+{re.escape(term)}\s+is\s+(?=an?\b)", text[:60_000], re.IGNORECASE)
        if statement:
            stop = statement.end() + 120
            end = re.search(r"[.;\n]", text[statement.end() : stop])
            yield statement.end(), statement.end() + (end.start() if end else 120)


def _passage(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence or row around `[start, end)`, trimmed to `_MAX_PASSAGE` characters about it."""
    limit = _MAX_PASSAGE
    left = max(0, start - limit)
    before = text[left:start]
    cuts = re.finditer(r"\n\s*\n|[.;!?][)\"”]?\s+(?=[A-Z\"“(])|\n(?=[ \t]*[^\n:]{2,40}:)", before)
    line_start = before.rfind("\n") + 1
    uncut = 0 if left == 0 else line_start or len(before)
    begin = left + max((cut.end() for cut in cuts), default=uncut)
    after = text[end : end + limit]
    stop = re.search(r"\n\s*\n|(?<=[a-z0-9)%\"”])[.;!?][)\"”]?(?=\s|$)|\n(?=[ \t]*[^\n:]{2,40}:)", after)
    finish = end + (stop.end() if stop and not stop.group().startswith("\n") else stop.start() if stop else len(after))
    if finish - begin > limit:
        begin = max(begin, end - limit // 2) if start - begin > limit // 2 else begin
        begin = min(begin, start)
        finish = max(end, min(finish, begin + limit))
    return strip_span(text, begin, finish)
