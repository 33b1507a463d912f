"""How well the clause reader reads: contradictions, facts and speed on documents it was not written for.

    python benchmarks/reading.py [--set NAME ...] [--ablations] [--errors] [--speed]

Sets: `thesis`, `prose` and `genuine` lie under OVRAG_EXTERNAL_DATA (default data/external), skipped where absent;
`development`, `hard_negatives` and `check` are the project's own test agreements, `varied` is generated afresh
(five seeds, see --seeds).
Contradictions come from the reader's triples and the validator; the scoring follows the definitions in docs/reading.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ovrag_core.contracts import generate
from ovrag_core.documents import load
from ovrag_core.extraction import reader
from ovrag_core.extraction.reader import read
from ovrag_core.ontology.load import load_ontology
from ovrag_core.review import review
from ovrag_core.validation import Validator

PROJECT = Path(__file__).resolve().parent.parent
EXTERNAL = Path(os.environ.get("OVRAG_EXTERNAL_DATA", PROJECT / "data" / "external"))
AGREEMENTS = PROJECT / "tests" / "data" / "agreements"
ABLATIONS: dict[str, dict[str, bool]] = {
    "full": {},
    "without scope and polarity": {"scope": False},
    "without embedder": {"embedder": False},
    "without implied cues": {"implied": False},
}
PARTY_FIELDS = ("borrower", "lender")


@dataclass
class Score:
    """Counts of one set of documents."""

    cells: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("tp", "fp", "fn", "tn", "unchecked"), 0))
    right_type: int = 0
    quoted: int = 0
    passages: int = 0
    fields: dict[str, list[bool]] = field(default_factory=dict)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Of the documents reported, the share that contradict themselves."""
        flagged = self.cells["tp"] + self.cells["fp"]
        return self.cells["tp"] / flagged if flagged else 1.0

    @property
    def recall(self) -> float:
        """Of the documents that contradict themselves, the share reported."""
        planted = self.cells["tp"] + self.cells["fn"]
        return self.cells["tp"] / planted if planted else 1.0


def words(text: object) -> list[str]:
    folded = unicodedata.normalize("NFKC", text if isinstance(text, str) else "").casefold()
    return re.findall(r"[^\W_]+", folded)


def same_name(got: str, want: str) -> bool:
    a, b = words(got), words(want)
    if not a or not b:
        return False
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    inside = any(longer[i : i + len(shorter)] == shorter for i in range(len(longer) - len(shorter) + 1))
    return a == b or (2 * len(shorter) >= len(longer) and inside)


def covers(quote: str, passage: str) -> bool:
    """A quote of fair length that holds at least 60% of the passage's words."""
    a, b = set(words(quote)), set(words(passage))
    return bool(a and b) and len(quote) <= max(3 * len(passage), 400) and len(a & b) / len(b) >= 0.6


def number(value: object) -> float | None:
    found = re.findall(r"\d[\d,]*(?:\.\d+)?", str(value)) if value is not None else []
    return float(found[0].replace(",", "")) if len(found) == 1 else None


def thesis_record(record: dict[str, Any]) -> dict[str, Any]:
    """The thesis's ground truth in the form of the others, as far as it goes."""
    gold: dict[str, Any] = {"label": record["label"], "clash_type": record["clash_type"], "evidence": []}
    names = re.match(
        r"The borrower is (.+?), an? .*?The lender is (.+?), an? ", record["reference_answers"].get("Q2", "")
    )
    if names:
        gold["borrower"], gold["lender"] = {"name": names[1]}, {"name": names[2]}
    return gold


class Bench:
    """The validator, started once, and documents, read once."""

    def __init__(self) -> None:
        self.validator = Validator(load_ontology(PROJECT / "ontologies"))
        self.documents: dict[Path, Any] = {}

    def document(self, path: Path) -> Any:
        """The document at `path`, read once."""
        if path not in self.documents:
            self.documents[path] = load(path)
        return self.documents[path]

    def review(self, path: Path, switches: dict[str, bool]) -> Any:
        """The review of a document by the reader with these ablation switches."""
        extractor = type(
            "Extractor", (), {"read": staticmethod(partial(reader.read, **switches)), "read_passage": None}
        )
        return review(self.document(path), extractor, self.validator, reader.NAME)


