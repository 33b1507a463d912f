"""`make verify` on a small project: what is made alike passes, what is not is named, seconds are the exception."""

import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from by_value import alike
from matplotlib.figure import Figure

PROJECT = Path(__file__).resolve().parents[2]

PIPELINE = """\
stages:
  evaluate:
    desc: Results
    cmd: mkdir -p tables/latency cases && python make.py
    deps: [make.py]
    outs:
      - tables/rates.csv: {cache: false}
      - tables/latency: {cache: false}
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
Path("tables/latency/seconds.csv").write_text(f"{time.time_ns()}\\n")
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
    run(folder, sys.executable, "-m", "dvc", "repro", "-q", "--force")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Results")


def verify(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROJECT / "tools" / "verify.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_alike_but_for_seconds_passes_in_both_clones(project: Path):
    record(project)
    done = verify(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 artefacts made in clone 2, in" in done.stdout
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
    apart = {line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("the clones differ")}
    assert {"tables/rates.csv", "tables/read.csv", "dvc.lock: evaluate outs bulk"} <= apart
    places = [Path(place) for place in re.findall(r"rebuilding \w+ in (\S+)", done.stderr)]
    assert [(place / "tables" / "rates.csv").exists() for place in places] == [True, True], "kept for inspection"
    shutil.rmtree(places[0].parent)


def test_results_of_another_machine_are_compared_by_what_they_say(project: Path, monkeypatch: pytest.MonkeyPatch):
    elsewhere = """
import os
shift = float(os.environ.get("SHIFT", 0))
Path("tables/rates.csv").write_text(f"arm,mean\\na,{0.5 + shift:.6f}\\n")
Path("cases/b.md").write_text(f"{1000 + int(shift > 0.1)} queries\\n")
"""
    (project / "make.py").write_text(ALIKE + elsewhere, encoding="utf-8")
    monkeypatch.setenv("SHIFT", "0.00002")
    record(project)
    monkeypatch.delenv("SHIFT")
    done = verify(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "clone 2: tables/rates.csv has other bytes than in" in done.stdout
    assert "compared by value: text by its numbers (0.001" in done.stdout
    assert "byte-identical in both" not in done.stdout
    monkeypatch.setenv("SHIFT", "0.2")
    record(project)
    monkeypatch.delenv("SHIFT")
    done = verify(project)
    assert done.returncode == 1
    assert {"clone 1: tables/rates.csv differs", "clone 1: cases/b.md differs"} <= set(done.stdout.splitlines())


@pytest.mark.parametrize(
    ("name", "one", "other", "same"),
    [
        ("a.csv", "a,0.51252\n", "a,0.51253\n", True),
        ("a.csv", "a,0.512\n", "a,0.514\n", False),
        ("a.csv", "a,0.512\n", "b,0.512\n", False),
        ("a.csv", "a,500\n", "a,501\n", False),
        ("a.csv", "a,1\n", "a,0.9999\n", True),
        ("a.csv", "a,0.5\n", "a,0.5\na,0.5\n", False),
        ("a.tex", "is 12345.6.", "is 12345.7.", True),
        ("a.tex", r"\Rate{0.780}", r"\Rate{0.790}", False),
        ("a.md", "Contract_001 at 0.5", "Contract_002 at 0.5", False),
        ("a.npy", "\udcff1.0", "\udcff1.1", False),
    ],
)
def test_text_says_the_same_where_its_numbers_are_near_and_the_rest_is_equal(name, one, other, same):
    assert alike(name, *(text.encode("utf-8", "surrogateescape") for text in (one, other))) is same


@pytest.mark.parametrize(("shift", "same"), [(1e-5, True), (0.1, False)])
@pytest.mark.parametrize("kind", ["pdf", "png", "ipynb"])
def test_drawings_say_the_same_where_lines_are_drawn_alike(tmp_path: Path, kind: str, shift: float, same: bool):
    drawn = []
    for moved in (0.0, shift):
        figure = Figure(figsize=(3, 2))
        figure.subplots().plot([0, 1, 2], [0.2, 0.5 + moved, 0.4])
        figure.savefig(tmp_path / "a.pdf", metadata={"CreationDate": None})
        figure.savefig(tmp_path / "a.png", metadata={"Software": None})
        if kind == "ipynb":
            picture = base64.encodebytes((tmp_path / "a.png").read_bytes()).decode()
            text = json.dumps({"image/png": picture.replace("\n", ""), "text": "<Figure>"})
            drawn.append(text.encode())
        else:
            drawn.append((tmp_path / f"a.{kind}").read_bytes())
    assert alike(f"a.{kind}", *drawn) is same


def test_a_stage_that_fails_is_told_with_its_last_lines(project: Path):
    record(project)
    (project / "make.py").write_text("raise SystemExit('no memory left')", encoding="utf-8")
    git(project, "commit", "-qam", "Break it")
    done = verify(project)
    assert done.returncode == 1
    assert "dvc repro --force failed" in done.stderr and "evaluate" in done.stderr
    assert "Traceback" not in done.stderr
