"""Figures in Markdown texts, kept as the results have them: `python -m ovrag_core.publish.readme README.md docs/*.md`.

A figure stands between two comments, the first of which names its macro: `<!-- OvragRecall -->0.780<!-- -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from ovrag_core.base import OvragError, ResultError, project_of
from ovrag_core.publish.origins import macros

FIGURE = re.compile(r"<!-- (?P<name>[A-Za-z]+) -->(?P<value>[^<\n]*)<!-- -->")
TABLES = Path("tables")


def results_macros(project: Path) -> dict[str, str]:
    """Macros of the experiment and of every study with their values. Raises ResultError where there are none.

    Figures of seconds are the machine's: they are no part of a text that is the same everywhere.
    """
    files = [path for path in sorted((project / TABLES).rglob("numbers*.tex")) if "latency" not in path.name]
    if not files:
        raise ResultError(f"{TABLES}/ has no numbers.tex; `make repro` makes results")
    values: dict[str, str] = {}
    for path in files:
        values |= macros(path.read_text(encoding="utf-8"))
    return values


def refreshed(text: str, values: Mapping[str, str]) -> str:
    """The text with every marked figure as the macro has it. Raises ResultError for a macro that does not exist."""

    def figure(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in values:
            raise ResultError(f"the text takes the figure {name}, which no numbers.tex has; take its marks out")
        value = re.sub(r"\\([{}$&#%_])", r"\1", values[name])
        return f"<!-- {name} -->{value}<!-- -->"

    return FIGURE.sub(figure, text)


def refresh(path: Path, project: Path) -> bool:
    """Bring a file's figures up to date; whether any changed. Raises ResultError for a missing file or macro."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{error.filename} cannot be read ({error.strerror})") from None
    new = refreshed(text, results_macros(project))
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
