"""The files of a run: read, appended to, recovered after a crash, finished in order.

While a run is under way, that is while `<run>.partial.manifest.json` is there, its lines stand in
`<run>.partial.jsonl` as they were answered; the final files are made of them in one pass, in the order of the plan.
"""

import fcntl
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from sys import intern
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from ovrag_core.base import LatencyRecord, QueryRecord, RunError, parse, read_records, replacing, writing

RUNS = Path("data/runs")
_ROOM = "make room or choose another folder and run again, what was answered is kept"
_BROKEN = "remove that line or make the run again"
RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

Model = TypeVar("Model", bound=BaseModel)
Key = tuple[str, str, str]
Starts = dict[Key, int]


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a run: final names, and the names they have until the run is complete."""

    records: Path
    latency: Path
    manifest: Path
    partial_records: Path
    partial_latency: Path
    partial_manifest: Path


def run_files(run: str, folder: Path = RUNS) -> RunFiles:
    """The files of the run of that name."""
    ends = ("jsonl", "latency.jsonl", "manifest.json")
    return RunFiles(*(folder / f"{run}.{part}{end}" for part in ("", "partial.") for end in ends))


def read_run(path: Path) -> list[QueryRecord]:
    """The records of a run.

    Raises RunError that names the line for a broken file and for a query that is there twice, or the file to make.
    """
    records: dict[Key, QueryRecord] = {}
    for number, record in enumerate(each_record(path), 1):
        if records.setdefault(key := key_of(record), record) is not record:
            query = " ".join(key)
            raise RunError(f"{path} holds the query {query} twice, again as record {number}; delete one of them")
    return list(records.values())


def each_record(path: Path) -> Iterator[QueryRecord]:
    """The same, one after the other, so that a large run need not be in memory."""
    return _records(path, QueryRecord)


def read_latency(path: Path) -> list[LatencyRecord]:
    """The seconds of a run, from its sidecar; an empty list where there is no sidecar."""
    return list(_records(path, LatencyRecord)) if path.exists() else []


def line_of(record: QueryRecord | LatencyRecord) -> str:
    """A record as its line in a run, the seconds of a query as their line in a sidecar."""
    return record.model_dump_json(exclude_defaults=True) + "\n"


def key_of(record: QueryRecord | LatencyRecord) -> Key:
    """Return the key that tells the queries of a run apart."""
    return record.arm, record.document_id, record.question_id


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """A file that is there with all its lines, or not at all. Raises RunError where it cannot be written."""
    with writing(path, RunError, _ROOM, parents=True) as file:
        file.writelines(lines)


def manifest_text(values: Mapping[str, object]) -> str:
    """A manifest as it is written: the same values give the same bytes."""
    return json.dumps(values, indent=1, sort_keys=True) + "\n"


def write_run(files: RunFiles, records: Iterable[QueryRecord], seconds: Iterable[LatencyRecord], manifest: str) -> None:
    """The files of a complete run, its records last."""
    write_whole(files.latency, map(line_of, seconds))
    write_whole(files.manifest, [manifest])
    write_whole(files.records, map(line_of, records))


def read_manifest(path: Path) -> dict[str, object]:
    """Read what a run was made with. Raises RunError where that cannot be read."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        values = None
    if not isinstance(values, dict):
        raise RunError(f"{path} is missing or cannot be read; move the run away or choose another experiment.run")
    return values


def refuse_other_manifest(path: Path, manifest: str, records: Path) -> None:
    """Raises RunError where the run at `path` was made with anything else than `manifest` says."""
    old, new = read_manifest(path), json.loads(manifest)
    changed = [key for key in new if old.get(key) != new[key]] + sorted(set(old) - set(new))
    if changed:
        inputs = ", ".join(key.removesuffix("_sha256") for key in changed)
        raise RunError(
            f"{records} was made with other {inputs}; delete it or choose another experiment.run, runs are never mixed"
        )


def is_under_way(files: RunFiles, manifest: str) -> bool:
    """True where a partial run can be gone on with; one of another manifest that has no answer yet is forgotten.

    Raises RunError where it has answers and was made with anything else than `manifest` says.
    """
    if not files.partial_manifest.exists():
        return False
    try:
        refuse_other_manifest(files.partial_manifest, manifest, files.partial_records)
    except RunError:
        with appending(files) as run:
            if run.done:
                raise
        files.partial_manifest.unlink()
        return False
    return True


