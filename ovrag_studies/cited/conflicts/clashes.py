"""In what two rules cannot both be kept, taken that they are about the same: by kind, each by a rule of its own.

- quantity: another time, sum, share, count or code; limit: the same rule from another value on
- duty: required, forbidden, permitted or waived; denial: plainly said and denied, or the opposite verb
- former: what one sentence reports as the rule that held before
- actor: somebody else does it; exclusive: one sentence lets only some do it, the other others
- means: in writing or by telephone; place: kept here or there
- condition: only in some cases, or in all
- course: another way of acting, which no rule of these names
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Literal

from ovrag_core.text import CURRENCIES, stems
from ovrag_studies.cited.conflicts.deontic import Norm
from ovrag_studies.cited.language.amounts import HALF_DAY, is_capped
from ovrag_studies.cited.language.forces import Force
from ovrag_studies.cited.language.quantities import Quantity
from ovrag_studies.cited.language.readings import RULING, SentenceReading, Words, doers, means_clash, read
from ovrag_studies.cited.language.thesaurus import canonical, concept, concepts, opposite, unite

Kind = Literal[
    "quantity", "limit", "duty", "denial", "former", "actor", "exclusive", "means", "place", "condition", "course"
]
Found = tuple[Kind, Norm, Norm]

SAME_TIME = Decimal("0.05")  # two times in units of different length are the same within this share
_MINUTES = {"minute": Decimal(1), "month": Decimal(30 * 1440), "working day": Decimal(7 * 1440) / 5}
_NUMBERED = frozenset(stems("section clause chapter part article paragraph appendix annex"))
_OPPOSED: frozenset[frozenset[Force]] = frozenset(
    {frozenset({"duty", "ban"}), frozenset({"may", "ban"}), frozenset({"duty", "waived"}), frozenset({"ban", "waived"})}
)
_DENIED: frozenset[frozenset[Force]] = frozenset(
    {frozenset({"not", "is"}), frozenset({"not", "may"}), frozenset({"not", "duty"}), frozenset({"ban", "is"})}
)
_WITHOUT = re.compile(
    r"\b(?:without(?! exceptions?| fail| delay)|unless|except|only|subject to|prior|provided|conditions?|until)\b", re.I
)
_WEAK = re.compile(
    r"\b(?:prefer(?:red|able|ably|ence)|recommend(?:ed|ation)?|encouraged|advis(?:ed|able)"
    r"|where(?:ver)? possible|if possible"
    r"|may choose|can choose|free to decide|may decide whether|(?:your|their|his|her) (?:own )?(?:choice"
    r"|decision|call)\b|as (?:you|they) see fit|you decide|not obliged|(?:left to"
    r"|a matter for) (?:the )?(?:judge?ment|discretion|choice|decision)|(?:is"
    r"|are) (?:left )?up to (?:the )?[\w ]{2,25}?(?: whether| to decide| to choose|$)|(?:is|are) up to (?:you"
    r"|them|him|her|the"
    r"|each)|(?:when|where|what)ever (?:they|you) (?:like|please|want|wish)|decides? (?:for \w+ )?whether"
    r"|free to choose|if (?:they|you) (?:wish|like|want)|matter of choice|voluntar(?:y|ily))\b",
    re.I,
)
_CYCLE = re.compile(r"\b(?:cycle|interval|frequency|rotation|recurrence)s?\b|\bafter\b.*\bat the latest\b", re.I)
_STRICT = re.compile(
    r"(?P<over>above|over|exceed(?:s|ing)?|more than|in excess of|longer than|greater than|worth (?:more than"
    r"|over))\s*$"
    r"|(?P<under>below|under|less than|fewer than|shorter than|smaller than|worth (?:less than|under))\s*$",
    re.I,
)
_LOOSE = re.compile(
    r"(?P<over>from|at least|of at least|worth|value of)\s*$|(?P<under>up to|within|at most|until)\s*$", re.I
)
_AFTER_VERB = re.compile(
    r"\b(?:not|no|must|shall|should|may|can|will|is|are|be|takes?|lasts?|weighs?|for|after|within|limited to)\s+"
    r"(?:above|over|exceed\w*|more than|in excess of|longer than|greater than|below|under|less than|fewer than"
    r"|shorter than"
    r"|smaller than)\s*$",
    re.I,
)
_CASE = re.compile(r"\b(?:if|when|whenever|where|once|while|as soon as|in case|provided)\b[^,.;]*$", re.I)
_FIRST_VERB = re.compile(
    r"\b(?:is|are|was|were|must|shall|should|may|can|cannot|will|needs?|requires?|has|have)\b", re.I
)


def clashes(first: Sequence[Norm], second: Sequence[Norm]) -> Iterator[Found]:
    """In what the norms of two sentences clash; nothing where they are for other people, cases or exceptions."""
    one, other = read(first[0].source.text), read(second[0].source.text)
    if excepted(one, other) or excepted(other, one) or tiers(first, second) or cites(first[0], second[0]):
        return
    if not others(first[0], second[0]):
        yield from _by_norms(first, second)
        yield from _by_sentences(first, second, one, other)
    yield from _by_people(first[0], second[0], one, other)


def _by_norms(first: Sequence[Norm], second: Sequence[Norm]) -> Iterator[Found]:
    for mine in first:
        for theirs in second:
            kind = _kind(mine, theirs)
            if kind == "quantity" and (_met(mine, second) or _met(theirs, first)):
                continue
            if kind:
                yield kind, mine, theirs


def _by_sentences(
    first: Sequence[Norm], second: Sequence[Norm], one: SentenceReading, other: SentenceReading
) -> Iterator[Found]:
    mine, theirs = first[0], second[0]
    negated = [_is_negative(mine), _is_negative(theirs)]
    if opposite(one.verbs | _acts(mine), other.verbs | _acts(theirs)) and not any(negated):
        yield "denial", mine, theirs
    if not any(negated) and _share_a_thing(one, other):
        if means_clash(one.means, other.means):
            yield "means", mine, theirs
        if _elsewhere(one.places, other.places) and _does_alike(one, other):
            yield "place", mine, theirs
        if (_always(one, mine) and _ONLY_WHEN.search(theirs.source.text)) or (
            _always(other, theirs) and _ONLY_WHEN.search(mine.source.text)
        ):
            yield "condition", mine, theirs
    for norm, weak in ((mine, theirs), (theirs, mine)):
        if norm.modality == "duty" and norm.cue.lower() != "should" and _WEAK.search(weak.source.text):
            yield "duty", mine, theirs


_ONLY_WHEN = re.compile(
    r"\bonly\s+(?:when|if|to|with|where|while|during|for|on|in|at|after|from|before|outside|once|until"
    r"|between)\b|\bnot (?:before|until)\b",
    re.I,
)
_ALWAYS = re.compile(
    r"\b(?:(?:at|for|on|in|during|after|before|with|to|of|by) (?:every|any|all|each)|anyone|anybody|everyone"
    r"|everybody|however|every time|always|at all times|any time|in (?:every|any|all) (?:case|place|room"
    r"|circumstance)s?"
    r"|in all|for (?:every|all|any)|on (?:every|any|all)|whenever|regardless|whatever|irrespective"
    r"|without exception|as well as"
    r"|no matter|in any case|throughout|everywhere|from the first day|day and night|around the clock|all year"
    r"|at once|both)\b",
    re.I,
)


def _always(reading: SentenceReading, norm: Norm) -> bool:
    """Whether a sentence holds whenever it can; no "only" limits it."""
    text = norm.source.text
    return bool(_ALWAYS.search(text)) and not _ONLY_WHEN.search(text) and not reading.exceptions


def _share_a_thing(one: SentenceReading, other: SentenceReading) -> bool:
    """Whether two sentences speak of one thing at least, beside what is done, where, by whom and how."""
    said = one.verbs | other.verbs | (one.places & other.places)
    people = frozenset(word for each in (one, other) for _, who in each.agents for word in who)
    return bool((one.content & other.content) - said - people)


def _does_alike(one: SentenceReading, other: SentenceReading) -> bool:
    return (one.keeps and other.keeps) or bool(one.verbs & other.content or other.verbs & one.content)


def _elsewhere(one: Words, other: Words) -> bool:
    """Whether two places are not one: each has a word that the other lacks, or one is outside the other."""
    if not one or not other:
        return False
    return one ^ other == {"outsid"} or not one & other


def _by_people(mine: Norm, theirs: Norm, one: SentenceReading, other: SentenceReading) -> Iterator[Found]:
    if _is_negative(mine) or _is_negative(theirs):
        return
    if _other_agents(one, other):
        yield "actor", mine, theirs
    if _excludes(one, other, theirs) or _excludes(other, one, mine):
        yield "exclusive", mine, theirs


def _is_negative(norm: Norm) -> bool:
    if norm.modality == "not":
        return bool(_DENIES.search(norm.source.text))  # "until no appeal is possible" denies nothing
    return norm.modality in ("ban", "waived")


# -- for other cases --------------------------------------------------------------------------------------------------


def excepted(rule: SentenceReading, case: SentenceReading) -> bool:
    """Whether a rule makes an exception of what the other sentence is about, or calls itself one."""
    if rule.is_exception:
        return True
    return len(rule.exceptions & case.content) * 2 > len(rule.exceptions)


def cites(first: Norm, second: Norm) -> bool:
    """Whether one sentence leaves the case to the section of the other."""
    return any(
        norm.source.doc_id == rival.source.doc_id
        and bool(rival.scope.number)
        and norm.scope.number != rival.scope.number
        and re.search(rf"\b(?:section|clause|part|chapter)\s+{re.escape(rival.scope.number)}\b", norm.source.text, re.I)
        for norm, rival in ((first, second), (second, first))
    )


def tiers(first: Sequence[Norm], second: Sequence[Norm]) -> bool:
    """Whether two sentences are for amounts without a common one: above 1,000 and up to 1,000."""
    for mine in _limits(first):
        for theirs in _limits(second):
            if comparable(mine[0], theirs[0]):
                low, high = sorted((mine, theirs), key=lambda each: each[1] == "over")
                if low[1] == "under" and high[1] == "over" and amount_of(high[0]) >= amount_of(low[0]):
                    return True
    return False


def _limits(norms: Sequence[Norm]) -> list[tuple[Quantity, str]]:
    """The amounts from which on, or up to which, a sentence holds at all."""
    found = [(each.quantity, limit_of(each.source.text, each.quantity)) for each in norms if each.quantity]
    return [(quantity, side) for quantity, side in found if side]


def limit_of(text: str, quantity: Quantity) -> str:
    """ "over" or "under" for an amount that says when a rule holds; empty for one that the rule sets."""
    if quantity.unit == "any":
        return "over"
    if is_capped(quantity, text):
        return ""
    before = text[max(0, quantity.start - 40) : quantity.start]
    strict = _STRICT.search(before)
    if strict and (_CASE.search(text, 0, quantity.start) or not _AFTER_VERB.search(before)):
        return "over" if strict["over"] else "under"
    verb, loose = _FIRST_VERB.search(text), _LOOSE.search(before)
    if loose and (verb is None or quantity.start < verb.start()):
        return "over" if loose["over"] else "under"
    return ""


def others(first: Norm, second: Norm) -> bool:
    """Whether two norms bind different people: both name some, and share no word for them; employees are no guests."""
    one, other = people_of(first), people_of(second)
    mine, theirs = one - _ANYONE, other - _ANYONE
    if mine and theirs:
        return not mine & theirs
    return bool((one & _INSIDERS and theirs & _OUTSIDERS) or (other & _INSIDERS and mine & _OUTSIDERS))


def people_of(norm: Norm) -> Words:
    """Concepts of whom a norm binds."""
    return frozenset(canonical(stem) for stem in norm.actor)


_ANYONE_TEXT = """staff employee user person people everyone everybody anyone nobody member individual personnel team
colleague worker"""
_ANYONE = frozenset(concept(word) for word in _ANYONE_TEXT.split())
_INSIDERS = frozenset({concept("employee"), concept("member")})
_OUTSIDERS = frozenset(
    concept(word)
    for word in [
        "contractor",
        "visitor",
        "guest",
        "supplier",
        "vendor",
        "customer",
        "client",
        "consultant",
        "freelancer",
        "passenger",
    ]
)

# -- amounts ----------------------------------------------------------------------------------------------------------


def _kind(first: Norm, second: Norm) -> Kind | None:
    if first.quantity and second.quantity:
        return _compared(first, second)
    if first.quantity or second.quantity:
        return None
    if first.cue and second.cue and not first.former and not second.former and _opposed(first, second):
        return "duty"
    if _denied(first, second):
        return "denial"
    return "former" if _reports(first, second) or _reports(second, first) else None


def _recurring(norm: Norm) -> Quantity:
    """The quantity of a norm; that of a cycle ("the interval is 3 years") as how often."""
    quantity = norm.quantity
    if quantity is None:
        raise ValueError("a norm without a quantity has none that recurs")
    recurs = not quantity.every and quantity.unit in _MINUTES and _CYCLE.search(norm.source.text)
    return replace(quantity, every="figure") if recurs else quantity


def _compared(mine: Norm, theirs: Norm) -> Kind | None:
    first, second = _recurring(mine), _recurring(theirs)
    if not comparable(first, second) or turned(mine.source.text, first, theirs.source.text, second):
        return None
    if same(first, second):
        return "former" if first.former != second.former else None
    if first.former or second.former:
        return None
    sides = {limit_of(mine.source.text, first), limit_of(theirs.source.text, second)}
    if len(sides) == 2 and "" in sides and first.unit in (*_MINUTES, "%"):
        return None if compatible(first, second) else "quantity"  # "received up to 60 days after" against "within 30"
    if sides != {""}:
        return "limit" if len(sides) == 1 else None
    return None if compatible(first, second) else "quantity"


_AHEAD = re.compile(
    r"\W*(?:(?:or more|at least|or less)\s+)?(?:before|in advance|ahead|beforehand|prior|notice|['’]s? notice|to go)\b",
    re.I,
)
_SINCE = re.compile(
    r"\W*(?:(?:or more|at least|or less)\s+)?(?:after|of|from|following|since|upon|later|thereafter)\b", re.I
)


def turned(one: str, first: Quantity, other: str, second: Quantity) -> bool:
    """Whether two times say different things: one is counted to an event, the other from it; or one says how long."""
    ahead = [bool(_AHEAD.match(text, each.end)) for text, each in ((one, first), (other, second))]
    since = [
        bool(_SINCE.match(text, each.end) or _WITHIN.search(text, 0, each.start)) and not early
        for (text, each), early in zip(((one, first), (other, second)), ahead, strict=True)
    ]
    within = [bool(_WITHIN.search(text, 0, each.start)) for text, each in ((one, first), (other, second))]
    lasting = [
        not inside and bool(_LASTING.match(text, each.end) or _FOR.search(text, 0, each.start))
        for (text, each), inside in zip(((one, first), (other, second)), within, strict=True)
    ]
    turned = (
        (ahead[0] and since[1]) or (ahead[1] and since[0]) or (within[0] and lasting[1]) or (within[1] and lasting[0])
    )
    return first.unit in _MINUTES and turned


_WITHIN = re.compile(r"\bwithin(?: the (?:first|next|last))?\s*$", re.I)
_FOR = re.compile(r"\bfor(?: at least| up to| a (?:minimum|maximum) of| another)?\s*$", re.I)
_LASTING = re.compile(
    r"\s+of\s+(?:paid |unpaid |special |extra )*[a-z-]+ ?(?:leave|holiday|absence|training|rest|sick\w*|work)\b"
    r"|['’]s? leave\b",
    re.I,
)


def comparable(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities measure the same: one unit, or one thing that is counted."""
    if "code" in (first.unit, second.unit):
        return first.unit == second.unit and _series(first) == _series(second) != ""
    if {first.unit, second.unit} & {"any"}:
        return bool({first.unit, second.unit} & CURRENCIES)
    times = first.unit in _MINUTES and second.unit in _MINUTES
    if first.unit == second.unit == "date":  # days of each year; a date with its year says since when
        return str(first.value).startswith("????") and str(second.value).startswith("????")
    if not (times or first.unit == second.unit) or bool(first.every) != bool(second.every):
        return False
    if not first.unit and not (first.of and second.of):
        return bool(first.bound or second.bound)  # "at most four" has no word for what
    return bool(first.unit or (first.of & second.of) - _NUMBERED)


