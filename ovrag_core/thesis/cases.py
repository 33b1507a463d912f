"""One page per case: what was asked, retrieved, answered and read, each attempt, and why it was refused, in words.

Contract text is untrusted: it stands in fenced blocks whose fence is longer than any in the text, or escaped.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ovrag_core.errors import RunError
from ovrag_core.evaluation.confusion import arms_of
from ovrag_core.evaluation.contamination import clashes_of, false_positives
from ovrag_core.types import Attempt, Chunk, QueryRecord, Retrieved, Triple

CASES = Path("reports/cases")
CHUNKS = Path("data/index/chunks.jsonl")
MOST_PER_ARM = 12
MARKER = "<!-- Made by the pipeline; edits are lost. -->"
CAUSES = {
    "answer": "the answer contradicts the contract",
    "source": "the contract contradicts itself",
    "mixture": "statements of different contracts were mixed",
}


def read_chunks(path: Path = CHUNKS) -> dict[str, Chunk]:
    """The chunks of an index by id; empty where there is no such file. Raises RunError for a broken line."""
    if not path.exists():
        return {}
    chunks: dict[str, Chunk] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            chunk = Chunk(**json.loads(line))
        except (ValueError, TypeError):
            raise RunError(f"{path} line {number} is not a chunk; build the index again") from None
        chunks[chunk.id] = chunk
    return chunks


def write_cases(
    records: Sequence[QueryRecord],
    chunks: Mapping[str, Chunk],
    folder: Path = CASES,
    most: int = MOST_PER_ARM,
) -> list[Path]:
    """Pages on false positives by the rule that the index states, and the index, whose path comes last.

    Queries that got the same chunks for the same question tell the same story: the first by contract stands for them.
    At most `most` pages an arm; pages of an earlier run are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("*.md")):
        if old.read_text(encoding="utf-8").startswith(MARKER):
            old.unlink()
    rule = (
        f"Rule: false positives of an arm that got the same chunks for the same question share a page, on the first of "
        f"them by contract; at most {most} pages an arm, in the order of contracts and questions."
    )
    lines, paths = [MARKER, "# False positives", "", rule, ""], []
    for arm in arms_of(records):
        alike = _alike([record for record in false_positives(records) if record.arm == arm])
        lines += [f"## {escape(arm)}", "", _count_line(alike, most), ""]
        for group in alike[:most]:
            path = folder / f"{_file_name(group[0])}.md"
            path.write_text(case_page(group[0], chunks, alike=len(group)), encoding="utf-8", newline="\n")
            paths.append(path)
            name = f"{escape(group[0].document_id)}, {escape(group[0].question_id)}"
            lines.append(f"- [{name}]({path.name}), for {_plural(len(group), 'query')}: {_summary(group[0])}")
        lines += [""] if alike else []
    index = folder / "index.md"
    index.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8", newline="\n")
    return [*paths, index]


def case_page(record: QueryRecord, chunks: Mapping[str, Chunk], *, kind: str = "False positive", alike: int = 1) -> str:
    """The Markdown page of a query, which stands for `alike` queries with the same chunks.

    Chunks that `chunks` does not hold are shown without their text.
    """
    retrieved: dict[str, list[tuple[Retrieved, str]]] = {}
    for hit in record.retrieved:
        text = chunks[hit.chunk_id].text if hit.chunk_id in chunks else "(the text is not in the index at hand)"
        retrieved.setdefault(hit.document_id, []).append((hit, text))
    answer_triples = record.attempts[-1].triples if record.attempts else ()
    template = _environment().get_template("case.md.j2")
    page = template.render(
        marker=MARKER,
        title=f"{kind}: {escape(record.document_id)}, {escape(record.question_id)}, arm {escape(record.arm)}",
        summary=_summary(record),
        alike=alike,
        record=record,
        retrieved=retrieved,
        triples=(
            {"answer and the context, as recorded": _unique(answer_triples)}
            if record.recorded
            else {"answer": _unique(answer_triples), "context": _unique(record.context_triples)}
        ),
        clashes=clashes_of(record),
        repeated=_repeated(record),
        causes=CAUSES,
    )
    return _tidied(page)


