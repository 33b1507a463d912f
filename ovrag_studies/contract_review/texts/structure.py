"""Links that hold a contract together, read from the form of its text: terms, references to clauses, parties."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ovrag_core.text import Span
from ovrag_studies.contract_review.texts.clause_tree import ATTACHED, ContractClause, path_at, roman


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
    """A reference to another clause, as `Section 4.2(a)`, each number apart; `target` is that clause's index."""

    start: int
    end: int
    target: int


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
_DEFINITIONS = re.compile(r"\b(?:definitions?|defined terms|interpretation|certain terms)\b", re.I)
_LONGEST = 1_500  # characters of a definition that are taken


def find_terms(text: str, clauses: Sequence[ContractClause], passages: Sequence[Span]) -> list[DefinedTerm]:
    """Return terms by their first definition: quoted before `means` or in brackets, or heading below Definitions."""
    by_name: dict[str, DefinedTerm] = {}
    for term in sorted([*_quoted(text, clauses, passages), *_headed(text, clauses)], key=lambda each: each.start):
        by_name.setdefault(term.name.lower(), term)
    return list(by_name.values())


def _quoted(text: str, clauses: Sequence[ContractClause], passages: Sequence[Span]) -> Iterator[DefinedTerm]:
    for match in _QUOTED.finditer(text):
        name = " ".join(match["name"].split())
        if name.islower() and " " in name:
            continue
        if _VERB.match(text, match.end(), match.end() + 160):
            end = _definition_end(match.start(), clauses, _passage(passages, match.end()))
            yield DefinedTerm(name, match.start("name"), match.end("name"), (match.start(), end))
        elif _NAMED.search(text[max(0, match.start() - 90) : match.start()]):
            begin, end = _passage(passages, match.start())
            begin, end = max(begin, match.start() - _LONGEST // 2), min(end, match.end() + _LONGEST // 2)
            yield DefinedTerm(name, match.start("name"), match.end("name"), (begin, max(end, match.end())))


def _headed(text: str, clauses: Sequence[ContractClause]) -> Iterator[DefinedTerm]:
    for clause in clauses:
        above = path_at(clauses, clause.start)[:-1]
        if 1 < len(clause.title) <= 70 and any(_DEFINITIONS.search(parent.title) for parent in above):
            start = text.find(clause.title, clause.start, clause.end)
            if start >= 0:
                definition = (clause.start, min(clause.end, clause.start + _LONGEST))
                yield DefinedTerm(clause.title, start, start + len(clause.title), definition)


def _definition_end(start: int, clauses: Sequence[ContractClause], passage: Span) -> int:
    """The end of the definition that begins at `start`: of its clause where that begins there, or of its passage."""
    index = bisect_right(clauses, start, key=lambda clause: clause.start) - 1
    begins = index >= 0 and start - clauses[index].start <= 12 and clauses[index].end > start
    return min(clauses[index].end if begins else max(passage[1], start + 1), start + _LONGEST)


def _passage(passages: Sequence[Span], offset: int) -> Span:
    index = bisect_right(passages, offset, key=itemgetter(0)) - 1
    return passages[index] if index >= 0 else (offset, offset)


def find_uses(text: str, terms: Sequence[DefinedTerm]) -> Iterator[Use]:
    """Yield where defined terms are used, outside of their definitions; the longest term wins, and a plural counts."""
    term_numbers = {term.name: number for number, term in enumerate(terms)}
    names = sorted((name for name in term_numbers if any(map(str.isupper, name))), key=lambda name: (-len(name), name))
    if not names:
        return
    spelled = "|".join(r"\s+".join(re.escape(word) for word in name.split()) for name in names)
    for match in re.finditer(rf"(?<!\w)(?P<name>{spelled})(?:e?s|['’]s?)?(?!\w)", text):
        term = term_numbers[" ".join(match["name"].split())]
        start, end = terms[term].definition
        if not start <= match.start() < end:
            yield Use(term, match.start("name"), match.end("name"))


_BRACKETED = r"\((?:[a-z]{1,5}|[A-Z]{1,4}|\d{1,2})\)"
_ITEM = (
    r"(?:\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,7}|[A-Z]{1,2})(?:-\d{1,2})?(?![\w.]\w)"
    rf"(?:\s?{_BRACKETED})*"
)
_BRACKETS = rf"(?:{_BRACKETED}\s?)+"
_JOINED = r"(?:\s*,\s*(?:and |or )?|\s+(?:and|or|through|to)\s+|\s*&\s*|\s*[-–]\s*)"
_REFERENCE = re.compile(
    rf"\b(?P<word>(?i:(?:sub-?)?(?:section|article|paragraph|clause|{'|'.join(sorted(ATTACHED))})))"
    rf"(?i:e?s|ices)?\s+(?P<items>(?:{_ITEM}|{_BRACKETS})(?:{_JOINED}(?:{_ITEM}|{_BRACKETS}))*)(?!\w)"
)
_EACH = re.compile(rf"{_ITEM}|{_BRACKETS}")
_ELSEWHERE = re.compile(
    r"\s*(?:,?\s*of|under|in)\s+(?!this\b|these\b)(?:the|its|such|said|that|title|part)?\s*[^.;,()]{0,60}?"
    r"\b(?:act|code|laws?|statutes?|rules?|regulations?|tariff|u\.s\.c|c\.f\.r|constitution|terms and conditions)\b",
    re.I,
)
_OWN = re.compile(r"\bthis\s+$", re.I)
_PIECE = re.compile(r"\d+|[A-Za-z]+(?:-\d+)?")

Address = tuple[str, ...]


def find_references(text: str, clauses: Sequence[ContractClause]) -> Iterator[Reference]:
    """Yield references to clauses of the contract, in order; those to laws or to the clause they stand in are none."""
    addresses, by_address = _addresses(clauses)
    headings = {clause.start for clause in clauses}
    indices = {clause: index for index, clause in enumerate(clauses)}
    for match in _REFERENCE.finditer(text):
        own_clause = _OWN.search(text, max(0, match.start() - 12), match.start())
        if own_clause or match.start() in headings or _ELSEWHERE.match(text, match.end(), match.end() + 100):
            continue
        word = match["word"].lower().removeprefix("sub").removeprefix("-")
        for item in _EACH.finditer(text, match.start("items"), match.end("items")):
            origin: Address = ("",)
            if item.group().startswith("(") and (path := path_at(clauses, item.start())):
                origin = addresses[indices[path[-1]]]
            if (target := _target(by_address, word, _pieces(word, item.group()), origin)) is not None:
                yield Reference(item.start(), item.end(), target)


def _addresses(clauses: Sequence[ContractClause]) -> tuple[list[Address], dict[Address, int]]:
    """For each clause its address, such as ("", "4", "2", "a") or ("exhibit", "a"); and the first clause of each."""
    addresses: list[Address] = []
    by_address: dict[Address, int] = {}
    open_: list[Address] = []
    for index, clause in enumerate(clauses):
        word = clause.number.partition(" ")[0].lower() if " " in clause.number else ""
        pieces = _pieces(word, clause.number.rpartition(" ")[2])
        del open_[clause.level :]
        above = open_[-1] if open_ else ("",)
        alone = word or "." in clause.number
        address = (word if word in ATTACHED else "", *pieces) if alone else (*above, *pieces)
        addresses.append(address)
        open_.append(address)
        by_address.setdefault(address, index)
    return addresses, by_address


def _target(known: Mapping[Address, int], word: str, wanted: Address, here: Address) -> int | None:
    """The clause that is called so from `here`: in the list that is open there, or in the innermost one above."""
    if word in ATTACHED:
        return known.get((word, *wanted))
    addresses = ((*here[:depth], *wanted) for depth in range(len(here), 0, -1))
    return next((known[address] for address in addresses if address in known), None)


def _pieces(word: str, written: str) -> Address:
    """`4.2(a)` as ("4", "2", "a"), `IV` as ("4",), and `A-1` as ("a-1",)."""
    pieces = []
    for piece in _PIECE.findall(written):
        counted = roman(piece) if piece.isupper() and word not in ATTACHED else None
        pieces.append(str(int(piece)) if piece.isdigit() else str(counted) if counted else piece.lower())
    while len(pieces) > 1 and pieces[-1] == "0":
        pieces.pop()  # 3.0 is 3
    return tuple(pieces)


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


def find_parties(text: str, clauses: Sequence[ContractClause]) -> Iterator[Span]:
    """Yield where parties are introduced, each once: organisations from `between` to the first numbered clause."""
    if (begun := _BETWEEN.search(text, 0, _PREAMBLE)) is None:
        return
    after = [clause.start for clause in clauses if clause.start > begun.end() + 200]
    names: set[str] = set()
    for match in _PARTY.finditer(text, begun.end(), min([_PREAMBLE, len(text), *after[:1]])):
        name = " ".join(match["name"].lower().split()).rstrip(".")
        if name not in names and not _DESCRIBED.search(text, max(0, match.start() - 12), match.start()):
            names.add(name)
            yield match.span("name")
