"""Train what finds names and tells what bears them: `python tools/train_names.py`.

Learned from the names that are marked in agreements, each agreement as it is and once with its lines ended elsewhere,
in the passages of `training/loans/roles/` and `training/loans/openings/`, and from those of the borrowers and lenders
of agreements whose facts are known, wherever they stand. What else is found in the agreements and shares no word with
a party is no name. Prints how much of what drafters set aside mark is found. Minutes.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy
import torch
from judge_texts import unmarked
from marked_agreements import ASIDE, PARTIES, MarkedAgreement, marked_agreements
from safetensors.torch import save_file
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from training_data import notes

from ovrag_core.documents import load
from ovrag_core.loans.reading import names
from ovrag_core.loans.reading.names import BEARERS, BEARS, JOINS, WEIGHTS, Tokens, features, find_names
from ovrag_core.text import Span, plain_words

MARKED = Path("training/loans/marked")
ROLES = Path("training/loans/roles")
OPENINGS = Path("training/loans/openings")
LOANS = Path("training/loans")
KNOWN = (
    "agreements/development",
    "agreements/development2",
    "agreements/hard_negatives",
    "agreements/hard_negatives2",
    "generated/plain",
    "generated/varied",
)
LEARNED_FROM = [
    f"{MARKED}/*/*.txt",
    f"{ROLES}/*.jsonl",
    f"{OPENINGS}/*.jsonl",
    *[f"{LOANS}/{name}/{kind}" for name in KNOWN for kind in ("*.txt", "gold.json")],
]
PROSE = 50  # characters of a line that may end elsewhere
NARROWEST, WIDEST = 28, 100  # characters at which lines are ended
SHOUTED = 0.2  # share of these that are put in capitals
CAPITALS = 0.1  # share of names whose last word is put in capitals


def ended_elsewhere(text: str, order: random.Random) -> str:
    """The text, character for character, with the lines of its prose ended at another width."""
    width, characters, begin = order.randint(NARROWEST, WIDEST), list(text), 0
    lines = text.split("\n")
    at = -1
    for line, after in pairwise(lines):
        at += len(line) + 1
        if len(line) >= PROSE and after[:1].strip() and "  " not in line.strip():
            characters[at] = " "
    for line in "".join(characters).split("\n"):
        last = begin
        if len(line) > max(width, PROSE) and " " in line.strip() and "  " not in line.strip() and "|" not in line:
            blanks = [begin + place for place, letter in enumerate(line) if letter == " "]
            for blank, after in zip(blanks, [*blanks[1:], begin + len(line)], strict=True):
                if after - last > width:
                    characters[blank], last = "\n", blank
        begin += len(line) + 1
    return "".join(characters)


def last_words_in_capitals(text: str, spans: Sequence[Span], order: random.Random) -> str:
    """The text, character for character, with the last word of some names in capitals: "Aurélie LE GOFF"."""
    for start, end in spans:
        last = text.rfind(" ", start, end)
        if last > start and order.random() < CAPITALS and len(word := text[last:end].upper()) == end - last:
            text = text[:last] + word + text[end:]
    return text


def party_names(agreement: MarkedAgreement) -> list[Span]:
    """Where names stand in an agreement, those inside another left out."""
    found: list[Span] = []
    for mark in agreement.marks:
        if mark.label in PARTIES and (not found or mark.start >= found[-1][1]):
            found.append((mark.start, mark.end))
    return found


def joins(text: str, spans: Sequence[Span]) -> Iterator[tuple[list[int], bool]]:
    """Features of two tokens beside one another, and if a name goes on from one to the other, in and around names."""
    tokens = Tokens(text)
    found: dict[int, tuple[int, bool]] = {}
    for start, end in spans:
        inside = [at for at, (begin, _) in enumerate(tokens.spans) if start <= begin < end]
        if inside:
            first, last = inside[0], inside[-1]
            found |= dict.fromkeys(inside[:-1], (first, True))
            if first > 0:
                found.setdefault(first - 1, (first - 1, False))
            if last + 1 < len(tokens.spans):
                found.setdefault(last, (first, False))
    yield from ((tokens.seen(at, first), on) for at, (first, on) in found.items())


def all_joins() -> Iterator[tuple[list[int], bool]]:
    """What tells of a name's going on, from all there is."""
    for agreement in marked_agreements(MARKED):
        spans, order = party_names(agreement), random.Random(agreement.name)
        again = last_words_in_capitals(ended_elsewhere(agreement.text, order), spans, order)
        if order.random() < SHOUTED and len(again.upper()) == len(again):
            again = again.upper()
        for text in (agreement.text, again):
            yield from joins(text, spans)
    for path in (*sorted(ROLES.glob("*.jsonl")), *sorted(OPENINGS.glob("*.jsonl"))):
        for line in path.read_text(encoding="utf-8").splitlines():
            text, marks = unmarked(json.loads(line)["text"])
            yield from joins(text, [(start, end) for start, end, _ in marks])
    for text, parties in known_agreements():
        yield from joins(text, sorted(span for name, _ in parties for span in places(text, name)))


