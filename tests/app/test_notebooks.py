"""Notebooks: those of the project are thin and clean; executions give the same bytes, failures give one sentence."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ovrag_core.app.notebooks import enter_project, project_of
from ovrag_core.app.notebooks.execution import clean, execute
from ovrag_core.app.notebooks.normalisation import cleaned, normalised, text_of
from ovrag_core.app.notebooks.shown_tables import parameter_table, table_html
from ovrag_core.base.errors import NotebookError
from ovrag_core.base.settings import load_settings

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def sources(path: Path, kind: str = "code") -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebooksOfTheProject:
    def test_is_clean(self, path: Path):
        assert path.read_text(encoding="utf-8") == text_of(cleaned(nbformat.read(path, as_version=4))), (
            f"run: python -m ovrag_core.app.notebooks --clean notebooks/{path.name}"
        )

    def test_is_thin(self, path: Path):
        for source in sources(path):
            assert len(source.splitlines()) <= 15, source
            kinds = {type(node) for node in ast.walk(ast.parse(source))}
            assert not kinds & {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef}, source

    def test_has_one_cell_of_parameters(self, path: Path):
        tagged = [
            cell for cell in nbformat.read(path, as_version=4).cells if "parameters" in cell.metadata.get("tags", [])
        ]
        assert len(tagged) == (0 if path.name.startswith("00") else 1)

    def test_reads_like_a_lab_book(self, path: Path):
        texts = sources(path, "markdown")
        assert texts[0].startswith("# ")
        assert len(texts) >= 4


class TestTables:
    def test_markup_is_text(self):
        shown = table_html(pd.DataFrame({"<b>": ["a & b", "c"], "n": [1, 2]}))
        assert "&lt;b&gt;" in shown and "a &amp; b" in shown and "<b>" not in shown

    def test_an_index_is_shown_where_it_says_something(self):
        frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["p", "q", "q"], "n": [1, 2, 3]})
        cells = re.compile(r"<t[hd][^>]*>([^<]+)</t[hd]>")
        assert cells.findall(table_html(frame))[3:] == ["x", "p", "1", "x", "q", "2", "y", "q", "3"]
        assert cells.findall(table_html(frame.groupby(["a", "b"]).sum())) == [*"abnxp1xq2yq3"]

    def test_long_cells_are_whole_and_long_tables_say_how_long_they_are(self):
        shown = table_html(pd.DataFrame({"text": ["word " * 40] * 90}))
        assert ("word " * 40).strip() in shown and "… and 50 more rows" in shown

    def test_parameters_are_listed_by_the_names_that_the_command_line_takes(self):
        rows = parameter_table(load_settings(PROJECT / "params.yaml"), "chunking", "experiment").values.tolist()
        assert ["chunking.size", "1000"] in rows and ["experiment.contracts", "–"] in rows
        assert not [name for name, value in rows if "{" in value]


def test_there_are_notebooks():
    numbers = [path.name[:2] for path in NOTEBOOKS]
    assert {"01", "02", "03", "04", "05", "06"} <= set(numbers)
    assert len(numbers) == len(set(numbers))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of its own: params.yaml and a folder of notebooks."""
    (tmp_path / "params.yaml").write_text("{}\n")
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def write(folder: Path, *cells: str, name: str = "01_small.ipynb") -> Path:
    parameters = new_code_cell("size = 3", metadata={"tags": ["parameters"]})
    notebook = new_notebook(cells=[new_markdown_cell("# A <small> one"), parameters, *map(new_code_cell, cells)])
    path = folder / "notebooks" / name
    nbformat.write(notebook, path)
    return path


PLOT = """\
import matplotlib.pyplot as plt
plt.plot(range(size))
plt.title("ä")
plt.show()"""
NOISE = """\
import sys, time, warnings, random
import pandas as pd
print(object(), "first", flush=True)
print("progress", random.random(), file=sys.stderr, flush=True)
warnings.warn(f"{time.time()}")
time.sleep(random.random() / 5)
print("second")
pd.DataFrame({"a": range(size)})"""
PLACE = """\
from pathlib import Path
print(Path.cwd(), sys.executable == python, __name__)"""


