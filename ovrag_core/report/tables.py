"""A data frame as CSV and as a LaTeX table (booktabs) with caption, label and a note that says what it rests on."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import confusion

TABLES = Path("tables")
with_bounds = confusion.with_bounds
MISSING = "n/a"
NOTHING = "The run has nothing to list here"
_WRAP = 28  # characters
_NARROW = 18  # where room is scarce
_LEAST = 0.15  # of the text width, for a wrapped column
_LINE = 116  # characters of the smallest letters that the text width holds, two between columns with them
_DIGITS = 5  # of a number with decimals

_PAIR = re.compile(r"(\S) (\w+)")
_NAMED = r"\ textbackslash ^ textasciicircum ~ textasciitilde < textless > textgreater | textbar € texteuro … dots"
_MATHS = "× times → rightarrow ← leftarrow Σ Sigma Δ Delta α alpha β beta γ gamma ε varepsilon θ theta ± pm"
_SPECIALS = {
    **{character: rf"\{character}" for character in "{}$&#%_"},
    **{character: rf"\{name}{{}}" for character, name in _PAIR.findall(_NAMED)},
    **{character: rf"$\{name}$" for character, name in _PAIR.findall(_MATHS)},
    **{"≤": r"$\leq$", "≥": r"$\geq$", "−": r"$-$", '"': r"\textquotedbl{}", "\u00a0": "~", "\u202f": r"\,"},
    **{"–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''"},
}
_INTERVAL = re.compile(r"(\S+) (\[[^\]]*\])")
_LAST_LATIN = 0x17F  # T1 fonts hold Latin-1 and Latin Extended-A


@dataclass(frozen=True, slots=True)
class Note:
    """Basis of a table or figure: model, arm, number of observations with unit, and how intervals are made."""

    model: str
    arm: str
    n: str
    interval: str = ""
    more: str = ""

    def sentence(self) -> str:
        """The note as plain sentences."""
        clauses = [f"Model: {self.model}", f"Arm: {self.arm}", f"n = {self.n}"]
        clauses += [f"Intervals: {self.interval}"] if self.interval else []
        return ". ".join([*clauses, *([self.more.rstrip(".")] if self.more else [])]) + "."

    def adding(self, text: str) -> Note:
        """The note with another sentence."""
        return replace(self, more=f"{self.more.rstrip('.') + '. ' if self.more else ''}{text}")


def write_table(
    frame: pd.DataFrame,
    name: str,
    caption: str,
    note: Note,
    *,
    folder: Path = TABLES,
    label: str = "",
    headers: Mapping[str, str] | None = None,
    decimals: int | Mapping[str, int] = 3,
    rows: int | None = None,
    long: bool = False,
    full: pd.DataFrame | None = None,
    kept: int | None = None,
) -> pd.DataFrame:
    """Write `<name>.csv` (all columns, plain numbers) and `<name>.tex`, and return the frame as LaTeX shows it.

    There a column `x` with `x_low` and `x_high` becomes one cell `x [low, high]`. `headers` renames columns, `decimals`
    is for all or by column, `rows` limits the LaTeX table (which then says so), `long` lets it run over pages, and
    `full` is what the CSV holds where LaTeX sums it up. `kept` is the number of decimals in the CSV, where that is not
    six significant digits: what comes from vectors differs in the sixth from processor to processor. `name` may begin
    with a folder; `label` is what LaTeX knows the table by where that is not the name.
    """
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    listed = frame if full is None else full
    listed = listed if kept is None else listed.round(kept)
    listed.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
    shown = display(frame, headers or {}, decimals)
    if shown.empty:
        note = note.adding(NOTHING)
    if rows is not None and len(shown) > rows:
        note = note.adding(f"The first {rows} of {len(shown)} rows; all are in {Path(name).name}.csv")
    numeric = [_is_number(frame, column) for column in _without_bounds(frame)]
    text = latex(shown if rows is None else shown.head(rows), numeric, caption, f"tab:{label or name}", note, long=long)
    (folder / f"{name}.tex").write_text(text, encoding="utf-8", newline="\n")
    return shown


def _without_bounds(frame: pd.DataFrame) -> list[str]:
    bounds = {f"{column}_{end}" for column in frame.columns for end in ("low", "high")}
    return [column for column in frame.columns if column not in bounds]


def within(folder: str, name: str) -> str:
    """Return the path of a study's table or figure in tables/ or figures/, without suffix.

    What depends on the machine's speed, `latency*`, lies apart, so that no hash of the other folder depends on it.
    """
    return f"latency_{folder}/{name}" if name.startswith("latency") else f"{folder}/{name}"


def display(frame: pd.DataFrame, headers: Mapping[str, str], decimals: int | Mapping[str, int] = 3) -> pd.DataFrame:
    """The frame as text for people: numbers rounded, missing ones `n/a`, intervals beside their value in one cell."""
    shown: list[list[str]] = []
    for column in _without_bounds(frame):
        places = decimals if isinstance(decimals, int) else decimals.get(column, 3)
        names = (column, f"{column}_low", f"{column}_high")
        values, lows, highs = (frame[name].tolist() if name in frame else [None] * len(frame) for name in names)
        shown.append([_cell(*three, places) for three in zip(values, lows, highs, strict=True)])
    titles = [headers.get(column, heading(column)) for column in _without_bounds(frame)]
    return pd.DataFrame(list(zip(*shown, strict=True)), columns=titles)


def latex(
    shown: pd.DataFrame, numeric: Sequence[bool], caption: str, label: str, note: Note, *, long: bool = False
) -> str:
    """A booktabs table of escaped text cells. `numeric` columns are set flush right, long text is wrapped.

    Intervals stand beside their values, and below them in a table that is too wide otherwise.
    """
    columns = [[str(name), *shown.iloc[:, number]] for number, name in enumerate(shown.columns)]  # names may be alike
    lengths = [max(map(len, cells)) for cells in columns]
    width = sum(min(length, _WRAP) + 2 for length in lengths)
    size = r"\small" if width <= 80 else r"\footnotesize" if width <= 96 else r"\scriptsize"
    head, body, most = _row(shown.columns, escape), [_row(row, escape) for row in shown.to_numpy()], _WRAP
    if width > _LINE and not _fits_wrapped(numeric, lengths):  # an interval stands below its value
        lengths = [max(max(map(len, _lines(cell))) for cell in cells) for cells in columns]
        body = [line for row in shown.to_numpy() for line in (_row(row, _stacked), r"\addlinespace")][:-1]
        most = _NARROW
    spec = "".join(_specification(numeric, lengths, most))
    foot = rf"\footnotesize\sloppy {escape(note.sentence())}"
    if long:
        lines = [
            rf"{{{size}\setlength{{\tabcolsep}}{{3pt}}",
            rf"\begin{{longtable}}{{{spec}}}",
            rf"\caption{{{escape(caption)}}}\label{{{label}}}\\",
            *(r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"),
            *(r"\bottomrule", r"\endfoot", *body, r"\end{longtable}}"),
            rf"\noindent{{{foot}\par}}",
        ]
    else:
        lines = [
            *(r"\begin{table}[htbp]", r"\centering", size),
            *([r"\setlength{\tabcolsep}{3pt}"] if width > 70 else []),
            *(rf"\caption{{{escape(caption)}}}", rf"\label{{{label}}}", rf"\begin{{tabular}}{{{spec}}}"),
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"),
            rf"\par\medskip\begin{{minipage}}{{\textwidth}}{foot}\end{{minipage}}",
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def _fits_wrapped(numeric: Sequence[bool], lengths: Sequence[int]) -> bool:
    """Return True where columns fit the text width in the smallest letters, their text wrapped at the least width."""
    least = (x if right or x <= _WRAP else _LEAST * 100 for right, x in zip(numeric, lengths, strict=True))
    return sum(least) + 2 * len(lengths) <= _LINE


def _row(cells: Iterable[str], written: Callable[[str], str]) -> str:
    return " & ".join(map(written, cells)) + r" \\"


def escape(text: str) -> str:
    """Text that LaTeX sets as it stands. Characters outside Latin script become their code point, as U+4E2D."""
    characters = unicodedata.normalize("NFC", re.sub(r"\s", " ", text))
    printable = [c for c in characters if c in _SPECIALS or not unicodedata.category(c).startswith("C")]
    return "".join(_SPECIALS.get(c, c if ord(c) <= _LAST_LATIN else rf"\texttt{{U+{ord(c):04X}}}") for c in printable)


def heading(column: str) -> str:
    """A column's name as a heading: underscores become spaces."""
    words = column.replace("_", " ")
    return words[:1].upper() + words[1:]


