# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Names of parties: where one ends in running text, and what sort of party it shows.

The words it goes by are annotations in `ontologies/lexicon/parties.ttl`; personal names come from Faker's lists for many
countries, read when first needed. Nothing here knows about roles, except that a company whose trade is lending is
a financial institution where it is the lender.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal

from rdflib import Graph

from ovrag_core.base import ROOT, OntologyError
from ovrag_core.loans.loan_facts import PartyKind
from ovrag_core.text import MONTHS, any_of

LEXICON = ROOT / "ontologies" / "lexicon" / "parties.ttl"
_NAMESPACE = "urn:ovrag:parties#"

_TOKEN = re.compile(r"[^\W_](?:[^\W_]|['’´.\\/&-](?=[^\W_]))*(?:(?<=[sS])['’](?= [A-Z]))?\.?|[&+]")
_GAP = re.compile(r"[ \u00a0\u202f]{1,3}(?=\S)|[ \u00a0]{0,3}\r?\n[ \u00a0]{0,4}(?=\S)")
_PARENTHESIS = re.compile(r"[ \u00a0]\(([^()\n]{1,30})\)")
_BLANK = re.compile(r"-(?=[A-Z])|[ \u00a0]+|[ \u00a0]*\r?\n[ \u00a0]*")
_LABEL = re.compile(r"[ \t]*[A-Z][\w ()/-]{1,30}:(?!\S)")
_COMMA = re.compile(r",[ \u00a0]{0,3}(?:\r?\n[ ]?)?")
_TRADING = re.compile(
    r",?\s+(?:\(?(?:trading|doing business|carrying on business|carrying on a business|in business|operating)\s+(?:as|under)(?:\s+the\s+"
    r"(?:business\s+|trade\s+|trading\s+)?(?:name|style|firm)(?:\s+and\s+style)?(?:\s+of)?)?|t/as?|d/?b/?a|d\.b\.a\.?|a/k/a)\s+",
    re.IGNORECASE,
)


def word_set(text: str) -> frozenset[str]:
    """The words of a text, parted by blanks."""
    return frozenset(text.split())


# A full stop after these belongs to the name even where the sentence goes on.
_DOTTED = word_set(
    "inc co corp ltd bros st mt jr sr dr mr mrs ms prof lda ltda kft zrt tbk pty pte cie soc sp tic san dipl ing "
    "sig dott"
)
# Legal forms that are also places of the United States; after a comma they are read as places.
_PLACES = frozenset(["CO", "SC", "AS"])
_OPEN_FORMS = word_set("company co corporation corp limited trust chartered stichting coöperatie stiftung")
_ENDS = word_set(
    "date dated address title telephone phone email e-mail whereas witnesseth signature signed acn abn ein cro "
    "hrb hra ssn vin nmls iban bic attention attn tel fax hereinafter account loan agreement note amount "
    "principal interest rate term maturity"
)
_JOINING = word_set(
    "trust company sons co associates partners brothers daughters savings credit loan sisters son bros family"
)
_NEVER_FIRST = word_set("company limited trust chartered fop mei enk sas sac sia osk ing sau")
_STARTING = word_set("bin binti ibn van von der den de di da du dos del della la le el al ter ten zu")
_CROWN = re.compile(
    r"(?:His|Her|HIS|HER) (?:Majesty|MAJESTY)(?: (?:the|THE) (?:King|Queen|KING|QUEEN))?(?: (?i:in right of) [A-Z]\w+(?: [A-Z][a-z]+)?)?"
)
_PUBLIC = word_set(
    "government state city county republic kingdom province commonwealth town kanton canton freistaat stadt land "
    "région provincia gemeinde kommune municipality"
)
_BODIES = word_set(
    "department ministry bank state city county secretary minister government directorate republic kingdom commonwealth "
    "town office board authority bureau commission u"
)
_NO_NAME_BEGINS = word_set(
    "this that these section article exhibit schedule clause such dear any each no if notwithstanding"
)
_UNIT = re.compile(
    r"(?:Directorate|Department|Ministry|Office|Bureau|Division|DIRECTORATE|DEPARTMENT|MINISTRY|OFFICE|BUREAU|DIVISION) (?:of|for|OF|FOR) |(?:AMT|DIENST|MINISTERIUM|DIREKTION) (?:FÜR|DER|DES) |(?:Amt|Departement|Direktion|Ministerium|Direction|Dirección|Service|Dienst|Assessorato|Ufficio) (?:für|der|des|du|de|per|voor|van) "
)
_HOUSE_NAME = re.compile(r" (?P<quoted>[\"“„«][A-ZÀ-Þ][\w' &-]{1,30}[\"”“»] )|(?P<dash> [-–] (?=[A-ZÀ-Þ]))")
_NICKNAME = re.compile(r" [\"“„'‘][A-ZÀ-Þ][\w. -]{1,20}[\"”“'’] (?=[A-ZÀ-Þ])")
_LOAN_HOUSES = word_set("authority company corporation fund bank association society services trust board")
_SOLE_TRADER = re.compile(r"\bsole (?:trader|proprietor)|\btrading as\b|\bself-employed\b", re.IGNORECASE)
_MONTHS = frozenset(month.lower() for month in MONTHS)
_UNDECIDED = word_set("of and the for y e et u i und og och ja ve de la")

