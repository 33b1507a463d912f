"""Train what tells which passage of an agreement answers a question: `python tools/train_passages.py`.

Low-rank adapters (Hu et al. 2022) on every layer of the bundled sentence embedder, which reads question and passage as
one, and one linear layer over the means of the question's and of the passage's states and the first state. It learns
from questions about the marked agreements, and from those about invented policies that teach the reader of cited
answers. Each question is read with the passages that answer it, alone and behind what stands before them, and with the
nearest that do not. Minutes on a graphics card, hours on two cores.
`--rows` only writes the pairs, for training on another machine; `--weights` takes weights that were trained there.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy
from marked_agreements import FOLDER as MARKED
from marked_agreements import WAITING, read_marked
from passage_training import Pair, train
from safetensors.torch import load_file, save_file
from train_policy_reader import FOLDER as POLICIES
from train_policy_reader import HOUSES, UNSEEN, read_document, read_house, rows_of
from training_data import notes

from ovrag_core.base import Chunk
from ovrag_core.loans.passage_answering import WEIGHTS, readings_of
from ovrag_core.retrieval import minilm

ASKED = Path("training/loans/asked")
LEARNED_FROM = [
    f"{ASKED}/*.jsonl",
    "training/loans/marked/*/*.txt",
    "training/loans/waiting/*/*.txt",
    "training/cited/questions/[!ht]*.txt",  # with the two lines below, all but UNSEEN
    "training/cited/questions/hotel.txt",
    "training/cited/questions/t[eh]*.txt",
    "training/cited/houses/*.yaml",
]
EPOCHS = 7
NEAREST, OTHERS = 4, 2  # passages that do not answer, to each question; as many more where none does


def pairs_of(path: Path) -> Iterator[Pair]:
    """The pairs of a file of questions about marked agreements."""
    order = random.Random(path.stem)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for name in dict.fromkeys(line["document"] for line in lines):
        text = read_marked(next(path for folder in (MARKED, WAITING) if (path := folder / f"{name}.txt").exists())).text
        passages = readings_of([Chunk(f"{name}#0", name, 0, len(text), text)])
        vectors = minilm().embed([passage.alone for passage in passages])
        for line in (line for line in lines if line["document"] == name):
            quotes = [(text.find(quote), text.find(quote) + len(quote)) for quote in line["quotes"]]
            answers = [_covers(p.evidence.start, p.evidence.end, quotes) for p in passages]
            near = numpy.argsort(-(vectors @ minilm().embed([line["question"]])[0]), kind="stable")
            wrong = [int(row) for row in near if not answers[row]]
            more = 1 if line["quotes"] else 2
            chosen = wrong[: more * NEAREST]
            chosen += order.sample(wrong[len(chosen) :], min(more * OTHERS, len(wrong) - len(chosen)))
            for row in [*(row for row, right in enumerate(answers) if right), *chosen]:
                for seen in dict.fromkeys((passages[row].alone, passages[row].behind)):
                    yield Pair(line["question"], seen, answers[row])


def _covers(start: int, end: int, quotes: Sequence[tuple[int, int]]) -> bool:
    """Return True where a quote covers the greater part of a passage, or the passage that of a quote."""
    return any(2 * (min(end, last) - max(start, first)) > min(last - first, end - start) for first, last in quotes)


def all_pairs() -> list[Pair]:
    """All that there is to learn from."""
    pairs = [pair for path in sorted(ASKED.glob("*.jsonl")) for pair in pairs_of(path)]
    policies = [read_document(path) for path in sorted(POLICIES.glob("*.txt")) if path.stem not in UNSEEN]
    policies += map(read_house, sorted(HOUSES.glob("*.yaml")))
    return pairs + [Pair(row.question, row.text, row.answers) for each in policies for row in rows_of(each)]


def main() -> None:
    """Train on all there is and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--weights", type=Path)
    arguments = parser.parse_args()
    if arguments.rows:
        arguments.rows.write_text(json.dumps(all_pairs(), ensure_ascii=False), encoding="utf-8")
        return
    tensors = load_file(arguments.weights) if arguments.weights else train(all_pairs(), EPOCHS)
    save_file(tensors, WEIGHTS, metadata=notes(LEARNED_FROM))
    WEIGHTS.chmod(0o644)
    print(f"{WEIGHTS}: {sum(tensor.numel() for tensor in tensors.values())} weights")


if __name__ == "__main__":
    main()
