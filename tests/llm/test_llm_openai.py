"""The model layer against a real, faulty server: what is sent, what is made of every kind of answer, the limits."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest
from faulty_server import (
    FAULTS,
    KEY,
    MODEL,
    Answer,
    Call,
    FaultyServer,
    always,
    cut,
    cut_off,
    dripping,
    empty_text,
    failure,
    filtered,
    no_choice,
    not_json,
    rate_limited,
    redirect,
    refusal,
    say,
    script,
    sometimes,
    truncated_json,
    wrong_form,
    wrong_type,
)
from pydantic import BaseModel

from ovrag_core.base import errors
from ovrag_core.llm.background import cancel_all, run
from ovrag_core.llm.chat import ChatModel, Message
from ovrag_core.llm.meter import tally
from ovrag_core.llm.openai import OpenAIBackend

ASK = [Message("system", "Be brief."), Message("user", "Who?")]
ANN = '{"name": "Ann", "age": 41}'


class Person(BaseModel):
    name: str
    age: int | None = None


Start = Callable[..., FaultyServer]


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as running:
        yield lambda responder=None, **given: running.enter_context(FaultyServer(responder, **given))


def backend_of(server: FaultyServer, **given) -> OpenAIBackend:
    given = {"key": KEY, "retries": 0, "seconds_per_attempt": 5, "announce": lambda line: None} | given
    return OpenAIBackend(base_url=given.pop("base_url", server.base_url), **given)


def chat_of(server: FaultyServer, **given) -> ChatModel:
    return ChatModel(backend_of(server, **given), MODEL, max_tokens=200)


def ask(chat: ChatModel, schema: type[BaseModel] | None = None, user: str = "Who?"):
    messages = [ASK[0], Message("user", user)]
    return chat.complete(messages, schema=schema, temperature=0.7, seed=42, purpose="answer")


def test_what_is_asked_for_is_sent_and_the_reply_is_read(start: Start):
    server = start(always(say("Ann.", usage={"prompt_tokens": 12, "completion_tokens": 3})))
    reply = ask(chat_of(server))
    assert server.calls[0].body == {
        "model": MODEL,
        "temperature": 0.7,
        "seed": 42,
        "max_tokens": 200,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}],
    }
    assert (reply.text, reply.finish_reason, reply.model, reply.cached) == ("Ann.", "stop", MODEL, False)
    assert reply.usage.model_dump() == {"calls": 1, "prompt_tokens": 12, "completion_tokens": 3}
    assert 0 < reply.seconds < 5


def test_no_seed_is_sent_where_none_is_given(start: Start):
    server = start()
    chat_of(server).complete(ASK, temperature=0, seed=None, purpose="answer")
    assert "seed" not in server.calls[0].body


def test_a_structured_reply_is_enforced_by_the_server_and_checked(start: Start):
    server = start(always(say(ANN)))
    reply = ask(chat_of(server), Person)
    sent = server.calls[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["required"] == ["name", "age"]
    assert sent["schema"]["additionalProperties"] is False
    assert reply.parsed_as(Person) == Person(name="Ann", age=41)


@pytest.mark.parametrize(("knows", "kinds"), [(("json_object",), ["json_object"]), ((), [])])
def test_a_server_without_schemas_gets_json_mode_or_words(start: Start, knows: tuple[str, ...], kinds: list[str]):
    server = start(always(say(ANN)), structured=knows)
    chat = chat_of(server)
    assert ask(chat, Person).parsed == Person(name="Ann", age=41)
    assert ask(chat, Person, "Again?").usage.calls == 1
    asked = [call.body.get("response_format", {}).get("type") for call in server.calls]
    tried = ["json_schema", "json_object"][: 2 - len(knows)]
    assert asked == [*tried, *(kinds or [None]), *(kinds or [None])]  # found out once, then known
    system = server.calls[-1].messages[0]
    assert system["role"] == "system"
    assert system["content"].startswith("Be brief.")
    assert '"additionalProperties"' in system["content"]


def test_a_model_that_wants_its_own_word_for_the_token_limit_gets_it(start: Start):
    def newer(call: Call) -> Answer:
        old = "max_tokens" in call.body
        return failure(400, "Unsupported parameter: use 'max_completion_tokens'.") if old else say("hello")

    server = start(newer)
    assert ask(chat_of(server)).text == "hello"
    assert server.calls[-1].body["max_completion_tokens"] == 200


@pytest.mark.parametrize("text", [f"```json\n{ANN}\n```", f"Here it is:\n{ANN}\nAnything else?", f"  {ANN}\n"])
def test_json_in_a_fence_or_between_words_is_read(start: Start, text: str):
    server = start(always(say(text)))
    assert ask(chat_of(server), Person).parsed == Person(name="Ann", age=41)
    assert len(server.calls) == 1


@pytest.mark.parametrize("broken", ['{"name": "Ann",', "Ann, I think.", '{"age": 41}', "[" * 100_000])
def test_broken_json_is_repaired_by_asking_once_more(start: Start, broken: str):
    server = start(script([say(broken), say(ANN)]))
    with tally() as used:
        reply = ask(chat_of(server), Person)
    assert reply.parsed == Person(name="Ann", age=41)
    assert reply.usage.calls == used.usage.calls == 2
    assert used.usage.prompt_tokens == 200
    plea = server.calls[1].messages
    assert plea[2] == {"role": "assistant", "content": broken}
    assert plea[3]["role"] == "user"


BAD_REPLIES = {
    "refusal": (refusal(), errors.RefusalError, "declined to answer: I cannot help"),
    "filter": (filtered(), errors.RefusalError, "content filter"),
    "empty text": (empty_text(), errors.EmptyReplyError, "no text"),
    "no choice": (no_choice(), errors.EmptyReplyError, "no text"),
    "token limit": (cut_off(), errors.TruncatedReplyError, "max_tokens above 200"),
    "text": (say("Ann, I think."), errors.MalformedReplyError, "not JSON.*repair"),
    "schema": (say('{"age": 41}'), errors.SchemaReplyError, "name: Field required.*repair"),
    "body": (not_json(), errors.MalformedReplyError, "OpenAI-compatible"),
    "cut body": (truncated_json(), errors.MalformedReplyError, "OpenAI-compatible"),
    "html": (wrong_type(), errors.MalformedReplyError, "<html>"),
    "form": (wrong_form(), errors.MalformedReplyError, "none today"),
    "500": (failure(500), errors.ServerError, "500.*out of order"),
    "503": (failure(503), errors.ServerError, "503"),
    "429": (rate_limited(0.01), errors.RateLimitError, "too many requests"),
    "credit": (failure(429, "Over your quota.", "insufficient_quota"), errors.ModelSetupError, "no credit left"),
    "long": (failure(400, "maximum context length"), errors.ServerError, "maximum context length"),
    "cut": (cut(), errors.UnreachableError, "cut the connection"),
    "cut at once": (cut(0), errors.UnreachableError, "cut the connection"),
    "redirect": (redirect("http://example.org/"), errors.ServerError, "307"),
}


@pytest.mark.parametrize("name", BAD_REPLIES)
def test_every_bad_reply_is_an_error_with_its_cause_in_one_sentence(start: Start, name: str):
    answer, kind, words = BAD_REPLIES[name]
    with pytest.raises(kind, match=words) as caught:
        ask(chat_of(start(always(answer))), Person)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_tokens_of_a_reply_that_cannot_be_used_are_counted(start: Start):
    chat = chat_of(start(always(refusal())))
    with tally() as used, pytest.raises(errors.RefusalError):
        ask(chat)
    assert used.usage.model_dump() == {"calls": 1, "prompt_tokens": 100, "completion_tokens": 10}


def test_retries_wait_as_long_as_the_server_asks(start: Start):
    server = start(script([rate_limited(0.9), failure(503, Retry_After="0.3"), say("hello")]))
    begun = time.monotonic()
    assert ask(chat_of(server, retries=2)).text == "hello"
    assert 1.2 <= time.monotonic() - begun < 4
    assert len(server.calls) == 3


def test_a_cut_connection_is_tried_again(start: Start):
    server = start(script([cut(0), cut(), say("hello")]))
    assert ask(chat_of(server, retries=2)).text == "hello"


def test_a_silent_server_meets_the_limit_of_an_attempt(start: Start):
    server = start(always(say("late").after(3)))
    begun = time.monotonic()
    with pytest.raises(errors.TimeLimitError, match="silent"):
        ask(chat_of(server, seconds_per_attempt=0.2))
    assert time.monotonic() - begun < 2


def test_a_call_with_all_its_retries_meets_the_limit_of_the_call(start: Start):
    server = start(always(rate_limited(0.2)))
    begun = time.monotonic()
    with pytest.raises(errors.TimeLimitError, match=r"within 0\.5 s"):
        ask(chat_of(server, retries=100, seconds_per_call=0.5))
    assert time.monotonic() - begun < 2


def test_a_server_that_drips_meets_the_limit_of_the_call(start: Start):
    begun = time.monotonic()
    with pytest.raises(errors.TimeLimitError, match="within"):
        ask(chat_of(start(always(dripping(0.02))), seconds_per_call=0.4))
    assert time.monotonic() - begun < 2


def test_wrong_key_missing_key_and_wrong_model(start: Start):
    server = start()
    wrong = "sk-wrong-0123456789abcdef"
    with pytest.raises(errors.ModelSetupError, match="does not accept the key") as caught:
        ask(chat_of(server, key=wrong))
    assert wrong not in str(caught.value)
    with pytest.raises(errors.ModelSetupError, match="has no model other"):
        ask(ChatModel(backend_of(server), "other"))
    with pytest.raises(errors.ModelSetupError, match="base_url lacks its /v1"):
        ask(chat_of(server, base_url=server.base_url.removesuffix("/v1")))


def test_a_server_on_this_machine_may_do_without_a_key(start: Start):
    assert ask(chat_of(start(key=None), key=None)).text == "hello"


def test_an_unreachable_host(start: Start):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(errors.UnreachableError, match="cannot be reached"):
        ask(ChatModel(OpenAIBackend(base_url=address, key=None, retries=0, announce=print), MODEL))


@pytest.mark.parametrize(
    "address",
    ["", "api.openai.com/v1", "ftp://host/v1", "http://", "http://[::1", "http://h:x/", "https://me:secret@h/v1"],
)
def test_an_address_that_is_none(address: str):
    with pytest.raises(errors.ModelSetupError, match="base_url must be an address"):
        OpenAIBackend(base_url=address, key="k")


def test_one_line_says_what_leaves_the_machine_before_it_does(start: Start):
    lines: list[tuple[str, int]] = []
    server = start()
    chat = chat_of(server, announce=lambda line: lines.append((line, len(server.calls))))
    assert not lines
    ask(chat)
    ask(chat, user="Again?")
    (line, calls_before), *more = lines
    assert not more
    assert calls_before == 0
    assert "prompts" in line
    assert "on this machine" in line
    address = "https://api.example.org:8443/v1"
    remote = OpenAIBackend(base_url=address, key=KEY, announce=lambda line: lines.append((line, 0)))
    remote._tell()
    assert "go to api.example.org:8443; nothing else leaves this machine" in lines[1][0]


def test_a_server_that_repeats_the_key_does_not_spread_it(start: Start):
    server = start(script([say(f"your key is {KEY}"), failure(500, f"bad luck with {KEY}")]))
    chat = chat_of(server)
    assert ask(chat).text == "your key is [key]"
    with pytest.raises(errors.ServerError) as caught:
        ask(chat)
    assert KEY not in str(caught.value)


def test_half_characters_are_not_sent(start: Start):
    server = start()
    ask(chat_of(server), user="b\ud83d")
    assert server.calls[0].messages[1]["content"] == "b\ufffd"


def test_no_more_calls_at_once_than_allowed_and_no_fewer(start: Start):
    server = start(delay=0.1)
    chat = chat_of(server, concurrency=4)

    begun = time.monotonic()
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: ask(chat, user=str(n)), range(12)))
    assert server.most_at_once == 4
    assert time.monotonic() - begun < 1.2  # one after the other: 1.2 s


def test_threads_share_one_client(start: Start):
    server = start()
    chat = chat_of(server, concurrency=3)
    with ThreadPoolExecutor(6) as pool:
        texts = list(pool.map(lambda n: ask(chat, user=str(n)).text, range(30)))
    assert texts == ["hello"] * 30
    assert server.most_at_once <= 3


def test_a_cancelled_call_frees_its_place(start: Start):
    server = start(script([say("late").after(2), say("hello")]))
    chat = chat_of(server, concurrency=1)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(ask, chat)
        while not server.calls:
            time.sleep(0.01)
        cancel_all()
        with pytest.raises(CancelledError):
            late.result()
    assert ask(chat).text == "hello"


def test_with_a_fault_in_a_fifth_of_the_calls_every_failure_has_its_cause(start: Start):
    def good(call: Call) -> Answer:
        return say(f'{{"name": "{call.messages[1]["content"]}"}}')

    chat = chat_of(start(sometimes(FAULTS.values(), 0.2, good)), concurrency=8, retries=0)
    outcomes: dict[int, Person | errors.ModelError] = {}

    def one(number: int) -> None:
        try:
            outcomes[number] = ask(chat, Person, str(number)).parsed_as(Person)
        except errors.ModelError as error:
            outcomes[number] = error

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(200)))
    failed = {number: each for number, each in outcomes.items() if isinstance(each, errors.ModelError)}
    assert len(outcomes) == 200
    assert 15 < len(failed) < 60
    assert len({type(each) for each in failed.values()}) >= 6
    assert all(outcomes[number] == Person(name=str(number)) for number in outcomes.keys() - failed.keys())


def test_connections_can_be_closed(start: Start):
    server = start()
    backend = backend_of(server)
    ask(ChatModel(backend, MODEL))
    run(backend.close())
