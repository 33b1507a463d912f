"""Drawings of the study in the style of the thesis's figures: frames in, figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from ovrag_core.report.figures import GREY, MARKERS, colours, styled

LINES = ("-", "--", ":", "-.")


def dots(
    tables: Mapping[str, pandas.DataFrame], width: float, *, label: str, limits: tuple[float, float] | None = None
) -> Figure:
    """One panel a table: rows × series, a marker each, one row below the other; series differ in marker and colour."""
    with styled():
        first = next(iter(tables.values()))
        rows = len(first.index)
        fig = Figure(figsize=(width, 0.95 + 0.27 * rows), layout="constrained")
        axes = fig.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            _series(ax, table)
            ax.set_title(title)
            ax.set_xlabel(label)
            if limits:
                ax.set_xlim(*limits)
        axes[0].set_yticks(range(rows), [str(row) for row in first.index])
        axes[0].set_ylim(rows - 0.5, -0.5)
        handles, names = axes[0].get_legend_handles_labels()
        fig.legend(handles, names, loc="outside lower center", ncols=min(4, len(names)))
        return fig


def _series(ax: Axes, table: pandas.DataFrame) -> None:
    count = len(table.columns)
    for place, (name, colour) in enumerate(zip(table.columns, colours(count), strict=True)):
        shifted = numpy.arange(len(table.index)) + (place - (count - 1) / 2) * 0.7 / max(2, count)
        marker = MARKERS[place % len(MARKERS)]
        ax.plot(table[name], shifted, marker=marker, ms=4, ls="", color=colour, mec="black", mew=0.4, label=str(name))
    ax.grid(axis="x")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)


def spreads(
    drawn: Mapping[str, Sequence[float]], marks: Mapping[str, float], width: float, *, label: str, others: str
) -> Figure:
    """One row a key: every draw as a dot, a box from quartile to quartile, whiskers to the central 95%.

    `marks` are values from elsewhere, hollow diamonds, called `others`.
    """
    with styled():
        fig = Figure(figsize=(width, 0.9 + 0.36 * len(drawn)), layout="constrained")
        ax = fig.subplots()
        chance = numpy.random.default_rng(0)
        for row, values in enumerate(drawn.values()):
            ax.plot(values, row + chance.uniform(-0.3, 0.3, len(values)), ".", ms=2.5, color="0.72", zorder=1)
        ax.boxplot(
            [list(values) for values in drawn.values()],
            positions=list(range(len(drawn))),
            whis=(2.5, 97.5),
            showfliers=False,
            orientation="horizontal",
            widths=0.42,
            medianprops={"color": "black", "lw": 1.4},
        )
        for row, name in enumerate(drawn):
            if name in marks:
                label_once = others if name == next(each for each in drawn if each in marks) else "_"
                ax.plot(marks[name], row, "D", mfc="white", mec="black", ms=5, mew=0.9, zorder=5, label=label_once)
        ax.set_yticks(range(len(drawn)), list(drawn))
        ax.set_ylim(len(drawn) - 0.5, -0.5)
        ax.set_xlabel(label)
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        if marks:
            fig.legend(loc="outside lower center")
        return fig


def presence(
    given: Mapping[str, tuple[Sequence[float], Sequence[bool]]], curves: Mapping[str, numpy.ndarray], width: float
) -> Figure:
    """How presence scores lie for items that are there and that are not, and risk against coverage of each arm."""
    with styled():
        fig = Figure(figsize=(width, 2.7), layout="constrained")
        parts = fig.subplots(1, len(given) + 1)
        for ax, (name, (scores, truth)) in zip(parts, given.items(), strict=False):
            there = [score for score, is_there in zip(scores, truth, strict=True) if is_there]
            absent = [score for score, is_there in zip(scores, truth, strict=True) if not is_there]
            edges = numpy.linspace(0, 1, 21)
            ax.hist(there, bins=edges, color="#0b5c8a", ec="white", lw=0.3, label="there")
            ax.hist(absent, bins=edges, histtype="step", color="black", hatch="////", lw=0.8, label="not there")
            ax.set_title(name)
            ax.set_xlabel("presence score")
        parts[0].set_ylabel("questions")
        ax = parts[-1]
        for (name, curve), line, colour in zip(curves.items(), LINES, colours(len(curves)), strict=False):
            ax.plot(curve[:, 0], curve[:, 1], ls=line, color=colour, label=name)
        ax.set_title("risk and coverage")
        ax.set_xlabel("questions decided")
        ax.set_ylabel("of those wrong")
        ax.xaxis.set_major_formatter(PercentFormatter(1))
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set_ylim(0)
        ax.grid()
        handles = [each for part in parts[[0, -1]] for each in part.get_legend_handles_labels()[0]]
        fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return fig


def precision_recall(
    curves: Mapping[str, numpy.ndarray], published: Mapping[str, float], width: float, recall: float = 0.8
) -> Figure:
    """Precision against recall over pooled spans; diamonds are published precisions at that recall."""
    with styled():
        fig = Figure(figsize=(width * 0.72, 2.9), layout="constrained")
        ax = fig.subplots()
        for (name, curve), line, colour in zip(curves.items(), LINES, colours(len(curves)), strict=False):
            ax.plot(curve[:, 0], curve[:, 1], ls=line, color=colour, label=name)
        for (name, value), marker in zip(published.items(), ("D", "s", "^", "v"), strict=False):
            ax.plot(recall, value, marker, mfc="white", mec="black", ms=5, ls="", label=f"{name} (published)")
        ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
        ax.axvline(recall, color=GREY, lw=0.6, ls=":")
        ax.grid()
        ax.legend(loc="lower left")
        return fig


def by_size(table: pandas.DataFrame, width: float, *, label: str) -> Figure:
    """A value with its interval against the number of contracts, a line for each scope."""
    with styled():
        fig = Figure(figsize=(width * 0.72, 2.5), layout="constrained")
        ax = fig.subplots()
        scopes = list(dict.fromkeys(table["scope"]))
        for scope, line, marker, colour in zip(scopes, LINES, MARKERS, colours(len(scopes)), strict=False):
            part = table[table["scope"] == scope]
            low, high = part["value_low"].astype(float), part["value_high"].astype(float)
            ax.fill_between(part["contracts"].astype(float), low, high, color=colour, alpha=0.15, lw=0)
            ax.plot(part["contracts"], part["value"], ls=line, marker=marker, ms=4, color=colour, label=scope)
        sizes = sorted(set(table["contracts"]))
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(sizes))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.set(ylim=(0, 1.03), xlabel="contracts searched together", ylabel=label)
        ax.grid()
        ax.legend(loc="lower left")
        return fig


def beside(measured: pandas.DataFrame, published: Mapping[str, float], width: float, *, label: str) -> Figure:
    """Rows of `measured` (arm, value, value_low, value_high) as points, and published values of others as diamonds."""
    with styled():
        names = [*measured["arm"], *published]
        fig = Figure(figsize=(width * 0.8, 0.8 + 0.25 * len(names)), layout="constrained")
        ax = fig.subplots()
        ours = len(measured)
        ax.hlines(range(ours), measured["value_low"], measured["value_high"], color="#0b5c8a", lw=1.6)
        ax.plot(measured["value"], range(ours), "o", ms=4.5, color="#0b5c8a", label="measured, with interval")
        places = range(ours, len(names))
        ax.plot(list(published.values()), places, "D", mfc="white", mec="black", ms=4.5, mew=0.8, label="as published")
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set(xlim=(0, 1.03), xlabel=label)
        ax.grid(axis="x")
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        fig.legend(loc="outside lower center", ncols=2)
        return fig
