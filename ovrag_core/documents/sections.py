"""Sections of a text, by lines that look like headings."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ovrag_core.base import Section
from ovrag_core.text import word_list

_MAX_HEADING = 120
_MAX_LINE = 4_000  # characters; a longer line is prose
_LINE = re.compile(r"[^\n\r]+")
_NAMED = re.compile(
    r"(?:section|article|part|clause|schedule|annex|appendix|exhibit|chapter|recitals?|preamble)\s+"
    r"(?:\d{1,3}(?:\.\d{1,3})*|[IVXLC]{1,7}|[A-Z]|one|two|three|four|five|six|seven|eight|nine|ten)\b",
    re.I,
)
_NUMBER = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]?|[IVXLC]{1,7}[.)]|[A-Z][.)]|§+\s*\d+\.?)\s+(?=[^\W\d_])")
_CONTENTS = re.compile(r"(?:\.\s?){4,}|\s{3,}\d{1,4}$|^\W*\[\[")  # a line of a table of contents, a placeholder
_RUN_IN = re.compile(r"([^\W\d_][^.:;!?]{1,70}?)(?:[.:](?=\s|$)|\s[–—-]\s)")
_SMALL = word_list("title")


def find_sections(text: str) -> tuple[Section, ...]:
    """Headed parts in order; each reaches from its heading to the next one, whatever its level.

    Headings are lines that begin with a word such as Section or Schedule and a number, numbered titles (also run in at
    the start of a clause, `5. Security. The Borrower …`), lines in capitals, and short title lines that stand alone.
    """
    heads = list(_headings(text))
    if not heads:
        return ()
    ends = [start for start, _ in heads[1:]] + [len(text)]
    return tuple(Section(title, start, end) for (start, title), end in zip(heads, ends, strict=True))


def is_capitals(line: str) -> bool:
    """Return True where a single line stands in capitals, as titles and headings do."""
    text = line.strip()
    return "\n" not in text and not any(character.isdigit() for character in text) and _is_capitals(text)


def _headings(text: str) -> Iterator[tuple[int, str]]:
    lines = [match.span() for match in _LINE.finditer(text)]
    alone = [True, *(text.count("\n", above[1], below[0]) > 1 for above, below in pairwise(lines)), False]
    for (start, end), alone_above, alone_below in zip(lines, alone, alone[1:], strict=False):
        line = text[start:end].strip()
        if line and end - start <= _MAX_LINE and (title := _title(line, alone_above, alone_above and alone_below)):
            yield text.index(line, start), title


def _title(line: str, alone_above: bool, alone: bool) -> str | None:
    if _CONTENTS.search(line):
        return None
    if named := _named_title(line):
        return named
    if match := _NUMBER.match(line):
        return _numbered_title(line, match.end(), alone=alone)
    if len(line) > _MAX_HEADING:
        return None
    if _is_capitals(line):
        return line if alone_above else None
    return line if alone and ":" not in line and _is_title(line) else None


def _named_title(line: str) -> str | None:
    numbered = _NAMED.match(line)
    if not numbered or len(line) > _MAX_HEADING:
        return None
    title = re.sub(r"^[\s.:–—-]+", "", line[numbered.end() :])
    # "Section 4 shall apply" is a sentence; "Section 4: Security" and "ARTICLE IV" are headings.
    is_sentence = title and (not title[0].isupper() or line.endswith((",", ";")))
    return None if is_sentence or (line.endswith(".") and len(title.split()) > 10) else line


def _numbered_title(line: str, start: int, *, alone: bool) -> str | None:
    heading = line[start:]
    if not heading[0].isupper():
        return None
    if run_in := _RUN_IN.match(heading):
        title = run_in[1].strip()
        return line[: start + run_in.end(1)].strip() if _is_title(title) or len(title.split()) <= 3 else None
    if len(heading) > 80 or heading.endswith((",", ";", ".")):
        return None
    stands_out = _is_title(heading) or _is_capitals(heading) or (alone and len(heading.split()) <= 8)
    return line if stands_out else None


def _is_capitals(line: str) -> bool:
    letters = [character for character in line if character.isalpha()]
    if len(letters) < 4 or any(character.islower() for character in letters):
        return False
    return not line.endswith((":", ",", ";")) and len(line.split()) <= 14 and "__" not in line


def _is_title(line: str) -> bool:
    words = line.split()
    if not 1 <= len(words) <= 9 or line.endswith((".", ",", ";", ":", "!", "?")) or "__" in line:
        return False
    big = [word for word in words if word.lower() not in _SMALL]
    return (
        bool(big)
        and words[0][0].isupper()
        and all(word[0].isupper() or not word[0].isalpha() for word in big)
        and (sum(word[0].isalpha() for word in big) * 2 > len(big))
    )
