"""Documents cut into paragraphs: blocks between empty lines, a heading with what it stands over, long ones cut.

The paragraphs are those of Policy Copilot's ingest (COMP3931, University of Leeds, 2026), from pages in reading order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ovrag_core.base import Document
from ovrag_core.documents import load, scanned_pages
from ovrag_core.text import find_passages

SHORTEST = 20  # characters: what is no longer says nothing by itself
LONGEST = 400  # characters, from which a paragraph is cut at the ends of sentences
HEADING = 80  # characters that a heading has at most

_BLOCK = re.compile(r"\S(?:.|\n(?!\s*\n))*")
_HEADING = re.compile(r"(?:[A-Z(]|\d+(?:\.\d+)*[.)]?\s+[A-Z]).*[^\s.;,!?:]")


class Cut(NamedTuple):
    """A paragraph: its page, from 1, its number on that page, from 0, and its text in one line."""

    page: int
    number: int
    text: str


class Paragraphs(NamedTuple):
    """The paragraphs of a document in order, and pages of it that are images without text."""

    cuts: tuple[Cut, ...]
    scanned: tuple[int, ...]


def read_paragraphs(path: Path) -> Paragraphs:
    """The paragraphs of a PDF, text, HTML or DOCX file; formats without pages have one.

    Raises DocumentError, naming the file, for one that is encrypted, empty, scanned or damaged.
    """
    document = load(path)
    blank = [page.number for page in document.pages if not document.text[page.start : page.end].strip()]
    return Paragraphs(tuple(cut(document)), tuple(scanned_pages(path.read_bytes(), blank) if blank else ()))


def cut(document: Document) -> Iterator[Cut]:
    """The paragraphs of a document in order."""
    page, index = 0, 0
    for number, text in _headed(_blocks(document)):
        for part in _parts(text):
            if len(part) > SHORTEST:
                page, index = (page, index + 1) if number == page else (number, 0)
                yield Cut(page, index, part)


def _blocks(document: Document) -> Iterator[tuple[int, str]]:
    """Each block in one line, with the page that it begins on."""
    for block in _BLOCK.finditer(document.text):
        yield document.page_at(block.start()) or 1, " ".join(block.group().split())


def _headed(blocks: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Headings joined with the block that they stand over, on the same page; a title stands over the whole document."""
    held: tuple[int, str] | None = None
    for place, (page, block) in enumerate(blocks):
        if place == 0 and block[0].isalpha():
            yield page, block
            continue
        if held and held[0] != page:
            yield held
            held = None
        text = f"{held[1]} {block}" if held else block
        if len(text) <= HEADING and _HEADING.fullmatch(text):
            held = (page, text)
        else:
            held = None
            yield page, text
    if held:
        yield held


def _parts(text: str) -> Iterator[str]:
    if len(text) <= LONGEST:
        yield text
        return
    start = end = 0
    for first, last in find_passages(text):
        if end > start and last - start > LONGEST:
            yield text[start:end]
            start = first
        end = last
    yield text[start:].strip()
