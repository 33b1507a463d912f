"""Drawings of the study in the style of the thesis's figures: frames and curves in, figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy
import numpy.typing as npt
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ovrag_core.report import HATCHES, MARKERS, colours, styled

LINES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), ":")
SHADES = ("#0b5c8a", "#f2d49b", "0.93")
Curve = npt.NDArray[numpy.float64]


class OperatingPoint(NamedTuple):
    """Point where an arm works by itself: share of queries that it answers, and of those the share that is wrong."""

    coverage: float
    risk: float


def risk_and_coverage(
    curves: Mapping[str, Curve], points: Mapping[str, OperatingPoint], alpha: float, certified: str, width: float
) -> Figure:
    """Share of wrong answers against the share of queries answered, the surest first: a line a curve, a mark an arm.

    Curves have columns coverage and risk; arms at one point have one mark. The dashed level is the risk that is
    allowed, `alpha`; the arm `certified` is ringed, none where that is empty.
    """
    together: dict[OperatingPoint, list[str]] = {}
    for name, point in points.items():
        together.setdefault(point, []).append(name)
    with styled():
        fig = Figure(figsize=(width, 3.0), layout="constrained")
        ax = fig.subplots()
        for (name, curve), line, colour in zip(curves.items(), LINES, colours(len(curves)), strict=False):
            ax.plot(curve[:, 0], curve[:, 1], ls=line, color=colour, lw=1.3, label=name)
        chosen = colours(len(curves) + len(together))[len(curves) :]
        for number, ((point, names), colour) in enumerate(zip(together.items(), chosen, strict=True)):
            marker, label = MARKERS[number % len(MARKERS)], ",\n".join(names)
            ax.plot(*point, marker, color=colour, mec="black", mew=0.5, ms=6, ls="", label=label, zorder=4)
        ax.axhline(alpha, color="black", lw=0.8, ls=(0, (4, 3)), label=f"allowed, {alpha:g}", zorder=1)
        if certified in points:
            ax.plot(
                *points[certified], "o", mfc="none", mec="black", ms=12, mew=1.0, ls="", label="certified", zorder=5
            )
        ax.set(
            xlim=(-0.02, 1.02),
            xlabel="share of queries answered, the surest first",
            ylabel="share of the answered that is wrong",
        )
        ax.set_ylim(-0.02, max([0.3, *(point.risk + 0.05 for point in points.values())]))
        ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.grid()
        ax.set_axisbelow(True)
        fig.legend(loc="outside right center")
        return fig


def outcomes(tables: Mapping[str, pandas.DataFrame], parts: Sequence[str], width: float) -> Figure:
    """One panel a kind of query, a bar an arm, divided into counts by outcome; frames are arms × `parts`."""
    with styled():
        rows = max((len(table.index) for table in tables.values()), default=1)
        fig = Figure(figsize=(width, 0.95 + 0.26 * rows), layout="constrained")
        axes = fig.subplots(1, max(1, len(tables)), sharey=True, squeeze=False)[0]
        for ax, (title, table) in zip(axes, tables.items(), strict=False):
            _bars(ax, table, parts)
            ax.set_title(title)
            ax.set_xlabel("queries")
        first_table = next(iter(tables.values()), pandas.DataFrame())
        axes[0].set_yticks(range(len(first_table.index)), [str(arm) for arm in first_table.index])
        axes[0].invert_yaxis()
        handles, names = axes[0].get_legend_handles_labels()
        fig.legend(handles, names, loc="outside lower center", ncols=len(parts))
        return fig


def _bars(ax: Axes, table: pandas.DataFrame, parts: Sequence[str]) -> None:
    left = numpy.zeros(len(table.index))
    for index, outcome in enumerate(parts):
        values = table[outcome].to_numpy(dtype=float)
        shade, hatch = SHADES[index % len(SHADES)], HATCHES[index % len(HATCHES)]
        ax.barh(
            range(len(values)),
            values,
            left=left,
            color=shade,
            ec="black",
            lw=0.4,
            hatch=hatch,
            label=outcome,
            height=0.72,
        )
        for row, (value, start) in enumerate(zip(values, left, strict=True)):
            if value:
                box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.85}
                ax.text(start + value / 2, row, f"{value:.0f}", ha="center", va="center", fontsize=6, bbox=box)
        left += values
    ax.set_xlim(0, max(1.0, float(left.max(initial=0))))
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.tick_params(axis="y", length=0)
