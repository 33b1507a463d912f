"""Any OpenAI-compatible server by its address: chat with structured output.

The client library sends, retries and honours Retry-After. Ours are a limit on the whole call, a limit on how many run
at once, and the fitting of the request to what the server can do: a JSON Schema where it takes one, JSON mode where
not, else the wish in words. Nothing is looked up by the name of a model or a server: each is told by what it refuses.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Literal

import httpx  # noqa: F401 - the client looks at it; Chroma, which loads it, may be half-way in another thread by then
import httpx2
import openai
from pydantic import AliasPath, BaseModel, Field, ValidationError

from ovrag_core.base import Usage, errors
from ovrag_core.llm.chat import Completion, Message, Request, clipped
from ovrag_core.llm.keys import read_address
from ovrag_core.llm.meter import Budget
from ovrag_core.llm.schema import JsonObject
from ovrag_core.llm.store import warn_on_stderr

Structured = Literal["json_schema", "json_object", "text"]

CONNECT_SECONDS = 10.0
SECRET_LENGTH = 12  # characters; shorter keys ("ollama") are no secret and may well stand in a text
# What another server than OpenAI is sent. The client library adds names of an organisation and a project, headers of
# the user's environment, and the make of the machine.
PLAIN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
)
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought|reasoning)>.*?(?:</\1>\s*|\Z)", re.S)
_ABOUT_FORMAT = re.compile(r"response_?format|json_?schema|json_?object|structured output|schema|grammar|guided", re.I)
_NO_MODEL = re.compile(r"(?:invalid|unknown) model\b|not a valid model|\bmodel\b.{0,80}(?:not found|not exist)", re.I)
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|size|window)|too many tokens|max_(?:completion_)?tokens.{0,20}too large", re.I
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Parts of a request that a server has been found to understand."""

    structured: Structured = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True


class _Wire(BaseModel):
    """The first choice of a completion as servers send it; what one leaves out is None."""

    choices: list[dict[str, object]]
    text: str | None = Field(None, validation_alias=AliasPath("choices", 0, "message", "content"))
    refusal: str | None = Field(None, validation_alias=AliasPath("choices", 0, "message", "refusal"))
    finish_reason: str | None = Field(None, validation_alias=AliasPath("choices", 0, "finish_reason"))
    prompt_tokens: int | None = Field(None, validation_alias=AliasPath("usage", "prompt_tokens"))
    completion_tokens: int | None = Field(None, validation_alias=AliasPath("usage", "completion_tokens"))
    model: str | None = None


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
        self.host, self._local = address.host, address.local
        if key and not (address.local or address.encrypted):
            raise errors.ModelSetupError(
                f"the key for {self.host} would go there unencrypted; write https:// in llm.base_url, or open a tunnel "
                "to this machine (ssh -L) and name http://localhost"
            )
        self._secret = key if key and len(key) >= SECRET_LENGTH else None
        self._seconds_per_call = seconds_per_call
        self._dialect = Dialect(structured)
        self._budget = budget
        self._say = announce
        self._told = False
        self._reached = False
        self._slots = asyncio.Semaphore(concurrency)
        self._client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url,
            max_retries=retries,
            timeout=httpx2.Timeout(seconds_per_attempt, connect=min(seconds_per_attempt, CONNECT_SECONDS)),
            # A redirect would carry the prompts to a host that nobody was told of.
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False,
                trust_env=not address.local,
                event_hooks={} if address.openai else {"request": [_only_ours(key)]},
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def send(self, request: Request, *, anew: bool = False) -> Completion:
        """See `Backend.send`. Nothing is recorded here, so `anew` changes nothing."""
        async with self._slots:
            if self._budget:
                self._budget.check()
            self._tell()
            start = time.perf_counter()
            wire = self._understood(await self._answered(request))
            used = Usage(calls=1, prompt_tokens=wire.prompt_tokens or 0, completion_tokens=wire.completion_tokens or 0)
            if self._budget:
                self._budget.charge(request.model, used)
        return Completion(
            # What a reasoning model thought stands first, where a server does not keep that apart.
            text=_THOUGHT.sub("", wire.text or "", count=1),
            refusal=wire.refusal,
            finish_reason=wire.finish_reason,
            usage=used,
            seconds=time.perf_counter() - start,
            model=wire.model or request.model,
        )

    async def _answered(self, request: Request) -> bytes:
        try:
            async with asyncio.timeout(self._seconds_per_call):
                return await self._fitted(request)
        except TimeoutError:
            raise errors.TimeLimitError(f"{self.host} gave no reply within {self._seconds_per_call:g} s") from None
        except openai.OpenAIError as error:
            raise self._explained(error, request.model) from None

    async def _fitted(self, request: Request) -> bytes:
        """The reply, asked for in the way that the server understands."""
        dialect = self._dialect
        while True:
            body = chat_body(request, dialect)
            try:
                response = await self._client.post("/chat/completions", body=body, cast_to=httpx2.Response)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                fallback = simpler(dialect, str(error.body or error))
                if fallback is None:
                    raise
                dialect = fallback
                continue
            for name in ("temperature", "seed"):
                if getattr(self._dialect, name) and not getattr(dialect, name):
                    self._say(f"{self.host} takes no {name} for this model, so its replies do not follow llm.{name}")
            self._dialect, self._reached = dialect, True
            return response.content

    def _understood(self, content: bytes) -> _Wire:
        if self._secret:  # a server may repeat what it was sent
            content = content.replace(self._secret.encode(), b"[key]")
        try:
            return _Wire.model_validate_json(content)
        except ValidationError:
            shown = clipped(content[:200].decode(errors="replace"), 60)
            raise errors.MalformedReplyError(
                f"{self.host} did not answer like an OpenAI-compatible server: {shown!r}; check base_url"
            ) from None

    def _explained(self, error: openai.OpenAIError, model: str) -> errors.ModelError:
        host, words = self.host, self._words(error)
        absent = isinstance(error.__cause__, (httpx2.ConnectError, httpx2.ConnectTimeout))
        if absent and not self._reached:
            return errors.NeverReachedError(
                f"{host} cannot be reached; start the server, or check llm.base_url and the network"
            )
        self._reached = True
        if isinstance(error, openai.APIStatusError):
            return self._status_explained(error, model, words)
        if isinstance(error, openai.APITimeoutError):
            return errors.TimeLimitError(
                f"{host} was silent for longer than the limit, also when asked again; raise llm.seconds_per_attempt"
            )
        if isinstance(error, openai.APIConnectionError):
            return errors.UnreachableError(
                f"{host} cannot be reached, or cut the connection; check base_url and the network"
            )
        return errors.ServerError(f"{host} answered with an error: {words}")

    def _status_explained(self, error: openai.APIStatusError, model: str, words: str) -> errors.ModelError:
        host, status, whole = self.host, error.status_code, str(error.body or error)
        no_model = f"{host} has no model {model}"
        faults_of_setup = {
            401: f"{host} does not accept the key, or wants a key and got none; put it into the environment or .env "
            "under a name of its own, and that name into llm.key_variable (OPENAI_API_KEY is sent to OpenAI alone)",
            403: f"the key may not use {model} at {host}: {words}",
            404: f"{no_model}, or base_url lacks its /v1: {words}",
        }
        if status in faults_of_setup:
            return errors.ModelSetupError(faults_of_setup[status])
        if error.code == "insufficient_quota":
            return errors.ModelSetupError(f"there is no credit left at {host}: {words}")
        if status == 429:
            return errors.RateLimitError(f"{host} still refuses after every retry: {words}")
        if status in (400, 422) and _NO_MODEL.search(whole):
            return errors.ModelSetupError(f"{no_model}: {words}")
        if status in (400, 413, 422) and _TOO_LONG.search(whole):
            return errors.ServerError(
                f"prompt and reply are longer than {model} takes; lower llm.max_tokens, extraction.window or "
                f"retrieval.top_k, or let the server give it more context: {words}"
            )
        return errors.ServerError(f"{host} answered with an error ({status}): {words}")

    def _words(self, error: openai.OpenAIError) -> str:
        """The server's own words on one line, without the key that it may repeat."""
        words = _message(error.body if isinstance(error, openai.APIError) else None) or str(error)
        return clipped(words.replace(self._secret, "[key]") if self._secret else words)

    def _tell(self) -> None:
        if self._told:
            return
        self._told = True
        stays = f"{self.host} on this machine; nothing leaves it"
        where = stays if self._local else f"{self.host}; nothing else leaves this machine"
        self._say(f"prompts (instructions, questions, passages of documents, answers) go to {where}")


