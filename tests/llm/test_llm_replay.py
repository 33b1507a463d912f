"""Recorded replies: found by content, replayed without key or network, safe from crashes, kills and full disks."""

import contextlib
import json
import random
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from faulty_server import KEY, MODEL, Answer, Call, FaultyServer, always, refusal, say, script
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ovrag_core.base import errors
from ovrag_core.base.settings import Options
from ovrag_core.llm import (
    Connection,
    Message,
    ReplyStore,
    connect,
    open_chat,
    tally,
)
from ovrag_core.llm import connection as connection_module
from ovrag_core.llm.store import HEADER, canonical, key_of, pack

Start = Callable[..., FaultyServer]
OPTIONS = Options(provider="openai", model=MODEL, store=Path("replies.jsonl"), retries=0)


class Person(BaseModel):
    name: str


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as running:
        yield lambda responder=None, **given: running.enter_context(FaultyServer(responder, **given))


def recording(server: FaultyServer, folder: Path, **changes: object) -> Connection:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "prices.yaml").write_text("{as_of: 2026-01-01, source: invented, models: {}}")
    (folder / ".env").write_text(f"TEST_KEY={KEY}\n")
    options = OPTIONS.model_copy(update={"base_url": server.base_url, "key_variable": "TEST_KEY", **changes})
    return connect(options, folder=folder, say=lambda line: None)


def replaying(folder: Path, **changes: object) -> Connection:
    return connect(OPTIONS.model_copy(update={"provider": "replay", **changes}), folder=folder)


def ask(connection: Connection, user: str = "Who?", schema: type[BaseModel] | None = None, **changes: object):
    messages = [Message("system", "Be brief."), Message("user", user)]
    given = {"temperature": 0.7, "seed": 42, "purpose": "answer"} | changes
    return connection.chat.complete(messages, schema=schema, **given)


def request(text: str = "Who?", **changes: object) -> dict:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
    return {"kind": "chat", "model": "m", "temperature": 0.0, "seed": 1, "schema": None, "messages": messages} | changes


def reply(text: str = "Ann.", seconds: float = 0.5) -> dict:
    usage = {"calls": 1, "prompt_tokens": 5, "completion_tokens": 2}
    return {"text": text, "usage": usage, "seconds": seconds, "model": "m", "finish_reason": "stop", "refusal": None}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **more: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def echo(call: Call) -> Answer:
    number = call.messages[1]["content"]
    if number == "3":
        return refusal()
    text = f'{{"name": "{number}"}}' if len(call.messages) > 2 or number != "5" else "not yet"
    return say(text, usage={"prompt_tokens": len(call.prompt), "completion_tokens": len(text)})


def everything(connection: Connection) -> list[object]:
    """Replies, failures and usage of a little run."""
    seen: list[object] = []
    with tally() as used:
        for number in range(8):
            try:
                made = ask(connection, str(number), Person)
                seen.append((made.text, made.parsed, made.usage, made.model, made.finish_reason, made.seconds))
            except errors.ModelError as error:
                seen.append((type(error), str(error)))
    return [*seen, used.usage, {name: part.usage for name, part in used.by_purpose.items()}]


def test_a_replay_equals_the_recording_without_key_or_network(start: Start, tmp_path: Path, no_network_later: None):
    server = start(echo)
    with recording(server, tmp_path) as connection:
        recorded = everything(connection)
    no_network_later()
    (tmp_path / ".env").unlink()
    content = (tmp_path / "replies.jsonl").read_bytes()
    with replaying(tmp_path) as connection:
        assert everything(connection) == recorded
        assert ask(connection, "1", Person).cached
    assert (tmp_path / "replies.jsonl").read_bytes() == content
    assert recorded[3][0] is errors.RefusalError
    assert recorded[5][2].calls == 2  # with its repair
    assert len(server.calls) == 9


@pytest.fixture
def no_network_later(request: pytest.FixtureRequest) -> Callable[[], object]:
    return lambda: request.getfixturevalue("no_network")


