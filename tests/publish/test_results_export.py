"""Results copied into a thesis: what changed, nothing edited overwritten, and a check that finds what is amiss."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ovrag_core.app.cli import main
from ovrag_core.base.errors import ResultError
from ovrag_core.publish.chapter import chapter_problems, study_of
from ovrag_core.publish.export import (
    CHAPTER,
    MANIFEST,
    check,
    edited_results,
    export,
    exported,
    read_manifest,
    stale_results,
)
from ovrag_core.publish.origins import macros, provenance
from ovrag_core.publish.stages import read_stages

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:dvc")
PIPELINE = """\
stages:
  evaluate:
    desc: Tables and figures
    cmd: python make.py
    params: [evaluation.samples]
    deps: [make.py]
    outs:
      - tables/consistency: {cache: false}
      - figures/consistency: {cache: false}
"""
MAKE = r"""
from pathlib import Path
text = Path("params.yaml").read_text()
for kind, suffixes in {"tables": ["csv", "tex"], "figures": ["pdf", "png", "tex"]}.items():
    Path(kind, "consistency").mkdir(parents=True, exist_ok=True)
    for suffix in suffixes:
        name = f"{kind}/consistency/rates.{suffix}"
        Path(name).write_text(f"% {text}" if name == "tables/consistency/rates.tex" else f"{name}\n")