Role = Literal["borrower", "lender", "guarantor"]


@lru_cache(maxsize=64)
def words(kind: str, path: Path = LEXICON) -> tuple[str, ...]:
    """The lexicon's entries for an annotation such as `bankWord`, sorted. Raises OntologyError for a broken file."""
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


def plain_words(text: str) -> list[str]:
    """The words of a name in lower case, full stops gone: "S.p.A." is "spa", "Bob's" is "bob's"."""
    return [
        word.lower().replace(".", "").replace("’", "'").strip("'-/&\\") or word
        for word in text.replace(",", " ").split()
    ]


@lru_cache(maxsize=64)
def _lower(kind: str) -> frozenset[str]:
    return frozenset(" ".join(plain_words(entry)) for entry in words(kind))


def _form_entries() -> tuple[str, ...]:
    return words("legalForm") + words("personForm")


@lru_cache(maxsize=1)
def _forms() -> Mapping[tuple[str, ...], frozenset[str]]:
    """Legal forms by their plain words, each with the spellings (without full stops) it is known in."""
    table: dict[tuple[str, ...], set[str]] = {}
    for entry in _form_entries():
        table.setdefault(tuple(plain_words(entry.replace("(", "").replace(")", ""))), set()).add(entry.replace(".", ""))
    return {key: frozenset(value) for key, value in table.items()}


@lru_cache(maxsize=1)
def _form_words() -> frozenset[str]:
    return frozenset(word for form in _forms() for word in form)


@lru_cache(maxsize=1)
def _spelled_forms() -> frozenset[str]:
    """The words of legal forms exactly as the lexicon spells them, for words in lower case inside a name."""
    return frozenset(word for entry in _form_entries() for word in entry.split())


@lru_cache(maxsize=1)
def _after_comma() -> re.Pattern[str]:
    """A legal form (or a suffix such as Jr.) standing after the comma of a name."""
    entries = [e for e in _form_entries() if e not in _PLACES and len(e) > 1]
    alternatives = "|".join(r"\s".join(map(re.escape, e.split())) for e in sorted(entries, key=lambda e: (-len(e), e)))
    return re.compile(
        rf"(?:{alternatives}|INC|CORP|LTD|LIMITED|COMPANY|INCORPORATED|NATIONAL\sASSOCIATION|Bankers|BANKERS|Jr|Sr|JR|SR|II|III|IV)(?![\w])\.?"
    )


def common_words() -> frozenset[str]:
    """Words of contracts that by themselves name nobody, in lower case."""
    return _lower("notAName")


@lru_cache(maxsize=1)
def _first_names() -> frozenset[str]:
    return _person_names("first_name")


@lru_cache(maxsize=1)
def _last_names() -> frozenset[str]:
    return _person_names("last_name")


