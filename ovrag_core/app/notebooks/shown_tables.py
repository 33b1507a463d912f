"""Look of tables in a notebook: text to the left, numbers to the right, nothing cut off, no column of row numbers.

pandas' own look sets everything flush right, cuts long cells, and numbers the rows.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import BaseModel

MOST_ROWS = 40
_NUMBER = re.compile(r"[<−-]?\d[\d,.]*%?( \[.*\])?|n/a")


def table_html(frame: pd.DataFrame) -> str:
    """A frame as an HTML table of escaped text; an index is shown where it has a name. Long tables are cut, and say so.

    A value that an index repeats from the row above, as groups do, is left out.
    """
    columns = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame]
    names, rows = [*_index_names(frame), *columns], _rows(frame)
    right = [all(_NUMBER.fullmatch(row[column]) for row in rows) and bool(rows) for column in range(len(names))]
    head = _row("th", names, right)
    body = [_row("td", row, right) for row in rows[:MOST_ROWS]]
    more = f"<p>… and {len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>{more}"


def parameter_table(settings: BaseModel, *sections: str) -> pd.DataFrame:
    """The parameters of sections of the settings with their values, by the names that `-S` takes."""
    import pandas as pd  # noqa: PLC0415 - every notebook imports this package, not every one needs it at once

    values = settings.model_dump(mode="json", include=set(sections))
    named = [(f"{section}.{name}", value) for section in sections for name, value in values[section].items()]
    rows = [(name, _value(value)) for name, value in named if not isinstance(value, dict)]
    return pd.DataFrame(rows, columns=["parameter", "value"])


def use_in_notebook() -> None:
    """Have the notebook that runs this show its data frames so; elsewhere nothing happens."""
    try:
        from IPython import get_ipython  # noqa: PLC0415
    except ImportError:
        return
    if (shell := get_ipython()) is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        for module in ("pandas", "pandas.core.frame"):  # where pandas says that it is, by its version
            formatter.for_type_by_name(module, "DataFrame", table_html)


def _index_names(frame: pd.DataFrame) -> list[str]:
    """Names of the levels of an index that says something; a mere count of rows does not."""
    names = [str(name) if name is not None else "" for name in frame.index.names]
    return names if any(names) or frame.index.dtype.kind not in "iu" else []


def _rows(frame: pd.DataFrame) -> list[list[str]]:
    levels = len(_index_names(frame))
    rows = []
    above: list[str] = []
    for key, values in zip(frame.index, frame.itertuples(index=False, name=None), strict=True):
        keys = [_text(label) for label in (key if isinstance(key, tuple) else (key,))][:levels]
        shared = next((level for level, (a, b) in enumerate(zip(keys, above, strict=False)) if a != b), len(above))
        labels = ["" if level < min(shared, levels - 1) else label for level, label in enumerate(keys)]
        rows.append([*labels, *map(_text, values)])
        above = keys
    return rows


def _row(tag: str, cells: list[str], right: list[bool]) -> str:
    sides = ["right" if flush else "left" for flush in right]
    cell_tags = [
        f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides, strict=True)
    ]
    return f"<tr>{''.join(cell_tags)}</tr>"


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "all"
    return "–" if value is None else str(value)
