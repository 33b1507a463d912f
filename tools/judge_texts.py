"""What the judge learns from: texts with the names, values and sentences in them, and what each is to its loan.

- `training/loans/marked/`: agreements with their labels marked where they stand. Drafters who marked kinds of loan
  too have every label; of the others these are known by the header and the purpose alone.
- `training/loans/roles/` and `values/`: texts in which names, and passages in which values, are marked.
- `training/loans/statements/`: passages labelled by security and form of credit; some are joined in pairs of opposites.
- `training/loans/purposes.tsv`: typical purposes, with the kind of loan that each makes.
- `training/loans/agreements/` and `generated/`: whole agreements of known facts; `stated.json` has passages that state
  some of them.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from judge_training import UNKNOWN, Labels, Marked, Text
from marked_agreements import FOLDER as MARKED
from marked_agreements import PARTIES, STATED, MarkedAgreement, read_marked

from ovrag_core.documents import load
from ovrag_core.loans import candidates
from ovrag_core.loans.reading.judge import KINDS, ROLES, SORTS, STATEMENTS
from ovrag_core.loans.reading.roles import definitions
from ovrag_core.loans.reading.sentences import as_read, pieces, plain_text, units
from ovrag_core.loans.reading.values import Maturity, Principal, Rate, Term, values_in
from ovrag_core.text import Span

LOANS = Path("training/loans")
STATING = dict(zip(STATED, STATEMENTS, strict=True))  # what each mark of a sentence says
LABEL_OF = {about: label for label, about in STATING.items()}
FIRST_STATED = STATED[:4]  # marks that all drafters made, as well as those of a clash
FULLY = STATED[4:-1]  # marks that some made
HALF = 0.5  # of the passages that are seen in an epoch
JOINED = 400  # passages made of a statement and its opposite, for each pair
LINKS = ("; ", ", and ", ", while ", ", but ", ", and yet ", ". ")
SHORT_KINDS = {"person": 0, "company": 1, "bank": 2, "public": 3}  # as marks call KINDS
COMMON = {"the", "and", "bank", "company", "limited", "ltd", "inc", "llc"}  # words that tell no party from another
NEAR = 120  # characters around a name in which words of suretyship make it one that may stand surety
_SURETY = re.compile(r"guarant|suret|cautioner", re.IGNORECASE)
_MARK = re.compile(r"<<([^|<>]+)\|([\w.]+)>>")

Stated = Mapping[str, Sequence[Span]]  # passages by the label of what they say


def _labels(
    role: int = UNKNOWN, kind: int = UNKNOWN, sort: int = UNKNOWN, said: Sequence[int] = (UNKNOWN,) * len(STATEMENTS)
) -> Labels:
    return (role, kind, sort, *said)


def all_texts(agreements: Sequence[Path], generated: Sequence[Path]) -> list[Text]:
    """All that there is to learn from, with these folders of agreements of known facts, written and generated."""
    texts = marked_texts(MARKED)
    for path in sorted((LOANS / "roles").glob("*.jsonl")):
        texts += [role_text(*unmarked(json.loads(line)["text"])) for line in _lines(path)]
    for path in sorted((LOANS / "values").glob("*.jsonl")):
        texts += [value_text(*unmarked(json.loads(line)["text"])) for line in _lines(path)]
    texts += [*statement_texts(), *joined_texts(), *purpose_texts()]
    for folder in (*agreements, *generated):
        texts += known_texts(folder, in_full=folder in generated)
    return texts


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def unmarked(passage: str) -> tuple[str, list[tuple[int, int, str]]]:
    """The text of a passage that marks its mentions as `<<mention|label>>`, and each mention's span and label."""
    text, marks, at = "", [], 0
    for match in _MARK.finditer(passage):
        text += passage[at : match.start()]
        marks.append((len(text), len(text) + len(match[1]), match[2]))
        text += match[1]
        at = match.end()
    return text + passage[at:], marks


