"""How a request is put to a server: a JSON Schema where it takes one, JSON mode where not, else the wish in words."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from ovrag_core.llm.chat import Message, Request
from ovrag_core.llm.schema import JsonObject

Structured = Literal["json_schema", "json_object", "text"]

TOKENS_AROUND_A_TEXT = 8  # what a chat template adds to a message, at most; OpenAI's adds 3 or 4
_ABOUT_FORMAT = ("response_format", "json_schema", "json_object", "structured output", "schema")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server has been found to understand."""

    structured: Structured = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"


def chat_body(request: Request, dialect: Dialect) -> JsonObject:
    """The request as the server understands it."""
    messages, schema = request.messages, request.schema
    body: JsonObject = {
        "model": request.model,
        "temperature": request.temperature,
        dialect.limit: request.max_tokens,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if schema is not None and dialect.structured == "json_schema":
        form: JsonObject = {"name": "reply", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    elif schema is not None:
        messages = _with_wish(messages, schema)
        if dialect.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
    body["messages"] = [{"role": each.role, "content": each.content} for each in messages]
    return body


def _with_wish(messages: tuple[Message, ...], schema: JsonObject) -> tuple[Message, ...]:
    """The schema in words, in the first system message: many chat templates take no other."""
    wish = f"Answer with one JSON object, and nothing else, of this JSON Schema: {json.dumps(schema, sort_keys=True)}"
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].content}\n\n{wish}"), *messages[1:])
    return (Message("system", wish), *messages)


def simpler(dialect: Dialect, words: str) -> Dialect | None:
    """The next thing to try after a refused request, None where the refusal was about something else."""
    if dialect.limit == "max_tokens" and "max_completion_tokens" in words:
        return replace(dialect, limit="max_completion_tokens")
    if not any(each in words for each in _ABOUT_FORMAT) or dialect.structured == "text":
        return None
    return replace(dialect, structured="json_object" if dialect.structured == "json_schema" else "text")


def token_bound(request: Request) -> int:
    """No tokenizer makes more tokens of a text than it has bytes."""
    messages = request.messages if request.schema is None else _with_wish(request.messages, request.schema)
    return sum(len(each.content.encode()) + TOKENS_AROUND_A_TEXT for each in messages)
