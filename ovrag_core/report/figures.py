"""Figures for print: text width, readable in grey, the same bytes on every build. Data in, figure out, no state.

Colours are from seaborn's "colorblind" palette and differ in lightness; series differ in hatch or marker besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ovrag_core.report.tables import MISSING, Note, escape

FIGURES = Path("figures")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")
GREY = "0.35"
BLUE = "#0b5c8a"
PUBLISHED: Mapping[str, Any] = {"marker": "D", "mfc": "white", "mec": "black", "ms": 4.5, "mew": 0.8}  # its marks
BOXES: Mapping[str, Any] = {
    "orientation": "horizontal",
    "whis": (5, 95),
    "patch_artist": True,
    "manage_ticks": False,
    "medianprops": {"color": "black", "lw": 1},
    "flierprops": {"marker": ".", "ms": 1.6, "mec": "0.45", "mfc": "0.45"},
    **{part: {"lw": 0.6} for part in ("boxprops", "whiskerprops", "capprops")},
}
_MOST_SHADES = 8
_BINS = 40  # of a histogram
_MOST_MATRICES = 3  # side by side
_LONGEST_LABEL = 14  # characters of a contract or question on an axis

RC: Mapping[str, object] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine has it
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": "0.85",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "svg.hashsalt": "ovrag",
}


def styled() -> AbstractContextManager[None]:
    """Matplotlib's defaults with our settings on top, whatever the notebook or the user has set."""
    return style.context(["default", dict(RC)])


def save_figure(
    fig: Figure, name: str, *, caption: str = "", note: Note | None = None, folder: Path = FIGURES, label: str = ""
) -> Path:
    """Write `<name>.pdf` and `<name>.png` without dates, and, with a caption, `<name>.tex` that includes the PDF.

    `name` may begin with a folder; `label` is what LaTeX knows the figure by where that is not the name.
    Returns the path of the PNG.
    """
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    with styled():
        fig.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
        fig.savefig(folder / f"{name}.png", metadata={"Software": None})
    if caption:
        text = f"{escape(caption)} {escape(note.sentence()) if note else ''}".strip()
        lines = [
            r"\begin{figure}[htbp]",
            r"\centering",
            rf"\includegraphics[width=\textwidth]{{figures/{name}.pdf}}",
            rf"\caption[{escape(caption)}]{{{text}}}",
            rf"\label{{fig:{(label or name).replace('_', '-')}}}",
            r"\end{figure}",
        ]
        (folder / f"{name}.tex").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return folder / f"{name}.png"


def clipped(label: str) -> str:
    """A label that leaves room for the picture."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def colours(count: int) -> list[str]:
    """So many colours, told apart by the colour-blind and, by lightness, in grey."""
    chosen = [sns.color_palette("colorblind").as_hex()[i] for i in (0, 1, 2, 4, 8, 7, 5)]
    return [chosen[i % len(chosen)] for i in range(count)]


def sentence(text: str, width: float) -> Figure:
    """A figure that only says why there is nothing to draw."""
    with styled():
        fig = Figure(figsize=(width, 0.7))
        fig.text(0.5, 0.5, text, ha="center", va="center", color=GREY)
        return fig


def rates_by_group(
    table: pd.DataFrame,
    group: str,
    names: Mapping[str, str],
    width: float,
    *,
    published: Mapping[str, Mapping[str, float]],
) -> Figure:
    """One panel a rate, from 0 to 1: a point with its interval per group; hollow diamonds are published values.

    `table` has the group's column and, for each of `names` (column → title), the column, `_low` and `_high`.
    `published` are by group and rate.
    """
    with styled():
        groups = table[group].tolist()
        fig, axes = row_panels(groups, len(names), width, 0.75 + 0.29 * max(1, len(groups)))
        for ax, (name, title) in zip(axes, names.items(), strict=True):
            _points(ax, table, name)
            for row, item in enumerate(groups):
                if name in published.get(item, {}):
                    ax.plot(published[item][name], row + 0.23, ls="", zorder=4, **PUBLISHED)
            ax.set_title(title)
            if table[name].isna().all():
                ax.set_xticks([])
            else:
                ax.set_xlim(-0.03, 1.03)
        if any(name in published.get(item, {}) for item in groups for name in names):
            measured = Line2D([], [], marker="o", ms=4.5, color=BLUE, lw=1.6, label="measured, with interval")
            handles = [measured, Line2D([], [], ls="", label="as published", **PUBLISHED)]
            fig.legend(handles=handles, loc="outside lower center", ncols=2)
        return fig


def row_panels(rows: Sequence[str], panels: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Panels beside each other that share their rows, the first at the top. To be called within `styled`."""
    fig = Figure(figsize=(width, height), layout="constrained")
    axes = list(fig.subplots(1, panels, sharey=True, squeeze=False)[0])
    axes[0].set_yticks(range(len(rows)), rows)
    axes[0].set_ylim(max(1, len(rows)) - 0.5, -0.5)
    for ax in axes:
        ax.grid(axis="x")
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
    return fig, axes


