"""A contract's text for the eye, with the passages that contradict each other marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape


def highlighted(text: str, passages: Sequence[str]) -> str:
    """The text as HTML, each passage in `<mark>` wherever it stands, whatever its line breaks."""
    shown = escape(text, quote=False)
    for passage in passages:
        pattern = r"\s+".join(re.escape(escape(word, quote=False)) for word in passage.split())
        shown = re.sub(pattern, lambda found: f"<mark>{found.group()}</mark>", shown)
    return f'<pre style="white-space: pre-wrap; border: 1px solid #999; padding: 1em">{shown}</pre>'
