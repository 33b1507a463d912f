"""One client for every kind of compatible server: it finds out what each takes, and reads what each replies."""

from collections.abc import Iterator

import pytest
from faulty_server import KEY, MODEL, Call, FaultyServer, as_json, failure, say, scripted
from kinds_of_server import KINDS, Kind, as_kind, error
from pydantic import BaseModel

from ovrag_core.base import errors
from ovrag_core.llm.chat import ChatModel, Message
from ovrag_core.llm.openai import OpenAIBackend

ASK = [Message("system", "Be brief."), Message("user", "Who?")]


class Person(BaseModel):
    name: str


def reply(call: Call) -> object:
    """JSON where JSON is wished for, in whatever way, else a word."""
    return {"name": "Ann"} if call.wants_json else "Ann."


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def server(kind: Kind) -> Iterator[FaultyServer]:
    with FaultyServer(
        as_kind(kind, scripted(reply)), unknown_model=kind.unknown_model, wrong_key=kind.wrong_key
    ) as running:
        yield running


def chat_of(server: FaultyServer, model: str = MODEL, key: str = KEY, said: list[str] | None = None) -> ChatModel:
    say_it = (lambda line: None) if said is None else said.append
    return ChatModel(OpenAIBackend(base_url=server.base_url, key=key, retries=0, announce=say_it), model, max_tokens=99)


def test_a_chat_and_a_structured_reply_with_every_kind_of_server(server: FaultyServer) -> None:
    chat = chat_of(server)
    for _ in range(2):
        told = chat.complete(ASK, temperature=0.7, seed=42, purpose="answer")
        assert told.text == "Ann."
        structured = chat.complete(ASK, schema=Person, temperature=0.0, seed=42, purpose="extract")
        assert structured.parsed_as(Person).name == "Ann"
    settled = len(server.calls)
    chat.complete(ASK, temperature=0.7, seed=42, purpose="answer")
    chat.complete(ASK, schema=Person, temperature=0.0, seed=42, purpose="extract")
    assert len(server.calls) == settled + 2  # what the server takes is found out once
    assert all("Be brief." in call.prompt and "Who?" in call.prompt for call in server.calls)


def test_an_unknown_model_and_a_wrong_key_stop_the_work_with_every_kind_of_server(server: FaultyServer) -> None:
    with pytest.raises(errors.ModelSetupError, match="has no model absent") as unknown:
        chat_of(server, model="absent").complete(ASK, temperature=0.7, seed=42, purpose="answer")
    with pytest.raises(errors.ModelSetupError, match="does not accept the key"):
        chat_of(server, key="sk-wrong-0123456789abcdef").complete(ASK, temperature=0.7, seed=42, purpose="answer")
    assert "\n" not in str(unknown.value)
    assert "{" not in str(unknown.value)  # the server's words, not its JSON


@pytest.mark.parametrize(
    ("name", "left"), [("OpenAI's reasoning models", "temperature"), ("Gemini", "seed"), ("Mistral", "seed")]
)
def test_what_a_server_does_not_take_is_said_once(name: str, left: str) -> None:
    said: list[str] = []
    with FaultyServer(as_kind(KINDS[name], scripted(reply))) as server:
        chat = chat_of(server, said=said)
        for _ in range(3):
            chat.complete(ASK, temperature=0.7, seed=42, purpose="answer")
    assert [line for line in said if f"takes no {left}" in line] == said[1:]
    assert len(said) == 2
    assert left not in server.calls[-1].body


def test_a_refusal_of_something_else_gives_nothing_up() -> None:
    """A message that merely holds the words, of a prompt say, is no refusal of a setting."""
    words = "Content rejected: seed capital at room temperature is not allowed here"
    said: list[str] = []
    with FaultyServer(lambda call: failure(400, words) if "seed capital" in call.prompt else say("fine")) as server:
        chat = chat_of(server, said=said)
        with pytest.raises(errors.ServerError, match="Content rejected"):
            chat.complete([Message("user", "seed capital?")], temperature=0.7, seed=42, purpose="answer")
        assert chat.complete(ASK, temperature=0.7, seed=42, purpose="answer").text == "fine"
    assert len(server.calls) == 2
    assert {"temperature", "seed"} <= server.calls[-1].body.keys()
    assert len(said) == 1


TOO_LONG = [
    "This model's maximum context length is 4096 tokens. However, you requested 5120 tokens (1024 in the messages, "
    "4096 in the completion). Please reduce the length of the messages or completion.",
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens "
    "and your request has 30 input tokens (4096 > 2048 - 30).",
    "the request exceeds the available context size. try increasing the context size or enable context shift",
]


@pytest.mark.parametrize("words", TOO_LONG)
def test_a_prompt_that_is_too_long_says_what_to_lower(words: str) -> None:
    with (
        FaultyServer(lambda call: error(400, words, type="invalid_request_error")) as server,
        pytest.raises(errors.ServerError, match=r"lower llm\.max_tokens, extraction\.window or retrieval\.top_k"),
    ):
        chat_of(server).complete(ASK, temperature=0.7, seed=42, purpose="answer")


@pytest.mark.parametrize(
    ("message", "cause", "words"),
    [
        ({"content": None, "refusal": "I cannot."}, errors.RefusalError, "I cannot."),
        ({"content": None}, errors.EmptyReplyError, "no text"),
        ({"content": "<think>So what"}, errors.EmptyReplyError, "no text"),
        ({"content": None, "tool_calls": [{"id": "1"}]}, errors.EmptyReplyError, "no text"),
    ],
)
def test_a_message_without_text_is_no_reply(
    message: dict[str, object], cause: type[errors.ModelError], words: str
) -> None:
    answer = as_json({"choices": [{"message": message, "finish_reason": "stop"}]})
    with FaultyServer(lambda call: answer) as server, pytest.raises(cause, match=words):
        chat_of(server).complete(ASK, temperature=0.7, seed=42, purpose="answer")


def test_a_text_about_thinking_is_left_as_it_is() -> None:
    text = "The clause says <think> twice, and </think> once."
    with FaultyServer(lambda call: say(text)) as server:
        assert chat_of(server).complete(ASK, temperature=0.7, seed=42, purpose="answer").text == text
