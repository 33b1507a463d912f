"""Folds for whatever learns: by contract, and contracts of one filer together."""

from __future__ import annotations

import re
from collections.abc import Iterable

FOLDS = 5
_FILER = re.compile(r"_| - ")


def fold_of(titles: Iterable[str], folds: int = FOLDS) -> dict[str, int]:
    """The fold (0 to `folds` - 1) of each title: filers are dealt out in alphabetical order.

    Two contracts of one filer often share a drafter's wording, so that one in training would tell of the other. Titles
    in EDGAR collections begin with the filer, before an underscore or a dash; a title without either is its own filer.
    """
    distinct = sorted(set(titles))
    filers = {filer: number for number, filer in enumerate(sorted({_filer(title) for title in distinct}))}
    return {title: filers[_filer(title)] % folds for title in distinct}


def _filer(title: str) -> str:
    head = _FILER.split(title, maxsplit=1)[0]
    return "".join(character for character in head.casefold() if character.isalnum()) or title
