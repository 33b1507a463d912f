"""Find a quoted passage in a text, though a model has changed its blanks, dashes or quotation marks."""

import re

from ovrag_core.text.lines import Span

# One sign for one sign, so that offsets stay.
_ALIKE = str.maketrans("‘’‚‛`´“”„‟«»‐‑‒–—―−\u00a0\u2007\u202f", "''''''\"\"\"\"\"\"-------   ")
_AROUND = " \t\r\n\"'…"
_LONGEST = 4_000  # characters; a longer quote is no quote


def locate(quote: str, text: str) -> Span | None:
    """The span of `quote` in `text`, the first one where there are several; None where it is not there.

    Blanks and line ends count alike, as do the forms of dashes and quotation marks; what a model puts around a quote
    (marks, three dots) is left out. Letters, digits and their case must agree, and words be whole.
    """
    if not quote.strip() or len(quote) > _LONGEST:
        return None
    folded = text.translate(_ALIKE)
    for wanted in dict.fromkeys((_plain(quote), _plain(quote).strip(_AROUND).removesuffix("...").rstrip(_AROUND))):
        if wanted and (match := _pattern(wanted).search(folded)):
            return match.span()
    return None


def _plain(quote: str) -> str:
    return " ".join(quote.translate(_ALIKE).split())


def _pattern(words: str) -> re.Pattern[str]:
    """Matches the words over any blanks; the first must begin and the last must end one of the text's words."""
    inner = r"\s+".join(re.escape(word) for word in words.split())
    before = r"(?<!\w)" if words[0].isalnum() else ""
    after = r"(?!\w)" if words[-1].isalnum() else ""
    return re.compile(before + inner + after)