def known_agreements() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """The texts of agreements of known facts, with the names and kinds of their borrowers and lenders."""
    for folder in KNOWN:
        gold = json.loads((LOANS / folder / "gold.json").read_text(encoding="utf-8"))
        for name, record in sorted(gold.items()):
            parties = [record[role] for role in ("borrower", "lender") if record[role]["name"]]
            text = load(LOANS / folder / f"{name}.txt", name).text
            yield text, [(party["name"], party["kind"]) for party in parties]


def places(text: str, name: str) -> list[Span]:
    """Where a name stands in a text, over the ends of lines as well."""
    spelled = r"\s+".join(map(re.escape, name.split()))
    return [match.span() for match in re.finditer(rf"(?<!\w){spelled}(?!\w)", text)]


def named(folder: Path) -> Iterator[tuple[str, int]]:
    """The names in a folder's agreements with the places of their bearers in BEARERS, and what else is found there."""
    for agreement in marked_agreements(folder):
        marks = [mark for mark in agreement.marks if mark.label in PARTIES]
        told = {(" ".join(agreement.text[m.start : m.end].split()), BEARERS.index(m.kind)) for m in marks if m.kind}
        known = {word for name, _ in told for word in plain_words(name).split()}
        others = {name.text for name in find_names(agreement.text) if known.isdisjoint(plain_words(name.text).split())}
        yield from sorted(told)
        yield from ((name, 0) for name in sorted(others))


def rows(found: Sequence[Sequence[int]], width: int, weigh: Callable[[int], float]) -> csr_matrix:
    """A row for each list of features, each of which weighs as the length of its list says."""
    ends = numpy.cumsum([0, *map(len, found)])
    weights = numpy.concatenate([numpy.full(len(row), weigh(len(row))) for row in found])
    return csr_matrix((weights, numpy.concatenate(found), ends), shape=(len(found), width))


def main() -> None:
    """Train both and write the weights."""
    seen, on = zip(*all_joins(), strict=True)
    model = LogisticRegression(C=1, max_iter=300, solver="liblinear").fit(rows(seen, JOINS, lambda _: 1.0), on)
    tensors = {
        "joins.weight": torch.tensor(model.coef_[0]).half(),
        "joins.bias": torch.tensor(model.intercept_).float(),
    }
    bears = {"bears.weight": torch.zeros(len(BEARERS), BEARS).half(), "bears.bias": torch.zeros(len(BEARERS))}
    save_file(tensors | bears, WEIGHTS)
    names._weights.cache_clear()  # what is no name is found by what tells of names
    parties = [party for _, found in known_agreements() for party in found]
    known_kinds = [(name, BEARERS.index(kind)) for name, kind in parties if kind]
    known, kinds = zip(*[*named(MARKED), *known_kinds], strict=True)
    model = LogisticRegression(C=10, max_iter=200)
    model.fit(rows([features(name) for name in known], BEARS, lambda size: size**-0.5), kinds)
    bears["bears.weight"] = torch.tensor(model.coef_).half().contiguous()
    bears["bears.bias"] = torch.tensor(model.intercept_).float()
    save_file(tensors | bears, WEIGHTS, metadata=notes(LEARNED_FROM))
    names._weights.cache_clear()
    print(f"{WEIGHTS}: trained on {len(on)} pairs of tokens and {len(known)} names")
    whole = many = right = 0
    for agreement in marked_agreements(ASIDE):
        found = {(name.start, name.end) for name in find_names(agreement.text)}
        marked = party_names(agreement)
        whole, many = whole + len(found.intersection(marked)), many + len(marked)
    aside = list(named(ASIDE))
    likely = names.likely_bearers([name for name, _ in aside])
    right = sum(int(row.argmax()) == kind for row, (_, kind) in zip(likely, aside, strict=True))
    print(f"of {many} names by drafters set aside {whole} are found whole; of {len(aside)} {right} are told right")


if __name__ == "__main__":
    main()
