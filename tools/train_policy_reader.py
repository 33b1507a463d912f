"""Train the reader of questions and paragraphs: `python tools/train_policy_reader.py`.

It learns from `training/cited/questions` and `training/cited/houses`.

Low-rank adapters (Hu et al. 2022) on the upper half of the bundled sentence embedder, which reads question and
paragraph as one passage, and one linear layer over the means of the question's and of the paragraph's states and the
first state. Each question is read with the paragraphs that answer it and their sentences that do, or, where nobody has
said which, the nearest, and with the nearest paragraphs and sentences that do not. Half an hour on two idle cores; the
same seed gives the same weights on the same machine.

On the documents of UNSEEN, which are left out, its judgement is measured, and COSINE and MEAN of
`ovrag_studies/cited/answering/silence.py` are weighed: how well the score tells right from wrong answers.
With `--measure` that is all, by the weights that there are.
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy
import torch
from adapters import BATCH, FROZEN, SMOOTHING, add_adapters, fit, load_trainable, mean, saved, upper_states
from labelled_documents import corpus_of, read_labelled
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from training_data import notes

from ovrag_core.retrieval import (
    DIMENSIONS,
    RelevanceReader,
    Vectors,
    join_question,
    load_tokenizer,
    minilm,
    windows_of,
)
from ovrag_studies.cited.answering.cited_answers import answer
from ovrag_studies.cited.answering.silence import COSINE, MEAN, AnswerTraits, read_traits
from ovrag_studies.cited.arms import ArmParts, search
from ovrag_studies.cited.corpus.relevance import WEIGHTS, load_reader
from ovrag_studies.cited.corpus.retrieval import CorpusIndex
from ovrag_studies.cited.settings import Policy

FOLDER = Path("training/cited/questions")
HOUSES = Path("training/cited/houses")
UNSEEN = ("harrowmere", "tarnbeck", "travel")
EPOCHS = 3
RATE = 1.5e-3
NEAREST_PARAGRAPHS, NEAREST_WINDOWS = 1, 2  # that do not answer, to each question; one more where nothing does
LOOKED_AT = 5  # paragraphs of which one must answer, as in retrieval
SEED = 0
COSINES, MEANS = (0, 1, 2, 3, 4, 6, 8, 12), (0.0, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Row:
    """A question, a text, and whether this answers that."""

    question: str
    text: str
    answers: bool


@dataclass(frozen=True)
class Document:
    """The paragraphs of a file, and for each question those that answer it and, where known, the words that do."""

    paragraphs: list[str]
    questions: dict[str, frozenset[int]]
    quotes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def windows(self) -> list[tuple[int, str]]:
        """The windows of all paragraphs, each with the number of its paragraph."""
        return [(row, window) for row, text in enumerate(self.paragraphs) for window in windows_of(text)]

    @cached_property
    def vectors(self) -> tuple[Vectors, Vectors]:
        """One row a paragraph, and one a window."""
        return minilm().embed(self.paragraphs), minilm().embed([window for _, window in self.windows])


def read_document(path: Path) -> Document:
    """A file of the folder."""
    paragraphs: list[str] = []
    questions: dict[str, frozenset[int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark, text = line[:1], line[2:].strip()
        if mark in ("#", "="):
            paragraphs.append(text)
        elif mark in ("+", "-"):
            gold = frozenset([len(paragraphs) - 1]) if mark == "+" else frozenset()
            questions[text] = questions.get(text, frozenset()) | gold
        elif text:
            raise SystemExit(f"{path}, line {number}: it begins with none of # = + -")
    return Document(paragraphs, questions)


def read_house(path: Path) -> Document:
    """A document of HOUSES; its title is a paragraph too."""
    labelled = read_labelled(path)
    questions = {each.question: frozenset(each.gold) for each in labelled.queries}
    quotes = {each.question: each.quotes for each in labelled.queries if each.quotes}
    return Document([labelled.title, *labelled.paragraphs], questions, quotes)


def rows_of(document: Document) -> list[Row]:
    """What is learned from a document."""
    rows = []
    for question, gold in document.questions.items():
        whole, near = (vectors @ minilm().embed([question])[0] for vectors in document.vectors)
        more = not gold
        for row in sorted(gold):
            rows.append(Row(question, document.paragraphs[row], True))
            own = [place for place, (of, _) in enumerate(document.windows) if of == row]
            said = [" ".join(quote.split()) for quote in document.quotes.get(question, ())]
            told = [place for place in own if any(quote in document.windows[place][1] for quote in said)]
            best = told or [max(own, key=lambda place: near[place])]
            if len(own) > 1:
                rows += [Row(question, document.windows[place][1], True) for place in best]
        others = [row for row in numpy.argsort(-whole, kind="stable") if row not in gold]
        rows += [Row(question, document.paragraphs[row], False) for row in others[: NEAREST_PARAGRAPHS + more]]
        places = [place for place in numpy.argsort(-near, kind="stable") if document.windows[place][0] not in gold]
        rows += [Row(question, document.windows[place][1], False) for place in places[: NEAREST_WINDOWS + more]]
    return rows


def half() -> torch.autocast:
    """Sums in half the precision, which takes a quarter of the time."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