def escape(text: str) -> str:
    """Text that Markdown shows as it stands, on one line; HTML in it is shown, not run."""
    flat = html.escape(re.sub(r"\s+", " ", text).strip(), quote=False)
    marked = re.sub(r"([\\`*\[\]|#~])", r"\\\1", flat)
    return re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", marked)  # inside a word it marks nothing


def fence(text: str) -> str:
    """Text in a fenced block whose fence does not occur in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}text\n{text}\n{marks}"


def short(text: str, most: int = 160) -> str:
    """The text on one line, cut at a word where it is longer than `most` characters."""
    flat = re.sub(r"\s+", " ", text).strip()
    return flat if len(flat) <= most else flat[:most].rsplit(" ", 1)[0] + " …"


def _alike(records: Sequence[QueryRecord]) -> list[list[QueryRecord]]:
    """Records in groups of the same question and the same chunks, in the order of their firsts."""
    groups: dict[tuple[str, ...], list[QueryRecord]] = {}
    for record in records:
        groups.setdefault((record.question_id, *(hit.chunk_id for hit in record.retrieved)), []).append(record)
    return list(groups.values())


def _count_line(alike: Sequence[Sequence[QueryRecord]], most: int) -> str:
    count = sum(map(len, alike))
    without = sum(map(len, alike[most:]))
    rest = f"; {without} of them have no page" if without else ""
    return f"{_plural(count, 'false positive')}{rest}."


def _plural(count: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else many}"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ovrag_core.thesis", "."),
        trim_blocks=False,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # Markdown: the filters escape
    )
    environment.filters |= {
        "md": escape,
        "fence": fence,
        "short": short,
        "rules": _rules,
        "code": lambda text: text.replace("`", "'"),
        "words": lambda text: text.replace("_", " "),
    }
    return environment


def _tidied(page: str) -> str:
    """The page with single blank lines, fenced text left alone."""
    lines: list[str] = []
    marks = ""
    for line in page.rstrip().split("\n"):
        if marks or line.strip() or (lines and lines[-1].strip()):
            lines.append(line)
        if opened := re.match(r"`{3,}", line):
            marks = "" if line == marks else marks or opened.group()
    return "\n".join(lines) + "\n"


def _summary(record: QueryRecord) -> str:
    """What happened, in a sentence or two made from the record."""
    count = record.attempt_count
    done = {"hard_rejected": "refused", "source_finding": "reported as contradicting itself"}.get(
        record.outcome, record.outcome
    )
    others = sorted({hit.document_id for hit in record.retrieved} - {record.document_id})
    foreign = sum(hit.document_id != record.document_id for hit in record.retrieved)
    where = f"{foreign} of {len(record.retrieved)} retrieved chunks are of other contracts ({', '.join(others)})"
    chunks = where if others else "all retrieved chunks are of the asked contract"
    rules = ", ".join(sorted({violation.rule for violation in clashes_of(record)}))
    if record.recorded:  # elsewhere
        chunks, rules = "the run does not say which chunks were retrieved", rules or "reasons that were not recorded"
    rules = rules or "no rule"
    expected = {"CLEAN": "holds no contradiction", "CLASH": "holds a contradiction"}.get(
        record.label or "", "has no label"
    )
    return escape(
        f"The contract {expected}; the query was {done} after {_plural(count, 'attempt')} for {rules}, and {chunks}."
    )


def _rules(attempt: Attempt) -> str:
    if attempt.verdict is None:
        return ""
    return ", ".join(sorted({v.rule for v in attempt.verdict.violations if v.severity == "clash"}))


def _repeated(record: QueryRecord) -> set[int]:
    """Numbers of the attempts whose answer is that of the attempt before."""
    pairs = zip(record.attempts, record.attempts[1:], strict=False)
    return {later.number for earlier, later in pairs if earlier.answer.text == later.answer.text}


def _unique(triples: Sequence[Triple]) -> list[Triple]:
    first: dict[tuple[str, ...], Triple] = {}
    for triple in triples:
        document = triple.evidence.document_id if triple.evidence else ""
        first.setdefault((triple.subject, triple.predicate, triple.object, document), triple)
    return list(first.values())


def _file_name(record: QueryRecord) -> str:
    name = f"{record.arm}_{record.document_id}_{record.question_id}"
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