def test_a_request_is_sent_once_also_when_asked_at_once(start: Start, tmp_path: Path):
    server = start(always(say("hello").after(0.1)))
    with recording(server, tmp_path) as connection:
        with ThreadPoolExecutor(4) as pool, tally():
            replies = list(pool.map(lambda _: ask(connection), range(4)))
        assert sorted(each.cached for each in replies) == [False, True, True, True]
        assert {each.text for each in replies} == {"hello"}
    assert len(server.calls) == 1


def test_recording_goes_on_where_it_stopped(start: Start, tmp_path: Path):
    server = start(echo)
    for _ in range(2):
        with recording(server, tmp_path) as connection:
            ask(connection, "1")
            ask(connection, "2")
    assert len(server.calls) == 2


def test_recorded_failures_fail_again_unless_they_are_to_be_retried(start: Start, tmp_path: Path):
    server = start(script([say("Ann"), say("Ann!"), refusal(), say('{"name": "Ann"}'), say("hello")]))

    def outcome(connection: Connection, user: str, schema: type[BaseModel] | None) -> tuple[str, int]:
        with connection, tally() as used:
            try:
                text = ask(connection, user, schema).text
            except errors.ModelError as error:
                text = type(error).__name__
        return text, used.usage.calls

    for _ in range(2):
        assert outcome(recording(server, tmp_path), "Name?", Person) == ("MalformedReplyError", 2)
        assert outcome(recording(server, tmp_path), "Who?", None) == ("RefusalError", 1)
    assert len(server.calls) == 3
    for connect_again in (lambda: recording(server, tmp_path, retry_failures=True), lambda: replaying(tmp_path)):
        assert outcome(connect_again(), "Name?", Person) == ('{"name": "Ann"}', 1)
        assert outcome(connect_again(), "Who?", None) == ("hello", 1)
    assert len(server.calls) == 5


def test_no_file_and_no_message_holds_the_key(
    start: Start, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    caplog.set_level("DEBUG")
    server = start(script([say(f"your key is {KEY}"), say("hello")]))
    with recording(server, tmp_path) as connection:
        ask(connection)
    server.key = "sk-another-0123456789"
    with recording(server, tmp_path) as connection, pytest.raises(errors.ModelSetupError) as caught:
        ask(connection, "Again?")
    produced = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".env"]
    assert tmp_path / "replies.jsonl" in produced
    for secret in (KEY, KEY[-12:], "Bearer", "Authorization"):
        assert all(secret.encode() not in path.read_bytes() for path in produced)
        assert secret not in str(caught.value)
        assert secret not in "".join(capfd.readouterr())
    assert KEY not in caplog.text


def test_a_thousand_queries_replay_in_seconds(tmp_path: Path, no_network: None):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.yaml").write_text("{as_of: 2026-01-01, source: invented, models: {}}")
    messages = [{"role": "system", "content": "Be brief."}]
    lines = [HEADER.strip()]
    passage = "The Borrower shall repay the Loan. " * 80
    for number in range(1000):
        asked = request(model=MODEL, seed=42, max_tokens=4096, temperature=0.7)
        asked["messages"] = [*messages, {"role": "user", "content": f"{passage} {number}?"}]
        record = {"key": key_of(asked), "take": 1, "request": asked, "reply": reply(f"Ann {number}.")}
        lines.append(json.dumps(record))
    (tmp_path / "replies.jsonl").write_text("\n".join(lines) + "\n")
    begun = time.monotonic()
    with replaying(tmp_path) as connection:
        texts = [ask(connection, f"{passage} {number}?").text for number in range(1000)]
    assert time.monotonic() - begun < 15
    assert texts[999] == "Ann 999."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 43}, "seed is 43 here, 42, 7 recorded"),
        ({"temperature": 0.0}, r"temperature is 0\.0 here, 0\.1, 0\.7 recorded"),
        ({"schema": Person}, "its words or its schema differ"),
        ({"user": "Who is the lender?"}, "its words or its schema differ"),
    ],
)
def test_a_miss_names_the_setting_that_differs(start: Start, tmp_path: Path, changes: dict[str, object], words: str):
    with recording(start(), tmp_path) as connection:
        ask(connection, "Who is the borrower?")
        ask(connection, "What is the rate?", temperature=0.1, seed=7)
    with replaying(tmp_path) as connection, pytest.raises(errors.ReplayMissError, match=words) as caught:
        ask(connection, **{"user": "Who is the borrower?", **changes})
    assert "\n" not in str(caught.value)


