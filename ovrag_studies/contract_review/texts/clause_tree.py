"""Clauses of a contract by their numbering: articles, sections, lettered and bracketed items, as a tree of spans.

Filings lose their line ends, so a number counts where a line begins, after a run of blanks, or after the end of a
sentence; and it must continue a list that is open or begin one, which keeps references, sums and dates out. A number
without a dot may be that of a house, a page or a quantity, and needs the numbers beside it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from ovrag_core.documents import find_sections
from ovrag_core.text import word_list


@dataclass(frozen=True, slots=True)
class ContractClause:
    """A numbered or headed part of a contract: `[start, end)` with all that stands below it.

    `number` is as written without dots and brackets (`5.1`, `a`, `IV`, `Article II`; empty for a heading without one),
    `title` its heading (empty for none), `level` 0 for the uppermost. Clauses nest: one lies within the clause of a
    lower level that is open before it.
    """

    number: str
    title: str
    start: int
    end: int
    level: int


_Open = tuple[str, tuple[int, ...]]  # a list by its style, and the number it has come to
_Placed = tuple[int, str, tuple[int, ...]]
_Read = tuple[str, tuple[int, ...], str]  # style, what it counts to, and the number as written


class _ClauseMark(NamedTuple):
    """A number that may begin a clause: its style, what it counts to, and where number and text begin."""

    style: str
    value: tuple[int, ...]
    number: str
    start: int
    text: int
    firm: bool  # at the start of a line or after a run of blanks
    bare: bool = False  # a whole number without a dot, a colon or a bracket


_NAMED_WORDS = "article|section|clause|schedule|annex|appendix|exhibit|attachment|chapter|part"
_NAMED_STYLES = frozenset(_NAMED_WORDS.split("|"))
_COUNTED = frozenset({"decimal", "integer"})
_NUMBERED = _NAMED_STYLES | _COUNTED
ATTACHED = frozenset({"schedule", "annex", "appendix", "exhibit", "attachment"})
_WHERE = (
    r"(?:(?P<line>^[ \t\f\v\xa0\u00ad\ufeff]*+|(?<![ \t\xa0])(?:[ \t\xa0]{2,}+|\t))"
    r"|(?:(?<=[.;:,])[\"”)]?|(?<=[A-Z]{3}))[ \xa0](?:and |or )?)"
)
_ENUMERATOR = re.compile(
    _WHERE + r"(?:"
    r"(?P<named>(?i:"
    + _NAMED_WORDS
    + r"))[ \t\xa0]+(?P<of>\d{1,3}(?:\.\d{1,3}){0,3}|[IVXLC]{1,6}|[A-Z](?:-\d{1,2})?|[Oo]ne|[Tt]wo)\b[.:)]?"
    r"|(?:§+\s*)?(?P<decimal>\d{1,2}(?:\.\d{1,3}){1,4})(?P<afterdecimal>[.):]?)"
    r"|(?:§+\s*)?(?P<integer>\d{1,2})(?P<afterinteger>[.):]|(?=[ \t\xa0]+[A-Z]))"
    r"|\((?P<bracket>\d{1,2}|[a-z]{1,6}|[A-Z]{1,5})\)"
    r"|(?P<letter>[A-Za-z]|[ivx]{2,5}|[IVX]{2,6})[.)]"
    r")(?=\s|[A-Z(“\"]|$)",
    re.M,
)
_CHAINED = re.compile(r" ?\((?P<bracket>\d{1,2}|[a-z]{1,6}|[A-Z]{1,5})\)")
_ROMAN = re.compile(r"(?=.)(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.I)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORDS = {"one": 1, "two": 2}
_AHEAD = 40  # marks in which a list shows how it goes on
_BIG_STEP = 3  # numbers that a list may leave out, of clauses that were struck or not read
_HEADING = re.compile(
    r"[\s.:–—-]*(?P<title>[^\W\d_][^.:\n\r]{1,90}?)(?:(?P<stop>[.:](?=\s|$))|[ \t\xa0]{2,}|\s[–—-]{1,2}\s|(?=[\n\r])|$)"
)
_PAGE = re.compile(r"\.\s?\.\s?\.|\s\d{1,3}$|[ \t]{2}\d{1,3}")
_SMALL = word_list("title")
_CONTENTS = re.compile(r"^[ \t]*(?:TABLE OF )?CONTENTS\b|\bTable of Contents\b|\bTABLE OF CONTENTS\b", re.M)
_LABEL = 300  # characters at the start in which a filing says what it is
_SENTENCES = re.compile(r"[a-z]{2}[.]\s+[A-Z]")
_LISTED = 160  # characters: an entry of a table of contents is not longer
_WIDE = 16  # blanks after a page number, before what is centred under it
_FOOTERS = 3  # pages from which on a line that ends each of them is known
_NESTED = 2  # lists of a kind open at once: (a) may hold one more (a)
_PAGED = re.compile(rf"(?:{_NAMED_WORDS})\s+[\dIVXLC]", re.I)
_UNDOTTED = re.compile(r"\d{1,3}\s")


def find_clauses(text: str) -> tuple[ContractClause, ...]:
    """Clauses of a contract in order, nested by their levels; where nothing is numbered, the parts under headings."""
    marks = list(_marks(text))
    listed = set(chain.from_iterable(_contents(text, marks)))
    marks = _without_quantities(text, [mark for index, mark in enumerate(marks) if index not in listed])
    levels = dict(_levels(marks))
    if not levels:
        return _headed(text)
    clause_marks = [marks[index] for index in levels]
    starts = [*(mark.start for mark in clause_marks), len(text)]
    ends = _ends(list(levels.values()), starts)
    return tuple(
        ContractClause(mark.number, _title(text, mark.text, stop), mark.start, end, level)
        for mark, level, stop, end in zip(clause_marks, levels.values(), starts[1:], ends, strict=True)
    )


def _headed(text: str) -> tuple[ContractClause, ...]:
    """Parts under headings; a number without a dot heads nothing where no list of numbers was found."""
    heads = [section for section in find_sections(text) if not _UNDOTTED.match(section.title)]
    ends = [*(section.start for section in heads[1:]), len(text)]
    return tuple(ContractClause("", head.title, head.start, end, 0) for head, end in zip(heads, ends, strict=False))


def path_at(clauses: Sequence[ContractClause], offset: int) -> tuple[ContractClause, ...]:
    """The clauses that hold the character at `offset`, from the uppermost to the innermost."""
    return tuple(clause for clause in clauses if clause.start <= offset < clause.end)


def label(path: Sequence[ContractClause]) -> str:
    """A path of clauses in words, such as `Article IV Term > 4.2 Renewal > (a)`."""
    return " > ".join(" ".join(text for text in (clause.number, clause.title) if text) for clause in path)


def _marks(text: str) -> Iterator[_ClauseMark]:
    end = 0
    for match in _ENUMERATOR.finditer(text):
        tail = text[match.end() : match.end() + 80].lstrip(" \t\xa0.:–—-")
        kind = next(name for name in _READERS if match[name])
        start, firm = match.start(kind) - (kind == "bracket"), match["line"] is not None
        if start < end or (read := _READERS[kind](match, tail, firm)) is None:
            continue
        yield _ClauseMark(*read, start, match.end(), firm, bare=match["afterinteger"] == "")
        end = match.end()
        while kind == "bracket" and (chained := _CHAINED.match(text, end)):
            end = chained.end()
            yield _ClauseMark("()", (), chained["bracket"], chained.start("bracket") - 1, end, firm)


def _named(match: re.Match[str], rest: str, firm: bool) -> _Read | None:
    word, of = match["named"].lower(), match["of"]
    if not firm or match["named"][0].islower() or not _begins_heading(rest):
        return None
    if word == "exhibit" and "." in of and match.start("named") < _LABEL:
        return None  # under what the filing lists the contract
    if "." in of and word not in ATTACHED:
        return "decimal", _numbers(of), of
    return word, _numbers(of), f"{match['named'].capitalize()} {of}"


def _decimal(match: re.Match[str], rest: str, firm: bool) -> _Read | None:
    number = match["decimal"]
    begins = rest[:1].isupper() or (firm and (rest[:1] in '(“"[*_' or match["afterdecimal"] != ""))
    if number.startswith("0") or not begins:
        return None
    value = _numbers(number)
    while len(value) > 1 and value[-1] == 0:
        value = value[:-1]  # 4.0 counts as 4
    return "decimal" if len(value) > 1 else "integer", value, number


def _integer(match: re.Match[str], rest: str, firm: bool) -> _Read | None:
    bare = match["afterinteger"] == ""
    if not _begins_heading(rest) or (bare and not (firm and rest[:1].isupper() and not _PAGED.match(rest))):
        return None
    return "integer", _numbers(match["integer"]), match["integer"]


def _letter(match: re.Match[str], rest: str, firm: bool) -> _Read | None:
    begins = firm and (_begins_heading(rest) or match["letter"].islower())
    return (".", (), match["letter"]) if begins else None


_READERS: dict[str, Callable[[re.Match[str], str, bool], _Read | None]] = {
    "named": _named,
    "decimal": _decimal,
    "integer": _integer,
    "bracket": lambda match, _rest, _firm: ("()", (), match["bracket"]),
    "letter": _letter,
}


def _begins_heading(rest: str) -> bool:
    return not rest or rest[0] in '\n\r“"[(*' or rest[0].isupper()


def _numbers(written: str) -> tuple[int, ...]:
    if written[0].isdigit():
        return tuple(int(digits) for digits in written.split("."))
    return (_WORDS.get(written.lower()) or roman(written) or ord(written[0].lower()) - 96,)


def roman(written: str) -> int | None:
    """Return what a Roman numeral counts to; None for anything else."""
    if not _ROMAN.fullmatch(written):
        return None
    values = [_ROMAN_VALUES[character] for character in written.lower()]
    later = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, later, strict=True))


def _readings(mark: _ClauseMark, following: Sequence[_ClauseMark]) -> Sequence[_Open]:
    """The lists that a number may count in: `(i)` is a roman one or a ninth letter, unless `(ii)` or `(j)` follows."""
    readings = _all_readings(mark.style, mark.number)
    if len(readings) > 1:
        for later in following:
            after = () if later.value else _all_readings(later.style, later.number)
            if len(after) == 1 and (before := (after[0][0], (after[0][1][0] - 1,))) in readings:
                return [before]
    return readings


@lru_cache(maxsize=1 << 14)
def _all_readings(style: str, written: str) -> tuple[_Open, ...]:
    if written.isdigit():
        return ((f"{style}1", (int(written),)),)
    readings: list[_Open] = []
    if (counted := roman(written)) and not {"c", "C"} & set(written):
        readings.append((style + ("i" if written.islower() else "I"), (counted,)))
    if len(written) == 1 or (len(written) == 2 and written[0] == written[1] and not readings):
        counted = ord(written[0].lower()) - 96 + 26 * (len(written) - 1)
        readings.append((style + ("a" if written.islower() else "A"), (counted,)))
    return tuple(readings)


def _contents(text: str, marks: Sequence[_ClauseMark]) -> Iterator[range]:
    """Marks of tables of contents, by place: a run of short entries with page numbers or that all come again."""
    ends = [*(mark.start for mark in marks[1:]), len(text)]
    pieces = [text[mark.text : end] for mark, end in zip(marks, ends, strict=False)]
    keys = [f"{mark.style} {mark.number}" for mark in marks]
    last_index = dict(zip(keys, range(len(keys)), strict=True))
    for first, run_end in _runs(len(piece.strip()) <= _LISTED and not _SENTENCES.search(piece) for piece in pieces):
        stop = _first_repeated(keys, first, run_end)
        count, repeated = stop - first, sum(last_index[key] >= stop for key in keys[first:stop])
        announced = _CONTENTS.search(text, max(0, marks[first].start - 200), marks[first].start)
        paged = sum(bool(_PAGE.search(entry.rstrip())) for entry in pieces[first:stop])
        if count >= 4 and (announced or paged * 2 > count) and repeated * 2 > count:
            ends_run = last_index[keys[stop]] > stop  # the last entry, after which the contract begins
            yield range(first, stop + ends_run)
        elif count >= 8 and repeated * 5 > count * 4:
            yield range(first, stop)


def _without_quantities(text: str, marks: Sequence[_ClauseMark]) -> list[_ClauseMark]:
    """Marks without numbers of houses, pages, days and quantities: those with no dot that stand in no row of numbers.

    Beside such a number stand the next one, one below it (4.1) or, before it, the last one of the same looks.
    """
    lines = {i: _line(text, mark.text) for i, mark in enumerate(marks) if mark.bare}
    often = Counter(lines.values())
    clause_marks: list[_ClauseMark] = []
    before = row = 0  # the last number, and the last of a row without dots
    for index, mark in enumerate(marks):
        if mark.bare:
            footer = often[lines[index]] >= _FOOTERS or not lines[index]
            if footer or not _stands_in_row(mark, marks[index + 1 : index + _AHEAD], before, row):
                continue
            row = mark.value[0]
        if mark.style in _COUNTED:
            before = mark.value[0]
        clause_marks.append(mark)
    return clause_marks


def _line(text: str, start: int) -> str:
    """Return the rest of the line after a number; empty where that is centred, as below the number of a page."""
    line = text[start : start + 80].split("\n", 1)[0]
    return "" if line[:_WIDE].isspace() else line.strip()


def _stands_in_row(mark: _ClauseMark, following: Sequence[_ClauseMark], before: int, row: int) -> bool:
    number, restarted = mark.value[0], False
    for later in (each for each in following if each.value):
        if later.value[0] == number:
            if len(later.value) == 1 and restarted:
                break  # of another list
            return len(later.value) > 1  # 4.1 is below 4; another 4 takes its place
        if later.value[0] == number + 1 and (later.bare or before == number - 1):
            return True
        restarted = restarted or (later.bare and later.value[0] < number)
    return 0 < row == number - 1


def _first_repeated(keys: Sequence[str], first: int, stop: int) -> int:
    """Find the place where a key of those from `first` on comes for the second time; `stop` if none does."""
    seen: dict[str, int] = {}
    return next((index for index in range(first, stop) if seen.setdefault(keys[index], index) < index), stop)


def _runs(flags: Iterable[bool]) -> Iterator[tuple[int, int]]:
    """Stretches of true flags, over single false ones within."""
    return (run.span() for run in re.finditer("x+(?:-x+)*", "".join("x" if flag else "-" for flag in flags)))


def _levels(marks: Sequence[_ClauseMark]) -> Iterator[tuple[int, int]]:
    """Places of the marks that continue an open list or begin one, with their level."""
    open_lists: list[_Open] = []
    for index, mark in enumerate(marks):
        following = marks[index + 1 : index + _AHEAD]
        if (placed := _place(mark, open_lists, following)) is not None:
            level, style, value = placed
            open_lists[level:] = [(style, value)]
            yield index, level


def _place(mark: _ClauseMark, open_lists: Sequence[_Open], following: Sequence[_ClauseMark]) -> _Placed | None:
    """Find the place of a mark: in an open list that it continues, the innermost first, or at the head of a new one."""
    if mark.style == "decimal":
        level = _decimal_level(mark, open_lists, following)
        return None if level is None else (level, mark.style, mark.value)
    readings = [(mark.style, mark.value)] if mark.value else _readings(mark, following)
    for style, value in readings:
        for level in range(len(open_lists) - 1, -1, -1):
            if open_lists[level][0] == style and 0 < value[0] - open_lists[level][1][0] <= _BIG_STEP:
                return level, style, value
    for style, value in readings:
        if style in _NAMED_STYLES:
            return _named_level(style, open_lists), style, value
        if style == "integer":
            if _begins_list(mark, open_lists, following):
                return _integer_level(open_lists), style, value
        elif value[0] == 1:
            return _innermost(style, open_lists), style, value
    return None


def _innermost(style: str, open_lists: Sequence[_Open]) -> int:
    """Below everything; beside the last list of its kind where that one is within another already."""
    levels = [level for level, (kind, _) in enumerate(open_lists) if kind == style]
    return levels[-1] if len(levels) >= _NESTED else len(open_lists)


def _begins_list(mark: _ClauseMark, open_lists: Sequence[_Open], following: Sequence[_ClauseMark]) -> bool:
    """Return True where a whole number begins a list, or goes on after decimal ones; it continues none of its kind."""
    begins = mark.firm and (mark.value == (1,) or _follows(_open_number(open_lists), mark.value))
    return begins or _is_continued(mark.value, _open_number(reversed(open_lists)), following)


def _open_number(lists: Iterable[_Open]) -> tuple[int, ...]:
    """The first whole or decimal number that lists have come to; empty for none."""
    return next((value for style, value in lists if style in _COUNTED), ())


def _integer_level(open_lists: Sequence[_Open]) -> int:
    """Below the article or section that is open; below everything where numbers are open already."""
    if any(style in _COUNTED for style, _ in open_lists):
        return _innermost("integer", open_lists)
    return sum(style in _NAMED_STYLES for style, _ in open_lists)


def _named_level(style: str, open_lists: Sequence[_Open]) -> int:
    if style in ATTACHED or style in ("article", "chapter", "part"):
        return 0
    return next((level for level, (kind, _) in enumerate(open_lists, 1) if kind in _NAMED_STYLES - {style}), 0)


def _decimal_level(mark: _ClauseMark, open_lists: Sequence[_Open], following: Sequence[_ClauseMark]) -> int | None:
    """A decimal number stands below the longest open number that begins it, or beside those of its own length."""
    numbered = [(level, style, value) for level, (style, value) in enumerate(open_lists) if style in _NUMBERED]
    rival = _open_number(reversed(open_lists))
    continued = _is_continued(mark.value, rival, following)
    forward = rival < mark.value or continued
    for level, style, value in reversed(numbered):
        if forward and _is_below(value, mark.value):
            return level + 1
        if style == "decimal" and len(value) == len(mark.value) and _follows(value, mark.value):
            return level
    if not continued and (rival or not mark.firm):
        return None
    return next((level + 1 for level, style, _ in numbered if style in _NAMED_STYLES), 0)


def _follows(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Return True where `after` is a next number: 4.2 or 5 or 5.1 after 4.1; a few may be left out."""
    for depth, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            return 0 < new - old <= _BIG_STEP and all(number <= _BIG_STEP for number in after[depth + 1 :])
    return False


