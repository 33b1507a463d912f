"""Queries for a category: its description, its rewordings, or a lawyer's vocabulary of such clauses.

The vocabulary (`vocabulary.yaml`) is written from the categories' names and drafting practice, and from no contract.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, TypeAdapter

from ovrag_core.base import CorpusError, Frozen, QuestionError
from ovrag_core.text import stems
from ovrag_studies.contract_review.settings import Wording

REWORDINGS = 3
_DETAILS = "Details: "


class CategoryWords(Frozen):
    """A lawyer's words for a category; `states` match sentences that say it outright, `denies` that it is not so."""

    place: Literal["anywhere", "beginning"] = "anywhere"
    headings: Annotated[tuple[str, ...], Field(min_length=1)]
    terms: Annotated[tuple[str, ...], Field(min_length=1)]
    clauses: Annotated[tuple[str, ...], Field(min_length=1)]
    rewordings: Annotated[tuple[str, ...], Field(min_length=REWORDINGS, max_length=REWORDINGS)]
    states: tuple[re.Pattern[str], ...] = ()
    denies: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkQuery:
    """Query of a retriever.

    `text` is the question as a person puts it. `texts` are compared with sentences and chunks; the most similar counts.
    `terms` are stems with weights. `beginning`: what is looked for stands at the start.
    """

    text: str
    texts: tuple[str, ...]
    terms: tuple[tuple[str, float], ...]
    beginning: bool = False


@cache
def vocabulary() -> Mapping[str, CategoryWords]:
    """The study's vocabulary by category."""
    read = yaml.safe_load(files(__package__).joinpath("vocabulary.yaml").read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, CategoryWords]).validate_python(read)


def known(category: str) -> CategoryWords:
    """The vocabulary of a category. Raises QuestionError for one that is not in the checklist."""
    words = vocabulary().get(category)
    if words is None:
        raise QuestionError(f"{category!r} is no category of the checklist; known are {', '.join(vocabulary())}")
    return words


def ask(text: str) -> ChunkQuery:
    """A question in free words. Raises QuestionError for a blank one."""
    if not text.strip():
        raise QuestionError("the question is empty; say what to look for")
    return ChunkQuery(text, (text,), tuple(Counter(stems(text)).items()))


@cache
def queries(category: str, wording: Wording, description: str | None = None) -> tuple[ChunkQuery, ...]:
    """Return what to search for a category, in that wording; rankings of several queries are to be joined.

    The data set's `description` stands before the first rewording. Raises QuestionError for an unknown category.
    """
    words = known(category)
    described = f"{category}: {description or words.rewordings[0]}"
    if wording != "vocabulary":
        return tuple(ask(text) for text in (described, *(words.rewordings if wording == "rewordings" else ())))
    counted = Counter(stem for text in (*words.clauses, *words.terms, *words.headings) for stem in stems(text))
    terms = tuple((stem, math.sqrt(count)) for stem, count in counted.items())
    return (ChunkQuery(f"{category}: {words.rewordings[0]}", words.clauses, terms, words.place == "beginning"),)


def titled(query: ChunkQuery, title: str) -> ChunkQuery:
    """The query behind a prefix that names the contract, as the thesis asks."""
    prefix = f"In the contract {title}: "
    terms = Counter(dict(query.terms))
    terms.update(stems(title))
    texts = tuple(prefix + text for text in query.texts)
    return replace(query, text=prefix + query.text, texts=texts, terms=tuple(terms.items()))


def read_descriptions(path: Path) -> dict[str, str]:
    """Descriptions by category from `categories.json` or `CUADv1.json` below `path`, if any. Raises CorpusError."""
    listed = sorted(path.rglob("categories.json")) if path.is_dir() else []
    originals = [*path.rglob("CUADv1.json"), *path.rglob("CUAD_v1.json")] if path.is_dir() else [path]
    for file in [*listed, *originals]:
        try:
            read = json.loads(file.read_text(encoding="utf-8-sig"))
            if file in listed:
                return {str(entry["category"]): str(entry["description"]) for entry in read}
            questions = read["data"][0]["paragraphs"][0]["qas"] if "data" in read else []
            described = {q["id"].rpartition("__")[2]: q["question"].partition(_DETAILS)[2] for q in questions}
            return {category: text for category, text in described.items() if text}
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            raise CorpusError(f"{file} does not list CUAD's categories; fetch it again") from None
    return {}
