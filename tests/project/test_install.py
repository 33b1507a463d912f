"""The package as others install it: a wheel, in a folder of its own, without the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from ovrag_core import __version__

PROJECT = Path(__file__).resolve().parents[2]
# Modules of packages that only extras bring.
EXTRAS = (
    "bert_score", "dvc", "ipywidgets", "jupyterlab", "matplotlib", "networkx", "openai", "pandas", "papermill",
    "reportlab", "rouge_score", "scipy", "seaborn", "sklearn", "statsmodels", "torch", "transformers", "voila",
)  # fmt: skip
CALL = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r})); from ovrag_core.app.cli import main; main()"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel was installed into."""
    built, target = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(built), str(PROJECT)], check=True)
    (wheel,) = built.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)], check=True)
    return target


@pytest.fixture
def ovrag(installed: Path, tmp_path: Path):
    """Call the installed program in an empty folder, without what only extras bring."""

    def _call(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(installed), "HF_HUB_OFFLINE": "1"}
        command = [sys.executable, "-c", CALL, *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return _call


def test_it_is_the_installed_package_that_runs(ovrag, installed: Path):
    assert ovrag("--version").stdout == f"ovrag {__version__}\n"
    code = "import ovrag_core.base; print(ovrag_core.__file__, ovrag_core.base.ROOT)"
    options = {"env": {"PYTHONPATH": str(installed)}, "cwd": installed.parent, "capture_output": True, "text": True}
    shown = subprocess.run([sys.executable, "-c", code], check=True, **options)
    assert all(path.startswith(str(installed)) for path in shown.stdout.split())


def test_a_file_is_reviewed_and_asked_about_in_an_empty_folder(ovrag, tmp_path: Path):
    (tmp_path / "loan.txt").write_text(
        "Loan agreement\n\nLender: Alder Bank plc. Borrower: Nora Quill, a natural person.\n"
        "The Lender lends the Borrower GBP 4,000 for a family holiday. The loan is unsecured.\n"
        "Security: a charge over the Borrower's car. It is repaid on 1 March 2031 in one sum.\n",
        encoding="utf-8",
    )
    review = ovrag("review", "loan.txt", "--html", "page.html")
    assert review.returncode == 1, review.stderr
    assert review.stdout.startswith("loan.txt: contradicts itself")
    assert "Alder Bank" in (tmp_path / "page.html").read_text(encoding="utf-8")
    asked = ovrag("ask", "Who is the borrower?", "-d", "loan.txt")
    assert "Nora Quill" in asked.stdout, asked.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"loan.txt", "page.html"}


def test_triples_are_checked_and_rules_listed(ovrag, tmp_path: Path):
    same = {"sub": "L", "pred": "hasBorrower", "obj": "B", "obj_type": "NaturalPerson"}
    both = [{**same, "sub_type": name} for name in ("SecuredLoan", "UnsecuredLoan")]
    (tmp_path / "triples.json").write_text(json.dumps(both), encoding="utf-8")
    checked = ovrag("check", "triples.json")
    assert checked.returncode == 1, checked.stderr
    assert checked.stdout.startswith("inconsistent")
    assert "security_exclusive" in ovrag("rules").stdout


def test_what_only_an_extra_brings_is_asked_for_in_one_sentence(ovrag):
    refused = ovrag("score", "main")
    assert refused.returncode == 2
    assert refused.stderr.startswith("ovrag: pandas is not installed")
    assert "pip install 'ovrag-core[studies,thesis]'" in refused.stderr


def test_version_and_citation_agree():
    assert yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__
    assert f"## {__version__}" in (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_what_is_declared_is_what_is_locked():
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *declared["dependencies"],
        *(each for some in declared["optional-dependencies"].values() for each in some),
    ]
    names = {each.partition(">")[0].partition("[")[0].lower().replace("_", "-") for each in wanted} - {"ovrag-core"}
    lock = (PROJECT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert names <= {line.partition("==")[0] for line in lock}
