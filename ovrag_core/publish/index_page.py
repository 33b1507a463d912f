"""`reports/index.html`: the pipeline drawn, and every notebook, figure, table and case page with a link to it.

`python -m ovrag_core.publish.index_page` writes it. It holds no script and loads nothing from the web. What it says is
the same on every machine: of files named latency it shows the name and the link, never the content.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.reader import NotJSONError

from ovrag_core.base.errors import OvragError, ResultError
from ovrag_core.base.pages import page_templates
from ovrag_core.base.project import project_of
from ovrag_core.publish.page import title
from ovrag_core.publish.stages import Stage, read_stages
from ovrag_core.report.tables import heading

PAGE = Path("reports/index.html")
CASES = Path("reports/cases")
CAPTION = re.compile(r"\\caption(?:\[(?P<short>.*?)\])?\{(?P<long>.*?)\}(?:\\label|$)", re.M)
LATEX = {r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", "~": "\u00a0"}
LATEX |= {r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\textquotedbl{}": '"', r"\dots{}": "…"}
LATEX |= {r"$\times$": "×", r"$\rightarrow$": "→", r"$\leq$": "≤", r"$\geq$": "≥", "$-$": "−", "---": "—", "--": "–"}

WIDTH, GAP, HEIGHT, LEADING, STEP = 244, 22, 76, 15, 106  # pixels
LINE = 34  # characters


@dataclass(frozen=True, slots=True)
class Box:
    """A stage in the drawing: its place in pixels, its name, and its description in lines."""

    name: str
    lines: tuple[str, ...]
    x: float
    y: float
    href: str
    hint: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A result in a list: what it is, and where its files are, seen from the page."""

    name: str
    caption: str
    links: tuple[tuple[str, str], ...]
    picture: str = ""


def write_index(project: Path) -> Path:
    """Write the page and return its path. Raises ResultError where the pipeline or a notebook cannot be read."""
    path = project / PAGE
    text = index_page(project)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def index_page(project: Path) -> str:
    """The page as text."""
    stages = together(read_stages(project, compared=False))
    drawn = boxes(stages)
    return (
        page_templates()
        .get_template("index.html.j2")
        .render(
            boxes=drawn,
            edges=edges(stages, drawn),
            size=(max(box.x for box in drawn) + WIDTH + 2, max(box.y for box in drawn) + HEIGHT + 2),
            box=(WIDTH, HEIGHT, LEADING),
            notebooks=[_notebook(project, stage) for stage in stages.values() if stage.notebook],
            figures=_results(project, stages, "figures"),
            tables=_results(project, stages, "tables"),
            cases=_cases(project),
        )
    )


def together(stages: Mapping[str, Stage]) -> dict[str, Stage]:
    """The stages with those that one entry of the pipeline makes for each value, `name@value`, as one."""
    found: dict[str, Stage] = {}
    for stage in stages.values():
        name, _, value = stage.name.partition("@")
        needs = tuple(dict.fromkeys(needed.partition("@")[0] for needed in stage.needs))
        first = found.get(name)
        if first is None:
            about = stage.description.removesuffix(value).rstrip(", ") if value else stage.description
            found[name] = stage.model_copy(update={"name": name, "needs": needs, "description": about})
            continue
        found[name] = first.model_copy(
            update={
                "needs": tuple(dict.fromkeys((*first.needs, *needs))),
                "inputs": tuple({item.path: item for item in (*first.inputs, *stage.inputs)}.values()),
                "outputs": tuple({item.path: item for item in (*first.outputs, *stage.outputs)}.values()),
                "parameters": tuple({each.name: each for each in (*first.parameters, *stage.parameters)}.values()),
            }
        )
    return found


def boxes(stages: Mapping[str, Stage]) -> list[Box]:
    """Stages in rows: each below all that it needs, the stages of a row in the pipeline's order, rows centred."""
    rows: dict[int, list[Stage]] = {}
    depth: dict[str, int] = {}
    for stage in stages.values():
        depth[stage.name] = _depth(stage, stages, depth)
        rows.setdefault(depth[stage.name], []).append(stage)
    widest = max(len(row) for row in rows.values())
    drawn = []
    for row, members in sorted(rows.items()):
        left = (widest - len(members)) * (WIDTH + GAP) / 2 + 1
        for place, stage in enumerate(members):
            lines = tuple(textwrap.wrap(stage.description, LINE, max_lines=3, placeholder=" …"))
            href = f"{stage.name}.html" if stage.notebook else ""
            drawn.append(Box(stage.name, lines, left + place * (WIDTH + GAP), row * STEP + 1, href, _hint(stage)))
    return drawn


