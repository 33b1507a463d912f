"""Usual wording of agreements on confidentiality: cues for the seventeen hypotheses of ContractNLI (`cues.yaml`).

They are the whole knowledge of the lexical arm, and features in the learned one. Whoever wrote them had read the
development agreements, so figures on those flatter every arm with cues, above all on contradictions, which are few:
without cues the learned judge has an accuracy of 0.808 there, with them 0.849. A cue reads text that `plain` has made
even.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml

KINDS = ("about", "entails", "contradicts")  # what the hypothesis is about, what speaks for it, what against it
LONGEST = 6_000  # characters of a span that are searched; a long clause has two thousand
_READ = yaml.safe_load(files(__package__).joinpath("cues.yaml").read_text(encoding="utf-8"))
_EVEN = {name: re.compile(pattern) for name, pattern in _READ["even"].items()}
MARKS = tuple(re.compile(mark) for mark in _READ["marks"])


def plain(text: str) -> str:
    """Lower case, single spaces, straight apostrophes; roles, confidential information, numbers each by one name."""
    text = " ".join(text.split()).lower().replace("’", "'")
    for name, pattern in _EVEN.items():
        text = pattern.sub(name, text)
    return text


@cache
def cues() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    """Patterns of each hypothesis, one for each of `KINDS`."""

    def pattern(alternatives: list[str]) -> re.Pattern[str]:
        cues_in_words = (re.sub(r"\{([a-z_]+)\}", lambda name: _READ["words"][name[1]], cue) for cue in alternatives)
        return re.compile("|".join(cues_in_words))

    return {h: tuple(pattern(listed.get(kind, ["(?!)"])) for kind in KINDS) for h, listed in _READ["cues"].items()}


def cue_hits(hypothesis: str, text: str) -> tuple[bool, ...]:
    """Look for cues of each of `KINDS` in a text of `plain`, in the start of a very long one, as that takes long."""
    patterns = cues().get(hypothesis)
    return tuple(bool(pattern.search(text[:LONGEST])) for pattern in patterns) if patterns else (False, False, False)
