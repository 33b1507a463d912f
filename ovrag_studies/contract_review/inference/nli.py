"""Judges of hypotheses about an agreement: entailed, contradicted or not mentioned, with the spans that tell."""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy
from safetensors import SafetensorError
from safetensors.numpy import save_file

from ovrag_core.base import CorpusError, Document, QuestionError, project_file, read_tensors
from ovrag_core.retrieval import WordRanker
from ovrag_core.text import stems
from ovrag_studies.contract_review.inference import nli_learned
from ovrag_studies.contract_review.inference.nli_cues import cue_hits, cues, plain
from ovrag_studies.contract_review.inference.nli_learned import CHOICES, Parameters
from ovrag_studies.contract_review.inference.nli_reading import Floats, behind_leads, checked_spans, find_leads, read
from ovrag_studies.contract_review.packed import from_sparse, sparse
from ovrag_studies.contract_review.texts import datasets
from ovrag_studies.contract_review.texts.datasets import Choice, NliAgreement, NliSet, Span

WEIGHTS = Path(__file__).parents[1] / "weights" / "nli.safetensors"
FORMAT = "ovrag-nli-2"
OF_WORDS = ("spans.weight", "content.weight")  # tables with rows of zeros for what no agreement says
LEAST = 1e-3  # spans below it are no evidence that anyone looks at, but the best are always given
ALWAYS = 5
MOST_SPANS = 16_000  # of training: a gigabyte for each matrix of spans by spans
CUE_WEIGHTS = numpy.array([[2.0, 2.0, 1.0], [0.5, 1.0, 0.5]], dtype=numpy.float32)  # about, for, against


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """A span `[start, end)` with its score, 0 to 1: how likely it is evidence, if the agreement has any."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class JudgedHypothesis:
    """Judgement of one hypothesis by one judge; evidence is best first.

    `choice` is None where a chat model gave no usable reply; `fault` holds the reason. `invented` counts quotes of a
    model that are not in the text.
    """

    hypothesis: str
    choice: Choice | None
    probabilities: Mapping[Choice, float]
    evidence: tuple[EvidenceSpan, ...]
    fault: str | None = None
    invented: int = 0


# One result a hypothesis, in their order. Without spans the passages of the text are judged.
Judge = Callable[[Document, Sequence[Span] | None, Mapping[str, str]], list[JudgedHypothesis]]


def majority(
    document: Document, spans: Sequence[Span] | None, hypotheses: Mapping[str, str], shares: Mapping[str, Floats]
) -> list[JudgedHypothesis]:
    """Judge by the most frequent choice: `shares` of the choices by hypothesis, whatever a text says."""
    checked_spans(document, spans)
    _refuse_unknown(hypotheses, shares)
    return [_judged(name, shares[name], ()) for name in hypotheses]


def majority_of(agreements: Sequence[NliAgreement], hypotheses: Sequence[str]) -> Judge:
    """Return the judge of the most frequent choice in marked agreements."""
    choices = numpy.stack([nli_learned.marked(a, hypotheses).choices for a in agreements])
    counts = [numpy.bincount(column, minlength=len(CHOICES)) for column in choices.T]
    shares = {name: count / count.sum() for name, count in zip(hypotheses, counts, strict=True)}
    return partial(majority, shares=shares)


def lexical(document: Document, spans: Sequence[Span] | None, hypotheses: Mapping[str, str]) -> list[JudgedHypothesis]:
    """Judge without training: BM25 of the hypothesis's words and cue words find the evidence; cues decide.

    Cues of a span alone count more than those it shares with its lead; one cue outweighs any likeness.
    """
    _refuse_unknown(hypotheses, cues())
    chosen = checked_spans(document, spans)
    even = [plain(document.text[start:end]) for start, end in chosen]
    led = behind_leads(even, find_leads(even))
    lexicon = WordRanker([stems(text) for text in even])
    results = []
    for name, wording in hypotheses.items():
        likeness = numpy.maximum(lexicon.scores([(stem, 1.0) for stem in stems(plain(wording))]), 0)
        alone, shared = (numpy.array([cue_hits(name, t) for t in texts], dtype=numpy.float32) for texts in (even, led))
        cued = alone @ CUE_WEIGHTS[0] + shared @ CUE_WEIGHTS[1]
        like = likeness / max(float(likeness.max(initial=0)), 1e-9)
        scores = ((cued + 2 * like) / (CUE_WEIGHTS.sum() + 2)).astype(numpy.float32)
        best = numpy.argsort(-scores, kind="stable")[:3]
        entails, contradicts = alone[best, 1].any(), (alone[best, 2] > alone[best, 1]).any()
        shares = numpy.full(3, 0.2, dtype=numpy.float32)
        shares[1 if entails else 2 if contradicts else 0] = 0.6
        results.append(_judged(name, shares, _ranked(chosen, scores)))
    return results


@dataclass(frozen=True)
class LearnedJudge:
    """The learned judge of `hypotheses`; `trained_on` are digests of agreements, which it refuses."""

    parameters: Parameters
    hypotheses: Sequence[str]
    trained_on: Collection[str]

    def __call__(
        self, document: Document, spans: Sequence[Span] | None, hypotheses: Mapping[str, str]
    ) -> list[JudgedHypothesis]:
        """Judge an agreement. Raises CorpusError for one of the training."""
        _refuse_unknown(hypotheses, self.hypotheses)
        if digest(document.text) in self.trained_on:
            raise CorpusError(
                f"{document.id} was among the agreements that the weights were trained on; judge it out of fold with "
                "`ovrag contract-review run nli`, or with --arm lexical"
            )
        # All hypotheses are read, whatever is asked: what is learned knows them by their place.
        reading = read(document, spans, {name: hypotheses.get(name, "") for name in self.hypotheses})
        evidence, probabilities = nli_learned.predict(self.parameters, reading)
        columns = {name: self.hypotheses.index(name) for name in hypotheses}
        return [
            _judged(name, probabilities[column], _ranked(reading.spans, evidence[:, column]))
            for name, column in columns.items()
        ]


def digest(text: str) -> str:
    """Tells an agreement again, whatever became of its blanks, line ends and signs."""
    letters = "".join(character for character in text.casefold() if character.isalnum())
    return hashlib.sha256(letters.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def train(agreements: Sequence[NliAgreement], hypotheses: Mapping[str, str]) -> Parameters:
    """Train the learned judge on marked agreements and on written ones. Raises CorpusError for too few or too many."""
    if len(agreements) < 10:
        raise CorpusError(f"{len(agreements)} marked agreements are too few to learn from; give ten or more")
    if (spans := sum(len(a.spans) for a in agreements)) > MOST_SPANS:
        raise CorpusError(f"{spans} spans are too many to learn from at once; give agreements of {MOST_SPANS} or fewer")
    return nli_learned.fit(_lessons(agreements, hypotheses), _written(tuple(hypotheses.items())))


def _lessons(agreements: Sequence[NliAgreement], hypotheses: Mapping[str, str]) -> list[nli_learned.Lesson]:
    names = list(hypotheses)
    return [(read(a.document, a.spans, hypotheses), nli_learned.marked(a, names)) for a in agreements]


@cache
def _written(hypotheses: tuple[tuple[str, str], ...]) -> list[nli_learned.Lesson]:
    names = [name for name, _ in hypotheses]
    return _lessons(datasets.read_written(project_file(datasets.WRITTEN), names), dict(hypotheses))


def out_of_fold(data: NliSet, name: str) -> dict[int, list[JudgedHypothesis]]:
    """Every agreement, by its number, judged by what those of other folds teach; `name`: majority or learned."""
    placed, names = datasets.fold_of([a.document.id for a in data.agreements]), list(data.hypotheses)
    judges: dict[int, Judge] = {}
    for fold in sorted(set(placed.values())):
        training = [a for a in data.agreements if placed[a.document.id] != fold]
        if name == "majority":
            judges[fold] = majority_of(training, names)
        else:
            digests = [digest(a.document.text) for a in training]
            judges[fold] = LearnedJudge(train(training, data.hypotheses), names, digests)
    return {a.number: judges[placed[a.document.id]](a.document, a.spans, data.hypotheses) for a in data.agreements}


def save(
    parameters: Parameters,
    hypotheses: Sequence[str],
    agreements: Sequence[NliAgreement],
    path: Path,
    learned_from: Mapping[str, object] | None = None,
) -> None:
    """Write weights, and beside them where they come from and the files `learned_from`. No text is kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, numpy.ndarray] = {}
    for name, values in parameters.items():
        tensors |= sparse(name, values, values.shape[-1]) if name in OF_WORDS else {name: values.astype(numpy.float32)}
    contiguous = {name: numpy.ascontiguousarray(values) for name, values in sorted(tensors.items())}
    save_file(contiguous, path, metadata={"format": FORMAT})
    listed = [{"id": a.number, "file": a.document.id, "digest": digest(a.document.text)} for a in agreements]
    about = {
        "source": "ContractNLI (Koreeda and Manning 2021, arXiv 2110.01799), development split",
        "licence": "CC BY 4.0, Hitachi America and Stanford",
        "hypotheses": list(hypotheses),
        "trained_on": listed,
        **({} if learned_from is None else {"learned_from": dict(learned_from)}),
    }
    path.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def load_learned(path: Path = WEIGHTS) -> LearnedJudge:
    """Return the learned judge with the weights of a file. Raises CorpusError where they cannot be read."""
    try:
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        tensors, metadata = read_tensors(path)
        if metadata.get("format") != FORMAT:
            raise CorpusError(f"{path} is of another format than {FORMAT}; train it anew")
        of_words = {name: from_sparse(name, tensors) for name in OF_WORDS}
        parameters = of_words | {name: values for name, values in tensors.items() if not name.startswith(OF_WORDS)}
        return LearnedJudge(parameters, about["hypotheses"], {agreement["digest"] for agreement in about["trained_on"]})
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise CorpusError(f"{path} cannot be read ({error}); run tools/train_contract_nli.py") from None


