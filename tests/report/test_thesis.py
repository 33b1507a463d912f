"""Tables, figures and numbers: escaped, complete, the same bytes twice, and no crash where there is little to show."""

import re
import subprocess
import warnings
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from run_factory import latencies, record, run

from ovrag_core.base.errors import RunError, SettingsError
from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.score import score_run
from ovrag_core.ontology.load import load_ontology
from ovrag_core.publish.chapter import EXPERIMENT
from ovrag_core.report import (
    consistency,
    effort_results,
    figures,
    headlines,
    numbers,
)
from ovrag_core.report.results import write_results
from ovrag_core.report.run import UNLABELLED, Run, load_published, number_of, open_run
from ovrag_core.report.tables import Note, display, escape, write_table

NOTE = Note("offline", "ovrag", "10 queries", "95%")
LATIN = 'A&B_50%$#{x}~^\\<b>"| – “q” é'
AWKWARD = 'A&B_50%$#{x}~^\\<b>"|中文 – “q” é'


SETTINGS = Settings.model_validate({"evaluation": {"bootstrap_samples": 99}})


ONTOLOGY = load_ontology(Path(__file__).resolve().parents[2] / "ontologies")


def everything(records, folder, settings, published=None, seconds=None):
    """All results of a run, as the notebooks make them."""
    opened = Run("main", records, settings, published, folder / "tables", folder / "figures")
    seconds = latencies(records) if seconds is None else seconds
    write_results(opened, seconds, ONTOLOGY, pages=folder / "cases", cache=folder / "cache")
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# --- tables


def test_latex_specials_are_escaped():
    text = escape(AWKWARD)
    assert text.startswith(r"A\&B\_50\%\$\#\{x\}")
    assert r"\texttt{U+4E2D}" in text
    assert not re.search(r"(?<!\\)[&%$#_]", text.replace(r"$\times$", ""))


def test_control_characters_and_line_ends_do_not_reach_latex():
    assert escape("a\n\tb\x07c") == "a  bc"
    assert escape("x ← u, ε") == r"x $\leftarrow$ u, $\varepsilon$"


def test_interval_columns_become_one_cell():
    frame = pd.DataFrame({"arm": ["a", "b"], "x": [0.5, None], "x_low": [0.4, None], "x_high": [0.6, None]})
    assert display(frame, {}, 2).values.tolist() == [["a", "0.50 [0.40, 0.60]"], ["b", "n/a"]]


def test_csv_keeps_plain_numbers_and_latex_says_what_the_table_rests_on(tmp_path):
    frame = pd.DataFrame({"arm": ["a_b"], "n": [3], "x": [0.123456789], "x_low": [0.1], "x_high": [0.2]})
    write_table(frame, "t", "Caption & more.", NOTE, folder=tmp_path)
    assert (tmp_path / "t.csv").read_text() == "arm,n,x,x_low,x_high\na_b,3,0.123457,0.1,0.2\n"
    text = (tmp_path / "t.tex").read_text()
    for part in (
        r"\toprule",
        r"\caption{Caption \& more.}",
        r"\label{tab:t}",
        "Model: offline",
        "n = 10 queries",
        "95",
    ):
        assert part in text
    assert r"a\_b & 3 & 0.123 [0.100, 0.200] \\" in text


def test_a_cut_table_says_so(tmp_path):
    write_table(pd.DataFrame({"n": range(9)}), "t", "C.", NOTE, folder=tmp_path, rows=4)
    text = (tmp_path / "t.tex").read_text()
    assert r"3 \\" in text
    assert r"4 \\" not in text
    assert "The first 4 of 9 rows" in text


def test_small_numbers_are_not_shown_as_zero():
    frame = pd.DataFrame({"p": [0.00004, 0.0, 1.0], "d": [-0.25, -0.00001, 0.5]})
    assert display(frame, {}).values.tolist() == [["<0.001", "−0.250"], ["0.000", "0.000"], ["1.000", "0.500"]]


def test_large_numbers_lose_digits_that_say_nothing():
    frame = pd.DataFrame({"s": [19261.22214, 146.44321, 10.30354, 0.02654]})
    assert display(frame, {}, 4)["S"].tolist() == ["19261", "146.44", "10.304", "0.0265"]


