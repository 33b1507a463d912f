"""Markdown tables of what a benchmark has measured."""

from collections.abc import Iterable, Sequence

from ovrag_core.evaluation import Difference, Estimate


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown table of rows as long as the header, between empty lines."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n" + "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines) + "\n"


def estimate(measured: Estimate | Difference) -> str:
    """`0.987 [0.975, 0.995]`, the value alone where it has no interval, and – for none."""
    if measured.value is None:
        return "–"
    interval = "" if measured.low is None or measured.high is None else f" [{measured.low:.3f}, {measured.high:.3f}]"
    return f"{measured.value:.3f}{interval}"