def load_majority() -> Judge:
    """Return the majority of the agreements that the weights of the study were trained on."""
    learned = load_learned()
    shares = numpy.exp(learned.parameters["choice.prior"].astype(numpy.float64))
    return partial(majority, shares=dict(zip(learned.hypotheses, shares, strict=True)))


# The most frequent choice of the training agreements; BM25 and cue words, no training; what `nli_learned` teaches.
JUDGES: dict[str, Callable[[], Judge]] = {
    "majority": load_majority,
    "lexical": lambda: lexical,
    "learned": load_learned,
}


def _judged(name: str, probabilities: Floats, evidence: tuple[EvidenceSpan, ...]) -> JudgedHypothesis:
    shares = {choice: round(float(share), 6) for choice, share in zip(CHOICES, probabilities, strict=True)}
    return JudgedHypothesis(name, CHOICES[int(numpy.argmax(probabilities))], shares, evidence)


def _ranked(spans: Sequence[Span], scores: Floats) -> tuple[EvidenceSpan, ...]:
    order = numpy.argsort(-scores, kind="stable")
    return tuple(
        EvidenceSpan(spans[row][0], spans[row][1], score)
        for rank, row in enumerate(order)
        if (score := round(float(scores[row]), 6)) >= LEAST or (rank < ALWAYS and score > 0)
    )


def _refuse_unknown(asked: Mapping[str, str], known: Collection[str]) -> None:
    if unknown := [name for name in asked if name not in known]:
        names = ", ".join(sorted(known, key=lambda name: (len(name), name)))
        raise QuestionError(f"unknown hypothesis {unknown[0]!r}; known are {names}")