def _is_continued(value: tuple[int, ...], rival: tuple[int, ...], following: Sequence[_ClauseMark]) -> bool:
    """Return True where the numbers that follow go on from `value` rather than from the open `rival`."""
    for after in (mark.value for mark in following if mark.style in _COUNTED):
        if _is_below(value, after):
            return True
        if _follows(rival, after):
            return False
        if _follows(value, after):
            return True
    return False


def _is_below(above: tuple[int, ...], value: tuple[int, ...]) -> bool:
    return 0 < len(above) < len(value) and value[: len(above)] == above


def _ends(levels: Sequence[int], starts: Sequence[int]) -> list[int]:
    """Where clauses end: where the next one begins that does not lie in them. `starts` has the end of the text too."""
    ends = [starts[-1]] * len(levels)
    begun: list[int] = []
    for index, level in enumerate(levels):
        while begun and levels[begun[-1]] >= level:
            ends[begun.pop()] = starts[index]
        begun.append(index)
    return ends


def _title(text: str, start: int, stop: int) -> str:
    """The heading that stands at `start`: a few words that end with a dot, a colon or the line."""
    if (match := _HEADING.match(text, start, min(stop, start + 200))) is None:
        return ""
    title = " ".join(match["title"].split()).strip(" _-–—,")
    words = [word for word in title.split() if word.lower() not in _SMALL]
    if not words or len(title.split()) > 12:
        return ""
    short = match["stop"] and len(title.split()) <= 4
    all_big = all(word[0].isupper() or not word[0].isalpha() for word in words)
    return title if words[0][0].isupper() and (short or all_big) else ""
