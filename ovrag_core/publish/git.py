"""Questions to git about the project's folder."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git_lines(project: Path, *arguments: str) -> list[str]:
    """Return the lines of git's answer; none where git, the repository or what is asked for is missing."""
    command = ["git", "-c", "core.quotePath=false", *arguments]
    try:
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
