"""The words of a question or a name, with their places in it, and the forms English gives a word."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ovrag_core.text import fold
from ovrag_studies.abstention.parsing.english import IRREGULAR

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
            case "number":
                folded = number(raw)
            case _:
                folded = fold(raw)
        words.append(Word(folded, match.start(), match.end(), raw[0].isupper(), match.lastgroup == "sign"))
    return words


def number(text: str) -> str:
    """One writing of an amount: no separators of thousands, no zeros at the end of its decimals."""
    plain = _THOUSANDS.sub("", text)
    return plain.rstrip("0").rstrip(".") if plain.count(".") == 1 and "," not in plain else plain


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
