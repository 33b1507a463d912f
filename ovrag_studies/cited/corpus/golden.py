"""Golden sets: queries with the paragraphs that answer them, and what is expected, in the published columns."""

import csv
import difflib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ovrag_core.base import QuestionError
from ovrag_core.text import one_line
from ovrag_studies.cited.corpus.policies import PolicyCorpus, require_known

Category = Literal["answerable", "unanswerable", "contradiction"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
COLUMNS = ("query_id", "question", "category", "gold_paragraph_ids")
READ_COLUMNS = (*COLUMNS, "split", "expected", "gold_quote")  # the last three where they are there


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """A query: `gold` are ids of paragraphs that answer it by themselves, none where the corpus is silent.

    `expected` (answer, superseded, unresolved, abstain) and `quote`, words that answer, are empty where a golden set
    does not say.
    """

    query_id: str
    question: str
    category: Category
    split: str = ""
    gold: tuple[str, ...] = ()
    expected: str = ""
    quote: str = ""

    @property
    def answerable(self) -> bool:
        """Return True where it is right to answer."""
        return self.category != "unanswerable"


def read_golden(path: Path, corpus: PolicyCorpus | None = None) -> list[GoldenQuery]:
    """Return the queries of a CSV, whose gold paragraphs must stand in the corpus where one is given.

    Raises QuestionError with file, row and column, and CorpusError with the list of paragraphs that are not there.
    """
    queries = [_query(path, number, row) for number, row in enumerate(_rows(path), 2)]
    if repeated := [name for name, times in Counter(query.query_id for query in queries).items() if times > 1]:
        raise QuestionError(f"{path} has the query {one_line(repeated[0], 80)} more than once; keep one of the rows")
    if corpus:
        require_known((name for query in queries for name in query.gold), corpus, str(path))
    return queries


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV that has the columns of golden sets, and none that is spelt almost like one."""
    needed = ", ".join(COLUMNS)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, restval=""))
    except (OSError, UnicodeDecodeError, csv.Error):
        raise QuestionError(f"{path} cannot be read; a golden set is a CSV in UTF-8 with {needed}") from None
    if missing := [name for name in COLUMNS if name not in (rows[0] if rows else {})]:
        raise QuestionError(f"{path} lacks the column {missing[0]} or has no rows; it needs {needed}")
    for name in filter(None, rows[0].keys() - set(READ_COLUMNS)):
        if near := difflib.get_close_matches(name, READ_COLUMNS, n=1, cutoff=0.85):
            raise QuestionError(f"{path} has a column {one_line(name, 40)}, which is not read; call it {near[0]}")
    return rows


def _query(path: Path, number: int, row: dict[str, str]) -> GoldenQuery:
    query_id, question, stated, ids, split, expected, quote = (row.get(name, "").strip() for name in READ_COLUMNS)
    category = next((name for name in CATEGORIES if name == stated), None)
    if category is None:
        known = ", ".join(CATEGORIES)
        raise QuestionError(f"{path}, row {number}: category {one_line(stated, 40)!r} is none of {known}")
    if not query_id or not question:
        raise QuestionError(f"{path}, row {number}: query_id and question must not be empty")
    # A note such as "none" may stand in place of ids; an id names its document before two colons.
    gold = tuple(dict.fromkeys(name.strip() for name in ids.split(",") if "::" in name))
    return GoldenQuery(query_id, question, category, split, gold, expected, quote)
