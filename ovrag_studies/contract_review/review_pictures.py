"""Drawing of presence scores in the style of the thesis's figures."""

from collections.abc import Mapping, Sequence

import numpy
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ovrag_core.report import colours, styled
from ovrag_studies.contract_review.measures.answer_metrics import AnsweredQuestion, risk_coverage

LINES = ("-", "--", ":", "-.")


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