def _person_names(prefix: str) -> frozenset[str]:
    """Names of people from Faker's locales, in lower case."""
    from faker.providers import person  # noqa: PLC0415 -- read only when a name needs it

    names: set[str] = set()
    for module in sorted(m.name for m in iter_modules(person.__path__)):
        provider = import_module(f"faker.providers.person.{module}").Provider
        for attribute in dir(provider):
            if attribute.startswith(prefix):
                values = getattr(provider, attribute)
                if isinstance(values, Mapping | list | tuple):
                    names.update(str(value).lower() for value in values)
    return frozenset(names)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text: its span without titles and trailing description, and the title before it ("Ms"), if any."""

    start: int
    end: int
    text: str
    title: str = ""


# A legal form that a successor's form follows: "… e.K.-Nachfolger OHG".
_SUCCESSOR = re.compile(r"-\w{4,}(?:[ \n][A-Z][A-Za-z]{1,4}\b\.?)+")


def name_at(text: str, start: int, *, wrap: bool = True, stop: int | None = None) -> Name | None:
    """The name that begins at `start` (blanks, quotes, articles and titles skipped); None where none does.

    `wrap` lets a name run on over a single line end; `stop` bounds it. A comma ends a name unless a legal form follows.
    """
    stop = len(text) if stop is None else min(stop, len(text))
    start, title = _skip_lead(text, start, stop)
    end = _name_end(text, start, stop, wrap)
    if end <= start:
        return None
    successor = _SUCCESSOR.match(text, end, stop)
    end = successor.end() if successor else end
    name = " ".join(text[start:end].split())
    if not _can_be_name(name, bool(title)):
        return None
    return Name(start, end, name, title)


_BEFORE_A_NAME = word_set("the between among amongst dear messrs messrs. m/s m/s.")


def _skip_lead(text: str, start: int, stop: int) -> tuple[int, str]:
    """Step over blanks, opening quotes, markup, "the", "between", "dear" and titles such as Mr or Dr."""
    title = ""
    while start < stop:
        if text[start] in " \u00a0\t\r\n\"“”‘'*_#>|:-–—•[]":
            start += 1
            continue
        token = _TOKEN.match(text, start, stop)
        if not token:
            break
        word = token.group()
        if word.lower() in _BEFORE_A_NAME:
            start = token.end()
        elif (
            word.rstrip(".") + "." in words("personTitle")
            or word in words("personTitle")
            or word.title() in _upper_titles()
        ):
            blank = _BLANK.match(text, token.end(), stop)
            if blank is None or not _word_at(text, blank.end(), stop)[:1].isupper():
                break
            title, start = f"{title} {word}".strip(), token.end()
        else:
            break
    return start, title


@lru_cache(maxsize=1)
def _upper_titles() -> frozenset[str]:
    return frozenset(t for t in words("personTitle") if len(t.rstrip(".")) > 1 and t not in ("Don", "Lord", "Lady"))


def _name_end(text: str, start: int, stop: int, wrap: bool) -> int:  # noqa: PLR0912, PLR0915 -- one scan, word by word
    """Find the end of the name that begins at `start`; `start` where there is none."""
    if crown := _CROWN.match(text, start, stop):
        return crown.end()
    end = position = start
    tokens: list[str] = []
    closed = False
    while position < stop and end - start < 120 and len(tokens) < 14:
        token = _TOKEN.match(text, position, stop)
        if not token:
            break
        word = token.group()
        plain = word.lower().replace(".", "")
        if len(tokens) > 1 and plain in _lower("officeWord"):
            after_first_name = tokens[0].lower() in _first_names() and not tokens[0].isupper()
            if after_first_name or "\n" in text[end : token.start()]:
                break
        if (
            tokens
            and plain in _ENDS
            and word[0].isupper()
            and not _lending_house(text, tokens, plain, token.end(), stop)
        ):
            break
        if closed and plain not in _form_words() and word != "&":
            break
        if _is_capital(word) or (tokens and _is_form(word) and plain not in _UNDECIDED) or word == "&":
            dotted = word.endswith(".") and not _keeps_dot(word)
            tokens.append(word.rstrip(".") if dotted else word)
            end = token.end() - dotted
            closed = _ends_with_form(tokens)
            if dotted and not _form_follows(text, token.end(), stop):
                break
        elif not tokens and word in _STARTING and _capital_follows(text, token.end(), stop):
            tokens.append(word)
        elif not tokens or not _may_join(text, tokens, word, token.end(), stop):
            break
        else:
            tokens.append(word)
        position = token.end()
        gap = _PARENTHESIS.match(text, position, stop)
        if gap and _is_part(gap.group(1), text, gap.end(), stop):
            end = position = gap.end()
            tokens.append(gap.group(1))
        if nickname := _nickname(text, tokens, position, stop):
            position = nickname
            continue
        if house := _house_name(text, position, stop):
            tokens.append("-")
            position = house
            continue
        comma = _COMMA.match(text, position, stop)
        form = _after_comma().match(text, comma.end(), stop) if comma else None
        if comma and form:
            end = position = form.end()
            if end > 0 and text[end - 1] == "." and not _keeps_dot(text[comma.end() : end]):
                end -= 1
            tokens.append(form.group())
            closed = True
        elif comma:
            if tokens[0].lower() in _PUBLIC and (unit := _UNIT.match(text, comma.end(), stop)):
                end = _name_end(text, unit.start(), stop, wrap)
            break
        gap = _GAP.match(text, position, stop)
        if (
            not gap
            or (len(gap.group()) > 1 and "\n" not in gap.group() and not wrap)
            or ("\n" in gap.group() and not (wrap and _goes_on(text, tokens, gap.end(), stop)))
        ):
            break
        position = gap.end()
    while end > start and text[end - 1] in " ,;:-–—&/\\":
        end -= 1
    return end


def _nickname(text: str, tokens: list[str], position: int, stop: int) -> int | None:
    """Find the place where a person's name goes on after a nickname in quotation marks: 'Ana "Nita" Ruiz'."""
    called = _NICKNAME.match(text, position, stop)
    return called.end() if called and tokens[0].lower() in _first_names() else None


