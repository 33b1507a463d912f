"""Drawings of the questions half in the style of the thesis's figures: frames in, figure out."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.ticker import PercentFormatter

from ovrag_core.report.figures import GREY, HATCHES, MARKERS, colours, styled
from ovrag_studies.causal.questions.question_inside import Drawn

BLUE = "#0b5c8a"
SHADES = (BLUE, "#f2d49b", "#8fbcd4", "0.93", "0.6", "white")
LINES = ("-", "--", "-.", ":")
ACTED, ASKED, PLAIN = "#f2d49b", "#8fbcd4", "white"
_LETTERS = 15  # in a line of a node's name
_HEIGHT = 0.55  # inches of a node and the gap below it


def accuracies(tables: Mapping[str, pandas.DataFrame], width: float) -> Figure:
    """A panel a table, a row a group of questions: the share right with its interval, published ones hollow.

    Frames have the columns row, value, low, high, n and published.
    """
    with styled():
        rows = [len(table) for table in tables.values()]
        fig = Figure(figsize=(width, 0.9 + 0.19 * sum(rows)), layout="constrained")
        axes = fig.subplots(len(tables), 1, sharex=True, squeeze=False, height_ratios=rows)[:, 0]
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            _marks(ax, table)
            ax.set_title(title, loc="left")
        axes[-1].set_xlabel("share of questions answered as labelled")
        axes[-1].xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        handles = [
            Line2D([], [], marker="o", ms=4.5, color=BLUE, lw=1.3, label="measured, with interval"),
            Line2D([], [], marker="D", mfc="white", mec="black", ms=4.5, ls="", label="as published, on the benchmark"),
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=2)
        return fig


def _marks(ax: Axes, table: pandas.DataFrame) -> None:
    places = numpy.arange(len(table))
    for place, row in zip(places, table.to_dict("records"), strict=True):
        if row["published"]:
            ax.plot(row["value"], place, "D", mfc="white", mec="black", ms=4.5, mew=0.8, zorder=4)
            continue
        if not pandas.isna(row["low"]):
            ax.hlines(place, row["low"], row["high"], color=BLUE, lw=1.3)
        ax.plot(row["value"], place, "o", color=BLUE, ms=4.5, zorder=3)
    labels = [f"{row}, n = {n:,.0f}" for row, n in zip(table["row"], table["n"], strict=True)]
    ax.set_yticks(places, labels)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(0, 1.03)
    ax.grid(axis="x")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)


def outcomes(tables: Mapping[str, pandas.DataFrame], parts: Sequence[str], width: float) -> Figure:
    """A panel a table, a bar a type of question, divided into shares by what became of it: types × `parts`."""
    with styled():
        rows = [len(table) for table in tables.values()]
        fig = Figure(figsize=(width, 1.15 + 0.24 * sum(rows)), layout="constrained")
        axes = fig.subplots(len(tables), 1, sharex=True, squeeze=False, height_ratios=rows)[:, 0]
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            _bars(ax, table, parts)
            ax.set_title(title, loc="left")
        axes[-1].set_xlabel("share of the questions of a type")
        axes[-1].xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        handles = [
            Patch(fc=SHADES[place], ec="black", lw=0.4, hatch=HATCHES[place % len(HATCHES)], label=part)
            for place, part in enumerate(parts)
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=3)
        return fig


def _bars(ax: Axes, table: pandas.DataFrame, parts: Sequence[str]) -> None:
    totals = table[list(parts)].sum(axis=1).to_numpy(dtype=float)
    left = numpy.zeros(len(table))
    for place, part in enumerate(parts):
        counts = table[part].to_numpy(dtype=float)
        shares = counts / numpy.maximum(1, totals)
        hatch = HATCHES[place % len(HATCHES)]
        ax.barh(range(len(table)), shares, left=left, color=SHADES[place], ec="black", lw=0.4, hatch=hatch, height=0.72)
        for row, (count, share, start) in enumerate(zip(counts, shares, left, strict=True)):
            if share >= 0.03:
                box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.85}
                ax.text(start + share / 2, row, f"{count:.0f}", ha="center", va="center", fontsize=6, bbox=box)
        left += shares
    ax.set_yticks(range(len(table)), [str(each) for each in table.index])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.tick_params(axis="y", length=0)


def effects(table: pandas.DataFrame, width: float) -> Figure:
    """A row a model: the effect as it is, as it looks, and as the graph lets one compute it, or the bounds of it.

    Frames have the columns model, truth, naive, estimate, low and high, missing where there is none.
    """
    with styled():
        fig = Figure(figsize=(width, 1.0 + 0.3 * len(table)), layout="constrained")
        ax = fig.subplots()
        places = numpy.arange(len(table))
        ax.hlines(places, table["low"].astype(float), table["high"].astype(float), color="0.75", lw=6, zorder=1)
        look = (
            ("naive", "X", colours(4)[1], 6.0, "as it looks, confounding ignored"),
            ("estimate", "o", "white", 8.0, "computed from observations"),
            ("truth", ".", "black", 5.0, "as it is in the model"),
        )
        for name, marker, colour, size, _ in look:
            ax.plot(table[name].astype(float), places, marker, color=colour, mec="black", mew=0.8, ms=size, ls="")
        ax.axvline(0, color=GREY, lw=0.8, ls=(0, (4, 3)), zorder=0)
        ax.set_yticks(places, [textwrap.fill(str(name), 26) for name in table["model"]])
        ax.set_ylim(len(table) - 0.5, -0.5)
        ax.set_xlabel("effect of x on the probability of y (difference)")
        ax.grid(axis="x")
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        handles = [Line2D([], [], color="0.75", lw=6, label="bounds, where it is not identified")]
        handles += [
            Line2D([], [], marker=marker, color=colour, mec="black", mew=0.8, ms=size, ls="", label=label)
            for _, marker, colour, size, label in look
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=2)
        return fig


def stability(curves: Mapping[str, Sequence[tuple[float, float]]], epsilon: float, width: float) -> Figure:
    """How unstable an effect is by how much the context matters: a line a way in which it does, and what is allowed."""
    with styled():
        fig = Figure(figsize=(width, 2.2), layout="constrained")
        ax = fig.subplots()
        for (name, points), line, colour, marker in zip(
            curves.items(), LINES, colours(len(curves)), MARKERS, strict=False
        ):
            at, values = zip(*points, strict=True)
            ax.plot(at, values, ls=line, color=colour, marker=marker, ms=3, markevery=4, lw=1.3, label=name)
        ax.axhline(epsilon, color="black", lw=0.8, ls=(0, (4, 3)), label=f"allowed, ε = {epsilon:g}")
        ax.set(xlabel="strength of the context, 0 to 1", ylabel="Δ, Jensen–Shannon\ndistance, 0 to 1")
        ax.set_xlim(0, 1)
        ax.set_ylim(bottom=0)
        ax.grid()
        ax.set_axisbelow(True)
        fig.legend(loc="outside right center")
        return fig


# Graphs


def graphs(drawn: Mapping[str, Drawn], width: float) -> Figure:
    """A panel a graph, causes to the left of their effects; hidden variables are dashed, as are causes that prevent."""
    with styled():
        if not drawn:
            fig = Figure(figsize=(width, 0.6))
            fig.text(0.5, 0.5, "no graph was read", ha="center", va="center", color=GREY)
            return fig
        layouts = {title: _places(each) for title, each in drawn.items()}
        heights = [max(2, *(len(column) for column in columns)) + 0.4 for columns in layouts.values()]
        fig = Figure(figsize=(width, 0.6 + sum(_HEIGHT * each + 0.2 for each in heights)), layout="constrained")
        axes = fig.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)[:, 0]
        for ax, (title, each), height in zip(axes, drawn.items(), heights, strict=True):
            _draw(ax, each, layouts[title])
            top = max(map(len, layouts[title])) / 2 + 0.1
            ax.set_ylim(top - height - 0.2, top)
            ax.set_title(textwrap.fill(title, 84), loc="left")
        handles = [
            Patch(fc=ACTED, ec="black", lw=0.6, label="acted on"),
            Patch(fc=ASKED, ec="black", lw=1.6, label="asked about"),
            Patch(fc=PLAIN, ec="black", lw=0.6, ls="--", label="unobserved"),
            Line2D([], [], color="black", lw=1, label="brings about"),
            Line2D([], [], color="black", lw=1, ls="--", label="keeps away"),
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return fig


def _places(drawn: Drawn) -> list[list[str]]:
    """Columns of variables: each to the right of its causes, as far as there is no cycle."""
    depth = dict.fromkeys(drawn.nodes, 0)
    for _ in drawn.nodes:
        for arrow in drawn.arrows:
            depth[arrow.effect] = min(len(depth) - 1, max(depth[arrow.effect], depth[arrow.cause] + 1))
    columns = [[name for name in drawn.nodes if depth[name] == place] for place in sorted(set(depth.values()))]
    for before, column in pairwise(columns):
        column.sort(key=lambda name: _middle(drawn, name, before))
    return columns


def _middle(drawn: Drawn, name: str, before: Sequence[str]) -> float:
    """Where the causes of a variable stand in the column before it, on average."""
    causes = [before.index(each.cause) for each in drawn.arrows if each.effect == name and each.cause in before]
    return sum(causes) / len(causes) if causes else len(before)


def _draw(ax: Axes, drawn: Drawn, columns: Sequence[Sequence[str]]) -> None:
    tallest = max(map(len, columns))
    at = {
        name: (float(x), tallest / 2 - (row + 0.5) * tallest / len(column) + _shift(x, len(column), columns))
        for x, column in enumerate(columns)
        for row, name in enumerate(column)
    }
    boxes = {name: _node(ax, name, place, drawn) for name, place in at.items()}
    for arrow in drawn.arrows:
        far = abs(at[arrow.effect][0] - at[arrow.cause][0]) != 1
        ax.add_patch(
            FancyArrowPatch(
                at[arrow.cause],
                at[arrow.effect],
                arrowstyle="-|>",
                mutation_scale=8,
                shrinkA=2,
                shrinkB=2,
                patchA=boxes[arrow.cause],
                patchB=boxes[arrow.effect],
                connectionstyle=f"arc3,rad={0.28 if far else 0.0}",
                ls="--" if arrow.prevents else "-",
                lw=0.9,
                color="black",
                zorder=1,
            )
        )
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_axis_off()


def _shift(column: int, size: int, columns: Sequence[Sequence[str]]) -> float:
    """Single variables stand alternately above and below the middle, so that arrows past them stay in sight."""
    if size > 1 or max(map(len, columns)) > 1 or len(columns) < 3:
        return 0.0
    return 0.12 if column % 2 else -0.12


def _node(ax: Axes, name: str, at: tuple[float, float], drawn: Drawn) -> Patch:
    colour = ACTED if name in drawn.acted else ASKED if name in drawn.asked else PLAIN
    style = "--" if name in drawn.hidden else "-"
    edge = 1.6 if name in drawn.asked else 0.6
    box = {"boxstyle": "round,pad=0.35", "fc": colour, "ec": "black", "lw": edge, "ls": style}
    text = ax.text(*at, textwrap.fill(name, _LETTERS), ha="center", va="center", fontsize=7, bbox=box, zorder=3)
    patch = text.get_bbox_patch()
    assert patch is not None
    return patch