def test_numbers_stand_flush_right_also_where_some_or_all_are_missing(tmp_path):
    frame = pd.DataFrame({"arm": ["a", "b"], "x": [None, 1], "y": [None, None], "y_low": None, "y_high": None})
    write_table(frame.astype(object), "t", "C.", NOTE, folder=tmp_path)
    assert r"\begin{tabular}{lrr}" in (tmp_path / "t.tex").read_text()


def test_csv_may_list_what_latex_sums_up(tmp_path):
    write_table(pd.DataFrame({"n": [2]}), "t", "C.", NOTE, folder=tmp_path, full=pd.DataFrame({"id": ["a", "b"]}))
    assert (tmp_path / "t.csv").read_text() == "id\na\nb\n"
    assert "2 \\\\" in (tmp_path / "t.tex").read_text()


def test_an_empty_table_is_written(tmp_path):
    write_table(pd.DataFrame(columns=["a", "b"]), "t", "C.", NOTE, folder=tmp_path)
    assert r"A & B \\" in (tmp_path / "t.tex").read_text()


# --- numbers


def test_macro_names_are_letters_only():
    assert numbers.macro_name("ovrag_evidence", "p95") == "OvragEvidencePNineFive"


def test_numbers_are_written_sorted_and_escaped(tmp_path):
    path = numbers.write_numbers({"B": "95%", "A": "1"}, tmp_path / "n.tex")
    assert path.read_text().splitlines()[1:] == [r"\newcommand{\A}{1}", r"\newcommand{\B}{95\%}"]
    with pytest.raises(ValueError, match="letters"):
        numbers.write_numbers({"P95": "1"}, tmp_path / "n.tex")


# --- figures


def test_figures_have_no_dates_and_the_same_bytes_twice(tmp_path):
    for folder in ("a", "b"):
        fig = figures.part_distributions(pd.DataFrame({"arm": ["a"] * 3, "x": [0.1, 0.2, 3.0]}), ["x"], 5, {})
        figures.save_figure(fig, "f", caption="C_1.", note=NOTE, folder=tmp_path / folder)
    for suffix in ("pdf", "png", "tex"):
        assert (tmp_path / "a" / f"f.{suffix}").read_bytes() == (tmp_path / "b" / f"f.{suffix}").read_bytes()
    assert b"CreationDate" not in (tmp_path / "a" / "f.pdf").read_bytes()


def test_figures_are_as_wide_as_the_text():
    fig = figures.matrices({"a": pd.DataFrame([[1, 2], [3, 4]])}, 4.2)
    assert fig.get_figwidth() == pytest.approx(4.2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: figures.part_distributions(pd.DataFrame({"arm": ["a"], "x": [0.0]}), ["x"], 5, {}),
        lambda: figures.grid_of_cells({}, {"a": ("a", "red")}, 5),
        lambda: figures.matrices({"a$b": pd.DataFrame([[0]])}, 5),
        lambda: figures.matrices({"a": pd.DataFrame([[90]])}, 5),
        lambda: figures.sentence("Nothing.", 5),
    ],
)
def test_figures_of_nothing_or_of_one_thing_are_drawn(make, tmp_path):
    fig = make()
    assert isinstance(fig, Figure)
    figures.save_figure(fig, "f", folder=tmp_path)


# --- a run's results


ODD = {
    "one query": [record("plain")],
    "one error": [record(outcome="error", label=None)],
    "no clash, one arm": [record("plain", f"D{i}", q) for i in range(3) for q in ("Q1", "Q2")],
    "awkward names": [record(LATIN, f"{LATIN}{i}", LATIN, outcome="hard_rejected") for i in range(2)],
    "errors and a gap": [record(document=f"D{i}", outcome="error") for i in range(2)]
    + [record(document="D0", question="Q2")],
    "errors only": [record(document=f"D{i}", question=q, outcome="error") for i in range(2) for q in ("Q1", "Q2")],
    "one contract": [
        record(document="D1", question=q, outcome="hard_rejected", label="CLASH", attempts=4) for q in ("Q1", "Q2")
    ],
}
UNTIMED = ("one query", "one error")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """All results by file name of an ordinary run or an odd one, each made once."""

    @cache
    def make(name):
        records = run(6) if name == "ordinary" else ODD[name]
        seconds = [] if name in UNTIMED else None
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # a missing glyph, or a figure too small for what is in it
            return everything(records, tmp_path_factory.mktemp("made"), SETTINGS, load_published(), seconds)

    return make


@pytest.fixture
def made(results):
    """All results of an ordinary run by file name."""
    return results("ordinary")


