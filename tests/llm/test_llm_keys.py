"""A key goes to the server that it is for, encrypted, and to no other: read off the headers that real servers got."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty_server import KEY, MODEL, FaultyServer, redirect, say, script

from ovrag_core.base import errors
from ovrag_core.base.settings import Options
from ovrag_core.llm import (
    Connection,
    Message,
    connect,
)
from ovrag_core.llm.keys import key_for, read_address
from ovrag_core.llm.openai import OpenAIBackend

Start = Callable[..., FaultyServer]
OPENAI = "https://api.openai.com/v1"
ANOTHER_KEY = "sk-of-another-0123456789"


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as running:
        yield lambda responder=None, **given: running.enter_context(FaultyServer(responder, **given))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose environment holds all that the client library would send by itself."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.yaml").write_text("{as_of: 2026-01-01, source: invented, models: {}}")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", f"{KEY}-admin")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-mine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {KEY}\nX-Team: team-of-mine")
    return tmp_path


def connected(server: FaultyServer, folder: Path, **changes: object) -> Connection:
    given = {"provider": "openai", "model": MODEL, "base_url": server.base_url}
    options = Options.model_validate({**given, "store": None, "retries": 0, **changes})
    return connect(options, folder=folder, say=lambda line: None)


def use(connection: Connection) -> None:
    with connection:
        connection.chat.complete([Message("user", "Who?")], temperature=0, seed=1, purpose="answer")


def sent(server: FaultyServer) -> str:
    return " ".join(f"{name}: {value}" for call in server.calls for name, value in call.headers.items())


def test_the_key_for_openai_is_not_sent_to_another_server(start: Start, folder: Path) -> None:
    server = start(key=None)
    use(connected(server, folder))
    assert [call.path for call in server.calls] == ["/v1/chat/completions"]
    assert "authorization" not in sent(server)
    for word in (KEY, "of-mine", "x-stainless"):
        assert word not in sent(server)


def test_a_server_that_wants_a_key_of_its_own_is_sent_that_one_alone(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANOTHER_KEY", ANOTHER_KEY)
    server = start(key=ANOTHER_KEY)
    use(connected(server, folder, key_variable="ANOTHER_KEY"))
    assert [call.headers["authorization"] for call in server.calls] == [f"Bearer {ANOTHER_KEY}"]
    assert KEY not in sent(server)


def test_a_server_that_wants_a_key_and_gets_none_says_what_to_set(start: Start, folder: Path) -> None:
    with pytest.raises(errors.ModelSetupError) as caught:
        use(connected(start(), folder))
    assert "wants a key" in str(caught.value)
    assert "llm.key_variable" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_redirect_takes_neither_key_nor_prompt_to_another_host(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANOTHER_KEY", ANOTHER_KEY)
    elsewhere = start(key=None)
    first = start(script([redirect(f"{elsewhere.base_url}/chat/completions"), say("hello")]), key=ANOTHER_KEY)
    connection = connected(first, folder, key_variable="ANOTHER_KEY")
    with pytest.raises(errors.ServerError, match="307"):
        use(connection)
    assert len(first.calls) == 1
    assert not elsewhere.calls


@pytest.mark.parametrize(
    "address", ["http://models.example.org/v1", "http://192.0.2.7:8000/v1", "http://api.openai.com/v1"]
)
def test_a_key_does_not_go_to_another_machine_unencrypted(address: str) -> None:
    with pytest.raises(errors.ModelSetupError, match="unencrypted; write https://") as caught:
        OpenAIBackend(base_url=address, key=KEY)
    assert KEY not in str(caught.value)
    if "openai" not in address:
        assert OpenAIBackend(base_url=address, key=None).host in address  # without a key there is none to lose


@pytest.mark.parametrize(
    ("address", "is_openai"),
    [
        (OPENAI, True),
        ("https://eu.api.openai.com/v1", True),
        ("https://API.OPENAI.COM/v1", True),
        ("https://api.openai.com.example.org/v1", False),
        ("https://my-api.openai.com/v1", False),
        ("https://api.openai.com@example.org/v1", False),
        ("https://mine.openai.azure.com/openai/v1/", False),
        ("http://localhost:11434/v1", False),
    ],
)
def test_the_default_key_is_for_openai_alone(folder: Path, address: str, is_openai: bool) -> None:
    assert read_address(address).openai is is_openai
    assert key_for(address, "OPENAI_API_KEY", folder / ".env") == (KEY if is_openai else None)


def test_a_key_that_is_missing_is_named_before_anything_is_sent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(errors.ModelSetupError, match=r"no key for api\.openai\.com; put it into OPENAI_API_KEY"):
        key_for(OPENAI, "OPENAI_API_KEY", folder / ".env")
    with pytest.raises(errors.ModelSetupError, match=r"no key for models\.example\.org; put it into MINE"):
        key_for("https://models.example.org/v1", "MINE", folder / ".env")
    assert key_for("http://127.0.0.1:8080/v1", "MINE", folder / ".env") is None
