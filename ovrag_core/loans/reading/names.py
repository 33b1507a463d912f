"""Names in a text: where each begins and ends and what it may be the name of, as `tools/train_names.py` learns.

A logistic regression on hashed features (Weinberger et al. 2009) tells of two tokens side by side if a name goes on
from one to the other; a second tells from the words and letters of a name what bears it. Nothing here knows roles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy
from rdflib import Graph

from ovrag_core.base import ROOT, OntologyError, project_file, read_tensors
from ovrag_core.loans.loan_facts import PartyKind
from ovrag_core.retrieval import Probabilities
from ovrag_core.text import Span

LEXICON = ROOT / "ontologies" / "lexicon" / "parties.ttl"
WEIGHTS = Path("ontologies/lexicon/names.safetensors")
_NAMESPACE = "urn:ovrag:parties#"
JOINS, BEARS = 1 << 17, 1 << 15  # features of two tokens, and of a name
BEARERS: tuple[PartyKind | None, ...] = (None, "natural_person", "legal_entity", "financial_institution", "government")
SURE = 0.5  # probability from which a name alone tells what bears it
LONGEST = 24  # tokens of a name
BEFORE = 4  # tokens in lower case that a name may begin with, as "van der"
WIDEST_ROW = 50  # characters of a line that is no prose
ABBREVIATED = 4  # letters of an abbreviation
PAD = 3  # tokens on either side that count
_TOKEN = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*|\S")  # letters and their accents, or a sign
_ITEM = re.compile(r"^[ \t]*([A-F])\.[ \t]", re.MULTILINE)
_DOTTED = frozenset(
    ["inc", "co", "corp", "ltd", "bros", "jr", "sr", "cia", "pte", "pty", "lda", "ltda", "sp", "tbk", "soc"]
)  # an end of theirs is their own
_LEADING = frozenset(["[", "“", "the", "from", "dear", "between", "and", "&", "neither", "hi"])
# What is seen of the tokens 0 and 1 and of those around them: words, shapes, legal forms, gaps and last letters;
# `first` is the first word of the name so far, `size` its tokens and `has` what stands in it.
SEEN = (
    "gap0", "word0 gap0", "word1 gap0", "shape0 shape1 gap0", "word0 word1", "word0 shape1 gap0", "shape0 word1 gap0",
    "shape-1 gap-1 shape0 gap0 shape1", "shape0 gap0 shape1 gap1 shape2", "word-1 word0 shape1", "shape0 word1 word2",
    "word-1 gap-1 shape0 gap0 shape1", "shape0 gap0 shape1 gap1 word2", "form0 form1 form2 shape1",
    "form-1 form0 shape1 gap0", "end0 shape1", "shape0 end1", "shape-2 shape-1 shape0 shape1 shape2 shape3",
    "word-2 shape0 shape1", "word3 shape0 shape1", "line gap0 shape0 shape1", "form1 word0", "form0 word1 gap0",
    "first word1", "first shape0 gap0 shape1", "size shape0 gap0 shape1", "has word0 shape1 gap0",
    "first word0 shape1", "has shape0 word1 gap0", "has size gap0",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text: its span, without the title before it ("Ms") if there is one, and its words."""

    start: int
    end: int
    text: str
    title: str = ""


