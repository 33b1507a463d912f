"""What the command line says of itself: help in groups, version, examples, completion, colours."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from ovrag_core import __version__
from ovrag_core.app.cli import COMPLETED, app

PROGRAM = typer.main.get_command(app)


def called(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("ovrag")), *words]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def commands() -> Iterator[tuple[str, typer.core.TyperCommand]]:
    """All commands by what is typed for them, those of studies too."""
    for name, command in PROGRAM.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {own}", each) for own, each in command.commands.items())
        else:
            yield name, command


COMMANDS = dict(commands())


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_help_lists_the_commands_in_groups(words: list[str]):
    shown = called(*words)
    assert (shown.returncode, shown.stderr) == (0, "")
    groups = ["Documents", "Experiment", "Ontology and results", "Studies"]
    titles = [line.strip("╭─╮ ") for line in shown.stdout.splitlines() if line.startswith("╭")]
    assert titles == ["Options", *groups]
    assert "…" not in shown.stdout.partition("Documents")[2], "no description is cut off"
    assert "\x1b" not in shown.stdout


def test_a_study_alone_shows_its_help():
    shown = called("policy")
    assert shown.returncode == 0
    assert "Usage" in shown.stdout
    assert "calibrate" in shown.stdout


def test_version():
    assert called("--version").stdout == f"ovrag {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_sentence_and_an_example_that_can_be_called(name: str):
    command = COMMANDS[name]
    assert command.help and command.help.strip().split("\n\n")[0].endswith((".", ":"))
    assert command.epilog.startswith(f"Example: ovrag {name}")
    words = shlex.split(command.epilog.removeprefix("Example: ovrag "))[len(name.split()) :]
    try:
        command.make_context(name, words)
    except Exception as error:
        pytest.fail(f"{command.epilog}: {error}")


@pytest.mark.parametrize("name", COMMANDS)
def test_arguments_are_named_in_capitals(name: str):
    assert all((each.metavar or "").isupper() for each in COMMANDS[name].params if each.param_type_name == "argument")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_each_shell(shell: str):
    script = called("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert script.returncode == 0
    assert f"{COMPLETED}=complete_{shell}" in script.stdout


def test_words_are_completed():
    found = called(**{COMPLETED: "complete_bash", "COMP_WORDS": "ovrag re", "COMP_CWORD": "1"})
    assert found.stdout.split() == ["review", "results"]


def test_a_missing_module_of_ours_is_a_fault_and_no_extra():
    code = "import sys; sys.modules['ovrag_core.loop.checking'] = None; from ovrag_core.app.cli import main; main()"
    command = [sys.executable, "-c", code, "check", "triples.json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "ModuleNotFoundError" in ended.stderr
    assert "pip install" not in ended.stderr