def marked_texts(folder: Path) -> list[Text]:
    """The marked agreements of a folder of drafters."""
    found = []
    for drafter in sorted(path for path in folder.iterdir() if path.is_dir()):
        agreements = [read_marked(path) for path in sorted(drafter.glob("*.txt"))]
        labels = {mark.label for agreement in agreements for mark in agreement.marks}
        found += [marked_text(agreement, in_full=not labels.isdisjoint(FULLY)) for agreement in agreements]
    return found


def marked_text(agreement: MarkedAgreement, *, in_full: bool) -> Text:
    """A marked agreement. Where it is not marked in full, the words of its purpose say the kinds of its header.

    Of names, what shares a word with a party and is not marked is left out.
    """
    text = agreement.text
    told = [
        (mark.start, mark.end, mark.label, KINDS.index(mark.kind) if mark.kind else UNKNOWN)
        for mark in agreement.marks
        if mark.label in PARTIES
    ]
    stated: dict[str, list[Span]] = {}
    for mark in agreement.marks:
        if mark.label in STATED:
            stated.setdefault(mark.label, []).append((mark.start, mark.end))
    silent = set(STATED)
    if not in_full:
        kinds = {LABEL_OF[kind] for kind in agreement.facts["loan_types"].split(", ") if kind in LABEL_OF}
        purpose = [(mark.start, mark.end) for mark in agreement.marks if mark.label == "purpose"]
        stated |= dict.fromkeys(kinds - {"card", "mortgage"}, purpose)
        clash = agreement.facts["clash_type"] == "borrower_type"
        silent = {*FIRST_STATED, "clash", *({"card", "mortgage", "green"} - kinds)}
        silent |= set() if clash else {"consumer", "commercial", "student"} - kinds
    unsure = set[str]().union(*(_words(text[start:end]) for start, end, _, _ in told))
    spans = [*name_spans(text, told, unsure), *value_spans(text, [(m.start, m.end, m.label) for m in agreement.marks])]
    parts = parts_of(text)
    spans += part_spans(parts, stated, silent)
    things = tuple((mark.start, mark.end) for mark in agreement.marks if mark.label == "collateral")
    return Text(as_read(text), tuple(spans), tuple(parts), things)


def parts_of(text: str) -> list[Span]:
    """The spans in which a document's sentences and rows are judged."""
    plain = plain_text(text)
    return [
        plain.original(*part)
        for unit in units(plain.text)
        if unit.kind != "signature"
        for part in pieces(plain.text, unit)
        if len(plain.text[slice(*part)].split()) > 1
    ]


def part_spans(parts: Sequence[Span], stated: Stated, silent: Iterable[str]) -> Iterator[Marked]:
    """The parts with what each says; of what is `silent`, a part says nothing that no passage covers."""
    for start, end in parts:
        said = [
            1
            if any(_says(start, end, *passage) for passage in stated.get(label, ()))
            else 0
            if label in silent
            else UNKNOWN
            for label in STATED
        ]
        if set(said) != {UNKNOWN}:
            yield Marked(start, end, _labels(said=said))


def _says(start: int, end: int, first: int, last: int) -> bool:
    """Return True where a passage and a part cover one another for the greater part of the shorter."""
    return 2 * (min(end, last) - max(start, first)) > min(last - first, end - start)


def name_spans(text: str, told: Sequence[tuple[int, int, str, int]], unsure: set[str]) -> Iterator[Marked]:
    """The names that are told, what else looks like a name, and the terms of their bearers.

    What looks like a name and has a word of `unsure` is left out.
    """
    spans = []
    for start, end, role, kind in told:
        name = " ".join(text[start:end].split()) if role in ROLES[1:] else ""
        spans.append(Marked(start, end, _labels(ROLES.index(role) if role in ROLES else 0, kind), name))
    for found in candidates(text):
        if not any(start < found.end and found.start < end for start, end, _, _ in told) and not unsure & _words(
            found.text
        ):
            spans.append(Marked(found.start, found.end, _labels(0)))
    spans.sort(key=lambda span: span.start)
    yield from spans
    for definition in definitions(text, [(span.start, span.end) for span in spans]):
        parties = [row for row in definition.rows if spans[row].labels[0]]
        bearer = spans[(parties or definition.rows)[-1]]
        yield from (Marked(start, end, bearer.labels) for start, end in definition.places)


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{3,}", name)} - COMMON


