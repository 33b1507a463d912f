"""Shared fixtures."""

import os
from pathlib import Path

import pytest

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