Path("tables/consistency/numbers.tex").write_text("\\newcommand{\\OvragRecall}{0.780}\n")
"""
RATES, NUMBERS = "tables/consistency/rates.tex", "tables/consistency/numbers.tex"
RESULTS = ["figures/consistency/rates.pdf", "figures/consistency/rates.tex", NUMBERS, RATES]
CHAPTER_TEXT = r"""\input{tables/consistency/numbers} \input{tables/consistency/rates}
\input{figures/consistency/rates} Recall is \OvragRecall, F1 not."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project with results."""
    folder = tmp_path_factory.mktemp("made") / "project"
    folder.mkdir()
    for name, text in {"dvc.yaml": PIPELINE, "make.py": MAKE, "params.yaml": "evaluation: {samples: 10}\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / CHAPTER).mkdir()
    (folder / CHAPTER / "main.tex").write_text(CHAPTER_TEXT, encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    dvc(folder, "init", "-q")
    dvc(folder, "repro", "-q")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    """Commit the results with what DVC records of them."""
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for arguments in (("add", "-A"), (*person, "commit", "-qm", "Record the results")):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


def dvc(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    """The small project, for one test to change."""
    subprocess.run(["cp", "-a", str(made), str(tmp_path / "project")], check=True)
    return tmp_path / "project"


@pytest.fixture
def thesis(project: Path) -> Path:
    """A student's folder with LaTeX of its own and every result in it."""
    folder = project.parent / "my thesis"
    folder.mkdir()
    (folder / "thesis.tex").write_text("Mine.", encoding="utf-8")
    export(project, folder)
    return folder


def kinds(lines: tuple[str, ...]) -> dict[str, str]:
    """What was said of each result."""
    words = [line.replace(",", " ").split() for line in lines]
    return {line[1]: line[0] for line in words if len(line) > 1 and "/" in line[1]}


def test_first_export_copies_what_latex_reads_and_keeps_hashes(project: Path):
    target = project.parent / "new"
    done = export(project, target)
    assert kinds(done.lines) == dict.fromkeys(RESULTS, "new")
    assert not done.kept and not done.warnings
    assert done.lines[-1] == f"{len(RESULTS)} of {len(RESULTS)} results written to {target}"
    for path in RESULTS:
        assert (target / path).read_bytes() == (project / path).read_bytes()
    listed = json.loads((target / MANIFEST).read_text())["files"]
    assert listed == {path: hashlib.sha256((target / path).read_bytes()).hexdigest() for path in RESULTS}
    assert not list(target.rglob("*.partial"))


def test_some_results_are_copied_alone_and_others_left(project: Path, thesis: Path):
    target = project.parent / "figures alone"
    done = export(project, target, only=["figures/*"])
    assert kinds(done.lines) == {path: "new" for path in RESULTS if path.startswith("figures/")}
    assert not (target / "main.tex").exists()
    assert not (target / "tables").exists()
    (thesis / RATES).write_text("mine", encoding="utf-8")
    assert kinds(export(project, thesis, only=["figures/*"]).lines) == {}
    assert set(read_manifest(thesis).files) == set(RESULTS)
    assert check(project, thesis, ["figures/*"]) == []
    assert [RATES in problem for problem in check(project, thesis)] == [True]
    assert check(project, target, ["figures/*"]) == []
    with pytest.raises(ResultError, match=r"--only pictures/\*: no result is called so; results are such as"):
        export(project, target, only=["figures/*", "pictures/*"])


def test_only_what_changed_is_copied_again(project: Path, thesis: Path):
    count = len(RESULTS)
    there = f"0 of {count} results written to {thesis}; {count} already there, as in the project"
    assert export(project, thesis).lines == (there,)
    (project / "params.yaml").write_text("evaluation: {samples: 20}\n", encoding="utf-8")
    dvc(project, "repro", "-q")
    untouched = (thesis / "figures" / "consistency" / "rates.pdf").stat().st_mtime_ns
    assert kinds(export(project, thesis).lines) == {RATES: "changed"}
    assert "20" in (thesis / RATES).read_text()
    assert (thesis / "figures" / "consistency" / "rates.pdf").stat().st_mtime_ns == untouched
    assert check(project, thesis) == []


def test_an_edited_copy_is_named_and_kept_until_forced(project: Path, thesis: Path):
    copy = thesis / RATES
    copy.write_text("by hand", encoding="utf-8")
    (project / "params.yaml").write_text("evaluation: {samples: 20}\n", encoding="utf-8")
    dvc(project, "repro", "-q")
    done = export(project, thesis)
    assert done.kept
    assert kinds(done.lines) == {RATES: "edited"}
    assert f"{RATES}, not replaced; --force replaces it" in done.lines[0]
    assert done.lines[-1].endswith("; 1 not touched, named above")
    assert copy.read_text(encoding="utf-8") == "by hand"
    assert any(f"my thesis/{RATES} was edited by hand" in problem for problem in check(project, thesis))
    assert kinds(export(project, thesis, force=True).lines) == {RATES: "overwritten"}
    assert "20" in copy.read_text(encoding="utf-8")


def test_a_file_of_that_name_that_was_never_exported_is_not_overwritten(project: Path):
    own = project.parent / "mine" / "figures" / "consistency" / "rates.pdf"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"my own figure")
    assert kinds(export(project, own.parents[2]).lines)["figures/consistency/rates.pdf"] == "edited"
    assert own.read_bytes() == b"my own figure"


def test_a_link_in_the_thesis_is_replaced_and_not_followed(project: Path, thesis: Path):
    elsewhere = project.parent / "elsewhere.tex"
    copy = thesis / RATES
    elsewhere.write_bytes(copy.read_bytes())
    copy.unlink()
    copy.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    (project / "params.yaml").write_text("evaluation: {samples: 20}\n", encoding="utf-8")
    dvc(project, "repro", "-q")
    export(project, thesis)
    assert elsewhere.read_bytes() == before
    assert not copy.is_symlink()


def test_what_is_no_result_any_more_is_named_and_removed_when_forced(project: Path, thesis: Path):
    (project / "make.py").write_text(MAKE + 'Path("figures/consistency/rates.tex").unlink()\n', encoding="utf-8")
    dvc(project, "repro", "-q")
    assert kinds(export(project, thesis).lines) == {"figures/consistency/rates.tex": "dropped"}
    assert (thesis / "figures" / "consistency" / "rates.tex").exists()
    export(project, thesis, force=True)
    assert not (thesis / "figures" / "consistency" / "rates.tex").exists()
    assert "figures/consistency/rates.tex" not in read_manifest(thesis).files


def test_a_stale_result_is_named_with_its_reason(project: Path, thesis: Path):
    (project / "params.yaml").write_text("evaluation: {samples: 20}\n", encoding="utf-8")
    reason = "evaluate: parameter evaluation.samples was 10, is 20"
    assert export(project, thesis).warnings == (
        f"tables/consistency/numbers.tex, tables/consistency/rates.tex and 2 more are stale: {reason}",
    )
    assert [reason in problem for problem in check(project)] == [True]
    dvc(project, "repro", "-q")
    assert check(project) == []


def test_a_result_edited_in_the_project_is_named_and_not_copied(project: Path, thesis: Path):
    (project / RATES).write_text("better", encoding="utf-8")
    done = export(project, thesis)
    assert done.kept
    assert done.warnings == (
        "tables/consistency/rates.tex was edited by hand and not copied; `make repro` makes it again",
    )
    assert "better" not in (thesis / RATES).read_text()
    assert any(problem.startswith("tables/consistency/rates.tex was edited") for problem in check(project))


def test_an_edit_that_was_committed_is_an_edit(project: Path):
    (project / RATES).write_text("better", encoding="utf-8")
    commit(project)
    assert list(edited_results(exported(read_stages(project)))) == [RATES]
    commit_of_lock = (project / "dvc.lock").read_text(encoding="utf-8") + "# noted\n"
    (project / "dvc.lock").write_text(commit_of_lock, encoding="utf-8")
    commit(project)
    assert set(edited_results(exported(read_stages(project)))) == {RATES, NUMBERS}, "which of them cannot be told"


def test_missing_results_are_one_sentence_and_nothing_is_copied(project: Path):
    target = project.parent / "new"
    (project / "figures" / "consistency" / "rates.pdf").unlink()
    with pytest.raises(ResultError, match=r"missing: figures/consistency/rates\.pdf; run `make repro`"):
        export(project, target)
    assert not target.exists()


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("{", "is not a list of copied results"),
        ('{"files": {"../../etc/passwd": "' + "0" * 64 + '"}}', "is not a list of copied results"),
        ('{"files": {"tables/../../x.tex": "' + "0" * 64 + '"}}', "is not a list of copied results"),
        ('{"files": {"tables/../x.tex": "' + "0" * 64 + '"}}', "is not a list of copied results"),
        ('{"files": {"tables/a/../x.tex": "' + "0" * 64 + '"}}', "is not a list of copied results"),
        ('{"files": {RATES: "short"}}', "is not a list of copied results"),
    ],
)
def test_a_broken_manifest_is_one_sentence(project: Path, thesis: Path, manifest: str, message: str):
    (thesis / MANIFEST).write_text(manifest, encoding="utf-8")
    with pytest.raises(ResultError, match=message):
        export(project, thesis, force=True)


