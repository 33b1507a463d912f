"""LaTeX made of results: whatever a name holds it is set as it stands; what is missing is one sentence."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ovrag_core.base.errors import ResultError
from ovrag_core.base.settings import load_settings
from ovrag_core.publish import latex
from ovrag_core.publish.export import compare, copy_results, exported
from ovrag_core.publish.latex import compile_pdf, log_of, overfull
from ovrag_core.publish.readme import refresh, refreshed, results_macros
from ovrag_core.publish.stages import read_stages
from ovrag_core.report import figures
from ovrag_core.report.numbers import write_numbers
from ovrag_core.report.tables import Note, write_table

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:dvc")
needs_latex = pytest.mark.usefixtures("latex")
AWKWARD = 'Müller & Søn_50%$#{x}~^\\<b onload="x">|中文 العربية Łódź – “q”'
NOTE = Note(AWKWARD, AWKWARD, AWKWARD, "95%")
ROOT = Path(__file__).resolve().parents[2]


def document(folder: Path, body: str, preamble: str = "") -> Path:
    path = folder / "main.tex"
    path.write_text(rf"\documentclass{{article}}{preamble}\begin{{document}}{body}\end{{document}}", encoding="utf-8")
    return path


# --- LaTeX


@needs_latex
def test_the_chapter_compiles_and_nothing_sticks_out(tmp_path: Path):
    for name in ("tables", "figures", "thesis"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("build", "*.png", "*.csv"))
    pdf = compile_pdf(tmp_path / "thesis" / "main.tex")
    log = log_of(tmp_path / "thesis" / "main.tex")
    assert pdf.stat().st_size > 100_000
    assert overfull(log, points=6) == [], "by more than two millimetres"
    assert "multiply defined" not in log
    taken = re.findall(r"\\result\{(\w+/\w+/\w+)\}", (ROOT / "thesis" / "results.tex").read_text(encoding="utf-8"))
    if all((ROOT / f"{name}.tex").exists() for name in taken):  # else the chapter is ahead of the results
        assert "undefined references" not in log
    first = pdf.read_bytes()
    shutil.rmtree(pdf.parent)
    assert compile_pdf(tmp_path / "thesis" / "main.tex").read_bytes() == first


@needs_latex
def test_what_sticks_out_and_what_is_not_made_is_named(tmp_path: Path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "wide.tex").write_text(r"\noindent\rule{2\textwidth}{1pt}", encoding="utf-8")
    result = r"\newcommand" + (ROOT / "thesis" / "results.tex").read_text(encoding="utf-8").split(r"\providecommand")[1]
    definition = result.split("\\chapter")[0]
    main = document(
        tmp_path, r"\result{tables/wide}\par\result{tables/not_made}", rf"\usepackage[T1]{{fontenc}}{definition}"
    )
    pdf = compile_pdf(main)
    assert [complaint.split("pt too")[0].split(" (")[0] for complaint in overfull(log_of(main))] == [
        "tables/wide.tex: Overfull \\hbox"
    ]
    shown = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    assert "tables/not_made is not made yet: run make repro" in shown


@needs_latex
def test_an_exported_thesis_compiles_by_itself(tmp_path: Path):
    present = [path for path in exported(read_stages(ROOT)) if (ROOT / path).exists()]
    target = tmp_path / "thesis"
    copy_results(compare(present, ROOT, target), ROOT, target)
    for path in (ROOT / "thesis").glob("*.tex"):
        shutil.copy(path, target)
    assert compile_pdf(target / "main.tex").stat().st_size > 100_000


@needs_latex
def test_the_section_of_a_study_is_set_where_its_results_are_and_nowhere_else(tmp_path: Path):
    definition = (ROOT / "thesis" / "studies.tex").read_text(encoding="utf-8").split("\\chapter")[0]
    for study in ("tides", "gone"):
        (tmp_path / f"study_{study}.tex").write_text(rf"The {study} are \Height{study}.", encoding="utf-8")
    (tmp_path / "tables" / "tides" / "samples").mkdir(parents=True)
    (tmp_path / "tables" / "tides" / "samples" / "numbers.tex").write_text(
        r"\newcommand{\Heighttides}{high}", encoding="utf-8"
    )
    pdf = compile_pdf(document(tmp_path, rf"{definition}\study{{gone}}\study{{tides}}"))
    shown = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    assert "The tides are high." in shown and "gone" not in shown


@needs_latex
def test_a_table_too_wide_for_the_text_sets_its_intervals_below_and_fits(tmp_path: Path):
    columns = {f"measure_{number}": [0.123, 0.9] for number in range(6)}
    bounds = {f"{name}_{end}": [0.111, 0.999] for name in columns for end in ("low", "high")}
    frame = pd.DataFrame({"arm": ["short", "an arm with a long name"], **columns, **bounds})
    write_table(frame, "wide", "Wide.", NOTE, folder=tmp_path / "tables")
    text = (tmp_path / "tables" / "wide.tex").read_text(encoding="utf-8")
    assert r"0.123\\{}[0.111, 0.111]" in text
    (tmp_path / "thesis").mkdir()
    preamble = (ROOT / "thesis" / "main.tex").read_text(encoding="utf-8").split(r"\input{tables/")[0]
    main = tmp_path / "thesis" / "main.tex"
    main.write_text(preamble + r"\begin{document}\input{tables/wide}\end{document}", encoding="utf-8")
    compile_pdf(main)
    assert overfull(log_of(main)) == []
    narrow = frame.drop(columns=[name for name in frame if name[8:9] in "345"])
    write_table(narrow, "narrow", "Narrow.", NOTE, folder=tmp_path / "tables")
    assert r"0.123 [0.111, 0.111]" in (tmp_path / "tables" / "narrow.tex").read_text(encoding="utf-8")


def test_the_chapter_is_as_wide_as_the_figures():
    width = load_settings(ROOT / "params.yaml").figures.text_width_inches
    assert f"textwidth={width}in" in (ROOT / "thesis" / "main.tex").read_text(encoding="utf-8")


@needs_latex
def test_awkward_names_compile_in_the_chapter_s_preamble(tmp_path: Path):
    frame = pd.DataFrame({AWKWARD: [AWKWARD], "n": [1]})
    write_table(frame, "short", AWKWARD, NOTE, folder=tmp_path / "tables")
    write_table(frame, "long", AWKWARD, NOTE, folder=tmp_path / "tables", long=True)
    drawn = figures.matrices({AWKWARD: pd.DataFrame([[1, 2], [3, 4]])}, 5)
    figures.save_figure(drawn, "one", caption=AWKWARD, note=NOTE, folder=tmp_path / "figures")
    write_numbers({"RunName": AWKWARD}, tmp_path / "tables" / "consistency" / "numbers.tex", AWKWARD)
    for other in ("latency/numbers_latency", "open/numbers"):
        write_numbers({}, tmp_path / "tables" / f"{other}.tex")
    shutil.copy(ROOT / "thesis" / "main.tex", tmp_path)
    (tmp_path / "results.tex").write_text(
        r"\chapter{\RunName}\input{tables/short}\input{tables/long}\input{figures/one}", encoding="utf-8"
    )
    for name in ("appendix.tex", "studies.tex"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert compile_pdf(tmp_path / "main.tex").exists()
    command = ["pdftotext", str(tmp_path / "build" / "main.pdf"), "-"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for part in ("Müller & Søn_50%$#{x}", "<b onload=", "U+4E2D", "Łódź"):
        assert part in shown


@needs_latex
@pytest.mark.parametrize(
    ("body", "preamble", "message"),
    [
        ("x", r"\usepackage{nosuchpackage}", r"file nosuchpackage\.sty is not installed; install it \(Debian"),
        (r"\font\x=nosuchfont \x a", "", r"font nosuchfont is not installed; install it \(Debian"),
        (r"\input{tables/none}", "", r"tables/none(\.tex)? is missing; run `make repro`"),
        (
            r"\includegraphics{figures/none.pdf}",
            r"\usepackage{graphicx}",
            r"figures/none\.pdf is missing; run `make rep",
        ),
        ("\nfine\n\n\\OvragNothing\n", "", r"main\.tex:\d+: the macro \\OvragNothing is not defined"),
        (r"\begin{table}", "", r"main\.tex:\d+: .*; mend that line"),
        (r"\immediate\write18{touch pwned}x", "", None),
    ],
    ids=["package", "font", "table", "figure", "macro", "error", "shell"],
)
def test_what_latex_stumbles_over_is_one_sentence(tmp_path: Path, body: str, preamble: str, message: str | None):
    if message is None:
        compile_pdf(document(tmp_path, body, preamble))
        assert not list(tmp_path.rglob("pwned")), "a document runs no programs"
        return
    with pytest.raises(ResultError, match=message) as caught:
        compile_pdf(document(tmp_path, body, preamble))
    assert "\n" not in str(caught.value)


def test_missing_tex_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ResultError, match=r"latexmk is not found; install it \(Debian: apt-get install texlive"):
        compile_pdf(document(tmp_path, "x"))


def test_missing_document_is_one_line_and_an_exit_code(tmp_path: Path):
    command = [sys.executable, "-m", latex.__name__, str(tmp_path / "none.tex")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and "does not exist" in done.stderr


# --- figures in a text


def test_figures_of_a_text_follow_the_macros(tmp_path: Path):
    write_numbers({"Recall": "0.780", "Share": "95%"}, tmp_path / "tables" / "numbers.tex")
    text = tmp_path / "README.md"
    text.write_text(
        "| <!-- Recall -->0.5<!-- --> | <!-- Share --><!-- --> | <!-- a comment --> 0.5 |\n", encoding="utf-8"
    )
    assert refresh(text, tmp_path)
    new = "| <!-- Recall -->0.780<!-- --> | <!-- Share -->95%<!-- --> | <!-- a comment --> 0.5 |\n"
    assert text.read_text(encoding="utf-8") == new
    assert not refresh(text, tmp_path)


def test_a_figure_that_no_result_has_is_one_sentence(tmp_path: Path):
    with pytest.raises(ResultError, match="takes the figure Gone"):
        refreshed("<!-- Gone -->1<!-- -->", {})
    with pytest.raises(ResultError, match=r"README\.md cannot be read"):
        refresh(tmp_path / "README.md", tmp_path)
    (tmp_path / "README.md").write_text("<!-- Recall -->1<!-- -->", encoding="utf-8")
    with pytest.raises(ResultError, match=r"has no numbers\.tex; `make repro`"):
        refresh(tmp_path / "README.md", tmp_path)


def test_figures_of_a_study_are_taken_and_seconds_are_not(tmp_path: Path):
    write_numbers({"Recall": "0.780"}, tmp_path / "tables" / "numbers.tex")
    write_numbers({"CausalRecall": "0.9"}, tmp_path / "tables" / "causal_questions" / "numbers.tex")
    write_numbers({"Seconds": "2"}, tmp_path / "tables" / "latency" / "numbers_latency.tex")
    assert results_macros(tmp_path) == {"Recall": "0.780", "CausalRecall": "0.9"}
