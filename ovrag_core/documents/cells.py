"""A table's row as a line of text."""

import re
from collections.abc import Sequence

_MAX_LABEL_WORDS = 8
_MARKER = re.compile(
    r"[(\[](?:\d{1,3}|[a-zA-Z]|[ivxlc]{1,6}|[IVXLC]{1,6})[)\]]"
    r"|(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxlc]{1,6}|[IVXLC]{1,6})[.)]|\d{1,2}(?:\.\d{1,3})+|[•·▪◦‣*–—-]"
)
_CURRENCY = frozenset("$€£¥")
_CLOSING = (")", "%", "]")


def write_row(cells: Sequence[str]) -> str:
    """The cells of a row as text.

    Two cells of which the first is short make a label–value line (`Term: 36 months`); other cells are parted by two
    spaces. Where a cell has lines of its own (two signature blocks side by side), the cells follow one another.
    """
    filled = _join_fragments([cell.strip() for cell in cells if cell.strip()])
    if not filled:
        return ""
    if len(filled) > 1 and _MARKER.fullmatch(filled[0]):
        return f"{filled[0]} {write_row(filled[1:])}"
    if len(filled) == 2 and _is_label(filled[0]):
        label = filled[0] if filled[0].endswith(":") else f"{filled[0]}:"
        return f"{label} {filled[1]}"
    if any("\n" in cell for cell in filled):
        return "\n".join(filled)
    return "  ".join(filled)


def _join_fragments(cells: list[str]) -> list[str]:
    """Filings set a currency sign and a closing bracket in cells of their own."""
    joined: list[str] = []
    for cell in cells:
        if joined and (joined[-1] in _CURRENCY or cell in _CLOSING):
            joined[-1] += cell
        else:
            joined.append(cell)
    return joined


def _is_label(cell: str) -> bool:
    if "\n" in cell or not any(character.isalpha() for character in cell):
        return False
    return len(cell.split()) <= _MAX_LABEL_WORDS and not cell.endswith((".", ";", ",", "?", "!", "_"))
