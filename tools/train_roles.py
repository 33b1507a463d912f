"""Train the judge of roles on marked passages and agreements: `python tools/train_roles.py`.

A passage marks each name as `<<name|role>>`, an agreement of `training/loans/marked/` each mention of a party; each is
one example, as is what merely looks like a name. Whole agreements of the development folders, whose borrower and lender
are known, add every other name. Low-rank adapters (Hu et al. 2022) on the upper half of the bundled sentence embedder,
the mean of the name's tokens beside the mean of all, and one linear layer. A second copy of half the passages has names
of other passages in place of its own, so that what is learned is the words around a name, not the name. Half an hour
on two cores; the same seed gives the same weights on the same machine.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from adapters import saved
from marked_agreements import FOLDER, PARTIES, MarkedAgreement, marked_agreements
from mention_training import MARKED as MARKS
from mention_training import Example, train_judge, unmarked
from safetensors.torch import save_file
from torch import nn
from training_data import notes

from ovrag_core.documents import load
from ovrag_core.loans import ROLES, Terms, candidates, find_parties
from ovrag_core.loans.reading.roles import WEIGHTS
from ovrag_core.loans.reading.sightings import role_words, singular

PASSAGES = Path("training/loans/roles")
MARKED = Path("training/loans/marked")
AGREEMENTS = Path("training/loans/agreements")
FOLDERS = ("development", "development2", "hard_negatives", "hard_negatives2")
LEARNED_FROM = [f"{PASSAGES}/*.jsonl", f"{MARKED}/*/*.txt"] + [
    f"{AGREEMENTS}/{name}/{kind}" for name in FOLDERS for kind in ("*.txt", "gold.json")
]
COMMON = {"the", "and", "bank", "company", "limited", "ltd", "inc", "llc"}  # words that tell no party from another
REACH, TERMS = 320, 4  # characters from a party's name to its definition; mentions of a term that teach
EPOCHS = 3
_BRACKET = re.compile(r"\(([^()]{1,220})\)|\[([^\[\]]{1,80})\]")
_QUOTED = re.compile(
    r"[\"“”„«‘'’]{1,2}\s*(?:the\s+|The\s+)?([A-Za-z][\w/&-]*(?:[ \n]{1,2}[A-Za-z][\w/&-]*){0,3})"
    r"\s*[,.;]?\s*[\"“”»’']{1,2}"
)


def read_passages(paths: list[Path]) -> list[str]:
    """The marked passages of the files."""
    return [json.loads(line)["text"] for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def examples_of(passage: str) -> list[Example]:
    """One example for each name that is marked in the passage."""
    text, marks = unmarked(passage)
    return [Example(text, start, end, ROLES.index(role)) for start, end, role in marks]


def with_other_names(passage: str, names: list[str], order: random.Random) -> str:
    """The passage with each of its names replaced by one of `names`, the same name by the same."""
    instead: dict[str, str] = {}
    return MARKS.sub(lambda match: f"<<{instead.setdefault(match[1], order.choice(names))}|{match[2]}>>", passage)


def examples_in(folder: Path) -> list[Example]:
    """The names of the agreements in a folder: those of the borrower and the lender by its gold, any others as others.

    A name that shares a word with a party's is left out, as is one that the text calls a guarantor.
    """
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    found = []
    for name, record in sorted(gold.items()):
        document = load(folder / f"{name}.txt", name)
        guarantors = {_key(mention.name) for mention in find_parties(document).guarantors}
        wanted = {role: _key(record[role]["name"]) for role in ("borrower", "lender") if record[role]["name"]}
        words = {word.lower() for role in wanted for word in record[role]["name"].split()}
        for each in candidates(document.text, Terms(document.text)):
            key = _key(each.text)
            role = next((role for role, want in wanted.items() if key == want), "other")
            if role != "other" or not (key in guarantors or words & {word.lower() for word in each.text.split()}):
                found.append(Example(document.text, each.start, each.end, ROLES.index(role)))
    return found


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()).removeprefix("the")


def mentions_in(agreement: MarkedAgreement) -> list[Example]:
    """The mentions of parties that an agreement marks, by name or by a term of their own, and what else looks like a
    name and shares no word with one."""
    marks = [mark for mark in agreement.marks if mark.label in PARTIES]
    found = [
        Example(agreement.text, mark.start, mark.end, ROLES.index(mark.label if mark.label in ROLES else "other"))
        for mark in marks
    ]
    called = list(by_terms(found))
    parties = set().union(*(_words(agreement.text[mark.start : mark.end]) for mark in marks)) - COMMON
    others = others_in(found + called) if found else []
    return [*found, *(each for each in others if not parties & _words(each.text[each.start : each.end])), *called]


def by_terms(parties: list[Example]) -> Iterator[Example]:
    """Mentions of parties by terms that name no role, such as "the Company": the first few outside the definition."""
    text = parties[0].text if parties else ""
    known: set[str] = set()
    for bracket in _BRACKET.finditer(text):
        for match in _QUOTED.finditer(text, bracket.start() + 1, bracket.end()):
            term = " ".join(match[1].split())
            before = [each for each in parties if 0 <= bracket.start() - each.end < REACH]
            certain = role_words().get(singular(term), ("", False))[1]
            if not before or "\n\n" in text[before[-1].end : bracket.start()] or certain or term in known:
                continue
            known.add(term)
            spelled = re.escape(term).replace(r"\ ", r"\s+")
            places = [
                place.span()
                for place in re.finditer(rf"(?<![\w\"“‘'-]){spelled}(?![\w\"”-])", text)
                if not bracket.start() <= place.start() < bracket.end()
                and not any(each.start <= place.start() < each.end for each in parties)
            ]
            yield from (Example(text, *place, before[-1].column) for place in places[:TERMS])


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{3,}", name)}


def others_in(passage: list[Example]) -> list[Example]:
    """What looks like a name in a passage and is none of those marked."""
    text = passage[0].text
    return [
        Example(text, name.start, name.end, ROLES.index("other"))
        for name in candidates(text, Terms(text))
        if all(name.end <= each.start or each.end <= name.start for each in passage)
    ]


def train(passages: list[str], agreements: list[Example], seed: int) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head."""
    order = random.Random(seed)
    names = sorted({match[1] for passage in passages for match in MARKS.finditer(passage) if match[2] != "other"})
    swapped = [with_other_names(passage, names, order) for passage in order.sample(passages, len(passages) // 2)]
    examples = list(agreements)
    for passage in (*passages, *swapped):
        found = examples_of(passage)
        examples += [*found, *others_in(found)]
    return train_judge(examples, len(ROLES), order, EPOCHS, "roles")


def main() -> None:
    """Train on all there is and write the weights."""
    passages = read_passages(sorted(PASSAGES.glob("*.jsonl")))
    agreements = [each for folder in FOLDERS for each in examples_in(AGREEMENTS / folder)]
    agreements += [each for agreement in marked_agreements(FOLDER) for each in mentions_in(agreement)]
    save_file(saved(*train(passages, agreements, 0)), WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(passages)} passages and {len(agreements)} names in agreements")


if __name__ == "__main__":
    main()