def _house_name(text: str, position: int, stop: int) -> int | None:
    """Find the place where a name goes on after a quoted part or a dash, if a legal form ends it.

    Examples: 'Bank "Warta" S.A.', "Alta - Eventos, Lda.".
    """
    house_name = _HOUSE_NAME.match(text, position, stop)
    if house_name is None:
        return None
    ending = _after_comma().search(text, house_name.end(), min(stop, house_name.end() + 60))
    between = text[house_name.end() : ending.start()] if ending else "\n"
    if any(mark in between for mark in "\n;:(") or (house_name["quoted"] and between.strip()):
        return None
    return house_name.end()


def _lending_house(text: str, tokens: list[str], plain: str, position: int, stop: int) -> bool:
    """Recognise "Loan" as part of a name: "Savings and Loan", "State Loan Authority"."""
    if plain != "loan":
        return False
    after = _word_at(text, position + 1, stop)
    house_follows = after[:1].isupper() and (after.lower() in _LOAN_HOUSES or after.lower() in _form_words())
    return tokens[-1] in ("and", "&") or house_follows


def _word_at(text: str, position: int, stop: int) -> str:
    """Return the word or sign of a name that begins at `position`, an empty text where none does."""
    token = _TOKEN.match(text, position, stop)
    return token.group() if token else ""


def _capital_follows(text: str, position: int, stop: int) -> bool:
    return text[position : position + 1] in (" ", "\u00a0") and _word_at(text, position + 1, stop)[:1].isupper()


def _form_follows(text: str, position: int, stop: int) -> bool:
    """Return True where a legal form comes after a stray full stop ("Energy Group. Inc.")."""
    gap = _GAP.match(text, position, stop)
    return bool(gap and _after_comma().match(text, gap.end(), stop))


def _goes_on(text: str, tokens: list[str], position: int, stop: int) -> bool:
    """Let a name run on over a line end: not after a legal form, unless another form or "of" follows."""
    if tokens[-1] == "&":
        return True
    last_token = tokens[-1].lower().replace(".", "")
    after = _word_at(text, position, stop).lower().replace(".", "")
    common = _lower("officeWord") | _lower("notAName")
    if after in _lower("officeWord") or all(t.lower() in common for t in tokens) or _LABEL.match(text, position):
        return False
    return (
        last_token not in _form_words()
        or last_token in _UNDECIDED
        or after in _form_words()
        or after in ("of", "and", "&")
    )


def _ends_with_form(tokens: list[str]) -> bool:
    """Return True where the last words are a legal form after which a name does not go on."""
    plain = [t.lower().replace(".", "") for t in tokens]
    for size in range(1, min(4, len(plain) - 1) + 1):
        form = tuple(plain[-size:])
        if form in _forms() and not (size == 1 and form[0] in _OPEN_FORMS):
            return len("".join(form)) > 2 or " ".join(tokens[-size:]).replace(".", "") in _forms()[form]
    return False


def _is_form(word: str) -> bool:
    """Return True where a word is spelled as one of a legal form, a full stop after it or not."""
    return word in _spelled_forms() or word.rstrip(".") in _spelled_forms()


