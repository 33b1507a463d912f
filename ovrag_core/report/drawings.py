"""Pictures of rates against each other, of the loop's course, and of quality for its price. Data in, figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ovrag_core.report.figures import GREY, MARKERS, colours, styled

QUALITIES: Mapping[str, str] = {"f1": "F1 of flagging", "rouge_l": "ROUGE-L of accepted answers"}
OUTCOME_LOOKS: Mapping[str, tuple[str, str, str]] = {  # outcome → legend, colour, hatch
    "accepted": ("accepted", "white", ""),
    "corrected": ("accepted after a correction", "#56b4e9", "////"),
    "source_finding": ("finding reported", "#0b5c8a", ""),
    "hard_rejected": ("refused", "#d55e00", "...."),
    "unchecked": ("unchecked", "0.65", "xxxx"),
    "error": ("failed", "0.3", ""),
    "again": ("asked again", "#e3b05a", ""),
}
_THINNEST = 0.02  # of a bar: what the legend names can be seen
_LEVELS = (0.2, 0.4, 0.6, 0.8)  # of F1
_LABEL_AT = 0.94  # recall at which they are named


def sentence(text: str, width: float) -> Figure:
    """A figure that only says why there is nothing to draw."""
    with styled():
        fig = Figure(figsize=(width, 0.7))
        fig.text(0.5, 0.5, text, ha="center", va="center", color=GREY)
        return fig


def rates_plane(
    table: pd.DataFrame, group: str, width: float, *, published: Mapping[str, Mapping[str, float]] | None = None
) -> Figure:
    """Precision against recall, a mark a group with the intervals of both; grey lines join points of equal F1.

    `table` has the group's column and precision and recall with `_low` and `_high`; a group without one of them is
    named in the legend and has no mark. Hollow marks are published values.
    """
    table = _with_floats(table, ["precision", "recall"])
    with styled():
        fig = Figure(figsize=(width, 0.6 * width), layout="constrained")
        ax = fig.subplots()
        _equal_f1(ax)
        handles: list[Line2D] = []
        without: list[Line2D] = []
        hollow = False
        names = table[group].tolist()
        for place, (_, row) in enumerate(table.iterrows()):
            name, colour, marker = str(row[group]), colours(len(names))[place], MARKERS[place % len(MARKERS)]
            known = not np.isnan(float(row["precision"])) and not np.isnan(float(row["recall"]))
            if known:
                _cross(ax, row, "recall", "precision", colour, marker)
            beside = (published or {}).get(name, {})
            if {"precision", "recall"} <= beside.keys():
                hollow = True
                ax.plot(
                    beside["recall"], beside["precision"], marker=marker, mfc="white", mec=colour, mew=1.2, ls="", ms=7
                )
            (handles if known else without).append(_handle(colour, marker if known else "", name))
        if hollow:
            handles.append(Line2D([], [], marker="o", mfc="white", mec="black", ls="", label="hollow: as published"))
        if without:
            lines = ["no precision:", *(str(handle.get_label()) for handle in without)]
            handles.append(Line2D([], [], ls="", label="\n".join(lines)))
        ax.set(xlim=(-0.02, 1.04), ylim=(-0.02, 1.04), xlabel="recall", ylabel="precision")
        fig.legend(handles=handles, loc="outside right center")
        return fig


def flow_bands(table: pd.DataFrame, arms: Sequence[str], outcomes: Sequence[str], width: float) -> Figure:
    """The course of queries: a bar an attempt, as high as the queries that entered it, a row of bars an arm.

    What a bar holds leaves with an outcome, or goes on as a band to the next bar. `table` has arm, attempt, entered, a
    column per outcome, and `again`.
    """
    if not arms:
        return sentence("No arm of this run validates, so no answer was asked for again.", width)
    with styled():
        fig = Figure(figsize=(width, 0.55 + 1.25 * len(arms)), layout="constrained")
        axes = fig.subplots(len(arms), 1, sharex=True, squeeze=False)[:, 0]
        last = int(table.loc[table["arm"].isin(list(arms)), "attempt"].max())
        used = set()
        for ax, arm in zip(axes, arms, strict=True):
            rows = table[table["arm"] == arm].sort_values("attempt")
            whole = float(rows["entered"].iloc[0])
            for _, row in rows.iterrows():
                used |= _bar(ax, row, [*outcomes], whole)
            ax.set_title(arm, loc="left", pad=4)
            ax.set_ylim(0, 1.08 * whole)
            ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        axes[-1].set_xlim(0.7, last + 0.5)
        axes[-1].set_xticks(range(1, last + 1), ["first answer", *(f"correction {n}" for n in range(1, last))])
        axes[len(axes) // 2].set_ylabel("queries")
        looks = [(name, OUTCOME_LOOKS[name]) for name in OUTCOME_LOOKS if name in used]
        handles = [Patch(fc=colour, ec="black", lw=0.4, hatch=hatch, label=text) for _, (text, colour, hatch) in looks]
        fig.legend(handles=handles, loc="outside lower center", ncols=min(5, max(1, len(handles))))
        return fig


def against(
    table: pd.DataFrame,
    cost: str,
    qualities: Mapping[str, str],
    width: float,
    *,
    label: str,
    group: str = "arm",
    log: bool = False,
) -> Figure:
    """Quality against cost, a panel for each of `qualities` (column → title), a mark a group with both intervals.

    `table` has the group's column, and `cost` and each quality with `_low` and `_high`; what is missing has no mark.
    A quality that no group has gets no panel.
    """
    table = _with_floats(table, [cost, *qualities])
    qualities = {name: title for name, title in qualities.items() if (table[cost] * table[name]).notna().any()}
    if not qualities:
        return sentence(
            "No arm has both a cost and a quality: contracts have neither labels nor reference answers.", width
        )
    with styled():
        fig = Figure(figsize=(width, 2.5), layout="constrained")
        axes = fig.subplots(1, len(qualities), squeeze=False)[0]
        names = table[group].tolist()
        marked = table[table[cost].notna() & table[[*qualities]].notna().any(axis=1)][group].tolist()
        for ax, (name, title) in zip(axes, qualities.items(), strict=True):
            for place, (_, row) in enumerate(table.iterrows()):
                if not np.isnan(float(row[cost])) and not np.isnan(float(row[name])):
                    _cross(ax, row, cost, name, colours(len(names))[place], MARKERS[place % len(MARKERS)], 10 - place)
            ax.set(xlabel=label, title=title)
            if log and (table[cost] > 0).any():
                _log_axis(ax)
            else:
                ax.margins(x=0.12)
                ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
            low, high = ax.get_ylim()
            ax.set_ylim(max(-0.03, low), max(high, low + 0.1))
            ax.grid()
            ax.set_axisbelow(True)
        looks = zip(names, colours(len(names)), MARKERS * len(names), strict=False)
        handles = [_handle(colour, marker, name) for name, colour, marker in looks if name in marked]
        fig.legend(handles=handles, loc="outside lower center", ncols=min(5, max(1, len(handles))))
        return fig


def _with_floats(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with these columns and their bounds as floats, so that what is missing is not a number."""
    every = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    return table.assign(**{name: table[name].astype(float) for name in every})


