# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Surroundings of a value: its row or sentence, the label or heading it stands under, and how its words weigh."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from ovrag_core.text import strip_span

_MAX_PASSAGE = 400
_MANY = 3000
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value's surroundings: the words before and after it in its row or sentence, and its passage."""

    before: str
    after: str
    label: str
    start: int
    end: int
    #: Whether the words are those of a question, or stand under a heading of other debts.
    aside: bool


_BREAK = re.compile(
    r"\n[ \t\r]*\n|(?<![A-Z])(?<!\bNo)(?<!\bRs)(?<!\bp\.a)(?<!\bcent)(?<!\bi\.e)(?<!\be\.g)(?<!\.)[.!?;][\"”')]?\s+(?=[A-Z\"“(0-9])|\n(?=[ \t]*[A-Z][^\n:.$€£;]{2,45}:)|"
    r"\n(?=[ \t]*(?:\(?[a-z0-9]{1,3}\)|\d{1,2}(?:\.\d{1,3})+(?!\s+(?:per|pct|percent|million|%))|\d{1,2}\.|[•*#-])\s|[ \t]*\d{1,2}\s{2,}[A-Z])|(?<! )[ ]{3,}(?=[A-Z][\w /-]{2,30}:)|"
    r"\n(?=[ \t]*(?:\d{1,2}[.)]?[ \t]+)?[A-Z][\w ()'’,/-]{1,40}?(?:[ ]{2,}|[ \t]*\.{2,}[ \t]*)\S)|\n(?=[ \t]*(?:Last|Final|First|Maturity|Repayment)[ ]+(?:payment|instal?ment|date|day)\b)"
)
_INNER_STOP = re.compile(r"(?<=\d)\.(?=[\d-])")
_ABBREVIATED = re.compile(
    r"\b(No|Nos|Inc|Ltd|Co|Corp|Mr|Mrs|Ms|Dr|Rs|St|Art|approx|cent|p\.a|i\.e|e\.g|p\. a|N\.A|U\.S|L\.P)\."
)
_ROW = re.compile(
    r"^[\s|>*#_•-]*(?:[一二三四五六七八九十]{1,3}、\s*)?(?:\d{1,2}\s*\|\s*)?(?:\d{1,2}(?:\.\d{1,2})+\s+)?(?:(?:Item|ITEM|Line|Field|Box|No\.?)\s+\w{1,3}\s*[:.)-]\s*|(?:FIRST|SECOND|THIRD|FOURTH|FIFTH|SIXTH|SEVENTH|EIGHTH|First|Second|Third|Fourth|Fifth|Sixth|Seventh|Eighth)\s*[:.]\s*)?(?:\(?[0-9A-Za-z]{1,3}(?:\.\d+)*[.)]\s+|\d{1,2}\s{1,3}(?=[A-Z]))?([A-Za-zÀ-ž][^:|\n]{1,70}?)\s*(?::|\||\t|\s{2,}|\.{2,}(?=[.\s])|\s[–—]\s)[\s*_|:.]*"
)
# A heading at the beginning of its own paragraph: "3. Interest. 7% a year".
_CAPTION = re.compile(
    r"^[ \t*#_]*(?:\(?[0-9A-Za-z]{1,4}(?:\.\d+)*[.)]\s+|\d{1,2}(?:\.\d+)+\s+|§\s?\d+\s+|(?:Article|Clause|Section|Art\.)\s\w+\s*[-–—.]?\s*)([A-ZÀ-Þ][\w ’'&/()-]{1,45})[.?]\s+",
    re.MULTILINE,
)
_TITLE_LINE = re.compile(
    r"^[ \t*#_]*(?:\(?[0-9A-Za-z]{1,4}(?:\.\d+)*[.)]?\s+|(?:Article|Clause|Section|PART|Part)\s\w+\s*[-–—.]?\s*)?([A-ZÀ-Þ][^\n.:;,|$€£\d]{2,58})[ \t]*$",
    re.MULTILINE,
)
_OTHER_DEBT = re.compile(
    r"^(?:your |the |our |its |his |her )?(?:(?:other|existing|old|earlier|former|previous|prior|separate|sister|(?:first|second)(?= (?:mortgage|charge|hypothec)))\b(?!.*amend).{0,25}\b(?:loans?|debts?|advances?|facilit\w+|lenders?|borrowings?|credit\w*|agreements?|overdraft|indebtedness|hypothec|"
    r"mortgage|charges?|sub-accounts?|products?|securit\w+|liabilit\w+|money|units|things)|(?:dealer['’]s|company['’]s|borrower['’]s)? ?(?:other )?bank(?:er)?s?$|overdraft|directors['’]? |shareholders?['’]? |set-?off|guarant\w+|insurance|valuation|priority|covenants?|negative pledge)",
    re.IGNORECASE,
)