def role_text(text: str, marks: Sequence[tuple[int, int, str]]) -> Text:
    """A text in which each name is marked with its role, or its role and kind."""
    told = [
        (start, end, label.partition(".")[0], SHORT_KINDS.get(label.partition(".")[2], UNKNOWN))
        for start, end, label in marks
    ]
    return Text(as_read(text), tuple(name_spans(text, told, set())), tuple(parts_of(text)))


def worth(value: Any) -> object:
    """What two mentions of the same value have in common; a currency may be written in several ways."""
    match value:
        case Principal():
            return value.amount
        case Rate():
            return value.percent
        case Maturity():
            return value.date
        case Term():
            return value.months
    raise TypeError(value)


def value_spans(text: str, marks: Sequence[tuple[int, int, str]]) -> Iterator[Marked]:
    """The values that are marked and those that are left bare, but for other mentions of what is marked."""
    found: tuple[Sequence[Any], ...] = values_in(as_read(text))
    for column, values in enumerate(found, 1):
        spans = [(start, end) for start, end, label in marks if label == SORTS[column]]
        own = [any(start < value.end and value.start < end for start, end in spans) for value in values]
        known = {worth(value) for value, mine in zip(values, own, strict=True) if mine}
        for value, mine in zip(values, own, strict=True):
            if mine or worth(value) not in known:
                yield Marked(value.start, value.end, _labels(sort=column if mine else 0))


def value_text(text: str, marks: Sequence[tuple[int, int, str]]) -> Text:
    """A passage in which values are marked."""
    return Text(as_read(text), tuple(value_spans(text, marks)))


def statement_texts() -> Iterator[Text]:
    """The labelled passages, each below or behind its heading."""
    order = random.Random(0)
    for row in _statements():
        heading = " ".join(row["heading"].split())
        heading += (order.choice(("\n", ": "))) if heading else ""
        yield passage_text(heading, row["text"], _said(row["security"], row["form"]), HALF)


def _statements() -> list[dict[str, str]]:
    return [json.loads(line) for path in sorted((LOANS / "statements").glob("*.jsonl")) for line in _lines(path)]


def _said(security: str, form: str) -> dict[str, int]:
    return {
        "secured": int(security == "secured"),
        "unsecured": int(security == "unsecured"),
        "openend": int(form == "open"),
        "closedend": int(form == "closed"),
    }


def passage_text(heading: str, passage: str, said: Mapping[str, int], share: float) -> Text:
    """A passage that is judged as a whole; what `said` does not have is not known of it."""
    text = heading + passage
    labels = _labels(said=[said.get(label, UNKNOWN) for label in STATED])
    return Text(as_read(text), (Marked(len(heading), len(text), labels),), share=share)


def joined_texts() -> Iterator[Text]:
    """Passages that state a class and its opposite: two statements in one sentence or side by side."""
    order, rows = random.Random(1), _statements()
    for axis, other, sides in (
        ("security", "form", ("secured", "unsecured")),
        ("form", "security", ("open", "closed")),
    ):
        passages = [[row["text"] for row in rows if row[axis] == side and row[other] == "none"] for side in sides]
        said = dict.fromkeys(FIRST_STATED, 0) | dict.fromkeys(
            FIRST_STATED[:2] if axis == "security" else FIRST_STATED[2:], 1
        )
        for _ in range(JOINED):
            first, second = order.sample([order.choice(side) for side in passages], 2)
            link = order.choice(LINKS)
            if link != ". ":
                second = second[:1].lower() + second[1:]
            yield passage_text("", first.rstrip(". ") + link + second, said, HALF)


