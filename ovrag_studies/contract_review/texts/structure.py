"""What holds a contract together: terms it defines and uses, clauses it refers to, its parties, what it amends.

Everything is read from the form of the text (quotation marks, numbering, the verbs of a definition), so nothing here
knows a contract or a kind of question, and everything carries its span.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ovrag_core.text.passages import find_passages
from ovrag_studies.contract_review.texts.clause_tree import ContractClause, find_clauses, path_at

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A defined term: its name as written, the span of the name where it is defined, and that of the definition."""

    name: str
    start: int
    end: int
    definition: Span


@dataclass(frozen=True, slots=True)
class Use:
    """A place `[start, end)` where a term, by its index, is used; its own definition is no use."""

    term: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to another clause, such as `Section 4.2(a)`; `target` is the index of that clause.

    None: no such clause here. Several numbers behind one word are one reference each, with a span each.
    """

    text: str
    start: int
    end: int
    target: int | None


@dataclass(frozen=True, slots=True)
class NamedParty:
    """A party: its full name, the short one that the contract gives it (empty for none), and where it is introduced."""

    name: str
    short: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Amendment:
    """A statement that changes an agreement: what it does (`amended`, `deleted` …) and to what, as written."""

    action: str
    target: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Structure:
    """All that was found in one text, each in order of its place."""

    clauses: tuple[ContractClause, ...]
    terms: tuple[DefinedTerm, ...]
    uses: tuple[Use, ...]
    references: tuple[Reference, ...]
    parties: tuple[NamedParty, ...]
    amendments: tuple[Amendment, ...]


def find_structure(text: str, clauses: Sequence[ContractClause] | None = None) -> Structure:
    """The structure of a contract; `clauses` are those of `find_clauses`, found anew where not given."""
    found = tuple(find_clauses(text) if clauses is None else clauses)
    passages = tuple(find_passages(text))
    terms = tuple(find_terms(text, found, passages))
    return Structure(
        found,
        terms,
        tuple(find_uses(text, terms)),
        tuple(find_references(text, found)),
        tuple(find_parties(text, found)),
        tuple(find_amendments(text)),
    )


# -- defined terms ----------------------------------------------------------------------------------------------------

_OPEN, _CLOSE = "[\"“„]|``|''", "[\"”“]|''"
_NAME = r"(?P<name>[^\W_][^\"“”„\n\r()]{0,70}?)[,.;]?"
_QUOTED = re.compile(rf"(?:{_OPEN})\s?{_NAME}\s?(?:{_CLOSE})")
_VERB = re.compile(
    r"(?:\s*(?:,|\bor\b|\band\b|\([^()]{1,60}\)|[\"“][^\"“”\n]{1,60}[\"”])){0,6}(?:\s*(?:as|when) used [^.;]{1,60}?)?"
    r"\s*[:,–—-]{0,2}\s*(?:(?:shall|will|is|are|has|have|be|also|hereby|each|collectively|respectively|the|same) ){0,5}"
    r"(?:means?|meaning|defined|refers? to|includes?|mean and include)\b"
)
_NAMED = re.compile(
    r"(?:[(\[]\s*(?:[^()\"“”]{0,80}\s)?|(?:referred to|known|defined|designated)(?: \w+){0,4} as(?: the| an| a)? ?)$"
)
_VERB_UNQUOTED = re.compile(r"[\s.:,–—-]*(?:shall |will |is |are |has |have |be )*(?:means?|meaning|defined as)\b")
_DEFINITIONS = re.compile(r"\b(?:definitions?|defined terms|interpretation|certain terms)\b", re.I)
_LONGEST = 1_500  # characters of a definition that are taken


def find_terms(text: str, clauses: Sequence[ContractClause], passages: Sequence[Span]) -> Iterator[DefinedTerm]:
    """Terms by their first definition, in order: in quotation marks before `means` or in brackets, or as headings.

    A heading names a term where `means` follows it, or where it stands under a heading such as Definitions.
    """
    seen: set[str] = set()
    for term in sorted([*_quoted(text, clauses, passages), *_headed(text, clauses)], key=lambda each: each.start):
        if term.name.lower() not in seen:
            seen.add(term.name.lower())
            yield term


def _quoted(text: str, clauses: Sequence[ContractClause], passages: Sequence[Span]) -> Iterator[DefinedTerm]:
    starts = [start for start, _ in passages]
    for match in _QUOTED.finditer(text):
        name = " ".join(match["name"].split())
        if not any(character.isupper() for character in name) and " " in name:
            continue
        if _VERB.match(text, match.end(), match.end() + 160):
            end = _definition_end(match.start(), clauses, _passage(passages, starts, match.end()))
            yield DefinedTerm(name, match.start("name"), match.end("name"), (match.start(), end))
        elif _NAMED.search(text[max(0, match.start() - 90) : match.start()]):
            first, last = _passage(passages, starts, match.start())
            last = max(min(last, match.end() + _LONGEST // 2), match.end())
            yield DefinedTerm(
                name, match.start("name"), match.end("name"), (max(first, match.start() - _LONGEST // 2), last)
            )


def _headed(text: str, clauses: Sequence[ContractClause]) -> Iterator[DefinedTerm]:
    for clause in clauses:
        if not 1 < len(clause.title) <= 70 or clause.level == 0 or _DEFINITIONS.search(clause.title):
            continue
        place = text.find(clause.title, clause.start, clause.end)
        if place < 0:
            continue
        after = place + len(clause.title)
        above = path_at(clauses, clause.start)[:-1]
        if _VERB_UNQUOTED.match(text, after, after + 60) or any(_DEFINITIONS.search(each.title) for each in above):
            yield DefinedTerm(clause.title, place, after, (clause.start, min(clause.end, clause.start + _LONGEST)))


def _definition_end(start: int, clauses: Sequence[ContractClause], passage: Span) -> int:
    """The end of the definition that begins at `start`: of its clause where that begins there, or of its passage."""
    place = bisect_right([clause.start for clause in clauses], start) - 1
    if place >= 0 and start - clauses[place].start <= 12 and clauses[place].end > start:
        return min(clauses[place].end, start + _LONGEST)
    return min(max(passage[1], start + 1), start + _LONGEST)


def _passage(passages: Sequence[Span], starts: Sequence[int], offset: int) -> Span:
    place = bisect_right(starts, offset) - 1
    return passages[place] if place >= 0 else (offset, offset)


def find_uses(text: str, terms: Sequence[DefinedTerm]) -> Iterator[Use]:
    """Where defined terms are used, outside of their own definitions; the longest term wins, and a plural counts."""
    known = {term.name: place for place, term in enumerate(terms)}
    names = sorted((name for name in known if any(map(str.isupper, name))), key=lambda name: (-len(name), name))
    if not names:
        return
    spelled = "|".join(r"\s+".join(re.escape(word) for word in name.split()) for name in names)
    for match in re.finditer(rf"(?<!\w)(?P<name>{spelled})(?:e?s|['’]s?)?(?!\w)", text):
        term = known[" ".join(match["name"].split())]
        start, end = terms[term].definition
        if not start <= match.start() < end:
            yield Use(term, match.start("name"), match.end("name"))


# -- references -------------------------------------------------------------------------------------------------------

_BRACKETED = r"\((?:[a-z]{1,5}|[A-Z]{1,4}|\d{1,2})\)"
_ITEM = (
    r"(?:\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,7}|[A-Z]{1,2})(?:-\d{1,2})?(?![\w.]\w)"
    rf"(?:\s?{_BRACKETED})*"
)
_BRACKETS = rf"(?:{_BRACKETED}\s?)+"
_JOINED = r"(?:\s*,\s*(?:and |or )?|\s+(?:and|or|through|to)\s+|\s*&\s*|\s*[-–]\s*)"
_REFERENCE = re.compile(
    r"\b(?P<word>(?i:(?:sub-?)?(?:section|article|paragraph|clause|exhibit|schedule|annex|appendix|attachment)))"
    rf"(?i:e?s|ices)?\s+(?P<items>(?:{_ITEM}|{_BRACKETS})(?:{_JOINED}(?:{_ITEM}|{_BRACKETS}))*)(?!\w)"
)
_EACH = re.compile(rf"{_ITEM}|{_BRACKETS}")
_BRACKET = re.compile(r"\(([A-Za-z]{1,5}|\d{1,2})\)")
_ELSEWHERE = re.compile(
    r"\s*(?:,?\s*of|under|in)\s+(?!this\b|these\b)(?:the|its|such|said|that|title|part)?\s*[^.;,()]{0,60}?"
    r"\b(?:act|code|laws?|statutes?|rules?|regulations?|tariff|u\.s\.c|c\.f\.r|constitution|terms and conditions)\b",
    re.I,
)
_OF = re.compile(rf"\s*of\s+(?:this\s+)?(?i:section|article|paragraph|clause)\s+(?P<item>{_ITEM})")
_BELOW = re.compile(r"\s*(?:,\s*)?below\b", re.I)
_OWN = re.compile(r"\bthis\s+$", re.I)
_RUNS_ON = re.compile(r"[a-z,;(“\"'’/&]\s*$")  # what stands before a reference that is part of a sentence
_HEADING_AFTER = re.compile(r"[.:)]?\s*(?:[–—-]\s*)?[A-Z“\"]|[.:]?\s*$")
_ATTACHED = ("exhibit", "schedule", "annex", "appendix", "attachment")
_WORDED = re.compile(r"(?P<word>[A-Za-z]+) (?P<of>\S+)")
_ROMAN = re.compile(r"(?=.)(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_ONES = {"one": "1", "two": "2"}

Parts = tuple[str, ...]


def find_references(text: str, clauses: Sequence[ContractClause]) -> Iterator[Reference]:
    """References in order. Those to laws or to the clause they stand in, and headings, are none."""
    addresses = _Addresses(clauses)
    headings = {clause.start for clause in clauses}
    for match in _REFERENCE.finditer(text):
        word = match["word"].lower()
        before = text[max(0, match.start() - 12) : match.start()]
        if match.start() in headings or _OWN.search(before):
            continue
        if _ELSEWHERE.match(text, match.end(), match.end() + 100):
            continue
        if not _RUNS_ON.search(before) and _HEADING_AFTER.match(text, match.end(), match.end() + 12):
            continue
        if word not in _ATTACHED and match["items"][0].isalpha() and not _is_counted(match["items"]):
            continue  # "Section A": no number
        below = _BELOW.match(text, match.end()) is not None
        within = _OF.match(text, match.end()) if match["items"].startswith("(") else None
        for place, item in enumerate(_EACH.finditer(text, match.start("items"), match.end("items"))):
            start = match.start() if place == 0 else item.start()
            written = f"{match['word']} {item.group().strip()}"
            number = f"{within['item']}{item.group()}" if within else item.group()
            target = addresses.find(word.removeprefix("sub").removeprefix("-"), number, start, below=below)
            yield Reference(written, start, item.end(), target)


def _is_counted(items: str) -> bool:
    return bool(re.match(r"[IVXLC]{1,7}\b", items))


class _Addresses:
    """Clauses by what a reference may call them."""

    def __init__(self, clauses: Sequence[ContractClause]) -> None:
        self._clauses = clauses
        self._starts = [clause.start for clause in clauses]
        self._known: defaultdict[Parts, list[int]] = defaultdict(list)
        self._words: list[str] = []
        self._above: list[tuple[int, ...]] = []
        parts: list[Parts] = []
        open_: list[int] = []
        for place, clause in enumerate(clauses):
            while open_ and (clauses[open_[-1]].level >= clause.level or clauses[open_[-1]].end <= clause.start):
                open_.pop()
            word, own = _own_parts(clause)
            stands_alone = word or "." in clause.number or not open_ or self._words[open_[-1]] in _ATTACHED
            whole = own if stands_alone else parts[open_[-1]] + own
            parts.append(whole)
            self._words.append(word)
            self._above.append(tuple(open_))
            if own:
                self._known[whole].append(place)
            open_.append(place)

    def find(self, word: str, item: str, start: int, *, below: bool) -> int | None:
        """The clause that is called so from the place `start`; None where there is none."""
        here = self._path(start)
        wanted = _item_parts(item)
        places = self._relative(wanted, here, below) if item.startswith("(") else self._known.get(wanted, [])
        fitting = [place for place in places if self._fits(word, self._words[place])]
        if not fitting:
            return None
        return max(fitting, key=lambda place: (self._kind(word, place), self._shared(place, here), -place))

    def _path(self, offset: int) -> tuple[int, ...]:
        place = bisect_right(self._starts, offset) - 1
        while place >= 0 and self._clauses[place].end <= offset:
            place = self._above[place][-1] if self._above[place] else -1
        return (*self._above[place], place) if place >= 0 else ()

    def _relative(self, wanted: Parts, here: Sequence[int], below: bool) -> list[int]:
        """Clauses of this number in the list that is open here, or in the innermost one above that has it."""
        for depth in range(len(here), -1, -1):
            above = tuple(here[:depth])
            at = [
                place
                for places in self._known.values()
                for place in places
                if self._above[place][:depth] == above
                and len(self._above[place]) + 1 == depth + len(wanted)
                and self._spelled(place, len(wanted)) == wanted
            ]
            if at:
                return at[-1:] if below else at[:1]
        return []

    def _spelled(self, place: int, length: int) -> Parts:
        chain = (*self._above[place], place)[-length:]
        own = [_own_parts(self._clauses[each])[1] for each in chain]
        return tuple(parts[-1] if parts else "" for parts in own)

    def _fits(self, word: str, own: str) -> bool:
        return word == own if word in _ATTACHED or own in _ATTACHED else True

    def _kind(self, word: str, place: int) -> int:
        own = self._words[place]
        return 2 if own == word else 1 if not own else 0

    def _shared(self, place: int, here: Sequence[int]) -> int:
        attached = any(self._words[each] in _ATTACHED for each in self._above[place])
        return len(set(self._above[place]) & set(here)) - (1 if attached else 0)


def _own_parts(clause: ContractClause) -> tuple[str, Parts]:
    """The word that a clause is numbered with (article …; empty for none) and its number, part by part."""
    if not clause.number:
        return "", ()
    worded = _WORDED.fullmatch(clause.number)
    word, number = (worded["word"].lower(), worded["of"]) if worded else ("", clause.number)
    if word in _ATTACHED:
        return word, (number.lower(),)
    number = _ONES.get(number.lower(), number)
    if number[0].isdigit():
        return word, _decimal(number)
    upper = number.isupper() and (bool(word) or len(number) > 1 or clause.level == 0)
    roman = _roman(number) if (upper and number in {"I", "V", "X"}) or (upper and len(number) > 1) or word else None
    return word, (str(roman) if roman else number.lower(),)


def _item_parts(item: str) -> Parts:
    """`4.2(a)` as ("4", "2", "a"), `IV` as ("4",), `A-1` as ("a-1",)."""
    brackets = tuple(each.lower() for each in _BRACKET.findall(item))
    number = item.partition("(")[0].strip()
    if not number:
        return brackets
    if number[0].isdigit() and "-" not in number:
        return (*_decimal(number), *brackets)
    roman = _roman(number)
    return (str(roman) if roman else number.lower(), *brackets)


def _decimal(number: str) -> Parts:
    parts = [str(int(part)) for part in number.split(".") if part.isdigit()]
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()  # 3.0 is 3
    return tuple(parts)


def _roman(written: str) -> int | None:
    lower = written.lower()
    if not _ROMAN.fullmatch(lower) or not lower:
        return None
    values = [_VALUES.get(character, 100) for character in lower]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


# -- parties and amendments -------------------------------------------------------------------------------------------

_PREAMBLE = 8_000  # characters in which a contract introduces its parties
_BETWEEN = re.compile(r"\b(?:between|among|amongst)\b", re.I)
_ORGANISED = (
    r"Inc(?:orporated)?|INC|INCORPORATED|Corp(?:oration)?|CORP|CORPORATION|L\.?L\.?C|L\.?L\.?P|L\.?P|Ltd|LTD|Limited|LIMITED|"
    r"Company|COMPANY|Co|CO|GmbH|GMBH|AG|AKTIENGESELLSCHAFT|S\.?A|N\.?V|B\.?V|PLC|plc|Trust|TRUST|Bank|BANK|University|"
    r"UNIVERSITY|Partnership|PARTNERSHIP|Association|ASSOCIATION|Institute|Foundation|N\.A|AB|KG|Pty|S\.?p\.?A|S\.?r\.?l|A/S|K\.K"
)
_WORD_OF_NAME = r"[A-Z0-9][\w&.'’/*-]*,?[ \t\xa0]+(?:(?:and|of|the|for|de|&)[ \t\xa0]+)*"
_PARTY = re.compile(
    rf"(?<![\w.])(?P<name>(?:{_WORD_OF_NAME}){{1,8}}?(?:{_ORGANISED})\b\.?"
    r"(?:,?\s(?:Inc|INC|Ltd|LTD|LLC|L\.P|N\.A|Limited)\b\.?)?)(?=[\s,;:(“\"]|$)"
)
_DESCRIBED = re.compile(r"\b(?:an?|the|state of)\s*$", re.I)  # "a Delaware corporation" says what a party is
_SHORT = re.compile(
    r"\(\s*(?:[^()\"“”]{0,60}\s)?[\"“](?P<short>[^\"“”()]{1,50}?)[,.]?[\"”]"
    r"|(?:referred to|known)(?: \w+){0,3} as(?: the)? [\"“](?P<other>[^\"“”()]{1,50}?)[,.]?[\"”]"
)
_NO_PARTY = re.compile(r"\b(?:agreement|date|amendment|contract|parties|party|term|products?|services?)\b", re.I)
_LEADING = re.compile(r"^(?:(?i:and|by|between|among|of|the|to|with|is|made|entered|into|this|effective|as)\s+)+")
_REACH = 400  # characters after a name in which its short form stands
_ORDINAL = r"(?:(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d{1,2}(?:st|nd|rd|th)?)\s+)?"
_TITLE = re.compile(
    rf"\b{_ORDINAL}amendment(?:\s+(?:no\.?|number|#)\s*\w{{1,5}})?\s+to\s+(?:the\s+)?"
    r"(?P<target>[^.;(\"“\n]{0,80}?agreement)\b",
    re.I,
)
_CHANGED = re.compile(  # the clause, then what becomes of it
    r"(?P<target>\b(?:(?:section|article|paragraph|clause|exhibit|schedule)s?|the agreement)\b"
    r"(?:[^.;:]|\.(?=\d)){0,120}?)"
    r"\s+(?:is|are|shall be)\s+(?:hereby\s+)?(?:further\s+)?(?P<action>amended and restated|amended|deleted|replaced|"
    r"modified|restated|supplemented|added|removed)\b",
    re.I,
)


def find_parties(text: str, clauses: Sequence[ContractClause]) -> Iterator[NamedParty]:
    """Parties in the order in which the beginning of a contract introduces them.

    A party is an organisation named between `between`, and the first numbered clause, or one that is given a short
    name there; a person is found by the short name alone.
    """
    begun = _BETWEEN.search(text, 0, _PREAMBLE)
    if begun is None:
        return
    after = [clause.start for clause in clauses if clause.start > begun.end() + 200]
    stop = min([_PREAMBLE, len(text), *after[:1]])
    seen: set[str] = set()
    named = [
        match
        for match in _PARTY.finditer(text, begun.end(), stop)
        if not _DESCRIBED.search(text, max(0, match.start() - 12), match.start())
    ]
    for number, match in enumerate(named):
        limit = min(named[number + 1].start() if number + 1 < len(named) else stop, match.end() + _REACH)
        found = _SHORT.search(text, match.end(), limit)
        short = " ".join((found["short"] or found["other"]).split()) if found else ""
        if _NO_PARTY.search(short):
            short, found = "", None
        name = _LEADING.sub("", " ".join(match["name"].split()))
        key = name.lower().rstrip(".")
        if key in seen or not name or (not short and len(seen) >= 2):
            continue
        seen.add(key)
        yield NamedParty(name, short, match.start(), found.end() if found else match.end())


def find_amendments(text: str) -> Iterator[Amendment]:
    """What the text amends: the agreement that its title names, and each clause that it changes, deletes or adds."""
    if titled := _TITLE.search(text, 0, _PREAMBLE):
        yield Amendment("amended", " ".join(titled["target"].split()), titled.start(), titled.end())
    for match in _CHANGED.finditer(text):
        yield Amendment(match["action"].lower(), " ".join(match["target"].split()), match.start(), match.end())
