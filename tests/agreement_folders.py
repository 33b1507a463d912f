"""Where the written agreements lie: those that teach a reader in `training`, those that only score in `tests/data`."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
TEACHING = PROJECT / "training" / "loans" / "agreements"
SCORING = PROJECT / "tests" / "data" / "agreements"
PLACES = [path for root in (TEACHING, SCORING) for path in root.iterdir() if path.is_dir()]
FOLDERS = {path.name: path for path in sorted(PLACES, key=lambda path: path.name)}
