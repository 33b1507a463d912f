"""What our engine makes of a run that was recorded elsewhere: the rows of data/recorded.yaml.

    OVRAG_EXTERNAL_DATA=FOLDER python benchmarks/recorded_run.py

Reads `loan_thesis/recorded_queries.jsonl` of the thesis's repository, which is not ours to keep: GPT-4o's answers and
triples. The triples are judged again by our rules and reasoner; what was recorded stands beside it.
"""

import os
import sys
import tempfile
from pathlib import Path

import yaml

from ovrag_core.base import Settings
from ovrag_core.evaluation import cell
from ovrag_core.loans import import_run

SYSTEMS = {
    "ovrag": "gpt-4o, recorded queries, as its own engine judged them",
    "ovrag_rejudged": "gpt-4o, the same queries, its triples judged by our engine",
}


def main() -> None:
    """Print the rows as YAML."""
    folder = os.environ.get("OVRAG_EXTERNAL_DATA")
    source = Path(folder or "data/external") / "loan_thesis" / "recorded_queries.jsonl"
    if not source.exists():
        sys.exit(f"{source} is not there; set OVRAG_EXTERNAL_DATA to the folder that holds loan_thesis/")
    with tempfile.TemporaryDirectory() as made:
        records = import_run(source, "recorded", folder=Path(made), rejudge=True, settings=Settings()).records
    rows = []
    for arm, system in SYSTEMS.items():
        cells = [cell(record) for record in records if record.arm == arm]
        rows.append({"system": system, "arm": arm, **{name: cells.count(name) for name in ("tp", "fp", "tn", "fn")}})
    print(yaml.safe_dump({"runs": rows}, sort_keys=False), end="")


if __name__ == "__main__":
    main()