def test_results_are_the_same_bytes_twice_but_for_files_named_latency(made, tmp_path):
    slower = latencies(run(6), seed=99)
    again = everything(run(6)[::-1], tmp_path, SETTINGS, load_published(), slower)
    changed = [name.name for name in made if made[name] != again[name]]
    assert again.keys() == made.keys()
    assert "latency.csv" in changed
    assert [name for name in changed if "latency" not in name] == []


BOUNDS = re.compile(r"[\d.]+ \[(?:\$-\$)?[<\d.]+, (?:\$-\$)?[<\d.]+\]")


def lacking(texts):
    """What a table or figure does not say of itself: model, arm, n, and, where it gives intervals, of what kind."""
    for name, text in texts.items():
        said = {part: part in text for part in ("Model: ", "Arm: ", "n = ")}
        said["Intervals: 95"] = not BOUNDS.search(text) or "Intervals: 95" in text
        said["contract"] = not BOUNDS.search(text) or "contract" in text.split("Intervals:")[-1]
        yield from (f"{name} lacks {part}" for part, there in said.items() if not there)


def test_every_table_and_figure_names_model_arm_n_and_intervals(made):
    texts = {path.name: content.decode() for path, content in made.items() if path.suffix == ".tex"}
    results = {name: text for name, text in texts.items() if not name.startswith("numbers")}
    assert len(results) > 25
    assert list(lacking(results)) == []
    assert sum(bool(BOUNDS.search(text)) for text in results.values()) >= 12


def test_every_committed_table_and_figure_names_model_arm_n_and_intervals(project):
    paths = [path for folder in ("tables", "figures") for path in (project / folder).rglob("*.tex")]
    texts = {path: path.read_text(encoding="utf-8") for path in paths if not path.name.startswith("numbers")}
    of_loans = {str(path): text for path, text in texts.items() if path.parent.name in EXPERIMENT}
    assert of_loans and list(lacking(of_loans)) == []
    of_studies = {str(path): text for path, text in texts.items() if path.parent.name not in EXPERIMENT}
    assert of_studies and [each for each in lacking(of_studies) if not each.endswith("lacks contract")] == []


def test_every_table_has_its_csv_and_every_figure_its_picture(made):
    names = {path.as_posix() for path in made}
    tables = {Path(name).stem for name in names if re.fullmatch(r"tables/.*\.csv", name)}
    drawn = {Path(name).stem for name in names if re.fullmatch(r"figures/.*\.pdf", name)}
    others = {"numbers", "numbers_latency"}
    assert {Path(name).stem for name in names if re.fullmatch(r"tables/.*\.tex", name)} == tables | others
    assert {f"figures/{name}.{suffix}" for name in drawn for suffix in ("pdf", "png", "tex")} <= names


def test_every_row_of_every_latex_table_has_all_columns(made):
    texts = [content.decode() for name, content in made.items() if name.suffix == ".tex" and b"toprule" in content]
    for text in texts:
        spec = re.search(r"begin\{(?:tabular|longtable)\}\{(.*)\}$", text, re.MULTILINE).group(1)
        columns = len(re.sub(r"(>\{[^}]*\})?p\{[^}]*\}", "p", spec))
        rows = [line for line in text.splitlines() if line.endswith(r" \\")]
        assert rows
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {columns}
        assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text))


def test_published_figures_stand_beside_ours_and_are_marked(tmp_path):
    opened = Run("main", run(6), SETTINGS, load_published(), tmp_path, tmp_path)
    shown = consistency.rates_table(opened)
    assert shown.iloc[-1].tolist() == ["ovrag (published)", "494", "0.965", "0.548", "0.699"]
    assert "as published" in (tmp_path / "rates.tex").read_text()


def test_published_outcomes_and_calls_stand_beside_ours(tmp_path):
    opened = Run("main", run(6), SETTINGS, load_published(), tmp_path, tmp_path)
    outcomes, spent = consistency.outcome_table(opened), effort_results.effort_table(opened)
    assert outcomes.iloc[-1].tolist() == ["ovrag (published)", "375", "6", "113", "n/a", "n/a", "6"]
    theirs = spent[spent["Arm"] == "ovrag (published)"][["Outcome", "Queries", "Attempts", "Calls"]].values.tolist()
    assert theirs == [
        ["accepted", "375", "1.00", "3.00"],
        ["corrected", "6", "2.17", "5.33"],
        ["hard_rejected", "113", "4.00", "9.00"],
    ]


