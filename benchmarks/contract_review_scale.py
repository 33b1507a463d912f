"""What contract review costs: seconds and memory of indexing and searching, as one table.

    python benchmarks/contract_review_scale.py [--only queries|indexing|large] [--contracts 510]

queries   each fifth question of the checklist asked of every contract of CUAD below `OVRAG_EXTERNAL_DATA`, in one
          process, the work that the first question of a contract costs counted with that question
indexing  `ovrag contract-review index` on the same contracts, cold and again, in a folder with no cache
large     the same on as many contracts as CUAD has, then `run retrieval` with all their questions

The large set is made of the contracts at hand, under new titles and in the layout of CUAD_v1: each tenth word of four
or more letters gets another last letter, so that no two contracts and few sentences are the same and nothing that is
kept by its text is found again; 7% are several contracts in a row, 150,000 to 390,000 characters, since those at hand
leave CUAD's longest out. It says nothing of quality. Commands are measured from start to end, with their imports:
clock, processor time and the peak of memory of the process and all that it starts (resident, so that shared pages
count twice). On a machine that does other work the clock says little.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy
import psutil

from ovrag_core.base import external_data
from ovrag_core.retrieval import minilm
from ovrag_studies.contract_review.retrieval.expansion import Wording, queries, read_descriptions, titled
from ovrag_studies.contract_review.retrieval.retrievers import search, shelve
from ovrag_studies.contract_review.texts.datasets import Contract, load_cuad

ASKED: tuple[tuple[str, Wording], ...] = (
    ("blend", "vocabulary"),
    ("blend", "description"),
    ("minilm", "description"),
    ("bm25", "description"),
)
LONG, LONGEST, SHORTEST = 0.07, 340_000, 150_000  # share and characters of the long ones
WORD = re.compile(r"\b[A-Za-z]{3,}[a-z]\b")
EVERY = 10
PAUSE = 0.1  # seconds between two looks at memory
COLUMNS = ("what", "n", "clock", "processor", "peak", "asked")


class Cost(NamedTuple):
    """Seconds on the clock and of all processors, and bytes."""

    clock: float
    processor: float
    peak: int


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", choices=["queries", "indexing", "large"])
    options.add_argument("--contracts", type=int, default=510, help="size of the large set")
    options.add_argument("--data", type=Path, default=external_data("contract_review", "cuad"))
    given = options.parse_args()
    contracts = load_cuad(given.data)
    show(COLUMNS)
    if given.only in {None, "queries"}:
        show_queries(given.data, contracts)
    if given.only in {None, "indexing"}:
        show_indexing(given.data.resolve(), len(contracts))
    if given.only in {None, "large"}:
        show_large(contracts, given.contracts)


def show_queries(data: Path, contracts: Sequence[Contract]) -> None:
    descriptions = read_descriptions(data)
    shelf = shelve([each.document for each in contracts], "recursive-2048", minilm())
    shelf.vectors(["loads the embedder"])
    for retriever, wording in ASKED:
        clock, processor = [], []
        for contract in contracts:
            for question in contract.questions[::5]:
                begun, busy = time.perf_counter(), time.process_time()
                asked = queries(question.category, wording, descriptions)
                if wording == "description":  # a text that was never asked, so that it has to be embedded
                    asked = tuple(titled(each, f"{contract.document.id} {retriever}") for each in asked)
                search(shelf, retriever, asked, 3, within=contract.document.id)
                clock.append((time.perf_counter() - begun) * 1000)
                processor.append((time.process_time() - busy) * 1000)
        seconds, worked = (numpy.quantile(each, 0.95) for each in (clock, processor))
        asked_for = "<= 50 ms" if (retriever, wording) == ASKED[0] else ""
        show((f"query p95, {retriever}, {wording}", len(clock), f"{seconds:.0f} ms", f"{worked:.0f} ms", "", asked_for))


def show_indexing(data: Path, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, asked in (("cold", "<= 6 min"), ("from cache", "<= 2 s")):
            cost = measured(["index", "--data", str(data)], Path(folder))
            show((f"index, {name}", count, *shown(cost), asked))


def show_large(contracts: Sequence[Contract], count: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        characters = write_large(contracts, count, folder / "CUAD_v1")
        show((f"large set of {characters:,} characters", count, "", "", "", ""))
        for name, asked in (("cold", "<= 60 min, <= 3 GB"), ("from cache", "")):
            cost = measured(["index", "--data", "CUAD_v1"], folder)
            show((f"index, {name}", count, *shown(cost), asked))
        cost = measured(["run", "retrieval", "--data", "CUAD_v1", "--out", "found.jsonl"], folder)
        lines = sum(1 for _ in (folder / "found.jsonl").open(encoding="utf-8"))
        show((f"run retrieval, {lines:,} questions", count, *shown(cost), "<= 3 GB"))


def write_large(contracts: Sequence[Contract], count: int, folder: Path) -> int:
    """A data set in the layout of CUAD_v1, made of altered copies; its characters in all."""
    folder.mkdir(parents=True)
    data = []
    characters = 0
    for number in range(count):
        parts = list(taken(contracts, number, length_of(number, count)))
        text = "".join(altered(part.document.text, number) for part in parts)
        title = f"Copy {number}"
        characters += len(text)
        data.append({"title": title, "paragraphs": [{"context": text, "qas": list(answers(parts, text, title))}]})
    (folder / "CUADv1.json").write_text(json.dumps({"version": "copies", "data": data}), encoding="utf-8")
    return characters


def length_of(number: int, count: int) -> int:
    """The least number of characters of a copy; 0 for one that stays as long as its contract."""
    long = round(count * LONG)
    return SHORTEST + (LONGEST - SHORTEST) * number // max(1, long - 1) if number < long else 0


def taken(contracts: Sequence[Contract], number: int, least: int) -> Iterator[Contract]:
    """The contracts that a copy is made of."""
    while True:
        yield contracts[number % len(contracts)]
        least -= len(contracts[number % len(contracts)].document.text)
        number += 1
        if least <= 0:
            return


def altered(text: str, copy: int) -> str:
    """The text with other last letters of some words, as long as before, so that places stay where they are."""
    letters = list(text)
    for found in list(WORD.finditer(text))[copy % EVERY :: EVERY]:
        last = found.end() - 1
        letters[last] = string.ascii_lowercase[(ord(text[last]) - ord("a") + 1 + copy // EVERY) % 26]
    return "".join(letters)


def answers(parts: Sequence[Contract], text: str, title: str) -> Iterator[dict[str, object]]:
    """The questions of the parts, with the answers where they lie in the whole."""
    for place, question in enumerate(parts[0].questions):
        begin, spans = 0, []
        for part in parts:
            spans += [(begin + start, begin + end) for start, end in part.questions[place].gold]
            begin += len(part.document.text)
        given = [{"text": text[start:end], "answer_start": start} for start, end in spans]
        yield {"id": f"{title}__{question.category}", "question": "", "answers": given, "is_impossible": not given}


def measured(arguments: Sequence[str], folder: Path) -> Cost:
    """What a command of contract review costs from start to end. Exits with its message where it fails."""
    command = [sys.executable, "-m", "ovrag_core.app.cli", "contract-review", *arguments]
    begun, peak = time.perf_counter(), 0
    with (folder / "messages").open("w+", encoding="utf-8") as messages:
        process = subprocess.Popen(command, cwd=folder, stdout=messages, stderr=messages)
        while True:
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            peak = max(peak, resident(process.pid))
            time.sleep(PAUSE)
        clock = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            messages.seek(0)
            sys.exit(f"{' '.join(arguments)} failed: {messages.read().strip()}")
    return Cost(clock, usage.ru_utime + usage.ru_stime, peak)


def resident(pid: int) -> int:
    """Memory of a process and of all that it started, in bytes."""
    try:
        first = psutil.Process(pid)
        tree = [first, *first.children(recursive=True)]
        return sum(each.memory_info().rss for each in tree)
    except psutil.NoSuchProcess:  # ended while it was looked at
        return 0


def shown(cost: Cost) -> tuple[str, str, str]:
    return f"{cost.clock:.1f} s", f"{cost.processor:.1f} s", f"{cost.peak / 1e9:.2f} GB"


def show(row: Sequence[object]) -> None:
    widths = (46, 6, 12, 12, 10, 20)
    print("".join(f"{each!s:<{width}}" for each, width in zip(row, widths, strict=True)).rstrip(), flush=True)


if __name__ == "__main__":
    main()
