"""Put a request to a server that calls itself compatible, without what it turns out not to take.

A JSON Schema where it takes one, JSON mode where not, else the wish in words. Nothing is looked up by the name of a
model or of a server: each is told by what it refuses.
"""

import json
import re
from dataclasses import dataclass, replace
from typing import Literal

from ovrag_core.llm.chat import Message, Request
from ovrag_core.llm.schema import JsonObject

Structured = Literal["json_schema", "json_object", "text"]

TOKENS_AROUND_A_TEXT = 8  # what a chat template adds to a message, at most; OpenAI's adds 3 or 4
_ABOUT_FORMAT = re.compile(r"response_?format|json_?schema|json_?object|structured output|schema|grammar|guided", re.I)
_ABOUT_SYSTEM = re.compile(
    r"\bsystem\b[^.]*\brole\b|\brole\b[^.]*\bsystem\b|\bsystem (?:messages?|prompts?)\b|only user and assistant roles",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Parts of a request that a server has been found to understand."""

    structured: Structured = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True
    system: bool = True


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
    if not dialect.system:
        messages = _without_system(messages)
    body["messages"] = [{"role": m.role, "content": m.content} for m in messages]
    return body


def simpler(dialect: Dialect, field: str, words: str) -> Dialect | None:
    """The next thing to try after a refused request, None where the refusal was about something else.

    `field` is the one that the server says it does not take, where it says so in a place of its own.
    """
    if dialect.limit == "max_tokens" and "max_completion_tokens" in words:
        return replace(dialect, limit="max_completion_tokens")
    if dialect.temperature and (field == "temperature" or _names("temperature", words)):
        return replace(dialect, temperature=False)
    if dialect.seed and (field == "seed" or _names("seed", words)):
        return replace(dialect, seed=False)
    if dialect.structured != "text" and _ABOUT_FORMAT.search(f"{field} {words}"):
        return replace(dialect, structured="json_object" if dialect.structured == "json_schema" else "text")
    if dialect.system and _ABOUT_SYSTEM.search(words):
        return replace(dialect, system=False)
    return None


def together(one: Dialect, other: Dialect) -> Dialect:
    """Combine what two calls have each found out."""
    forms: tuple[Structured, ...] = ("text", "json_object", "json_schema")
    return Dialect(
        structured=min(one.structured, other.structured, key=forms.index),
        limit=one.limit if one.limit == "max_completion_tokens" else other.limit,
        temperature=one.temperature and other.temperature,
        seed=one.seed and other.seed,
        system=one.system and other.system,
    )


def given_up(before: Dialect, after: Dialect) -> list[str]:
    """List, in words, what a reply depends on and the server does not take."""
    return [name for name in ("temperature", "seed") if getattr(before, name) and not getattr(after, name)]


def token_bound(request: Request) -> int:
    """No tokenizer makes more tokens of a text than it has bytes."""
    messages = request.messages if request.schema is None else _with_wish(request.messages, request.schema)
    return sum(len(m.content.encode()) + TOKENS_AROUND_A_TEXT for m in messages)


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


def _without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The system's words at the head of the first user message, for chat templates without a place for them."""
    if len(messages) < 2 or messages[0].role != "system" or messages[1].role != "user":
        return messages
    return (Message("user", f"{messages[0].content}\n\n{messages[1].content}"), *messages[2:])
