"""Notebooks without what differs from run to run, so that the same results are the same bytes.

Kept: sources, tags, execution counts, outputs, the kernel's name and language. Dropped: times, versions, random ids,
what was written to stderr (progress bars, warnings with temporary paths), widget state, this machine's folders.
"""

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
WIDGET = "application/vnd.jupyter.widget-view+json"
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


def cleaned(notebook: NotebookNode) -> NotebookNode:
    """A copy as it belongs in git: sources and tags, no outputs, no counts."""
    copy = _with_stable_metadata(notebook)
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    return copy


def normalised(notebook: NotebookNode, project: Path) -> NotebookNode:
    """A copy of an executed notebook that is the same for the same results; `project` is printed as `.` in it."""
    copy = _with_stable_metadata(notebook)
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs = [_stable_output(output, project) for output in _kept(cell.outputs)]
    return copy


def text_of(notebook: NotebookNode) -> str:
    """The notebook as JSON, with sorted keys and a final newline."""
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
    return text.rstrip("\n") + "\n"


def _with_stable_metadata(notebook: NotebookNode) -> NotebookNode:
    copy: NotebookNode = nbformat.v4.upgrade(nbformat.from_dict(notebook))
    copy.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for number, cell in enumerate(copy.cells):
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        cell.id = f"cell-{number:02}"
    return copy


def _kept(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs without stderr and widgets; what was printed in one go is one output, however it was transmitted."""
    merged: list[NotebookNode] = []
    for output in outputs:
        if output.get("name") == "stderr" or WIDGET in output.get("data", {}):
            continue
        if merged and output.output_type == "stream" == merged[-1].output_type:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def _stable_output(output: NotebookNode, project: Path) -> NotebookNode:
    output.pop("transient", None)
    if output.output_type == "stream":
        output.text = _stable_text(output.text, project)
    for kind, content in output.get("data", {}).items():
        if kind.startswith("text/") and isinstance(content, str):
            output.data[kind] = _stable_text(content, project)
    return output


def _stable_text(text: str, project: Path) -> str:
    return ADDRESS.sub("0x…", text.replace(str(project), "."))
