"""Drawings of the study in the style of the thesis's figures: estimates and curves in, figure out."""

from collections.abc import Mapping

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ovrag_core.evaluation import Estimate, RiskCoverage, least_risk
from ovrag_core.report import GREY, MARKERS, MISSING, colours, row_panels, styled

LINES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), ":")
OURS = "#0b5c8a"
_SIDE_BY_SIDE = 3
LABELS = {"E": "entailed", "C": "contradicted", "U": "neither"}  # what the graph says of a card


def forms(rows: Mapping[str, Mapping[str, Estimate]], pairs: Mapping[str, str], width: float) -> Figure:
    """A panel a pair of metrics, published (hollow squares) and corrected (points with intervals), a row a system."""
    with styled():
        fig, axes = row_panels(list(rows), len(pairs), width, 0.95 + 0.27 * len(rows))
        for ax, (old, new) in zip(axes, pairs.items(), strict=True):
            for row, scores in enumerate(rows.values()):
                _both(ax, row, scores[old], scores[new])
            ax.set_title(f"{old}, {new}")
            ax.set_xlim(-0.06, 1.06)
            ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes[0].plot([], [], "s", mfc="white", mec="black", ms=5, ls="", label="as published")
        axes[0].plot([], [], "o", color=OURS, ms=4.5, ls="", label="corrected, with interval")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return fig


def _both(ax: Axes, place: int, old: Estimate, new: Estimate) -> None:
    above, below = place - 0.17, place + 0.17
    for height in (at for at, shown in ((above, old), (below, new)) if shown.value is None):
        ax.text(0.5, height, MISSING, ha="center", va="center", color=GREY, fontsize=6)
    if old.value is not None:
        ax.plot(old.value, above, "s", mfc="white", mec="black", ms=4.5, mew=0.8)
    if new.low is not None and new.high is not None:
        ax.hlines(below, new.low, new.high, color=OURS, lw=1.6)
    if new.value is not None:
        ax.plot(new.value, below, "o", ms=4.5, color=OURS)


def risk_and_coverage(curves: Mapping[str, RiskCoverage], answerable: int, width: float) -> Figure:
    """Share of errors among the surest answers against their share of all cards, a line an arm.

    A mark ends what an arm answers by itself; what it would be made to answer is thin. Dotted: the least there can be,
    where `answerable` cards have an answer.
    """
    with styled():
        fig = Figure(figsize=(width, 3.1), layout="constrained")
        ax = fig.subplots()
        for number, ((name, curve), colour) in enumerate(zip(curves.items(), colours(len(curves)), strict=True)):
            end = round(curve.answered * len(curve.coverage))
            line = LINES[number % len(LINES)]
            ax.plot(curve.coverage[:end], curve.risk[:end], ls=line, color=colour, lw=1.5)
            ax.plot(curve.coverage[max(0, end - 1) :], curve.risk[max(0, end - 1) :], ls=line, color=colour, lw=0.6)
            marker = MARKERS[number % len(MARKERS)]
            if end:
                ax.plot(curve.coverage[end - 1], curve.risk[end - 1], marker, color=colour, mec="black", mew=0.5, ms=6)
            ax.plot([], [], ls=line, marker=marker, color=colour, mec="black", mew=0.5, ms=5, label=name)
        if curves:
            first_curve = next(iter(curves.values()))
            least = least_risk(len(first_curve.coverage), answerable)
            ax.plot(first_curve.coverage, least, ls=(0, (1, 1)), color="black", lw=1, label="least possible")
        ax.set_xlim(0, 1.01)
        ax.set_xlabel("share of cards answered, the surest first")
        ax.set_ylabel("share of the answered that is wrong")
        ax.xaxis.set_major_formatter(PercentFormatter(1))
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set_ylim(-0.02)
        ax.grid()
        fig.legend(loc="outside right center")
        return fig


def confusion(tables: Mapping[str, pandas.DataFrame], width: float) -> Figure:
    """Counts of gold (rows) against answered (columns), three tables side by side, each row shaded by its shares."""
    with styled():
        rows = max(1, -(-len(tables) // _SIDE_BY_SIDE))
        fig = Figure(figsize=(width, 1.55 * rows + 0.1), layout="constrained")
        axes = fig.subplots(rows, _SIDE_BY_SIDE, squeeze=False).ravel()
        for number, (ax, (title, table)) in enumerate(zip(axes, tables.items(), strict=False)):
            counts = table.to_numpy(dtype=float)
            sums = counts.sum(axis=1, keepdims=True)
            shares = numpy.divide(counts, sums, out=numpy.zeros_like(counts), where=sums > 0)
            ax.imshow(shares, cmap="Blues", vmin=0, vmax=1.2, aspect="auto")
            for (row, column), share in numpy.ndenumerate(shares):
                text = f"{counts[row, column]:.0f}\n{share:.0%}"
                ink = "white" if share > 0.6 else "black"
                ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=6.5)
            ax.set_title(title)
            ax.set_xticks(range(len(table.columns)), table.columns)
            labels = [LABELS.get(str(label), str(label)) for label in table.index]
            ax.set_yticks(range(len(labels)), [] if number % _SIDE_BY_SIDE else labels)
            ax.tick_params(length=0)
            ax.spines[:].set_visible(False)
        for ax in axes[len(tables) :]:
            ax.set_axis_off()
        return fig