class Encoded:
    """Rows as the reader sees them, with what the frozen layers make of them."""

    def __init__(self, model: nn.Module, rows: Sequence[Row]) -> None:
        tokenizer = load_tokenizer()
        joined = [join_question(tokenizer.encode(row.question).ids, tokenizer.encode(row.text).ids) for row in rows]
        self.marks = [torch.tensor(marks, dtype=torch.float32) for _, marks in joined]
        self.lower: list[Tensor] = [torch.empty(0)] * len(joined)
        model.eval()
        layers, model.encoder.layer = model.encoder.layer, model.encoder.layer[:FROZEN]
        order = sorted(range(len(joined)), key=lambda row: len(joined[row][0]))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            ids = nn.utils.rnn.pad_sequence([torch.tensor(joined[row][0]) for row in batch], batch_first=True)
            real = torch.arange(ids.shape[1])[None, :] < torch.tensor([[len(joined[row][0])] for row in batch])
            with torch.inference_mode(), half():
                states = model(ids, attention_mask=real.long()).last_hidden_state
            for place, row in enumerate(batch):
                self.lower[row] = states[place, : len(joined[row][0])].float().clone()
        model.encoder.layer = layers

    def scores(self, model: nn.Module, head: nn.Module, rows: Sequence[int]) -> Tensor:
        """The log-odds that the paragraphs of pairs answer."""
        hidden, _ = upper_states(model, [self.lower[row] for row in rows])
        hidden = hidden.float()
        marks = nn.utils.rnn.pad_sequence([self.marks[row].T for row in rows], batch_first=True)
        means = [mean(hidden, marks[:, :, number]) for number in range(marks.shape[2])]
        found = head(torch.cat(means, dim=1))
        return found[:, 1] - found[:, 0]


