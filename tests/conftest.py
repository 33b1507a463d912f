"""Shared fixtures."""

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty_server import KEY, MODEL, FaultyServer, Responder
from standins import TRUTH

from ovrag_core.app import cli
from ovrag_core.base.settings import Settings, load_settings
from ovrag_core.loans import workbench
from ovrag_core.loans.workbench import make_validator
from ovrag_core.loop.validation import Validator

PROJECT = Path(__file__).resolve().parent.parent


def without(tool: str, package: str) -> None:
    """Skip a test for want of a tool; where tests are to have it, by CI or `.ci/run`, the test fails instead."""
    wanted = os.environ.get("OVRAG_TOOLS", "").split()
    if os.environ.get("CI", "").lower() in ("1", "true") or tool in wanted:
        pytest.fail(f"no {tool}, which the tests are to have here; install it with apt-get install {package}")
    pytest.skip(f"no {tool}; install it with apt-get install {package}")


@pytest.fixture
def latex() -> None:
    """LaTeX with what the chapter needs, and what reads its pages."""
    if not (shutil.which("latexmk") and shutil.which("pdflatex")):
        without("latexmk", "latexmk texlive-latex-recommended texlive-latex-extra lmodern")
    if not shutil.which("pdftotext"):
        without("pdftotext", "poppler-utils")


@pytest.fixture(scope="session")
def external_data() -> Path:
    """The folder of real data sets; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("OVRAG_EXTERNAL_DATA", PROJECT / "data" / "external"))
    if "OVRAG_EXTERNAL_DATA" in os.environ:
        assert folder.is_dir(), (
            f"OVRAG_EXTERNAL_DATA names {folder.name}, which is no folder: its tests would be skipped"
        )
    if not folder.is_dir():
        pytest.skip(f"no external data at OVRAG_EXTERNAL_DATA ({folder.name})")
    return folder.resolve()


@pytest.fixture(scope="session")
def project() -> Path:
    """The root of the repository."""
    return PROJECT


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A folder with settings, questions and ground truth for a run by the stand-ins; the current one."""
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    Path("truth.json").write_text(json.dumps(TRUTH), encoding="utf-8")
    Path("questions.yaml").write_text("- {id: Q1, text: 'What colour?'}\n- {id: Q2, text: 'Why?'}\n", encoding="utf-8")
    Path("params.yaml").write_text(
        "corpus: {source: own, ground_truth: truth.json}\nquestions: questions.yaml\n"
        "experiment: {arms: [plain, ovrag_evidence]}\n",
        encoding="utf-8",
    )
    return load_settings()


@pytest.fixture(autouse=True)
def doors() -> Iterator[None]:
    """A room keeps what was asked of it by name: what a test puts in a module's place must not outlive the test there.

    So each test, in whatever order, finds by a room's name what stands in the module at that time.
    """
    _forget_doors()
    yield
    _forget_doors()


def _forget_doors() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(("ovrag_core.", "ovrag_studies.")):
            kept = vars(module)
            for each in kept.get("__all__", ()) if "__getattr__" in kept else ():
                kept.pop(each, None)


@pytest.fixture(scope="module")
def validator() -> Iterator[Validator]:
    """One warm reasoner for all."""
    made = make_validator(Settings())
    yield made
    made.close()


@pytest.fixture
def start(
    tmp_path: Path, project: Path, validator: Validator, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Settings]]:
    """Settings for a model behind a responder; the servers are in `start.servers`."""
    monkeypatch.setattr(workbench, "make_validator", lambda settings, wait=True: validator)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_KEY", KEY)
    (tmp_path / "params.yaml").write_text("{}")
    (tmp_path / "prices.yaml").write_text(
        f"{{as_of: 2026-01-01, source: invented, models: {{{MODEL}: {{input: 1.0, output: 2.0}}}}}}"
    )
    with contextlib.ExitStack() as running:

        def serve(responder: Responder, **changes: object) -> Settings:
            server = running.enter_context(FaultyServer(responder))
            servers.append(server)
            return load_settings(
                overrides={
                    "questions": str(project / "data/questions.yaml"),
                    "validation.rules": str(project / "ontologies/rules.yaml"),
                    "extraction.form": "triples",
                    "llm.provider": "openai",
                    "llm.model": MODEL,
                    "llm.base_url": server.base_url,
                    "llm.key_variable": "TEST_KEY",
                    "llm.store": "replies.jsonl",
                    "llm.prices": "prices.yaml",
                    "llm.retries": 0,
                    **changes,
                }
            )

        servers: list[FaultyServer] = []
        serve.servers = servers
        yield serve


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Runs `ovrag` with these words in this process, nothing on stdin; returns exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["ovrag", *words])
        monkeypatch.setattr("sys.stdin", io.StringIO())
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def ovrag(call: Callable[..., tuple[int, str, str]]) -> Callable[..., tuple[int, str, str]]:
    """The same with the model of given settings."""

    def run(settings: Settings, *words: str) -> tuple[int, str, str]:
        chosen = settings.llm.model_dump(mode="json", exclude_defaults=True)
        given = {f"llm.{name}": value for name, value in chosen.items()}
        given["extraction.form"] = settings.extraction.form
        return call(*words, *(word for name, value in given.items() for word in ("-S", f"{name}={value}")))

    return run
