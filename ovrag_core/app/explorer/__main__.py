"""`python -m ovrag_core.app.explorer`: the notebook as an app in the browser. Options are Voila's."""

from __future__ import annotations

import sys
from pathlib import Path

from ovrag_core.base import OvragError, project_of

NOTEBOOK = Path("notebooks/00_explorer.ipynb")


def main(options: list[str]) -> None:
    """Serve the page until it is stopped."""
    try:
        notebook = project_of(Path.cwd()) / NOTEBOOK
    except OvragError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    from ovrag_core.app.explorer.server import make_server  # noqa: PLC0415 - takes a second

    make_server(notebook, options).start()


if __name__ == "__main__":
    main(sys.argv[1:])
