"""Make the sample graphs of the study of abstention: rivers from their list, loans from the generated contracts.

`source/rivers.yaml` gives, by the kind of the mouth and by the mouth, the rivers that end in it. Loans are what the
ground truth says of the contracts that do not contradict themselves.

Run from the project's folder: `python tools/epistemic_samples.py [FOLDER]`.
"""

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

SAMPLES = Path("data/samples/epistemic")
GROUND_TRUTH = Path("data/ground_truth.json")
RIVERS = "http://example.org/rivers"
LOANS = "http://example.org/loans"
RIVER_COLUMNS = ("subject", "subject_label", "object", "object_label", "object_kind", "object_linked")
LOAN_COLUMNS = ("subject", "subject_label", "predicate", "object", "object_label", "object_kind")
NOT_IN_AN_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`%]')
# Whom a loan is for says less of it than what it is.
PURPOSES = ("ConsumerLoan", "CommercialLoan")

Row = tuple[str, ...]


def iri(base: str, name: str) -> str:
    """An IRI that shows the name; what an IRI may not hold is escaped, letters of any script stay."""
    return f"{base}/{NOT_IN_AN_IRI.sub(lambda match: f'%{ord(match[0]):02X}', name.replace(' ', '_'))}"


def river_rows(listed: Mapping[str, Mapping[str, list[str]]]) -> Iterator[Row]:
    """One row a river and mouth, by the river's name. A mouth that is a listed river is linked to it."""
    mouths = [(river, mouth, kind) for kind, mouths in listed.items() for mouth in mouths for river in mouths[mouth]]
    rivers = {river for river, _, _ in mouths}
    for river, mouth, kind in sorted(mouths):
        linked = mouth in rivers
        target = iri(f"{RIVERS}/river" if linked else f"{RIVERS}/place", mouth)
        yield iri(f"{RIVERS}/river", river), river, target, mouth, kind, str(int(linked))


def loan_rows(truth: Mapping[str, Mapping[str, object]]) -> Iterator[Row]:
    """The facts of each contract that is free of contradiction, by its number."""
    for contract, said in sorted(truth.items()):
        if said["label"] != "CLEAN":
            continue
        subject = iri(LOANS, contract.lower())
        for predicate, value, kind in _loan_facts(said):
            target = value if kind == "literal" else iri(f"{LOANS}/{kind}", value)
            yield subject, contract.replace("_", " ").lower(), predicate, target, value, kind


def _loan_facts(said: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    borrower, lender, principal = said["borrower"], said["lender"], said["principal"]
    if isinstance(borrower, Mapping) and isinstance(lender, Mapping):
        yield "hasBorrower", str(borrower["name"]), "party"
        yield "hasLender", str(lender["name"]), "party"
    types = said["loan_types"]
    if isinstance(types, list) and types:
        yield "hasKind", _words(next((each for each in types if each not in PURPOSES), types[0])), "kind"
    if isinstance(principal, Mapping):
        yield "hasPrincipal", f"{principal['currency']} {principal['amount']:,.2f}", "literal"
    if said["interest_rate"]:
        yield "hasInterestRate", str(said["interest_rate"]), "literal"


def _words(name: str) -> str:
    """`StudentLoan`: Student Loan."""
    return "".join(f" {letter}" if letter.isupper() else letter for letter in name).strip()


def write(path: Path, columns: Row, rows: Iterable[Row]) -> None:
    """A table with tabs between the fields, and nothing quoted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n", quotechar=None)
        table.writerow(columns)
        table.writerows(rows)


def main(folder: Path = SAMPLES) -> None:
    """Write both tables into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = yaml.safe_load((SAMPLES / "source" / "rivers.yaml").read_text(encoding="utf-8"))
    truth = json.loads(GROUND_TRUTH.read_text(encoding="utf-8"))
    write(folder / "hasMouth_facts.tsv", RIVER_COLUMNS, river_rows(listed))
    write(folder / "loans_facts.tsv", LOAN_COLUMNS, loan_rows(truth))


if __name__ == "__main__":
    main(*(Path(each) for each in sys.argv[1:]))
