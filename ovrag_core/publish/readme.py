"""Figures and tables in Markdown, kept as the results have them: `python -m ovrag_core.publish.readme FILE ...`.

A figure stands between two comments, the first of which names its macro: `<!-- OvragRecall -->0.780<!-- -->`. A table
stands between lines of which the first names the CSV of a result:

    <!-- table: tables/policy/external/arms.csv; rows: audited; columns: arm, measure, value; across: arm -->
    <!-- end -->

`rows` are regular expressions with ` & ` between them, each of which some cell of a row must have whole, `columns` are
those that are shown, in this order, and `across` has a column of its own for each of its values, filled by the last of
the others.
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
TABLE = re.compile(
    r"(?m)^(?P<head><!-- table: (?P<path>[^;\s]+)(?P<options>[^\n]*?) -->)\n"
    r"(?P<body>(?:[^<\n][^\n]*\n|\n)*)<!-- end -->$"
)
OPTIONS = ("rows", "columns", "across")
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
    """The text with every marked table as its CSV has it. Raises ResultError for a table, column or row that is not."""
    return TABLE.sub(lambda match: f"{match['head']}\n{_markdown(match, project)}<!-- end -->", text)


def _markdown(match: re.Match[str], project: Path) -> str:
    options = (option.partition(":")[::2] for option in match["options"].split(";") if ":" in option)
    chosen = {name.strip(): value.strip() for name, value in options}
    if unknown := [name for name in chosen if name not in OPTIONS]:
        raise ResultError(f"the table {match['path']} is asked for {unknown[0]}; known are {', '.join(OPTIONS)}")
    try:
        frame = _with_counts(pandas.read_csv(project / match["path"]))
        shown = _chosen(display(frame, {str(name): str(name) for name in frame}), **chosen)
    except OSError as error:
        raise ResultError(f"the text takes {match['path']}, which cannot be read ({error.strerror})") from None
    except KeyError as error:
        raise ResultError(f"the table {match['path']} has no column {error.args[0]}; mend its line") from None
    if shown.empty:
        raise ResultError(f"the table {match['path']} has no such rows; mend its line")
    head = f"| {' | '.join(map(str, shown))} |\n|{'---|' * len(shown.columns)}\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in shown.itertuples(index=False, name=None))


def _chosen(table: pandas.DataFrame, rows: str = "", columns: str = "", across: str = "") -> pandas.DataFrame:
    """What the options leave of a table. Raises KeyError for a column that it does not have."""
    for pattern in rows.split(" & ") if rows else ():
        table = table[[any(re.fullmatch(pattern, cell) for cell in row) for row in table.to_numpy()]]
    if columns:
        table = table[[name.strip() for name in columns.split(",")]]
    if across:
        *row_names, value_name = [str(name) for name in table if name != across]
        order = list(dict.fromkeys(table[across]))
        wide = table.pivot_table(value_name, row_names, across, aggfunc="first", sort=False)
        table = wide[order].fillna("–").reset_index()
    return table


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