def test_a_folder_that_cannot_be_one_is_one_sentence(project: Path):
    file = project.parent / "file"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(ResultError, match="is a file; name a folder"):
        export(project, file)
    (project.parent / "odd" / "figures" / "consistency" / "rates.pdf").mkdir(parents=True)
    (project.parent / "odd" / "tables").write_text("a file where a folder belongs", encoding="utf-8")
    with pytest.raises(ResultError, match=r"odd/\S+ cannot be written \("):
        export(project, project.parent / "odd", force=True)
    with pytest.raises(ResultError, match="is the project itself"):
        export(project, project)


def test_check_of_the_chapter_finds_what_is_typed_missing_and_not_taken(project: Path):
    assert check(project) == []
    text = r"""\input{tables/consistency/numbers} % 0.5 in a comment
\input{tables/consistency/gone} Recall is 0.780, not \OvragPrecision{} of 12 \textwidth{}.
\includegraphics[width=0.5\textwidth]{figures/consistency/rates.pdf} \LaTeX{} and \setlength{\parindent}{12pt}
"""
    (project / CHAPTER / "main.tex").write_text(text, encoding="utf-8")
    assert check(project) == [
        "main.tex takes tables/consistency/gone.tex, which does not exist; run `make repro` or take the line out",
        r"no file takes tables/consistency/rates.tex; add \result{tables/consistency/rates} to thesis/appendix.tex",
        r"no file takes figures/consistency/rates.tex; add \result{figures/consistency/rates} to thesis/appendix.tex",
        r"main.tex uses \OvragPrecision, which the results do not have",
        "main.tex line 2: the number 0.780 is typed",
        "main.tex line 2: the number 12 is typed",
    ]