def test_who_replays_is_told_how_many_replies_were_not_there(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with recording(start(), tmp_path) as connection:
        ask(connection)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(connection_module, "project_file", lambda path: path)
    for asked, told in ((("Who?",), ""), (("Who?", "Where?", "When?"), "has no reply to 2 of the requests")):
        with open_chat(OPTIONS.model_copy(update={"provider": "replay"})) as chat:
            for user in asked:
                with contextlib.suppress(errors.ReplayMissError):
                    chat.complete(
                        [Message("system", "Be brief."), Message("user", user)], temperature=0.7, seed=42, purpose="a"
                    )
        err = capsys.readouterr().err
        assert (told in err) and (bool(told) == bool(err))


def test_a_store_that_does_not_exist_or_is_not_named(start: Start, tmp_path: Path):
    recording(start(), tmp_path).close()
    with pytest.raises(errors.StoreError, match=r"other\.jsonl cannot be read: No such file"):
        replaying(tmp_path, store=Path("other.jsonl"))
    with pytest.raises(errors.ModelSetupError, match="needs the path of a store"):
        replaying(tmp_path, store=None)


# The file itself


def line_of(asked: dict, answered: dict, take: int = 1) -> str:
    return json.dumps({"key": key_of(asked), "take": take, "request": asked, "reply": answered}) + "\n"


def read(path: Path, *, create: bool = False) -> tuple[ReplyStore, list[str]]:
    said: list[str] = []
    return ReplyStore(path, create=create, warn=said.append), said


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"format":"ovrag-replies","version":2}\n', "is not a store"),
        ("notes of mine", "is not a store"),
        ('{"key": 1}\n', "is not a store"),
        (HEADER + "<<<<<<< HEAD\n", "line 2 is not a recorded reply"),
        (HEADER + "\n" + '{"key": "a"}\n', "line 3 .*restore"),
        (HEADER + line_of(request(), reply()).replace("Who?", "Why?"), "line 2 was changed by hand"),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, content: str, words: str, create: bool):
    path = tmp_path / "store.jsonl"
    path.write_text(content)
    with pytest.raises(errors.StoreError, match=words):
        read(path, create=create)
    assert path.read_text() == content


def test_a_packed_store_is_sorted_by_key_and_has_the_last_reply_to_each_request(tmp_path: Path):
    store, _ = read(tmp_path / "new" / "store.jsonl", create=True)
    for number in range(20):
        store.add(request(str(number)), reply())
    store.add(request("3"), reply("newer"))
    again, _ = read(pack(store.path))
    lines = again.sorted_lines().splitlines()
    assert lines == sorted(lines)
    assert len(lines) == 21
    assert again.get(key_of(request("3"))).reply["text"] == "newer"


def test_stores_that_were_joined_are_one(tmp_path: Path):
    path = tmp_path / "merged.jsonl"
    path.write_text(2 * (HEADER + line_of(request("1"), reply())) + line_of(request("2"), reply()))
    assert len(read(path)[0]) == 2


def test_a_packed_store_is_replayed_and_not_recorded_into(start: Start, tmp_path: Path, no_network_later: None):
    with recording(start(echo), tmp_path) as connection:
        seen = everything(connection)
    packed = pack(tmp_path / "replies.jsonl")
    once = packed.read_bytes()
    assert packed.name == "replies.jsonl.xz" and len(once) < (tmp_path / "replies.jsonl").stat().st_size
    assert pack(tmp_path / "replies.jsonl").read_bytes() == once
    (tmp_path / "replies.jsonl").unlink()
    with replaying(tmp_path, store=Path("replies.jsonl.xz")) as connection:
        assert everything(connection) == seen
    with pytest.raises(errors.StoreError, match=r"record into .*replies.jsonl and pack it"):
        ReplyStore(packed, create=True)
    packed.write_bytes(once[:-20])
    with pytest.raises(errors.StoreError, match="is cut off or not packed by xz; restore the file"):
        ReplyStore(packed)


