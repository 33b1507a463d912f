"""Marks with their intervals, row below row, in panels beside each other. Frames in, figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ovrag_core.report.figures import MARKERS, colours, styled


@dataclass(frozen=True, slots=True)
class Look:
    """Sizes of a plot: inches above and below, of a row and of a series in it; points of lines and marks.

    `spread` is the part of a row that its series share. `ticks` of None are found by the values. `rules` part the rows.
    """

    ends: float = 0.95
    row: float = 0.16
    series: float = 0.13
    spread: float = 0.62
    line: float = 1.3
    mark: float = 4.5
    limits: tuple[float, float] = (-0.04, 1.04)
    ticks: Sequence[float] | None = (0, 0.5, 1)
    rules: bool = False
    columns: int = 4  # of the legend, at most


def row_panels(rows: Sequence[str], panels: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Panels beside each other that share their rows, the first at the top. To be called within `styled`."""
    fig = Figure(figsize=(width, height), layout="constrained")
    axes = list(fig.subplots(1, panels, sharey=True, squeeze=False)[0])
    axes[0].set_yticks(range(len(rows)), rows)
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    for ax in axes:
        ax.grid(axis="x")
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
    return fig, axes


def interval_plot(
    tables: Mapping[str, pd.DataFrame],
    row: str,
    width: float,
    *,
    series: str | None = None,
    units: Mapping[str, str] | None = None,
    look: Look = Look(),
) -> Figure:
    """One panel a table: a mark with its interval for each row, or each row and series, which differ in marker.

    Frames have the columns `row` and `series`, and value, low and high, missing where there is none. `units` are the
    labels of the x axes by panel.
    """
    frame = pd.concat(tables.values(), ignore_index=True)
    rows = list(dict.fromkeys(frame[row].astype(str)))
    kinds = list(dict.fromkeys(frame[series].astype(str))) if series else [""]
    with styled():
        height = look.ends + (look.row + look.series * len(kinds)) * len(rows)
        fig, axes = row_panels(rows, len(tables), width, height)
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            for number, kind in enumerate(kinds):
                points = (table[table[series].astype(str) == kind] if series else table).dropna(subset=["value"])
                shift = (number - (len(kinds) - 1) / 2) * look.spread / max(2, len(kinds))
                heights = np.array([rows.index(str(label)) for label in points[row]], dtype=float) + shift
                colour, marker = colours(len(kinds))[number], MARKERS[number % len(MARKERS)]
                low, high, value = (points[name].astype(float) for name in ("low", "high", "value"))
                ax.hlines(heights, low, high, color=colour, lw=look.line)
                ax.plot(value, heights, marker, color=colour, mec="black", mew=0.4, ms=look.mark, ls="", label=kind)
            ax.set_title(title)
            ax.set_xlabel((units or {}).get(title, ""))
            ax.set_xlim(look.limits)
            if look.ticks is None:
                ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
            else:
                ax.set_xticks(look.ticks, [f"{tick:g}" for tick in look.ticks])
            for edge in range(1, len(rows) if look.rules else 0):
                ax.axhline(edge - 0.5, color="0.85", lw=0.5)
        if series:
            handles, names = axes[0].get_legend_handles_labels()
            fig.legend(handles, names, loc="outside lower center", ncols=min(look.columns, max(1, len(names))))
        return fig
