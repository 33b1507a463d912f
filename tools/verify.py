"""Rebuild the results in two fresh clones of HEAD and compare every byte with what is committed: `make verify`.

The results are removed from a clone before `dvc repro --force` makes them again, with the packages that are installed
here and the code of the clone. Files with `latency` in their name depend on the machine and are the declared
exceptions, as are their entries in dvc.lock. Exit code 1, and the name of each file, where anything else differs.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from ovrag_core.errors import OvragError
from ovrag_core.results.stages import Stage, read_stages

LOCK = "dvc.lock"
EXCEPTED = "latency"
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
    return EXCEPTED in Path(path).name


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


def made_by(path: str, stages: Mapping[str, Stage]) -> str | None:
    """The stage whose output in git a file is, or lies in."""
    places = {path, *(parent.as_posix() for parent in Path(path).parents)}
    outputs = ((stage.name, item) for stage in stages.values() for item in stage.outputs)
    return next((name for name, item in outputs if item.in_git and item.path in places), None)


def environment(clone: Path) -> dict[str, str]:
    """Variables for a rebuild with this Python's packages and the clone's code."""
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": path, "PYTHONPATH": str(clone), "DVC_SITE_CACHE_DIR": str(clone.parent / "site")}


def rebuild(clone: Path, own_environment: bool) -> float:
    """Make everything anew; the seconds that it took."""
    start = time.perf_counter()
    if own_environment:
        run("make", "reproduce", folder=clone)
    else:
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
    return [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key) and not excepted(key)]


def differences(before: Mapping[str, str], after: Mapping[str, str], appeared: Iterable[str]) -> Iterator[str]:
    """A line for each file that is not as committed; dvc.lock is compared by entry, not here."""
    for path, committed in before.items():
        if path == LOCK or excepted(path):
            continue
        if path not in after:
            yield f"{path} was not made"
        elif after[path] != committed:
            yield f"{path} differs"
    yield from (f"{path} is not committed" for path in appeared if not excepted(path))


def verify_clone(
    project: Path, revision: str, clone: Path, own_environment: bool
) -> tuple[list[str], dict[str, list[int]], float]:
    """Rebuild a revision in a clone; what differs, artefacts and identical ones by stage, and seconds."""
    run("git", "clone", "--quiet", "--no-hardlinks", "--no-checkout", str(project), str(clone), folder=project)
    run("git", "checkout", "--quiet", "--detach", revision, folder=clone)
    stages = read_stages(clone, compared=False)
    before = hashes(clone, tracked(clone))
    lock = (clone / LOCK).read_text(encoding="utf-8") if (clone / LOCK).exists() else ""
    remove_results(clone, stages)
    seconds = rebuild(clone, own_environment)
    after = hashes(clone, before)
    found = list(differences(before, after, untracked(clone)))
    found += [f"{LOCK}: {key} differs" for key in lock_differences(lock, (clone / LOCK).read_text(encoding="utf-8"))]
    counts: dict[str, list[int]] = {name: [0, 0, 0] for name in stages}
    for path, committed in before.items():
        if (name := made_by(path, stages)) is not None:
            counts[name][2 if excepted(path) else 0] += 1
            counts[name][1] += not excepted(path) and after.get(path) == committed
    return found, {name: numbers for name, numbers in counts.items() if sum(numbers)}, seconds


def table(results: list[tuple[list[str], dict[str, list[int]], float]]) -> str:
    """Artefacts in git by stage, and how many are identical in each clone."""
    heads = [f"identical in clone {number}" for number in range(1, len(results) + 1)]
    rows = [["stage", "artefacts", *heads, "excepted"]]
    for name, (count, _, beside) in results[0][1].items():
        rows.append([name, str(count), *(str(counts[name][1]) for _, counts, _ in results), str(beside)])
    sums = [str(sum(numbers[0] for numbers in results[0][1].values()))]
    sums += [str(sum(numbers[1] for numbers in counts.values())) for _, counts, _ in results]
    rows.append(["all", *sums, str(sum(numbers[2] for numbers in results[0][1].values()))])
    rows.append(["seconds", "", *(f"{seconds:.0f}" for _, _, seconds in results), ""])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    cells = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows]
    return "\n".join("  ".join(row) for row in cells)


def main() -> None:
    """Verify a project; exit code 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, default=Path(), help="the project's folder")
    parser.add_argument("--own-environment", action="store_true", help="install the packages in each clone, by make")
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
            results.append(verify_clone(project, revision, folder / name, asked.own_environment))
    except OvragError as error:
        sys.exit(str(error))
    finally:
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(table(results))
    different = [f"clone {number}: {line}" for number, (lines, *_) in enumerate(results, 1) for line in lines]
    print(
        "\n".join(different)
        if different
        else f"every artefact of {head} is byte-identical in both clones, and so is the bulk that {LOCK} records"
    )
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
