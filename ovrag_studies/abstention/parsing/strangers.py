"""Strangers in a question: what it writes as a name, or as part of one, that is no name of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ovrag_core.text import one_line
from ovrag_studies.abstention.parsing.english import ADJECTIVES, CLAUSES, FUNCTION
from ovrag_studies.abstention.parsing.name_index import Mention
from ovrag_studies.abstention.parsing.texts import Text

_LEADS = frozenset({"(", ",", "in", "of", "near", "from"})  # from a name to what tells it from others of that name
_APART = CLAUSES - {",", ";", "which"} | {"in"}  # what follows is about something else


def stranger(text: Text, found: Sequence[Mention]) -> str:
    """Say why the names found are not those that the question has; empty if they are.

    A longer name is never taken for one inside it. Nor is a question about an unknown thing read as one about others
    that it mentions.
    """
    covered = {i for mention in found for i in range(mention.start, mention.end)}
    for start, end in _runs(text, covered):
        touching = [mention for mention in found if _touches(text, mention, start, end)]
        if touching or len(found) < 2 or _matters(text, found, start, end):
            left = min([start, *(mention.start for mention in touching)])
            right = max([end, *(mention.end for mention in touching)])
            return no_name(text, text.question[text.words[left].start : text.words[_closed(text, left, right) - 1].end])
    if not found:
        return "no name of the graph is in the question"
    return f"only {text.quoted(found[0])} is a name in the graph" if len(found) < 2 else ""


def no_name(text: Text, name: str) -> str:
    """That there is no such name, with the nearest ones."""
    near = text.names.nearest(name[:100])
    nearest = f"; the nearest are {', '.join(repr(one_line(n, 80)) for n in near)}" if near else ""
    return f"'{one_line(name, 80)}' is no name in the graph{nearest}"


def _closed(text: Text, first: int, last: int) -> int:
    """The end of a stretch, moved to where the bracket closes that is open in it."""
    signs = [word.text for word in text.words[first:last]]
    if signs.count("(") <= signs.count(")"):
        return last
    return next((i + 1 for i in range(last, len(text.words)) if text.words[i].text == ")"), last)


def _touches(text: Text, mention: Mention, start: int, end: int) -> bool:
    """Return True where a run stands right beside a name, or with only a bracket, a comma or `in` between."""
    behind = [word.text for word in text.words[mention.end : start]]
    before = [word.text for word in text.words[end : mention.start]]
    beside = mention.end == start or mention.start == end
    return beside or (len(behind) == 1 and behind[0] in _LEADS) or before == ["("]


def _matters(text: Text, found: Sequence[Mention], start: int, end: int) -> bool:
    """Return True where a run that touches no name may be what the question is about.

    It is not where it stands apart, or is one word that opens a sentence (`Hydrologists say ...`).
    """
    if _opens(text, start) and end == start + 1:
        return False
    return not any(word.text in _APART for word in text.words[found[-1].end : start])


def _runs(text: Text, covered: set[int]) -> Iterator[tuple[int, int]]:
    """Stretches of words outside the names that look like a name."""
    start = 0
    while start < len(text.words):
        end = start
        while end < len(text.words) and end not in covered and _like_a_name(text, end, start):
            end += 1
        if any(_strange(text, i, end in covered) for i in range(start, end)) or _headed(text, start, end):
            yield start, end
        start = max(end, start + 1)


def _strange(text: Text, at: int, before_name: bool) -> bool:
    """Return True where a word says nothing but a name; an adjective does so right before one: `Great Fisher River`."""
    word = text.words[at]
    adjective = word.text in ADJECTIVES and before_name and (word.capital or not text.cased)
    return adjective or not text.known(word)


def _headed(text: Text, start: int, end: int) -> bool:
    """Detect words that are all known but make a name by their capitals: `Lost River`."""
    words = [word for word in text.words[start:end] if word.text not in FUNCTION]
    return text.cased and len(words) > 1 and any(word.text in text.names.heads for word in words[1:])


def _like_a_name(text: Text, at: int, start: int) -> bool:
    """Tell by its capital whether a word may be in a name; where capitals say nothing, whether it is unknown."""
    word = text.words[at]
    if word.sign or word.text == "'s" or (text.cased and not word.capital):
        return False
    if not text.cased:
        return word.text in ADJECTIVES or (not text.known(word) and not word.text.endswith("ly"))
    if not _opens(text, at):
        return at > start or word.text not in FUNCTION
    headed = any(ahead.capital and ahead.text in text.names.heads for ahead in text.words[at + 1 : at + 2])
    plain = text.known(word) or word.text.endswith(("ly", "ing"))
    return word.text not in FUNCTION and (headed or not plain)


def _opens(text: Text, at: int) -> bool:
    """Return True for a word that begins a sentence, where every word has a capital."""
    return at == 0 or text.words[at - 1].text in (".", "?", "!", ":", '"')
