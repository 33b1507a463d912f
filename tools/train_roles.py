"""Train the judge of roles on the marked passages: `python tools/train_roles.py`.

A passage marks each name as `<<name|role>>`; each name is one example. Whole agreements of the development folders,
whose borrower and lender are known, add every other name and what merely looks like one. Low-rank adapters (Hu et al.
2022) on the upper half of the bundled sentence embedder, the mean of the name's tokens beside the mean of all, and one
linear layer. A second copy of half the passages has names of other passages in place of its own, so that what is
learned is the words around a name, not the name. Ten minutes on two cores; the same
seed gives the same weights on the same machine.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from adapters import SMOOTHING, add_adapters, fit, load_trainable, lower_states, mean, saved, upper_states
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from tqdm import tqdm
from training_data import notes

from ovrag_core.documents import load
from ovrag_core.loans import ROLES, Terms, candidates, find_parties, marked, named
from ovrag_core.loans.reading.roles import WEIGHTS
from ovrag_core.retrieval import DIMENSIONS, MAX_TOKENS

PASSAGES = Path("training/loans/roles")
AGREEMENTS = Path("training/loans/agreements")
FOLDERS = ("development", "development2", "hard_negatives", "hard_negatives2")
LEARNED_FROM = [f"{PASSAGES}/*.jsonl"] + [
    f"{AGREEMENTS}/{name}/{kind}" for name in FOLDERS for kind in ("*.txt", "gold.json")
]
EPOCHS = 3
Row = tuple[Tensor, Tensor, int]  # the states of the frozen layers, which tokens are the name, and the role
_MARKED = re.compile(r"<<([^|<>]+)\|(\w+)>>")


@dataclass(frozen=True, slots=True)
class Example:
    """A name in its passage, and its role."""

    text: str
    start: int
    end: int
    role: int


def read_passages(paths: list[Path]) -> list[str]:
    """The marked passages of the files."""
    return [json.loads(line)["text"] for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def examples_of(passage: str) -> list[Example]:
    """One example for each name that is marked in the passage."""
    text, found, at = "", [], 0
    for match in _MARKED.finditer(passage):
        text += passage[at : match.start()]
        found.append((len(text), len(text) + len(match[1]), ROLES.index(match[2])))
        text += match[1]
        at = match.end()
    text += passage[at:]
    return [Example(text, start, end, role) for start, end, role in found]


def with_other_names(passage: str, names: list[str], order: random.Random) -> str:
    """The passage with each of its names replaced by one of `names`, the same name by the same."""
    instead: dict[str, str] = {}
    return _MARKED.sub(lambda match: f"<<{instead.setdefault(match[1], order.choice(names))}|{match[2]}>>", passage)


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


def others_in(passage: list[Example]) -> list[Example]:
    """What looks like a name in a passage and is none of those marked."""
    text = passage[0].text
    return [
        Example(text, name.start, name.end, ROLES.index("other"))
        for name in candidates(text, Terms(text))
        if all(name.end <= each.start or each.end <= name.start for each in passage)
    ]


def prepared(model: nn.Module, tokenizer: Tokenizer, examples: list[Example]) -> list[Row]:
    """For each example the states of the frozen layers, which tokens are the name, and the role."""
    rows = []
    for example in tqdm(examples, desc="lower layers"):
        words, first, last = marked(example.text, example.start, example.end)
        tokens = tokenizer.encode(words)
        inside = torch.tensor(named(tokens.offsets[:MAX_TOKENS], first, last))
        rows.append((lower_states(model, tokens.ids[:MAX_TOKENS]), inside.float(), example.role))
    return rows


def scored(model: nn.Module, head: nn.Module, rows: Sequence[Row]) -> Tensor:
    """Scores of the examples (n × 4)."""
    hidden, real = upper_states(model, [states for states, _, _ in rows])
    name = nn.utils.rnn.pad_sequence([inside for _, inside, _ in rows], batch_first=True)
    return head(torch.cat([mean(hidden, real), mean(hidden, name)], dim=1))


def train(passages: list[str], agreements: list[Example], seed: int) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    model, tokenizer = load_trainable()
    names = sorted({match[1] for passage in passages for match in _MARKED.finditer(passage) if match[2] != "other"})
    swapped = [with_other_names(passage, names, order) for passage in order.sample(passages, len(passages) // 2)]
    examples = list(agreements)
    for passage in (*passages, *swapped):
        found = examples_of(passage)
        examples += [*found, *others_in(found)]
    rows = prepared(model, tokenizer, examples)
    add_adapters(model)
    head = nn.Linear(2 * DIMENSIONS, len(ROLES))

    def shuffled() -> list[Row]:
        order.shuffle(rows)
        rows.sort(key=lambda row: len(row[1]) // 16)
        return rows

    def loss_of(batch: Sequence[Row]) -> Tensor:
        roles = torch.tensor([role for _, _, role in batch])
        return nn.functional.cross_entropy(scored(model, head, batch), roles, label_smoothing=SMOOTHING)

    fit(model, head, rows, shuffled, loss_of, order, EPOCHS, "roles")
    return model, head


def main() -> None:
    """Train on all there is and write the weights."""
    passages = read_passages(sorted(PASSAGES.glob("*.jsonl")))
    agreements = [each for folder in FOLDERS for each in examples_in(AGREEMENTS / folder)]
    save_file(saved(*train(passages, agreements, 0)), WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(passages)} passages and {len(agreements)} names in agreements")


if __name__ == "__main__":
    main()
