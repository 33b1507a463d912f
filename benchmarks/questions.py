"""How well questions about an agreement are answered offline: right, wrong or silent.

    python benchmarks/questions.py [--set NAME ...] [--errors]

`test` is `tests/data/questions.json`, `development` is `training/loans/asked.json`. A reply is what `ovrag ask` prints
of an answer: its words and its quotes. It is right where, for each group of alternatives that the question names, one
stands in it, compared without case, blanks and thousands separators; where the document says nothing of it, silence
alone is right. Any other reply is wrong, and silence where the document does answer is silent. Passages that are shown
as the nearest, and need not answer, are silence; `shown` is in how many silent replies they hold the answer all the
same. `passages alone` takes the nearest passages for the answer. Intervals are Wilson's, 95%, over questions.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ovrag_core.base import Question, Settings
from ovrag_core.documents import load
from ovrag_core.evaluation import wilson
from ovrag_core.loans import answer_text, ask_once, documents_bench, is_nearest, is_silent
from ovrag_core.loop import ARMS, NO_ANSWER, ask
from tables import estimate, table

PROJECT = Path(__file__).resolve().parent.parent
SETS = {
    "test": (PROJECT / "tests/data/questions.json", PROJECT / "tests/data/agreements"),
    "development": (PROJECT / "training/loans/asked.json", PROJECT / "training/loans/agreements"),
}
ARM, PASSAGES = ARMS["ovrag_evidence"], ARMS["plain_scoped"]
HELD = ("right", "wrong", "silent")


def plain(text: str) -> str:
    """Words without case, blanks, thousands separators and signs of currencies."""
    return re.sub(r"(?<=\d)[,'’ ](?=\d{3})|[$€£¥]|\s+", "", text.casefold())


def held(reply: str, silent: bool, entry: dict[str, Any]) -> str:
    """Whether a reply is right, wrong or silent."""
    if silent:
        return "right" if entry["silent"] else "silent"
    said = plain(reply)
    groups = entry["says"]
    return "right" if groups and all(any(plain(each) in said for each in group) for group in groups) else "wrong"


class Reply(NamedTuple):
    """A question, what is replied to it, and what that is worth."""

    entry: dict[str, Any]
    text: str
    worth: str
    alone: str  # what the nearest passages by themselves are worth


def replies(entries: list[dict[str, Any]], folder: Path) -> Iterator[Reply]:
    """The reply to each question, document by document."""
    for name in dict.fromkeys(entry["document"] for entry in entries):
        document = load(folder / f"{name}.txt", name)
        with documents_bench(Settings(), [document]) as bench:
            for number, entry in enumerate(each for each in entries if each["document"] == name):
                question = Question(id=f"Q{number}", text=entry["question"])
                record, _ = ask_once(question, name, ARM, bench)
                text = answer_text(record)
                passages = ask(question, name, PASSAGES, bench)[0].answer
                assert passages is not None
                alone = held(passages.text, passages.text == NO_ANSWER, entry)
                yield Reply(entry, text, held(text, is_silent(record) or is_nearest(record), entry), alone)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS), dest="sets")
    parser.add_argument("--errors", action="store_true", help="print what is not right")
    arguments = parser.parse_args()
    rows: list[list[object]] = []
    for name in arguments.sets:
        path, folder = SETS[name]
        found = list(replies(json.loads(path.read_text(encoding="utf-8")), folder))
        silent = [each for each in found if each.worth == "silent"]
        shown = sum(held(each.text, False, each.entry) == "right" for each in silent)
        if arguments.errors:
            for each in (each for each in found if each.worth != "right"):
                print(f"{each.worth}: {each.entry['document']}: {each.entry['question']} -> {each.entry['says']}")
                print(f"    {each.text[:300]!r}")
        rows.append([name, "ovrag ask", *_shares([each.worth for each in found]), f"{shown} of {len(silent)}"])
        rows.append([name, "passages alone", *_shares([each.alone for each in found]), ""])
    print(table(["set", "answered by", "questions", *HELD, "silent, answer shown"], rows))


def _shares(worth: list[str]) -> list[object]:
    return [len(worth), *(estimate(wilson(worth.count(each), len(worth))) for each in HELD)]


if __name__ == "__main__":
    main()
