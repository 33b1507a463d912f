"""Learn which rule a sentence lets prevail from whole documents: `python tools/train_policy_precedence.py`.

Reads the documents of `training/cited/houses` and of the kinds TAUGHT of `training/cited/calibration`, and
`training/cited/precedence.jsonl`, which says by which sentence a rule of theirs prevails and which sentences rank
something else; and the small documents of `training/cited/precedence_cases.jsonl`, each with one contradiction. Writes
`ovrag_studies/cited/weights/precedence.safetensors`. First documents are left out in turn, and what the others teach is
measured on them; with `--measure` that is all. Two minutes on one core; nothing is drawn by chance.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy
import scipy.sparse
from labelled_documents import read_labelled
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm
from training_data import notes

from ovrag_core.retrieval import minilm
from ovrag_core.text import find_passages
from ovrag_studies.cited.conflicts.learned_precedence import (
    LEAST,
    LOOKED_AT,
    ROLES,
    UNLIKELY,
    WEIGHTS,
    PrecedenceModel,
    RankedDocument,
    inputs,
)
from ovrag_studies.cited.conflicts.rules import read_rules

HOUSES = Path("training/cited/houses")
DOCUMENTS = Path("training/cited/calibration")
CLAUSES = Path("training/cited/precedence.jsonl")
CASES = Path("training/cited/precedence_cases.jsonl")
TAUGHT = ("firm", "university", "hospital")
LEARNED_FROM = [f"{HOUSES}/*.yaml", *(f"{DOCUMENTS}/{kind}_*.yaml" for kind in TAUGHT), str(CLAUSES), str(CASES)]
FOLDS = 6
OF_SENTENCES, OF_PAIRS = 4.0, 0.5  # strength of the weights, against the penalty of their squares
OF_CASE = 0.3  # what a small document counts beside a whole one
LEAST_WIDTH = 0.1


@dataclass(frozen=True)
class Clash:
    """Two sentences that contradict each other, by their rows, the paragraph that prevails, and by which sentences."""

    sides: tuple[int, int]
    prevails: int | None
    clauses: frozenset[int]


@dataclass(frozen=True)
class Lesson:
    """A document: its sentences as they are weighed, which rank texts, its contradictions, and what it counts."""

    document: RankedDocument
    inputs: NDArray[numpy.float32]
    ranking: NDArray[numpy.bool_]
    clashes: list[Clash]
    weight: float = 1.0


def marked() -> dict[str, list[dict[str, object]]]:
    """The lines of CLAUSES by document."""
    found: dict[str, list[dict[str, object]]] = {}
    for line in CLAUSES.read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        found.setdefault(said["document"], []).append(said)
    return found


def read_lesson(path: Path, said: Sequence[dict[str, object]]) -> Lesson:
    """A document with what is said of its sentences."""
    labelled = read_labelled(path)
    corpus = labelled.corpus(path.stem)
    place = {id_: each.index + 1 for id_, each in corpus.by_id.items()}
    sentences = [(place[each.source.paragraph_id], " ".join(each.source.text.split())) for each in read_rules(corpus)]
    document = RankedDocument([labelled.title, *labelled.paragraphs], sentences, minilm())

    def rows(text: object, paragraphs: Iterable[int] = ()) -> list[int]:
        words = " ".join(str(text).split())
        allowed = {each + 1 for each in paragraphs}  # the title is the first paragraph
        return [
            row
            for row, (of, sentence) in enumerate(sentences)
            if (words in sentence or sentence in words) and len(sentence) > 15 and (not allowed or of in allowed)
        ]

    clauses = {str(each["question"]): rows(each["clause"]) for each in said if "clause" in each}
    ranking = numpy.zeros(len(sentences), dtype=bool)
    ranking[[row for each in said for row in rows(each.get("clause", each.get("other")))]] = True
    clashes = []
    for query in labelled.queries:
        sides = [found[0] for quote in query.quotes if (found := rows(quote, query.gold))]
        if query.category == "contradiction" and len(sides) > 1 and sentences[sides[0]][0] != sentences[sides[1]][0]:
            prevails = None if query.prevails is None else query.prevails + 1
            clashes.append(Clash((sides[0], sides[1]), prevails, frozenset(clauses.get(query.question, ()))))
    table = numpy.array([inputs(text, vector) for (_, text), vector in zip(sentences, document.vectors, strict=True)])
    return Lesson(document, table, ranking, clashes)


def read_case(line: str) -> Lesson:
    """A small document: its sides are the two sentences of both paragraphs that are most alike."""
    said = json.loads(line)
    paragraphs = [" ".join(text.split()) for text in (said["title"], *said["paragraphs"])]
    spans = [(row, text, *span) for row, text in enumerate(paragraphs[1:], 2) for span in find_passages(text)]
    sentences = [(row, text[start:end]) for row, text, start, end in spans]
    document = RankedDocument(paragraphs, sentences, minilm())
    clause = " ".join(said["sentence"].split())
    ranking = numpy.array([
        row == said["clause"] + 1 and (clause in text or text in clause) and len(text) > 12 for row, text in sentences
    ])  # fmt: skip
    sides = [
        [place for place, (row, _) in enumerate(sentences) if row == side + 1 and not ranking[place]]
        for side in said["sides"]
    ]
    alike = document.vectors[sides[0]] @ document.vectors[sides[1]].T
    first, second = numpy.unravel_index(alike.argmax(), alike.shape)
    prevails = said["prevails"] and said["prevails"] + 1
    clauses = frozenset(map(int, numpy.flatnonzero(ranking))) if prevails else frozenset()
    table = numpy.array([inputs(text, vector) for (_, text), vector in zip(sentences, document.vectors, strict=True)])
    clash = Clash((sides[0][int(first)], sides[1][int(second)]), prevails, clauses)
    return Lesson(document, table, ranking, [clash], OF_CASE)


def fitted(rows: NDArray[numpy.float32], labels: Sequence[bool]) -> NDArray:
    """The weights of a logistic regression, the bias last."""
    model = LogisticRegression(C=OF_SENTENCES, max_iter=3000).fit(scipy.sparse.csr_matrix(rows), labels)
    return numpy.array([*model.coef_[0], *model.intercept_], dtype=numpy.float32)


def learn_ranking(lessons: Sequence[Lesson]) -> NDArray:
    """Weights that tell sentences that rank texts."""
    return fitted(
        numpy.vstack([each.inputs for each in lessons]), numpy.concatenate([each.ranking for each in lessons])
    )


def learn_here(lessons: Sequence[Lesson]) -> NDArray:
    """Weights that tell sentences that rank what they stand in, or right before."""
    rows, labels = [], []
    for lesson in lessons:
        for clash in lesson.clashes:
            for row in clash.clauses if clash.prevails else ():
                rows.append(lesson.inputs[row])
                labels.append(0 <= clash.prevails - lesson.document.sentences[row][0] <= 3)
    return fitted(numpy.array(rows), labels)


def likely(weights: NDArray, lesson: Lesson) -> NDArray:
    """The chance of each sentence."""
    return 1 / (1 + numpy.exp(-(lesson.inputs @ weights[:-1] + weights[-1])))


class Seen(NamedTuple):
    """A contradiction by its place, the paragraph that would win by a sentence, whether it does, and what tells."""

    place: int
    wins: int
    right: bool
    numbers: NDArray
    terms: dict[int, float]


def candidates(lesson: Lesson, ranks: NDArray, here: NDArray) -> Iterator[Seen]:
    """Each contradiction with each sentence that may decide it, for both sides: its row, who wins, whether rightly, and
    the numbers and terms that tell.
    """
    best = [int(row) for row in numpy.argsort(-ranks, kind="stable")[:LOOKED_AT] if ranks[row] > UNLIKELY]
    for place, clash in enumerate(lesson.clashes):
        for row in best:
            if not lesson.document.may_rank(row, clash.sides):
                continue
            for winner, loser in (clash.sides, clash.sides[::-1]):
                wins = lesson.document.sentences[winner][0]
                right = clash.prevails == wins and row in clash.clauses
                numbers = lesson.document.numbers(row, winner, loser, ranks[row], here[row])
                yield Seen(place, wins, right, numbers, lesson.document.terms(row, winner, loser))


def learn(lessons: Sequence[Lesson]) -> PrecedenceModel:
    """All weights; how sentences look to the last step is learned from the other half of the documents."""
    seen: list[Seen] = []
    weights: list[float] = []
    for half, other in ((lessons[::2], lessons[1::2]), (lessons[1::2], lessons[::2])):
        ranks, here = learn_ranking(other), learn_here(other)
        for lesson in half:
            own = list(candidates(lesson, likely(ranks, lesson), likely(here, lesson)))
            seen += own
            weights += [lesson.weight] * len(own)
    numbers = numpy.array([each.numbers for each in seen])
    middles, widths = numbers.mean(0), numbers.std(0) + LEAST_WIDTH
    model = LogisticRegression(C=OF_PAIRS, max_iter=4000)
    terms = scipy.sparse.lil_matrix((len(seen), ROLES))
    for place, each in enumerate(seen):
        for row, value in each.terms.items():
            terms[place, row] = value
    rows = scipy.sparse.hstack([scipy.sparse.csr_matrix((numbers - middles) / widths), terms.tocsr()]).tocsr()
    model.fit(rows, [each.right for each in seen], weights)
    found = model.coef_[0].astype(numpy.float32)
    table = numpy.array([middles, widths, found[: len(middles)]], dtype=numpy.float32)
    own = float(model.intercept_[0])
    return PrecedenceModel(learn_ranking(lessons), learn_here(lessons), table, found[len(middles) :], own)


def told(lesson: Lesson, model: PrecedenceModel) -> list[int | None]:
    """The paragraph that prevails in each contradiction of a document, None where none does."""
    best: list[tuple[float, int | None]] = [(LEAST, None)] * len(lesson.clashes)
    ranks, here = likely(model.ranks, lesson), likely(model.here, lesson)
    for place, wins, _, numbers, terms in candidates(lesson, ranks, here):
        best[place] = max(best[place], (model.prevails(numbers, terms), wins), key=lambda each: each[0])
    return [wins for _, wins in best]


def measure(lessons: Sequence[Lesson], cases: Sequence[Lesson]) -> None:
    """Print what is told of whole documents by those of other folds, and by the small ones."""
    print("| documents | superseded | the right side | the other | unresolved | told so |\n|---|---|---|---|---|---|")
    found = []
    for fold in range(FOLDS):
        model = learn([*(each for row, each in enumerate(lessons) if row % FOLDS != fold), *cases])
        for lesson in lessons[fold::FOLDS]:
            found += zip(lesson.clashes, told(lesson, model), strict=True)
    decided = [(clash, wins) for clash, wins in found if clash.prevails]
    open_ = [wins for clash, wins in found if not clash.prevails]
    right = sum(wins == clash.prevails for clash, wins in decided)
    other = sum(wins not in (None, clash.prevails) for clash, wins in decided)
    print(f"| {len(lessons)} | {len(decided)} | {right} | {other} | {len(open_)} | {open_.count(None)} |")


def main() -> None:
    """Measure, learn and write, or only measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    said = marked()
    paths = [*sorted(HOUSES.glob("*.yaml")), *(path for kind in TAUGHT for path in sorted(DOCUMENTS.glob(f"{kind}_*")))]
    lessons = [read_lesson(path, said.get(path.stem, [])) for path in tqdm(paths, desc="documents")]
    cases = [read_case(line) for line in tqdm(CASES.read_text(encoding="utf-8").splitlines(), desc="small documents")]
    measure(lessons, cases)
    if asked.measure:
        return
    model = learn([*lessons, *cases])
    tensors = {
        "ranks": model.ranks.astype(numpy.float16),
        "here": model.here.astype(numpy.float16),
        "numbers": model.numbers,
        "roles": model.roles,
        "bias": numpy.array([model.bias], dtype=numpy.float32),
    }
    save_file(tensors, WEIGHTS, metadata=notes(LEARNED_FROM))
    WEIGHTS.chmod(0o644)
    print(f"{WEIGHTS}: from {len(lessons)} documents and {len(cases)} small ones")


if __name__ == "__main__":
    main()
