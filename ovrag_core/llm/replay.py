"""Replies recorded once and replayed for ever: a backend above a store and, while recording, another backend."""

import asyncio
import base64
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy
from pydantic import ValidationError

from ovrag_core.base import Frozen, ReplayMissError, StoreError
from ovrag_core.llm.chat import Backend, Completion, Embedded, Request, without_surrogates
from ovrag_core.llm.schema import JsonObject
from ovrag_core.llm.store import ReplyStore, StoredReply, key_of


class _Vector(Frozen):
    """An embedding as it is recorded: float32, little-endian, base64."""

    vector: str
    tokens: int
    seconds: float


class RecordedReplies:
    """A backend that answers from a store, and asks the backend beneath, if any, once for what is not there.

    The store is the judge: of two replies to one request, the first one stays.
    """

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
            record = self._store.add(content, reply, recorded.take + 1 if recorded else 1)
            return self._completion(record, cached=False)

    async def embed(self, model: str, texts: Sequence[str]) -> Embedded:
        """Vectors, recorded by text, so that batches may be cut otherwise later."""
        wanted: dict[str, JsonObject] = {
            text: {"kind": "embedding", "model": model, "text": without_surrogates(text)} for text in texts
        }
        keys = {text: key_of(request) for text, request in wanted.items()}
        missing = [text for text in wanted if self._store.get(keys[text]) is None]
        if missing:
            await self._embed_missing(model, missing, wanted)
        recorded = [self._vector(keys[text]) for text in texts]
        vectors = [numpy.frombuffer(base64.b64decode(reply.vector), dtype="<f4") for reply in recorded]
        return Embedded(
            vectors=numpy.vstack(vectors).astype(numpy.float32),
            tokens=tuple(r.tokens for r in recorded),
            seconds=sum(r.seconds for r in recorded),
            cached=not missing,
        )

    async def _embed_missing(self, model: str, missing: Sequence[str], wanted: Mapping[str, JsonObject]) -> None:
        if self._beneath is None:
            raise ReplayMissError(self._store.miss(wanted[missing[0]]))
        embedded = await self._beneath.embed(model, missing)
        for text, vector, tokens in zip(missing, embedded.vectors, embedded.tokens, strict=True):
            reply: JsonObject = {
                "vector": base64.b64encode(vector.astype("<f4").tobytes()).decode(),
                "tokens": tokens,
                "seconds": round(embedded.seconds / len(missing), 6),
            }
            self._store.add(wanted[text], reply)

    def _completion(self, record: StoredReply, *, cached: bool) -> Completion:
        try:
            return Completion.model_validate({**record.reply, "cached": cached})
        except ValidationError:
            raise StoreError(f"{self._store.path}: the reply {record.key[:12]}… is not one of a chat") from None

    def _vector(self, key: str) -> _Vector:
        record = self._store.get(key)
        assert record is not None
        try:
            return _Vector.model_validate(record.reply)
        except ValidationError:
            raise StoreError(f"{self._store.path}: the reply {key[:12]}… is not one of an embedding") from None
