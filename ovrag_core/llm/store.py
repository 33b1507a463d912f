"""A file of recorded replies: JSON Lines, found again by the content of the request.

A line is `{"key", "take", "request", "reply"}`; the key is the SHA-256 of the request in canonical JSON, and a higher
take replaces a lower one of the same key. Lines are appended whole under a lock on the file itself, so that several
processes can record at once and a killed one leaves at most a broken last line, which the next one cuts off. Keys and
headers of the connection are no part of a request and never come here.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Never

from pydantic import Field, JsonValue, ValidationError

from ovrag_core.base.errors import StoreError
from ovrag_core.base.records import replacing
from ovrag_core.base.types import Frozen
from ovrag_core.llm.difference import difference, distance, flat
from ovrag_core.llm.schema import JsonObject

FORMAT = "ovrag-replies"
VERSION = 1
HEADER = {"format": FORMAT, "version": VERSION}
_REMEDY = "what it holds is whole, make room or mend its permissions and run again"
Warn = Callable[[str], None]


class Record(Frozen):
    """One line of a store."""

    key: str
    take: int = Field(ge=1)
    request: JsonObject
    reply: JsonObject


def canonical(value: object) -> str:
    """The one way to write a value as JSON: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(request: JsonObject) -> str:
    """What a request is found by."""
    return hashlib.sha256(canonical(request).encode()).hexdigest()


def warn_on_stderr(message: str) -> None:
    """Tell whoever watches."""
    print(f"ovrag: {message}", file=sys.stderr, flush=True)


