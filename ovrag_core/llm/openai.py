"""Any OpenAI-compatible server by its address: chat with structured output, and embeddings.

The client library sends, retries and honours Retry-After. Ours are a limit on the whole call, a limit on how many run
at once, and the fitting of the request to what the server can do (`dialect`).
"""

import asyncio
import json
import math
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate, pairwise
from typing import TypeVar
from urllib.request import getproxies

import httpx2
import numpy
import openai
from pydantic import BaseModel, JsonValue, ValidationError

from ovrag_core.base import (
    MalformedReplyError,
    ModelError,
    ModelSetupError,
    NeverReachedError,
    RateLimitError,
    RefusalError,
    ServerError,
    TimeLimitError,
    UnreachableError,
    Usage,
)
from ovrag_core.llm.chat import Completion, Embedded, Request, Vectors, clipped, without_surrogates
from ovrag_core.llm.dialect import (
    TOKENS_AROUND_A_TEXT,
    Dialect,
    Structured,
    chat_body,
    given_up,
    simpler,
    together,
    token_bound,
)
from ovrag_core.llm.keys import read_address
from ovrag_core.llm.meter import CHARACTERS_PER_TOKEN, Budget
from ovrag_core.llm.schema import JsonObject
from ovrag_core.llm.store import warn_on_stderr

CONNECT_SECONDS = 10.0
SECRET_LENGTH = 12  # characters
# What another server than OpenAI is sent. The client library adds names of an organisation and a project, headers of
# the user's environment, and the make of the machine.
PLAIN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
)
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought|reasoning)>.*?(?:</\1>\s*|\Z)", re.S)
_NO_MODEL = re.compile(r"(?:invalid|unknown) model\b|not a valid model|\bmodel\b.{0,80}(?:not found|not exist)", re.I)
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|size|window)|too many tokens|max_(?:completion_)?tokens.{0,20}too large", re.I
)


class _WireUsage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Wire(BaseModel):
    usage: _WireUsage | None = None

    def text(self) -> str:
        return ""

    def used(self, prompt_characters: int) -> Usage:
        """Return what the server counted; an estimate where it does not count. Every prompt has tokens."""
        counted = self.usage or _WireUsage()
        reply = counted.completion_tokens
        return Usage(
            calls=1,
            prompt_tokens=counted.prompt_tokens or math.ceil(prompt_characters / CHARACTERS_PER_TOKEN),
            completion_tokens=math.ceil(len(self.text()) / CHARACTERS_PER_TOKEN) if reply is None else reply,
        )


class _WirePart(BaseModel):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _WireMessage(BaseModel):
    content: str | list[_WirePart] | None = None
    refusal: str | None = None

    def said(self) -> str:
        """The text without what a reasoning model thought before it, for servers that do not keep that apart."""
        if isinstance(self.content, list):
            return "".join(piece.text or "" for piece in self.content if piece.type in ("text", "output_text"))
        return _THOUGHT.sub("", self.content or "", count=1)

    def refused(self) -> str | None:
        pieces = self.content if isinstance(self.content, list) else ()
        return self.refusal or next((piece.refusal for piece in pieces if piece.refusal), None)


class _WireChoice(BaseModel):
    message: _WireMessage
    finish_reason: str | None = None


class _WireCompletion(_Wire):
    choices: list[_WireChoice]
    model: str | None = None

    def text(self) -> str:
        return self.choices[0].message.said() if self.choices else ""


class _WireVector(BaseModel):
    index: int | None = None  # without it, vectors stand in the order of the texts
    embedding: list[float]


class _WireEmbeddings(_Wire):
    data: list[_WireVector]


W = TypeVar("W", bound=_Wire)

# The client looks whether this is among the loaded modules. Another thread may be loading it just then (the vector
# store needs it), and a half loaded module is none to the client but a traceback.
if find_spec("httpx"):
    import_module("httpx")


