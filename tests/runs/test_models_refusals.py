"""Runs by the command line against servers and files that are not as they should be, and each kind of server."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import IO, Any

import pytest
from faulty_server import scripted
from kinds_of_server import KINDS, as_kind
from test_models import Start, good_model

from ovrag_core.base.errors import RunError
from ovrag_core.base.settings import Settings
from ovrag_core.loans import generate
from ovrag_core.retrieval.indexing import index_documents
from ovrag_core.runs.files import read_run, run_files

Ovrag = Callable[..., tuple[int, str, str]]
ARMS = ("--arm", "plain", "--arm", "ovrag_evidence")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two generated contracts with their index."""
    data = tmp_path_factory.mktemp("prepared")
    generate(data / "contracts", data / "ground_truth.json", count=2, seed=7, wording="plain")
    index_documents(Settings(), data / "contracts", data / "index")
    return data


@pytest.fixture
def folder(tmp_path: Path, project: Path, prepared: Path, start: Start) -> Path:
    """A project with two contracts, ready to be asked."""
    shutil.copytree(project / "ontologies", tmp_path / "ontologies")
    shutil.copytree(prepared, tmp_path / "data")
    shutil.copy(project / "data" / "questions.yaml", tmp_path / "data")
    return tmp_path


def sentence(err: str) -> str:
    """The last line of stderr, where only lines on what leaves the machine and how long it takes stand before it."""
    *before, last = err.splitlines()
    assert all("go to 127.0.0.1" in line or "will take about" in line for line in before)
    assert last.startswith("ovrag: ")
    return last


def closed_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"llm.model": "absent"}, "has no model absent"),
        ({"llm.base_url": "CLOSED"}, "cannot be reached; start the server, or check llm.base_url"),
        (
            {"llm.base_url": "https://models.example.org/v1", "llm.key_variable": "NOBODY_SET_THIS"},
            "there is no key for",
        ),
        ({"llm.base_url": "not an address"}, "base_url must be an address"),
        ({"llm.budget_usd": 5, "llm.model": "unpriced"}, "has no price for unpriced"),
        ({"llm.prices": "none.yaml"}, "none.yaml does not exist"),
        ({"llm.provider": "replay", "llm.store": "none.jsonl"}, "none.jsonl cannot be read"),
    ],
)
def test_what_no_call_can_help_ends_the_run_at_once_with_one_sentence(
    changes: dict[str, object],
    words: str,
    folder: Path,
    start: Start,
    ovrag: Ovrag,
) -> None:
    made = {name: closed_port() if value == "CLOSED" else value for name, value in changes.items()}
    code, _, err = ovrag(start(scripted(good_model), **{"llm.concurrency": 2, **made}), "run", *ARMS)
    assert code == 2
    assert words in sentence(err)
    assert len(start.servers[-1].calls) <= 6  # those that were under way, not one for every query
    assert not run_files("main").records.exists()


def test_a_wrong_key_ends_the_run_and_the_right_one_goes_on(
    folder: Path,
    start: Start,
    ovrag: Ovrag,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = start(scripted(good_model))
    key = "sk-wrong-0123456789abcdef"
    with monkeypatch.context() as mistaken:
        mistaken.setenv("TEST_KEY", key)
        code, _, err = ovrag(settings, "run", *ARMS)
    assert code == 2
    assert "does not accept the key" in sentence(err)
    assert key not in err
    assert ovrag(settings, "run", *ARMS)[0] == 0
    assert len(read_run(run_files("main").records)) == 2 * 2 * 5


def test_a_store_of_another_version_ends_the_run_and_is_left_as_it_is(
    folder: Path,
    start: Start,
    ovrag: Ovrag,
) -> None:
    store = folder / "replies.jsonl"
    store.write_text('{"format":"ovrag-replies","version":9}\n')
    code, _, err = ovrag(start(scripted(good_model)), "run", *ARMS)
    assert code == 2
    assert "is not a store of recorded replies" in sentence(err)
    assert store.read_text() == '{"format":"ovrag-replies","version":9}\n'


def test_a_full_disk_while_recording_ends_the_run_and_it_goes_on_where_there_is_room(
    folder: Path,
    start: Start,
    ovrag: Ovrag,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = start(scripted(good_model))

    by_path, written = Path.open, list[bytes]()

    class FillingFile(FileIO):
        def write(self, content: Any) -> int:
            if len(written) >= 12:
                raise OSError(28, "No space left on device")
            written.append(bytes(content))
            return super().write(content)

    def opened(path: Path, mode: str = "r", buffering: int = -1, **how: Any) -> IO[Any]:
        return FillingFile(path, "a+") if (mode, buffering) == ("ab+", 0) else by_path(path, mode, buffering, **how)

    with monkeypatch.context() as filled:
        filled.setattr(Path, "open", opened)
        code, _, err = ovrag(settings, "run", *ARMS)
    assert code == 2
    assert "replies.jsonl cannot be written (No space left on device)" in sentence(err)
    assert "make room" in sentence(err)
    kept = run_files("main").partial_records.read_bytes()
    recorded = (folder / "replies.jsonl").read_text().count("\n")
    code, _, err = ovrag(settings, "run", *ARMS)
    assert code == 0
    whole = run_files("main").records.read_bytes()
    assert set(kept.splitlines()) <= set(whole.splitlines())
    assert (folder / "replies.jsonl").read_text().count("\n") > recorded >= 11


def replaying(settings: Settings) -> Settings:
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"provider": "replay"})})