def score(bench: Bench, paths: Sequence[Path], gold: dict[str, Any], switches: dict[str, bool]) -> Score:
    result = Score()
    for path in paths:
        stem = path.stem
        key = stem if stem in gold else (re.search(r"(\d+)$", stem) or [stem])[0]
        want = gold[key]
        got = bench.review(path, switches)
        result.seconds += got.seconds
        _score_label(result, key, got, want)
        _score_fields(result, got, want)
    return result


def _score_label(result: Score, key: str, got: Any, want: dict[str, Any]) -> None:
    clash = want["label"] == "CLASH"
    if got.label == "UNCHECKED":
        result.cells["unchecked"] += 1
        result.cells["fn"] += clash
    else:
        flagged = got.label == "CLASH"
        result.cells["tp" if flagged and clash else "fp" if flagged else "fn" if clash else "tn"] += 1
        if flagged and clash:
            result.right_type += want["clash_type"] in got.clash_types
            quotes = [passage.quote for finding in got.violations for passage in finding.evidence]
            for passage in want.get("evidence") or []:
                result.passages += 1
                result.quoted += any(covers(quote, passage) for quote in quotes)
    if got.label != want["label"]:
        result.errors.append(
            f"{key}: {want['label']} {want.get('clash_type') or ''} read as {got.label} {' '.join(got.clash_types)}"
        )


def _score_fields(result: Score, got: Any, want: dict[str, Any]) -> None:
    facts = got.facts

    def note(name: str, ok: object) -> None:
        result.fields.setdefault(name, []).append(bool(ok))

    for role in PARTY_FIELDS:
        if want.get(role):
            party = getattr(facts, role)
            note(f"{role} name", party and same_name(party.name, want[role]["name"]))
            if want[role].get("kind"):
                note(f"{role} kind", party and party.kind == want[role]["kind"])
    for name in ("security", "credit_form"):
        if name in want:
            note(name, getattr(facts, name) == want[name])
    if "loan_types" in want:
        note("loan types", set(facts.loan_types) == set(want["loan_types"]))
    if "principal" in want:
        due, principal = want["principal"], facts.principal
        same = principal and due and principal.amount == due["amount"] and principal.currency == due["currency"]
        note("principal", same or (not principal and not due))
    if "interest_rate" in want:
        note("interest rate", number(facts.interest_rate) == number(want["interest_rate"]))
    if "maturity" in want:
        note("maturity", (facts.maturity or None) == want["maturity"])


OWN = ("development", "hard_negatives", "hard_negatives2", "development2", "check", "unread", "unread2")


def sets(names: Sequence[str], seeds: Sequence[int], folder: Path) -> Iterator[tuple[str, list[Path], dict[str, Any]]]:
    """Name, documents and gold of each set that is there; what is absent is said on stderr."""
    known: dict[str, Callable[[], tuple[list[Path], dict[str, Any]]]] = {
        "thesis": partial(
            _external,
            EXTERNAL / "loan_thesis" / "contracts",
            EXTERNAL / "loan_thesis" / "ground_truth.json",
            thesis_record,
        ),
        "prose": partial(_external, EXTERNAL / "loan_prose" / "documents", EXTERNAL / "loan_prose" / "gold.json", None),
        **{name: partial(_external, AGREEMENTS / name, AGREEMENTS / name / "gold.json", None) for name in OWN},
        "varied": partial(_varied, folder, seeds),
    }
    for name in names:
        if name not in known:
            continue
        try:
            paths, gold = known[name]()
        except FileNotFoundError as error:
            print(f"{name}: skipped, {error.filename} is not there", file=sys.stderr)
            continue
        yield name, paths, gold


def _external(
    folder: Path, gold: Path, adapt: Callable[[dict[str, Any]], dict[str, Any]] | None
) -> tuple[list[Path], dict[str, Any]]:
    records = json.loads(gold.read_text(encoding="utf-8"))
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".pdf", ".txt"))
    return paths, {key: adapt(record) if adapt else record for key, record in records.items()}