def train(rows: Sequence[Row], seed: int) -> tuple[nn.Module, nn.Module]:
    """The adapted model and its head, trained on the rows."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    model, _ = load_trainable()
    encoded = Encoded(model, rows)
    add_adapters(model)
    head = nn.Linear(3 * DIMENSIONS, 2)
    answers = torch.tensor([float(row.answers) for row in rows])
    weight = ((answers == 0).sum() / (answers == 1).sum()).sqrt()
    places = list(range(len(rows)))

    def shuffled() -> list[int]:
        return sorted(order.sample(places, len(places)), key=lambda row: len(encoded.lower[row]) // 12)

    def loss_of(batch: Sequence[int]) -> Tensor:
        target = answers[batch] * (1 - SMOOTHING) + SMOOTHING / 2
        with half():
            found = encoded.scores(model, head, batch).float()
        return nn.functional.binary_cross_entropy_with_logits(found, target, pos_weight=weight)

    fit(model, head, places, shuffled, loss_of, order, EPOCHS, "reader", RATE)
    return model, head


def judged(reader: RelevanceReader, document: Document) -> tuple[list[float], list[bool]]:
    """For each question the greatest log-odds of a near paragraph, and whether any paragraph answers."""
    found = []
    for question in document.questions:
        near = document.vectors[0] @ minilm().embed([question])[0]
        best = numpy.argsort(-near, kind="stable")[:LOOKED_AT]
        found.append(max(reader.read(question, [document.paragraphs[row] for row in best])))
    return found, [bool(gold) for gold in document.questions.values()]


def answered(name: str, document: Document) -> list[tuple[AnswerTraits, bool]]:
    """For each question of a document the traits of the answer copied from it, and whether this quotes a paragraph that
    answers.
    """
    parts = ArmParts(Policy(), CorpusIndex(corpus_of(name, document.paragraphs)))
    rows = []
    for question, gold in document.questions.items():
        found = search(parts, question)
        copied = answer(question, found, parts.verifier)
        quoted = {
            parts.index.corpus.by_id[each.paragraph_id].text for said in copied.sentences for each in said.citations
        }
        if traits := read_traits(copied, found, parts.verifier):
            rows.append((traits, bool(quoted & {document.paragraphs[row] for row in gold})))
    return rows


def told_apart(given: Mapping[str, Sequence[tuple[AnswerTraits, bool]]], cosine: float, mean: float) -> float:
    """AUROC of right against wrong answers by the score with these weights: the mean of the documents."""
    areas = [
        roc_auc_score([right for _, right in rows], [traits.score(cosine, mean) for traits, _ in rows])
        for rows in given.values()
    ]
    return float(numpy.mean(areas))


def measure(documents: Mapping[str, Document]) -> None:
    """Print how well documents are judged that were not learned from, and how well each weighing does on them."""
    reader = load_reader()
    print("| document | questions | of them without an answer | AUROC of the reader |\n|---|---|---|---|")
    for name, document in documents.items():
        found, known = judged(reader, document)
        print(f"| {name} | {len(found)} | {known.count(False)} | {roc_auc_score(known, found):.3f} |")
    given = {name: answered(name, document) for name, document in documents.items()}
    wrong = sum(not right for rows in given.values() for _, right in rows)
    print(f"\nAUROC of right against wrong answers ({wrong} of {sum(map(len, given.values()))}), mean of the documents")
    print(f"\n| COSINE | {' | '.join(f'MEAN {mean:g}' for mean in MEANS)} |\n|{'---|' * (len(MEANS) + 1)}")
    areas = {pair: round(told_apart(given, *pair), 3) for pair in product(COSINES, MEANS)}
    for cosine in COSINES:
        print(f"| {cosine} | {' | '.join(f'{areas[cosine, mean]:.3f}' for mean in MEANS)} |")
    cosine, mean = max(areas, key=lambda pair: (areas[pair], -pair[0], -pair[1]))
    print(f"\nbest, of equal ones the least: COSINE = {cosine:g}, MEAN = {mean:g}")
    print(f"those of silence.py: COSINE = {COSINE:g}, MEAN = {MEAN:g}, {told_apart(given, COSINE, MEAN):.3f}")


def main() -> None:
    """Train and write the weights, unless they are only to be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    documents = {path.stem: read_document(path) for path in sorted(FOLDER.glob("*.txt"))}
    if not parser.parse_args().measure:
        taught = [each for name, each in documents.items() if name not in UNSEEN]
        taught += map(read_house, sorted(HOUSES.glob("*.yaml")))
        rows = [row for each in taught for row in rows_of(each)]
        learned = [*(f"{FOLDER}/{name}.txt" for name in documents if name not in UNSEEN), f"{HOUSES}/*.yaml"]
        save_file(saved(*train(rows, SEED)), WEIGHTS, metadata=notes(learned))
        WEIGHTS.chmod(0o644)
        print(f"trained on {len(rows)} pairs of {len(taught)} documents")
    measure({name: documents[name] for name in UNSEEN})


if __name__ == "__main__":
    main()
