"""Documents with labelled queries and pairs of rules, a YAML file each, as in `training/cited/calibration`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ovrag_core.base import Frozen, QuestionError, fault, read_yaml
from ovrag_core.text import one_line
from ovrag_studies.cited.corpus.golden import Category
from ovrag_studies.cited.corpus.policies import FileParagraph, PolicyCorpus, assemble

REMEDY = "its form is described in training/cited/calibration/README.md"


class LabelledQuery(Frozen):
    """A query; `gold` are numbers from 1 of the paragraphs that answer it, each by itself or, in a contradiction, the
    sides. `quotes` are words of theirs that answer, `prevails` is the paragraph that a clause lets prevail.
    """

    question: str
    category: Category
    gold: tuple[int, ...] = ()
    quotes: tuple[str, ...] = ()
    expected: Literal["superseded", "unresolved", ""] = ""
    prevails: int | None = None


class LabelledPair(Frozen):
    """Sentences of two paragraphs that conflict or only look so, and in what they differ."""

    label: Literal["conflict", "lookalike"]
    kind: str
    paragraphs: tuple[int, int]
    first: str
    second: str


class LabelledDocument(Frozen):
    """A document of one kind of prose, its queries and pairs."""

    title: str
    kind: str
    paragraphs: tuple[str, ...]
    queries: tuple[LabelledQuery, ...]
    pairs: tuple[LabelledPair, ...]

    def corpus(self, name: str) -> PolicyCorpus:
        """The document alone; the title is a paragraph too, so that paragraph `n` is its row `n`."""
        return corpus_of(name, (self.title, *self.paragraphs))


def corpus_of(name: str, texts: Iterable[str]) -> PolicyCorpus:
    """The corpus of one document that is given by its paragraphs."""
    read = [FileParagraph(name, f"{name}.txt", 1, row, text) for row, text in enumerate(texts)]
    return assemble(read, {name: "0" * 64})


def read_labelled(path: Path) -> LabelledDocument:
    """The document in a file. Raises QuestionError for what is none, and for labels that contradict its text."""
    try:
        read = LabelledDocument.model_validate(read_yaml(path, QuestionError, REMEDY))
    except ValidationError as error:
        raise QuestionError(f"{path}: {fault(error)}; {REMEDY}") from None
    paragraphs = tuple(" ".join(text.split()) for text in read.paragraphs)
    document = read.model_copy(update={"paragraphs": paragraphs})
    if problem := next(_problems(document), None):
        raise QuestionError(f"{path}: {problem}; {REMEDY}")
    return document


def _problems(document: LabelledDocument) -> Iterator[str]:
    for query in document.queries:
        subject = f"the query {one_line(query.question, 60)!r}"
        if any(not 1 <= number <= len(document.paragraphs) for number in query.gold):
            yield f"{subject} names a paragraph that is not there"
        elif len(query.gold) < {"answerable": 1, "contradiction": 2}.get(query.category, 0):
            yield f"{subject} is {query.category} and names too few paragraphs"
        elif query.category == "unanswerable" and query.gold:
            yield f"{subject} is unanswerable and names a paragraph that answers it"
        elif (query.expected == "superseded") != (query.prevails is not None):
            yield f"{subject} must say which paragraph prevails where it is superseded, and only there"
        for quote in query.quotes:
            if not any(_holds(document.paragraphs[number - 1], quote) for number in query.gold):
                yield f"{subject} quotes {one_line(quote, 60)!r}, which none of its paragraphs holds"
    for pair in document.pairs:
        for number, quote in zip(pair.paragraphs, (pair.first, pair.second), strict=True):
            if not 1 <= number <= len(document.paragraphs) or not _holds(document.paragraphs[number - 1], quote):
                yield f"paragraph {number} does not hold {one_line(quote, 60)!r}"


def _holds(paragraph: str, quote: str) -> bool:
    return " ".join(quote.split()) in paragraph