def _is_capital(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit() or any(c.isupper() for c in word[1:3])


def _keeps_dot(word: str) -> bool:
    plain = word.lower().replace(".", "")
    return "." in word[:-1] or len(plain) == 1 or plain in _DOTTED


def _is_part(inside: str, text: str, end: int, stop: int) -> bool:
    """Recognise brackets that are part of a name: "(publ)", or "(Ireland)" with a legal form after it."""
    plain = inside.lower()
    if plain in ("publ", "haftungsbeschränkt", "pty", "proprietary"):
        return True
    if not all(w[0].isupper() for w in inside.split()) or plain in _lower("borrowerTerm") | _lower("lenderTerm"):
        return False
    following = text[end : min(stop, end + 40)].lstrip(" ,\u00a0")
    return bool(_after_comma().match(following)) or any(
        w in _lower("companyWord") for w in plain_words(following)[:1] if following[:1].isupper()
    )


def _may_join(text: str, tokens: list[str], word: str, end: int, stop: int) -> bool:  # noqa: PLR0911
    """Return True where a word in lower case ("of", "and", "van der") goes on with the name."""
    irish = word == "an" and tokens[-1].lower() in ("mac", "nic", "mhic")
    if word not in words("particle") and not irish:
        return False
    after = _word_at(text, end + 1, stop) if text[end : end + 1] in (" ", "\u00a0", "\n") else ""
    if not after:
        return False
    plain = [t.lower().replace(".", "") for t in tokens]
    if word in ("of", "for"):
        organisation = _lower("companyWord") | _lower("bankWord") | _BODIES
        if plain[-1] in _form_words() and plain[-1] not in organisation:
            return False
        return (
            (_is_capital(after) or after == "the")
            and not after[0].isdigit()
            and (plain[-1] in organisation or ("of" in plain and any(p in organisation for p in plain)))
        )
    if word == "the":
        return plain[-1] in ("of", "for", "and") and _is_capital(after)
    if word == "and":
        return _is_capital(after) and _and_joins(text, tokens, end + 1, stop)
    return _is_capital(after) or after in words("particle")


def _and_joins(text: str, tokens: list[str], start: int, stop: int) -> bool:  # noqa: PLR0911
    """Return True where "A and B" is one name ("Marks and Spencer plc") and not two parties."""
    after = _word_at(text, start, stop)
    if not after:
        return False
    if after.lower().rstrip(".") in _JOINING:
        return True
    lowered = [t.lower().replace(".", "") for t in tokens]
    if "for" in lowered and lowered[0] in ("minister", "ministry", "secretary", "department"):
        return True
    if "of" in lowered and lowered[0] in ("department", "ministry", "u", "us"):
        return True
    end = _name_end(text, start, min(stop, start + 80), True)
    right = text[start:end]
    if has_form(right) and len(right.split()) < 4 and right.split()[0].lower().strip(",.") in _lower("companyWord"):
        return True
    if len(tokens) > 1:
        unclear = _kind_by_form(" ".join(tokens), None) is None and lowered[0] not in _first_names()
        return unclear and len(right.split()) < 4 and has_form(right) and not _person_known(" ".join(tokens))
    if lowered[0] in _form_words():
        return False
    return built_kind(right) not in (None, "natural_person")


def _person_known(name: str) -> bool:
    """Look for a word of the name among the first and last names of Faker's lists."""
    return any(w in _first_names() or w in _last_names() for w in plain_words(name) if len(w) > 1)


def could_be_person(name: str) -> bool:
    """Return True where a name is built like a person's and holds a known personal name, or an initial."""
    return _looks_personal(name) and (_person_known(name) or bool(re.match(r"[A-Z]\.", name)))


def _can_be_name(name: str, titled: bool) -> bool:
    plain = plain_words(name)
    if not plain or not any(c.isalpha() for c in name) or len(name) < 2:
        return False
    common = _lower("notAName")
    if all(
        p in common or not any(c.isalpha() for c in p) or p in words("particle") or p in _form_words() for p in plain
    ):
        return False
    if " ".join(plain) in _lower("place") or (any(p in _MONTHS for p in plain) and any(p.isdigit() for p in plain)):
        return False
    if plain[0] in _NO_NAME_BEGINS:
        return False
    return titled or len(plain) > 1 or len(plain[0]) > 1


# --- kinds ------------------------------------------------------------------------------------------------------


def party_kind(name: str, context: str = "", *, role: Role | None = None) -> PartyKind | None:
    """Return the kind of party that `name` and `context` are evidence of; None where neither is.

    `context` are words that describe the party, best those after its name ("a Delaware corporation", "residing at").
    The name's own form goes first, a description next, a known given name last. With `role` "borrower" a
    company of finance is a legal entity: only a lender's trade makes it an institution.
    """
    head = _before_trade_name(name)
    described = described_kind(context)
    if _has_person_form(name) or (described == "natural_person" and _SOLE_TRADER.search(context)):
        return "natural_person"
    first_word = head.split(" ", 1)[0]
    titled = " " in head and (
        first_word in words("personTitle") or first_word.rstrip(".") + "." in words("personTitle")
    )
    formed = _kind_by_form(head.split(" ", 1)[1] if titled else head, role)
    if titled and formed != "legal_entity":
        return "natural_person"
    if formed is None:
        return described or ("natural_person" if given_names(head) else None)
    if described == "natural_person" and not has_form(head):
        return described
    if formed == "legal_entity" and described in ("financial_institution", "government") and not _is_borrower(role):
        return described
    return formed


def built_kind(name: str) -> PartyKind | None:
    """Return the kind that a name is built like. It helps to find names, and is no evidence of what a party is."""
    return party_kind(name) or ("natural_person" if _looks_personal(_before_trade_name(name)) else None)


def given_names(name: str) -> frozenset[str]:
    """Return the words of a name that show a person: given names of Faker's lists and middle initials, in lower case.

    Empty where the name is not built like a person's, or is a place's.
    """
    name_words = [word for word in plain_words(name) if word not in words("particle") and word != "and"]
    places = _lower("place")
    if len(name_words) < 2 or not _looks_personal(name) or " ".join(name_words) in places or name_words[-1] in places:
        return frozenset()
    if _lower("placeWord") & set(name_words):
        return frozenset()
    ordinary = _lower("notAName")

    def given(word: str) -> bool:
        return len(word) > 1 and word in _first_names() and word not in ordinary and word not in places

    given_words = {word for word in name_words if any(map(given, word.split("-")))}
    surname_first = name_words[0] in _last_names() and name_words[0] not in ordinary and name_words[0] not in places
    initials = {word for word in name_words[1:-1] if len(word) == 1}
    return frozenset(initials | (given_words if surname_first else given_words & set(name_words[:-1])))


def _before_trade_name(name: str) -> str:
    """Return a name without the one it trades under: "Rosa Lind trading as Lind's Bakery" is "Rosa Lind"."""
    return _TRADING.split(name + " ", maxsplit=1)[0].strip()


def _is_borrower(role: Role | None) -> bool:
    return role in ("borrower", "guarantor")


def _has_person_form(name: str) -> bool:
    plain = f" {' '.join(plain_words(name))} "
    return any(f" {form} " in plain for form in _lower("personForm"))


def has_form(name: str) -> bool:
    """Return True where a legal form of some country ends the name or stands in it."""
    tokens = name.replace(",", " ").replace("(", " ").replace(")", " ").split()
    plain = plain_words(" ".join(tokens))
    shouting = name.upper() == name
    for size in (4, 3, 2, 1):
        for start in range(len(plain) - size + 1):
            form = tuple(plain[start : start + size])
            if form not in _forms() or (start == 0 and (size == len(plain) or " ".join(form) in _NEVER_FIRST)):
                continue
            if start == 0:
                if len("".join(form)) > 2 or form == ("pt",):
                    return True
                continue
            spelled = " ".join(tokens[start : start + size]).replace(".", "")
            is_last = start + size == len(plain)
            if len("".join(form)) > 2 and (is_last or len("".join(form)) > 3):
                return True
            if (is_last or plain[start + size] in ("&", "of", "co", "london")) and (
                spelled in _forms()[form] or (shouting and is_last)
            ):
                return True
    return False


def _kind_by_form(name: str, role: Role | None) -> PartyKind | None:
    """The kind that the words of a name show."""
    plain = plain_words(name)
    joined = f" {' '.join(plain)} ".replace(" n a ", " na ")
    formed = has_form(name)
    bank = _is_bank(plain, joined)
    if bank and not formed:
        first_name_only = len(plain) == 2 and plain[0] in _first_names()
        bank = not _is_surname_only(plain) and not (first_name_only and plain[1] not in _lower("bankWord"))
    if bank:
        return "financial_institution"
    if _is_government(joined):
        return "government"
    if _is_known(plain):
        return "financial_institution"
    if not (formed or _has_company_word(plain) or "&" in name):
        return None
    lending = any(f" {w} " in joined for w in _lower("lendingWord"))
    return "financial_institution" if lending and not _is_borrower(role) else "legal_entity"


def _is_bank(plain: list[str], joined: str) -> bool:
    person = plain[0] in _first_names() and len(plain) > 2
    if any(f" {w} " in joined and not (person and w in _last_names() and w != "bank") for w in _lower("bankWord")):
        return True
    endings = tuple(_lower("bankEnding"))
    return any(p.endswith(endings) and len(p) > 5 for p in plain if p not in _last_names())


def _is_government(joined: str) -> bool:
    plain = joined.replace(".", " ").replace("'", " ").replace("’", " ")
    plain = f" {' '.join(plain.split())} "
    return any(plain.startswith(f" {w} ") for w in _lower("governmentStart")) or any(
        f" {w} " in plain for w in _lower("governmentWord")
    )


@lru_cache(maxsize=1)
def _known() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(plain_words(entry)) for entry in words("knownInstitution"))


