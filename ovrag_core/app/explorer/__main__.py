"""`python -m ovrag_core.app.explorer [--folder DIR]`: the notebook as an app in the browser.

Other options are Voila's.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ovrag_core.base import FOLDERS, OvragError, ResultError, project_of

NOTEBOOK = Path("notebooks/00_explorer.ipynb")


def main(options: list[str]) -> None:
    """Serve the page until it is stopped."""
    parser = argparse.ArgumentParser(prog="ovrag_core.app.explorer", add_help=False, allow_abbrev=False)
    parser.add_argument("--folder", type=Path, action="append", default=[])
    asked, further = parser.parse_known_args(options)
    try:
        notebook = project_of(Path.cwd()) / NOTEBOOK
        os.environ[FOLDERS] = os.pathsep.join(map(_existing, asked.folder))
    except OvragError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    from ovrag_core.app.explorer.server import make_server  # noqa: PLC0415 - takes a second

    make_server(notebook, further).start()


def _existing(folder: Path) -> str:
    if not folder.is_dir():
        raise ResultError(f"--folder {folder}: no such folder; name one that holds packs or bundles")
    return str(folder.resolve())


if __name__ == "__main__":
    main(sys.argv[1:])
