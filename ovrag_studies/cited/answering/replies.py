"""What a chat model was asked and said while it answered, kept beside a run so that an audit bundle can file it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError

from ovrag_core.base.errors import RunError
from ovrag_core.base.types import Frozen
from ovrag_core.llm import Chat, Message
from ovrag_core.llm import Reply as ChatReply
from ovrag_core.text.lines import one_line


class KeptReply(Frozen):
    """A reply of a model with all that its key is made of: `prompt` is the system's, `text` is what was asked."""

    text: str
    prompt: str
    model: str
    reply: str

    @classmethod
    def of(cls, messages: Sequence[Message], model: str, reply: str) -> Self:
        """A reply to messages; where there is more than one after the system's, as JSON, with who says what."""
        prompt = "\n\n".join(each.content for each in messages if each.role == "system")
        asked = [each for each in messages if each.role != "system"]
        text = asked[0].content if len(asked) == 1 else json.dumps([[each.role, each.content] for each in asked])
        return cls(text=text, prompt=prompt, model=model, reply=reply)

    @property
    def key(self) -> str:
        """See `cache_key`."""
        return cache_key(self.text, self.prompt, self.model)


def cache_key(text: str, prompt: str, model: str) -> str:
    """The key of a model's reply: a hash over text, prompt and model, told apart wherever one ends."""
    return hashlib.sha256(json.dumps([text, prompt, model]).encode()).hexdigest()


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


def replies_path(run: Path) -> Path:
    """Where the replies behind a run are."""
    return run.with_name(f"{run.stem}.replies.jsonl")


def write_replies(run: Path, kept: Iterable[KeptReply]) -> None:
    """Write the replies behind a run, each once, sorted by key; no file where there are none.

    Raises RunError where they cannot be written.
    """
    path = replies_path(run)
    by_key = {each.key: each for each in kept}
    try:
        path.unlink(missing_ok=True)
        if by_key:
            lines = "".join(json.dumps(by_key[key].model_dump()) + "\n" for key in sorted(by_key))
            path.write_text(lines, encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"{path} cannot be written ({error.strerror}); name a file in a folder that exists") from None


def read_replies(run: Path) -> list[KeptReply]:
    """The replies behind a run; none where no model was asked. Raises RunError, with the line, for what is no reply."""
    path = replies_path(run)
    if not path.exists():
        return []
    kept = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise RunError(f"{path} cannot be read; run the queries anew") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            kept.append(KeptReply.model_validate_json(line))
        except ValidationError as error:
            said = one_line(error.errors(include_url=False, include_input=False)[0]["msg"])
            raise RunError(f"{path}, line {number}: {said}; run the queries anew") from None
    return kept
