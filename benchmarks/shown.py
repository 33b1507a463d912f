"""Tables as the benchmarks print them and the pages of docs/ quote them: Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ovrag_core.evaluation.statistics import Difference, Estimate


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table: a row a line, without padding."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def estimate(measured: Estimate | Difference) -> str:
    """Return `0.987 [0.975, 0.995]`, the value alone where it has no interval, and – for none."""
    if measured.value is None:
        return "–"
    interval = "" if measured.low is None or measured.high is None else f" [{measured.low:.3f}, {measured.high:.3f}]"
    return f"{measured.value:.3f}{interval}"
