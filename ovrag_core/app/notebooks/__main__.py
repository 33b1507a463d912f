"""`python -m ovrag_core.app.notebooks NOTEBOOK` executes it into reports/; with `--clean` it strips outputs instead."""

import argparse
import sys
from pathlib import Path

import yaml

from ovrag_core.app.notebooks.execution import Value, clean, execute
from ovrag_core.base import OvragError, project_of
from ovrag_core.study import system_error_text


def parameter(text: str) -> tuple[str, Value]:
    """`name=value`, the value read as YAML."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text} is not of the form name=value")
    return name, yaml.safe_load(value)


def main() -> None:
    """Execute or clean each notebook; one line on stderr and exit code 1 where one fails."""
    parser = argparse.ArgumentParser(prog="python -m ovrag_core.app.notebooks", description=__doc__)
    parser.add_argument("notebooks", type=Path, nargs="+", metavar="NOTEBOOK")
    parser.add_argument("-p", "--parameter", type=parameter, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--clean", action="store_true", help="strip outputs, in place or into the folder of --to")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="where results go; reports/ where notebooks are run")
    options = parser.parse_args()
    try:
        for notebook in options.notebooks:
            if options.clean:
                clean(notebook, options.to and options.to / notebook.name)
            else:
                folder = options.to or project_of(notebook.parent) / "reports"
                execute(notebook, folder / notebook.name, dict(options.parameter))
    except OvragError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(system_error_text(error))


if __name__ == "__main__":
    main()
