"""Markdown tables of what a benchmark has measured."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown table of rows as long as the header, between empty lines."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n" + "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines) + "\n"