class Store:
    """The recorded replies of one file, which is made with the first of them.

    Raises StoreError where the file is no store, is of another version or, with `create`, could not be written.
    """

    def __init__(self, path: Path, *, create: bool = False, warn: Warn = warn_on_stderr) -> None:
        self.path = path
        self._warn = warn
        self._records: dict[str, Record] = {}
        self._read_to = 0  # bytes of the file that are in `_records`
        self._lines = 0
        self._file: FileIO | None = None
        self._flattened: dict[str, dict[str, JsonValue]] = {}  # requests, made when the first miss needs them
        if not create:
            self._read_only()
        elif path.exists():
            with self._locked() as file:
                self._catch_up(file)
        else:
            self._refuse_unwritable()  # before a reply is paid for

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> Record | None:
        """The latest take of a reply."""
        return self._records.get(key)

    def takes(self) -> dict[str, int]:
        """The number of the latest take by key."""
        return {key: record.take for key, record in self._records.items()}

    def add(self, request: JsonObject, reply: JsonObject, take: int = 1) -> Record:
        """Append a reply; returns what the store now holds, which is another's where that was recorded first."""
        key = key_of(request)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._refuse(error)
        with self._locked() as file:
            self._catch_up(file)
            if self._read_to == 0:
                self._begin(file)
            known = self._records.get(key)
            if known is not None and known.take >= take:
                return known
            record = Record(key=key, take=take, request=request, reply=reply)
            line = _line(record).encode()
            self._write(file, line)
            self._take_in(line)
        return record

    def sort(self) -> None:
        """Sort the lines by key, without replaced takes and repetitions, so that git can diff and merge them."""
        if not self.path.exists():
            return
        with self._locked() as file:
            self._catch_up(file)
            lines = [canonical(HEADER) + "\n", *(_line(self._records[key]) for key in sorted(self._records))]
            content = "".join(lines).encode()
            if not self._records or content == _bytes_from(file, 0):
                return
            with replacing(self.path, StoreError, _REMEDY) as part, part.open("wb") as whole:
                whole.write(content)
                whole.flush()
                os.fsync(whole.fileno())

    def miss(self, request: JsonObject) -> str:
        """The sentence for a request without a reply: the first field that differs from the nearest recorded one."""
        fields = dict(flat(request))
        known = {key: self._flattened.get(key) or dict(flat(each.request)) for key, each in self._records.items()}
        self._flattened = known
        others = [key for key in sorted(known) if known[key]["kind"] == fields["kind"]]
        if not others:
            return f"{self.path} holds no recorded {fields['kind']} request; record it with a model first"
        nearest = known[min(others, key=lambda key: distance(fields, known[key]))]
        return f"{self.path} has no reply to this request; the nearest differs in {difference(fields, nearest)}"

    def _read_only(self) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read: {error.strerror}; record it with a model first, or name another store"
            ) from None
        whole, rest = self._whole_lines(content)
        if rest and not _is_record(rest):
            self._warn(f"{self.path}: the last line is broken and is not read")
            rest = b""
        self._take_in(whole + rest + b"\n")

    @contextmanager
    def _locked(self) -> Iterator[int]:
        while True:
            file = self._opened()
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_current(file.fileno(), self.path):
                try:
                    yield file.fileno()
                    return
                finally:
                    fcntl.flock(file, fcntl.LOCK_UN)
            file.close()  # somebody has sorted it into a new file
            self._file = None

    def _opened(self) -> FileIO:
        # It stays open: the number of a file that nobody holds may be given to the next one that is sorted.
        if self._file is None:
            try:
                self._file = self.path.open("ab+", buffering=0)
            except OSError as error:
                self._refuse(error)
            self._read_to, self._lines, self._records = 0, 0, {}
        return self._file

    def _catch_up(self, file: int) -> None:
        """Take in what others have appended, and mend what a killed process left of a line."""
        content = _bytes_from(file, self._read_to)
        whole, rest = self._whole_lines(content)
        if rest and _is_record(rest):  # an editor took the last line's end away
            self._write(file, b"\n")
            whole = content + b"\n"
        elif rest:
            os.ftruncate(file, self._read_to + len(whole))
            self._warn(f"{self.path}: the last line was broken and has been cut off; its reply is asked for again")
        self._take_in(whole)

    def _begin(self, file: int) -> None:
        header = canonical(HEADER).encode() + b"\n"
        self._write(file, header)
        self._take_in(header)

    def _refuse_unwritable(self) -> None:
        folder = next(each for each in self.path.absolute().parents if each.exists())
        if not folder.is_dir():
            self._refuse(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
        if not os.access(folder, os.W_OK | os.X_OK):
            self._refuse(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))

    def _whole_lines(self, content: bytes) -> tuple[bytes, bytes]:
        """All lines, and what is left of a last one. A file of another kind is refused: it is not ours to mend."""
        header = canonical(HEADER).encode()
        if self._read_to == 0 and not content.startswith(b'{"format"') and not header.startswith(content):
            raise StoreError(f"{self.path} is not a store of recorded replies; name another file")
        end = content.rfind(b"\n") + 1
        return content[:end], content[end:]

    def _write(self, file: int, rest: bytes) -> None:
        size = os.fstat(file).st_size
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            os.ftruncate(file, size)
            self._refuse(error)

    def _take_in(self, content: bytes) -> None:
        for line in content.split(b"\n")[:-1]:
            self._lines += 1
            if line.startswith(b'{"format"'):
                self._check_header(line)
            elif line.strip():
                self._keep(self._parse(line))
        self._read_to += len(content)

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
        except ValueError:
            header = {}
        if header != HEADER:
            raise StoreError(
                f"{self.path} was written in version {header.get('version')} of the store and this is version "
                f"{VERSION}; use the program that wrote it, or record anew into another file"
            )

    def _parse(self, line: bytes) -> Record:
        try:
            record = Record.model_validate_json(line)
        except ValidationError:
            hint = "keep the lines of both sides and remove git's marks" if line[:1] in b"<=>" else "restore the file"
            raise StoreError(f"{self.path}: line {self._lines} is not a recorded reply; {hint}") from None
        if record.key != key_of(record.request):
            raise StoreError(f"{self.path}: line {self._lines} was changed by hand: its key is not that of its request")
        return record

    def _keep(self, record: Record) -> None:
        known = self._records.get(record.key)
        if known is None or record.take > known.take:
            self._records[record.key] = record
        elif record.take == known.take and _content(record) != _content(known):
            raise StoreError(
                f"{self.path} holds two different replies to the request {record.key[:12]}…; delete one of the lines"
            )

    def _refuse(self, error: OSError) -> Never:
        raise StoreError(f"{self.path} cannot be written ({error.strerror}); {_REMEDY}") from None


def _line(record: Record) -> str:
    # The key stands first, so that sorted lines are sorted by key, behind the header.
    request, reply = canonical(record.request), canonical(record.reply)
    return f'{{"key":"{record.key}","take":{record.take},"request":{request},"reply":{reply}}}\n'


def _is_record(line: bytes) -> bool:
    try:
        Record.model_validate_json(line)
    except ValidationError:
        return False
    return True


def _content(record: Record) -> JsonObject:
    """What must agree between two copies of a record; the same reply may have taken longer once."""
    return {name: value for name, value in record.reply.items() if name != "seconds"}


def _is_current(file: int, path: Path) -> bool:
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _bytes_from(file: int, start: int) -> bytes:
    size = os.fstat(file).st_size
    pieces = []
    while start < size and (piece := os.pread(file, size - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)