def edges(stages: Mapping[str, Stage], drawn: Sequence[Box]) -> list[tuple[float, float, float, float]]:
    """Lines from each stage to those that need it, without those that lead there over a third; x1, y1, x2, y2."""
    place = {box.name: box for box in drawn}
    lines = []
    for stage in stages.values():
        beyond = {far for near in stage.needs for far in _all_needs(near, stages)}
        for needed in stage.needs:
            if needed not in beyond:
                start, end = place[needed], place[stage.name]
                lines.append((start.x + WIDTH / 2, start.y + HEIGHT, end.x + WIDTH / 2, end.y))
    return lines


def _hint(stage: Stage) -> str:
    """Parameters and inputs of a stage, code left out."""
    parameters = ", ".join(parameter.name for parameter in stage.parameters) or "none"
    inputs = ", ".join(item.path for item in stage.inputs if not item.path.endswith(".py")) or "none"
    return f"parameters: {parameters}\ninputs: {inputs}"


def _all_needs(name: str, stages: Mapping[str, Stage]) -> set[str]:
    """The stages that one needs, directly or over others."""
    return {far for near in stages[name].needs for far in (near, *_all_needs(near, stages))}


def _depth(stage: Stage, stages: Mapping[str, Stage], known: Mapping[str, int]) -> int:
    needed = [known[name] if name in known else _depth(stages[name], stages, known) for name in stage.needs]
    return 1 + max(needed, default=-1)


def _notebook(project: Path, stage: Stage) -> Entry:
    source = project / str(stage.notebook)
    try:
        notebook = nbformat.read(source, as_version=4)
    except (OSError, NotJSONError, nbformat.ValidationError, AttributeError, KeyError, UnicodeDecodeError):
        raise ResultError(f"{source} is not a Jupyter notebook; restore it from git") from None
    page, copy = f"{stage.name}.html", f"{stage.name}.ipynb"
    return Entry(title(notebook), stage.description, (("as executed", page), ("notebook", copy)))


def _results(project: Path, stages: Mapping[str, Stage], folder: str) -> list[Entry]:
    """Tables or figures in the pipeline's order, the files of one name together."""
    files: dict[str, list[str]] = {}
    makers: dict[str, str] = {}
    for stage in stages.values():
        for path in (Path(path) for item in stage.outputs for path in item.files or [item.path]):
            if path.is_relative_to(folder) and path.suffix:
                name = path.relative_to(folder).with_suffix("").as_posix()
                files.setdefault(name, []).append(path.suffix)
                makers[name] = stage.name if stage.notebook else ""
    entries = []
    for name, suffixes in files.items():
        links = tuple((suffix[1:], f"../{folder}/{name}{suffix}") for suffix in suffixes)
        links += ((f"notebook {makers[name][:2]}", f"{makers[name]}.html"),) if makers[name] else ()
        picture = f"../{folder}/{name}.png" if ".png" in suffixes else ""
        entries.append(Entry(name, _caption(project / folder / f"{name}.tex"), links, picture))
    return entries


def _caption(path: Path) -> str:
    """The caption of a table or figure as plain text; its name as words for macros and for what is named latency."""
    plain = f"{heading(path.stem)}."
    if path.name.startswith("numbers"):
        return f"{plain[:-1]}, as macros for prose."
    if "latency" in path.name or not path.exists():
        return plain
    found = CAPTION.search(path.read_text(encoding="utf-8"))
    return _plain(found["short"] or found["long"]) if found else plain


def _plain(text: str) -> str:
    """LaTeX that `thesis.tables.escape` wrote, as text."""
    for code, character in LATEX.items():
        text = text.replace(code, character)
    return re.sub(r"\\texttt\{(.*?)\}", r"\1", re.sub(r"\\([{}$&#%_])", r"\1", text))


def _cases(project: Path) -> list[Entry]:
    """Case pages with their titles, the index first; HTML where there is, else Markdown."""
    folder = project / CASES
    names = sorted({path.stem for path in folder.glob("*") if path.suffix in (".md", ".html")})
    entries = []
    for name in sorted(names, key=lambda name: (name != "index", name)):
        suffixes = [suffix for suffix in (".html", ".md", ".tex") if (folder / f"{name}{suffix}").exists()]
        links = tuple((suffix[1:], f"{CASES.name}/{name}{suffix}") for suffix in suffixes)
        entries.append(Entry(name, _heading(folder / f"{name}.md"), links))
    return entries


def _heading(path: Path) -> str:
    """The first heading of a Markdown page."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.lstrip("# ") for line in lines if line.startswith("# ")), heading(path.stem))


def main() -> None:
    """Write the page of the project that the command is started in."""
    try:
        print(os.path.relpath(write_index(project_of(Path.cwd()))))
    except OvragError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
