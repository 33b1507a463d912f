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

_ABOUT_FORMAT = re.compile(r"response_?format|json_?schema|json_?object|structured output|schema|grammar|guided", re.I)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Parts of a request that a server has been found to understand."""

    structured: Structured = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True


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
