"""Chat model as the rest of the workbench sees it: messages in; text, a checked object and usage out.

`ChatModel` is the same above every backend (a server, a store of recorded replies): it asks, judges the reply, and
asks once more where JSON came back broken. A reply that cannot be used is an error with its cause, never a pass.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

from ovrag_core.base import Frozen, Usage, errors
from ovrag_core.llm.background import run
from ovrag_core.llm.meter import Tally, current_tally, sum_usage
from ovrag_core.llm.schema import JsonObject, parse, strict_schema

Role = Literal["system", "user", "assistant"]
T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """All that a reply depends on; `schema` is the JSON Schema of a structured reply."""

    model: str
    messages: tuple[Message, ...]
    temperature: float
    seed: int | None
    max_tokens: int
    schema: JsonObject | None = None

    def as_json(self) -> JsonObject:
        """The request in plain values, by which its reply is recorded and found again."""
        plain = asdict(self) | {"kind": "chat", "temperature": float(self.temperature)}
        return plain | {"messages": list(plain["messages"])}


class Completion(Frozen):
    """Reply to one request, before anyone judged it. `seconds` are those of the call when it was made."""

    text: str
    refusal: str | None = None
    finish_reason: str | None = None
    usage: Usage
    seconds: float
    model: str
    cached: bool = False


class Backend(Protocol):
    """Source of replies. Called in the thread of model calls only."""

    async def send(self, request: Request, *, anew: bool = False) -> Completion:
        """The reply to a request; `anew`: though one is recorded. Raises a ModelError where there is none."""


class Reply(Completion):
    """A usable reply. `usage` and `seconds` include the call of a repair; `cached`: nothing was sent anywhere."""

    parsed: BaseModel | None

    def parsed_as(self, schema: type[T]) -> T:
        """The object that was asked for, typed. Raises TypeError where the reply was asked for in another form."""
        if not isinstance(self.parsed, schema):
            raise TypeError(f"the reply was not asked for as {schema.__name__}")
        return self.parsed


class Chat(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """Name in records and tables."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        temperature: float,
        seed: int | None,
        purpose: str,
    ) -> Reply:
        """The reply, as an object of `schema` where one is given. `purpose` is the part of the work it is counted to.

        How many calls run at once, from several threads, is the backend's limit. Raises a ModelError where there is no
        usable reply.
        """


class ChatModel:
    """A chat model above any backend.

    `max_tokens` bounds every reply, and with it the cost. With `retry_failures`, a recorded reply that cannot be used
    is asked for anew, and replaced; else it fails again as it did.
    """

    def __init__(self, backend: Backend, name: str, *, max_tokens: int = 4096, retry_failures: bool = False) -> None:
        self._backend = backend
        self._max_tokens = max_tokens
        self._retry_failures = retry_failures
        self.name = name

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        temperature: float,
        seed: int | None,
        purpose: str,
    ) -> Reply:
        """See `Chat.complete`."""
        request = Request(
            model=self.name,
            messages=tuple(Message(m.role, without_surrogates(m.content)) for m in messages),
            temperature=temperature,
            seed=seed,
            max_tokens=self._max_tokens,
            schema=strict_schema(schema) if schema else None,
        )
        return run(self._complete(request, schema, purpose, current_tally()))

    async def _complete(
        self, request: Request, schema: type[BaseModel] | None, purpose: str, tally: Tally | None
    ) -> Reply:
        sent: list[Completion] = []
        try:
            try:
                parsed = await self._attempt(request, schema, sent, anew=False)
            except errors.ModelError:
                if not self._retry_failures or not all(completion.cached for completion in sent):
                    raise
                sent.clear()
                parsed = await self._attempt(request, schema, sent, anew=True)
        except errors.ModelError as error:
            raise type(error)(f"{self.name}, {purpose}: {error}") from None
        finally:
            if tally is not None:  # what cannot be used was paid for all the same
                for call in sent:
                    tally.add(purpose, call.usage, call.seconds)
        whole = {
            "usage": sum_usage(completion.usage for completion in sent),
            "seconds": sum(completion.seconds for completion in sent),
            "cached": all(completion.cached for completion in sent),
        }
        return Reply(**dict(sent[-1]) | whole, parsed=parsed)

    async def _attempt(
        self, request: Request, schema: type[BaseModel] | None, sent: list[Completion], *, anew: bool
    ) -> BaseModel | None:
        """The object that was asked for, after a repair where it takes one; what came back is added to `sent`."""
        reply = await self._send(request, sent, anew=anew)
        if schema is None:
            return None
        try:
            return parse(reply.text, schema)
        except (errors.MalformedReplyError, errors.SchemaReplyError) as problem:
            repaired = await self._send(_repair(request, reply.text, problem), sent, anew=anew)
        try:
            return parse(repaired.text, schema)
        except (errors.MalformedReplyError, errors.SchemaReplyError) as problem:
            raise type(problem)(f"{problem}, also after it was asked to repair it") from None

    async def _send(self, request: Request, sent: list[Completion], *, anew: bool) -> Completion:
        completion = await self._backend.send(request, anew=anew)
        sent.append(completion)
        if problem := _problem(completion, request.max_tokens):
            raise problem
        return completion


def _problem(completion: Completion, max_tokens: int) -> errors.ModelError | None:
    if completion.refusal or completion.finish_reason == "content_filter":
        reason = f": {clipped(completion.refusal)}" if completion.refusal else " by a content filter"
        return errors.RefusalError(f"the model declined to answer{reason}")
    if completion.finish_reason == "length":
        return errors.TruncatedReplyError(f"the reply was cut off at the limit; raise max_tokens above {max_tokens}")
    if not completion.text.strip():
        return errors.EmptyReplyError("the reply holds no text")
    return None


def _repair(request: Request, text: str, problem: errors.ModelError) -> Request:
    wanted = json.dumps(request.schema, sort_keys=True)
    plea = f"That cannot be used: {problem}. Answer again with one JSON object, and nothing else, of this JSON Schema:"
    turns = (Message("assistant", text or "(nothing)"), Message("user", f"{plea} {wanted}"))
    return replace(request, messages=request.messages + turns)


def without_surrogates(text: str) -> str:
    """The text with halves of characters, which no server and no file takes, replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clipped(text: str, limit: int = 200) -> str:
    """A server's or model's words on one line, for an error message."""
    words = " ".join(text.split())
    return words if len(words) <= limit else f"{words[: limit - 1]}…"


def fence(*texts: str) -> str:
    """Line to put around texts of others in a prompt: it stands in none of them, and none could foresee it."""
    return f"-----{hashlib.sha256(chr(0).join(texts).encode('utf-8', 'replace')).hexdigest()[:12]}-----"