def _message(body: object) -> str:
    """Read an error's body: OpenAI's form, Ollama's bare text, vLLM's flat object, FastAPI's or Gemini's list."""
    if isinstance(body, list) and body:
        return _message(body[0])
    if isinstance(body, dict):
        return _message(next((body[name] for name in ("message", "error", "detail", "msg") if body.get(name)), ""))
    return body.strip() if isinstance(body, str) else ""


def _only_ours(key: str | None) -> Callable[[httpx2.Request], Coroutine[object, object, None]]:
    """Hook that takes from a request what the client library adds to it, and any key but this one."""

    async def strip(request: httpx2.Request) -> None:
        headers = {name: value for name, value in request.headers.items() if name in PLAIN_HEADERS}
        request.headers = httpx2.Headers(headers | ({"authorization": f"Bearer {key}"} if key else {}))

    return strip


def chat_body(request: Request, dialect: Dialect) -> JsonObject:
    """The request as the server understands it."""
    messages, schema = request.messages, request.schema
    body: JsonObject = {"model": request.model, dialect.limit: request.max_tokens}
    if dialect.temperature:
        body["temperature"] = request.temperature
    if dialect.seed and request.seed is not None:
        body["seed"] = request.seed
    if schema is not None and dialect.structured == "json_schema":
        form: JsonObject = {"name": "reply", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    elif schema is not None:
        messages = _with_wish(messages, schema)
        if dialect.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
    body["messages"] = [{"role": m.role, "content": m.content} for m in messages]
    return body


def simpler(dialect: Dialect, words: str) -> Dialect | None:
    """The next thing to try after a request refused in these words, None where they are about something else."""
    if dialect.limit == "max_tokens" and "max_completion_tokens" in words:
        return replace(dialect, limit="max_completion_tokens")
    if dialect.temperature and _names("temperature", words):
        return replace(dialect, temperature=False)
    if dialect.seed and _names("seed", words):
        return replace(dialect, seed=False)
    if dialect.structured != "text" and _ABOUT_FORMAT.search(words):
        return replace(dialect, structured="json_object" if dialect.structured == "json_schema" else "text")
    return None


def _names(field: str, words: str) -> bool:
    """Return True where an error's words name a field, and not a thing that is called so ("seed capital")."""
    named = rf"""['"`]{field}['"`]|\b(?:arguments?|parameters?|fields?|propert\w+|names?)\W[^.]*\b{field}\b"""
    return re.search(named, words, re.I) is not None


def _with_wish(messages: tuple[Message, ...], schema: JsonObject) -> tuple[Message, ...]:
    """The schema in words, in the first system message: many chat templates take no other."""
    wish = f"Answer with one JSON object, and nothing else, of this JSON Schema: {json.dumps(schema, sort_keys=True)}"
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].content}\n\n{wish}"), *messages[1:])
    return (Message("system", wish), *messages)
