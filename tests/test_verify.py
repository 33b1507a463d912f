"""`make verify` on a small project: what is made alike passes, what is not is named, seconds are the exception."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PIPELINE = """\
stages:
  evaluate:
    desc: Results
    cmd: mkdir -p tables cases && python make.py
    deps: [make.py]
    outs:
      - tables/rates.csv: {cache: false}
      - tables/latency.csv: {cache: false}
      - cases: {cache: false}
      - bulk
  read:
    desc: From bulk
    cmd: cp bulk tables/read.csv
    deps: [bulk]
    outs:
      - tables/read.csv: {cache: false}
"""
ALIKE = """
import time
from pathlib import Path
Path("tables/rates.csv").write_text("1\\n")
Path("tables/latency.csv").write_text(f"{time.time_ns()}\\n")
Path("cases/a.md").write_text("a\\n")
Path("bulk").write_text("bulk\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with two stages, run once; not committed yet."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "dvc.yaml").write_text(PIPELINE, encoding="utf-8")
    (folder / "make.py").write_text(ALIKE, encoding="utf-8")
    (folder / ".gitignore").write_text("/bulk\n", encoding="utf-8")
    git(folder, "init", "-q")
    run(folder, sys.executable, "-m", "dvc", "init", "-q")
    return folder


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def git(folder: Path, *arguments: str) -> str:
    return run(folder, "git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments)


def record(folder: Path) -> None:
    """Make the results and commit them."""
    run(folder, sys.executable, "-m", "dvc", "repro", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Results")


def verify(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROJECT / "tools" / "verify.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_alike_but_for_seconds_passes_in_both_clones(project: Path):
    record(project)
    done = verify(project)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert rows["evaluate"] == ["2", "2", "2", "1"]
    assert rows["read"] == ["1", "1", "1", "0"]
    assert rows["all"] == ["3", "3", "3", "1"]
    assert "byte-identical in both clones" in done.stdout
    for place in re.findall(r"rebuilding \w+ in (\S+)", done.stderr):
        assert not Path(place).exists(), "the clones are gone"


def test_every_difference_is_named(project: Path):
    random = ALIKE.replace('"1\\n"', "str(time.time_ns())").replace('"bulk\\n"', "str(time.time_ns())")
    random += 'Path("tables/odd.csv").write_text("")\nPath("cases/b.md").write_text("b")\n'
    (project / "make.py").write_text(random, encoding="utf-8")
    (project / ".gitignore").write_text("/bulk\n/tables/odd.csv\n", encoding="utf-8")
    record(project)
    (project / ".gitignore").write_text("/bulk\n", encoding="utf-8")
    (project / "tables" / "odd.csv").unlink()
    (project / "cases" / "a.md").write_text("edited by hand\n", encoding="utf-8")
    (project / "cases" / "c.md").write_text("made by nobody\n", encoding="utf-8")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Improve the cases")
    (project / "make.py").write_text("changed here and not committed", encoding="utf-8")
    done = verify(project, "--keep")
    assert done.returncode == 1
    assert "what is changed here and not committed is not verified" in done.stderr
    for number in (1, 2):
        named = {line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith(f"clone {number}: ")}
        assert named == {
            "tables/rates.csv differs",
            "tables/read.csv differs",
            "tables/odd.csv is not committed",
            "cases/a.md differs",
            "cases/c.md was not made",
            "dvc.lock: evaluate outs tables/rates.csv differs",
            "dvc.lock: evaluate outs bulk differs",
            "dvc.lock: read deps bulk differs",
            "dvc.lock: read outs tables/read.csv differs",
        }
    places = [Path(place) for place in re.findall(r"rebuilding \w+ in (\S+)", done.stderr)]
    assert [(place / "tables" / "rates.csv").exists() for place in places] == [True, True], "kept for inspection"
    shutil.rmtree(places[0].parent)


def test_a_stage_that_fails_is_told_with_its_last_lines(project: Path):
    record(project)
    (project / "make.py").write_text("raise SystemExit('no memory left')", encoding="utf-8")
    git(project, "commit", "-qam", "Break it")
    done = verify(project)
    assert done.returncode == 1
    assert "dvc repro --force failed" in done.stderr and "evaluate" in done.stderr
    assert "Traceback" not in done.stderr