def purpose_texts() -> Iterator[Text]:
    """Typical purposes as a row and as a sentence."""
    for line in _lines(LOANS / "purposes.tsv")[1:]:
        purpose, use, green = line.split("\t")
        said = {label: int(LABEL_OF.get(use) == label) for label in ("consumer", "commercial", "student")}
        said["green"] = int(green == "yes")
        for passage in (f"Purpose: {purpose}", f"The loan is for {purpose}."):
            yield passage_text("", passage, said, 1.0)


def known_texts(folder: Path, *, in_full: bool) -> Iterator[Text]:
    """The agreements of a folder with what their gold says; who may stand surety is left out of the names.

    `in_full`, all passages that state something are known, but no names.
    """
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    stated = json.loads((folder / "stated.json").read_text(encoding="utf-8"))
    for name, record in sorted(gold.items()):
        text = load(folder / f"{name}.txt", name).text
        parts = parts_of(text)
        passages = {
            label: [(at, at + len(quote)) for quote in quotes if (at := text.find(quote)) >= 0]
            for label, quotes in stated[name].items()
        }
        silent = _not_said(record) | ({*stated[name]} if in_full else set())
        if quotes := record.get("evidence"):
            passages["clash"] = [(at, at + len(quote)) for quote in quotes if (at := text.find(quote)) >= 0]
        spans = [*_known_values(text, record), *part_spans(parts, passages, silent)]
        spans += [] if in_full else known_names(text, record)
        yield Text(as_read(text), tuple(spans), tuple(parts))


def _not_said(record: Mapping[str, Any]) -> set[str]:
    """Labels of what no sentence of an agreement says of its loan, by its gold."""
    security = {"secured": {"secured"}, "unsecured": {"unsecured"}, "unstated": set()}
    form = {"open-end": {"openend"}, "closed-end": {"closedend"}, "unstated": set()}
    said = security.get(record["security"], {"secured", "unsecured"}) | form.get(
        record["credit_form"], {"openend", "closedend"}
    )
    said |= {LABEL_OF[kind] for kind in record["loan_types"] if kind in LABEL_OF}
    silent = {label for label, about in STATING.items() if about in STATEMENTS[:10]} - said
    return silent | {"clash"} if record["label"] == "CLEAN" or record.get("evidence") else silent


def _known_values(text: str, facts: Mapping[str, Any]) -> Iterator[Marked]:
    """The values of a text whose facts are known; a duration is judged only where the facts hold the term."""
    amount, rate = (facts.get("principal") or {}).get("amount"), facts.get("interest_rate")
    known = (
        amount and Decimal(str(amount)),
        rate and Decimal(str(rate).rstrip("%")),
        facts.get("maturity"),
        facts.get("term_months"),
    )
    found: tuple[Sequence[Any], ...] = values_in(as_read(text))
    for column, values in enumerate(found, 1):
        fact = known[column - 1]
        if SORTS[column] != "term" or fact is not None:
            yield from (Marked(v.start, v.end, _labels(sort=column if worth(v) == fact else 0)) for v in values)


def known_names(text: str, record: Mapping[str, Any]) -> Iterator[Marked]:
    """The names of a text whose borrower and lender are known."""
    wanted = {_key(record[role]["name"]): role for role in ("borrower", "lender") if record[role]["name"]}
    unsure = [record[role]["name"] for role in wanted.values()]
    names = candidates(text)
    unsure += [name.text for name in names if _SURETY.search(text[max(0, name.start - NEAR) : name.end + NEAR])]
    told = [
        (found.start, found.end, role, KINDS.index(record[role]["kind"]) if record[role]["kind"] else UNKNOWN)
        for found in names
        if (role := wanted.get(_key(found.text)))
    ]
    yield from name_spans(text, told, set().union(*map(_words, unsure)))


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()).removeprefix("the")
