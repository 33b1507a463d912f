"""Links that hold a contract together, read from the form of its text: terms, references to clauses, parties."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ovrag_studies.contract_review.texts.clause_tree import ATTACHED, ContractClause, roman

Place = tuple[str, int]  # a term as it is spelt where it is defined, and where it stands
Reference = tuple[int, int]  # where a clause is referred to, and the index of that clause

_OPEN, _CLOSE = "[\"“„]|``|''", "[\"”“]|''"
_QUOTED = re.compile(rf"(?:{_OPEN})\s?(?P<name>[^\W_][^\"“”„\n\r()]{{0,70}}?)[,.;]?\s?(?:{_CLOSE})")
_VERB = re.compile(
    r"(?:\s*(?:,|\bor\b|\band\b|\([^()]{1,60}\)|[\"“][^\"“”\n]{1,60}[\"”])){0,6}(?:\s*(?:as|when) used [^.;]{1,60}?)?"
    r"\s*[:,–—-]{0,2}\s*(?:(?:shall|will|is|are|has|have|be|also|hereby|each|collectively|respectively|the|same) ){0,5}"
    r"(?:means?|meaning|defined|refers? to|includes?|mean and include)\b"
)
_NAMED = re.compile(
    r"(?:[(\[]\s*(?:[^()\"“”]{0,80}\s)?|(?:referred to|known|defined|designated)(?: \w+){0,4} as(?: the| an| a)? ?)$"
)


def find_terms(text: str) -> list[Place]:
    """Return terms by their first definition: a name quoted before `means`, or in brackets."""
    by_name: dict[str, Place] = {}
    for match in _QUOTED.finditer(text):
        name, before = " ".join(match["name"].split()), text[max(0, match.start() - 90) : match.start()]
        if name.islower() and " " in name:
            continue
        if _VERB.match(text, match.end(), match.end() + 160) or _NAMED.search(before):
            by_name.setdefault(name.lower(), (name, match.start("name")))
    return list(by_name.values())


def find_uses(text: str, terms: Sequence[Place]) -> Iterator[Place]:
    """Yield the terms where they stand, also where they are defined; the longest term wins, and a plural counts."""
    names = sorted({name for name, _ in terms if not name.islower()}, key=lambda name: (-len(name), name))
    if not names:
        return
    spelled = "|".join(r"\s+".join(re.escape(word) for word in name.split()) for name in names)
    for match in re.finditer(rf"(?<!\w)(?P<name>{spelled})(?:e?s|['’]s?)?(?!\w)", text):
        yield " ".join(match["name"].split()), match.start()


_NUMBER = r"(?:\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,7}|[A-Z]{1,2})(?:-\d{1,2})?(?![\w.]\w)"
_BELOW = r"(?:\s?\((?:[a-z]{1,5}|[A-Z]{1,4}|\d{1,2})\))*"
_JOINED = r"(?:\s*,\s*(?:and |or )?|\s+(?:and|or|through|to)\s+|\s*&\s*|\s*[-–]\s*)"
_REFERENCE = re.compile(
    rf"\b(?P<word>(?i:section|article|paragraph|clause|{'|'.join(sorted(ATTACHED))}))"
    rf"(?i:e?s|ices)?\s+(?P<numbers>{_NUMBER}{_BELOW}(?:{_JOINED}{_NUMBER}{_BELOW})*)(?!\w)"
)
_EACH = re.compile(rf"(?P<number>{_NUMBER}){_BELOW}")
_ELSEWHERE = re.compile(
    r"\s*(?:,?\s*of|under|in)\s+(?!this\b|these\b)[^.;,()]{0,70}?"
    r"\b(?:act|code|laws?|statutes?|rules?|regulations?|tariff|u\.s\.c|c\.f\.r|constitution|terms and conditions)\b",
    re.I,
)


def find_references(text: str, clauses: Sequence[ContractClause]) -> Iterator[Reference]:
    """Yield references to numbered clauses, in order; `(a)` of one means the whole, and those to laws are none."""
    by_number = _by_number(clauses)
    headings = {clause.start for clause in clauses}
    for match in _REFERENCE.finditer(text):
        if match.start() in headings or _ELSEWHERE.match(text, match.end(), match.end() + 100):
            continue
        for item in _EACH.finditer(text, *match.span("numbers")):
            target = by_number.get(_address(match["word"], item["number"]))
            if target is not None:
                yield item.start(), target


def _by_number(clauses: Sequence[ContractClause]) -> Mapping[tuple[str, str], int]:
    """The first clause of each number, however it is written."""
    by_number: dict[tuple[str, str], int] = {}
    for index, clause in enumerate(clauses):
        word, _, number = clause.number.rpartition(" ")
        if word or number[:1].isdigit() or (number.isupper() and clause.level == 0):
            by_number.setdefault(_address(word, number), index)
    return by_number


def _address(word: str, number: str) -> tuple[str, str]:
    """`Section IV` and `4.0` are both 4 of the contract; a schedule or exhibit is known by its word too."""
    if word.lower() in ATTACHED:
        return word.lower(), number.lower()
    counted = roman(number)
    return "", str(counted) if counted else number.removesuffix(".0")


_PREAMBLE = 8_000  # characters in which a contract introduces its parties
_BETWEEN = re.compile(r"\b(?:between|among|amongst)\b", re.I)


def find_parties(text: str, clauses: Sequence[ContractClause], terms: Sequence[Place]) -> Iterator[int]:
    """Yield where parties are introduced: as terms, from `between` to the first clause with a heading."""
    if (begun := _BETWEEN.search(text, 0, _PREAMBLE)) is None:
        return
    headed = (clause.start for clause in clauses if clause.title and clause.start > begun.end())
    end = min(_PREAMBLE, next(headed, _PREAMBLE))
    yield from (start for _, start in terms if begun.end() < start < end)