@pytest.mark.parametrize("kept", [0, 1, 20, -1])
def test_a_broken_last_line_is_cut_and_reported(tmp_path: Path, kept: int):
    path = tmp_path / "store.jsonl"
    whole = HEADER + line_of(request("1"), reply())
    broken = line_of(request("2"), reply()).strip()[:kept]
    path.write_text(whole + broken)
    store, said = read(path)
    assert len(store) == 1
    assert len(said) == (1 if broken else 0)
    assert path.read_text() == whole + broken  # a reader changes nothing
    store, said = read(path, create=True)
    assert len(store) == 1
    assert len(said) == (1 if broken else 0)
    store.add(request("2"), reply())
    assert len(read(path)[0]) == 2


WRITER = """
    import sys
    from pathlib import Path
    from ovrag_core.llm.store import ReplyStore
    store = ReplyStore(Path(sys.argv[1]), create=True)
    print("ready", flush=True)
    for number in range(int(sys.argv[2]), int(sys.argv[3])):
        request = {"kind": "chat", "model": "m", "text": f"{number} " + "x" * 3000}
        store.add(request, {"text": sys.argv[4] if len(sys.argv) > 4 else str(number)})
        print(number, flush=True)
"""


def writer(path: Path, first: int, last: int, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path), str(first), str(last), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_that_write_at_once_lose_and_tear_nothing(tmp_path: Path):
    path = tmp_path / "store.jsonl"
    writers = [writer(path, first, first + 80, str(first)) for first in (0, 40, 70)]
    assert [each.communicate()[0].count("\n") for each in writers] == [81, 81, 81]
    store, said = read(path)
    assert len(store) == 150  # the three overlap
    assert not said


def test_killed_writers_lose_nothing_that_was_written(tmp_path: Path):
    path = tmp_path / "store.jsonl"
    draw = random.Random(5)
    done: set[int] = set()
    for turn in range(3):
        process = writer(path, turn * 1000, turn * 1000 + 900)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(draw.uniform(0.0, 0.15))
        process.send_signal(signal.SIGKILL)
        done |= {int(line) for line in process.communicate()[0].splitlines() if line.strip()}
    store, _ = read(path, create=True)
    texts = {json.loads(line)["reply"]["text"] for line in path.read_text().splitlines()[1:]}
    assert {str(number) for number in done} <= texts
    assert len(done) > 20
    assert len(texts) == len(store)


FULL = """
    import resource, sys
    from pathlib import Path
    from ovrag_core.base.errors import StoreError
    from ovrag_core.llm.store import ReplyStore
    store = ReplyStore(Path(sys.argv[1]), create=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    try:
        for number in range(100):
            store.add({"kind": "chat", "text": f"{number} " + "x" * 3000}, {"text": "hello"})
    except StoreError as error:
        print(error)
        print(number)
"""


def test_a_full_disk_stops_with_a_sentence_and_keeps_what_was_recorded(tmp_path: Path):
    path = tmp_path / "store.jsonl"
    command = [sys.executable, "-c", textwrap.dedent(FULL), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    sentence, number = done.stdout.strip().splitlines()
    assert "cannot be written" in sentence
    assert int(number) > 2
    content = path.read_bytes()
    assert content.endswith(b"}\n")
    store, said = read(path)
    assert len(store) == int(number)
    assert not said


def test_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.StoreError, match="cannot be written"):
        read(tmp_path / "file" / "store.jsonl", create=True)


texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abcdef"), json_values))
def test_the_key_of_a_request_survives_the_file_and_any_order_of_fields(value: dict):
    again = json.loads(canonical(value))
    shuffled = dict(reversed(again.items()))
    assert key_of(shuffled) == key_of(value)
    assert "\n" not in canonical(value)


@given(texts)
def test_any_text_comes_back_from_the_file(tmp_path_factory: pytest.TempPathFactory, text: str):
    path = tmp_path_factory.mktemp("store") / "store.jsonl"
    store, _ = read(path, create=True)
    store.add(request(text), reply(text))
    found = read(path)[0].get(key_of(request(text)))
    assert found is not None
    assert found.reply["text"] == text


def test_a_replay_does_not_load_the_client():
    code = "import sys, ovrag_core.llm; print('openai' in sys.modules, 'httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
