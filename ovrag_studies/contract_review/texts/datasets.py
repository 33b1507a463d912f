"""The data sets: CUAD and ContractNLI as published, CUAD as a folder of texts with a list of questions, and folds.

Beside them agreements that were written to be learned from: `training/contract_review/ndas`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from ovrag_core.base import CorpusError, Document, Frozen, fault, read_yaml
from ovrag_core.documents import find_sections

Span = tuple[int, int]
Choice = Literal["Entailment", "Contradiction", "NotMentioned"]

QUESTIONS = "questions.json"
ORIGINAL = ("CUADv1.json", "CUAD_v1.json")
FOLDS = 5
WRITTEN = Path("training/contract_review/ndas")
REMEDY = "its form is described in training/contract_review/README.md"
LETTERS: dict[str, Choice] = {"E": "Entailment", "C": "Contradiction", "N": "NotMentioned"}
_FILER = re.compile(r"_| - ")


@dataclass(frozen=True, slots=True)
class ChecklistQuestion:
    """A category asked of one contract. `gold` are the spans `[start, end)` that answer it; none: it is not there."""

    id: str
    category: str
    gold: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract with the questions asked of it; `document.id` is its title, unique within a data set."""

    document: Document
    questions: tuple[ChecklistQuestion, ...]


@dataclass(frozen=True, slots=True)
class GoldJudgement:
    """True judgement of one hypothesis; `evidence` are indices into the agreement's candidate spans."""

    hypothesis: str
    choice: Choice
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NliAgreement:
    """An agreement, its candidate spans `[start, end)` in order, and a judgement a hypothesis; written ones are 0."""

    document: Document
    number: int
    spans: tuple[Span, ...]
    judgements: tuple[GoldJudgement, ...]


@dataclass(frozen=True, slots=True)
class NliSet:
    """Agreements, and the wording of each hypothesis by its id."""

    agreements: tuple[NliAgreement, ...]
    hypotheses: dict[str, str]


def load_cuad(path: Path) -> tuple[Contract, ...]:
    """CUAD from a folder with `questions.json` and texts, a folder with `CUADv1.json` anywhere below, or such a file.

    Raises CorpusError, with the file and the contract or question, for anything else.
    """
    file = _find(path)
    with _named_faults(file):
        listed = json.loads(file.read_text(encoding="utf-8-sig"))["data"]
        if file.name == QUESTIONS:
            works = [(work["title"], _text(file.parent / work["text_file"]), work["qas"]) for work in listed]
        else:
            paragraphs = [(work["title"], work["paragraphs"][0]) for work in listed]
            works = [(title, paragraph["context"], paragraph["qas"]) for title, paragraph in paragraphs]
        contracts = tuple(_contract(file, *work) for work in works)
    if not contracts:
        raise CorpusError(f"{file} names no contract; check that it is the data set's file")
    _refuse_doubles(file, "title", [contract.document.id for contract in contracts])
    _refuse_doubles(file, "question id", [question.id for contract in contracts for question in contract.questions])
    return contracts


def load_contractnli(path: Path) -> NliSet:
    """ContractNLI from `train.json`, `dev.json` or `test.json`, or all of them in a folder. Raises CorpusError."""
    named = [path] if path.is_file() else [path / f"{name}.json" for name in ("train", "dev", "test")]
    if not (files := [file for file in named if file.exists()]):
        raise CorpusError(f"{path} holds no ContractNLI file; name dev.json, or the folder that holds it")
    agreements: list[NliAgreement] = []
    hypotheses: dict[str, str] = {}
    for file in files:
        with _named_faults(file):
            read = json.loads(file.read_text(encoding="utf-8-sig"))
            hypotheses |= {name: label["hypothesis"] for name, label in read["labels"].items()}
            agreements += [_agreement(file, document, hypotheses) for document in read["documents"]]
    _refuse_doubles(path, "document id", [str(agreement.number) for agreement in agreements])
    return NliSet(tuple(agreements), dict(sorted(hypotheses.items(), key=lambda item: int(item[0].split("-")[-1]))))


def categories(contracts: Sequence[Contract]) -> list[str]:
    """The categories in the order in which the contracts ask them."""
    return list(dict.fromkeys(question.category for contract in contracts for question in contract.questions))


def _find(path: Path) -> Path:
    found = [file for name in (QUESTIONS, *ORIGINAL) for file in sorted(path.rglob(name))]
    if not path.is_file() and not found:
        raise CorpusError(f"{path} holds neither {QUESTIONS} nor {ORIGINAL[0]}; name the folder of CUAD")
    return path if path.is_file() else found[0]