class OpenAIBackend:
    """Sends requests to the server at `base_url`.

    `seconds_per_attempt` bounds one silence of the server, `seconds_per_call` a whole call with its retries. `key` None
    is for servers that want none. Before the first call, one line says what goes where. Raises ModelSetupError for an
    address that is none, and for a key that would go to another machine unencrypted.
    """

    def __init__(
        self,
        *,
        base_url: str,
        key: str | None,
        concurrency: int = 8,
        retries: int = 5,
        seconds_per_attempt: float = 60.0,
        seconds_per_call: float = 300.0,
        structured: Structured = "json_schema",
        budget: Budget | None = None,
        announce: Callable[[str], None] = warn_on_stderr,
    ) -> None:
        address = read_address(base_url)
        self.host, local = address.host, address.local
        if (key or address.password) and not (local or address.encrypted):
            raise ModelSetupError(
                f"the key for {self.host} would go there unencrypted; write https:// in llm.base_url, or open a tunnel "
                "to this machine (ssh -L) and name http://localhost"
            )
        # A server may repeat what it was sent. Short keys ("ollama") are no secret and may well stand in a text.
        self._secret = key if key and len(key) >= SECRET_LENGTH else None
        self._keyless = key is None
        self._seconds_per_call = seconds_per_call
        self._dialect = Dialect(structured)
        self._budget = budget
        self._say = announce
        self._absent = f"{self.host} cannot be reached; start the server, or check llm.base_url and the network"
        self._told = False
        self._reached = False
        self._address = address
        self._direct = local or not getproxies()  # a proxy is asked by the client alone
        self._slots = asyncio.Semaphore(concurrency)
        self._client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url,
            max_retries=retries,
            timeout=httpx2.Timeout(seconds_per_attempt, connect=min(seconds_per_attempt, CONNECT_SECONDS)),
            # A redirect would carry the prompts to a host that nobody was told of.
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False,
                trust_env=not local,
                event_hooks={} if address.openai else {"request": [_only_ours(key, address.password)]},
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def knock(self) -> None:
        """Open a connection to the server and close it, once, before anything is sent.

        Raises NeverReachedError where the server is not there: the client's retries would take a quarter of a minute.
        """
        if self._reached or not self._direct:
            return
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, writer = await asyncio.open_connection(self._address.name, self._address.port)
        except OSError:  # TimeoutError is one
            raise NeverReachedError(self._absent) from None
        writer.close()
        self._reached = True

    async def send(self, request: Request, *, anew: bool = False) -> Completion:
        """See `Backend.send`. Nothing is recorded here, so `anew` changes nothing."""
        bound = Usage(calls=1, prompt_tokens=token_bound(request), completion_tokens=request.max_tokens)
        characters = sum(len(message.content) for message in request.messages)
        wire, used, seconds = await self._call(
            "/chat/completions",
            request.model,
            bound,
            characters,
            lambda dialect: chat_body(request, dialect),
            _WireCompletion,
        )
        choice = wire.choices[0] if wire.choices else None
        return Completion(
            text=wire.text(),
            refusal=choice.message.refused() if choice else None,
            finish_reason=choice.finish_reason if choice else None,
            usage=used,
            seconds=seconds,
            model=wire.model or request.model,
        )

    async def embed(self, model: str, texts: Sequence[str]) -> Embedded:
        """See `Backend.embed`. One call for all texts; cutting batches is the embedder's business."""
        inputs = [without_surrogates(text) if text.strip() else " " for text in texts]  # no server takes an empty one
        bound = Usage(calls=1, prompt_tokens=sum(len(text.encode()) + TOKENS_AROUND_A_TEXT for text in inputs))
        body: JsonObject = {"model": model, "input": list[JsonValue](inputs)}
        characters = sum(len(text) for text in inputs)
        wire, used, seconds = await self._call("/embeddings", model, bound, characters, lambda _: body, _WireEmbeddings)
        return Embedded(
            vectors=self._vectors(wire, len(inputs)),
            tokens=_shared_out(used.prompt_tokens, [len(text) for text in inputs]),
            seconds=seconds,
        )

    async def _call(
        self,
        path: str,
        model: str,
        bound: Usage,
        characters: int,
        body: Callable[[Dialect], JsonObject],
        form: type[W],
    ) -> tuple[W, Usage, float]:
        """One call within the limits: the reply, what it used, and its seconds, retries included."""
        await self.knock()
        async with self._slots:
            reserved = await self._budget.hold(model, bound) if self._budget else 0.0
            used = bound  # what was answered, or may have been, counts as much as it can have cost until we know better
            self._tell()
            start = time.perf_counter()
            try:
                wire = self._understood(await self._answered(path, model, body), form)
                used = wire.used(characters)
            except (ServerError, RateLimitError, RefusalError, UnreachableError, ModelSetupError):
                used = Usage()
                raise
            finally:
                if self._budget:
                    await self._budget.settle(model, reserved, used)
        return wire, used, time.perf_counter() - start

    async def _answered(self, path: str, model: str, body: Callable[[Dialect], JsonObject]) -> bytes:
        try:
            async with asyncio.timeout(self._seconds_per_call):
                return await self._fitted(path, body)
        except TimeoutError:
            raise TimeLimitError(f"{self.host} gave no reply within {self._seconds_per_call:g} s") from None
        except openai.OpenAIError as error:
            raise self._explained(error, model) from None

    async def _fitted(self, path: str, body: Callable[[Dialect], JsonObject]) -> bytes:
        """The reply, asked for in the way that the server understands."""
        dialect = self._dialect
        while True:
            try:
                response = await self._client.post(path, body=body(dialect), cast_to=httpx2.Response)
                self._reached = True
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                fallback = simpler(dialect, error.param or "", self._words(error, whole=True))
                if fallback is None:
                    raise
                dialect = fallback
            else:
                understood = together(self._dialect, dialect)
                for name in given_up(self._dialect, understood):
                    self._say(f"{self.host} takes no {name} for this model, so its replies do not follow llm.{name}")
                self._dialect = understood
                return response.content

    def _understood(self, content: bytes, form: type[W]) -> W:
        if self._secret:
            content = content.replace(self._secret.encode(), b"[key]")
        try:
            return form.model_validate_json(content)
        except ValidationError:
            if words := _reported(content):
                raise ServerError(f"{self.host} answered with an error: {words}") from None
            shown = clipped(content[:200].decode(errors="replace"), 60)
            raise MalformedReplyError(
                f"{self.host} did not answer like an OpenAI-compatible server: {shown!r}; check base_url"
            ) from None

    def _explained(self, error: openai.OpenAIError, model: str) -> ModelError:
        host, words = self.host, self._words(error)
        if not self._reached and isinstance(error.__cause__, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            return NeverReachedError(self._absent)
        self._reached = True
        status = error.status_code if isinstance(error, openai.APIStatusError) else "no status"
        explanations: dict[type[openai.OpenAIError], ModelError] = {
            openai.APITimeoutError: TimeLimitError(
                f"{host} was silent for longer than the limit, also when asked again; raise llm.seconds_per_attempt"
            ),
            openai.APIConnectionError: UnreachableError(
                f"{host} cannot be reached, or cut the connection; check base_url and the network"
            ),
            openai.AuthenticationError: ModelSetupError(
                f"{host} wants a key; put it into the environment or .env under a name of its own, and that name into "
                "llm.key_variable (OPENAI_API_KEY is sent to OpenAI alone)"
                if self._keyless
                else f"{host} does not accept the key; check it in the environment or in .env"
            ),
            openai.PermissionDeniedError: ModelSetupError(f"the key may not use {model} at {host}: {words}"),
            openai.NotFoundError: ModelSetupError(f"{host} has no model {model}, or base_url lacks its /v1: {words}"),
            openai.RateLimitError: RateLimitError(f"{host} still refuses after every retry: {words}"),
        }
        code = error.code if isinstance(error, openai.APIError) else None
        if code == "insufficient_quota":
            return ModelSetupError(f"there is no credit left at {host}: {words}")
        if code == "content_filter":
            return RefusalError(f"a filter at {host} declined the prompt: {words}")
        if status in (400, 422) and _NO_MODEL.search(self._words(error, whole=True)):
            return ModelSetupError(f"{host} has no model {model}: {words}")
        if status in (400, 413, 422) and _TOO_LONG.search(self._words(error, whole=True)):
            return ServerError(
                f"prompt and reply are longer than {model} takes; lower llm.max_tokens, extraction.window or "
                f"retrieval.top_k, or let the server give it more context: {words}"
            )
        server_error = ServerError(f"{host} answered with an error ({status}): {words}")
        return next(
            (explanation for kind, explanation in explanations.items() if isinstance(error, kind)), server_error
        )

    def _words(self, error: openai.OpenAIError, *, whole: bool = False) -> str:
        """The server's own words, without the key that it may repeat; on one line, or `whole`."""
        words = _message(error.body if isinstance(error, openai.APIError) else None) or str(error)
        words = words.replace(self._secret, "[key]") if self._secret else words
        return words if whole else clipped(words)

    def _tell(self) -> None:
        if self._told:
            return
        self._told = True
        stays = f"{self.host} on this machine; nothing leaves it"
        where = stays if self._address.local else f"{self.host}; nothing else leaves this machine"
        self._say(f"prompts (instructions, questions, passages of documents, answers) and texts to embed go to {where}")

    def _vectors(self, wire: _WireEmbeddings, expected: int) -> Vectors:
        placed = [(number if e.index is None else e.index, e) for number, e in enumerate(wire.data)]
        rows = [e.embedding for _, e in sorted(placed, key=lambda pair: pair[0])]
        if len(rows) != expected or len({len(row) for row in rows}) > 1 or not all(rows):
            raise MalformedReplyError(f"{self.host} sent {len(rows)} embeddings for {expected} texts, or uneven ones")
        vectors = numpy.asarray(rows, dtype=numpy.float32)
        if not numpy.isfinite(vectors).all():
            raise MalformedReplyError(f"{self.host} sent an embedding with numbers that are none")
        return vectors


def _message(body: object) -> str:
    """Read an error's body: OpenAI's form, Ollama's bare text, vLLM's flat object, FastAPI's or Gemini's list."""
    if isinstance(body, list):
        return next((words for fault in body if (words := _message(fault))), "")
    if isinstance(body, dict):
        detail = next((body[name] for name in ("message", "error", "detail", "msg") if body.get(name)), None)
        where = ".".join(str(step) for step in body["loc"]) if isinstance(body.get("loc"), list) else ""
        return f"field '{where.rpartition('.')[2]}': {detail}" if where else _message(detail)
    return body.strip() if isinstance(body, str) else ""


def _reported(content: bytes) -> str:
    """The words of an error that came with a status of success; empty where it is none."""
    try:
        body = json.loads(content)
    except ValueError:
        return ""
    return clipped(_message(body.get("error"))) if isinstance(body, dict) else ""


def _only_ours(key: str | None, password: bool) -> Callable[[httpx2.Request], Coroutine[object, object, None]]:
    """Hook that takes from a request what the client library adds to it, and any key but this one."""

    async def strip(request: httpx2.Request) -> None:
        headers = {name: value for name, value in request.headers.items() if name in PLAIN_HEADERS}
        if password:  # that of the address stands in the header by now
            headers["authorization"] = request.headers["authorization"]
        elif key:
            headers["authorization"] = f"Bearer {key}"
        request.headers = httpx2.Headers(headers)

    return strip


def _shared_out(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """`total` in whole parts that follow the weights and add up."""
    sums = list(accumulate((weight + 1 for weight in weights), initial=0))
    return tuple(total * upper // sums[-1] - total * lower // sums[-1] for lower, upper in pairwise(sums))