@dataclass(frozen=True, slots=True)
class Look:
    """Sizes of a plot: inches above and below, of a row and of a series in it; points of lines and marks.

    `spread` is the part of a row that its series share. `ticks` of None are found by the values.
    """

    ends: float = 0.95
    row: float = 0.16
    series: float = 0.13
    spread: float = 0.62
    line: float = 1.3
    mark: float = 4.5
    limits: tuple[float, float] = (-0.04, 1.04)
    ticks: Sequence[float] | None = (0, 0.5, 1)
    columns: int = 4  # of the legend, at most


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
        if series:
            handles, names = axes[0].get_legend_handles_labels()
            fig.legend(handles, names, loc="outside lower center", ncols=min(look.columns, max(1, len(names))))
        return fig


def grid_of_cells(
    tables: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, tuple[str, str]],
    width: float,
    groups: Sequence[str] = (),
) -> Figure:
    """Many coloured cells, one row of panels per key: frames of kinds, questions × the same contracts.

    `kinds` maps a cell's value to (legend, colour). `groups` names a group for each column; a line parts neighbours
    that differ, and the group's name stands above.
    """
    with styled():
        rows = max((len(table.index) for table in tables.values()), default=1)
        height = 0.75 + len(tables) * (0.16 * rows + 0.26)
        fig = Figure(figsize=(width, height), layout="constrained")
        axes = fig.subplots(max(1, len(tables)), 1, sharex=True, squeeze=False)[:, 0]
        codes = {kind: code for code, kind in enumerate(kinds)}
        palette = ListedColormap([colour for _, colour in kinds.values()])
        norm = BoundaryNorm(np.arange(len(kinds) + 1) - 0.5, len(kinds))
        for ax, (title, table) in zip(axes, tables.items(), strict=False):
            values = table.map(lambda kind: codes.get(kind, np.nan)).to_numpy(dtype=float)
            ax.pcolormesh(np.ma.masked_invalid(values), cmap=palette, norm=norm, edgecolor="white", linewidth=0.3)
            ax.set_yticks(np.arange(len(table.index)) + 0.5, [clipped(str(row)) for row in table.index])
            ax.invert_yaxis()
            ax.set_title(title, loc="left", pad=3)
            ax.tick_params(length=0)
            ax.spines[:].set_visible(False)
            for start, _ in _stretches(groups)[1:]:
                ax.axvline(start, color="black", linewidth=0.8)
        axes[0].set_ylabel("question")
        _name_groups(axes[0], groups)
        _sparse_ticks(axes[-1], [str(column) for column in next(iter(tables.values())).columns] if tables else [])
        axes[-1].set_xlabel("contract")
        present = {value for table in tables.values() for value in table.to_numpy().ravel()}
        handles = [
            Patch(fc=colour, ec=GREY, lw=0.3, label=text) for kind, (text, colour) in kinds.items() if kind in present
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=len(handles) or 1)
        return fig


