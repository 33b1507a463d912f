"""Shared fixtures."""

import json
import os
from pathlib import Path

import pytest
from standins import TRUTH

from ovrag_core.settings import Settings, load_settings

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def external_data() -> Path:
    """The folder of real data sets; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("OVRAG_EXTERNAL_DATA", PROJECT / "data" / "external"))
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