@contextmanager
def _named_faults(file: Path) -> Iterator[None]:
    """Raise CorpusError, with the file, for what is wrong with it."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise CorpusError(f"{file} is not valid JSON at line {error.lineno}; fetch it again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{file} cannot be read ({error}); fetch the data set again") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"{file} has another form ({error!r}); check that it is the data set's file") from None


def _text(file: Path) -> str:
    with _named_faults(file):
        return file.read_bytes().decode("utf-8")


def _contract(file: Path, title: str, text: str, asked: Sequence[dict[str, Any]]) -> Contract:
    questions = tuple(
        ChecklistQuestion(q["id"], q.get("category") or q["id"].rpartition("__")[2], tuple(_gold(file, q, text)))
        for q in asked
    )
    return Contract(Document(title, text, sections=find_sections(text)), questions)


def _gold(file: Path, asked: dict[str, Any], text: str) -> Iterator[Span]:
    for answer in asked["answers"]:
        start, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
        if text[start:end] != answer["text"]:
            raise CorpusError(
                f"{file}: the answer of {asked['id']} is not at {start} of its contract; fetch the data again"
            )
        yield start, end


def _agreement(file: Path, read: dict[str, Any], hypotheses: dict[str, str]) -> NliAgreement:
    text, number, annotations = read["text"], read["id"], read["annotation_sets"][0]["annotations"]
    spans = tuple((start, end) for start, end in read["spans"])
    if unknown := sorted(set(annotations) - set(hypotheses)):
        raise CorpusError(f"{file}: document {number} judges {unknown[0]}, which is no hypothesis of the file")
    if any(not 0 <= start < end <= len(text) for start, end in spans):
        raise CorpusError(f"{file}: a span of document {number} is not inside its text")
    judgements = tuple(GoldJudgement(name, a["choice"], tuple(a["spans"])) for name, a in annotations.items())
    if any(not 0 <= index < len(spans) for judgement in judgements for index in judgement.evidence):
        raise CorpusError(f"{file}: document {number} names evidence that it does not have")
    if unknown := [judgement.choice for judgement in judgements if judgement.choice not in LETTERS.values()]:
        raise CorpusError(f"{file}: document {number} has the choice {unknown[0]}; fetch the data again")
    document = Document(read["file_name"], text, sections=find_sections(text))
    return NliAgreement(document, number, spans, judgements)


def _refuse_doubles(file: Path, what: str, values: Sequence[str]) -> None:
    if doubled := [value for value, count in Counter(values).items() if count > 1]:
        raise CorpusError(f"{file}: the {what} {doubled[0]} occurs twice; remove one of them")


class _Label(Frozen):
    choice: Literal["E", "C", "N"]
    clauses: tuple[int, ...] = ()


class _Written(Frozen):
    title: str
    clauses: tuple[str, ...]
    labels: dict[str, _Label]


def read_written(folder: Path, hypotheses: Sequence[str]) -> list[NliAgreement]:
    """The agreements of a folder, a span a clause, with what is true of these hypotheses. Raises CorpusError."""
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise CorpusError(f"{folder} holds no agreements to learn from; restore it from git")
    return [a for a in map(_written, files) if {j.hypothesis for j in a.judgements} >= set(hypotheses)]


def _written(path: Path) -> NliAgreement:
    try:
        written = _Written.model_validate(read_yaml(path, CorpusError, REMEDY))
    except ValidationError as error:
        raise CorpusError(f"{path}: {fault(error)}; {REMEDY}") from None
    text, spans = f"{written.title}\n", []
    for clause in written.clauses:
        spans.append((len(text), len(text) + len(clause)))
        text += f"{clause}\n"
    for name, label in written.labels.items():
        if bool(label.clauses) == (label.choice == "N") or not all(1 <= n <= len(spans) for n in label.clauses):
            raise CorpusError(f"{path}: the clauses of {name} are not those of its choice {label.choice}; {REMEDY}")
    judgements = [
        GoldJudgement(name, LETTERS[label.choice], tuple(sorted(n - 1 for n in label.clauses)))
        for name, label in written.labels.items()
    ]
    return NliAgreement(Document(path.stem, text), 0, tuple(spans), tuple(judgements))


def fold_of(titles: Iterable[str], folds: int = FOLDS) -> dict[str, int]:
    """The fold (0 to `folds` - 1) of each title: filers are dealt out in alphabetical order.

    Two contracts of one filer often share a drafter's wording, so that one in training would tell of the other. Titles
    in EDGAR collections begin with the filer, before an underscore or a dash; a title without either is its own filer.
    """
    filers = {title: "".join(filter(str.isalnum, _FILER.split(title)[0].casefold())) or title for title in set(titles)}
    numbers = {filer: number for number, filer in enumerate(sorted(set(filers.values())))}
    return {title: numbers[filer] % folds for title, filer in sorted(filers.items())}
