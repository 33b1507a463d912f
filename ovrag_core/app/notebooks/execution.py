"""Notebooks executed by papermill and kept as normalised copies.

papermill is called in process, which saves a second. The kernel remains a process of its own: each stage begins with
nothing imported and no JVM running, and a kernel that dies is an error here and not a crash.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.reader import NotJSONError
from papermill.exceptions import PapermillExecutionError

from ovrag_core.app.notebooks.normalisation import cleaned, normalised, text_of
from ovrag_core.base import NotebookError, project_of, write_text
from ovrag_core.publish import page

Value = str | int | float | bool | None

# Seconds; a busy machine is no reason to give a stage up. Cells themselves may take as long as they need.
KERNEL_START = 120
KERNEL_SILENCE = 60
PARAMETERS_TAG = "parameters"
# The kernel is that of this very environment; with an IPYTHONDIR of its own, without the user's start-up files.
KERNEL_ENVIRONMENT = {"JUPYTER_PREFER_ENV_PATH": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def execute(notebook: Path, output: Path, parameters: Mapping[str, Value] | None = None) -> None:
    """Run a notebook from top to bottom in its project's folder; write `output` and the same as an HTML page.

    Both files are replaced together at the end, so an interrupted run leaves the old ones. Raises NotebookError with
    the notebook, the cell and the exception where a cell fails; what was done stays as `<output>.failed.ipynb`.
    """
    source = read(notebook)
    _refuse_unknown(parameters or {}, source, notebook)
    project = project_of(notebook.parent)
    output = output.resolve()
    output.parent.mkdir(parents=True, exist_ok=True)
    failed = output.with_suffix(".failed.ipynb")
    with tempfile.TemporaryDirectory() as private, patch.dict(os.environ, KERNEL_ENVIRONMENT | {"IPYTHONDIR": private}):
        prepared = Path(private) / notebook.name
        prepared.write_text(text_of(cleaned(source)), encoding="utf-8")
        executed = _run(prepared, failed, parameters or {}, project, shown_as=notebook)
    result = normalised(executed, project)
    write_text(text_of(result), output, NotebookError)
    write_text(page(result, notebook.parent), output.with_suffix(".html"), NotebookError)
    failed.unlink(missing_ok=True)


def clean(notebook: Path, target: Path | None = None) -> None:
    """Write the notebook without outputs to `target`, or in place; a file that is so already is not touched."""
    target = target or notebook
    text = text_of(cleaned(read(notebook)))
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(text, target, NotebookError)


def read(notebook: Path) -> NotebookNode:
    """The notebook of a file. Raises NotebookError for a missing file or one that is no notebook."""
    try:
        source: NotebookNode = nbformat.read(notebook, as_version=4)
    except FileNotFoundError:
        raise NotebookError(f"{notebook} does not exist; name a notebook of the folder notebooks/") from None
    except (NotJSONError, nbformat.ValidationError, AttributeError, KeyError, UnicodeDecodeError):
        raise NotebookError(f"{notebook} is not a Jupyter notebook; restore it from git") from None
    return source


def _refuse_unknown(parameters: Mapping[str, Value], source: NotebookNode, notebook: Path) -> None:
    cells = [cell for cell in source.cells if PARAMETERS_TAG in cell.metadata.get("tags", [])]
    if not cells:
        raise NotebookError(f"{notebook} has no cell with the tag `{PARAMETERS_TAG}`; add one with its parameters")
    declared = {line.split("=")[0].split(":")[0].strip() for line in cells[0].source.splitlines() if "=" in line}
    if unknown := sorted(set(parameters) - declared):
        raise NotebookError(f"{notebook} has no parameter {unknown[0]}; it has {', '.join(sorted(declared))}")


def _run(prepared: Path, failed: Path, parameters: Mapping[str, Value], project: Path, shown_as: Path) -> NotebookNode:
    watched = sys.stderr.isatty()
    try:
        executed: NotebookNode = papermill.execute_notebook(
            prepared,
            failed,  # written after each cell, so that there is something to look at whatever happens
            parameters=dict(parameters),
            kernel_name="python3",
            cwd=project,
            progress_bar=watched,
            stderr_file=sys.stderr if watched else None,  # the progress bars of the cells
            start_timeout=KERNEL_START,
            iopub_timeout=KERNEL_SILENCE,
            extra_arguments=["--HistoryManager.enabled=False", "--log-level=CRITICAL"],
        )
        return executed
    except PapermillExecutionError as error:
        reason = f"{error.ename}: {error.evalue}".strip().splitlines()[0].removesuffix(":")
        where = f"{shown_as}, cell [{error.exec_count}]"
    except DeadKernelError:
        reason, where = "its process died, perhaps for want of memory", str(shown_as)
    raise NotebookError(f"{where}: {reason} (the copy {failed.name} in {failed.parent.name}/ shows where)")
