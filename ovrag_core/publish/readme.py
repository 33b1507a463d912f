"""Figures and tables in Markdown, kept as the results have them: `python -m ovrag_core.publish.readme FILE ...`.

A figure stands between two comments, the first of which names its macro: `<!-- OvragRecall -->0.780<!-- -->`. A table
stands between lines of which the first names the CSV of a result:

    <!-- table: tables/policy/external/arms.csv -->
    <!-- end -->
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pandas

from ovrag_core.base import OvragError, ResultError, project_of
from ovrag_core.publish.origins import macros
from ovrag_core.report import display

FIGURE = re.compile(r"<!-- (?P<name>[A-Za-z]+) -->(?P<value>[^<\n]*)<!-- -->")
TABLE = re.compile(r"(?m)^(?P<head><!-- table: (?P<path>\S+) -->)\n(?P<body>(?:[^<\n][^\n]*\n|\n)*)<!-- end -->$")
TABLES = Path("tables")


def results_macros(project: Path) -> dict[str, str]:
    """Macros of the experiment and of every study with their values. Raises ResultError where there are none.

    Figures of seconds are the machine's: they are no part of a text that is the same everywhere.
    """
    files = [path for path in sorted((project / TABLES).rglob("numbers*.tex")) if "latency" not in path.name]
    if not files:
        raise ResultError(f"{TABLES}/ has no numbers.tex; `make repro` makes results")
    return macros(*files)


def refreshed(text: str, values: Mapping[str, str]) -> str:
    """The text with every marked figure as the macro has it. Raises ResultError for a macro that does not exist."""

    def figure(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in values:
            raise ResultError(f"the text takes the figure {name}, which no numbers.tex has; take its marks out")
        unescaped = re.sub(r"\\([{}$&#%_])", r"\1", values[name])
        return f"<!-- {name} -->{unescaped}<!-- -->"

    return FIGURE.sub(figure, text)


def retabled(text: str, project: Path) -> str:
    """The text with every marked table as its CSV has it. Raises ResultError for a table that is not."""
    return TABLE.sub(lambda match: f"{match['head']}\n{_markdown(match['path'], project)}<!-- end -->", text)


def _markdown(path: str, project: Path) -> str:
    try:
        frame = _with_counts(pandas.read_csv(project / path))
    except OSError as error:
        raise ResultError(f"the text takes {path}, which cannot be read ({error.strerror})") from None
    rows = display(frame, {str(name): str(name) for name in frame})
    head = f"| {' | '.join(map(str, rows))} |\n|{'---|' * len(rows.columns)}\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows.itertuples(index=False, name=None))


def _with_counts(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The frame with whole numbers in columns that have no others, where some are missing too."""
    for name in frame.select_dtypes("float"):
        numbers = frame[name].dropna()
        if f"{name}_low" not in frame and len(numbers) and (numbers % 1 == 0).all():
            frame[name] = frame[name].astype("Int64")
    return frame


def refresh(path: Path, project: Path) -> bool:
    """Bring a file's figures and tables up to date; whether any changed. Raises ResultError for what is missing."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{error.filename} cannot be read ({error.strerror})") from None
    new = retabled(refreshed(text, results_macros(project)), project)
    if new != text:
        path.write_text(new, encoding="utf-8", newline="\n")
    return new != text


def main() -> None:
    """Bring the files of the command line up to date; one line on stderr and exit code 2 where one cannot be."""
    project = project_of(Path.cwd())
    try:
        for path in map(Path, sys.argv[1:]):
            print(f"{path}: {'figures brought up to date' if refresh(path, project) else 'figures are up to date'}")
    except OvragError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
