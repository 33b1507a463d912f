"""Rebuild the results in two fresh clones of HEAD; compare them with each other and with HEAD: `make verify`.

The results are removed from a clone before `dvc repro --force` makes them again, with the packages that are installed
here and the code of the clone. The two clones, made by one machine, must agree in every byte. What is committed may
come from another: a file of other bytes is compared by what it says (`by_value.HOW`), and named. Two declared
exceptions: files and folders with `latency` in their name, which depend on the machine's speed, and the vectors
themselves (VECTORS), whose last digits depend on the processor and which are not in git. Exit code 1, and the name of
each file, where anything else differs.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from by_value import HOW, alike

from ovrag_core.base import OvragError
from ovrag_core.publish import Stage, read_stages

LOCK = "dvc.lock"
EXCEPTED = "latency"
VECTORS = "data/index/embeddings.npy"
# What a rebuild could find of an earlier one, outside the clone.
FOREIGN = ("PYTHONHOME", "VIRTUAL_ENV", "DVC_ROOT", "DVC_STAGE")


def run(*command: str, folder: Path, env: Mapping[str, str] | None = None) -> str:
    """The output of a command. Ends the script with its last lines where it fails."""
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        sys.exit(f"{' '.join(command)} failed in {folder}:\n{last}")
    return done.stdout


def excepted(path: str) -> bool:
    """Whether a file may differ from machine to machine."""
    return EXCEPTED in path


def hashes(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """SHA-256 of those of the files that exist."""
    found = {path: folder / path for path in paths}
    return {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in found.items() if file.is_file()}


def tracked(folder: Path) -> list[str]:
    """Files in git."""
    return run("git", "ls-files", "-z", folder=folder).split("\0")[:-1]


def untracked(folder: Path) -> list[str]:
    """Files that are neither in git nor ignored."""
    return run("git", "ls-files", "-z", "--others", "--exclude-standard", folder=folder).split("\0")[:-1]


def is_made(path: str, stages: Mapping[str, Stage]) -> bool:
    """Whether a file is an output of a stage in git, or lies in one."""
    places = {path, *(parent.as_posix() for parent in Path(path).parents)}
    return any(item.in_git and item.path in places for stage in stages.values() for item in stage.outputs)


def environment(clone: Path) -> dict[str, str]:
    """Variables for a rebuild with this Python's packages and the clone's code."""
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {
        **kept,
        "PATH": path,
        "PYTHONPATH": str(clone),
        "DVC_SITE_CACHE_DIR": str(clone.parent / "site"),
    }


def rebuild(clone: Path) -> float:
    """Make everything anew; the seconds that it took."""
    start = time.perf_counter()
    run(sys.executable, "-m", "dvc", "repro", "--force", folder=clone, env=environment(clone))
    return time.perf_counter() - start


def remove_results(clone: Path, stages: Mapping[str, Stage]) -> None:
    """Delete what the stages make, so that nothing committed can pass for rebuilt."""
    for item in (item for stage in stages.values() for item in stage.outputs):
        place = clone / item.path
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def lock_entries(text: str) -> dict[str, Any]:
    """What dvc.lock records, by stage and path: hashes of inputs and outputs, parameters, commands."""
    entries: dict[str, Any] = {}
    for name, stage in ((yaml.safe_load(text) or {}).get("stages") or {}).items():
        for part in ("deps", "outs"):
            entries |= {f"{name} {part} {item['path']}": item for item in stage.get(part, [])}
        entries |= {f"{name} {part}": stage[part] for part in ("cmd", "params") if part in stage}
    return entries


def lock_differences(before: str, after: str) -> list[str]:
    """Entries of dvc.lock that differ, without those of files that are excepted."""
    old, new = lock_entries(before), lock_entries(after)
    changed = (key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key))
    return [key for key in changed if not excepted(key.rpartition(" ")[2])]


class Rebuilt(NamedTuple):
    """A clone rebuilt: SHA-256 of its artefacts in git, what differs from HEAD, what agrees by value only, seconds."""

    made: dict[str, str]
    different: list[str]
    by_value: list[str]
    lock: str
    same_vectors: bool
    seconds: float


def committed(clone: Path, path: str) -> bytes:
    """A file as it is in HEAD."""
    return subprocess.run(["git", "show", f"HEAD:{path}"], cwd=clone, capture_output=True, check=True).stdout


def differences(
    clone: Path, before: Mapping[str, str], after: Mapping[str, str], appeared: Iterable[str]
) -> tuple[list[str], list[str]]:
    """A line for each file that does not say what the committed one does, and the files that do in other bytes.

    dvc.lock is compared by entry, not here.
    """
    different, by_value = [], []
    for path, known in before.items():
        if path == LOCK or excepted(path):
            continue
        if path not in after:
            different.append(f"{path} was not made")
        elif after[path] != known:
            if alike(path, committed(clone, path), (clone / path).read_bytes()):
                by_value.append(path)
            else:
                different.append(f"{path} differs")
    return different + [f"{path} is not committed" for path in appeared if not excepted(path)], by_value


def verify_clone(project: Path, revision: str, clone: Path) -> Rebuilt:
    """Rebuild a revision in a clone, and compare it with what is committed."""
    run("git", "clone", "--quiet", "--no-hardlinks", "--no-checkout", str(project), str(clone), folder=project)
    run("git", "checkout", "--quiet", "--detach", revision, folder=clone)
    stages = read_stages(clone)
    before = hashes(clone, tracked(clone))
    lock = (clone / LOCK).read_text(encoding="utf-8") if (clone / LOCK).exists() else ""
    remove_results(clone, stages)
    seconds = rebuild(clone)
    after = hashes(clone, before)
    different, by_value = differences(clone, before, after, untracked(clone))
    # Of a folder dvc.lock has one hash; its files are compared one by one.
    known = {VECTORS, *(place.as_posix() for path in by_value for place in (Path(path), *Path(path).parents))}
    made_lock = (clone / LOCK).read_text(encoding="utf-8")
    entries = lock_differences(lock, made_lock)
    same_vectors = not any(VECTORS in entry for entry in entries)
    different += [f"{LOCK}: {key} differs" for key in entries if key.rpartition(" ")[2] not in known]
    made = {path: sha256 for path, sha256 in after.items() if is_made(path, stages) and not excepted(path)}
    return Rebuilt(made, different, by_value, made_lock, same_vectors, seconds)


def changed(one: Rebuilt, two: Rebuilt) -> list[str]:
    """Artefacts in git that differ between two clones."""
    return sorted(path for path in one.made.keys() | two.made.keys() if one.made.get(path) != two.made.get(path))


def report(head: str, one: Rebuilt, two: Rebuilt) -> bool:
    """Print how the clones compare with HEAD and with each other; whether something differs."""
    for number, each in enumerate((one, two), 1):
        print(f"{len(each.made)} artefacts made in clone {number}, in {each.seconds:.0f} seconds")
    apart = [*changed(one, two), *(f"{LOCK}: {entry}" for entry in lock_differences(one.lock, two.lock))]
    lines = [f"clone {number}: {line}" for number, each in enumerate((one, two), 1) for line in each.different]
    lines += [f"the clones differ from each other: {path}" for path in apart]
    for number, each in enumerate((one, two), 1):
        for path in each.by_value:
            print(f"clone {number}: {path} has other bytes than in {head} and says the same")
    if one.by_value or two.by_value:
        print(f"these were compared by value: {HOW}")
    print(f"not compared with {head}: files and folders with `{EXCEPTED}` in their name")
    if not (one.same_vectors and two.same_vectors):
        print(f"{VECTORS} has other bytes than in {head}: its last digits are the processor's, and it is not in git")
    if lines:
        print("\n".join(lines))
    elif one.by_value or two.by_value:
        print(f"both clones have the same bytes; all say what {head} does, those named above in other bytes")
    else:
        print(f"every artefact of {head} is byte-identical in both clones, and so is other bulk that {LOCK} records")
    return bool(lines)


def main() -> None:
    """Verify a project; exit code 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, default=Path(), help="the project's folder")
    parser.add_argument("--keep", action="store_true", help="leave the clones for inspection")
    asked = parser.parse_args()
    project = asked.project.resolve()
    revision = run("git", "rev-parse", "HEAD", folder=project).strip()  # commits may come while this runs
    head = revision[:10]
    if run("git", "status", "--porcelain", folder=project):
        print("note: what is changed here and not committed is not verified", file=sys.stderr)
    folder = Path(tempfile.mkdtemp(prefix="verify-"))
    try:
        results = []
        for name in ("one", "two"):
            print(f"rebuilding {head} in {folder / name}", file=sys.stderr, flush=True)
            results.append(verify_clone(project, revision, folder / name))
    except OvragError as error:
        sys.exit(str(error))
    finally:
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(int(report(head, *results)))


if __name__ == "__main__":
    main()
