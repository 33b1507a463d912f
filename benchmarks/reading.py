"""How well the clause reader reads: contradictions, facts and speed, each set with what it was used for.

    python benchmarks/reading.py [--set NAME ...] [--seeds N ...] [--errors] [--speed]

Sets: `thesis` and `prose` lie under OVRAG_EXTERNAL_DATA (default data/external), skipped where absent; `varied` is
generated afresh, 100 contracts a seed; the others are the agreements under tests/data. `genuine` is the agreements of
other publishers: fields, by `tests/data/genuine.json`, of joint parties and several sums any; counts of what is
reported, and with --errors the passages. `set_aside` is the marked agreements of four drafters, fields alone.
Contradictions come from the reader's triples and the validator. A quote covers a gold passage when it holds at least
60% of its words and is at most three times as long (or 400 characters); a party's name is right when it equals the
gold name or holds it whole with at least half of its words. Intervals are Wilson's, 95%, over documents.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ovrag_core.documents import load
from ovrag_core.evaluation import Estimate, wilson
from ovrag_core.loans import generate, read, review
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reading.judge import load_judge
from ovrag_core.loop import Validator
from ovrag_core.ontology import load_ontology
from tables import table

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tools"))

from marked_agreements import ASIDE, KINDS, marked_agreements  # noqa: E402

EXTERNAL = Path(os.environ.get("OVRAG_EXTERNAL_DATA", PROJECT / "data" / "external"))
GENUINE = PROJECT / "tests" / "data" / "genuine.json"
AGREEMENTS = {  # written here: those that teach a judge, and those that only score
    folder.name: folder
    for root in (PROJECT / "training" / "loans" / "agreements", PROJECT / "tests" / "data" / "agreements")
    for folder in root.iterdir()
}
TAUGHT = "read, tuned on, taught judges and gate"
# What each set was used for, which says what its figures are worth.
USES = {
    "thesis": "read, tuned on",
    "prose": "read, tuned on",
    "development": TAUGHT,
    "development2": TAUGHT,
    "hard_negatives": TAUGHT,
    "hard_negatives2": TAUGHT,
    "check": "scoring only, scored often; led to the hard negatives",
    "unread": "scoring only",
    "unread2": "scoring only",
    "unread3": "scoring only, scored often",
    "unread4": "scoring only, scored thrice",
    "set_aside": "four drafters from whom no weights learned; thresholds were chosen on them",
    "varied": "the project's own generator; seeds 1 to 8 tuned on",
    "genuine": "looked at; rules on defined terms were made on them",
}
PARTY_FIELDS = ("borrower", "lender")
FIELDS = (
    *(f"{role} {what}" for role in PARTY_FIELDS for what in ("name", "kind")),
    *("security", "credit form", "loan types", "principal", "interest rate", "maturity", "collateral or none"),
)


@dataclass
class Score:
    """Counts of one set of documents."""

    cells: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("tp", "fp", "fn", "tn", "unchecked"), 0))
    right_type: int = 0
    quoted: int = 0
    passages: int = 0
    clean: dict[str, list[bool]] = field(default_factory=dict)  # by difficulty: whether a contradiction is invented
    fields: dict[str, list[bool]] = field(default_factory=dict)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)

    @property
    def precision(self) -> Estimate:
        """Of the documents reported, the share that contradict themselves."""
        return wilson(self.cells["tp"], self.cells["tp"] + self.cells["fp"])

    @property
    def recall(self) -> Estimate:
        """Of the documents that contradict themselves, the share reported."""
        return wilson(self.cells["tp"], self.cells["tp"] + self.cells["fn"])

    @property
    def documents(self) -> int:
        """Documents of the set."""
        return max(map(len, self.fields.values())) if self.fields else 0


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
    """The validator, started once, and reviews, each made once."""

    def __init__(self) -> None:
        self.validator = Validator(load_ontology(PROJECT / "ontologies"))
        self.reviews: dict[Path, Any] = {}

    def review(self, path: Path) -> Any:
        """The review of a document by the clause reader."""
        if path not in self.reviews:
            extractor = type("Extractor", (), {"read": staticmethod(reader.read), "read_passage": None})
            self.reviews[path] = review(load(path), extractor, self.validator, reader.NAME)
        return self.reviews[path]


def score(bench: Bench, paths: Sequence[Path], gold: dict[str, Any]) -> Score:
    result = Score()
    for path in paths:
        stem = path.stem
        key = stem if stem in gold else (re.search(r"(\d+)$", stem) or [stem])[0]
        want = gold[key]
        got = bench.review(path)
        result.seconds += got.seconds
        if "label" in want:
            _score_label(result, key, got, want)
        _score_fields(result, got, want)
    return result


def _score_label(result: Score, key: str, got: Any, want: dict[str, Any]) -> None:
    clash, flagged = want["label"] == "CLASH", got.label == "CLASH"
    if not clash:
        result.clean.setdefault(want.get("difficulty") or "", []).append(flagged)
    if got.label == "UNCHECKED":
        result.cells["unchecked"] += 1
        result.cells["fn"] += clash
    else:
        result.cells[{(True, True): "tp", (True, False): "fp", (False, True): "fn"}.get((flagged, clash), "tn")] += 1
    if flagged and clash:
        _score_quotes(result, got, want)
    if got.label != want["label"]:
        result.errors.append(
            f"{key}: {want['label']} {want.get('clash_type') or ''} read as {got.label} {' '.join(got.clash_types)}"
        )


def _score_quotes(result: Score, got: Any, want: dict[str, Any]) -> None:
    result.right_type += want["clash_type"] in got.clash_types
    quotes = [passage.quote for finding in got.violations for passage in finding.evidence]
    for passage in want.get("evidence") or []:
        result.passages += 1
        result.quoted += any(covers(quote, passage) for quote in quotes)


def _score_fields(result: Score, got: Any, want: dict[str, Any]) -> None:
    for name, right in (*_parties_right(got.facts, want), *_terms_right(got.facts, want)):
        result.fields.setdefault(name, []).append(bool(right))


def _parties_right(facts: Any, want: dict[str, Any]) -> Iterator[tuple[str, object]]:
    for role in PARTY_FIELDS:
        if want.get(role):
            party = getattr(facts, role)
            names = want[role].get("names") or [want[role]["name"]]  # of joint parties any
            yield f"{role} name", party and any(same_name(party.name, name) for name in names)
            if want[role].get("kind"):
                yield f"{role} kind", party and party.kind == want[role]["kind"]


def _terms_right(facts: Any, want: dict[str, Any]) -> Iterator[tuple[str, object]]:
    for name in ("security", "credit_form"):
        if name in want:
            yield name.replace("_", " "), getattr(facts, name) == want[name]
    if "loan_types" in want:
        yield "loan types", set(facts.loan_types) == set(want["loan_types"])
    if "principal" in want:
        due, principal = want["principal"], facts.principal
        sums = [tuple(one.values()) for one in due] if isinstance(due, list) else [due and tuple(due.values())]
        yield "principal", (principal and (principal.amount, principal.currency)) in sums
    if "interest_rate" in want:
        yield "interest rate", number(facts.interest_rate) == number(want["interest_rate"])
    if "maturity" in want:
        yield "maturity", (facts.maturity or None) == want["maturity"]
    if "collateral" in want:
        yield "collateral or none", bool(facts.collateral) == bool(want["collateral"])


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
        **{name: partial(_external, place, place / "gold.json", None) for name, place in AGREEMENTS.items()},
        "set_aside": partial(_set_aside, folder),
        "varied": partial(_varied, folder, seeds),
        "genuine": partial(_external, EXTERNAL / "loan_genuine" / "documents", GENUINE, None),
    }
    for name in names:
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


def _set_aside(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    """The marked agreements of the drafters set aside; their headers label facts, not contradictions by the rules."""
    paths: list[Path] = []
    gold: dict[str, Any] = {}
    for agreement in marked_agreements(PROJECT / ASIDE):
        path = folder / f"{agreement.name.replace('/', '-')}.txt"
        path.write_text(agreement.text, encoding="utf-8")
        paths.append(path)
        facts = {key: None if value == "none" else value for key, value in agreement.facts.items()}
        amount, _, currency = (facts["principal"] or "").partition(" ")
        gold[path.stem] = {
            **{
                role: {"name": facts[role], "kind": KINDS.get(facts[f"{role}_kind"] or "")}
                for role in PARTY_FIELDS
                if facts[role]
            },
            "security": facts["security"],
            "credit_form": facts["credit_form"],
            "loan_types": re.split(r",\s*", facts["loan_types"]) if facts["loan_types"] else [],
            "principal": {"amount": float(amount), "currency": currency} if amount else None,
            "interest_rate": facts["rate"],
            "maturity": facts["maturity"],
            "collateral": facts["collateral"],
        }
    return paths, gold


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


def found_table(scored: Sequence[tuple[str, Score]]) -> str:
    """Contradictions found and invented, set by set."""
    header = (
        "set",
        "its use",
        "documents",
        "found",
        "invented",
        "precision",
        "recall",
        "right kind",
        "passages quoted",
    )
    return table(
        header,
        (
            (
                name, USES[name.split(",")[0]], result.documents, _found(result), _invented(result),
                show(result.precision), show(result.recall), f"{result.right_type}/{result.cells['tp']}",
                f"{result.quoted}/{result.passages}",
            )
            for name, result in scored
            if sum(result.cells.values())
        ),
    )  # fmt: skip


def _found(result: Score) -> str:
    return f"{result.cells['tp']} of {result.cells['tp'] + result.cells['fn']}"


def _invented(result: Score) -> str:
    names = {"plain": "plain", "hard_negative": "misleading"}
    parts = [
        f"{names[kind]} {sum(hits)} of {len(hits)}" for kind, hits in sorted(result.clean.items()) if kind in names
    ]
    total = f"{result.cells['fp']} of {sum(map(len, result.clean.values()))}"
    return f"{total} ({', '.join(parts)})" if parts else total


def show(estimate: Estimate) -> str:
    """A share with its interval."""
    if estimate.value is None:
        return "n/a"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def fields_table(scored: Sequence[tuple[str, Score]]) -> str:
    """Documents of each set in which a field of the main facility is right."""
    scored_fields = {name for _, result in scored for name in result.fields}
    names = [name for name in FIELDS if name in scored_fields]
    rows = (
        [set_name, *(f"{sum(hits)}/{len(hits)}" if (hits := result.fields.get(name)) else "" for name in names)]
        for set_name, result in scored
    )
    return table(["fields right", *names], rows)


def genuine(bench: Bench, errors: bool) -> str:
    """Counts of what is reported of the genuine agreements; the quotes are for a person to judge."""
    folder = EXTERNAL / "loan_genuine" / "documents"
    if not folder.is_dir():
        print(f"genuine: skipped, {folder} is not there", file=sys.stderr)
        return ""
    reviews = {path.stem: bench.review(path) for path in sorted(folder.iterdir())}
    labels = Counter(got.label for got in reviews.values())
    security = Counter(got.facts.security for got in reviews.values())
    kinds = Counter(kind for got in reviews.values() for kind in got.clash_types)
    rows = [
        ("documents", len(reviews)),
        ("reported as contradicting themselves", labels["CLASH"]),
        *((f"of these, {kind}", count) for kind, count in sorted(kinds.items())),
        ("not checked", labels["UNCHECKED"]),
        *((f"security: {said}", count) for said, count in sorted(security.items())),
    ]
    passages = (
        f"{stem}: {' '.join(passage.quote.split())}"
        for stem, got in reviews.items()
        for finding in got.violations
        if finding.severity == "clash"
        for passage in finding.evidence
    )
    return table(("genuine agreements", "count"), rows) + ("\n".join(passages) if errors else "")


def speed() -> str:
    """Seconds for the longest genuine agreement, once the shortest is read: the judge keeps what it has read."""
    paths = sorted((EXTERNAL / "loan_genuine" / "documents").glob("*.txt"), key=lambda path: -path.stat().st_size)
    if not paths:
        print("speed: skipped, the genuine agreements are not there", file=sys.stderr)
        return ""
    document = load(paths[0])
    load_judge.cache_clear()
    read(load(paths[-1]))
    started = time.perf_counter()
    read(document)
    seconds = time.perf_counter() - started
    return table(
        ("the longest genuine agreement", "read in"), [(f"{len(document.text):,} characters", f"{seconds:.1f} s")]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="*", default=[*USES], dest="names", choices=[*USES])
    parser.add_argument("--seeds", nargs="*", type=int, default=[771201])
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--speed", action="store_true")
    arguments = parser.parse_args()
    bench = Bench()
    scored: list[tuple[str, Score]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, paths, gold in sets(arguments.names, arguments.seeds, Path(folder)):
            result = score(bench, paths, gold)
            label = f"varied, seed {' '.join(map(str, arguments.seeds))}" if name == "varied" else name
            scored.append((label, result))
            print(f"{label}: {result.seconds:.0f} s", file=sys.stderr)
            if arguments.errors:
                print("\n".join(f"  {label}: {error}" for error in result.errors))
    if scored:
        print(found_table(scored), fields_table(scored), sep="")
    if "genuine" in arguments.names:
        print(genuine(bench, arguments.errors))
    if arguments.speed:
        print(speed())
    return 0


if __name__ == "__main__":
    sys.exit(main())
