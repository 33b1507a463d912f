"""A contradiction as a small graph, for notebooks and print."""

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ovrag_core.base import Triple, Violation

_PLAIN: dict[str, Any] = {"parse_math": False}  # a dollar sign in a name is a dollar sign
_BOX = {"boxstyle": "round,pad=0.35", "linewidth": 0.8}
_BEHIND = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}
_SUBJECT, _OBJECT, _LINE, _QUOTE = "#e8eef7", "#fdf3e1", "#7a0016", "0.35"
_ROW, _QUOTED_ROW, _AXIOM, _HEAD = 0.45, 0.72, 0.18, 0.3  # inches
_NAME, _SAID = 20, 58  # characters of a line in a box, and of a quote


def draw(violation: Violation, width_inches: float = 5.9) -> Figure:
    """The statements of `violation` as arrows with their quotes; underneath, the axioms that forbid them together."""
    rows = [_QUOTED_ROW if triple.evidence else _ROW for triple in violation.triples]
    foot = _HEAD + _AXIOM * len(violation.axioms) if violation.axioms else 0.05
    height = sum(rows) + foot + 0.1
    figure = Figure(figsize=(width_inches, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0, width_inches)
    axes.set_ylim(0, height)  # inches both ways
    levels = [height - 0.05 - sum(rows[:i]) - 0.22 for i in range(len(rows))]
    about: dict[str, list[float]] = {}
    for triple, level in zip(violation.triples, levels, strict=True):
        about.setdefault(triple.subject, []).append(level)
    middle = {subject: sum(heights) / len(heights) for subject, heights in about.items()}
    for triple, level in zip(violation.triples, levels, strict=True):
        _statement(axes, triple, (middle[triple.subject], level), width_inches)
    box = _BOX | {"facecolor": _SUBJECT}
    for subject, level in middle.items():
        text = _wrapped(subject, _NAME)
        axes.text(0.22 * width_inches, level, text, ha="right", va="center", fontsize=8, bbox=box, **_PLAIN)
    if violation.axioms:
        axes.plot([0.1, width_inches - 0.1], [foot, foot], color="0.8", linewidth=0.6)
        axes.text(0.1, foot - 0.17, "cannot all be true, because", fontsize=7.5, style="italic")
    for number, axiom in enumerate(violation.axioms):
        level = foot - _HEAD - _AXIOM * number
        axes.text(2.0, level + 0.13, axiom, fontsize=7.5, family="monospace", color=_LINE, **_PLAIN)
    return figure


def _statement(axes: Axes, triple: Triple, ends: tuple[float, float], width: float) -> None:
    """An arrow between two heights, its predicate on it, the object at its end and the quote under that."""
    start, end = ends
    arrow = {"arrowstyle": "-|>", "color": _LINE, "linewidth": 1, "shrinkA": 2, "shrinkB": 2}
    axes.annotate("", xy=(0.44 * width, end), xytext=(0.235 * width, start), arrowprops=arrow)
    label_position = (0.335 * width, start + 0.49 * (end - start))
    axes.text(*label_position, triple.predicate, ha="center", va="center", fontsize=7.5, bbox=_BEHIND, **_PLAIN)
    box = _BOX | {"facecolor": _OBJECT}
    axes.text(0.455 * width, end, _wrapped(triple.object, 2 * _NAME), va="center", fontsize=8, bbox=box, **_PLAIN)
    if triple.evidence:
        quote = textwrap.wrap(f"“{triple.evidence.quote}”", _SAID, max_lines=2, placeholder=" …”")
        quote_position = (0.455 * width, end - 0.19)
        axes.text(*quote_position, "\n".join(quote), va="top", fontsize=6.5, style="italic", color=_QUOTE, **_PLAIN)


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width, max_lines=2, placeholder=" …"))
