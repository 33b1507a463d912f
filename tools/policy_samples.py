"""Make the samples of the policy study from their sources: PDFs and texts, paragraphs, queries, conflicts, snippets.

A document's source is a YAML head (`file`, `title`), a line `---`, and paragraphs divided by blank lines. The first
line of a paragraph is its key, `@h.leave`; a line `==` begins a page. A paragraph's lines are joined by blanks, so that
a heading on a line of its own begins the paragraph it stands over, as it does in text extracted from a PDF.

Queries, conflicts and snippets are YAML and speak of paragraphs by key; every quotation is checked against its
paragraph. `[[L1|...]]` marks a passage of a snippet.

Run from the project's folder: `python tools/policy_samples.py [FOLDER]`.
"""

import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import yaml
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

SAMPLES = Path("data/samples/policy")
DOCUMENTS = ("staff_handbook", "terms_update_2025", "vessel_safety_rules", "records_and_privacy_policy")
# What the queries are called in the data the study was published with, by what is expected of an answer.
CATEGORIES = {
    "answer": "answerable",
    "superseded": "contradiction",
    "unresolved": "contradiction",
    "abstain": "unanswerable",
}
MARK = re.compile(r"\[\[(L[1-6])\||\]\]")
BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=11, leading=15, spaceAfter=11, alignment=TA_LEFT)


class Block(NamedTuple):
    """A paragraph as it is written: its key, its lines, its page (from 1) and its number on it (from 0)."""

    key: str
    lines: tuple[str, ...]
    page: int
    index: int

    @property
    def text(self) -> str:
        """The lines joined."""
        return " ".join(self.lines)


class Source(NamedTuple):
    """A document as it is written."""

    doc_id: str
    file: str
    title: str
    blocks: tuple[Block, ...]


def read_source(path: Path) -> Source:
    """The document written at `path`."""
    head, _, body = path.read_text(encoding="utf-8").partition("\n---\n")
    described = yaml.safe_load(head)
    blocks = []
    for number, page in enumerate(body.split("\n==\n"), start=1):
        for index, paragraph in enumerate(page.strip().split("\n\n")):
            key, *lines = paragraph.strip().split("\n")
            if not key.startswith("@") or not lines:
                sys.exit(f"{path}: a paragraph begins without a key: {key[:60]!r}")
            blocks.append(Block(key[1:], tuple(lines), number, index))
    return Source(path.stem, described["file"], described["title"], tuple(blocks))


def paragraph_id(doc_id: str, block: Block) -> str:
    """The id of a paragraph in the published form: document, page, number on it, 12 hex digits of the text's hash."""
    return f"{doc_id}::p{block.page:04}::i{block.index:04}::{hashlib.sha256(block.text.encode()).hexdigest()[:12]}"


def set_pdf(source: Source) -> bytes:
    """The document as a PDF, one written page on a page; the bytes depend on the source alone."""
    story: list[Any] = []
    page = 1
    for block in source.blocks:
        if block.page != page:
            story.append(PageBreak())
            page = block.page
        story.append(Paragraph("<br/>".join(escape(line) for line in block.lines), BODY))
    stream = io.BytesIO()
    margins = dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), 25 * mm)
    SimpleDocTemplate(stream, pagesize=A4, title=source.title, author="", invariant=1, **margins).build(story)
    return stream.getvalue()


def set_text(source: Source) -> bytes:
    """The document as text, paragraphs divided by a blank line; a text has one page only."""
    if source.blocks[-1].page != 1:
        sys.exit(f"{source.doc_id} is a text and has pages")
    return ("\n\n".join("\n".join(block.lines) for block in source.blocks) + "\n").encode()


def paragraph_lines(sources: Iterable[Source]) -> Iterator[str]:
    """Every paragraph as the published corpus has it, a JSON object a line."""
    for source in sources:
        for block in source.blocks:
            record = {
                "doc_id": source.doc_id,
                "source_file": source.file,
                "page": block.page,
                "paragraph_index": block.index,
                "paragraph_id": paragraph_id(source.doc_id, block),
                "text": block.text,
                "char_len": len(block.text),
            }
            yield json.dumps(record, ensure_ascii=False)


class Paragraphs:
    """The paragraphs by key."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.ids: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        for source in sources:
            for block in source.blocks:
                if block.key in self.ids:
                    sys.exit(f"two paragraphs have the key {block.key}")
                self.ids[block.key] = paragraph_id(source.doc_id, block)
                self.texts[block.key] = block.text

    def checked(self, key: str, quote: str) -> tuple[str, str]:
        """The paragraph's id and the quotation, which must stand in it."""
        if quote not in self.texts[key]:
            sys.exit(f"{key} does not hold: {quote}")
        return self.ids[key], quote


