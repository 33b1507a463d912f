"""dvc.yaml says what is true: code, parameters and files that each stage really depends on, and what goes where."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path

import nbformat
import pytest
import run_factory
import yaml
from stages_file import expanded

from ovrag_core.app.notebooks.execution import clean, execute
from ovrag_core.base.settings import ARM_NAMES, ArmName, Settings
from ovrag_core.loans.corpus import CONTRACTS, MANIFEST, TRUTH
from ovrag_core.runs.experiment import RUN_CODE, code_digest

PROJECT = Path(__file__).resolve().parents[2]
PARAMETERS = yaml.safe_load((PROJECT / "params.yaml").read_text(encoding="utf-8"))
STAGES = expanded(yaml.safe_load((PROJECT / "dvc.yaml").read_text(encoding="utf-8"))["stages"], PARAMETERS)
NOTEBOOK_STAGES = sorted(name for name in STAGES if name[0].isdigit())
LOANS = NOTEBOOK_STAGES[:6]  # what the studies neither read nor change
# How results are shown and settings are read, not what they are: parameters are followed by value.
NOT_FOLLOWED = {"app", "study", "__init__.py"}


def resolved(text: str) -> str:
    def value(match: re.Match[str]) -> str:
        found = PARAMETERS
        for key in match[1].split("."):
            found = found[key]
        return str(found)

    return re.sub(r"\$\{([\w.]+)\}", value, text)


def dependencies(stage: str) -> set[str]:
    return {resolved(path) for path in STAGES[stage]["deps"]}


def outputs(stage: str) -> dict[str, bool]:
    """Path of each output, and whether it is in DVC's cache rather than in git."""
    pairs = [next(iter(out.items())) if isinstance(out, dict) else (out, {}) for out in STAGES[stage]["outs"]]
    return {resolved(path): options.get("cache", True) for path, options in pairs}


def module_file(name: str) -> Path | None:
    """The file of a module `ovrag_core.…`, or None where the name is no module."""
    path = PROJECT.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def door(room: str) -> dict[str, str]:
    """The module of each name that a room gives to others, by the stub of its package; empty where it has none."""
    stub = PROJECT.joinpath(*room.split("."), "__init__.pyi")
    nodes = ast.parse(stub.read_text(encoding="utf-8")).body if stub.is_file() else []
    return {node.names[0].name: f"{room}.{node.module}" for node in nodes if isinstance(node, ast.ImportFrom)}


def where(module: str, name: str) -> str:
    """The module that `from module import name` reaches."""
    inner = f"{module}.{name}"
    return inner if module_file(inner) else door(module).get(name, module)


