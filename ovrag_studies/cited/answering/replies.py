"""Replies of a chat model, kept beside a run with what it was asked, so that an audit bundle can file them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel

from ovrag_core.base import Frozen, RunError, read_records, sidecar, write_records
from ovrag_core.llm import Chat, Message
from ovrag_core.llm import Reply as ChatReply


class KeptReply(Frozen):
    """A reply of a model with all that its key is made of: `prompt` is the system's, `text` is what was asked."""

    text: str
    prompt: str
    model: str
    reply: str

    @classmethod
    def of(cls, messages: Sequence[Message], model: str, reply: str) -> Self:
        """Return a reply to messages; where there is more than one after the system's, as JSON, with the roles."""
        prompt = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [message for message in messages if message.role != "system"]
        text = turns[0].content if len(turns) == 1 else json.dumps([[turn.role, turn.content] for turn in turns])
        return cls(text=text, prompt=prompt, model=model, reply=reply)

    @property
    def key(self) -> str:
        """Hash over text, prompt and model, told apart wherever one ends."""
        return hashlib.sha256(json.dumps([self.text, self.prompt, self.model]).encode()).hexdigest()


class HeardChat:
    """A chat model that remembers its usable replies, in the order in which they came."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.kept: list[KeptReply] = []

    @property
    def name(self) -> str:
        """See `Chat.name`."""
        return self._chat.name

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        temperature: float,
        seed: int | None,
        purpose: str,
    ) -> ChatReply:
        """See `Chat.complete`."""
        reply = self._chat.complete(messages, schema=schema, temperature=temperature, seed=seed, purpose=purpose)
        self.kept.append(KeptReply.of(messages, self.name, reply.text))
        return reply


def write_replies(run: Path, kept: Iterable[KeptReply]) -> None:
    """Write the replies behind a run to `<name>.replies.jsonl`, each once, sorted by key; no file for none.

    Raises RunError where they cannot be written.
    """
    path = sidecar(run, "replies")
    by_key = {reply.key: reply.model_dump() for reply in kept}
    path.unlink(missing_ok=True)
    if by_key:
        write_records([by_key[key] for key in sorted(by_key)], path, RunError)


def read_replies(run: Path) -> list[KeptReply]:
    """Return the replies behind a run; none where no model was asked. Raises RunError with the line of a fault."""
    path = sidecar(run, "replies")
    if not path.exists():
        return []
    return [reply for _, reply in read_records(path, KeptReply, RunError, "run the queries anew")]