class Tokens:
    """The tokens of a text and what of them tells if a name goes on from one to the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = list(_TOKEN.finditer(text))
        written = [match.group() for match in found]
        self.spans: list[Span] = [match.span() for match in found]
        self.capital = [word[0].isupper() or any(letter.isupper() for letter in word[1:3]) for word in written]
        self.words = [word.lower() for word in written]
        gaps = (_gap(text[a:b]) for (_, a), (b, _) in pairwise(self.spans))
        self._columns = {
            "word": _padded(self.words),
            "shape": _padded([_shape(word) for word in written]),
            "form": _padded(["F" if word in _form_words() else "-" for word in self.words]),
            "end": _padded([word[-3:] for word in self.words]),
            "gap": _padded([*gaps, "$"]),
        }

    def seen(self, at: int, first: int) -> list[int]:
        """Features of the token `at` and the next, in a name that begins with the token `first`: buckets of JOINS."""
        inside = self.words[first : at + 1]
        has = "F" if any(word in _form_words() for word in inside[1:]) else "-"
        has += "of" if "of" in inside else "and" if "and" in inside or "&" in inside else "-"
        has += "(" if "(" in inside and ")" not in inside else ""
        about = {"first": self.words[first], "size": str(min(at - first, 6)), "has": has, "line": self._line(at)}
        about |= {
            f"{column}{place}": values[at + place + PAD]
            for column, values in self._columns.items()
            for place in range(-PAD + 1, PAD + 1)
        }
        return [crc32("|".join([seen, *(about[part] for part in seen.split())]).encode()) % JOINS for seen in SEEN]

    def ends(self, at: int) -> bool:
        """Return True for the full stop behind a whole word, beyond which no name goes on."""
        return self.words[at] == "." and at > 0 and len(self.words[at - 1]) > ABBREVIATED

    def _line(self, at: int) -> str:
        """The look of the line in which a token stands: short, in capitals."""
        start, end = self.spans[at]
        begin, stop = self._text.rfind("\n", 0, start) + 1, self._text.find("\n", end)
        line = self._text[begin : stop if stop >= 0 else len(self._text)]
        return ("short" if len(line) < WIDEST_ROW else "long") + ("A" if line.isupper() else "")


def _padded(values: list[str]) -> list[str]:
    return ["^"] * PAD + values + ["$"] * PAD


def _shape(word: str) -> str:
    if word.isupper():
        return "A" if len(word) == 1 else "AA"
    if word[0].isupper():
        return "Aa"
    if word[0].isdigit():
        return "9"
    if not word.isalpha():
        return word
    return "aaaa" if len(word) > PAD else "a"


def _gap(between: str) -> str:
    """What parts two tokens: nothing, a blank, several, the end of a line or of a paragraph."""
    ends = between.count("\n")
    return ("end", "paragraph")[ends > 1] if ends else ("none", "blank")[len(between)] if len(between) < 2 else "wide"


def features(name: str) -> list[int]:
    """Features of a name on its own, as buckets of BEARS: its words, their letters and its shape."""
    written: list[str] = _TOKEN.findall(name)
    words = [word.lower() for word in written]
    seen = {"any", f"first {words[0]}", f"last {words[-1]}", f"size {min(len(words), 7)}", f"capitals {name.isupper()}"}
    seen.add("shape " + "".join(_shape(word)[0] for word in written[:6]))
    seen.update(f"word {word}" for word in words)
    seen.update(f"pair {word} {after}" for word, after in pairwise(words))
    if not _form_words().isdisjoint(words):
        seen.add("form")
    for word in filter(str.isalpha, words):
        letters = f"<{word}>"
        seen.update(letters[at : at + size] for size in (3, 4) for at in range(len(letters) - size + 1))
    return sorted({crc32(feature.encode()) % BEARS for feature in seen})


def find_names(text: str) -> list[Name]:
    """What may be a name in `text`, in order: capital words with all that they are joined with, titles left out."""
    tokens, names = Tokens(text), list[Name]()
    free = taken = 0  # tokens
    weight, bias = _weights("joins")

    def goes_on(at: int, first: int) -> bool:
        return bool(weight[tokens.seen(at, first)].sum() + bias > 0)

    while free < len(tokens.spans):
        if not tokens.capital[free]:
            free += 1
            continue
        first = last = free
        while first > max(taken, free - BEFORE) and not tokens.capital[first - 1] and goes_on(first - 1, first - 1):
            first -= 1
        while last + 1 < len(tokens.spans) and last - free < LONGEST and not tokens.ends(last) and goes_on(last, first):
            last += 1
        if name := _bare(text, tokens, first, last):
            names.append(name)
        free = taken = last + 1
    return names


def _bare(text: str, tokens: Tokens, first: int, last: int) -> Name | None:
    """The name of these tokens without an item's letter, a greeting or a title before it and a role behind it."""
    start = tokens.spans[first][0]
    if text[start] in "'’" and text[:start][-1:].isalnum():  # "BORROWER'S PROMISE TO PAY"
        return None
    first += 2 * (start in _items(text))
    titles = _titles_of(tokens, first, last)
    title = " ".join(text[slice(*tokens.spans[at])] for at in titles)
    first = max([first, *(at + 1 for at in titles)])
    if tokens.words[first : first + 2] == ["/", "s"]:  # "M/s", of a firm, or "/s/", of who signed
        first, title = first + 2 + (tokens.words[first + 2 : first + 3] == ["/"]), ""
    while first <= last and (tokens.words[first] in _LEADING or (title and tokens.words[first] == ".")):
        first += 1
    if first > last or (last := _last_word(tokens, first, last)) < first:
        return None
    start, end = tokens.spans[first][0], tokens.spans[last][1]
    if title and ends_in_form(text[start:end]):  # a firm called after somebody: "Dr. Oetker Finance Ltd"
        start, title = tokens.spans[titles[0]][0], ""
    return Name(start, end, " ".join(text[start:end].split()), title)


def _titles_of(tokens: Tokens, first: int, last: int) -> list[int]:
    """The tokens that are titles of the name, right before it or at its beginning."""
    around = range(max(0, first - 2), min(first + BEFORE, last + 1))
    titles = [at for at in around if tokens.words[at] in _titles()]
    return [at for at in titles if at >= first or set(tokens.words[at + 1 : first]) <= {"."}]


