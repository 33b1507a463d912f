"""Train the judge of values on marked and whole agreements: `python tools/train_values.py`.

The agreements of `training/loans/marked/` and the passages of `training/loans/values/` mark the sum lent, the contract
rate, the last day and the term where they stand; every other amount of money, percentage, date and duration is an
example of what is none. In the whole agreements and in generated contracts, whose facts are known, a value is the
loan's where it equals the fact. Ten minutes on two cores; the same seed gives the same weights on the same machine.
"""

import json
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from adapters import saved
from marked_agreements import FOLDER, MarkedAgreement, marked_agreements
from mention_training import Example, train_judge, unmarked
from safetensors.torch import save_file
from training_data import notes

from ovrag_core.documents import load
from ovrag_core.loans import generate
from ovrag_core.loans.reading.values import SORTS, WEIGHTS, Maturity, Principal, Rate, Term, values_in

PASSAGES = Path("training/loans/values")
MARKED = Path("training/loans/marked")
AGREEMENTS = Path("training/loans/agreements")
FOLDERS = ("development", "development2", "hard_negatives", "hard_negatives2")
LEARNED_FROM = [f"{PASSAGES}/*.jsonl", f"{MARKED}/*/*.txt"] + [
    f"{AGREEMENTS}/{name}/{kind}" for name in FOLDERS for kind in ("*.txt", "gold.json")
]
GENERATED, SEED = 60, 9  # contracts of the project's own generator, and their seed
EPOCHS, RANK = 4, 8
SHORT, LONG = 5, 200  # characters that a passage cut short keeps on either side of its value
STOPS = 0.4  # probability that it stops where a sentence or row does
_EDGE = re.compile(r"\n|(?<=[.;:!?])\s+(?=[A-Z\"“(\d])")


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


def values_of(agreement: MarkedAgreement) -> Iterator[Example]:
    """The values that an agreement marks and those that it leaves bare, but for other mentions of what it marks."""
    yield from told(agreement.text, [(mark.start, mark.end, mark.label) for mark in agreement.marks])


def passages() -> Iterator[Example]:
    """The values of the marked passages."""
    for path in sorted(PASSAGES.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            text, marks = unmarked(json.loads(line)["text"])
            yield from told(text, marks)


def told(text: str, marks: Sequence[tuple[int, int, str]]) -> Iterator[Example]:
    """The values of a text by its marks (span and label)."""
    found: tuple[Sequence[Any], ...] = values_in(text)
    for column, values in enumerate(found, 1):
        spans = [(start, end) for start, end, label in marks if label == SORTS[column]]
        said = [any(start < value.end and value.start < end for start, end in spans) for value in values]
        known = {worth(value) for value, mine in zip(values, said, strict=True) if mine}
        for value, mine in zip(values, said, strict=True):
            if mine or worth(value) not in known:
                yield Example(text, value.start, value.end, column if mine else 0)


def values_by(text: str, facts: Mapping[str, Any]) -> Iterator[Example]:
    """The values of a text whose facts are known; a duration is judged only where the facts hold the term."""
    amount, rate = (facts.get("principal") or {}).get("amount"), facts.get("interest_rate")
    known = (
        amount and Decimal(str(amount)),
        rate and Decimal(str(rate).rstrip("%")),
        facts.get("maturity"),
        facts.get("term_months"),
    )
    found: tuple[Sequence[Any], ...] = values_in(text)
    for column, values in enumerate(found, 1):
        fact = known[column - 1]
        if SORTS[column] != "term" or fact is not None:
            yield from (Example(text, v.start, v.end, column if worth(v) == fact else 0) for v in values)


def known_agreements() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The texts of the whole agreements and of generated contracts, with their facts."""
    for folder in (AGREEMENTS / name for name in FOLDERS):
        for name, facts in sorted(json.loads((folder / "gold.json").read_text(encoding="utf-8")).items()):
            yield load(folder / f"{name}.txt", name).text, facts
    with tempfile.TemporaryDirectory() as made:
        folder, truth = Path(made) / "contracts", Path(made) / "truth.json"
        generate(folder, truth, count=GENERATED, seed=SEED, wording="varied")
        for name, facts in sorted(json.loads(truth.read_text(encoding="utf-8")).items()):
            yield load(folder / f"{name}.pdf", name).text, facts


def cut_short(examples: Sequence[Example], order: random.Random) -> Iterator[Example]:
    """The values that are the loan's, and as many others, in less than their passage: a sentence, a row or a few words.

    So the judge also reads a passage that stands alone, such as a chunk, an answer or a note of two lines.
    """
    own = [example for example in examples if example.column]
    others = [example for example in examples if not example.column]
    for example in [*own, *order.sample(others, min(len(own), len(others)))]:
        text, at, end = example.text, example.start, example.end
        left = max(0, at - order.randint(SHORT, LONG))
        right = min(len(text), end + order.randint(SHORT, LONG))
        edges = [edge.end() for edge in _EDGE.finditer(text, left, at)]
        begin = order.choice(edges) if edges else left + len(text[left:at].partition(" ")[0]) * (left > 0)
        stop = next((edge.start() for edge in _EDGE.finditer(text, end, right) if order.random() < STOPS), right)
        yield Example(text[begin:stop], at - begin, end - begin, example.column)


def main() -> None:
    """Train on all there is and write the weights."""
    examples = [example for agreement in marked_agreements(FOLDER) for example in values_of(agreement)]
    examples += passages()
    examples += [example for text, facts in known_agreements() for example in values_by(text, facts)]
    order = random.Random(0)
    examples += list(cut_short(examples, order))
    model, head = train_judge(examples, len(SORTS), order, EPOCHS, "values", RANK)
    save_file(saved(model, head), WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(examples)} values")


if __name__ == "__main__":
    main()