def _is_number(frame: pd.DataFrame, column: str) -> bool:
    """Return True where a column holds numbers only, some of which may be missing.

    A column with bounds counts even where all its values are missing.
    """
    if pd.api.types.is_numeric_dtype(frame[column]):
        return not pd.api.types.is_bool_dtype(frame[column])
    present = [value for value in frame[column] if not _missing(value)]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in present)
    return numbers and (bool(present) or f"{column}_low" in frame)


def _cell(value: object, low: object, high: object, places: int) -> str:
    text = _text(value, places)
    return text if any(map(_missing, (value, low, high))) else f"{text} [{_text(low, places)}, {_text(high, places)}]"


def _text(value: object, places: int) -> str:
    if _missing(value):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _rounded(value, places) if isinstance(value, float) else str(value)


def _rounded(value: float, places: int) -> str:
    """A rounded number of at most five digits before those of its whole part run out; 19261.2221 is 19261.

    What is positive and rounds to zero is written as less than the last place.
    """
    places = min(places, max(0, _DIGITS - len(str(int(abs(value))))))
    if 0 < value < 0.5 * 10**-places:
        return f"<{10**-places:.{places}f}"
    text = f"{value:.{places}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def _missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _specification(numeric: Sequence[bool], lengths: Sequence[int], most: int) -> Iterator[str]:
    """Numbers flush right, text as wide as it is or wrapped at words (with the package array).

    What the other columns leave of the text width is shared evenly among those that are wrapped.
    """
    is_wrapped = [length > most and not right for right, length in zip(numeric, lengths, strict=True)]
    unwrapped = sum(length + 2 for length, wrapped in zip(lengths, is_wrapped, strict=True) if not wrapped)
    share = min(0.5, max(_LEAST, (95 - unwrapped) / 100 / max(1, sum(is_wrapped))))
    for right, wrapped in zip(numeric, is_wrapped, strict=True):
        column = "r" if right else "l"
        yield rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\textwidth}}" if wrapped else column


def _lines(cell: str) -> tuple[str, ...]:
    """The lines of a cell whose interval stands below its value."""
    match = _INTERVAL.fullmatch(cell)
    return match.groups() if match else (cell,)


def _stacked(cell: str) -> str:
    if len(_lines(cell)) == 1:
        return escape(cell)
    stack = r"\\{}".join(map(escape, _lines(cell)))
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{stack}\end{{tabular}}"
