"""Replies recorded once and replayed for ever: a file of JSON Lines, found again by the content of the request.

The key of a line is the SHA-256 of its request in canonical JSON; of two lines of one key the last counts. Lines are
appended whole under a lock on the file, so that several processes can record at once, and a killed one leaves at most a
broken last line, which the next cuts off. Keys and headers of the connection never come here. A store whose name ends
in `.xz` is packed, for git: replayed from, and not recorded into.
"""

import asyncio
import fcntl
import hashlib
import json
import lzma
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Never

from pydantic import ValidationError

from ovrag_core.base import Frozen, ReplayMissError, StoreError, replacing
from ovrag_core.llm.chat import Backend, Completion, Request
from ovrag_core.llm.schema import JsonObject

PACKED = ".xz"
_REMEDY = "what it holds is whole, make room or mend its permissions and run again"
_COMPARED = ("kind", "model", "max_tokens", "temperature", "seed")  # in the sentence about a missing reply
Warn = Callable[[str], None]


class StoredReply(Frozen):
    """One line of a store."""

    key: str
    take: int = 1  # of earlier versions
    request: JsonObject
    reply: JsonObject


def canonical(value: object) -> str:
    """The one way to write a value as JSON: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


HEADER = canonical({"format": "ovrag-replies", "version": 1}) + "\n"


def key_of(request: JsonObject) -> str:
    """Compute the key by which a request is found."""
    return hashlib.sha256(canonical(request).encode()).hexdigest()


def warn_on_stderr(message: str) -> None:
    """Tell whoever watches."""
    print(f"ovrag: {message}", file=sys.stderr, flush=True)


class ReplyStore:
    """The recorded replies of a file. Raises StoreError for one that is no store or, with `create`, not writable."""

    def __init__(self, path: Path, *, create: bool = False, warn: Warn = warn_on_stderr) -> None:
        self.path = path
        self.missed = 0  # requests that had no reply here
        if create and path.suffix == PACKED:
            raise StoreError(f"{path} is packed and only replayed from; record into {path.with_suffix('')} and pack it")
        self._records: dict[str, StoredReply] = {}
        if create and not path.exists():
            try:  # before a reply is paid for
                path.parent.mkdir(parents=True, exist_ok=True)
                TemporaryFile(dir=path.parent).close()
            except OSError as error:
                self._refuse(error)
            return
        content = self._content()
        *lines, tail = content.decode("utf-8", "replace").split("\n")
        self._records = self._parsed(lines)
        if tail:
            warn(f"{path}: the last line is broken and is not read; its reply is asked for again")
            if create:
                os.truncate(path, content.rfind(b"\n") + 1)

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> StoredReply | None:
        """The latest reply of a key."""
        return self._records.get(key)

    def add(self, request: JsonObject, reply: JsonObject) -> StoredReply:
        """Append a reply, behind the header in a new file, and return its record; a part of a line does not stay."""
        record = StoredReply(key=key_of(request), request=request, reply=reply)
        try:
            with self.path.open("ab+", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                size = os.fstat(file.fileno()).st_size
                pending = ((HEADER if size == 0 else "") + _line(record)).encode()
                try:
                    while pending:
                        pending = pending[file.write(pending) :]
                except OSError:
                    os.ftruncate(file.fileno(), size)
                    raise
        except OSError as error:
            self._refuse(error)
        self._records[record.key] = record
        return record

    def miss(self, request: JsonObject) -> str:
        """The sentence for a request without a reply: the first setting that no recorded request has, if any."""
        self.missed += 1
        lacking = f"{self.path} has no reply to this request"
        for name in _COMPARED:
            recorded = sorted({canonical(record.request.get(name)) for record in self._records.values()})
            if (here := canonical(request.get(name))) not in recorded:
                return f"{lacking}: {name} is {here} here, {', '.join(recorded)} recorded"
        words = "its words or its schema differ, as with other documents or parameters"
        return f"{lacking}: {words}; record it with a model first"

    def sorted_lines(self) -> str:
        """The header and each reply once, by key."""
        return HEADER + "".join(_line(self._records[key]) for key in sorted(self._records))

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

    def _parsed(self, lines: list[str]) -> dict[str, StoredReply]:
        header = HEADER.strip()
        if lines[:1] != [header]:
            raise StoreError(f"{self.path} is not a store of recorded replies; name another file")
        replies: dict[str, StoredReply] = {}
        for number, line in enumerate(lines, 1):
            if line in ("", header):  # a second header is of a file that was joined to this one
                continue
            try:
                record = StoredReply.model_validate_json(line)
            except ValidationError:
                raise StoreError(f"{self.path}: line {number} is not a recorded reply; restore the file") from None
            if record.key != key_of(record.request):
                raise StoreError(f"{self.path}: line {number} was changed by hand: its key is not that of its request")
            replies[record.key] = record
        return replies

    def _refuse(self, error: OSError) -> Never:
        raise StoreError(f"{self.path} cannot be written ({error.strerror}); {_REMEDY}") from None


class RecordedReplies:
    """A backend that answers from a store, and asks the backend beneath, if any, once for what is not there."""

    def __init__(self, store: ReplyStore, beneath: Backend | None = None) -> None:
        self._store = store
        self._beneath = beneath
        self._under_way: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def send(self, request: Request, *, anew: bool = False) -> Completion:
        """The recorded completion, or a new one, recorded. Raises ReplayMissError where nobody can be asked."""
        content = request.as_json()
        key = key_of(content)
        async with self._under_way[key]:  # the same request twice at once is one call
            recorded = self._store.get(key)
            if recorded and not (anew and self._beneath):
                return self._completion(recorded, cached=True)
            if self._beneath is None:
                raise ReplayMissError(self._store.miss(content))
            completion = await self._beneath.send(request)
            reply = completion.model_dump(mode="json", exclude={"cached"})
            reply["seconds"] = round(completion.seconds, 6)
            return self._completion(self._store.add(content, reply), cached=False)

    def _completion(self, record: StoredReply, *, cached: bool) -> Completion:
        try:
            return Completion.model_validate({**record.reply, "cached": cached})
        except ValidationError:
            raise StoreError(f"{self._store.path}: the reply {record.key[:12]}… is not one of a chat") from None


def pack(path: Path) -> Path:
    """Write the store beside itself as `.xz`, by key, the same bytes each time. Raises StoreError where it cannot."""
    content = ReplyStore(path).sorted_lines().encode()
    packed = path.with_name(path.name + PACKED)
    with replacing(packed, StoreError, _REMEDY) as partial:
        partial.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    return packed


def _line(record: StoredReply) -> str:
    # The key stands first, so that sorted lines are sorted by key, behind the header.
    request, reply = canonical(record.request), canonical(record.reply)
    return f'{{"key":"{record.key}","take":{record.take},"request":{request},"reply":{reply}}}\n'


if __name__ == "__main__":
    try:
        print(pack(Path(*sys.argv[1:])))
    except StoreError as error:
        sys.exit(str(error))
