"""How servers that call themselves OpenAI-compatible differ: what each refuses, in its own words, and how it replies.

Written after the public documentation and error reports of each: Ollama, vLLM, llama.cpp, LM Studio, Mistral, Gemini's
compatible address, Azure, and OpenAI's reasoning models.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from faulty_server import Answer, Call, as_json

Body = dict[str, Any]
Refusal = Callable[[Call], Answer | None]


@dataclass(frozen=True)
class Kind:
    """A kind of server. `refuses` fields of a body (by path) with an answer; `reply` rewrites a completion."""

    unknown_model: Callable[[str], Answer]
    wrong_key: Answer
    refuses: tuple[Refusal, ...] = ()
    reply: Callable[[Body], Body] = field(default=lambda body: body)


def error(status: int, message: str, **more: object) -> Answer:
    return as_json({"error": {"message": message, **more}}, status)


def without(name: str, answer: Answer) -> Refusal:
    """Refuses calls whose body has a field."""
    return lambda call: answer if name in call.body else None


def format_is_not(kind: str, answer: Answer) -> Refusal:
    """Refuses one type of structured reply."""
    return lambda call: answer if call.body.get("response_format", {}).get("type") == kind else None


def fixed_temperature(call: Call) -> Answer | None:
    asked = call.body.get("temperature", 1)
    words = f"Unsupported value: 'temperature' does not support {asked} with this model. Only the default (1) is."
    return (
        error(400, words, type="invalid_request_error", param="temperature", code="unsupported_value")
        if asked != 1
        else None
    )


def said(change: Callable[[Body], Mapping[str, object]], **more: object) -> Callable[[Body], Body]:
    """A completion whose message is changed, with other fields of the whole."""

    def changed(body: Body) -> Body:
        message = {**body["choices"][0]["message"], **change(body["choices"][0]["message"])}
        return {**body, **more, "choices": [{**body["choices"][0], "message": message}]}

    return changed


def thought(message: Body) -> Body:
    return {"content": f"<think>\nThe user wants {{JSON}}. Hm.\n</think>\n\n{message['content']}"}


MAX_TOKENS = error(
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    type="invalid_request_error",
    param="max_tokens",
    code="unsupported_parameter",
)
EXTRA_SEED = as_json(
    {
        "detail": [
            {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 42}
        ]
    },
    422,
)
KINDS: dict[str, Kind] = {
    "Ollama with a reasoning model": Kind(
        unknown_model=lambda name: error(
            404, f'model "{name}" not found, try pulling it first', type="api_error", param=None, code=None
        ),
        wrong_key=error(401, "unauthorized", type="api_error"),
        reply=said(thought),
    ),
    "vLLM": Kind(
        unknown_model=lambda name: as_json(
            {
                "object": "error",
                "message": f"The model `{name}` does not exist.",
                "type": "NotFoundError",
                "param": None,
                "code": 404,
            },
            404,
        ),
        wrong_key=as_json({"error": "Unauthorized"}, 401),
        reply=said(
            lambda _: {"reasoning_content": None, "tool_calls": [], "refusal": None}, prompt_logprobs=None, model=None
        ),
    ),
    "llama.cpp that cannot compile the schema": Kind(
        unknown_model=lambda name: error(404, f"model '{name}' not found", code=404, type="not_found_error"),
        wrong_key=error(401, "Invalid API Key", code=401, type="authentication_error"),
        refuses=(
            format_is_not(
                "json_schema",
                error(
                    400,
                    "Failed to initialize samplers: failed to parse grammar",
                    code=400,
                    type="invalid_request_error",
                ),
            ),
        ),
        reply=said(lambda _: {}, usage=None, timings={"predicted_ms": 20.5}),
    ),
    "LM Studio": Kind(
        unknown_model=lambda name: error(
            404, f'Model "{name}" not found', type="invalid_request_error", param="model", code="model_not_found"
        ),
        wrong_key=error(401, "Malformed LM Studio API token", type="invalid_request_error"),
        refuses=(
            format_is_not(
                "json_object", as_json({"error": "'response_format.type' must be 'json_schema' or 'text'"}, 400)
            ),
        ),
        reply=said(lambda _: {}, usage={}, stats={}),
    ),
    "Mistral": Kind(
        unknown_model=lambda name: as_json(
            {"object": "error", "message": f"Invalid model: {name}", "type": "invalid_model", "code": "1500"}, 400
        ),
        wrong_key=as_json({"detail": "Unauthorized"}, 401),
        refuses=(without("seed", EXTRA_SEED),),
    ),
    "Gemini": Kind(
        unknown_model=lambda name: as_json(
            [
                {
                    "error": {
                        "code": 404,
                        "message": f"models/{name} is not found for API version v1main",
                        "status": "NOT_FOUND",
                    }
                }
            ],
            404,
        ),
        wrong_key=as_json(
            [{"error": {"code": 401, "message": "API key not valid. Please pass a valid API key."}}], 401
        ),
        refuses=(
            without(
                "seed",
                as_json(
                    [
                        {
                            "error": {
                                "code": 400,
                                "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
                                "status": "INVALID_ARGUMENT",
                            }
                        }
                    ],
                    400,
                ),
            ),
        ),
        reply=said(lambda _: {}, usage={"prompt_tokens": 90, "completion_tokens": None, "total_tokens": 100}),
    ),
    "Azure, an older deployment": Kind(
        unknown_model=lambda name: error(
            404, "The API deployment for this resource does not exist.", code="DeploymentNotFound"
        ),
        wrong_key=error(401, "Access denied due to invalid subscription key or wrong API endpoint.", code="401"),
        refuses=(
            without(
                "seed",
                error(
                    400,
                    "Unrecognized request argument supplied: seed",
                    type="invalid_request_error",
                    param=None,
                    code=None,
                ),
            ),
            format_is_not(
                "json_schema",
                error(
                    400,
                    "response_format value as json_schema is enabled only for api versions 2024-08-01 and later",
                    code="BadRequest",
                ),
            ),
        ),
        reply=said(lambda _: {}, prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}]),
    ),
    "OpenAI's reasoning models": Kind(
        unknown_model=lambda name: error(
            404, f"The model `{name}` does not exist or you do not have access to it.", code="model_not_found"
        ),
        wrong_key=error(401, "Incorrect API key provided: sk-***.", code="invalid_api_key"),
        refuses=(without("max_tokens", MAX_TOKENS), fixed_temperature),
        reply=said(lambda _: {"refusal": None, "annotations": []}, service_tier="default"),
    ),
    "a server that only chats": Kind(
        unknown_model=lambda name: Answer(404, b"404 page not found", content_type="text/plain"),
        wrong_key=Answer(401, b"no", content_type="text/plain"),
        refuses=(without("response_format", as_json({"detail": "response_format is not a known field"}, 400)),),
        reply=lambda body: {"choices": [{"message": {"content": body["choices"][0]["message"]["content"]}}]},
    ),
}


def understood(call: Call) -> Call:
    """The call as it would be without what the server does not take: system and user apart, JSON as a format."""
    messages, body = call.messages, dict(call.body)
    if messages and messages[0]["role"] != "system":
        body["messages"] = [{"role": "system", "content": ""}, *messages]
    if "of this JSON Schema:" in call.prompt:
        body.setdefault("response_format", {"type": "json_object"})
    return Call(call.number, call.path, body)


def as_kind(kind: Kind, answer: Callable[[Call], Answer]) -> Callable[[Call], Answer]:
    """The same answers as this kind of server would give them."""

    def respond(call: Call) -> Answer:
        for refuse in kind.refuses:
            if (refused := refuse(call)) is not None:
                return refused
        given = answer(understood(call))
        return as_json(kind.reply(json.loads(given.body))) if given.status == 200 else given

    return respond