def setting_of(text: str, start: int, end: int, breaks: list[tuple[int, int]]) -> Setting:
    """The row or sentence around a value, its label where it is a row."""
    index = bisect_left(breaks, (start + 1, 0))
    left = breaks[index - 1][1] if index else 0
    if left > start:
        left = breaks[index - 2][1] if index > 1 else 0
    follow = next((b[0] for b in breaks[index : index + 2] if b[0] >= end), len(text))
    right = min(len(text), follow + (1 if follow < len(text) and text[follow] in ".!?;" else 0))
    left, right = max(left, start - 320), min(right, end + 320)
    line = text.rfind("\n", left, start) + 1 or left
    row = _ROW.match(text[line:start])
    label = row.group(1) if row else _caption(text, start)
    if "|" in text[line:start] and not (row and row.group(1).strip(" -")):
        label = _column_head(text, line, start)
    elif not label and not text[line:start].strip(" \t*_|#•-"):
        label = _label_above(text, line)
    begin, finish = left, right
    if finish - begin > _MAX_PASSAGE:
        begin = max(begin, min(start, finish - _MAX_PASSAGE, start - 120))
        finish = min(finish, begin + _MAX_PASSAGE)
    begin, finish = strip_span(text, begin, max(finish, end))
    after = _smooth(text[end:right])
    aside = (not row and after.endswith("?")) or _OTHER_DEBT.match(heading(text, start)) is not None
    return Setting(_smooth(text[left:start]), after, " ".join(label.split()), begin, finish, aside)


@lru_cache(maxsize=4)
def _headings(text: str) -> tuple[list[int], list[str]]:
    """Start of each heading or caption, and its words, in order."""
    headings = sorted((m.start(1), m.group(1)) for pattern in (_CAPTION, _TITLE_LINE) for m in pattern.finditer(text))
    return [start for start, _ in headings], [words for _, words in headings]


def heading(text: str, at: int) -> str:
    """The heading in force at `at`."""
    starts, titles = _headings(text)
    index = bisect_left(starts, at) - 1
    if index < 0 or not text[: starts[index]].strip(" \t\r\n*#_"):
        return ""  # what stands first is the title of the whole
    return titles[index]


def _caption(text: str, at: int) -> str:
    """The caption of the paragraph in which a value stands among the first words: "2. Duration. To 28 February"."""
    starts, titles = _headings(text)
    index = bisect_left(starts, at) - 1
    if index < 0 or at - starts[index] > 90:
        return ""
    between = text[starts[index] : at].removeprefix(titles[index])
    return titles[index] if between[:1] in (".", "?") and len(between.split()) <= 4 else ""


def _column_head(text: str, line: int, start: int) -> str:
    """The head of the column a table's cell stands in, where a line above has as many cells and no figures."""
    column = text.count("|", line, start)
    end = text.find("\n", start)
    width = text.count("|", line, len(text) if end < 0 else end)
    for _ in range(4):
        stop, line = line - 1, text.rfind("\n", 0, max(0, line - 1)) + 1
        above = text[line : max(line, stop)]
        if above.count("|") == width and not any(c.isdigit() for c in above):
            return " ".join(above.split("|")[column].split())
        if not above.strip() or line == 0:
            break
    return ""


def _smooth(words: str) -> str:
    """One line, with the full stops of figures and abbreviations gone, so that a full stop ends a sentence."""
    return _INNER_STOP.sub(",", _ABBREVIATED.sub(r"\1", " ".join(words.split())))


_ASKED = re.compile(r"^Q\.?\s?\d{1,2}\s*[.:)]\s*")


def _label_above(text: str, at: int) -> str:
    """The label of a value that stands on the line below it ("Principal Amount:" over "USD 254,000.00")."""
    above = text[max(0, at - 120) : at].rstrip(" \t*_|#\n\r")
    label = _ASKED.sub("", above.rsplit("\n", 1)[-1].strip(" \t*_|#"))
    is_label = label.endswith((":", "?")) or (len(label.split()) <= 6 and label[-1:].isalnum())
    return label.rstrip(":").strip() if is_label else ""


@lru_cache(maxsize=4)
def passage_breaks(text: str) -> list[tuple[int, int]]:
    """Find the places where one row or sentence of `text` ends and the next begins."""
    return [(m.start(), m.end()) for m in _BREAK.finditer(text)]


def capped(found: Iterable[_Found]) -> list[_Found]:
    """The first and last candidates of a very long text: what a loan is about stands at its beginning or its end."""
    every = list(found)
    return every if len(every) <= _MANY else every[: _MANY // 2] + every[-_MANY // 2 :]


Cues = tuple[tuple[re.Pattern[str], float], ...]


_CAPITAL = re.compile(r"(?<!\\)[A-ZÀ-Þ]")


def cues(weights: Mapping[str, float]) -> Cues:
    """Patterns with what each weighs; they are matched against lower-case words."""
    return tuple(
        (re.compile(_CAPITAL.sub(lambda m: m.group().lower(), pattern)), weight) for pattern, weight in weights.items()
    )


def weigh(patterns: Cues, words: str) -> tuple[float, str]:
    """The best positive weight plus all negative ones, and the words of the best cue."""
    best, label, minus = 0.0, "", 0.0
    words = words.lower()
    for pattern, weight in patterns:
        match = pattern.search(words)
        if not match:
            continue
        if weight > best:
            best, label = weight, match.group().strip(" :,.(")
        elif weight < 0:
            minus += weight
    return best + minus, label
