"""Foreign text on one line of a terminal or a message: nothing in it can move the cursor or turn the line around."""

from __future__ import annotations

import re

# Control characters (a terminal obeys them), direction marks (they reorder what stands around them), line separators.
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]")


def one_line(text: str, longest: int | None = None) -> str:
    """`text` with runs of white space as one space and what cannot be shown as `�`; cut to `longest` characters."""
    text = _UNSHOWN.sub("\ufffd", " ".join(text.split()))
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
