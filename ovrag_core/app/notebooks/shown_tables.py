"""Look of tables in a notebook: nothing cut off, no column of row numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import BaseModel

MOST_ROWS = 40


def table_html(frame: pd.DataFrame) -> str:
    """A frame as an HTML table of escaped text, without a mere count of rows. Long tables are cut, and say so."""
    import pandas as pd  # noqa: PLC0415 - every notebook imports this package, not every one needs it at once

    frame = (frame.reset_index() if any(frame.index.names) else frame).rename_axis(columns=None)
    labelled = frame.index.dtype.kind not in "iu"
    with pd.option_context("display.max_colwidth", None):
        table = frame.head(MOST_ROWS).to_html(index=labelled, border=0, justify="left", float_format="{:.6g}".format)
    return table + (f"<p>… and {len(frame) - MOST_ROWS} more rows</p>" if len(frame) > MOST_ROWS else "")


def parameter_table(settings: BaseModel, *sections: str) -> pd.DataFrame:
    """The parameters of sections of the settings with their values, by the names that `-S` takes."""
    import pandas as pd  # noqa: PLC0415 - every notebook imports this package, not every one needs it at once

    values = settings.model_dump(mode="json", include=set(sections))
    named = [(f"{section}.{name}", value) for section in sections for name, value in values[section].items()]
    rows = [(name, _value(value)) for name, value in named if not isinstance(value, dict)]
    return pd.DataFrame(rows, columns=["parameter", "value"])


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "all"
    return "–" if value is None else str(value)