# --- studies, each in folders of its own

STUDY = """\
  tides:
    desc: A study
    cmd: python tides.py
    params: [studies.tides]
    deps: [tides.py]
    outs:
      - tables/tides: {cache: false}
      - figures/tides: {cache: false}
"""
MAKE_STUDY = r"""
from pathlib import Path
for folder in ("tables/tides", "figures/tides"):
    Path(folder).mkdir(parents=True, exist_ok=True)
Path("tables/tides/rates.csv").write_text("")
Path("tables/tides/rates.tex").write_text(r"\label{tab:tides/rates} %" + Path("params.yaml").read_text())
Path("tables/tides/numbers.tex").write_text("\\newcommand{\\TidesHeight}{0.5}\n")
Path("figures/tides/heights.pdf").write_text("")
Path("figures/tides/heights.tex").write_text(r"\label{fig:tides/heights}")
"""
STUDY_RESULTS = ["figures/tides/heights.pdf", "figures/tides/heights.tex"]
STUDY_RESULTS += ["tables/tides/numbers.tex", "tables/tides/rates.tex"]
SECTION = r"""\section{Tides}\result{tables/tides/rates} \result{figures/tides/heights}
\TidesHeight{} in Table~\ref{tab:tides/rates} and Figure~\ref{fig:tides/heights}."""


@pytest.fixture
def studied(project: Path) -> Path:
    """The small project with a study, which its chapter takes."""
    (project / "dvc.yaml").write_text(PIPELINE + STUDY, encoding="utf-8")
    (project / "tides.py").write_text(MAKE_STUDY, encoding="utf-8")
    (project / "params.yaml").write_text("evaluation: {samples: 10}\nstudies: {tides: {height: 1}}\n", encoding="utf-8")
    (project / CHAPTER / "main.tex").write_text(CHAPTER_TEXT + r" \study{tides} \study{gone}", encoding="utf-8")
    (project / CHAPTER / "study_tides.tex").write_text(SECTION, encoding="utf-8")
    dvc(project, "repro", "-q")
    return project


def test_a_study_is_exported_with_its_folders_and_found_stale_and_edited(studied: Path):
    target = studied.parent / "new"
    assert kinds(export(studied, target).lines) == dict.fromkeys(sorted([*RESULTS, *STUDY_RESULTS]), "new")
    assert check(studied) == check(studied, target) == []
    for path in STUDY_RESULTS:
        assert (target / path).read_bytes() == (studied / path).read_bytes()
        assert provenance(str(target / path), studied).path == path
    (studied / "params.yaml").write_text("evaluation: {samples: 10}\nstudies: {tides: {height: 2}}\n", encoding="utf-8")
    assert export(studied, target).warnings == (
        "tables/tides/numbers.tex, tables/tides/rates.tex and 2 more are stale: "
        "tides: parameter studies.tides.height was 1, is 2",
    )
    dvc(studied, "repro", "-q")
    assert kinds(export(studied, target).lines)["tables/tides/rates.tex"] == "changed"
    (target / "tables/tides/numbers.tex").write_text("by hand", encoding="utf-8")
    assert [problem.split(";")[0] for problem in check(studied, target)] == [
        f"{target}/tables/tides/numbers.tex was edited by hand"
    ]
    assert kinds(export(studied, target, force=True).lines) == {"tables/tides/numbers.tex": "overwritten"}


