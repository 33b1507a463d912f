"""Figures in prose as LaTeX macros, so that no number is typed by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from ovrag_core.report.tables import escape

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def macro_name(*words: str) -> str:
    """A macro's name from words: letters only, as TeX wants; `ovrag_evidence`, `p95` gives OvragEvidencePNineFive."""
    pieces = [piece for word in words for piece in re.split(r"[^A-Za-z0-9]+", word) if piece]
    spelled = [re.sub(r"\d", lambda digit: _DIGITS[int(digit.group())], piece) for piece in pieces]
    return "".join(piece[0].upper() + piece[1:] for piece in spelled)


def write_numbers(values: Mapping[str, str], path: Path, comment: str = "", *, prefix: str = "") -> Path:
    """One `\\newcommand` a value, by name, behind `prefix`. Raises ValueError for a name that is not letters."""
    values = {macro_name(prefix) + name: value for name, value in values.items()}
    if wrong := [name for name in values if not re.fullmatch(r"[A-Za-z]+", name)]:
        raise ValueError(f"{wrong[0]!r} cannot name a macro: letters only")
    lines = [f"% {line}" for line in ["Made by the pipeline; edits are lost.", *comment.splitlines()]]
    lines += [rf"\newcommand{{\{name}}}{{{escape(value)}}}" for name, value in sorted(values.items())]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path


def number(value: object, decimals: int = 3) -> str:
    """A value for prose; `n/a` where it is not defined."""
    if value is None:
        return "n/a"
    return f"{value:.{decimals}f}" if isinstance(value, float) else str(value)


def with_interval(
    name: str, value: float | None, low: float | None, high: float | None, decimals: int = 3
) -> dict[str, str]:
    """The values of two macros, a figure's and its interval's; what is missing may be None or NaN."""
    figure, *bounds = (None if x is None or math.isnan(x) else x for x in (value, low, high))
    return {name: number(figure, decimals), f"{name} interval": interval(None if None in bounds else bounds, decimals)}


def interval(bounds: object, decimals: int = 3) -> str:
    """An interval `[low, high]` for prose; `n/a` where it is not defined."""
    if not isinstance(bounds, list | tuple):
        return "n/a"
    return f"[{float(bounds[0]):.{decimals}f}, {float(bounds[1]):.{decimals}f}]"
