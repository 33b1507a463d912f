"""Replies recorded once and replayed for ever: a backend above a store and, while recording, another backend."""

import asyncio
from collections import defaultdict

from pydantic import ValidationError

from ovrag_core.base import ReplayMissError, StoreError
from ovrag_core.llm.chat import Backend, Completion, Request
from ovrag_core.llm.store import ReplyStore, StoredReply, key_of


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
