"""Captions of tables and figures, and what each rests on: prose in `captions.yaml`, beside the modules that it is for.

`{words}` in braces are filled in when a result is written.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from ovrag_core.base import Part, ResultError, read_model
from ovrag_core.report.tables import Note

CAPTIONS = "captions.yaml"
NOTED = {"model", "arm", "n", "interval"}


class Caption(Part):
    """Caption of a table or figure, and the parts of its note; None stands for what the file says of all.

    `more` is a sentence or several, of which those that are empty when filled in are left out. `headers` are those of
    this table alone. A table that `quotes` the data is shown and not written where these are another publisher's.
    """

    caption: str
    model: str | None = None
    arm: str | None = None
    n: str | None = None
    interval: str | None = None
    more: str | tuple[str, ...] = ()
    headers: dict[str, str] = Field(default_factory=dict)
    quotes: bool = False


class Captions(Part):
    """All captions of a file; `model`, `arm`, `n` and `interval` are for those that say nothing else.

    `headers` renames columns; where `capitals` is true the others begin with a capital.
    """

    model: str = "none"
    arm: str = "each"
    n: str = ""
    interval: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    capitals: bool = False
    tables: dict[str, Caption] = Field(default_factory=dict)
    figures: dict[str, Caption] = Field(default_factory=dict)

    def headings(self, name: str, frame: pd.DataFrame) -> dict[str, str]:
        """Headings of a table's columns, as `write_table` takes them."""
        as_they_are = {} if self.capitals else {str(column): str(column) for column in frame.columns}
        return as_they_are | self.headers | self.tables[name].headers

    def filled(
        self, kind: Literal["tables", "figures"], name: str, words: Mapping[str, object], owner: str
    ) -> tuple[str, Note]:
        """Caption and note of a result. Raises ResultError, naming `owner`, for one without, or a word not known."""
        captions: dict[str, Caption] = getattr(self, kind)
        if name not in captions:
            raise ResultError(f"{CAPTIONS} of {owner}: {kind} has no {name}; write its caption there")
        caption = captions[name]
        templates = self.model_dump(include=NOTED) | caption.model_dump(include=NOTED, exclude_none=True)
        sentences = (caption.more,) if isinstance(caption.more, str) else caption.more
        try:
            parts = {part: template.format(**words) for part, template in templates.items()}
            more = ". ".join(filter(None, (sentence.format(**words) for sentence in sentences)))
            return caption.caption.format(**words), Note(**parts, more=more)
        except KeyError as missing:
            raise ResultError(
                f"{CAPTIONS} of {owner}: {kind}.{name} has the word {{{missing.args[0]}}}, which nobody fills in; "
                "give it to the table, the figure or the book"
            ) from None


@cache
def read_captions(package: str) -> Captions:
    """The captions beside a package's modules. Raises ResultError for a file that is missing or of another form."""
    path = Path(str(files(package).joinpath(CAPTIONS)))
    return read_model(path, Captions, ResultError, "write it beside the modules whose results it is for")
