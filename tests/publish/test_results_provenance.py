"""Where a result comes from: the project's own pipeline with stand-ins for what its stages compute.

The stages, their inputs, parameters and outputs are those of dvc.yaml; only the commands are quick ones, whose outputs
change whenever an input does.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from stages_file import expanded

from ovrag_core.app.cli import main
from ovrag_core.base.errors import ResultError
from ovrag_core.publish.origins import Provenance, provenance, provenance_text
from ovrag_core.publish.stages import changes, read_stages

STAND_IN = """
import hashlib, sys
from pathlib import Path
import yaml

FILES = {
    "tables/consistency": ["rates.csv", "rates.tex", "numbers.tex"],
    "figures/consistency": ["rates.pdf", "rates.tex"],
    "figures/latency": ["latency_parts.pdf"],
}
name = sys.argv[1]
stage = yaml.safe_load(Path("resolved.yaml").read_text())[name]
parameters = yaml.safe_load(Path("params.yaml").read_text())
digest = hashlib.md5()
for dep in stage["deps"]:
    place = Path(dep)
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(file.read_bytes())
for key in stage["params"]:
    value = parameters
    for part in key.split("."):
        value = value[part]
    digest.update(repr(value).encode())
for out in map(Path, stage["outs"]):
    out.parent.mkdir(parents=True, exist_ok=True)
    if not out.suffix:
        out.mkdir()
    for file in [out] if out.suffix else [out / name for name in FILES.get(str(out), ["index.md"])]:
        text = Path("notebooks", out.name).read_text() if ".cleaned" in out.parts else digest.hexdigest()
        if file.name == "numbers.tex":
            text = "\\\\newcommand{\\\\OvragRecall}{0.780}\\n" + text
        if file.name == "rates.tex":
            text += "\\\\label{tab:rates}" if "tables" in out.parts else "\\\\label{fig:rates}"
        file.write_text(text)
"""
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:dvc")
ABOVE = ("01_generate_contracts", "02_index_contracts", "03_run_experiment")
AFTER_RUN = {"04_consistency_and_quality", "05_latency", "06_contamination_analysis", "12_open_model"}


@pytest.fixture(scope="module")
def pipeline(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with stand-ins, run once and committed."""
    folder = tmp_path_factory.mktemp("pipeline")
    unwanted = shutil.ignore_patterns("__pycache__", "tmp", "cache", ".cleaned", "external")
    bulk = shutil.ignore_patterns("contracts", "index", "runs", "cache")
    for name in ("ovrag_core", "ovrag_studies", ".dvc", "notebooks", "ontologies"):
        shutil.copytree(project / name, folder / name, ignore=unwanted)
    shutil.copytree(project / "data", folder / "data", ignore=bulk)
    shutil.copytree(project / "training" / "contract_review", folder / "training" / "contract_review")
    for name in (".dvcignore", ".gitignore", "params.yaml", "params_open.yaml"):
        shutil.copy(project / name, folder)
    described = yaml.safe_load((project / "dvc.yaml").read_text(encoding="utf-8"))
    parameters = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    stages = expanded(described["stages"], parameters)
    described["stages"] = {name.replace("@", "_"): stage for name, stage in stages.items()}

    def resolved(path: str | dict[str, object]) -> str:
        text = path if isinstance(path, str) else next(iter(path))

        def value(match: re.Match[str]) -> str:
            found = parameters
            for key in match[1].split("."):
                found = found[key]
            return str(found)

        return re.sub(r"\$\{([\w.]+)\}", value, text)

    known = {}
    for name, stage in described["stages"].items():
        known[name] = {part: [resolved(each) for each in stage.get(part, [])] for part in ("deps", "params", "outs")}
        stage["cmd"] = f"python stand_in.py {name}"
    (folder / "resolved.yaml").write_text(yaml.safe_dump(known), encoding="utf-8")
    (folder / "dvc.yaml").write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")
    (folder / "stand_in.py").write_text(STAND_IN, encoding="utf-8")
    run("git", "init", "-q", folder=folder)
    assert reproduce(folder) == set(known)
    commit(folder, "Record the results")
    return folder


