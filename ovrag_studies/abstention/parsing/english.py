"""English as far as reading a question needs it: the words of a text with their places, and the forms of a word.

What words do in a sentence stands in `english.yaml`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources

import yaml

from ovrag_core.text import fold

_LISTS: dict[str, list[str]] = yaml.safe_load(resources.files(__package__).joinpath("english.yaml").read_text("utf-8"))
_WORDS = {name: frozenset(entries) for name, entries in _LISTS.items()}

ARTICLES = _WORDS["articles"]
DETERMINERS = _WORDS["determiners"] | ARTICLES
OWN = _WORDS["own"]
BE = _WORDS["be"]
DO = _WORDS["do"]
HAVE = _WORDS["have"]
RELATIVE = _WORDS["relative"]
NAMING = _WORDS["naming"]
PREPOSITIONS = _WORDS["prepositions"]
GOALS = _WORDS["goals"]
ASIDE = _WORDS["aside"]
HOWEVER = _WORDS["however"]
BEARINGS = _WORDS["bearings"]
NOT = _WORDS["not"]
UNTRUE = _WORDS["untrue"]
EXCLUDING = _WORDS["excluding"]
PERSONS = _WORDS["persons"]
DIRECT = _WORDS["direct"]
DIRECT_PHRASES = frozenset(tuple(phrase.split()) for phrase in _LISTS["direct_phrases"])
INDIRECT = _WORDS["indirect"]
INDIRECT_PHRASES = frozenset(tuple(phrase.split()) for phrase in _LISTS["indirect_phrases"])
UPWARD = _WORDS["upward"]
ADVERBIAL = _WORDS["adverbial"]
ACCOUNTS = _WORDS["accounts"]
CLAUSES = _WORDS["clauses"]
ADJECTIVES = _WORDS["adjectives"]
SHELL = _WORDS["shell"] | ADJECTIVES
FUNCTION = _WORDS["function"].union(
    DETERMINERS, ASIDE, BE, DO, HAVE, RELATIVE, NAMING, PREPOSITIONS, GOALS, NOT, DIRECT, INDIRECT
)
LONG_PREPOSITIONS = dict(line.split(": ") for line in _LISTS["long_prepositions"])
IRREGULAR = {verb: (past, participle) for verb, past, participle in (line.split() for line in _LISTS["irregular"])}

# Letters, then what shortens or marks a possessor, then amounts with their separators, then single signs.
_WORD = re.compile(
    r"(?P<not>n['’ʼ]t\b)|(?P<mark>['’ʼ](?:s|re|ve|ll|d|m)\b)|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<word>[^\W\d_]+?(?=n['’ʼ]t\b)|[^\W\d_]+)|(?P<sign>[^\w\s]|_)"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")
_IS_NOT_HAS = frozenset(["it", "that", "what", "where", "there", "here", "who", "which", "he", "she", "how"])
_WRITTEN_OUT = {"ca": "can", "wo": "will", "sha": "shall"}
_SHORT_FORMS = {"re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am"}
NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Word:
    """One word or sign: folded (no case, no accents), with its span, and whether it is written as names are."""

    text: str
    start: int
    end: int
    capital: bool
    sign: bool


def words_of(text: str) -> list[Word]:
    """The words and signs of a text, in order. `doesn't` is two words, and so is the possessor in `river's`."""
    words: list[Word] = []
    for match in _WORD.finditer(text):
        raw, before = match[0], words[-1].text if words else ""
        match match.lastgroup:
            case "not":
                folded = "not"
                if before in _WRITTEN_OUT:
                    words[-1] = replace(words[-1], text=_WRITTEN_OUT[before])
            case "mark":
                ending = raw[1:].lower()
                folded = _SHORT_FORMS.get(ending, "is" if before in _IS_NOT_HAS else "'s")
            case "number":  # no separators of thousands, no zeros at the end of decimals
                folded = _THOUSANDS.sub("", raw)
                if folded.count(".") == 1 and "," not in folded:
                    folded = folded.rstrip("0").rstrip(".")
            case _:
                folded = fold(raw)
        words.append(Word(folded, match.start(), match.end(), raw[0].isupper(), match.lastgroup == "sign"))
    return words


def key_of(words: Sequence[Word], short: Mapping[str, str] = NO_NAMES) -> str:
    """Return what two writings of a name share: signs left out, abbreviations written out, `Clark's` as `Clarks`."""
    tokens: list[str] = []
    for word in words:
        if word.text == "'s" and tokens:
            tokens[-1] += "s"
        elif word.text == "&":
            tokens.append("and")
        elif not word.sign or word.text in "%$€£":
            tokens.append(short.get(word.text, word.text))
    return " ".join(tokens)


def verb_forms(verb: str) -> dict[str, str]:
    """The forms of a verb, regular if it is not known else, to what they are: `base`, `third`, `past` and so on."""
    past, participle = IRREGULAR.get(verb, (_with_ed(verb), _with_ed(verb)))
    return {verb: "base", _with_s(verb): "third", past: "past", participle: "participle", _with_ing(verb): "ing"}


def noun_forms(noun: str) -> tuple[str, str]:
    """One and several of it."""
    return noun, _with_s(noun)


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh", "go")):
        return word + "es"
    return word[:-1] + "ies" if _consonant_y(word) else word + "s"


def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    return verb[:-1] + "ied" if _consonant_y(verb) else _doubled(verb) + "ed"


def _with_ing(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else _doubled(verb)) + "ing"


def _consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2:-1] not in set("aeiou")


def _doubled(verb: str) -> str:
    """The last consonant twice after one short vowel: `commit`, `run`, not `empty`, `join`, `enter`, `open`."""
    short = re.search(r"(?:^|[^aeiou])[aeiou][bdfgklmnprt]$", verb)
    stressed = len(re.findall(r"[aeiouy]+", verb)) == 1 or verb.endswith(("mit", "fer", "cur"))
    return verb + verb[-1] if short and stressed else verb
