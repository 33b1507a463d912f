"""The English of causes from `language.yaml`, as inflected words and as patterns that match them.

All patterns are over single words and fixed phrases, with no repetition inside a repetition, so that the time they
take grows with the text alone.
"""

import re
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, Literal

import yaml

LANGUAGE = Path(__file__).with_name("language.yaml")
Form = Literal["base", "third", "past", "participle", "ing"]
FORMS: tuple[Form, ...] = ("base", "third", "past", "participle", "ing")

_NO_ADVERBS = (
    "supply|family|assembly|anomaly|monopoly|oligopoly|reply|ally|fly|jelly|belly|july|italy|duopoly|bully|rally|only"
)
ADVERB = (
    rf"(?:(?!(?:{_NO_ADVERBS})\b)[a-z]+ly|also|then|thus|hence|often|always|still|even|in turn|again|just|itself"
    r"|themselves"
    r"|in fact|thereby|not only|not just|not merely|soon|too|usually|so|in the end|at once|ever|further|once again|now)"
)
NOT = (
    r"(?:(?:do|does|did|will|would|can|could|should|is|are|was|were|has|have|had)(?:n't|n’t| not| never)|cannot"
    r"|can't|won't"
    r"|(?:is|are|was|were)(?:n't| not) what|never|not|no longer|fails? to|failed to|ceases? to|neither)"
)
AUXILIARY = (
    r"(?:will|would|can|could|may|might|must|should|shall|does|do|did|has|have|had|been|tends? to|seems? to|appears? to"
    r"|(?:is|are|was|were|been) (?:known|said|likely|thought|used|expected|found|believed|shown|bound|going|able"
    r"|certain|sure|set) to"
    r"|helps? to|helps?|(?:is|are|was|were) what|serves? to|acts to|act to|begins? to|starts? to"
    r"|continues? to|works? to|comes? to)"
)
BE = r"(?:is|are|was|were|be|been|being|gets?|got)"
DETERMINER = (
    r"(?:an?|the|some|any|this|that|these|those|its|their|our|such|each|every|both|all|of|in|by|to|with|on|for|from|at|as"
    r"|and|or|very|much|far|no)"
)
# Short verbs that end in one vowel and one consonant double it: curb does not, spur and drop do.
_DOUBLING = re.compile("[^aeiou]+[aeiou][^aeiouwxy]")


def inflect(text: str) -> dict[Form, str]:
    """Return the forms of a verb of `language.yaml`, each with the words behind it: "raise", "lead/leads/… to"."""
    verb, _, particles = text.partition(" ")
    spelled = verb.split("/")
    inflected = spelled if len(spelled) == len(FORMS) else _regular(spelled[0])
    return {name: f"{form} {particles}".strip() for name, form in zip(FORMS, inflected, strict=True)}


def _regular(base: str) -> list[str]:
    if base.endswith("e"):
        return [base, base + "s", base + "d", base + "d", base[:-1] + "ing"]
    if base.endswith("y") and base[-2] not in "aeiou":
        return [base, base[:-1] + "ies", base[:-1] + "ied", base[:-1] + "ied", base + "ing"]
    stem = base + base[-1] if _DOUBLING.fullmatch(base) else base
    third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s")
    return [base, third, stem + "ed", stem + "ed", stem + "ing"]


_LANGUAGE: Any = yaml.safe_load(LANGUAGE.read_text(encoding="utf-8"))


def entries(*keys: str) -> list[str]:
    """Return the entries of a list of `language.yaml`, by its keys there."""
    text = reduce(getitem, keys, _LANGUAGE)
    return [" ".join(entry.split()) for entry in text.split(",") if entry.strip()]


def forms(verbs: list[str], *names: Form) -> list[str]:
    """Return these forms of all verbs of a list; all forms where none is named."""
    return [inflect(verb)[name] for verb in verbs for name in names or FORMS]