def run(*command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "DVC_SITE_CACHE_DIR": str(folder.parent / "site")}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def reproduce(folder: Path) -> set[str]:
    """Run `dvc repro`; the stages that ran."""
    return set(re.findall(r"Running stage '(\w+)'", run(sys.executable, "-m", "dvc", "repro", folder=folder)))


def commit(folder: Path, title: str) -> None:
    run("git", "add", "-A", folder=folder)
    run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", title, folder=folder)


@pytest.fixture
def restored(pipeline: Path):
    """The pipeline, brought back to its committed state afterwards."""
    yield pipeline
    run("git", "checkout", "-q", ".", folder=pipeline)


def sentences(found: Provenance) -> list[str]:
    return list(found.changes)


def test_nothing_has_changed_after_a_run(pipeline: Path):
    stages = read_stages(pipeline)
    assert [change for name in stages for change in changes(stages, name)] == []
    found = provenance("figures/consistency/rates.pdf", pipeline)
    assert provenance(found.stage.name, pipeline).stage == found.stage
    assert found.state == "up to date"
    assert found.stage.name == "04_consistency_and_quality"
    assert found.stage.notebook is None, "the stand-in executes no notebook"
    assert found.above == (
        *(f"clean_{name}" for name in ABOVE[:3]),
        "clean_04_consistency_and_quality",
        *ABOVE,
    )
    assert {"figures.text_width_inches", "evaluation.confidence"} <= {each.name for each in found.stage.parameters}
    assert "chunking.size" in {each.name for each in found.parameters["02_index_contracts"]}
    assert found.revision.endswith("Record the results")
    recorded = {item.path: item.recorded for item in found.stage.inputs}
    assert re.fullmatch(r"[0-9a-f]{32}", recorded["data/runs/main.jsonl"] or "")


def test_one_parameter_reruns_only_what_depends_on_it_and_is_named(restored: Path):
    text = (restored / "params.yaml").read_text(encoding="utf-8")
    changed = re.sub(r"(?m)^(  bootstrap_samples:) \d+", r"\1 99", text)
    assert changed != text
    (restored / "params.yaml").write_text(changed, encoding="utf-8")
    for result in ("figures/consistency/rates.pdf", "OvragRecall"):
        found = provenance(result, restored)
        assert found.state == "STALE"
        stage = "04_consistency_and_quality"
        assert sentences(found) == [f"{stage}: parameter evaluation.bootstrap_samples was 2000, is 99"]
    assert "evaluation.bootstrap_samples was 2000, is 99  CHANGED" in provenance_text(found)
    first = provenance_text(found).splitlines()[:4]
    assert [line.strip() for line in first[1:]] == [
        "state      STALE", "changed since; `make repro` brings the result up to date:", *sentences(found)
    ]  # fmt: skip
    assert provenance("data/runs/main.jsonl", restored).changes == ()
    assert reproduce(restored) == AFTER_RUN - {"12_open_model"}, "which has parameters of its own"
    assert provenance("figures/consistency/rates.pdf", restored).state == "up to date"

    later = re.sub(r"(?m)^(  seconds_per_check:) \d+", r"\1 11", changed)
    (restored / "params.yaml").write_text(later, encoding="utf-8")
    found = provenance("tables/contamination/index.md", restored)
    assert sentences(found) == ["03_run_experiment: parameter validation.seconds_per_check was 10, is 11"]
    assert reproduce(restored) == {"03_run_experiment", *AFTER_RUN}
    run("git", "checkout", "-q", ".", folder=restored)
    reproduce(restored)


