"""A notebook as one HTML page that needs no other file and no network: no script, own style, pictures inside."""

import html
from copy import deepcopy
from pathlib import Path
from string import Template

from nbconvert import HTMLExporter
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

# nbconvert's own full pages load MathJax, RequireJS and Mermaid from the web; its bare template has no page around it.
BODY_TEMPLATE = "basic"
PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; font: 16px/1.55 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; margin-top: 2rem; }
pre, code { font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
.input_area { background: #f6f7f8; border-left: 3px solid #c9ced4; padding: .1rem .8rem; margin: .8rem 0; }
.input_area pre, .output_area pre { margin: .4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.output_area { overflow-x: auto; margin: .4rem 0 .4rem .95rem; }
.prompt { display: none; }
img { max-width: 100%; height: auto; }
table { border: 0; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border: 0; border-bottom: 1px solid #dfe3e7; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #8a929a; }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid #c9ced4; color: #444; }
@media print { body { max-width: none; font-size: 11pt; } }
$highlighting
</style>
</head>
<body>
$body
</body>
</html>
""")


def page(notebook: NotebookNode, folder: Path) -> str:
    """The page; `folder` is where the pictures that its text cells name are found."""
    described = _with_alternative_texts(notebook)
    exporter = HTMLExporter(template_name=BODY_TEMPLATE, embed_images=True, exclude_anchor_links=True)
    body, _ = exporter.from_notebook_node(described, resources={"metadata": {"path": str(folder)}})
    highlighting = HtmlFormatter().get_style_defs(".highlight")
    return PAGE.substitute(title=html.escape(title(notebook)), highlighting=highlighting, body=body.strip() + "\n")


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
