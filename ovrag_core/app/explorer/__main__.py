"""`python -m ovrag_core.app.explorer`: the notebook as an app in the browser. Options are Voila's.

The server is Voila's for one notebook, on this machine alone and behind a token.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from traitlets.config import Config
from voila.app import Voila

from ovrag_core.base import OvragError, project_of

NOTEBOOK = Path("notebooks/00_explorer.ipynb")
LARGEST_UPLOAD = 200_000_000  # bytes
IDLE = 10 * 60  # seconds after which the process of a page that was closed is ended
# Whatever a template asks for, nothing is loaded from or sent to another machine.
POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'self'; form-action 'self'"
OPTIONS = {
    "MappingKernelManager": {"cull_idle_timeout": IDLE, "cull_interval": 60},
    "Voila": {"auto_token": True},
    "VoilaConfiguration": {
        "strip_sources": True,
        "theme": "light",
        "allow_template_override": "NO",
        "allow_theme_override": "NO",
        "file_allowlist": [],
    },
}


class Explorer(Voila):  # type: ignore[misc] # Voila has no types
    """Voila for one notebook, for the person who started it."""

    def init_settings(self) -> dict[str, Any]:
        """Voila's settings, with the checks of host and token on."""
        return {
            **super().init_settings(),
            "allow_remote_access": False,
            "allow_unauthenticated_access": False,
            "websocket_max_message_size": LARGEST_UPLOAD,
            "headers": {"Referrer-Policy": "same-origin", "Content-Security-Policy": POLICY},
        }


if __name__ == "__main__":
    try:
        notebook = project_of(Path.cwd()) / NOTEBOOK
    except OvragError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    server = Explorer(config=Config(OPTIONS))
    server.initialize([str(notebook), *sys.argv[1:]])
    server.start()
