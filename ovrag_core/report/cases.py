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
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from ovrag_core.base import Chunk, QueryRecord, Retrieved, Triple
from ovrag_core.evaluation import arms_of, cell, clashes_of, confusion, effort, miss_reason, source_frame, wrong_answers
from ovrag_core.runs import RUNS

CASES = Path("reports/cases")
CHUNKS = Path("data/index/chunks.jsonl")
MOST_PER_ARM = 5
KINDS = {  # with its heading and what it is
    "False positive": ("False positives", "Queries about contracts without a contradiction that were flagged."),
    "Wrong contract": ("Wrong contracts", "Accepted answers that are about other contracts than the asked one only."),
    "Missed clash": (
        "Missed clashes",
        "Queries about contracts with a contradiction that an arm which validates did not flag.",
    ),
    "Source finding": (
        "Source findings",
        "Contradictions of the contract itself that were reported with their passages.",
    ),
}
RULE = (
    "Rule: queries of an arm that got the same chunks for the same question share a page, on the first of them by "
    "contract. At most {most} pages an arm and kind: in turns, the next of each type of contradiction and, where there "
    "is none, of each question, in the order of contracts."
)
ELSEWHERE = "The run was recorded elsewhere; its cases are not quoted here."
MARKER = "<!-- Made by the pipeline; edits are lost. -->"


CAUSES = {
    "answer": "the answer contradicts the contract",
    "source": "the contract contradicts itself",
    "mixture": "statements of different contracts were mixed",
}


def folder_of(run: str, records: Sequence[QueryRecord]) -> Path:
    """Choose the folder of a run's pages: pages that quote a run recorded elsewhere stay beside it, out of git."""
    return RUNS / f"{run}.cases" if any(record.recorded for record in records) else CASES


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
    by_kind: dict[str, list[QueryRecord]] = {kind: [] for kind in KINDS}
    for record in confusion.ordered(records):
        where = cell(record)
        if where == "fp":
            by_kind["False positive"].append(record)
        elif record.outcome == "source_finding":
            by_kind["Source finding"].append(record)
        if where == "fn" and record.arm in judging:
            by_kind["Missed clash"].append(record)
        if (record.arm, record.document_id, record.question_id) in wrong:
            by_kind["Wrong contract"].append(record)
    return by_kind


def write_run_cases(run: str, records: Sequence[QueryRecord], chunks: Mapping[str, Chunk]) -> list[Path]:
    """The cases of a run as `write_cases` writes them, in the folder that is right for it.

    Where that is not the usual one, the usual one says so, and its page comes first: what a report shows of the pages
    is in git, and so may not be a page that quotes a run recorded elsewhere.
    """
    folder = folder_of(run, records)
    pages = write_cases(records, chunks, folder)
    if folder == CASES:
        return pages
    CASES.mkdir(parents=True, exist_ok=True)
    _remove_old(CASES)
    text = f"{MARKER}\n# Cases\n\n{ELSEWHERE} Their pages are in `{folder.as_posix()}`.\n"
    _write(CASES / "index.md", text)
    return [CASES / "index.md", *pages[:-1]]


def write_cases(
    records: Sequence[QueryRecord],
    chunks: Mapping[str, Chunk],
    folder: Path = CASES,
    most: int = MOST_PER_ARM,
) -> list[Path]:
    """Pages in Markdown on the chosen queries by the rule that the index states; their paths, the index last.

    Queries that got the same chunks for the same question tell the same story: the first by contract stands for them.
    At most `most` pages an arm and kind; pages of an earlier run are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_old(folder)
    lines, pages = [MARKER, "# Cases", "", RULE.format(most=most), ""], []
    for kind, of_kind in chosen(records).items():
        lines += [f"## {KINDS[kind][0]}", "", KINDS[kind][1], ""]
        for arm in arms_of(records):
            alike = _spread(_alike([record for record in of_kind if record.arm == arm]))
            if not alike:
                continue
            without = sum(map(len, alike[most:]))
            unshown = f"; {without} of them have no page" if without else ""
            lines += [f"### {escape(arm)}", "", f"{_plural(sum(map(len, alike)), 'query')}{unshown}.", ""]
            for group in alike[:most]:
                record, number = group[0], len(group)
                path = folder / f"{_file_name(kind, record)}.md"
                _write(path, case_page(record, chunks, kind=kind, alike=number))
                pages.append(path)
                name = f"{escape(record.document_id)}, {escape(record.question_id)}"
                lines.append(f"- [{name}]({path.name}), for {_plural(number, 'query')}: {escape(_summary(record))}")
            lines += [""]
    _write(folder / "index.md", "\n".join(lines).rstrip() + "\n")
    return [*pages, folder / "index.md"]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def case_page(record: QueryRecord, chunks: Mapping[str, Chunk], *, kind: str = "False positive", alike: int = 1) -> str:
    """The page of a query, which stands for `alike` queries with the same chunks, as Markdown.

    Chunks that `chunks` does not hold are shown without their text.
    """
    retrieved: dict[str, list[tuple[Retrieved, str]]] = {}
    for hit in record.retrieved:
        text = chunks[hit.chunk_id].text if hit.chunk_id in chunks else "(the text is not in the index at hand)"
        retrieved.setdefault(hit.document_id, []).append((hit, text))
    of_answer = _unique(record.attempts[-1].triples if record.attempts else ())
    triples = {"answer": of_answer, "context": _unique(record.context_triples)}
    clashes = clashes_of(record)
    answers = [attempt.answer.text for attempt in record.attempts]
    page = _template().render(
        marker=MARKER,
        kind=kind,
        summary=_summary(record),
        alike=alike,
        record=record,
        retrieved=retrieved,
        triples={"answer and the context, as recorded": of_answer} if record.recorded else triples,
        clashes=clashes,
        why=miss_reason(record) if cell(record) == "fn" else "",
        repeated={a.number for a, before in zip(record.attempts[1:], answers, strict=False) if a.answer.text == before},
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
    turn_of = []
    for group in groups:
        subject = group[0].clash_type or group[0].question_id
        turns[subject] += 1
        turn_of.append(turns[subject])
    return [groups[number] for number in sorted(range(len(groups)), key=turn_of.__getitem__)]


def _plural(count: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else many}"


@cache
def _template() -> Template:
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
        "rules": lambda attempt: ", ".join(sorted(effort.broken_rules(attempt))),
        "code": lambda text: text.replace("`", "'"),
        "words": lambda text: text.replace("_", " "),
    }
    return environment.get_template("case.md.j2")


def _remove_old(folder: Path) -> None:
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


def _unique(triples: Sequence[Triple]) -> list[Triple]:
    distinct: dict[tuple[str, ...], Triple] = {}
    for triple in triples:
        document = triple.evidence.document_id if triple.evidence else ""
        distinct.setdefault((triple.subject, triple.predicate, triple.object, document), triple)
    return list(distinct.values())


def _file_name(kind: str, record: QueryRecord) -> str:
    name = f"{kind.lower().replace(' ', '-')}_{record.arm}_{record.document_id}_{record.question_id}"
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