def test_a_study_that_is_gone_leaves_nothing_behind_when_forced(studied: Path):
    target = studied.parent / "new"
    export(studied, target)
    (studied / "dvc.yaml").write_text(PIPELINE, encoding="utf-8")
    assert kinds(export(studied, target).lines) == dict.fromkeys(STUDY_RESULTS, "dropped")
    export(studied, target, force=True)
    assert not (target / "tables" / "tides").exists() and not (target / "figures" / "tides").exists()
    assert (target / "tables" / "consistency" / "rates.tex").exists()


def test_check_reads_the_section_of_a_study_that_has_results_and_of_no_other(studied: Path):
    chapter = studied / CHAPTER
    (chapter / "study_gone.tex").write_text(r"\result{tables/gone/x} and 0.3", encoding="utf-8")
    assert check(studied) == []
    (chapter / "main.tex").write_text(CHAPTER_TEXT, encoding="utf-8")
    assert check(studied) == [r"no file takes tables/tides/numbers.tex; add \study{tides} to thesis/studies.tex"]
    (chapter / "main.tex").write_text(CHAPTER_TEXT + r" \study{tides}", encoding="utf-8")
    (chapter / "study_tides.tex").write_text(
        r"\result{figures/tides/heights} \TidesHight{} \ref{tab:tides/rate} 7", encoding="utf-8"
    )
    assert check(studied) == [
        r"no file takes tables/tides/rates.tex; add \result{tables/tides/rates} to thesis/study_tides.tex",
        "study_tides.tex refers to tab:tides/rate, which no table or figure is labelled",
        r"study_tides.tex uses \TidesHight, which the results do not have",
        "study_tides.tex line 1: the number 7 is typed",
    ]
    (chapter / "study_tides.tex").unlink()
    assert "main.tex takes study_tides.tex, which does not exist; write it or take the line out" in check(studied)


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["--check"], 0, "nothing is stale", ""),
        (["--to", "new"], 0, "new         figures/consistency/rates.pdf", ""),
        ([], 2, "", "ovrag: Invalid value: name the folder of the thesis: --to FOLDER"),
    ],
)
def test_command_line(
    project: Path, arguments, code, out, err, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "argv", ["ovrag", "export", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == code
    shown = capsys.readouterr()
    assert shown.out.startswith(out) and shown.err.startswith(err)


# --- the project's own results and chapter, as committed

ROOT = Path(__file__).resolve().parents[2]


def ours() -> list[str]:
    """Results that are there; a stage may have been described and not yet run."""
    return [path for path in exported(read_stages(ROOT)) if (ROOT / path).exists()]


def test_our_results_are_what_the_stages_wrote():
    assert edited_results(exported(read_stages(ROOT))) == {}


def test_our_chapter_takes_every_result_types_no_number_and_uses_macros_that_exist():
    values = macros(*(ROOT / path for path in ours() if path.endswith(".tex")))
    assert len(ours()) > 30 and len(values) > 100
    problems = chapter_problems(ROOT / CHAPTER, ours(), ROOT)
    stages = read_stages(ROOT)
    if list(stale_results(stages, exported(stages))):  # the chapter may be ahead of results that are to be made again
        problems = [problem for problem in problems if "which does not exist" not in problem]
    assert problems == []


def test_every_study_of_ours_has_its_results_exported_and_a_section():
    stages = read_stages(ROOT)
    outputs = [item.path for stage in stages.values() for item in stage.outputs]
    folders = [path for path in outputs if path.startswith(("tables/", "figures/"))]
    made = {study for path in folders if (study := study_of(f"{path}/x"))}
    shown = {study for path in exported(stages) if (study := study_of(path))}
    assert made and made == shown
    assert {study for study in made if not (ROOT / CHAPTER / f"study_{study}.tex").exists()} == set()


def test_published_figures_of_our_chapter_are_marked():
    text = (ROOT / CHAPTER / "results.tex").read_text(encoding="utf-8")
    taken = [paragraph for paragraph in text.split("\n\n") if "\\Published" in paragraph]
    assert taken
    for paragraph in taken:
        assert "as published" in " ".join(paragraph.lower().split()), paragraph
