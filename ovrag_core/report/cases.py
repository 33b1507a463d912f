"""One page per case: what was asked, retrieved, answered and read, each attempt, and why it was refused, in words.

Contract text is untrusted: it stands in fenced blocks whose fence is longer than any in the text, or escaped.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ovrag_core.base import Attempt, Chunk, QueryRecord, ResultError, Retrieved, write_text
from ovrag_core.evaluation import (
    arms_of,
    cell,
    clashes_of,
    confusion,
    miss_reason,
    source_frame,
    statements,
    wrong_answers,
)
from ovrag_core.loop import CAUSES
from ovrag_core.runs import RUNS

CASES = Path("reports/cases")
CHUNKS = Path("data/index/chunks.jsonl")
MOST_PER_ARM = 5
ELSEWHERE = "The run was recorded elsewhere; its cases are not quoted here."
MARKER = "<!-- Made by the pipeline; edits are lost. -->"


def read_chunks(path: Path = CHUNKS) -> dict[str, Chunk]:
    """The chunks of an index by id; empty where there is no such file."""
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    chunks = [Chunk(**json.loads(line)) for line in lines if line.strip()]
    return {chunk.id: chunk for chunk in chunks}


def chosen(records: Sequence[QueryRecord]) -> dict[str, list[QueryRecord]]:
    """The queries that cases are chosen from, by kind, in the order of arms, contracts and questions.

    Missed are contradictions that an arm which validates did not flag; an accepted answer is about the wrong contract
    where it is about others only.
    """
    wrong = wrong_answers(source_frame(records)).set_index(["arm", "document_id", "question_id"]).index
    judging = {record.arm for record in records if any(attempt.verdict for attempt in record.attempts)}
    placed = [(record, cell(record)) for record in confusion.ordered(records)]
    return {
        "False positive": [r for r, where in placed if where == "fp"],
        "Wrong contract": [r for r, _ in placed if (r.arm, r.document_id, r.question_id) in wrong],
        "Missed clash": [r for r, where in placed if where == "fn" and r.arm in judging],
        "Source finding": [r for r, where in placed if r.outcome == "source_finding" and where != "fp"],
    }


def write_run_cases(run: str, records: Sequence[QueryRecord], chunks: Mapping[str, Chunk]) -> list[Path]:
    """The cases of a run as `write_cases` writes them, those of a run recorded elsewhere beside it, out of git.

    Then the usual folder says so, and its page comes first: what a report shows of the pages is in git, and so may not
    be a page that quotes a run recorded elsewhere.
    """
    if not any(record.recorded for record in records):
        return write_cases(records, chunks, CASES)
    folder = RUNS / f"{run}.cases"
    pages = write_cases(records, chunks, folder)
    _cleared(CASES)
    text = f"{MARKER}\n# Cases\n\n{ELSEWHERE} Their pages are in `{folder.as_posix()}`.\n"
    write_text(text, CASES / "index.md", ResultError)
    return [CASES / "index.md", *pages[:-1]]


def write_cases(
    records: Sequence[QueryRecord], chunks: Mapping[str, Chunk], folder: Path, most: int = MOST_PER_ARM
) -> list[Path]:
    """Pages in Markdown on the chosen queries by the rule that the index states; their paths, the index last.

    Queries that got the same chunks for the same question tell the same story: the first by contract stands for them.
    At most `most` pages an arm and kind; pages of an earlier run are removed.
    """
    _cleared(folder)
    cases = {
        kind: {arm: _spread(_alike([record for record in of_kind if record.arm == arm])) for arm in arms_of(records)}
        for kind, of_kind in chosen(records).items()
    }
    pages = []
    for kind, by_arm in cases.items():
        for group in (group for groups in by_arm.values() for group in groups[:most]):
            pages.append(folder / _file_name(group[0], kind))
            write_text(case_page(group[0], chunks, kind=kind, alike=len(group)), pages[-1], ResultError)
    index = _templates().get_template("cases.md.j2").render(marker=MARKER, cases=cases, most=most)
    write_text(_tidied(index), folder / "index.md", ResultError)
    return [*pages, folder / "index.md"]


def case_page(record: QueryRecord, chunks: Mapping[str, Chunk], *, kind: str = "False positive", alike: int = 1) -> str:
    """The page of a query, which stands for `alike` queries with the same chunks, as Markdown.

    Chunks that `chunks` does not hold are shown without their text.
    """
    retrieved: dict[str, list[tuple[Retrieved, str]]] = {}
    for hit in record.retrieved:
        text = chunks[hit.chunk_id].text if hit.chunk_id in chunks else "(the text is not in the index at hand)"
        retrieved.setdefault(hit.document_id, []).append((hit, text))
    origins = {"recorded": "answer and the context, as recorded"} if record.recorded else {"answer": "", "context": ""}
    said = statements.statements_of(record)
    triples = {
        name or origin: [statement.triple for statement in said if statement.origin == origin]
        for origin, name in origins.items()
    }
    pairs = pairwise(record.attempts)
    template = _templates().get_template("case.md.j2")
    page = template.render(
        marker=MARKER,
        kind=kind,
        summary=_summary(record),
        alike=alike,
        record=record,
        retrieved=retrieved,
        triples=triples,
        clashes=clashes_of(record),
        why=miss_reason(record) if cell(record) == "fn" else "",
        repeated={later.number for before, later in pairs if later.answer.text == before.answer.text},
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
        got = [hit.chunk_id for hit in record.retrieved] or [record.document_id]  # unknown chunks are not the same
        groups.setdefault((record.question_id, *got), []).append(record)
    return list(groups.values())


def _spread(groups: Sequence[list[QueryRecord]]) -> list[list[QueryRecord]]:
    """The groups in turns: the first of each type of contradiction (or question), then the second of each, …"""
    turns: Counter[str] = Counter()

    def turn(group: list[QueryRecord]) -> int:
        subject = group[0].clash_type or group[0].question_id
        turns[subject] += 1
        return turns[subject]

    return sorted(groups, key=turn)


def _plural(count: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else many}"


def _broken_rules(attempt: Attempt) -> str:
    """The rules of the clashes that an attempt was judged to have."""
    violations = attempt.verdict.violations if attempt.verdict else ()
    return ", ".join(sorted({violation.rule for violation in violations if violation.severity == "clash"}))


@cache
def _templates() -> Environment:
    environment = Environment(  # filters escape
        loader=PackageLoader("ovrag_core.report", "."),
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "md": escape,
        "fence": fence,
        "short": short,
        "rules": _broken_rules,
        "summary": _summary,
        "plural": _plural,
        "file_name": _file_name,
        "code": lambda text: text.replace("`", "'"),
        "words": lambda text: text.replace("_", " "),
    }
    return environment


def _cleared(folder: Path) -> None:
    """Make the folder where it is not there, and remove the pages of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("*.md")):
        if old.read_text(encoding="utf-8").startswith(MARKER):
            old.unlink()


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
    """Sum up what happened, in a sentence or two made from the record."""
    count = record.attempt_count
    done = {"hard_rejected": "refused", "source_finding": "answered with a finding"}.get(record.outcome, record.outcome)
    foreign_ids = sorted({hit.document_id for hit in record.retrieved} - {record.document_id})
    foreign = sum(hit.document_id != record.document_id for hit in record.retrieved)
    where = f"{foreign} of {len(record.retrieved)} retrieved chunks are of other contracts ({', '.join(foreign_ids)})"
    chunks = where if foreign_ids else "all retrieved chunks are of the asked contract"
    rules = ", ".join(sorted({violation.rule for violation in clashes_of(record)}))
    if record.recorded:  # elsewhere
        chunks, rules = "the run does not say which chunks were retrieved", rules or "reasons that were not recorded"
    rules = rules or "no rule"
    expected = {"CLEAN": "holds no contradiction", "CLASH": "holds a contradiction"}.get(
        record.label or "", "has no label"
    )
    reason = f" for {rules}" if record.flagged else ""
    return f"The contract {expected}; the query was {done} after {_plural(count, 'attempt')}{reason}, and {chunks}."


def _file_name(record: QueryRecord, kind: str) -> str:
    name = f"{kind.lower().replace(' ', '-')}_{record.arm}_{record.document_id}_{record.question_id}"
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    return f"{safe}.md" if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}.md"
