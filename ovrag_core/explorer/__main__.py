"""`python -m ovrag_core.explorer`: the notebook as an app in this machine's browser; options are Voila's."""

from __future__ import annotations

import sys
from pathlib import Path

from ovrag_core.notebooks import project_of

NOTEBOOK = Path("notebooks/00_explorer.ipynb")
LARGEST_UPLOAD = 200_000_000  # bytes
# Whatever a template asks for, nothing is loaded from or sent to another machine.
POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws: data: blob:; "
    "frame-ancestors 'self'; form-action 'self'"
)


def main(options: list[str]) -> None:
    """Serve the page until it is stopped."""
    from voila.app import Voila  # noqa: PLC0415 - takes a second

    app = Voila(
        tornado_settings={
            "headers": {"Content-Security-Policy": POLICY},
            "websocket_max_message_size": LARGEST_UPLOAD,
        },
        strip_sources=True,
        theme="light",
    )
    app.initialize([str(project_of(Path.cwd()) / NOTEBOOK), *options])
    app.start()


if __name__ == "__main__":
    main(sys.argv[1:])
