"""Drawings of the study in the style of the thesis's figures: frames in, figure out."""

from collections.abc import Mapping, Sequence

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ovrag_core.report import MARKERS, colours, styled
from ovrag_studies.contract_review.measures.answer_metrics import AnsweredQuestion, risk_coverage

LINES = ("-", "--", ":", "-.")


def dots(tables: Mapping[str, pandas.DataFrame], width: float, *, label: str) -> Figure:
    """One panel a table: rows × series, a marker each, one row below the other; series differ in marker and colour."""
    with styled():
        names = next(iter(tables.values())).index
        rows = len(names)
        fig = Figure(figsize=(width, 0.95 + 0.27 * rows), layout="constrained")
        axes = fig.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            _series(ax, table)
            ax.set_title(title)
            ax.set_xlabel(label)
        axes[0].set_yticks(range(rows), [str(name) for name in names])
        axes[0].set_ylim(rows - 0.5, -0.5)
        handles, labels = axes[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)))
        return fig


def _series(ax: Axes, table: pandas.DataFrame) -> None:
    count = len(table.columns)
    for index, (name, colour) in enumerate(zip(table.columns, colours(count), strict=True)):
        shifted = numpy.arange(len(table.index)) + (index - (count - 1) / 2) * 0.7 / max(2, count)
        marker = MARKERS[index % len(MARKERS)]
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
                label_once = others if name == next(key for key in drawn if key in marks) else "_"
                ax.plot(marks[name], row, "D", mfc="white", mec="black", ms=5, mew=0.9, zorder=5, label=label_once)
        ax.set_yticks(range(len(drawn)), list(drawn))
        ax.set_ylim(len(drawn) - 0.5, -0.5)
        ax.set_xlabel(label)
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        if marks:
            fig.legend(loc="outside lower center")
        return fig


def presence(asked: Mapping[str, Sequence[AnsweredQuestion]], width: float) -> Figure:
    """Plot presence scores of items that are there and that are not, and risk against coverage of each arm."""
    with styled():
        fig = Figure(figsize=(width, 2.7), layout="constrained")
        panels = fig.subplots(1, len(asked) + 1)
        for ax, (name, questions) in zip(panels, asked.items(), strict=False):
            present = [question.present for question in questions if question.gold]
            absent = [question.present for question in questions if not question.gold]
            edges = numpy.linspace(0, 1, 21)
            ax.hist(present, bins=edges, color="#0b5c8a", ec="white", lw=0.3, label="there")
            ax.hist(absent, bins=edges, histtype="step", color="black", hatch="////", lw=0.8, label="not there")
            ax.set_title(name)
            ax.set_xlabel("presence score")
        panels[0].set_ylabel("questions")
        ax = panels[-1]
        for (name, questions), line, colour in zip(asked.items(), LINES, colours(len(asked)), strict=False):
            curve = risk_coverage(questions)
            ax.plot(curve[:, 0], curve[:, 1], ls=line, color=colour, label=name)
        ax.set_title("risk and coverage")
        ax.set_xlabel("questions decided")
        ax.set_ylabel("share of the decided that is wrong")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(PercentFormatter(1))
        ax.set_ylim(0)
        ax.grid()
        handles = [handle for panel in panels[[0, -1]] for handle in panel.get_legend_handles_labels()[0]]
        fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return fig
