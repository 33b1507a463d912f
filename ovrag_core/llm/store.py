"""A file of recorded replies: JSON Lines, found again by the content of the request.

The key of a line is the SHA-256 of its request in canonical JSON; a higher take replaces a lower one, of two lines of
one take the first counts. Lines are appended whole under a lock on the file itself: several processes can record at
once, and a killed one leaves at most a broken last line, which the next cuts off. Keys and headers of the connection
never come here. A store whose name ends in `.xz` is packed, for git: replayed from, and not recorded into.
"""

import errno
import fcntl
import hashlib
import json
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, Never

from pydantic import Field, JsonValue, ValidationError

from ovrag_core.base import Frozen, StoreError, replacing
from ovrag_core.llm.difference import difference, distance, flat
from ovrag_core.llm.schema import JsonObject

FORMAT = "ovrag-replies"
VERSION = 1
HEADER = {"format": FORMAT, "version": VERSION}
PACKED = ".xz"
_REMEDY = "what it holds is whole, make room or mend its permissions and run again"
Warn = Callable[[str], None]


class StoredReply(Frozen):
    """One line of a store."""

    key: str
    take: int = Field(ge=1)
    request: JsonObject
    reply: JsonObject


def canonical(value: object) -> str:
    """The one way to write a value as JSON: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(request: JsonObject) -> str:
    """Compute the key by which a request is found."""
    return hashlib.sha256(canonical(request).encode()).hexdigest()


def warn_on_stderr(message: str) -> None:
    """Tell whoever watches."""
    print(f"ovrag: {message}", file=sys.stderr, flush=True)


class ReplyStore:
    """The recorded replies of one file, which is made with the first of them.

    Raises StoreError where the file is no store, is of another version or, with `create`, could not be written.
    """

    def __init__(self, path: Path, *, create: bool = False, warn: Warn = warn_on_stderr) -> None:
        self.path = path
        self._warn = warn
        self.missed = 0  # requests that had no reply here
        self._records: dict[str, StoredReply] = {}
        self._flattened: dict[str, dict[str, JsonValue]] = {}  # requests, made when the first miss needs them
        if create and path.suffix == PACKED:
            raise StoreError(f"{path} is packed and only replayed from; record into {path.with_suffix('')} and pack it")
        if create and not path.exists():
            self._refuse_unwritable()  # before a reply is paid for
            return
        self._records = self._parsed(self._content())  # a file of another kind is refused before it is mended
        if create:
            with self._locked() as file:
                self._mend(file)

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> StoredReply | None:
        """The latest take of a reply."""
        return self._records.get(key)

    def add(self, request: JsonObject, reply: JsonObject, take: int = 1) -> StoredReply:
        """Append a reply; returns what the store now holds, which is the known one where its take is no lower."""
        stored = self._records.get(key := key_of(request))
        if stored is not None and stored.take >= take:
            return stored
        record = StoredReply(key=key, take=take, request=request, reply=reply)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._refuse(error)
        with self._locked() as file:
            self._mend(file)
            if file.seek(0, os.SEEK_END) == 0:
                self._write(file, canonical(HEADER) + "\n")
            self._write(file, _line(record))
        self._records[key] = record
        return record

    def sort(self) -> None:
        """Sort the lines by key, without replaced takes and repetitions, so that git can diff and merge them."""
        if not self.path.exists():
            return
        with self._locked() as file:
            self._mend(file)
            file.seek(0)
            before = file.read()
            self._records = self._parsed(before)
            lines = [canonical(HEADER) + "\n", *(_line(self._records[key]) for key in sorted(self._records))]
            content = "".join(lines).encode()
            if not self._records or content == before:
                return
            with replacing(self.path, StoreError, _REMEDY) as partial, partial.open("wb") as whole:
                whole.write(content)
                whole.flush()
                os.fsync(whole.fileno())

    def miss(self, request: JsonObject) -> str:
        """The sentence for a request without a reply: the first field that differs from the nearest recorded one."""
        self.missed += 1
        fields = dict(flat(request))
        for key in self._records.keys() - self._flattened.keys():
            self._flattened[key] = dict(flat(self._records[key].request))
        alike = [request for _, request in sorted(self._flattened.items()) if request["kind"] == fields["kind"]]
        if not alike:
            return f"{self.path} holds no recorded {fields['kind']} request; record it with a model first"
        nearest = min(alike, key=partial(distance, fields))
        return f"{self.path} has no reply to this request; the nearest differs in {difference(fields, nearest)}"

    def _content(self) -> bytes:
        try:
            content = self.path.read_bytes()
            return lzma.decompress(content) if self.path.suffix == PACKED else content
        except lzma.LZMAError:
            raise StoreError(f"{self.path} is cut off or not packed by xz; restore the file") from None
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read: {error.strerror}; record it with a model first, or name another store"
            ) from None

    def _parsed(self, content: bytes) -> dict[str, StoredReply]:
        """The replies of the file's lines by key; what a killed process left of a last one is passed over."""
        header = canonical(HEADER).encode()
        if not content.startswith(b'{"format"') and not header.startswith(content):
            raise StoreError(f"{self.path} is not a store of recorded replies; name another file")
        *whole, tail = content.split(b"\n")
        if tail and not _is_record(tail):
            self._warn(f"{self.path}: the last line is broken and is not read; its reply is asked for again")
            tail = b""
        replies: dict[str, StoredReply] = {}
        for number, line in enumerate([*whole, tail], 1):
            if line.startswith(b'{"format"'):
                self._check_header(line)
            elif line.strip():
                record = self._record(line, number)
                if record.key not in replies or record.take > replies[record.key].take:
                    replies[record.key] = record
        return replies

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

    def _record(self, line: bytes, number: int) -> StoredReply:
        try:
            record = StoredReply.model_validate_json(line)
        except ValidationError:
            hint = "keep the lines of both sides and remove git's marks" if line[:1] in b"<=>" else "restore the file"
            raise StoreError(f"{self.path}: line {number} is not a recorded reply; {hint}") from None
        if record.key != key_of(record.request):
            raise StoreError(f"{self.path}: line {number} was changed by hand: its key is not that of its request")
        return record

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The file, open to read and append, and nobody else's meanwhile."""
        while True:
            try:
                file = self.path.open("ab+", buffering=0)
            except OSError as error:
                self._refuse(error)
            with file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self.path.exists() and os.fstat(file.fileno()).st_ino == self.path.stat().st_ino:
                    yield file
                    return
            # somebody has sorted it into a new file

    def _mend(self, file: BinaryIO) -> None:
        """End the last line, or cut off what a killed process left of one."""
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            return
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return
        file.seek(0)
        content = file.read()
        start = content.rfind(b"\n") + 1
        if _is_record(content[start:]):  # an editor took the last line's end away
            self._write(file, "\n")
        else:
            os.ftruncate(file.fileno(), start)

    def _write(self, file: BinaryIO, text: str) -> None:
        size, pending = os.fstat(file.fileno()).st_size, text.encode()
        try:
            while pending:
                pending = pending[file.write(pending) :]
        except OSError as error:
            os.ftruncate(file.fileno(), size)
            self._refuse(error)

    def _refuse_unwritable(self) -> None:
        folder = next(parent for parent in self.path.absolute().parents if parent.exists())
        if not folder.is_dir():
            self._refuse(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
        if not os.access(folder, os.W_OK | os.X_OK):
            self._refuse(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))

    def _refuse(self, error: OSError) -> Never:
        raise StoreError(f"{self.path} cannot be written ({error.strerror}); {_REMEDY}") from None


def pack(path: Path) -> Path:
    """Write the store beside itself as `.xz`, the same bytes each time; the path of the packed one.

    Raises StoreError where it is no store or cannot be written.
    """
    store = ReplyStore(path)
    store.sort()
    packed = path.with_name(path.name + PACKED)
    with replacing(packed, StoreError, _REMEDY) as partial:
        partial.write_bytes(lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    return packed


def _line(record: StoredReply) -> str:
    # The key stands first, so that sorted lines are sorted by key, behind the header.
    request, reply = canonical(record.request), canonical(record.reply)
    return f'{{"key":"{record.key}","take":{record.take},"request":{request},"reply":{reply}}}\n'


def _is_record(line: bytes) -> bool:
    try:
        StoredReply.model_validate_json(line)
    except ValidationError:
        return False
    return True


if __name__ == "__main__":
    try:
        print(pack(Path(*sys.argv[1:])))
    except StoreError as error:
        sys.exit(str(error))