def _last_word(tokens: Tokens, first: int, last: int) -> int:
    """The last token of a name before a capacity ("As Agent"), brackets that hold no legal form, or a full stop."""
    words = tokens.words
    if "as" in words[first + 1 : last]:
        last = words.index("as", first + 1) - 1
    if words[last] == ")" and "(" in words[first + 1 : last]:
        opened = last - 1 - words[first:last][::-1].index("(")
        last = last if _form_words().intersection(words[opened:last]) else opened - 1
    if words[last] == "." and first < last and len(words[last - 1]) > 1:
        last -= words[last - 1] not in _DOTTED
    return last


@lru_cache(maxsize=1)
def _items(text: str) -> frozenset[int]:
    """Where the items of a list begin that are counted by letters: "A. The lender", "B. The borrower"."""
    found = {match.start(1) for match in _ITEM.finditer(text)}
    return frozenset(found if {"A", "B"} <= {text[start] for start in found} else ())


def likely_bearers(names: Sequence[str]) -> Probabilities:
    """How likely each name, by itself, is that of each of BEARERS, of which None is no party (n × 5, float32)."""
    weight, bias = _weights("bears")
    rows = [features(name) for name in names]
    scores = numpy.array([weight[:, row].sum(1) / len(row) ** 0.5 for row in rows]).reshape(-1, len(BEARERS)) + bias
    odds = numpy.exp(scores - scores.max(1, keepdims=True))
    found: Probabilities = (odds / odds.sum(1, keepdims=True)).astype(numpy.float32)
    return found


@lru_cache(maxsize=4096)
def shown_bearer(name: str) -> PartyKind | None:
    """What a name alone shows that its bearer is; None where it shows nothing."""
    likely = likely_bearers([name])[0]
    best = int(likely.argmax())
    return BEARERS[best] if likely[best] >= SURE else None


def ends_in_form(name: str) -> bool:
    """Return True where the last word of a name is a legal form of an organisation, of three letters or more."""
    last = (_TOKEN.findall(name.rstrip(". ").lower()) or [""])[-1]
    return len(last) >= PAD and last in _legal_forms()


def is_form(name: str) -> bool:
    """Return True for an abbreviated legal form without a name: "Inc."."""
    words = {word for word in _TOKEN.findall(name.lower()) if word[0].isalnum()}
    return words <= _legal_forms() and 1 < max(map(len, words), default=0) <= ABBREVIATED


def is_known_institution(name: str) -> bool:
    """Return True for a name that begins as that of a well-known financial institution."""
    return f"{name.lower()} ".startswith(tuple(f"{known.lower()} " for known in words("knownInstitution")))


@cache
def _weights(name: str) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Weight and bias of what `joins` tokens, or of what `bears` a name (float32)."""
    tensors, _ = read_tensors(project_file(WEIGHTS))
    return tensors[f"{name}.weight"].astype(numpy.float32), tensors[f"{name}.bias"].astype(numpy.float32)


@lru_cache(maxsize=64)
def words(kind: str, path: Path = LEXICON) -> tuple[str, ...]:
    """The lexicon's entries for an annotation such as `legalForm`, sorted. Raises OntologyError for a broken file."""
    return _entries(path).get(kind, ())


@lru_cache(maxsize=2)
def _entries(path: Path) -> Mapping[str, tuple[str, ...]]:
    if not path.is_file():
        raise OntologyError(f"{path.name} is missing from {path.parent.name}/; restore it from the repository")
    try:
        graph = Graph().parse(path, format="turtle")
    except (SyntaxError, ValueError, UnicodeDecodeError) as error:
        raise OntologyError(f"{path.name} is not valid Turtle; correct it and try again") from error
    entries: dict[str, set[str]] = {}
    for _, predicate, value in graph:
        if str(predicate).startswith(_NAMESPACE):
            entries.setdefault(str(predicate).removeprefix(_NAMESPACE), set()).add(str(value))
    return {kind: tuple(sorted(values)) for kind, values in entries.items()}


@cache
def common_words() -> frozenset[str]:
    """Words of contracts that by themselves name nobody, in lower case."""
    return frozenset(word.lower() for word in words("notAName"))


@cache
def _titles() -> frozenset[str]:
    return frozenset(title.rstrip(".").lower() for title in words("personTitle"))


@cache
def _legal_forms() -> frozenset[str]:
    return _words_of(words("legalForm"))


@cache
def _form_words() -> frozenset[str]:
    return _legal_forms() | _words_of(words("personForm"))


def _words_of(entries: Sequence[str]) -> frozenset[str]:
    return frozenset(word.lower() for entry in entries for word in _TOKEN.findall(entry) if word[0].isalnum())
