"""Train the judge of roles on marked texts and agreements: `python tools/train_roles.py`.

A text of `training/loans/roles/` marks each name as `<<name|role>>` or `<<name|role.kind>>`, an agreement of
`training/loans/marked/` each mention of a party; of the agreements of the development folders borrower and lender are
known. What else looks like a name is an example of another. Half of the texts are seen with names of other texts in
place of their own, anew each time, so that what is learned is what stands around a name. Minutes on a graphics card,
hours on two cores.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from adapters import saved
from marked_agreements import FOLDER, PARTIES, MarkedAgreement, marked_agreements
from mention_training import unmarked
from safetensors.torch import save_file
from span_training import UNKNOWN, Marked, Text, train_spans
from training_data import notes

from ovrag_core.documents import load
from ovrag_core.loans import ROLES, Terms, candidates
from ovrag_core.loans.reading.roles import KINDS, WEIGHTS, definitions

PASSAGES = Path("training/loans/roles")
MARKED = Path("training/loans/marked")
AGREEMENTS = Path("training/loans/agreements")
FOLDERS = ("development", "development2", "hard_negatives", "hard_negatives2")
LEARNED_FROM = [f"{PASSAGES}/*.jsonl", f"{MARKED}/*/*.txt"] + [
    f"{AGREEMENTS}/{name}/{kind}" for name in FOLDERS for kind in ("*.txt", "gold.json")
]
SHORT_KINDS = {"person": 0, "company": 1, "bank": 2, "public": 3}  # as the marks of passages call KINDS
COMMON = {"the", "and", "bank", "company", "limited", "ltd", "inc", "llc"}  # words that tell no party from another
NEAR = 120  # characters around a name in which words of suretyship make it one that may stand surety
EPOCHS, RANK = 20, 8
_SURETY = re.compile(r"guarant|suret|cautioner", re.IGNORECASE)

Told = tuple[int, int, str, int]  # span of a name, the role it is marked with, and its kind as a place in KINDS


def told_text(text: str, told: Sequence[Told], unsure: set[str]) -> Text:
    """A text with the names that are told, what else looks like a name, and the terms of their bearers.

    What looks like a name and has a word of `unsure` is left out.
    """
    spans = [_marked(text, *name) for name in told]
    for name in candidates(text, Terms(text)):
        if any(start < name.end and name.start < end for start, end, _, _ in told):
            continue
        if not unsure & _words(name.text):
            spans.append(Marked(name.start, name.end, (ROLES.index("other"), UNKNOWN)))
    spans.sort(key=lambda span: span.start)
    by_term = []
    for definition in definitions(text, [(span.start, span.end) for span in spans]):
        parties = [row for row in definition.rows if spans[row].classes[0]]
        bearer = spans[(parties or definition.rows)[-1]]
        by_term += [Marked(start, end, bearer.classes) for start, end in definition.places]
    return Text(text, (*spans, *by_term))


def _marked(text: str, start: int, end: int, role: str, kind: int) -> Marked:
    name = " ".join(text[start:end].split()) if role in ROLES[1:] else ""
    return Marked(start, end, (ROLES.index(role) if role in ROLES else ROLES.index("other"), kind), name)


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{3,}", name)} - COMMON


def passage_texts(paths: Sequence[Path]) -> Iterator[Text]:
    """The marked texts of the files."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            text, marks = unmarked(json.loads(line)["text"])
            told = []
            for start, end, label in marks:
                role, _, kind = label.partition(".")
                told.append((start, end, role, SHORT_KINDS.get(kind, UNKNOWN)))
            yield told_text(text, told, set())


def agreement_text(agreement: MarkedAgreement) -> Text:
    """A marked agreement; what shares a word with a party of it, and is not marked, is left out."""
    told = [
        (mark.start, mark.end, mark.label, KINDS.index(mark.kind) if mark.kind else UNKNOWN)
        for mark in agreement.marks
        if mark.label in PARTIES
    ]
    return told_text(agreement.text, told, set().union(*(_words(agreement.text[s:e]) for s, e, _, _ in told)))


def known_texts(folder: Path) -> Iterator[Text]:
    """The agreements of a folder with their borrower and lender by its gold; who may stand surety is left out."""
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    for name, record in sorted(gold.items()):
        document = load(folder / f"{name}.txt", name)
        wanted = {_key(record[role]["name"]): role for role in ("borrower", "lender") if record[role]["name"]}
        unsure = [record[role]["name"] for role in wanted.values()]
        names = candidates(document.text, Terms(document.text))
        unsure += [
            name.text for name in names if _SURETY.search(document.text[max(0, name.start - NEAR) : name.end + NEAR])
        ]
        told = [
            (found.start, found.end, role, KINDS.index(record[role]["kind"]) if record[role]["kind"] else UNKNOWN)
            for found in names
            if (role := wanted.get(_key(found.text)))
        ]
        yield told_text(document.text, told, set().union(*map(_words, unsure)))


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()).removeprefix("the")


def all_texts() -> list[Text]:
    """All that there is to learn from."""
    texts = [agreement_text(agreement) for agreement in marked_agreements(FOLDER)]
    texts += passage_texts(sorted(PASSAGES.glob("*.jsonl")))
    return texts + [text for folder in FOLDERS for text in known_texts(AGREEMENTS / folder)]


def main() -> None:
    """Train on all there is and write the weights."""
    texts = all_texts()
    trained = train_spans(texts, axes=2, choices=len(ROLES), order=random.Random(0), epochs=EPOCHS, rank=RANK)
    save_file(saved(*trained), WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {sum(len(text.spans) for text in texts)} mentions in {len(texts)} texts")


if __name__ == "__main__":
    main()