def _series(code: Quantity) -> str:
    """The letters that a code begins with: "AES" of "AES-256"."""
    found = re.match(r"[A-Z]{2,}", str(code.value))
    return found[0] if found else ""


def same(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities that can be compared are one, as far as units of different length allow."""
    if first.unit == second.unit and first.value == second.value:
        return True
    if isinstance(first.value, str) or isinstance(second.value, str):
        return False
    one, other = sorted((amount_of(first), amount_of(second)))
    if (
        one in (0, HALF_DAY)
        and other <= 1440
        and {first.unit, second.unit} <= {"minute"}
        and first.bound == second.bound == "most"
    ):
        return one == HALF_DAY or other <= 60 or other == HALF_DAY  # at once, the same day and within a day may be one
    return first.unit != second.unit and abs(one - other) <= SAME_TIME * max(one, other)


def amount_of(quantity: Quantity) -> Decimal:
    """The value in one unit for all times: 30 days a month, 7 days for 5 working days; 0 for what is no number."""
    value = quantity.value if isinstance(quantity.value, Decimal) else Decimal(0)
    return value * _MINUTES.get(quantity.unit, 1)


def compatible(first: Quantity, second: Quantity) -> bool:
    """Whether both can hold: at least the smaller and at most the greater."""
    lower, upper = (first, second) if first.bound == "least" else (second, first)
    return (lower.bound, upper.bound) == ("least", "most") and amount_of(lower) <= amount_of(upper)


def _met(norm: Norm, others: Sequence[Norm]) -> bool:
    """Whether another sentence gives the amount of a norm as well, so that no other amount of it can differ from it."""
    mine = norm.quantity
    return mine is not None and any(
        each.quantity and not each.quantity.former and not mine.former
        and comparable(mine, each.quantity) and same(mine, each.quantity)
        for each in others
    )  # fmt: skip


# -- force ------------------------------------------------------------------------------------------------------------


def _opposed(first: Norm, second: Norm) -> bool:
    if frozenset({first.modality, second.modality}) not in _OPPOSED:
        return False
    forces = {first.modality: first, second.modality: second}
    if "waived" in forces and "duty" in forces:
        return _needless(forces["duty"], forces["waived"])
    if first.implied or second.implied or not first.matter & second.matter:
        return False
    if "duty" in forces and "ban" in forces:
        return bool(_acts(first) & _acts(second))
    if "waived" in forces:
        return bool(_WITHOUT.search(forces["ban"].source.text))
    return not (_WITHOUT.search(forces["ban"].source.text) and _WITHOUT.search(forces["may"].source.text))


def _needless(duty: Norm, waived: Norm) -> bool:
    """Whether what one norm waives is what the other requires."""
    if waived.implied:
        return len(waived.matter & read(duty.source.text).content) * 2 >= len(waived.matter)
    return bool(_required(duty) & _required(waived))


def _acts(norm: Norm) -> Words:
    return frozenset(canonical(stem) for stem in norm.action) - RULING


def _required(norm: Norm) -> Words:
    return norm.matter if norm.implied else norm.matter | _acts(norm)


def _denied(first: Norm, second: Norm) -> bool:
    """Whether one norm plainly denies ("is not paid") what the other says, permits or requires."""
    forces = frozenset({first.modality, second.modality})
    if forces not in _DENIED or first.implied or second.implied:
        return False
    denial, said = (first, second) if first.modality in ("not", "ban") else (second, first)
    if denial.modality == "ban":
        return bool(_acts(denial) & read(said.source.text).verbs)
    text = unite(denial.source.text)
    none = _NONE_OF.search(text)
    if none and denial.modality == "not" and said.modality == "is":
        words = frozenset(concepts(none["what"])) - RULING
        return bool(words) and words <= read(said.source.text).content and not _NONE_OF.search(said.source.text)
    verbs = frozenset(concept(word) for match in _DENIES.finditer(text) for word in match.groups() if word)
    if _denies(said.source.text, verbs):
        return False
    content = read(said.source.text).content
    if verbs and verbs <= RULING:  # "no assessment is carried out"
        return len(denial.matter & content) * 2 >= len(denial.matter) > 0
    return bool((verbs - RULING) & content)


_NONE_OF = re.compile(
    r"\b(?:brings?|gets?|gives?|receives?|earns?|has|have|there (?:is|are)|carr(?:y|ies)|attracts?|pays?|makes?"
    r"|grants?|offers?)\s+no\s+"
    r"(?P<what>[\w-]+(?:\s+(?!(?:of|for|in|on|at|to|from|with|and|or|until|unless|if|when|than)\b)[\w-]+){0,2})",
    re.I,
)
_ADVERBS = r"(?:\s+(?:\w+ly|also|now|ever|be|been|being|yet|otherwise|longer|always))*"
_DENIES = re.compile(
    rf"\b(?:is|are|was|were|be|been|will|do|does|did|has|have|had|shall)(?:\s+(?:not|never|no longer)"
    rf"|n['’]t){_ADVERBS}\s+([a-z]+)"
    rf"|\bnever{_ADVERBS}\s+([a-z]+)|^(?:no|neither|none|nobody)\b[^,;.]*?\b(?:is|are|will be|has been"
    rf"|have been){_ADVERBS}\s+([a-z]+)",
    re.I,
)


def _denies(text: str, verbs: Words) -> bool:
    return any(concept(word) in verbs for match in _DENIES.finditer(unite(text)) for word in match.groups() if word)


def _reports(newer: Norm, older: Norm) -> bool:
    """Whether one norm tells of the other as of one that held before."""
    return newer.former and not older.former and bool(older.cue) and newer.modality == older.modality


# -- people -----------------------------------------------------------------------------------------------------------


def _other_agents(one: SentenceReading, other: SentenceReading) -> bool:
    """Whether the same is done by, or told to, others: for some event both name who, and never share one."""
    for event in sorted({event for event, _ in one.agents}):
        same = _AUTHORITY if event in _AUTHORITY else frozenset({event, ""})
        if not event:
            same = frozenset(name for name, _ in other.agents if not name.startswith("to "))
        mine = [who for name, who in one.agents if name == event or (event and name in same)]
        theirs = [who for name, who in other.agents if name in same]
        if theirs and all(_are_others(a, b) for a in mine for b in theirs):
            return True
    return False


def _are_others(one: Words, other: Words) -> bool:
    """Whether two roles are not one; words of rank alone do not tell "Finance Director" from "Director"."""
    mine, theirs = one - _GENERIC_ROLES, other - _GENERIC_ROLES
    return bool(one and other) and not (mine & theirs if mine and theirs else one & other)


_AUTHORITY = frozenset(
    concept(word) for word in ["approve", "sign", "decide", "allow", "authorise", "release", "confirm", "determine"]
) | {""}
_GENERIC_ROLES_TEXT = """head team department officer office member staff manager board unit group director chief
line lead senior responsible relevant committee"""
_GENERIC_ROLES = frozenset(concept(word) for word in _GENERIC_ROLES_TEXT.split()) - {
    concept("line"),
    concept("board"),
    concept("committee"),
}


def _excludes(one: SentenceReading, other: SentenceReading, norm: Norm) -> bool:
    """Whether one sentence lets only some do what the other lets or has others do."""
    some = one.exclusive
    if (
        not some
        or some <= other.content | other.exclusive
        or not (one.verbs & other.content or other.verbs & one.content or one.subject & other.subject)
    ):
        return False
    who = people_of(norm) | doers(norm.source.text, one.verbs) | {word for _, names in other.agents for word in names}
    return bool(who or other.universal or other.exclusive or some & other.subject) and not some <= who
