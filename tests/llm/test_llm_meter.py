"""What calls use and cost, the budget that stops before it is exceeded, the key."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from faulty_server import KEY, MODEL, FaultyServer, always, failure, rate_limited, say, script
from pydantic import BaseModel, Field, ValidationError

from ovrag_core.base import errors
from ovrag_core.base.settings import Options, load_settings
from ovrag_core.base.types import Usage
from ovrag_core.llm import (
    ChatModel,
    Connection,
    Message,
    connect,
    load_prices,
    tally,
)
from ovrag_core.llm.keys import read_key
from ovrag_core.llm.openai import OpenAIBackend
from ovrag_core.llm.schema import strict_schema

PRICES = "{as_of: 2026-01-01, source: invented, models: {test-model: {input: 2.0, output: 10.0, also: [test-model-1]}}}"
Start = Callable[..., FaultyServer]


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as running:
        yield lambda responder=None, **given: running.enter_context(FaultyServer(responder, **given))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "MINE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.yaml").write_text(PRICES)
    (tmp_path / ".env").write_text(f"# mine\nexport OPENAI_API_KEY='{KEY}'\nMINE={KEY}\n")
    return tmp_path


def connected(server: FaultyServer, folder: Path, spent_usd: float = 0.0, **changes: object) -> Connection:
    given = {"provider": "openai", "model": MODEL, "base_url": server.base_url, "retries": 0, "max_tokens": 100}
    given["key_variable"] = "MINE"
    options = Options.model_validate({**given, "store": None, **changes})
    return connect(options, folder=folder, spent_usd=spent_usd, say=lambda line: None)


def ask(chat: ChatModel, user: str = "Who?", purpose: str = "answer"):
    return chat.complete([Message("user", user)], temperature=0, seed=1, purpose=purpose)


def test_usage_is_counted_by_query_and_part(start: Start, folder: Path):
    chat = connected(start(), folder).chat
    with tally() as whole:
        ask(chat)
        with tally() as query:
            ask(chat)
            ask(chat, purpose="extraction")
            ask(chat, purpose="extraction")
    ask(chat)
    assert query.usage == Usage(calls=3, prompt_tokens=300, completion_tokens=30)
    assert query.by_purpose["extraction"].usage == Usage(calls=2, prompt_tokens=200, completion_tokens=20)
    assert query.by_purpose["extraction"].seconds > 0
    assert whole.usage.calls == 4


def test_queries_in_threads_and_tasks_are_counted_apart(start: Start, folder: Path):
    chat = connected(start(), folder).chat

    def query(calls: int) -> int:
        with tally() as used:
            for _ in range(calls):
                ask(chat)
        return used.usage.calls

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(query, [1, 2, 3])) == [1, 2, 3]


def test_a_recorded_reply_counts_as_used_but_costs_nothing(start: Start, folder: Path):
    server = start()
    with connected(server, folder, store="replies.jsonl", budget_usd=1) as connection:
        with tally() as first:
            ask(connection.chat)
        with tally() as second:
            ask(connection.chat)
        assert connection.budget is not None
        assert connection.budget.spent_usd == pytest.approx(300e-6)
    assert first.usage == second.usage


def test_cost_is_by_the_price_file(folder: Path):
    prices = load_prices(folder / "data" / "prices.yaml")
    usage = Usage(calls=3, prompt_tokens=1_000_000, completion_tokens=500_000)
    assert prices.of(MODEL).cost(usage) == pytest.approx(2 + 5)
    assert prices.of("test-model-1") == prices.of(MODEL)
    assert str(prices.as_of) == "2026-01-01"


def test_the_price_file_of_the_project_names_its_source_and_the_published_models(project: Path):
    prices = load_prices(project / "data" / "prices.yaml")
    assert "openai.com" in prices.source
    assert prices.of("gpt-4o").cost(Usage(prompt_tokens=1000, completion_tokens=100)) == pytest.approx(0.0035)
    assert prices.of("text-embedding-3-small").output == 0


def test_a_model_without_a_price(folder: Path):
    prices = load_prices(folder / "data" / "prices.yaml")
    assert prices.find("other") is None
    with pytest.raises(errors.PriceError, match="has no price for other"):
        prices.of("other")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{as_of: 2026-01-01", "is not valid YAML"),
        ("- 1", "must hold as_of, source and models"),
        ("{source: me, models: {}}", "'as_of' is missing"),
        ("{as_of: 2026-01-01, source: me, models: {m: {input: -1}}}", r"models\.m\.input"),
        ("{as_of: 2026-01-01, source: me, models: {m: {input: 1, outputs: 1}}}", r"models\.m\.outputs"),
    ],
)
def test_a_broken_price_file(tmp_path: Path, content: str, words: str):
    path = tmp_path / "prices.yaml"
    path.write_text(content)
    with pytest.raises(errors.PriceError, match=words):
        load_prices(path)


def test_a_missing_price_file(tmp_path: Path):
    with pytest.raises(errors.PriceError, match="does not exist"):
        load_prices(tmp_path / "prices.yaml")


def spend(connection: Connection, calls: int) -> int:
    """How many of the calls were made before the budget stopped them."""
    done = 0
    with contextlib.suppress(errors.BudgetError):
        for number in range(calls):
            ask(connection.chat, f"{number:03}")
            done += 1
    return done


def test_a_budget_stops_the_call_after_the_one_that_reaches_it(start: Start, folder: Path):
    # A call uses 100 × 2 + 10 × 10 = 300 millionths.
    server = start(always(say("hello", usage={"prompt_tokens": 100, "completion_tokens": 10})))
    connection = connected(server, folder, budget_usd=0.0100)
    assert spend(connection, 100) == len(server.calls) == 34
    with pytest.raises(errors.BudgetError, match=r"budget of 0\.01 USD: 0\.0102 USD are spent"):
        ask(connection.chat, "031")


def test_a_resumed_run_goes_on_with_what_is_left(start: Start, folder: Path):
    assert spend(connected(start(), folder, spent_usd=0.0070, budget_usd=0.0100), 100) == 10


def test_calls_that_fail_cost_nothing(start: Start, folder: Path):
    server = start(script([failure(500), rate_limited(0.01)]))
    connection = connected(server, folder, budget_usd=1)
    for kind in (errors.ServerError, errors.RateLimitError):
        with pytest.raises(kind):
            ask(connection.chat, "000")
    assert connection.budget is not None
    assert connection.budget.spent_usd == 0


def test_a_budget_needs_a_price(start: Start, folder: Path):
    with pytest.raises(errors.PriceError, match="has no price for other"):
        connected(start(), folder, model="other", budget_usd=1)
    connected(start(models=["other"]), folder, model="other")  # without a budget, its cost is just not known


# Key, settings, schema


def test_the_key_is_read_from_the_environment_then_from_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch):
    assert read_key(env_file=folder / ".env") == KEY
    assert read_key("OTHER_KEY", folder / ".env") is None
    assert read_key(env_file=folder / "none") is None
    monkeypatch.setenv("OPENAI_API_KEY", " sk-first ")
    assert read_key(env_file=folder / ".env") == "sk-first"


@pytest.mark.parametrize("value", ["sk-with blank", "sk-späť", "sk-\x07bell"])
def test_a_key_that_is_none_is_not_shown(folder: Path, monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(errors.ModelSetupError, match="copy the key anew") as caught:
        read_key(env_file=folder / ".env")
    assert value not in str(caught.value)


def test_a_remote_server_needs_a_key(folder: Path):
    (folder / ".env").write_bytes(b"\xff\xfe")
    with pytest.raises(errors.ModelSetupError, match="cannot be read"):
        connect(Options(provider="openai"), folder=folder)
    (folder / ".env").unlink()
    with pytest.raises(errors.ModelSetupError, match=r"no key for api\.openai\.com"):
        connect(Options(provider="openai"), folder=folder)


def test_options_are_checked():
    for wrong in ({"provider": "other"}, {"concurrency": 0}, {"seconds_per_call": 0}, {"budget_usd": -1}, {"modle": 1}):
        with pytest.raises(ValidationError):
            Options.model_validate(wrong)
    with pytest.raises(ValueError, match="offline"):
        connect(Options())


def test_the_settings_in_the_parameter_file_are_those_of_the_code(project: Path):
    """docs/models.md sends to params.yaml for every key of `llm` with its default."""
    assert load_settings(project / "params.yaml").llm == Options()


def test_a_schema_is_closed_and_complete():
    class Item(BaseModel):
        """One of them."""

        title: str = Field(min_length=1)
        kind: Literal["a", "b"] = "a"

    class Items(BaseModel):
        items: list[Item] = []
        main: Item | None = Field(default=None, description="The first")

    schema = strict_schema(Items)
    item = schema["$defs"]["Item"]
    assert schema["required"] == ["items", "main"]
    assert item["required"] == ["title", "kind"]
    assert item["properties"]["title"] == {"type": "string"}  # a property called like a keyword stays
    assert item["additionalProperties"] is schema["additionalProperties"] is False
    assert schema["properties"]["main"]["anyOf"] == [{"$ref": "#/$defs/Item"}, {"type": "null"}]


def test_a_reply_is_typed_by_what_was_asked_for(start: Start, folder: Path):
    class Name(BaseModel):
        name: str

    class Other(BaseModel):
        name: str

    chat = connected(start(always(say('{"name": "Ann"}'))), folder).chat
    reply = chat.complete([Message("user", "Who?")], schema=Name, temperature=0, seed=1, purpose="answer")
    assert reply.parsed_as(Name).name == "Ann"
    with pytest.raises(TypeError, match="Other"):
        reply.parsed_as(Other)


def test_the_backend_is_usable_without_settings(start: Start):
    server = start()
    backend = OpenAIBackend(base_url=server.base_url, key=KEY)
    assert ask(ChatModel(backend, MODEL)).text == "hello"
