"""A contradiction as a small graph, for notebooks."""

from __future__ import annotations

import textwrap

from matplotlib.figure import Figure

from ovrag_core.types import Triple, Violation

_BOX = {"boxstyle": "round,pad=0.4", "linewidth": 1.0}
_SUBJECT, _OBJECT, _LINE = "#e8eef7", "#fdf3e1", "#b03a2e"
_WIDTH = 34  # characters of a box


def draw(violation: Violation, width_inches: float = 5.9) -> Figure:
    """The statements of `violation` as arrows from what they are about to what they say, with the axioms underneath."""
    rows = len(violation.triples)
    figure = Figure(figsize=(width_inches, 1.0 + 0.75 * rows + 0.2 * len(violation.axioms)))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.6 - 0.35 * len(violation.axioms), rows)
    subjects = list(dict.fromkeys(triple.subject for triple in violation.triples))
    height = {subject: _middle(violation.triples, subject) for subject in subjects}
    for row, triple in enumerate(violation.triples):
        level = rows - 0.5 - row
        axes.annotate(
            "",
            xy=(0.66, level),
            xytext=(0.30, height[triple.subject]),
            arrowprops={"arrowstyle": "->", "color": _LINE, "shrinkA": 2, "shrinkB": 2},
        )
        axes.text(0.48, (level + height[triple.subject]) / 2, triple.predicate, ha="center", va="bottom", fontsize=8)
        axes.text(0.67, level, _wrapped(triple.object), va="center", fontsize=8, bbox=_BOX | {"facecolor": _OBJECT})
    for subject, level in height.items():
        axes.text(
            0.29, level, _wrapped(subject), ha="right", va="center", fontsize=8, bbox=_BOX | {"facecolor": _SUBJECT}
        )
    for row, axiom in enumerate(violation.axioms):
        axes.text(0.5, -0.35 - 0.35 * row, axiom, ha="center", fontsize=7.5, family="monospace", color=_LINE)
    return figure


def _middle(triples: tuple[Triple, ...], subject: str) -> float:
    levels = [len(triples) - 0.5 - row for row, triple in enumerate(triples) if triple.subject == subject]
    return sum(levels) / len(levels)


def _wrapped(text: str) -> str:
    return textwrap.fill(textwrap.shorten(text, 3 * _WIDTH, placeholder=" …"), _WIDTH).replace("$", r"\$")
