"""Leases read by a language model through an ontology of their own: contradictions found, classes stated.

    python benchmarks/domain.py [-S llm.provider=openai ...]

Without -S the recorded replies of data/replies/leases.jsonl.xz are replayed. `example` is the documents that the form
was worded on; `unread` was written afterwards by a model that had seen neither form nor documents. A contradiction is
found where one of its kind is reported. A last day makes a term fixed, so FixedTermLease may come from the rules alone
and is not counted.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from reading import PROJECT
from tqdm import tqdm

from ovrag_core.documents import load
from ovrag_core.loans import make_validator, other_reader
from ovrag_core.loop import DocumentReview, review_document
from ovrag_core.study import read_settings
from tables import table

LEASES = PROJECT / "ontologies" / "examples" / "leases"
SETS = {
    "example": (LEASES / "documents", LEASES / "gold.json"),
    "unread": (PROJECT / "tests" / "data" / "leases", PROJECT / "tests" / "data" / "leases" / "gold.json"),
}
RECORDED = (
    "llm.provider=replay",
    "llm.store=data/replies/leases.jsonl.xz",
    "llm.model=qwen2.5-coder-1.5b-instruct-q4_k_m",
    "llm.max_tokens=400",
)
IMPLIED = {"FixedTermLease"}


def score(reviews: dict[str, DocumentReview], gold: dict[str, dict[str, Any]]) -> Counter[str]:
    """Counts over the documents of a set."""
    found: Counter[str] = Counter()
    for name, got in reviews.items():
        want = gold[name]
        clashes = {each.clash_type for each in got.violations if each.severity == "clash"}
        kind = "contradictory" if want["label"] == "CLASH" else "clean"
        found[kind] += 1
        found["unchecked"] += got.label == "UNCHECKED"
        found["found"] += want["kind"] in clashes
        found["accused"] += kind == "clean" and got.label == "CLASH"
        found["wrong kind too"] += kind == "contradictory" and bool(clashes - {want["kind"]})
        stated = {each.object for each in got.stated if each.predicate == "rdf:type"} - IMPLIED
        classes = set(want["classes"]) - IMPLIED
        found["right"] += len(stated & classes)
        found["wrong"] += len(stated - classes)
        found["missed"] += len(classes - stated)
    return found


def main() -> int:
    """Print a row a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-S", action="append", default=[], dest="overrides", metavar="NAME=VALUE")
    arguments = parser.parse_args()
    domain = f"ontology.domain={json.dumps(str(LEASES))}"
    settings = read_settings(PROJECT / "params.yaml", [domain, *(arguments.overrides or RECORDED)])
    validator = make_validator(settings)
    rows = []
    with other_reader(settings, validator.ontology) as reader:
        print(f"model: {reader.name}")
        for name, (folder, gold) in SETS.items():
            paths: list[Path] = sorted(folder.glob("*.txt"))
            reviews = {
                path.stem: review_document(load(path), reader, validator, reader.name)
                for path in tqdm(paths, unit="document", disable=None)
            }
            found = score(reviews, json.loads(gold.read_text(encoding="utf-8")))
            rows.append(
                (
                    name,
                    f"{found['found']} of {found['contradictory']}",
                    str(found["wrong kind too"]),
                    f"{found['accused']} of {found['clean']}",
                    str(found["unchecked"]),
                    f"{found['right']} of {found['right'] + found['wrong']}",
                    f"{found['right']} of {found['right'] + found['missed']}",
                )
            )
    header = (
        "set",
        "found",
        "with a wrong one",
        "clean accused",
        "not checked",
        "classes stated: right",
        "of those due",
    )
    print(table(header, rows), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
