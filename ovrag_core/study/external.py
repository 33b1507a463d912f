"""Data of other publishers that the studies are measured on: `python -m ovrag_core.study.external [STUDY ...]`.

`data/external.yaml` names them by study, with version, licence and the SHA-256 of what lies below `data/external`, for
which the variable OVRAG_EXTERNAL_DATA may name another folder. The command compares; for a study that is named it also
writes `tables/<study>/external/sets`, so that results carry what they rest on. `--accept` writes the hashes anew.
"""

import argparse
import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas
import yaml
from tqdm import tqdm

from ovrag_core.base import DocumentError, OvragError, Part, external_data, project_file, read_model, write_text
from ovrag_core.report import TABLES, Note, write_table
from ovrag_core.study.book import EXTERNAL

SETS = Path("data/external.yaml")
COMMENT = """\
# What the studies' external results rest on, none of which is in the repository (docs/external.md). Paths are below
# data/external, or the folder that OVRAG_EXTERNAL_DATA names. A hash is of the names and bytes of all files.
"""


class DataSet(Part):
    """A file or folder of another publisher, and what is known of it."""

    name: str
    path: str
    publisher: str
    version: str
    licence: str
    sha256: str = ""


def read_sets(path: Path) -> dict[str, tuple[DataSet, ...]]:
    """The data sets of each study. Raises DocumentError for a file that is none of that form."""
    return read_model(path, dict[str, tuple[DataSet, ...]], DocumentError, "restore it from git")


def digest(path: Path) -> str:
    """SHA-256 of a file, or of the names and hashes of all files below a folder. Raises DocumentError for neither."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if not path.is_dir():
        raise DocumentError(
            f"{path} is not there; let OVRAG_EXTERNAL_DATA name the folder that holds the data (docs/external.md)"
        )
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()} {file.relative_to(path).as_posix()}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def refuse_other_versions(sets: Sequence[DataSet]) -> None:
    """Raises DocumentError where a data set is missing, or is not the version that is named."""
    for data_set in tqdm(sets, desc="data sets", disable=not sys.stderr.isatty()):
        if digest(external_data(data_set.path)) != data_set.sha256:
            raise DocumentError(
                f"{external_data(data_set.path)} is not the version of {data_set.name} that {SETS} names "
                f"({data_set.version}, SHA-256 {data_set.sha256[:12]}…); take that one, or, where yours is meant, say "
                "its version there and run `python -m ovrag_core.study.external --accept`"
            )


def write_sets(study: str, sets: Sequence[DataSet], folder: Path = TABLES) -> pandas.DataFrame:
    """Write `<study>/external/sets` and return it as LaTeX shows it."""
    rows = [(s.name, s.publisher, s.version, s.licence, s.sha256[:12]) for s in sets]
    frame = pandas.DataFrame(rows, columns=["data", "publisher", "version", "licence", "SHA-256"])
    name = f"{study}/{EXTERNAL}/sets"
    note = Note("none", "none", "data sets as listed", more="None of them is in the repository; hashes are shortened")
    return write_table(frame, name, "Data of other publishers that the external results rest on.", note, folder=folder)


def accepted(sets: Mapping[str, Sequence[DataSet]]) -> str:
    """The text of the file of data sets with the hashes of what there is."""
    rows = {
        study: [s.model_dump() | {"sha256": digest(external_data(s.path))} for s in listed]
        for study, listed in sets.items()
    }
    return COMMENT + yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=120)


def main() -> None:
    """Compare, or write the hashes; one line on stderr and exit code 2 where the data are not those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()
    path = project_file(SETS)
    try:
        sets = read_sets(path)
        if unknown := [name for name in options.studies if name not in sets]:
            raise DocumentError(f"{SETS} has no study {unknown[0]}; it has {', '.join(sets)}")
        if options.accept:
            write_text(accepted(sets), path, DocumentError)
            return
        for name in options.studies or sets:
            refuse_other_versions(sets[name])
        for name in options.studies:
            write_sets(name, sets[name])
    except OvragError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