def test_changed_code_and_questions_are_named(restored: Path):
    for name in ("ovrag_core/report/figures.py", "data/questions.yaml"):
        with (restored / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
    (restored / "ovrag_core" / "report" / "added.py").touch()
    found = provenance("tables/consistency/rates.csv", restored)
    assert sentences(found) == [
        "03_run_experiment: data/questions.yaml changed",
        "04_consistency_and_quality: ovrag_core/report changed",
    ]
    assert "ovrag_core/report (CHANGED)" in provenance_text(found)
    (restored / "ovrag_core" / "report" / "added.py").unlink()


def test_another_notebook_s_change_makes_a_result_not_stale(restored: Path):
    notebook = restored / "notebooks" / "05_latency.ipynb"
    notebook.write_text(notebook.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert provenance("figures/consistency/rates.pdf", restored).changes == ()
    assert sentences(provenance("figures/latency/latency_parts.pdf", restored)) == [
        "clean_05_latency: notebooks/05_latency.ipynb changed"
    ]


def test_bulk_that_a_fresh_clone_lacks_is_no_change(pipeline: Path, tmp_path: Path):
    run("git", "clone", "-q", str(pipeline), str(tmp_path / "clone"), folder=pipeline)
    found = provenance("tables/consistency/rates.csv", tmp_path / "clone")
    assert found.state == "up to date"
    assert "data/runs/main.jsonl (not here, made by 03_run_experiment)" in provenance_text(found)


def test_edited_and_missing_results_are_told(restored: Path):
    with (restored / "tables" / "consistency" / "rates.tex").open("a") as file:
        file.write("0.999")
    (restored / "tables" / "consistency" / "rates.csv").unlink()
    assert provenance("tables/consistency/rates.tex", restored).state.startswith("EDITED")
    assert provenance("tables/consistency/rates.csv", restored).state == "missing"


def test_results_are_found_by_path_label_macro_and_as_copies(
    pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(pipeline / "notebooks")
    asked = [
        "tables/consistency/rates.tex",
        "../tables/consistency/rates.tex",
        "tab:rates",
        f"{tmp_path}/mine/tables/consistency/rates.tex",
    ]
    assert {provenance(each, pipeline).path for each in asked} == {"tables/consistency/rates.tex"}
    assert provenance("fig:rates", pipeline).path == "figures/consistency/rates.tex"
    macro = provenance("\\OvragRecall", pipeline)
    assert (macro.path, macro.value) == ("tables/consistency/numbers.tex", "0.780")
    assert provenance_text(macro).startswith("\\OvragRecall = 0.780\n")


def test_what_nobody_makes_is_one_sentence(pipeline: Path):
    with pytest.raises(
        ResultError,
        match=r"tables/consistency/rate\.csv is not made by the pipeline; name a file of tables/",
    ):
        provenance("tables/consistency/rate.csv", pipeline)


def test_a_slip_names_what_was_meant(pipeline: Path):
    with pytest.raises(ResultError, match=r"near it: tables/consistency/rates\.csv"):
        provenance("tables/consistency/rate.csv", pipeline)


def test_no_pipeline_is_one_sentence(tmp_path: Path):
    with pytest.raises(ResultError, match="cannot be read"):
        read_stages(tmp_path)
    run("git", "init", "-q", folder=tmp_path)
    run(sys.executable, "-m", "dvc", "init", "-q", folder=tmp_path)
    (tmp_path / "dvc.yaml").write_text("stages: [", encoding="utf-8")
    with pytest.raises(ResultError, match=r"dvc\.yaml"):
        read_stages(tmp_path)


def test_command_line(pipeline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(pipeline)
    for arguments, code in ((["figures/consistency/rates.pdf"], 0), (["tables/consistency/none.csv"], 2)):
        monkeypatch.setattr(sys, "argv", ["ovrag", "why", *arguments])
        with pytest.raises(SystemExit) as done:
            main()
        assert done.value.code == code
    shown = capsys.readouterr()
    assert shown.out.startswith("figures/consistency/rates.pdf\n  state      up to date\n")
    assert shown.err.startswith("ovrag: tables/consistency/none.csv is not made by the pipeline")
    assert len(shown.err.splitlines()) == 1