def _varied(folder: Path, seeds: Sequence[int]) -> tuple[list[Path], dict[str, Any]]:

    paths: list[Path] = []
    gold: dict[str, Any] = {}
    for seed in seeds:
        target = folder / f"seed{seed}"
        truth = folder / f"seed{seed}.json"
        generate(target, truth, count=100, seed=seed, wording="varied")
        records = json.loads(truth.read_text(encoding="utf-8"))
        for path in sorted(target.glob("*.pdf")):
            renamed = folder / f"s{seed}-{path.stem}.pdf"
            path.rename(renamed)
            paths.append(renamed)
            gold[renamed.stem] = records[path.stem]
    return paths, gold


def table(rows: Sequence[tuple[str, Score]]) -> str:
    names = list(dict.fromkeys(name for _, result in rows for name in result.fields))
    head = ["set", "n", "TP", "FP", "FN", "TN", "unch", "P", "R", "type", "quoted", *names, "s/doc"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for label, result in rows:
        cells = result.cells
        total = sum(cells[key] for key in ("tp", "fp", "fn", "tn")) + cells["unchecked"]
        row = [
            label, str(total), *(str(cells[key]) for key in ("tp", "fp", "fn", "tn", "unchecked")),
            f"{result.precision:.3f}", f"{result.recall:.3f}", f"{result.right_type}/{cells['tp']}",
            f"{result.quoted}/{result.passages}",
            *(f"{sum(hits)}/{len(hits)}" if (hits := result.fields.get(name)) else "" for name in names),
            f"{result.seconds / max(1, total):.2f}",
        ]  # fmt: skip
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def genuine(bench: Bench) -> str:
    """A line for every genuine document: there is no gold, the quotes are for a reader to judge."""
    folder = EXTERNAL / "loan_genuine"
    with (folder / "index.csv").open(encoding="utf-8") as stream:
        guesses = {row["file"]: row["security"] for row in csv.DictReader(stream)}
    lines = [
        "| document | label | clash types | facilities: kinds; security; credit | index says | s |",
        "|" + "---|" * 6,
    ]
    for path in sorted((folder / "documents").iterdir()):
        got = bench.review(path, {})
        facilities = "<br>".join(
            f"{f.subject}: {', '.join(f.loan_types) or '-'}; {f.security}; {f.credit_form}" for f in got.facilities
        )
        lines.append(
            f"| {path.stem[:48]} | {got.label} | {' '.join(got.clash_types)} | {facilities} |"
            f" {guesses.get(path.name, '')} | {got.seconds:.2f} |"
        )
        for finding in got.violations:
            if finding.severity == "clash":
                lines.extend(f"  > {' '.join(passage.quote.split())}" for passage in finding.evidence)
    return "\n".join(lines)


def speed() -> str:
    """Seconds for the longest genuine agreement, warm."""
    paths = sorted((EXTERNAL / "loan_genuine" / "documents").glob("*.txt"), key=lambda path: -path.stat().st_size)
    document = load(paths[0])
    read(document)
    started = time.perf_counter()
    read(document)
    return f"{len(document.text):,} characters: {time.perf_counter() - started:.2f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--set", nargs="*", default=["thesis", "prose", "development"], dest="names")
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--speed", action="store_true")
    arguments = parser.parse_args()
    bench = Bench()
    with tempfile.TemporaryDirectory() as folder:
        for name, paths, gold in sets(arguments.names, arguments.seeds, Path(folder)):
            variants = ABLATIONS if arguments.ablations else {"full": {}}
            rows = [
                (f"{name}, {variant}" if arguments.ablations else name, score(bench, paths, gold, switches))
                for variant, switches in variants.items()
            ]
            print(table(rows) + "\n")
            if arguments.errors:
                print("\n".join(f"  {label}: {error}" for label, result in rows for error in result.errors))
    if "genuine" in arguments.names:
        print(genuine(bench))
    if arguments.speed:
        print(speed())
    return 0


if __name__ == "__main__":
    sys.exit(main())
