"""Results copied into a thesis, and checked there: nothing stale, nothing edited, nothing overwritten silently.

A manifest in the thesis's folder holds the hash of each copy, so that one that was edited by hand is told from one
that is only old.
"""

import fnmatch
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints, ValidationError

from ovrag_core.base import Frozen, ResultError, replacing
from ovrag_core.publish.chapter import chapter_problems
from ovrag_core.publish.stages import Stage, State, changes, read_stages

MANIFEST = "results.json"
CHAPTER = Path("thesis")
# What LaTeX reads of the results: tables and macros, figures and the wrappers with their captions, in a folder a stage.
EXPORTED = re.compile(r"tables/([a-z]\w*/){0,2}[^/]+\.tex|figures/([a-z]\w*/){0,2}[^/]+\.(tex|pdf)")
_MOST_CHANGES = 3

_LEFT = {"edited": "not replaced; --force replaces it", "dropped": "not removed; --force removes it"}
_WRONG = {
    "new": "is missing; export again",
    "changed": "is old; export again",
    "edited": "was edited by hand; take your change elsewhere and export with --force",
    "dropped": "is no result any more; export with --force to remove it",
}

Results = dict[str, tuple[Stage, State]]  # by path: the stage that makes it, and what became of it
# Kind of a copy. new: there is none; changed: the copy is old; edited: it is neither what was copied nor the result;
# dropped: what was copied is no result any more.
Kind = Literal["new", "changed", "same", "edited", "dropped"]
ResultPath = Annotated[str, StringConstraints(pattern=rf"^({EXPORTED.pattern})$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Manifest(Frozen):
    """Record of the copied files: SHA-256 of each file by its path."""

    files: dict[ResultPath, Sha256] = Field(default_factory=dict)


class Exported(NamedTuple):
    """Result of an export: a line for each changed file, and what a person should know, a sentence each.

    `kept` says whether something was left as it is because it was edited.
    """

    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    kept: bool


def export(project: Path, target: Path, *, force: bool = False, only: Sequence[str] = ()) -> Exported:
    """Bring a thesis's copies of all results up to date, or of those whose path fits one of `only` ("figures/*").

    Files edited by hand, there or in the project, are left and named; `force` copies over them. Raises ResultError for
    missing results, a name of none or a folder that cannot be written.
    """
    stages, results = _chosen(project, only)
    if target.resolve() == project.resolve():
        raise ResultError(f"{target} is the project itself; name the folder of your thesis")
    tampered = {} if force else edited_results(results)
    compared = compare(results, project, target, dropped=not only)
    copies = {path: kind for path, kind in compared.items() if path not in tampered}
    done = copy_results(copies, project, target, force=force)
    left = [path for path, kind in copies.items() if path not in done and kind != "same"]
    warnings = [f"{path} was edited by hand and not copied; {remedy}" for path, remedy in tampered.items()]
    warnings += [sentence for _, sentence in stale_results(stages, results)]
    return Exported(tuple(_lines(copies, done, left, target)), tuple(warnings), bool(left or tampered))


def check(project: Path, target: Path | None = None, only: Sequence[str] = ()) -> list[str]:
    """List what is stale, edited by hand or missing in a thesis, a sentence each.

    Without `target` the project's chapter is checked. Raises ResultError where results are missing altogether.
    """
    stages, results = _chosen(project, only)
    problems = [f"{path} was edited by hand; {remedy}" for path, remedy in edited_results(results).items()]
    problems += [f"{sentence}; run `{stage.remedy}`" for stage, sentence in stale_results(stages, results)]
    if target is None:
        return [*problems, *chapter_problems(project / CHAPTER, results, project)]
    copies = compare(results, project, target, dropped=not only)
    return [*problems, *(f"{target / path} {_WRONG[kind]}" for path, kind in copies.items() if kind != "same")]


def _lines(copies: Mapping[str, Kind], done: Sequence[str], left: Sequence[str], target: Path) -> Iterator[str]:
    """Yield a line for each result that was written or removed and for each that was left, then one that counts."""
    for path in done:
        yield f"{'overwritten' if copies[path] == 'edited' else copies[path]:<11} {path}"
    for path in left:
        yield f"{copies[path]:<11} {path}, {_LEFT[copies[path]]}"
    same = len(copies) - len(done) - len(left)
    counts = {"already there, as in the project": same, "not touched, named above": len(left)}
    more = [f"{count} {what}" for what, count in counts.items() if count]
    written = sum(copies[path] != "dropped" for path in done)
    yield "; ".join([f"{written} of {len(copies)} results written to {target}", *more])


def _chosen(project: Path, only: Sequence[str]) -> tuple[dict[str, Stage], Results]:
    """All stages, and the results that one of the patterns fits, all without one.

    Raises ResultError where results are missing, or there are none, and for a pattern that fits none.
    """
    stages = read_stages(project)
    results = exported(stages)
    _refuse_missing(stages, results)
    fitting: set[str] = set()
    for pattern in only or ["*"]:
        if not (paths := fnmatch.filter(results, pattern)):
            near = [path for path in results if path.split("/")[0] == pattern.split("/")[0]] or list(results)
            raise ResultError(f"--only {pattern}: no result is called so; results are such as {_some(near)}")
        fitting.update(paths)
    return stages, {path: made for path, made in results.items() if path in fitting}


def _refuse_missing(stages: Mapping[str, Stage], results: Results) -> None:
    items = [item for stage in stages.values() for item in stage.outputs if item.state == "missing" and not item.files]
    absent = [item.path for item in items if item.path.startswith(("tables/", "figures/"))]
    absent += [path for path, (_, state) in results.items() if state == "missing"]
    if absent or not results:
        listing = _some(absent) or "every table and figure"
        raise ResultError(f"missing: {listing}; run `make repro`, which makes the results")


def exported(stages: Mapping[str, Stage]) -> Results:
    """Paths of the results that LaTeX reads, with the stage and the state of each."""
    return {
        path: (stage, state)
        for stage in stages.values()
        for item in stage.outputs
        for path, state in item.files.items()
        if EXPORTED.fullmatch(path)
    }


def edited_results(results: Results) -> dict[str, str]:
    """Paths of results in the project that are not what their stage wrote, with the remedy."""
    makers = {path: stage for path, (stage, state) in results.items() if state == "changed"}
    return {path: f"`{stage.remedy}` makes it again" for path, stage in makers.items()}


def stale_results(stages: Mapping[str, Stage], results: Results) -> Iterator[tuple[Stage, str]]:
    """Each stage whose results among those chosen are stale, with a sentence: what has changed, parameters first."""
    for stage in stages.values():
        paths = [path for path, (maker, _) in results.items() if maker is stage]
        changed = sorted(changes(stages, stage.name), key=lambda change: ": parameter " not in change)
        if paths and changed:
            more = len(changed) - _MOST_CHANGES
            sentences = [*changed[:_MOST_CHANGES], *([f"and {more} more changes"] if more > 0 else [])]
            yield stage, f"{_some(paths)} {'is' if len(paths) == 1 else 'are'} stale: {'; '.join(sentences)}"


def compare(paths: Iterable[str], project: Path, target: Path, *, dropped: bool = True) -> dict[str, Kind]:
    """The kind of each result's copy in `target`, in order of paths, with those that are `dropped` or without.

    Raises ResultError for a broken manifest.
    """
    digests = read_manifest(target).files
    kinds: dict[str, Kind] = {path: "dropped" for path in digests if dropped and (target / path).exists()}
    return dict(sorted((kinds | {path: _kind(path, project, target, digests) for path in paths}).items()))


def copy_results(copies: Mapping[str, Kind], project: Path, target: Path, *, force: bool = False) -> list[str]:
    """Bring the copies up to date, edited ones only with `force`, which also removes dropped ones; the paths of these.

    Raises ResultError where the folder cannot be written.
    """
    digests = dict(read_manifest(target).files)
    done = []
    for name, kind in copies.items():
        path = target / name
        if kind in _LEFT and not force:
            continue
        if kind == "dropped":
            path.unlink()
            if not any(path.parent.iterdir()):  # a study that is gone leaves no folder behind
                path.parent.rmdir()
            digests.pop(name)
        else:
            content = (project / name).read_bytes()
            digests[name] = hashlib.sha256(content).hexdigest()
            if kind != "same":
                _write(path, content)
        done += [name] if kind != "same" else []
    text = Manifest(files=dict(sorted(digests.items()))).model_dump_json(indent=1) + "\n"
    if not (target / MANIFEST).exists() or text != (target / MANIFEST).read_text(encoding="utf-8"):
        _write(target / MANIFEST, text.encode())
    return done


def read_manifest(target: Path) -> Manifest:
    """The manifest of a thesis's folder; an empty one where there is none. Raises ResultError for a broken one."""
    path = target / MANIFEST
    if target.exists() and not target.is_dir():
        raise ResultError(f"{target} is a file; name a folder")
    try:
        return Manifest.model_validate_json(path.read_bytes()) if path.exists() else Manifest()
    except (OSError, ValidationError):
        raise ResultError(f"{path} is not a list of copied results; delete it and export again") from None


def _kind(path: str, project: Path, target: Path, exported_digests: Mapping[str, str]) -> Kind:
    copy = target / path
    if not copy.exists():
        return "new"
    if not copy.is_file():
        return "edited"
    content = copy.read_bytes()
    if content == (project / path).read_bytes():
        return "same"
    return "changed" if hashlib.sha256(content).hexdigest() == exported_digests.get(path) else "edited"


def _write(path: Path, content: bytes) -> None:
    """Replace a file in one step; a link in its place is replaced, not followed. Raises ResultError where it cannot."""
    with replacing(path, ResultError, "name a folder that can be, or make room there", parents=True) as partial:
        partial.write_bytes(content)


def _some(paths: Sequence[str]) -> str:
    """The first two paths, and how many more."""
    if len(paths) > 2:
        return f"{', '.join(paths[:2])} and {len(paths) - 2} more"
    return " and ".join(paths)
