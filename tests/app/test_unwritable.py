"""Places that cannot be written, full disks and closed pipes: one sentence, exit code 2, and never a traceback."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from ovrag_core.app import cli
from ovrag_core.base import progress
from ovrag_core.base.errors import OvragError
from ovrag_core.study import command
from ovrag_core.study.command import system_error_text, writable_file, writable_folder

Call = Callable[..., tuple[int, str, str]]
OVRAG = [sys.executable, "-m", "ovrag_core.app.cli"]

# Every command that takes a place to write to, with words that are right but for it.
WRITING = {
    "review": ["agreement.txt", "--html", "{place}"],
    "results": ["main", "--to", "{place}"],
    "export": ["--to", "{place}"],
    "contract-review run": ["retrieval", "--out", "{place}"],
    "epistemic cards": ["--out", "{place}"],
    "epistemic run": ["--out", "{place}"],
    "policy calibrate": ["--out", "{place}"],
    "policy run": ["--out", "{place}"],
    "policy audit": ["records.jsonl", "--out", "{place}"],
    "causal bench": ["questions.jsonl", "--out", "{place}"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Path) -> Path:
    """A folder with the files that the commands read, and a file where a folder should be."""
    monkeypatch.chdir(tmp_path)
    for name in ("agreement.txt", "records.jsonl", "questions.jsonl", "file"):
        Path(name).write_text("{}\n", encoding="utf-8")
    return tmp_path


def commands(group: typer.core.TyperGroup, before: str = "") -> dict[str, set[str]]:
    """The options of every command, by its words."""
    found: dict[str, set[str]] = {}
    for name, each in group.commands.items():
        if isinstance(each, typer.core.TyperGroup):
            found |= commands(each, f"{before}{name} ")
        else:
            found[before + name] = {option for parameter in each.params for option in parameter.opts}
    return found


def test_every_command_that_takes_a_place_to_write_to_is_tried_here() -> None:
    known = commands(typer.main.get_command(cli.app))
    assert {name for name, options in known.items() if options & {"--out", "--to", "--html"}} == set(WRITING)


@pytest.mark.parametrize("name", WRITING)
def test_a_place_that_cannot_be_written_is_named_before_any_work(folder: Path, call: Call, name: str) -> None:
    started = time.process_time()
    code, _, err = call(*name.split(), *(word.format(place="file/results") for word in WRITING[name]))
    assert code == 2
    assert "Traceback" not in err
    (line,) = err.splitlines()
    assert "file/results" in line or name == "export", "export looks for results first"
    assert time.process_time() - started < 10
    assert Path("file").read_text() == "{}\n"


def test_a_file_is_tried_without_a_trace(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    assert writable_file(kept) == kept and kept.read_text() == "mine"
    assert writable_file(tmp_path / "new") and not (tmp_path / "new").exists()
    assert writable_folder(tmp_path / "a" / "b") and not (tmp_path / "a").exists()
    for wrong in (tmp_path, tmp_path / "kept" / "x", tmp_path / "no" / "x"):
        with pytest.raises(OvragError, match="cannot be written"):
            writable_file(wrong)
    with pytest.raises(OvragError, match=r"for .*kept cannot be; name another folder"):
        writable_folder(kept / "x")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "there is no room (No space left on device)"),
        (
            OSError(errno.EROFS, "Read-only file system", "data/runs"),
            "data/runs cannot be used (Read-only file system)",
        ),
        (OSError("Cannot save file into a non-existent directory: 'x'"), "the system refused (Cannot save file"),
    ],
)
def test_whatever_the_system_refuses_is_one_sentence(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str
) -> None:
    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr("ovrag_core.ontology.rules_page", refuse)
    code, _, err = call("rules")
    assert code == 2
    assert err == f"ovrag: {system_error_text(error)}\n"
    assert words in err


def run(stdout: object, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*OVRAG, *words], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=200, **options
    )


def test_a_reader_that_has_gone_ends_it_silently_and_gives_no_verdict() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = run(writing, "rules")
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_output_that_cannot_be_written_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        ended = run(full, "rules")
    assert ended.returncode == 2
    assert ended.stderr.startswith("ovrag: there is no room") and ended.stderr.count("\n") == 1


def test_output_that_was_closed_from_the_start_is_no_error() -> None:
    ended = run(None, "rules", preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (0, "")


def test_files_that_are_not_read_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("deal").mkdir()
    for name in ("scan.png", "sums.xlsx", ".hidden.png", "agreement.txt"):
        Path("deal", name).write_text("x", encoding="utf-8")
    assert [path.name for path, _ in command.load_each([Path("deal")])] == ["agreement.txt"]
    assert capsys.readouterr().err == "ovrag: deal: passed over, as their kind is not read: scan.png, sums.xlsx\n"


class Terminal:
    """Standard error of a person who is watching."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


def test_a_wait_is_announced_where_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.05)
    with progress.notice("quick"):
        pass
    with progress.notice("loading"), progress.notice("reading"):
        time.sleep(0.5)
    with progress.notice("loading"):
        progress.no_notice()
        time.sleep(0.3)
    assert terminal.text == "reading\n"


def test_nothing_of_it_goes_into_a_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.05)
    with progress.notice("loading"):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""
