"""Replies recorded once and replayed for ever: a file of JSON Lines, found again by the content of the request.

A line is `{"key", "take", "request", "reply"}`; the key is the SHA-256 of the request in canonical JSON, and a higher
take replaces a lower one of the same key. Lines are appended whole under a lock on the file itself, so that several
processes can record at once and a killed one leaves at most a broken last line, which the next one cuts off. Keys and
headers of the connection are no part of a request and never come here.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import hashlib
import json
import os
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Literal, Never

import numpy
from pydantic import Field, JsonValue, ValidationError

from ovrag_core.errors import ReplayMissError, StoreError
from ovrag_core.llm.chat import Backend, Completion, Embedded, Request, Vectors, without_surrogates
from ovrag_core.llm.schema import JsonObject
from ovrag_core.types import Frozen

FORMAT = "ovrag-replies"
VERSION = 1
HEADER = {"format": FORMAT, "version": VERSION}
Mode = Literal["record", "replay", "refresh"]
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
    """The recorded replies of one file. Raises StoreError where the file is no store or of another version."""

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
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._refuse(error)
        with self._locked() as file:
            self._catch_up(file)

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
        with self._locked() as file:
            self._catch_up(file)
            known = self._records.get(key)
            if known is not None and known.take >= take:
                return known
            record = Record(key=key, take=take, request=request, reply=reply)
            self._append(file, _line(record))
            self._records[key] = record
        return record

    def sort(self) -> None:
        """Sort the lines by key, without replaced takes and repetitions, so that git can diff and merge them."""
        with self._locked() as file:
            self._catch_up(file)
            lines = [canonical(HEADER) + "\n", *(_line(self._records[key]) for key in sorted(self._records))]
            content = "".join(lines).encode()
            if content == _bytes_from(file, 0):
                return
            part = self.path.with_name(f"{self.path.name}.partial")  # ours alone, by the lock
            try:
                _write_whole(part, content)
                part.replace(self.path)
            except OSError as error:
                part.unlink(missing_ok=True)
                self._refuse(error)

    def miss(self, request: JsonObject) -> str:
        """The sentence for a request without a reply: the first field that differs from the nearest recorded one."""
        fields = dict(_flat(request))
        known = {key: self._flattened.get(key) or dict(_flat(each.request)) for key, each in self._records.items()}
        self._flattened = known
        others = [key for key in sorted(known) if known[key]["kind"] == fields["kind"]]
        if not others:
            return f"{self.path} holds no recorded {fields['kind']} request; record it with a model first"
        nearest = known[min(others, key=lambda key: _distance(fields, known[key]))]
        return f"{self.path} has no reply to this request; the nearest differs in {_difference(fields, nearest)}"

    def _read_only(self) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read: {error.strerror}; record it with a model first, or name another store"
            ) from None
        whole = self._whole_lines(content)
        if len(whole) < len(content):
            self._warn(f"{self.path}: the last line is broken and is not read")
        self._take_in(whole)

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
        """Take in what others have appended, and cut off what a killed process left of a line."""
        content = _bytes_from(file, self._read_to)
        whole = self._whole_lines(content)
        if len(whole) < len(content):
            os.ftruncate(file, self._read_to + len(whole))
            self._warn(f"{self.path}: the last line was broken and has been cut off; its reply is asked for again")
        if self._read_to + len(whole) == 0:
            self._append(file, canonical(HEADER) + "\n")
        else:
            self._take_in(whole)

    def _whole_lines(self, content: bytes) -> bytes:
        """All but a broken last line. Checked before anything is cut: a file of another kind is not ours to mend."""
        header = canonical(HEADER).encode()
        if self._read_to == 0 and not content.startswith(b'{"format"') and not header.startswith(content):
            raise StoreError(f"{self.path} is not a store of recorded replies; name another file")
        return content[: content.rfind(b"\n") + 1]

    def _append(self, file: int, line: str) -> None:
        size = os.fstat(file).st_size
        rest = line.encode()
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            os.ftruncate(file, size)
            self._refuse(error)
        self._read_to = size + len(line)
        self._lines += 1

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
        raise StoreError(
            f"{self.path} cannot be written: {error.strerror}; what it holds is whole, make room or mend its "
            f"permissions and run again"
        ) from None


class _Vector(Frozen):
    """An embedding as it is recorded: float32, little-endian, base64."""

    vector: str
    tokens: int
    seconds: float


class Recorded:
    """A backend that answers from a store, and asks the backend beneath for what is not there.

    `record` asks once and keeps the reply, `replay` never asks, `refresh` asks anew for everything this process needs
    and replaces what was recorded. The store is the judge: of two replies to one request, the first one stays.
    """

    def __init__(self, store: Store, mode: Mode, beneath: Backend | None = None) -> None:
        if mode != "replay" and beneath is None:
            raise ValueError(f"mode {mode} needs a backend to ask")
        self._store = store
        self._beneath = None if mode == "replay" else beneath
        self._old = store.takes() if mode == "refresh" else {}
        self._under_way: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def send(self, request: Request, *, anew: bool = False) -> Completion:
        """The recorded completion, or a new one, recorded. Raises ReplayMissError in `replay`."""
        content = request.as_json()
        key = key_of(content)
        async with self._under_way[key]:  # the same request twice at once is one call
            found = self._find(key)
            if found and not (anew and self._beneath):
                return self._completion(found, cached=True)
            if self._beneath is None:
                raise ReplayMissError(self._store.miss(content))
            completion = await self._beneath.send(request)
            take = found.take + 1 if found else self._take(key)
            record = self._store.add(content, _reply_json(completion), take)
            return self._completion(record, cached=False)

    async def embed(self, model: str, texts: Sequence[str]) -> Embedded:
        """Vectors, recorded by text, so that batches may be cut otherwise later."""
        wanted = {text: _embedding_request(model, text) for text in texts}
        keys = {text: key_of(request) for text, request in wanted.items()}
        missing = [text for text in wanted if self._find(keys[text]) is None]
        if missing:
            await self._embed_missing(model, missing, wanted)
        found = [self._vector(keys[text]) for text in texts]
        return Embedded(
            vectors=numpy.vstack([_decode(each.vector) for each in found]),
            tokens=tuple(each.tokens for each in found),
            seconds=sum(each.seconds for each in found),
            cached=not missing,
        )

    async def _embed_missing(self, model: str, missing: Sequence[str], wanted: Mapping[str, JsonObject]) -> None:
        if self._beneath is None:
            raise ReplayMissError(self._store.miss(wanted[missing[0]]))
        made = await self._beneath.embed(model, missing)
        for text, vector, tokens in zip(missing, made.vectors, made.tokens, strict=True):
            reply: JsonObject = {
                "vector": _encode(vector),
                "tokens": tokens,
                "seconds": round(made.seconds / len(missing), 6),
            }
            self._store.add(wanted[text], reply, self._take(key_of(wanted[text])))

    def _find(self, key: str) -> Record | None:
        record = self._store.get(key)
        return record if record and record.take > self._old.get(key, 0) else None

    def _take(self, key: str) -> int:
        return self._old.get(key, 0) + 1

    def _completion(self, record: Record, *, cached: bool) -> Completion:
        try:
            return Completion.model_validate({**record.reply, "cached": cached})
        except ValidationError:
            raise StoreError(f"{self._store.path}: the reply {record.key[:12]}… is not one of a chat") from None

    def _vector(self, key: str) -> _Vector:
        record = self._store.get(key)
        try:
            assert record is not None
            return _Vector.model_validate(record.reply)
        except ValidationError:
            raise StoreError(f"{self._store.path}: the reply {key[:12]}… is not one of an embedding") from None


def _reply_json(completion: Completion) -> JsonObject:
    reply = completion.model_dump(mode="json", exclude={"cached"})
    return {**reply, "seconds": round(completion.seconds, 6)}


def _embedding_request(model: str, text: str) -> JsonObject:
    return {"kind": "embedding", "model": model, "text": without_surrogates(text)}


def _encode(vector: Vectors) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _decode(vector: str) -> Vectors:
    return numpy.frombuffer(base64.b64decode(vector), dtype="<f4").astype(numpy.float32)


def _line(record: Record) -> str:
    # The key stands first, so that sorted lines are sorted by key, behind the header.
    request, reply = canonical(record.request), canonical(record.reply)
    return f'{{"key":"{record.key}","take":{record.take},"request":{request},"reply":{reply}}}\n'


def _content(record: Record) -> JsonObject:
    """What must agree between two copies of a record; the same reply may have taken longer once."""
    return {name: value for name, value in record.reply.items() if name != "seconds"}


def _flat(value: JsonValue, path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Every field of a request with its path, in the order in which a person would compare them."""
    if isinstance(value, dict):
        for name, each in sorted(value.items(), key=lambda item: (item[0] in ("schema", "messages", "text"), item[0])):
            yield from _flat(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _flat(each, f"{path}[{number}]")
    else:
        yield path, value


def _differing(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> list[str]:
    names = [*one, *(name for name in other if name not in one)]
    return [name for name in names if name not in one or name not in other or one[name] != other[name]]


def _distance(wanted: Mapping[str, JsonValue], stored: Mapping[str, JsonValue]) -> tuple[int, int]:
    """Fields that differ, then how little the first of them agrees."""
    names = _differing(wanted, stored)
    return len(names), -_common(wanted.get(names[0]), stored.get(names[0]))


def _common(one: JsonValue, other: JsonValue) -> int:
    """How many characters two texts agree in from the start."""
    if not isinstance(one, str) or not isinstance(other, str):
        return 0
    return bisect_left(range(min(len(one), len(other))), True, key=lambda n: one[: n + 1] != other[: n + 1])


def _difference(wanted: Mapping[str, JsonValue], stored: Mapping[str, JsonValue]) -> str:
    name = _differing(wanted, stored)[0]
    if name not in wanted or name not in stored:
        return f"{name}, which is only {'in the recorded one' if name in stored else 'here'}"
    here, there = wanted[name], stored[name]
    if not isinstance(here, str) or not isinstance(there, str):
        return f"{name}: {here!r} here, {there!r} recorded"
    start = _common(here, there)
    shown = slice(max(0, start - 10), start + 30)
    return f"{name} at character {start}: {here[shown]!r} here, {there[shown]!r} recorded"


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


def _write_whole(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