def matrices(tables: Mapping[str, pd.DataFrame], width: float) -> Figure:
    """Queries by asked × answered contract as square matrices, one panel per key (at least one), on one scale.

    Zero is white, and the scale logarithmic for high counts. With many rows the labels are thinned out. The diagonal is
    where row and column name the same contract.
    """
    with styled():
        columns = min(_MOST_MATRICES, len(tables))
        rows_of_panels = -(-len(tables) // columns)
        height = rows_of_panels * ((width - 1.2) / columns + 0.2) + 0.15
        fig = Figure(figsize=(width, height), layout="constrained")
        axes = list(fig.subplots(rows_of_panels, columns, squeeze=False).ravel())
        for unused in axes[len(tables) :]:
            unused.set_axis_off()
        top = max([1, *(int(table.to_numpy().max()) for table in tables.values() if table.size)])
        few = top <= _MOST_SHADES
        # So many shades of blue, the lightest still seen on white paper.
        grey_blue = sns.light_palette("#0b3c5d", as_cmap=True)  # evenly darker, so that it prints as a grey scale
        shades = ListedColormap(sns.light_palette("#06283f", top + 2).as_hex()[2:]) if few else grey_blue
        norm = BoundaryNorm(np.arange(top + 1) + 0.5, top) if few else LogNorm(vmin=0.7, vmax=top)
        for panel, (title, table) in enumerate(tables.items()):
            ax = axes[panel]
            values = table.to_numpy(dtype=float)
            rows, places = np.nonzero(values)  # a square for each: most cells are empty
            corners = np.array([(0, 0), (0, 1), (1, 1), (1, 0)])
            squares = np.stack([places, rows], axis=1)[:, None, :] + corners
            image = PolyCollection(squares, cmap=shades, norm=norm, edgecolor="face", linewidth=0.4)
            image.set_array(values[rows, places])
            ax.add_collection(image)
            ax.set(xlim=(0, values.shape[1]), ylim=(values.shape[0], 0), aspect="equal")
            ax.spines[:].set_visible(True)
            ax.set_title(title)
            _sparse_ticks(ax, [str(column) for column in table.columns], most=5)
            _sparse_ticks(ax, [str(row) for row in table.index], axis="y", most=5)
            if panel % columns == 0:
                ax.set_ylabel("asked contract")
            ax.set_xlabel("answered contract")
        bar = fig.colorbar(image, ax=list(axes), shrink=0.5, aspect=18, label="queries")
        if few:
            bar.set_ticks(range(1, top + 1), labels=[str(count) for count in range(1, top + 1)])
        else:
            bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value >= 1 else ""))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        bar.ax.tick_params(length=0)
        bar.outline.set_linewidth(0.4)
        return fig


