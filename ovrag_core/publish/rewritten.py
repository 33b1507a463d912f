"""Results by the file: as their stage wrote them, rewritten by a notebook that was run by hand, or edited.

DVC records one hash for a folder and keeps no list of what is in it. So a folder of another hash is judged by its
files. A file is its stage's where the stage's notebook wrote it here last, or where it is as in the last commit of
dvc.lock, which is all that a fresh clone knows. It is rewritten where a notebook run by hand wrote it last, and edited
otherwise. A folder counts as rewritten where every file that is not its stage's is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from ovrag_core.publish.git import git_lines

RECORD = Path(".dvc/tmp/written.json")
FOLDERS = ("tables", "figures")
LOCK = "dvc.lock"
WRITERS = ("stage", "hand")
FileState = Literal["same", "changed", "rewritten", "missing"]

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


def files_of(project: Path, path: str) -> list[str]:
    """Return the files of a result, which may be a folder, as paths within the project; none where it is missing."""
    place = project / path
    if not place.is_dir():
        return [path] if place.exists() else []
    return sorted(file.relative_to(project).as_posix() for file in place.rglob("*") if file.is_file())


def file_states(project: Path, path: str) -> dict[str, FileState]:
    """Return the state of each file of a result that is, as a whole, not what its stage wrote.

    Where no file can be told from what the stage wrote, all of them count as changed.
    """
    by_stage, by_hand = (_recorded(project).get(writer, {}) for writer in WRITERS)
    revision = next(iter(git_lines(project, "log", "-1", "--format=%H", "--", LOCK)), "")
    committed = set(git_lines(project, "ls-tree", "-r", "--name-only", revision, path)) if revision else set()
    untouched = committed - set(git_lines(project, "diff", "--name-only", "--relative", revision, "--", path))
    files = files_of(project, path)
    states: dict[str, FileState] = dict.fromkeys(sorted(committed.difference(files)), "missing")
    for name in files:
        md5 = _md5(project / name)
        as_made = name in untouched or by_stage.get(name) == md5
        states[name] = "same" if as_made else "rewritten" if by_hand.get(name) == md5 else "changed"
    return states if set(states.values()) != {"same"} else dict.fromkeys(states, "changed")


def _hooks(project: Path) -> tuple[Callable[..., None], Callable[..., None]]:
    """Functions to call before and after a cell."""
    seen: dict[Path, tuple[int, int]] = {}

    def before(*_: object) -> None:
        seen.clear()
        seen.update(_states(project))

    def after(*_: object) -> None:
        written = [path for path, state in _states(project).items() if seen.get(path) != state]
        if written:
            writer = WRITERS["DVC_STAGE" not in os.environ]
            _record(project, writer, {path.relative_to(project).as_posix(): _md5(path) for path in written})

    return before, after


def _states(project: Path) -> dict[Path, tuple[int, int]]:
    """Time of the last change in nanoseconds and size in bytes of each result."""
    files = (path for folder in FOLDERS for path in (project / folder).rglob("*") if path.is_file())
    return {path: (found.st_mtime_ns, found.st_size) for path in files for found in (path.stat(),)}


def _recorded(project: Path) -> dict[str, dict[str, str]]:
    """MD5 of results as they were written here last, by writer and path; empty where nothing readable is kept."""
    try:
        known = json.loads((project / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _record(project: Path, writer: str, written: dict[str, str]) -> None:
    record = project / RECORD
    known = _recorded(project)
    known[writer] = {**known.get(writer, {}), **written}
    record.parent.mkdir(parents=True, exist_ok=True)
    partial = record.with_name(f"{record.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    partial.replace(record)


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