class Appending(NamedTuple):
    """The partial files of a run that is under way, open for more lines. `done` are the queries they had at first."""

    files: RunFiles
    records: FileIO
    latency: FileIO
    done: Set[Key]

    def add(self, record: QueryRecord, latency: LatencyRecord) -> None:
        """Append a query. Raises RunError where the disk takes no more; what was appended before stays."""
        try:
            # A query counts as done when both lines are whole, so a crash between the two costs that query alone.
            _append(self.latency, line_of(latency))
            _append(self.records, line_of(record))
        except OSError as error:
            raise _unwritable(self.files.partial_records, error) from None


@contextmanager
def appending(files: RunFiles) -> Iterator[Appending]:
    """The run's partial files, locked for as long as they are open. Raises RunError where another process has them."""
    try:
        records, latency = (path.open("ab", buffering=0) for path in (files.partial_records, files.partial_latency))
    except OSError as error:
        raise _unwritable(files.partial_records, error) from None
    with records, latency:
        try:
            fcntl.flock(records, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"{files.records.stem} is being run by another process; wait for it or choose another experiment.run"
            ) from None
        except OSError:
            pass  # a file system without locks
        yield Appending(files, records, latency, _recover(files))


def _append(file: FileIO, line: str) -> None:
    pending = memoryview(line.encode())
    while pending:
        pending = pending[file.write(pending) :]


def _recover(files: RunFiles) -> set[Key]:
    """Keys of the queries whose lines are whole in both partial files; what a crash left at their ends is cut off."""
    for path in (files.partial_records, files.partial_latency):
        with path.open("r+b") as file:
            file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))
    return _starts(files.partial_records, QueryRecord).keys() & _starts(files.partial_latency, LatencyRecord).keys()


def finish(files: RunFiles, order: Iterable[Key]) -> None:
    """The final files from the partial ones, lines in this order, and the partial ones removed.

    May be interrupted anywhere and done again. Raises RunError where a query of the order is missing.
    """
    keys = list(order)
    for partial, final, model in (
        (files.partial_latency, files.latency, LatencyRecord),
        (files.partial_records, files.records, QueryRecord),
    ):
        starts = _starts(partial, model)
        if missing := next((key for key in keys if key not in starts), None):
            raise RunError(f"{partial} lacks {' '.join(missing)}; run again to go on")
        _copy_lines(partial, starts, final, keys)
    write_whole(files.manifest, [files.partial_manifest.read_text(encoding="utf-8")])
    files.partial_manifest.unlink()  # from here on the run is complete
    files.partial_records.unlink(missing_ok=True)
    files.partial_latency.unlink(missing_ok=True)


def reopen(files: RunFiles, keep: Callable[[QueryRecord], bool]) -> None:
    """Put a run under way again, with those of its records that `keep` keeps.

    Of a complete run the final files stay until it is finished again.
    """
    if files.partial_manifest.exists():
        with appending(files):
            records, latency, manifest = files.partial_records, files.partial_latency, files.partial_manifest
    else:
        records, latency, manifest = files.records, files.latency, files.manifest
    wanted = {key_of(record) for record in _records(records, QueryRecord) if keep(record)}
    for source, partial, model in (
        (records, files.partial_records, QueryRecord),
        (latency, files.partial_latency, LatencyRecord),
    ):
        starts = _starts(source, model)
        _copy_lines(source, starts, partial, [key for key in starts if key in wanted])
    write_whole(files.partial_manifest, [manifest.read_text(encoding="utf-8")])


def _copy_lines(path: Path, starts: Starts, target: Path, keys: Iterable[Key]) -> None:
    """The lines of these keys, in this order, as a whole file."""
    with replacing(target, RunError, _ROOM) as unfinished, path.open("rb") as source, unfinished.open("wb") as file:
        for key in keys:
            source.seek(starts[key])
            file.write(source.readline().rstrip(b"\n") + b"\n")


def _starts(path: Path, model: type[QueryRecord] | type[LatencyRecord]) -> Starts:
    """Find where each query's line begins, of a whole file; of two lines for one query the first counts."""
    starts: Starts = {}
    start = 0
    if not path.exists():
        return starts
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                record = parse(line, model, f"{path}, line {number}", RunError, _BROKEN)
                arm, document_id, question_id = map(intern, key_of(record))
                starts.setdefault((arm, document_id, question_id), start)
            start += len(line)
    return starts


def _records(path: Path, model: type[Model]) -> Iterator[Model]:
    if not path.exists() and path.with_suffix(".partial.jsonl").exists():
        raise RunError(f"{path} is not finished; the same `ovrag run` goes on with it")
    if not path.exists():
        raise RunError(f"{path} does not exist; make it with `ovrag run` or `dvc repro`")
    return (record for _, record in read_records(path, model, RunError, _BROKEN))


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(f"{path} cannot be written ({error.strerror or error}); {_ROOM}")