def log_histograms(samples: Mapping[str, pd.Series], width: float) -> Figure:
    """One histogram of seconds per key above each other on a shared logarithmic axis, with the median marked."""
    with styled():
        fig = Figure(figsize=(width, 0.55 + 0.62 * max(1, len(samples))), layout="constrained")
        axes = fig.subplots(max(1, len(samples)), 1, sharex=True, squeeze=False)[:, 0]
        positive = {key: values[values > 0] for key, values in samples.items()}
        every = pd.concat(list(positive.values())) if positive else pd.Series(dtype=float)
        edges = np.geomspace(0.001, 1, _BINS + 1)
        if len(every):
            low, high = float(every.min()), float(every.max())
            edges = np.geomspace(low, high * 1.0001 if high > low else low * 1.1, _BINS + 1)
        for ax, (title, values) in zip(axes, positive.items(), strict=False):
            ax.hist(values, bins=edges, color="#5b9bc2", ec="white", lw=0.3)
            if len(values):
                middle = float(values.median())
                ax.axvline(middle, color="black", lw=1, ls="--")
                ax.set_title(f"median {duration(middle)}, n = {len(values)}", loc="right", pad=2, fontsize=7)
            ax.set_title(title, loc="left", pad=2)
            ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        _seconds_axis(axes[-1])
        axes[len(axes) // 2].set_ylabel("queries")
        return fig


def part_distributions(
    frame: pd.DataFrame, parts: Sequence[str], width: float, published: Mapping[str, Mapping[str, float]]
) -> Figure:
    """Box plots of parts per arm on a logarithmic axis: box: quartiles, whiskers: 5th to 95th percentile.

    Zeros (parts that an arm does not have) are left out. Hollow diamonds are published medians (arm → part).
    """
    arms = list(dict.fromkeys(frame["arm"]))
    step = 0.8 / max(1, len(arms))
    heights = {(arm, p): row - 0.4 + step * (i + 0.5) for i, arm in enumerate(arms) for row, p in enumerate(parts)}
    medians = [(published[arm][p], y) for (arm, p), y in heights.items() if p in published.get(arm, {})]
    with styled():
        fig = Figure(figsize=(width, 0.8 + 0.16 * max(1, len(arms)) * len(parts)), layout="constrained")
        ax = fig.subplots()
        for median, y in medians:
            ax.plot(median, y, ls="", zorder=4, **PUBLISHED)
        handles: list[Patch | Line2D] = []
        for arm, colour, hatch in zip(arms, colours(len(arms)), HATCHES * len(arms), strict=False):
            rows = frame[frame["arm"] == arm]
            samples = {heights[arm, p]: rows.loc[rows[p] > 0, p].to_numpy() for p in parts if (rows[p] > 0).any()}
            if samples:
                boxes = ax.boxplot(list(samples.values()), positions=list(samples), widths=step * 0.75, **BOXES)
                for box in boxes["boxes"]:
                    box.set(facecolor=colour, alpha=0.85, hatch=hatch)
                handles.append(Patch(fc=colour, ec="black", lw=0.4, hatch=hatch, label=arm))
        ax.set_yticks(range(len(parts)), parts)
        ax.invert_yaxis()
        ax.tick_params(axis="y", length=0)
        for row in range(1, len(parts)):
            ax.axhline(row - 0.5, color="0.8", lw=0.5)
        _seconds_axis(ax)
        ax.grid(axis="x")
        ax.set_axisbelow(True)
        if medians:
            handles.append(Line2D([], [], ls="", label="median as published", **PUBLISHED))
        fig.legend(handles=handles, loc="outside upper center", ncols=min(6, len(handles)) or 1, columnspacing=1.2)
        return fig


def duration(seconds: float) -> str:
    """Seconds for people, with three significant digits: 1.2 ms, 350 ms, 4.1 s."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _points(ax: Axes, table: pd.DataFrame, name: str) -> None:
    columns = (table[column].astype(float) for column in (name, f"{name}_low", f"{name}_high"))
    for row, (value, low, high) in enumerate(zip(*columns, strict=True)):
        if np.isnan(value):
            ax.text(0.5, row, MISSING, transform=ax.get_yaxis_transform(), ha="center", va="center", color=GREY)
            continue
        if not np.isnan(low):
            ax.plot([low, high], [row, row], color=BLUE, lw=1.6, solid_capstyle="butt")
        ax.plot(value, row, marker="o", ms=4.5, color=BLUE, ls="", zorder=3)


def _stretches(groups: Sequence[str]) -> list[tuple[int, str]]:
    """Where each stretch of columns of one group begins, and the group."""
    return [(i, group) for i, group in enumerate(groups) if i == 0 or groups[i - 1] != group]


def _name_groups(ax: Axes, groups: Sequence[str]) -> None:
    """Names above the columns of each group, alternately lower and higher, as narrow groups have long names."""
    stretches = _stretches(groups)
    ends = [start for start, _ in stretches[1:]] + [len(groups)]
    for turn, ((start, group), end) in enumerate(zip(stretches, ends, strict=False)):
        position = ((start + end) / 2, 1 + (0.42 if turn % 2 else 0.24))
        name = group.replace("_", " ")
        ax.text(*position, name, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=6.5)


def _sparse_ticks(ax: Axes, labels: Sequence[str], axis: str = "x", most: int = 11) -> None:
    """Labels at cell centres, at most so many."""
    step = max(1, -(-len(labels) // most))
    step = next((nice for nice in (1, 2, 5, 10, 20, 25, 50, 100) if nice >= step), step)
    places = [i for i in range(len(labels)) if step == 1 or i == 0 or (i + 1) % step == 0]
    target = ax.xaxis if axis == "x" else ax.yaxis
    target.set_ticks([i + 0.5 for i in places], [clipped(labels[i]) for i in places])


def _seconds_axis(ax: Axes) -> None:
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    steps = (1.0,) if high / low > 500 else (1.0, 2.0, 5.0)
    ax.xaxis.set_major_locator(LogLocator(10, subs=steps, numticks=20))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("seconds per query")