def _is_known(plain: list[str]) -> bool:
    """Recognise a well-known institution's name, alone or followed by words of business only."""
    business = (
        _lower("companyWord")
        | _lower("lendingWord")
        | _form_words()
        | {"of", "europe", "usa", "us", "uk", "americas", "london", "branch", "&", "and"}
    )
    return any(
        tuple(plain[:size]) in _known() and all(p in business for p in plain[size:])
        for size in range(1, len(plain) + 1)
    )


def _has_company_word(plain: list[str]) -> bool:
    company = _lower("companyWord")
    company_words = [p for p in plain if p in company]
    if not company_words:
        return any(p.endswith("'s") for p in plain[:-1])
    return not (company_words == plain[-1:] and _is_surname_only(plain))


def _is_surname_only(plain: list[str]) -> bool:
    """Return True where the one word that could be a business is a surname after a first name: "Tyrone Power"."""
    return 2 <= len(plain) <= 3 and plain[0] in _first_names() and plain[-1] in _last_names()


def _looks_personal(name: str) -> bool:
    """Return True where a name without any sign of an organisation is built like a person's."""
    tokens = [t for t in re.sub(r"[,\"“”„]", " ", name).split() if t.lower() not in words("particle")]
    plain = plain_words(" ".join(tokens))
    surnames = _last_names() if len(plain) > 2 and plain[0] in _first_names() else frozenset()
    if any(p in _lower("notAName") and p not in surnames for p in plain[1:]) or any(c.isdigit() for c in name):
        return False
    if len(tokens) == 1:
        return plain[0] in _first_names()
    return 2 <= len(tokens) <= 8 and all(
        t[0].isupper() or not t[0].isascii() or re.match(r"[dlDL]['’][A-ZÀ-Þ]", t) for t in tokens
    )