def test_a_replay_that_finds_nothing_ends_with_two_the_counts_and_the_first_reason(
    folder: Path, start: Start, ovrag: Ovrag
) -> None:
    settings = start(scripted(good_model))
    assert ovrag(settings, "run", "--arm", "plain", "--contract", "Contract_001", "--question", "Q1")[0] == 0
    code, _, err = ovrag(replaying(settings), "run", "-S", "experiment.run=again", "--arm", "plain")
    assert code == 2
    last = err.splitlines()[-1]
    assert "9 of 10 queries were not judged (9 errors, 0 unchecked), the first, plain Contract_001 Q2: " in last
    assert "has no reply to this request" in last
    assert "--retry-errors" in last


def test_a_run_that_reached_no_model_leaves_no_store_and_an_empty_one_is_not_replayed(
    folder: Path, start: Start, ovrag: Ovrag
) -> None:
    unreached = start(scripted(good_model), **{"llm.base_url": closed_port()})
    assert ovrag(unreached, "run", "--arm", "plain")[0] == 2
    store = folder / "replies.jsonl"
    assert not store.exists()
    store.write_text('{"format":"ovrag-replies","version":1}\n')
    code, _, err = ovrag(replaying(unreached), "run", "--arm", "plain")
    assert code == 2
    assert "replies.jsonl holds no recorded reply" in err
    assert not run_files("main").records.exists()


def test_another_parameter_set_is_refused_and_nothing_is_asked(
    folder: Path,
    start: Start,
    ovrag: Ovrag,
) -> None:
    settings = start(scripted(good_model))
    assert ovrag(settings, "run", *ARMS)[0] == 0
    asked_so_far, before = len(start.servers[-1].calls), run_files("main").records.read_bytes()
    code, _, err = ovrag(settings, "run", *ARMS, "-S", "llm.temperature=0.1")
    assert code == 2
    assert "was made with other parameters" in sentence(err)
    assert "runs are never mixed" in sentence(err)
    assert len(start.servers[-1].calls) == asked_so_far
    assert run_files("main").records.read_bytes() == before


def test_a_query_that_a_run_holds_twice_is_named(folder: Path, start: Start, ovrag: Ovrag) -> None:
    settings = start(scripted(good_model))
    assert ovrag(settings, "run", "--arm", "plain")[0] == 0
    path = run_files("main").records
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[2]]))
    code, _, err = ovrag(settings, "score", "main")
    assert code == 2
    assert "holds the query plain Contract_001 Q3 twice, again as record 11; delete one of them" in sentence(err)
    with pytest.raises(RunError, match="twice"):
        read_run(path)


@pytest.mark.parametrize("name", list(KINDS))
def test_a_run_with_every_kind_of_server_has_the_same_records(
    name: str,
    folder: Path,
    start: Start,
    ovrag: Ovrag,
) -> None:
    few = (*ARMS, "--question", "Q1", "--question", "Q3")
    assert ovrag(start(scripted(good_model)), "run", *few, "-S", "experiment.run=ours")[0] == 0
    settings = start(as_kind(KINDS[name], scripted(good_model)), **{"llm.store": None, "llm.concurrency": 4})
    code, _, err = ovrag(settings, "run", *few, "-S", "experiment.run=theirs", "-S", "llm.store=null")
    assert code == 0, err
    free = {"usage", "cost_usd"}  # they count tokens in other ways
    ours, theirs = (
        [record.model_dump(exclude=free) for record in read_run(run_files(run).records)] for run in ("ours", "theirs")
    )
    assert theirs == ours
    assert {record["outcome"] for record in theirs} <= {"accepted", "corrected", "source_finding"}