def query_rows(queries: Iterable[Mapping[str, Any]], paragraphs: Paragraphs) -> Iterator[dict[str, str]]:
    """The golden set, in the columns of the audited one and `gold_quote`."""
    for number, query in enumerate(queries, start=1):
        gold = [paragraphs.ids[key] for key in query["gold"]]
        if gold:
            paragraphs.checked(query["gold"][0], query["quote"])
        yield {
            "query_id": f"q_{number:03}",
            "question": query["question"],
            "category": CATEGORIES[query["expected"]],
            "split": query["split"],
            "gold_doc_ids": ",".join(dict.fromkeys(each.partition("::")[0] for each in gold)),
            "gold_paragraph_ids": ",".join(gold),
            "notes": query.get("notes", ""),
            "expected": query["expected"],
            "gold_quote": query.get("quote", ""),
        }


def as_csv(rows: Iterable[Mapping[str, str]]) -> bytes:
    """Rows with their names as CSV."""
    listed = list(rows)
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(listed[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    return stream.getvalue().encode()


def pair_lines(pairs: Mapping[str, Any], paragraphs: Paragraphs) -> Iterator[str]:
    """Conflicting pairs and pairs that only look alike, a JSON object a line."""
    clause, clause_quote = paragraphs.checked(pairs["clause"]["paragraph"], pairs["clause"]["quote"])
    for label in ("conflict", "lookalike"):
        for number, pair in enumerate(pairs[f"{label}s"], start=1):
            first, first_quote = paragraphs.checked(pair["first"], pair["first_quote"])
            second, second_quote = paragraphs.checked(pair["second"], pair["second_quote"])
            record = {"pair_id": f"{label[0]}_{number:03}", "label": label, "kind": pair.get("kind")}
            record |= {"first": first, "first_quote": first_quote, "second": second, "second_quote": second_quote}
            if label == "conflict":
                prevails = pair.get("prevails")
                record |= {"status": "superseded" if prevails else "unresolved", "prevails": prevails}
                record |= {"clause": clause if prevails else None, "clause_quote": clause_quote if prevails else None}
            else:
                record |= {"why": pair["why"]}
            yield json.dumps(record, ensure_ascii=False)


def snippet_lines(snippets: Iterable[str], first: int) -> Iterator[str]:
    """Snippets in the published form, with the marked spans beside their labels."""
    for number, marked in enumerate(snippets, start=first):
        text, spans = unmark(marked)
        labels = sorted({span["label"] for span in spans})
        record = {"snippet_id": f"s_{number:04}", "source": "sample", "text": text, "labels": labels, "spans": spans}
        yield json.dumps(record, ensure_ascii=False)


def unmark(marked: str) -> tuple[str, list[dict[str, Any]]]:
    """The text without its marks, and the marked spans in order."""
    text, last = "", 0
    opened: list[tuple[str, int]] = []
    spans: list[dict[str, Any]] = []
    for mark in MARK.finditer(marked):
        text += marked[last : mark.start()]
        last = mark.end()
        if mark[1]:
            opened.append((mark[1], len(text)))
        else:
            label, start = opened.pop()
            spans.append({"label": label, "start": start, "end": len(text)})
    if opened:
        sys.exit(f"a mark is not closed: {marked}")
    return text + marked[last:], sorted(spans, key=lambda span: (span["start"], span["label"]))


def files(source: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file that is made from the sources, by its path below the folder of samples."""
    sources = [read_source(source / f"{name}.txt") for name in DOCUMENTS]
    paragraphs = Paragraphs(sources)
    manifest = []
    for each in sources:
        content = set_pdf(each) if each.file.endswith(".pdf") else set_text(each)
        pages = str(each.blocks[-1].page)
        digest = hashlib.sha256(content).hexdigest()
        manifest.append({"doc_id": each.doc_id, "source_file": each.file, "sha256": digest, "pages": pages})
        yield Path("corpus/raw") / each.file, content
    yield Path("corpus/manifests/corpus_manifest.csv"), as_csv(manifest)
    yield Path("corpus/processed/paragraphs.jsonl"), joined(paragraph_lines(sources))
    rows = list(query_rows(read_yaml(source / "queries.yaml"), paragraphs))
    published = [{name: value for name, value in row.items() if name not in ("expected", "gold_quote")} for row in rows]
    yield Path("golden_set/golden_set.csv"), as_csv(published)
    yield Path("golden_set/golden_set_audited.csv"), as_csv(rows)
    yield Path("conflicts/pairs.jsonl"), joined(pair_lines(read_yaml(source / "conflicts.yaml"), paragraphs))
    snippets = read_yaml(source / "snippets.yaml")
    for kind, first in (("neutral", 1), ("manipulated", 1001)):
        yield Path(f"critic/{kind}/critic_snippets.jsonl"), joined(snippet_lines(snippets[kind], first))


def read_yaml(path: Path) -> Any:
    """What a YAML file holds."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def joined(lines: Iterable[str]) -> bytes:
    """Lines as a file."""
    return "".join(f"{line}\n" for line in lines).encode()


def main() -> None:
    """Write the samples."""
    samples = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    for path, content in files(SAMPLES / "source"):
        (samples / path).parent.mkdir(parents=True, exist_ok=True)
        (samples / path).write_bytes(content)


if __name__ == "__main__":
    main()