def _handle(colour: str, marker: str, label: str) -> Line2D:
    return Line2D([], [], color=colour, marker=marker, mec="black", mew=0.5, ms=6, ls="", label=label)


def _cross(ax: Axes, row: pd.Series, across: str, up: str, colour: str, marker: str, size: int = 6) -> None:
    """A mark with a horizontal and a vertical interval, where there are any. Smaller marks show on larger ones."""
    x, y = float(row[across]), float(row[up])
    for name, fixed, horizontal in ((across, y, True), (up, x, False)):
        low, high = float(row[f"{name}_low"]), float(row[f"{name}_high"])
        if not np.isnan(low):
            ends = ([low, high], [fixed, fixed])
            ax.plot(*(ends if horizontal else ends[::-1]), color="0.3", lw=1, solid_capstyle="butt", zorder=3)
    ax.plot(x, y, marker=marker, color=colour, mec="black", mew=0.5, ms=max(4, size), ls="", zorder=4, clip_on=False)


def _equal_f1(ax: Axes) -> None:
    for level in _LEVELS:
        recall = np.linspace(level / 2 + 0.003, 1.04, 200)
        precision = level * recall / (2 * recall - level)
        inside = precision <= 1.04
        ax.plot(recall[inside], precision[inside], color="0.82", lw=0.7, zorder=1)
        box = {"fc": "white", "ec": "none", "pad": 0.6}
        height = level * _LABEL_AT / (2 * _LABEL_AT - level)
        label = ax.text(_LABEL_AT, height, f"F1 {level:g}", fontsize=6, color="0.5", bbox=box, zorder=2)
        label.set(ha="center", va="center")


def _bar(ax: Axes, row: pd.Series, outcomes: Sequence[str], whole: float) -> set[str]:
    """One bar with the band that leaves it; returns the kinds of segments that it has."""
    x, base = float(row["attempt"]), 0.0
    used: set[str] = set()
    for name in ("again", *outcomes):
        count = float(row[name])
        if not count:
            continue
        used.add(name)
        _, colour, hatch = OUTCOME_LOOKS[name]
        drawn = max(count, _THINNEST * whole)
        ax.bar(x, drawn, bottom=base, width=0.22, color=colour, ec="black", lw=0.4, hatch=hatch, zorder=3)
        if name == "again":
            ax.fill_between([x + 0.11, x + 0.89], 0, count, color=colour, alpha=0.55, ec=colour, lw=0.8, zorder=1)
        height = max(base + drawn / 2, base + 0.05 * whole)
        ax.text(x + 0.14, height, f"{count:.0f}", va="center", ha="left", fontsize=6.5, zorder=4)
        base += drawn
    return used


def _log_axis(ax: Axes) -> None:
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.set_xlim(low / 1.3, high * 1.3)
    ax.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0), numticks=12))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