def test_published_counts_and_rates_agree_with_each_other():
    arm = load_published().arms["ovrag"]
    types = load_published().per_clash_type.values()
    for name in ("tp", "fp", "tn", "fn"):
        assert sum(counts[name] for counts in types) == arm[name]
    assert round(arm["tp"] / (arm["tp"] + arm["fn"]), 4) == arm["recall"]
    assert sum(arm["accepted_at"].values()) + arm["hard_rejected"] == arm["queries"]


def test_a_run_without_labels_says_so_instead_of_drawing_empty_frames(tmp_path):
    records = [record(document=name, label=None, reference=None) for name in ("A07", "B07")]
    unlabelled = Run("own", records, Settings(), None, tmp_path / "tables", tmp_path / "figures")
    whole = consistency.rates_figure(unlabelled).read_bytes()
    figures.save_figure(figures.sentence(UNLABELLED, unlabelled.width), "said", folder=tmp_path / "said")
    assert whole == (tmp_path / "said" / "said.png").read_bytes()
    scores = score_run(records, [], Settings(), run="own", cache=None)
    written = headlines.numbers_file(unlabelled, scores).read_text()
    assert "RunLabelled" not in written
    labelled = Run("own", [record()], Settings(), None, tmp_path / "tables", tmp_path / "figures")
    assert r"\newcommand{\RunLabelled}{1}" in headlines.numbers_file(labelled, scores).read_text()


@pytest.mark.parametrize(
    ("document_id", "shown"),
    [("Contract_007", "7"), ("040", "40"), ("A07", "A07"), ("Loan_2", "Loan_2"), ("000", "000")],
)
def test_only_a_generated_contract_is_called_by_its_number(document_id: str, shown: str):
    assert number_of(document_id) == shown


def test_what_corrections_can_do_offline_is_said_where_no_model_answers(tmp_path):
    for model, said in (("offline: quotes", True), ("gpt-4o", False)):
        records = [each.model_copy(update={"model": model}) for each in run(4)]
        made = Run("x", records, Settings(), None, tmp_path / "tables", tmp_path / "figures")
        consistency.correction_table(made)
        assert ("words nothing anew" in (tmp_path / "tables/corrections.tex").read_text()) is said


def test_published_figures_are_left_out_for_a_corpus_of_ones_own():
    own = Settings.model_validate({"corpus": {"source": "my/contracts"}})
    assert open_run(run(2), SETTINGS).published is not None
    assert open_run(run(2), own).published is None


def test_published_file_that_is_not_one_is_one_sentence(tmp_path):
    (tmp_path / "p.yaml").write_text("arms: [1", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"p\.yaml"):
        load_published(tmp_path / "p.yaml")


def test_a_run_without_records_is_one_sentence():
    with pytest.raises(RunError, match="no records"):
        open_run([], SETTINGS)


@pytest.mark.parametrize("name", ODD)
def test_results_of_odd_runs_are_written_and_say_what_they_rest_on(results, name):
    texts = {path.name: content.decode() for path, content in results(name).items() if path.suffix == ".tex"}
    assert list(lacking({name: text for name, text in texts.items() if not name.startswith("numbers")})) == []


def test_an_empty_table_says_that_it_is(results):
    tables = {path.name: content.decode() for path, content in results("one query").items() if path.suffix == ".tex"}
    for name in ("missed", "violations", "unmapped", "false_positives"):
        assert "The run has nothing to list here." in tables[f"{name}.tex"], name


def test_a_run_without_seconds_says_so(results):
    tables = {path.name: content.decode() for path, content in results("one query").items() if path.suffix == ".tex"}
    assert "The run has nothing to list here." in tables["latency.tex"]
    assert [line for line in tables["numbers_latency.tex"].splitlines() if line.startswith(r"\newcommand")] == []


@pytest.mark.usefixtures("latex")
@pytest.mark.parametrize("name", ["ordinary", *ODD])
def test_tables_and_figures_compile(results, name, tmp_path):
    for path, content in results(name).items():
        if path.suffix in {".tex", ".pdf"}:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(content)
    inputs = [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*.tex"))]
    body = "\n".join(rf"\input{{{name}}}" for name in inputs)
    packages = r"\usepackage[T1]{fontenc}\usepackage{textcomp,array,booktabs,longtable,graphicx}"
    source = rf"\documentclass{{article}}{packages}\begin{{document}}{body} \RunName\end{{document}}"
    (tmp_path / "main.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
