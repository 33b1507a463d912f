"""Find which parts of a document prevail, as one sentence of it says: "Schedule 1 prevails over Part B".

A part is named by kind and number ("chapter 9"), by its kind alone ("the schedules") or by where the sentence stands
("this Part"). A verb that only says that something applies ranks two parts where the sentence tells that they differ.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ovrag_core.text import is_negated, stems

Labels = frozenset[str]
# Words of a clause's subject that no subject is told by.
_PLAIN = frozenset(stems("the a an of in on and or all any this that these those other rule matter question use time"))
Order = Literal["later", "earlier", ""]


class Rank(NamedTuple):
    """`parts` prevail over `over`, or what stands later or earlier does; `about` limits it to some matters."""

    parts: Labels
    over: Labels
    about: frozenset[str]
    order: Order = ""


_KINDS = (
    "part|schedule|regulation|section|article|clause|chapter|paragraph|rule|annex|appendix|title|division"
    "|module|unit|page|sheet|bulletin|circular|rider"
)
_KIND_NAMES = frozenset(_KINDS.split("|"))
_NUMBER = r"(?:\d+(?:\.\d+)*|[A-Z]\b|[IVX]+\b)"
_PART = re.compile(
    rf"\b(?P<this>(?i:this|the present))\s+(?P<own>(?i:{_KINDS}))\b"
    rf"|\b(?P<kind>(?i:{_KINDS}))(?:e?s)?\s+(?P<numbers>{_NUMBER}(?:\s*(?:,\s*(?:and|or)?|and|or|to)\s*{_NUMBER})*)"
    rf"|\b(?i:the|an?|any|each|such|that)\s+(?P<all>(?i:{_KINDS}|annexe|appendice))(?:e?s)?\b(?!\s+\d)"
)
_SINGULAR = {"annexe": "annex", "appendice": "appendix"}
_DIFFER = re.compile(
    r"\b(?:(?:does|do|did) not (?:square|agree|accord|fit|match|tally)|clash(?:es)?|(?:is|are) (?:at odds"
    r"|not in line|out of line)"
    r"|says? (?:otherwise|something (?:else|different|other)|different things|the opposite)|disagrees?|conflicts?"
    r"|differs?|deviates?"
    r"|departs?|diverges?|contradicts?|(?:is|are) (?:inconsistent|incompatible|at variance|contrary)|inconsistency"
    r"|discrepanc(?:y|ies)|contradictions?|differences?|in (?:case of )?doubt|notwithstanding"
    r"|on the same (?:point|matter|thing))\s*(?:with|from|to)?\b",
    re.I,
)
_STRONG = re.compile(
    r"\b(?:(?:takes?|has|have|having|taking)\s+(?:precedence|priority|the\s+(?:last|final)\s+(?:word|say))"
    r"|prevails?|prevailing"
    r"|overrid(?:es?|ing)|overrules?|supersed(?:es?|ing)|replac(?:es?|ing)|wins?|trumps?|beats?|outranks?|outweighs?"
    r"|comes?\s+(?:first|before)|ranks?\s+(?:above|before|higher)|stands?\s+above|goes?\s+before"
    r"|carries\s+more\s+weight)\b",
    re.I,
)
_WEAK = re.compile(
    r"\b(?:governs?|counts?|appl(?:y|ies)|stands?(?! side)|holds?|(?:is"
    r"|are)\s+(?:to be\s+)?(?:followed|applied|decisive|authoritative|stronger|observed))\b",
    re.I,
)
_YIELDS = re.compile(
    r"\b(?:(?:is|are)\s+(?:superseded|overridden|replaced)\s+by|yields?\s+to|gives?\s+way\s+to|(?:is"
    r"|are)\s+subordinate\s+to"
    r"|ranks?\s+(?:below|after|behind)|(?:is|are|appl(?:y|ies))\s+subject\s+to|comes?\s+after)\b",
    re.I,
)
_VOID = re.compile(
    r"\b(?:(?:is|are|has|have|shall be)\s+(?:of\s+)?(?:no effect|void|invalid|disregarded)|(?:does|do) not apply)\b",
    re.I,
)
_UNLESS = re.compile(
    r"\b(?:unless|except where|save where|as long as)\b(?P<what>[^,;]*?\b(?:otherwise|something else|differs?)\b)",
    re.I,
)
GO_BY = re.compile(r"\b(?:go by|follow|apply|use|stick to|look to|rely on|abide by|observe)\s+(?P<what>[^,.;]*)", re.I)
_FORMER = re.compile(r"\b(?:the\s+)?(?:former|first(?:[- ](?:named|mentioned))?)\s*$", re.I)
_LATTER = re.compile(r"\b(?:the\s+)?(?:latter|second(?:[- ](?:named|mentioned))?)\s*$", re.I)
_ORDER = re.compile(
    r"\b(later|earlier|last|first|higher|lower|newer|newest|latest)(?:[- ]numbered)?\s*"
    r"(?:one|rule|chapter|section|part|provision|clause|paragraph|entry|page|regulation|article)?\s*$",
    re.I,
)
_EARLIER = frozenset({"earlier", "first", "lower"})
_TOPIC = re.compile(
    r"\b(?:(?:on|in|for|as to) (?:all )?(?:questions?|matters?|issues?|points?) (?:of|about|concerning)"
    r"|as regards|regarding"
    r"|concerning|when it comes to|with regard to|as far as)\s+(?P<what>[^,;.]+?)(?:\s+(?:is|are) concerned)?\s*,",
    re.I,
)


def rank_parts(text: str, labels: Labels) -> Iterator[Rank]:
    """The ranks of parts that a sentence states; `labels` are of the parts that it stands in itself."""
    about = matter_of(_TOPIC.search(text))
    for winner, loser in _pairs(text, labels):
        if winner and loser - winner:
            yield Rank(winner, loser - winner, about)
    for verb in (*_STRONG.finditer(text), *_WEAK.finditer(text)):
        order = _ORDER.search(_subject(text, verb.start()))
        if order and _DIFFER.search(text, 0, verb.start()):
            yield Rank(frozenset(), frozenset(), about, "earlier" if order[1].lower() in _EARLIER else "later")


def matter_of(topic: re.Match[str] | None) -> frozenset[str]:
    """The stems of what a clause says it is for, none where it says nothing."""
    return frozenset(stems(topic["what"])) - _PLAIN if topic else frozenset()


def _pairs(text: str, labels: Labels) -> Iterator[tuple[Labels, Labels]]:
    named = parts_of(text, labels)
    differ = _DIFFER.search(text)
    for verb in _YIELDS.finditer(text):
        yield parts_of(text[verb.end() :], labels), parts_of(_subject(text, verb.start()), labels)
    for case in _UNLESS.finditer(text):
        winner = parts_of(case["what"], labels)
        yield winner, named - winner
    if differ and _VOID.search(text, differ.end()):
        yield parts_of(text[differ.end() :], labels), parts_of(text[: differ.start()], labels)
    for choice in GO_BY.finditer(text):
        if differ and differ.start() < choice.start():
            winner = parts_of(choice["what"], labels)
            yield winner, named - winner
    for verb in (*_STRONG.finditer(text), *(_WEAK.finditer(text) if differ and not _UNLESS.search(text) else ())):
        subject = _subject(text, verb.start())
        if not is_negated(subject) and not _VOID.search(subject + verb[0]):
            yield from _by_verb(text, subject, verb, labels)


def _by_verb(text: str, subject: str, verb: re.Match[str], labels: Labels) -> Iterator[tuple[Labels, Labels]]:
    """The sides of a verb of prevailing, whose other side may stand in the condition before it."""
    condition, target = text[: verb.start() - len(subject)], text[verb.end() :]
    ordered = _in_order(condition, labels)
    if ordered and _FORMER.search(subject):
        yield ordered[0], frozenset().union(*ordered[1:])
    elif ordered and _LATTER.search(subject):
        yield ordered[-1], frozenset().union(*ordered[:-1])
    elif (winner := parts_of(subject, labels)) & _KIND_NAMES:
        yield from _by_kind(winner, condition, target, labels)
    else:
        yield winner, parts_of(condition, labels) | parts_of(target, labels)


def _by_kind(kinds: Labels, condition: str, target: str, labels: Labels) -> Iterator[tuple[Labels, Labels]]:
    """Yield, case by case, parts that prevail and those they prevail over.

    In "Where Schedule 1 departs from Part B, or Schedule 2 from Part C, the Schedule prevails" it is each over its own.
    """
    cases = re.split(r",\s*or\b|\bor where\b|;", condition) if condition.strip() else []
    for case in cases:
        sides = _in_order(case, labels)
        winner = frozenset(label for side in sides for label in side if label.split()[0] in kinds)
        yield winner or kinds, frozenset().union(*sides) - winner
    if not any(parts_of(case, labels) for case in cases):
        yield kinds, parts_of(target, labels)


def _subject(text: str, end: int) -> str:
    """Return the words right before a verb, back to the last mark."""
    return re.split(r"[,;:]", text[:end])[-1]


def _in_order(text: str, labels: Labels) -> list[Labels]:
    return [side for match in _PART.finditer(text) for side in _sides(match, labels)]


def parts_of(text: str, labels: Labels = frozenset()) -> Labels:
    """The labels that a text names; of "this Part" the one that it stands in, of "the Schedules" their kind."""
    return frozenset().union(*_in_order(text, labels))


def _sides(match: re.Match[str], labels: Labels) -> Iterator[Labels]:
    if match["this"]:
        yield frozenset(label for label in labels if label.split()[0] in (match["own"].lower(), "*"))
    elif match["all"]:
        name = match["all"].lower()
        yield frozenset({_SINGULAR.get(name, name)})
    else:
        numbers = re.findall(rf"\b{_NUMBER}", match["numbers"])
        if re.search(r"\bto\b", match["numbers"]) and len(numbers) == 2 and all(n.isdigit() for n in numbers):
            numbers = [str(n) for n in range(int(numbers[0]), min(int(numbers[1]), int(numbers[0]) + 99) + 1)]
        for number in numbers:
            yield frozenset({f"{match['kind'].lower()} {number.lower()}"})
