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
        for paragraph in _parts(text):
            if len(paragraph) > SHORTEST:
                page, index = (page, index + 1) if number == page else (number, 0)
                yield Cut(page, index, paragraph)


def _blocks(document: Document) -> Iterator[tuple[int, str]]:
    """Each block in one line, with the page that it begins on."""
    for block in _BLOCK.finditer(document.text):
        yield document.page_at(block.start()) or 1, " ".join(block.group().split())


def _headed(blocks: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Headings joined with the block that they stand over, on the same page; a title stands over the whole document."""
    heading: tuple[int, str] | None = None
    for index, (page, block) in enumerate(blocks):
        if index == 0 and block[0].isalpha():
            yield page, block
            continue
        if heading and heading[0] != page:
            yield heading
            heading = None
        text = f"{heading[1]} {block}" if heading else block
        if len(text) <= HEADING and _HEADING.fullmatch(text):
            heading = (page, text)
        else:
            heading = None
            yield page, text
    if heading:
        yield heading


def _parts(text: str) -> Iterator[str]:
    if len(text) <= LONGEST:
        yield text
        return
    start = end = 0
    for sentence_start, sentence_end in find_passages(text):
        if end > start and sentence_end - start > LONGEST:
            yield text[start:end]
            start = sentence_start
        end = sentence_end
    yield text[start:].strip()
