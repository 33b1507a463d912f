"""JSON Schemas for structured replies, and the reading of what comes back."""

import re
from functools import cache
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from ovrag_core.base import MalformedReplyError, SchemaReplyError

JsonObject = dict[str, JsonValue]
T = TypeVar("T", bound=BaseModel)

# Said by the schema class for people and for local checks; servers that enforce schemas refuse some of them.
_LOCAL_ONLY = ("title", "default", "minLength", "maxLength", "uniqueItems", "examples")
_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n?\s*```", re.S)


@cache  # every call of a run asks for the same one, and making it takes longer than sending it
def strict_schema(model: type[BaseModel]) -> JsonObject:
    """The JSON Schema of `model`, closed and all properties required; the same object each time, not to be changed."""
    strict = _strict(model.model_json_schema())
    assert isinstance(strict, dict)
    return strict


def _strict(node: JsonValue) -> JsonValue:
    if isinstance(node, list):
        return [_strict(child) for child in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:  # what stands beside a reference is not allowed
        return {"$ref": node["$ref"]}
    closed: JsonObject = {}
    for key, value in node.items():
        if key in ("properties", "$defs") and isinstance(value, dict):  # by name, which may well be `title`
            closed[key] = {name: _strict(schema) for name, schema in value.items()}
        elif key not in _LOCAL_ONLY:
            closed[key] = _strict(value)
    if isinstance(properties := closed.get("properties"), dict):
        closed |= {"additionalProperties": False, "required": list(properties)}
    return closed


def parse(text: str, schema: type[T]) -> T:
    """The object in `text`, which may stand in a code fence or between words.

    Raises MalformedReplyError where it is not JSON, SchemaReplyError where it is other JSON than asked for.
    """
    try:
        return schema.model_validate_json(_json_part(text))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        if fault["type"] == "json_invalid":
            raise MalformedReplyError(f"the reply is not JSON: {fault['msg']}") from None
        where = ".".join(str(key) for key in fault["loc"]) or "the whole"
        raise SchemaReplyError(f"the reply is JSON of another form than asked for: {where}: {fault['msg']}") from None


def _json_part(text: str) -> str:
    if text.lstrip()[:1] in ("{", "["):
        return text
    if fenced := _FENCED.search(text):
        return fenced[1]
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text
