"""Match names that mean one individual: case, punctuation and legal suffixes do not make a second one."""

import re
import unicodedata
from collections.abc import Iterable

# Long forms → short; a name with and a name without one of these are the same entity if only one of the former occurs.
_SUFFIXES = {
    "incorporated": "inc", "corporation": "corp", "limited": "ltd", "company": "co",
    **{short: short for short in ("inc", "corp", "ltd", "co", "llc", "llp", "lp", "plc", "na", "fsb", "fcu")},
    **{short: short for short in ("ag", "sa", "se", "nv", "bv", "gmbh")},
}  # fmt: skip
_GENERATIONS = frozenset({"jr", "sr", "ii", "iii", "iv"})
_PHRASES = {
    "limited liability company": "llc",
    "limited liability partnership": "llp",
    "limited partnership": "lp",
    "national association": "na",
    "public limited company": "plc",
    "federal savings bank": "fsb",
    "federal credit union": "fcu",
}


def entity_key(name: str) -> str:
    """A name without case, punctuation and article, legal suffixes in their short form: `FNB, N.A.` → `fnb na`."""
    text = unicodedata.normalize("NFKC", name).casefold().replace("&", " and ")
    text = re.sub(r"(?<=\b\w)\.(?=\w\b)", "", text)
    words = re.sub(r"[^\w\s]+", " ", text).split()
    text = " ".join(words[1:] if words[:1] == ["the"] and len(words) > 1 else words)
    for phrase, short in _PHRASES.items():
        text = re.sub(rf"\b{phrase}$", short, text)
    head, _, suffix = text.rpartition(" ")
    key = f"{head} {_SUFFIXES[suffix]}" if head and suffix in _SUFFIXES else text
    # A name of nothing but signs (an emoji) is still a name.
    return key or name.strip()


def is_suffix(words: str) -> bool:
    """Return True where words behind a comma belong to the name before it: `N.A.`, `Limited Partnership`, `Jr.`."""
    key = entity_key(f"x {words}").removeprefix("x ")
    return key in _SUFFIXES.values() or key in _GENERATIONS


def resolve(names: Iterable[str], persons: frozenset[str] = frozenset()) -> dict[str, str]:
    """Each name → the key of the individual it means.

    A name without a legal suffix joins the one suffixed form of it that occurs (`FNB`, `FNB N.A.`), unless several
    forms occur or the bare name is in `persons`: John Smith is not John Smith LLC.
    """
    keys = {name: entity_key(name) for name in names}
    person_keys = {entity_key(name) for name in persons}
    suffixed: dict[str, set[str]] = {}
    for key in keys.values():
        bare, _, suffix = key.rpartition(" ")
        if bare and suffix in _SUFFIXES.values():
            suffixed.setdefault(bare, set()).add(key)
    for name, key in keys.items():
        forms = suffixed.get(key, set())
        if len(forms) == 1 and key not in person_keys:
            keys[name] = next(iter(forms))
    return keys