def test_two_executions_in_two_places_give_the_same_bytes(folder: Path, tmp_path_factory: pytest.TempPathFactory):
    other = tmp_path_factory.mktemp("elsewhere")
    (other / "params.yaml").write_text("{}\n")
    (other / "notebooks").mkdir()
    results = []
    for place in (folder, other):
        path = write(place, PLOT, NOISE, f"python = {sys.executable!r}\n{PLACE}")
        execute(path, place / "reports" / path.name, {"size": 4})
        results.append({file.name: file.read_bytes() for file in sorted((place / "reports").iterdir())})
    assert results[0] == results[1]
    assert list(results[0]) == ["01_small.html", "01_small.ipynb"]

    notebook = nbformat.reads(results[0]["01_small.ipynb"].decode(), as_version=4)
    text = "".join(output.text for cell in notebook.cells for output in cell.get("outputs", []) if "text" in output)
    assert "0x…> first\nsecond\n" in text, "stdout is whole, addresses are blanked"
    assert ". True __main__" in text, "in the project's folder, by this environment's Python"
    assert "progress" not in text
    pictures = [
        output for cell in notebook.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 1
    assert any(cell.source.endswith("\nsize = 4\n") for cell in notebook.cells if cell.cell_type == "code")
    nbformat.validate(notebook)


def test_page_needs_nothing_from_elsewhere(folder: Path):
    path = write(folder, PLOT, "print('<script>alert(1)</script>')")
    execute(path, folder / "reports" / path.name)
    text = (folder / "reports" / "01_small.html").read_text()
    assert "<title>A &lt;small&gt; one</title>" in text
    assert "data:image/png;base64," in text
    assert 'alt="Figure: A &lt;small&gt; one"' in text
    assert "<script" not in text and "&lt;script&gt;alert" in text
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", text)


def test_failing_cell_is_one_sentence_and_keeps_the_last_good_result(folder: Path):
    good = write(folder, "print('good')")
    report = folder / "reports" / good.name
    execute(good, report)
    before = report.read_bytes()

    write(
        folder,
        "print('before')",
        "from ovrag_core.base.errors import RunError\nraise RunError('no run yet;\\nmake one')",
    )
    with pytest.raises(NotebookError) as caught:
        execute(good, report)
    sentence = str(caught.value)
    assert "01_small.ipynb, cell [3]: RunError: no run yet;" in sentence
    assert "\n" not in sentence
    assert report.read_bytes() == before
    failed = folder / "reports" / "01_small.failed.ipynb"
    assert failed.name in sentence
    assert "before" in failed.read_text()

    write(folder, "print('good')")
    execute(good, report)
    assert not failed.exists()


def test_dead_kernel_is_one_sentence(folder: Path):
    path = write(folder, "import os\nos._exit(9)")
    with pytest.raises(NotebookError, match=r"01_small\.ipynb: its process died"):
        execute(path, folder / "reports" / path.name)


def test_command_line_ends_with_one_line_and_an_exit_code(folder: Path):
    path = write(folder, "1 / 0")
    command = [sys.executable, "-m", "ovrag_core.app.notebooks", str(path), "-p", "size=5"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "cell [3]: ZeroDivisionError: division by zero" in done.stderr

    done = subprocess.run(
        [*command, "--to", str(path / "reports")], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 1
    assert "cannot be used (Not a directory)" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        ("not a notebook", "is not a Jupyter notebook"),
        ("{}", "is not a Jupyter notebook"),
        (json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "tag `parameters`"),
    ],
)
def test_what_is_no_notebook_is_named(folder: Path, content: str | None, message: str):
    path = folder / "notebooks" / "x.ipynb"
    if content is not None:
        path.write_text(content)
    with pytest.raises(NotebookError, match=message):
        execute(path, folder / "reports" / path.name)


def test_unknown_parameter_is_named(folder: Path):
    with pytest.raises(NotebookError, match="no parameter sise; it has size"):
        execute(write(folder), folder / "reports" / "x.ipynb", {"sise": 1})


def test_users_own_kernels_and_start_up_files_do_not_count(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path / "home"
    kernel = home / ".local" / "share" / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(
        json.dumps({"argv": ["/nonexistent"], "display_name": "x", "language": "python"})
    )
    startup = home / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("raise SystemExit(1)\n")
    monkeypatch.setenv("HOME", str(home))
    path = write(folder, "print('well')")
    execute(path, folder / "reports" / path.name)
    assert "IPYTHONDIR" not in os.environ


def test_cleaning_forgets_what_a_notebook_server_leaves(folder: Path):
    path = write(folder, "print(1)")
    clean(path)
    before = path.read_bytes()
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["language_info"] = {"name": "python", "version": "3.11.99"}
    notebook.metadata["widgets"] = {"state": {}}
    notebook.cells[1].metadata["papermill"] = {"duration": 1.0}
    notebook.cells[2].metadata["collapsed"] = True
    notebook.cells[2].execution_count = 7
    notebook.cells[2].outputs = [new_output("stream", text="1\n")]
    notebook.cells[2].id = "random"
    nbformat.write(notebook, path)
    assert path.read_bytes() != before

    copy = folder / "copies" / path.name
    clean(path, copy)
    assert copy.read_bytes() == before
    modified = copy.stat().st_mtime_ns
    clean(path, copy)
    assert copy.stat().st_mtime_ns == modified, "what is clean already is not written again"


def test_streams_are_joined_and_addresses_blanked():
    outputs = [
        new_output("stream", name="stdout", text="a"),
        new_output("stream", name="stderr", text="noise"),
        new_output("stream", name="stdout", text="b <x at 0x7f00aa11bb22> 640x480\n"),
        new_output("display_data", data={"text/plain": "in /a/place/data", "application/json": {"a": 1}}),
    ]
    notebook = new_notebook(cells=[new_code_cell("x", outputs=outputs)])
    kept = normalised(notebook, Path("/a/place")).cells[0].outputs
    assert [output.output_type for output in kept] == ["stream", "display_data"]
    assert kept[0].text == "ab <x at 0x…> 640x480\n"
    assert kept[1].data["text/plain"] == "in ./data"
    assert notebook.cells[0].outputs[2].text.startswith("b <x at 0x7f"), "the original is left alone"


def test_project_is_entered_from_its_folders(folder: Path, monkeypatch: pytest.MonkeyPatch):
    deep = folder / "notebooks" / "deep"
    deep.mkdir()
    monkeypatch.chdir(deep)
    assert enter_project() == folder.resolve() == Path.cwd()


def test_project_is_that_of_the_package_where_there_is_none(tmp_path: Path):
    assert project_of(tmp_path) == PROJECT
