"""A model that really runs: what is asked of it in every form, its end in mid-run, and the replay without it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field
from real_server import SERVER, RealServer, smallest_model

from ovrag_core.base.errors import ModelError, TruncatedReplyError
from ovrag_core.base.settings import Options, Settings, load_settings
from ovrag_core.llm.chat import Message, Reply
from ovrag_core.llm.connection import Connection, connect
from ovrag_core.loans import generate
from ovrag_core.retrieval.indexing import index_documents
from ovrag_core.runs import read_run, run_files

QUESTION = [Message("user", "Say the word blue and nothing else.")]
RUN = ("run", "--arm", "plain_scoped")


class Colour(BaseModel):
    name: Literal["not stated", "red", "blue"]
    rate: Annotated[str, Field(pattern=r"^[0-9]{1,2}\.[0-9]{2}%$")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """The running server."""
    started = RealServer(tmp_path_factory.mktemp("server"))
    started.start()
    yield started
    started.stop()


def options(server: RealServer, **changes: object) -> Options:
    given = {"provider": "openai", "base_url": server.base_url, "model": server.model, "store": None, "retries": 0}
    return Options.model_validate({**given, "max_tokens": 200, **changes})


@pytest.fixture
def connection(server: RealServer, project: Path) -> Iterator[Connection]:
    """A connection to it, of short replies, that records nothing."""
    with connect(options(server), folder=project) as opened:
        yield opened


def complete(connection: Connection, schema: type[BaseModel] | None = None, seed: int = 1) -> Reply:
    return connection.chat.complete(QUESTION, schema=schema, temperature=0.0, seed=seed, purpose="test")


def test_plain_text_comes_with_its_usage(server: RealServer, project: Path) -> None:
    with connect(options(server), folder=project) as opened:
        reply = complete(opened)
    assert reply.text.strip() and not reply.cached
    assert reply.usage.calls == 1 and 10 < reply.usage.prompt_tokens < 100
    assert 0 < reply.usage.completion_tokens <= 200
    assert reply.model == server.model


def test_a_schema_is_a_grammar(connection: Connection) -> None:
    reply = complete(connection, Colour).parsed_as(Colour)
    assert reply.name in ("not stated", "red", "blue") and reply.rate.endswith("%")


def test_a_reply_that_is_cut_off_says_so(server: RealServer, project: Path) -> None:
    cut_off = pytest.raises(TruncatedReplyError, match="cut off at the limit; raise max_tokens above 3")
    with connect(options(server, max_tokens=3), folder=project) as short, cut_off:
        complete(short, Colour)


def test_two_calls_at_once_are_both_answered(connection: Connection) -> None:
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda seed: complete(connection, Colour, seed), (1, 2)))
    assert [reply.usage.calls for reply in replies] == [1, 1]


def test_a_prompt_longer_than_the_context_is_one_sentence(connection: Connection) -> None:
    with pytest.raises(ModelError, match="longer than") as refused:
        connection.chat.complete(
            [Message("user", "word " * 9000)], schema=None, temperature=0.0, seed=1, purpose="test"
        )
    assert "\n" not in str(refused.value)


@pytest.fixture
def settings(server: RealServer, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A project with one contract, whose questions the server answers in few words."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(project / "ontologies", tmp_path / "ontologies")
    generate(Path("data/contracts"), Path("data/ground_truth.json"), count=1, seed=7, wording="plain")
    questions = [f"- {{id: Q{number}, text: 'What is the rate of loan {number}?'}}\n" for number in range(1, 5)]
    Path("data/questions.yaml").write_text("".join(questions))
    shutil.copy(project / "data/prices.yaml", tmp_path / "data")
    (tmp_path / "params.yaml").write_text("extraction: {extractor: reader}\nexperiment: {run: first}\n")
    index_documents(Settings(), Path("data/contracts"))
    return load_settings().model_copy(update={"llm": options(server, store="replies.jsonl", max_tokens=60)})


def test_a_run_whose_server_ends_goes_on_with_a_new_one_and_is_replayed_without(
    server: RealServer, settings: Settings, ovrag: Callable[..., tuple[int, str, str]]
) -> None:
    replies = Path("replies.jsonl")

    def end_after_the_first_reply() -> None:
        while not replies.exists() or replies.read_text().count("\n") < 2:
            time.sleep(0.02)
        server.kill()

    ending = Thread(target=end_after_the_first_reply)
    ending.start()
    code, _, err = ovrag(settings, *RUN)
    ending.join()
    assert code == 2
    assert "--retry-errors" in err.splitlines()[-1]
    lost = [
        record
        for record in read_run(run_files("first").records)
        if record.error and "cannot be reached" in record.error
    ]
    assert 0 < len(lost) < 4
    server.start()
    ovrag(settings, *RUN, "--retry-errors")
    whole = run_files("first").records.read_bytes()
    errors = [record.error for record in read_run(run_files("first").records) if record.error is not None]
    assert len(read_run(run_files("first").records)) == 4
    assert all("cut off at the limit" in each for each in errors)  # the smallest of models goes on for ever
    server.kill()
    try:
        replay = settings.model_copy(update={"llm": settings.llm.model_copy(update={"provider": "replay"})})
        ovrag(replay, *RUN, "-S", "experiment.run=again")
    finally:
        server.start()
    assert run_files("again").records.read_bytes() == whole


def test_served_files_are_checked_before_they_are_served(server: RealServer, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(smallest_model().read_bytes()[:1_000_000])
    for words, said in (
        (("--model", str(cut), "--port", "0"), "cannot be loaded: it is cut off"),
        (("--model", __file__), "is no GGUF file"),
        (("--model", str(tmp_path / "none.gguf")), "is not there"),
        (("--model", str(smallest_model()), "--port", str(server.port)), "is in use"),
    ):
        ended = subprocess.run(
            [sys.executable, str(SERVER), *words], capture_output=True, text=True, check=False, timeout=60
        )
        assert ended.returncode == 1
        assert said in ended.stderr.splitlines()[-1]
