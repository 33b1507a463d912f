"""A notebook as one HTML page that needs no other file and no network: no script, own style, pictures inside."""

import html
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from string import Template

from nbconvert import HTMLExporter
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

# nbconvert's own full pages load MathJax, RequireJS and Mermaid from the web; its bare template has no page around it.
BODY_TEMPLATE = "basic"


def page(notebook: NotebookNode, folder: Path) -> str:
    """The page; `folder` is where the pictures that its text cells name are found."""
    described = _with_alternative_texts(notebook)
    exporter = HTMLExporter(template_name=BODY_TEMPLATE, embed_images=True, exclude_anchor_links=True)
    body, _ = exporter.from_notebook_node(described, resources={"metadata": {"path": str(folder)}})
    highlighting = HtmlFormatter().get_style_defs(".highlight")
    whole = Template(files("ovrag_core.publish").joinpath("result_page.html").read_text(encoding="utf-8"))
    return whole.substitute(title=html.escape(title(notebook)), highlighting=highlighting, body=body.strip() + "\n")


def title(notebook: NotebookNode) -> str:
    """The first heading of the text cells, or `Notebook`."""
    return next((heading for cell in notebook.cells for heading in _headings(cell)), "Notebook")


def _headings(cell: NotebookNode) -> list[str]:
    lines = cell.source.splitlines() if cell.cell_type == "markdown" else []
    return [line.lstrip("# ") for line in lines if line.startswith("#")]


def _with_alternative_texts(notebook: NotebookNode) -> NotebookNode:
    """A copy in which a picture is described, for those who cannot see it, by the heading that it stands under."""
    copy = deepcopy(notebook)
    heading = title(copy)
    for cell in copy.cells:
        heading = (_headings(cell) or [heading])[-1]
        cell.metadata["alt"] = f"Figure: {heading}"
    return copy