@lru_cache(maxsize=1)
def _cues() -> tuple[re.Pattern[str], Mapping[str, PartyKind]]:
    """One expression over all descriptions, longest first, and the kind each shows."""
    tables: dict[str, PartyKind] = {
        "entityCue": "legal_entity",
        "personCue": "natural_person",
        "governmentCue": "government",
        "institutionCue": "financial_institution",
    }
    kinds = {entry.lower(): kind for table, kind in tables.items() for entry in words(table)}
    return re.compile(rf"(?<!\w){any_of(kinds)}(?!\w)", re.IGNORECASE), kinds


@dataclass(frozen=True, slots=True)
class Cue:
    """A description that shows a kind, with its span in the text it was found in."""

    kind: PartyKind
    start: int
    end: int


def find_cue(text: str, start: int = 0, stop: int | None = None) -> Cue | None:
    """The first description in `text[start:stop]` that shows a kind of party."""
    pattern, kinds = _cues()
    match = pattern.search(text, start, len(text) if stop is None else stop)
    return Cue(kinds[" ".join(match.group().lower().split())], match.start(), match.end()) if match else None


def described_kind(context: str) -> PartyKind | None:
    """The kind that a description shows: its first telling words decide."""
    cue = find_cue(context)
    return cue.kind if cue else None
