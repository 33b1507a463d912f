"""Results that a notebook opened by hand has written, so that nobody takes them for edited by hand."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

RECORD = Path(".dvc/tmp/rewritten.json")
FOLDERS = ("tables", "figures")

_watched: set[Path] = set()


def watch(project: Path) -> None:
    """Keep, after each cell of the running notebook, the MD5 of the results in `project` that the cell wrote.

    Does nothing outside a notebook or where DVC keeps no folder of its own.
    """
    from IPython.core.getipython import get_ipython  # noqa: PLC0415 - only a notebook has it loaded

    shell = get_ipython()
    if shell is None or project in _watched or not (project / RECORD).parent.parent.is_dir():
        return
    _watched.add(project)
    before, after = _hooks(project)
    before()  # the cell that calls this has begun already
    shell.events.register("pre_run_cell", before)
    shell.events.register("post_run_cell", after)


def is_rewritten(project: Path, path: str) -> bool:
    """True where a result's content is what a notebook last wrote; `path` within the project."""
    try:
        recorded = json.loads((project / RECORD).read_text(encoding="utf-8"))
        return bool(recorded.get(path) == _md5(project / path))
    except (OSError, ValueError, AttributeError):
        return False


def _hooks(project: Path) -> tuple[Callable[..., None], Callable[..., None]]:
    """Functions to call before and after a cell."""
    seen: dict[Path, tuple[int, int]] = {}

    def before(*_: object) -> None:
        seen.clear()
        seen.update(_states(project))

    def after(*_: object) -> None:
        written = [path for path, state in _states(project).items() if seen.get(path) != state]
        if written:
            _record(project, {path.relative_to(project).as_posix(): _md5(path) for path in written})

    return before, after


def _states(project: Path) -> dict[Path, tuple[int, int]]:
    """Time of the last change in nanoseconds and size in bytes of each result."""
    files = (path for folder in FOLDERS for path in (project / folder).rglob("*") if path.is_file())
    return {path: (found.st_mtime_ns, found.st_size) for path in files for found in (path.stat(),)}


def _record(project: Path, written: dict[str, str]) -> None:
    record = project / RECORD
    try:
        known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    except ValueError:
        known = {}
    record.parent.mkdir(parents=True, exist_ok=True)
    partial = record.with_name(f"{record.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps({**known, **written}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    partial.replace(record)


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
