"""A local OpenAI-compatible server that answers, and fails, as told. Real HTTP on 127.0.0.1, an ephemeral port.

    with FaultyServer(script([rate_limited(0.05), say("hello")])) as server:
        backend = OpenAIBackend(base_url=server.base_url, key=server.key)

A responder is a function from the `Call` to an `Answer`; `script`, `always` and `sometimes` make one, and `scripted`
makes one of a model, which is a function of what it is asked.
"""

from __future__ import annotations

import json
import random
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "test-model"
KEY = "sk-test-0123456789abcdefghij"


@dataclass(frozen=True)
class Call:
    """A request as the server saw it: its number from 0, its JSON, and its headers by their names in lower case."""

    number: int
    path: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def messages(self) -> list[dict[str, str]]:
        return self.body.get("messages", [])

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.messages)

    @property
    def wants_json(self) -> bool:
        return "response_format" in self.body

    @property
    def fenced(self) -> list[str]:
        """The texts of others in the first user's message, which stand between lines of one mark."""
        return [text for _, text in _FENCED.findall(self.messages[1]["content"])]


_FENCED = re.compile(r"(?m)^(-----\w{12}-----)\n(.*?)\n\1$", re.S)


@dataclass(frozen=True)
class Answer:
    """What goes over the wire, after `delay` seconds.

    `send` is the share of the body that is sent before the connection is cut.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    send: float = 1.0
    pause: float = 0.0  # seconds between one byte and the next

    def after(self, seconds: float) -> Answer:
        return replace(self, delay=seconds)


Responder = Callable[[Call], Answer]


def say(
    text: str | None,
    *,
    refusal: str | None = None,
    finish_reason: str | None = "stop",
    usage: dict[str, int] | None = None,
    counts: bool = True,
) -> Answer:
    """A completion. `counts=False`: a server that does not count tokens."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    content: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }
    if counts:
        content["usage"] = usage or {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return as_json(content)


def as_json(content: object, status: int = 200, **headers: str) -> Answer:
    return Answer(status, json.dumps(content).encode(), headers={k.replace("_", "-"): v for k, v in headers.items()})


def failure(status: int, message: str = "out of order", code: str | None = None, **headers: str) -> Answer:
    error = {"message": message, "type": "error", "param": None, "code": code}
    return as_json({"error": error}, status, **headers)


def rate_limited(retry_after: float) -> Answer:
    return failure(429, "too many requests", "rate_limit_exceeded", Retry_After=str(retry_after))


def refusal() -> Answer:
    return say(None, refusal="I cannot help with that.")


def filtered() -> Answer:
    return say("", finish_reason="content_filter")


def cut_off() -> Answer:
    return say('{"name": "half of', finish_reason="length")


def empty_text() -> Answer:
    return say("  ")


def no_choice() -> Answer:
    return as_json({"id": "1", "object": "chat.completion", "created": 0, "model": MODEL, "choices": []})


def not_json() -> Answer:
    return Answer(body=b'{"choices": [,]}')


def truncated_json() -> Answer:
    return Answer(body=say("hello").body[:40])


def wrong_type() -> Answer:
    return Answer(body=b"<html><body>Welcome</body></html>", content_type="text/html")


def wrong_form() -> Answer:
    return as_json({"choices": "none today"})


def cut(share: float = 0.5) -> Answer:
    """The connection is reset after a share of the body; 0: before the headers."""
    return replace(say("hello"), send=share)


def dripping(pause: float) -> Answer:
    """A body that comes byte by byte, so that no single wait is long."""
    return replace(say("hello"), pause=pause)


def redirect(location: str) -> Answer:
    return Answer(307, headers={"Location": location})


FAULTS: dict[str, Answer] = {
    "429": rate_limited(0.02),
    "500": failure(500),
    "503": failure(503),
    "cut": cut(),
    "cut before the headers": cut(0),
    "malformed": not_json(),
    "truncated": truncated_json(),
    "refusal": refusal(),
    "empty text": empty_text(),
    "no choice": no_choice(),
    "token limit": cut_off(),
    "content type": wrong_type(),
    "form": wrong_form(),
    "text for JSON": say("Certainly! The name is Ann."),
    "wrong schema": say('{"first_name": "Ann"}'),
}


def always(answer: Answer) -> Responder:
    return lambda call: answer


def script(answers: Sequence[Answer]) -> Responder:
    """One answer after the other; the last one stays."""
    return lambda call: answers[min(call.number, len(answers) - 1)]


def scripted(model: Callable[[Call], object]) -> Responder:
    """What the model says to a call: text, anything else as JSON. Its tokens are the characters."""

    def respond(call: Call) -> Answer:
        said = model(call)
        text = said if isinstance(said, str) else json.dumps(said)
        return say(text, usage={"prompt_tokens": len(call.prompt), "completion_tokens": len(text)})

    return respond


def sometimes(faults: Iterable[Answer], share: float, otherwise: Responder, seed: int = 7) -> Responder:
    """A fault in a share of the calls, decided by what is asked and how often, so that a run can be repeated."""
    listed = list(faults)
    asked: dict[str, int] = {}

    def respond(call: Call) -> Answer:
        content = json.dumps(call.body, sort_keys=True)
        asked[content] = asked.get(content, 0) + 1
        draw = random.Random(f"{seed} {asked[content]} {content}")
        return draw.choice(listed) if draw.random() < share else otherwise(call)

    return respond


def unknown_to_openai(model: str) -> Answer:
    return failure(404, f"The model `{model}` does not exist", "model_not_found")


class FaultyServer:
    """Serves until closed. `structured` names the response formats that it takes; others are refused with 400.

    `calls` are the requests that it saw, `most_at_once` the most that it worked on at the same time. Only the right
    key and a known model get as far as the responder.
    """

    def __init__(
        self,
        responder: Responder | None = None,
        *,
        structured: Sequence[str] = ("json_schema", "json_object"),
        models: Sequence[str] = (MODEL,),
        key: str | None = KEY,
        delay: float = 0.0,
        unknown_model: Callable[[str], Answer] | None = None,
        wrong_key: Answer | None = None,
    ) -> None:
        self.unknown_model = unknown_model or unknown_to_openai
        self.wrong_key = wrong_key
        self.responder = responder or always(say("hello"))
        self.structured = structured
        self.models = models
        self.key = key
        self.delay = delay
        self.calls: list[Call] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FaultyServer:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        with self._lock:
            call = Call(len(self.calls), path, body, headers)
            self.calls.append(call)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            answer = self._checked(call, headers.get("authorization", ""))
            time.sleep(self.delay + answer.delay)
            return answer
        finally:
            with self._lock:
                self._at_once -= 1

    def _checked(self, call: Call, authorization: str) -> Answer:
        if self.key is not None and authorization != f"Bearer {self.key}":
            return self.wrong_key or failure(
                401, f"Incorrect API key provided: {authorization.removeprefix('Bearer ')}.", "invalid_api_key"
            )
        if call.path not in ("/v1/chat/completions",):
            return failure(404, f"no such address: {call.path}")
        if call.body.get("model") not in self.models:
            return self.unknown_model(str(call.body.get("model")))
        wanted = call.body.get("response_format", {}).get("type", "text")
        if wanted not in (*self.structured, "text"):
            return failure(400, f"'response_format' of type '{wanted}' is not supported with this model.")
        return self.responder(call)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), OSError):  # a client that was killed is no matter for the tests' output
            super().handle_error(request, client_address)


def _handler(owner: FaultyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 30

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = owner.answer(self.path, body, headers)
            try:
                self._give(answer)
            except OSError:  # the client has given up
                self.close_connection = True

        def _give(self, answer: Answer) -> None:
            if answer.send == 0:
                self._reset()
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            body = answer.body[: round(len(answer.body) * answer.send)]
            for piece in [body[n : n + 1] for n in range(len(body))] if answer.pause else [body]:
                self.wfile.write(piece)
                time.sleep(answer.pause)
            if answer.send < 1:
                self._reset()

        def _reset(self) -> None:
            self.wfile.flush()
            # With a lingering time of zero, closing sends a reset in place of an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