def imported(source: str) -> Iterator[Path]:
    """Files of the package that a source imports."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [where(node.module, alias.name) for alias in node.names]
        for name in names:
            if name.split(".")[0] in ("ovrag_core", "ovrag_studies") and (file := module_file(name)):
                yield file


def sources(notebook: Path) -> str:
    """The code of a notebook's cells."""
    cells = nbformat.read(notebook, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def reached(notebook: Path) -> set[Path]:
    """Files of the package that a notebook imports, directly or through others."""
    found: set[Path] = set()
    waiting = list(imported(sources(notebook)))
    while waiting:
        file = waiting.pop()
        room = file.relative_to(PROJECT).parts[1]
        if file not in found and room not in NOT_FOLLOWED:
            found.add(file)
            waiting += imported(file.read_text(encoding="utf-8"))
    return found


def feeds(dep: str, made: set[str]) -> bool:
    """True where an input is an output of that name, or a folder that one lies in."""
    return dep in made or any(path.startswith(f"{dep}/") for path in made)


def affected(first: set[str]) -> set[str]:
    """The stages that rerun when `first` do: those, and what depends on their outputs."""
    result = set(first)
    while True:
        made = {path for stage in result for path in outputs(stage)}
        more = {stage for stage in STAGES if any(feeds(dep, made) for dep in dependencies(stage))} - result
        if not more:
            return result
        result |= more


def test_there_is_a_stage_for_each_notebook():
    notebooks = {path.stem for path in (PROJECT / "notebooks").glob("*.ipynb")} - {"00_explorer"}
    assert set(NOTEBOOK_STAGES) == notebooks
    assert {stage.removeprefix("clean@") for stage in STAGES if stage.startswith("clean@")} == notebooks


@pytest.mark.parametrize("stage", NOTEBOOK_STAGES)
class TestStage:
    def test_runs_its_notebook_and_depends_on_the_cleaned_one(self, stage: str):
        assert STAGES[stage]["cmd"] == f"python -m ovrag_core.app.notebooks notebooks/{stage}.ipynb"
        assert f"notebooks/.cleaned/{stage}.ipynb" in dependencies(stage)
        assert f"notebooks/{stage}.ipynb" not in dependencies(stage)
        assert {f"reports/{stage}.ipynb", f"reports/{stage}.html"} <= set(outputs(stage))

    def test_depends_on_the_code_that_its_notebook_reaches(self, stage: str):
        listed = dependencies(stage)
        unlisted = set()
        for file in reached(PROJECT / "notebooks" / f"{stage}.ipynb"):
            path = file.relative_to(PROJECT)
            if not listed & {parent.as_posix() for parent in (path, *path.parents)}:
                unlisted.add(path.as_posix())
        assert not unlisted, f"add them to the deps of {stage} in dvc.yaml"

    def test_depends_on_files_that_exist_or_are_made(self, stage: str):
        made = {path for other in STAGES for path in outputs(other)}
        unmade = {path for path in dependencies(stage) if not feeds(path, made)}
        assert not {path for path in unmade if not (PROJECT / path).exists()}

    def test_keeps_bulk_out_of_git_and_results_in_it(self, stage: str):
        for path, cached in outputs(stage).items():
            ignored = subprocess.run(["git", "check-ignore", "-q", path], cwd=PROJECT, check=False).returncode
            if ignored == 128:
                pytest.skip("not a git checkout")
            assert (ignored == 0) == cached, path


def files_below(folder: Path) -> set[str]:
    places = [folder / name for name in ("tables", "figures", "reports")]
    return {path.relative_to(folder).as_posix() for place in places for path in place.rglob("*") if path.is_file()}


def test_every_result_in_git_is_made_by_a_stage():
    command = ["git", "ls-files", "tables", "figures", "reports"]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    external = yaml.safe_load((PROJECT / "notebooks/external/dvc.yaml").read_text(encoding="utf-8"))["stages"]
    made = {path for stage in STAGES for path in outputs(stage)}
    made |= {path for stage in external.values() for out in stage["outs"] for path in out}
    files = [Path(path) for path in listed.stdout.splitlines()]
    assert files
    assert [file for file in files if not made & {parent.as_posix() for parent in (file, *file.parents)}] == []


@pytest.mark.parametrize("arms", [ARM_NAMES, ("plain",)], ids=["all arms", "one arm"])
def test_evaluation_notebooks_write_what_the_stages_list(tmp_path: Path, arms: tuple[ArmName, ...]):
    (tmp_path / "params.yaml").write_text("evaluation: {bootstrap_samples: 50}\n")
    for folder in ("data/runs", "data/index", "notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(PROJECT / "data" / "published.yaml", tmp_path / "data")
    records = run_factory.run(contracts=4, arms=arms)
    lines = {"main.jsonl": records, "main.latency.jsonl": run_factory.latencies(records)}
    for name, items in lines.items():
        text = "".join(item.model_dump_json() + "\n" for item in items)
        (tmp_path / "data" / "runs" / name).write_text(text, encoding="utf-8")
    for stage in ("04_consistency_and_quality", "05_latency", "06_contamination_analysis"):
        before = files_below(tmp_path)
        shutil.copy(PROJECT / "notebooks" / f"{stage}.ipynb", tmp_path / "notebooks")
        execute(tmp_path / "notebooks" / f"{stage}.ipynb", tmp_path / "reports" / f"{stage}.ipynb")
        outs, written = set(outputs(stage)), files_below(tmp_path) - before
        assert {out for out in outs if not any(feeds(out, {path}) for path in written)} <= {"reports/cases"}
        assert {path for path in written if not any(feeds(out, {path}) for out in outs)} == set()
    assert (tmp_path / "reports" / "cases").is_dir()


def test_the_manifest_of_a_run_knows_the_code_that_its_stage_depends_on_and_no_other():
    """Else the same run, made again, would have another manifest than the recorded one."""
    listed = {path for path in dependencies("03_run_experiment") if path.startswith("ovrag_core/")}
    files = {name: module_file(name) for name in RUN_CODE}
    paths = {file.parent if file.name == "__init__.py" else file for file in files.values() if file}
    assert {path.relative_to(PROJECT).as_posix() for path in paths} == listed
    assert len(files) == len(listed)
    assert code_digest(RUN_CODE) != code_digest(RUN_CODE[1:]) != code_digest(["ovrag_core"])


def test_no_output_belongs_to_two_stages():
    paths = [path for stage in STAGES for path in outputs(stage)]
    assert len(paths) == len(set(paths))


def test_a_stage_writes_all_its_tables_and_figures_into_folders_of_its_own():
    places = [Path(path) for stage in STAGES for path in outputs(stage) if path.startswith(("tables/", "figures/"))]
    assert places and [path for path in places if len(path.parts) not in (2, 3) or path.suffix] == []


def test_seconds_reach_the_latency_stage_only():
    """And those of the open model's calls its own: they are the recording's, which no replay changes."""
    for stage in STAGES:
        seconds_in = {path for path in dependencies(stage) if "latency" in Path(path).name}
        if "05_latency" not in stage and "12_open_model" not in stage:
            assert not seconds_in, stage
    made = outputs("05_latency")
    assert made, "the latency stage makes something"
    assert all("latency" in Path(path).name for path in made)


def test_every_parameter_is_some_stage_s():
    followed = {name.split(".")[0] for stage in STAGES.values() for name in stage.get("params", [])}
    interpolated = set(re.findall(r"\$\{(\w+)", (PROJECT / "dvc.yaml").read_text(encoding="utf-8")))
    assert followed | interpolated >= set(Settings.model_fields)


def test_a_parameter_affects_only_what_depends_on_it():
    def by_parameter(name: str) -> set[str]:
        return affected({stage for stage in STAGES if name in STAGES[stage].get("params", [])}) - {"index"}

    assert by_parameter("studies.contract_review") == {"07_contract_review"}
    assert by_parameter("corpus") == {*LOANS, "open_model", "12_open_model"}
    assert by_parameter("chunking") == {*LOANS[1:], "open_model", "12_open_model"}
    assert by_parameter("validation") == {*LOANS[2:], "12_open_model"}
    assert by_parameter("evaluation") == set(LOANS[3:])
    direct = {stage for stage in STAGES if "figures" in STAGES[stage].get("params", [])}
    assert not direct & {"01_generate_contracts", "03_run_experiment"}


def test_paths_of_the_corpus_are_those_of_the_code():
    assert {str(CONTRACTS), str(MANIFEST), str(TRUTH)} <= set(outputs("01_generate_contracts"))


def test_dvc_reports_nothing_to_anybody_and_stages_nothing():
    config = ConfigParser()
    config.read_string(re.sub(r"(?m)^\s+", "", (PROJECT / ".dvc" / "config").read_text(encoding="utf-8")))
    core = config["core"]
    assert [core["analytics"], core["check_update"], core["autostage"]] == ["false"] * 3
    assert config.sections() == ["core"], "no remote"


STOCK_TAKING = """\
from pathlib import Path
from ovrag_core.loans.corpus import prepare
from ovrag_core.base.settings import load_settings
prepare(load_settings(Path("params.yaml")))
print(Path("data/contracts.json").read_text())"""


@pytest.fixture
def first_stage(tmp_path: Path) -> Path:
    """The project's first stage as it is in dvc.yaml, on a folder of the user's own contracts."""
    name = "01_generate_contracts"
    only = {key.replace("@", "_"): STAGES[key] for key in (f"clean@{name}", name)}
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": only}, sort_keys=False))
    for folder in ("ovrag_core", "ovrag_studies", ".dvc"):
        unwanted = shutil.ignore_patterns("__pycache__", "tmp", "cache")
        shutil.copytree(PROJECT / folder, tmp_path / folder, ignore=unwanted)
    shutil.copy(PROJECT / ".dvcignore", tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "note.txt").write_text("Promissory note. The Borrower promises to pay.\n")
    (tmp_path / "labels.json").write_text('{"note": {"label": "CLEAN"}}')
    (tmp_path / "params.yaml").write_text("corpus:\n  source: own\n  ground_truth: labels.json\n")
    parameters = nbformat.v4.new_code_cell("size = 1", metadata={"tags": ["parameters"]})
    notebook = nbformat.v4.new_notebook(cells=[parameters, nbformat.v4.new_code_cell(STOCK_TAKING)])
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks" / f"{name}.ipynb")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def reproduce(folder: Path, *, fails: bool = False) -> set[str]:
    """Run `dvc repro`; the stages that ran."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "dvc", "repro"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "DVC_SITE_CACHE_DIR": str(folder / "site")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return set(re.findall(r"Running stage '(\w+)'", done.stdout))


def test_a_stage_reruns_for_what_it_depends_on_and_not_for_a_notebook_that_was_opened(first_stage: Path):
    notebook = first_stage / "notebooks" / "01_generate_contracts.ipynb"
    assert reproduce(first_stage) == {"clean_01_generate_contracts", "01_generate_contracts"}
    before = json.loads((first_stage / MANIFEST).read_text())
    assert list(before) == ["note.txt"]
    assert reproduce(first_stage) == set()

    execute(notebook, notebook)
    assert '"outputs": [\n' in notebook.read_text(), "outputs as JupyterLab leaves them"
    assert reproduce(first_stage) == {"clean_01_generate_contracts"}

    (first_stage / "own" / "note.txt").write_text("Promissory note. The Maker promises to pay.\n")
    assert reproduce(first_stage) == {"01_generate_contracts"}
    after = json.loads((first_stage / MANIFEST).read_text())
    assert list(after) == ["note.txt"] and after != before

    (first_stage / "labels.json").write_text('{"note": {"label": "CLASH"}}')
    assert reproduce(first_stage) == {"01_generate_contracts"}
    made = {
        path: (first_stage / path).read_bytes() for path in outputs("01_generate_contracts") if path != "data/contracts"
    }
    assert b"CLASH" in made["data/ground_truth.json"]
    (first_stage / "own").rename(first_stage / "elsewhere")
    reproduce(first_stage, fails=True)
    assert {path: (first_stage / path).read_bytes() for path in made} == made, "a stage that fails loses nothing"
    (first_stage / "elsewhere").rename(first_stage / "own")

    clean(notebook)
    assert reproduce(first_stage) <= {"clean_01_generate_contracts"}
