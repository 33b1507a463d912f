"""Contract review: passages that answer a checklist of 41 items, and what agreements entail. Not legal advice.

Exit code 0: done; 2: bad input, or something could not be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ovrag_core.base import CorpusError, DocumentError, Settings, project_file, write_records
from ovrag_core.study import (
    BAD,
    Format,
    Output,
    load_each,
    print_json,
    print_record,
    print_records,
    say,
    study_commands,
    with_settings,
    writable_file,
)
from ovrag_studies.contract_review.settings import AnswerArm, ContractReview, NliArm

if TYPE_CHECKING:
    from ovrag_core.base import Document
    from ovrag_studies.contract_review.arms import ReviewStudy
    from ovrag_studies.contract_review.checklist import Record
    from ovrag_studies.contract_review.texts.datasets import NliSet

What = Literal["retrieval", "answers", "nli", "graph"]
Contracts = Annotated[
    list[Path], typer.Argument(metavar="CONTRACT", help="PDF, DOCX, HTML or text files, or folders of them.")
]
Data = Annotated[Path | None, typer.Option("--data", help="The data set's folder; default: that of the settings.")]
AllowSeen = Annotated[
    bool, typer.Option("--allow-seen", help="Also read what the weights were trained on; that shows nothing of them.")
]
app = study_commands(__doc__)


@app.command(epilog="Example: ovrag contract-review index contracts/")
@with_settings
def index(
    settings: Settings,
    contracts: Annotated[
        list[Path] | None, typer.Argument(metavar="CONTRACT", help="Files or folders; none: the data set.")
    ] = None,
    data: Data = None,
) -> int:
    """Cut contracts and embed their sentences, which is kept, so that searching them is quick."""
    from ovrag_core.retrieval import MiniLMOnDemand
    from ovrag_studies.contract_review.retrieval.retrievers import ContractShelf
    from ovrag_studies.contract_review.texts.datasets import load_cuad

    options = ContractReview.of(settings)
    if contracts:
        documents, failed = _read(contracts)
    else:
        documents, failed = [contract.document for contract in load_cuad(_existing(data or options.data.cuad))], 0
    shelf = ContractShelf(documents, options.retrieval.chunker, MiniLMOnDemand())
    passages = sum(len(shelved.passages) for shelved in shelf.contracts.values())
    print(f"{len(documents)} contracts, {len(shelf.chunks(shelf.scope(None)))} chunks, {passages} sentences")
    return BAD if failed else 0


@app.command(epilog="Example: ovrag contract-review search lease.pdf 'who may end it early'")
@with_settings
def search(
    settings: Settings,
    contract: Annotated[Path, typer.Argument(metavar="CONTRACT", help="A PDF, DOCX, HTML or text file.")],
    query: Annotated[str | None, typer.Argument(metavar="QUESTION", help="What to look for, in your words.")] = None,
    category: Annotated[str | None, typer.Option(help="Or an item of the checklist, as `Governing Law`.")] = None,
    output: Output = Format.text,
) -> int:
    """Find the passages of a contract that are nearest to a question or to an item of the checklist."""
    from ovrag_studies.contract_review.checklist import find_chunks, found_text

    if (query is None) == (category is None):
        raise typer.BadParameter("name either a query or a --category")
    [document], _ = _read([contract])
    with _study(settings) as study:
        hits = find_chunks(study, document, query, category)
    if output is Format.text:
        print(found_text(document, hits))
    else:
        chunks = [
            {"start": hit.chunk.start, "end": hit.chunk.end, "score": round(hit.score, 6)}
            | {"section": hit.chunk.section, "text": hit.chunk.text}
            for hit in hits
        ]
        print_record({"id": f"{document.id}__{category or query}", "chunks": chunks}, output)
    return 0


@app.command(epilog="Example: ovrag contract-review review supply.pdf")
@with_settings
def review(
    settings: Settings,
    contracts: Contracts,
    arm: Annotated[AnswerArm | None, typer.Option(help="What answers; default: answers.arm of the settings.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this item; may be repeated.")] = None,
    allow_seen: AllowSeen = False,
    output: Output = Format.text,
) -> int:
    """Answer the checklist of 41 items for each contract: present or not, with quote, place, section and confidence."""
    from ovrag_studies.contract_review.answering.span_answers import LIKE
    from ovrag_studies.contract_review.arms import checklist
    from ovrag_studies.contract_review.checklist import answer_record, checklist_text, refuse_seen
    from ovrag_studies.contract_review.retrieval.expansion import known, vocabulary

    categories = list(category or vocabulary())
    for name in categories:
        known(name)
    chosen = arm or ContractReview.of(settings).answers.arm
    least = LIKE if chosen == "extractive" else ContractReview.of(settings).answers.present
    with _study(settings) as study:

        def answered(document: Document) -> tuple[str, list[Record]]:
            if chosen == "learned":
                refuse_seen(study, document, allow_seen)
            answers = checklist(study, document, categories, chosen)
            return checklist_text(document, answers, least), [
                answer_record(f"{document.id}__{a.category}", a) | {"document": document.id, "category": a.category}
                for a in answers
            ]

        return _print_each(contracts, answered, output)


@app.command(epilog="Example: ovrag contract-review nli nda.pdf")
@with_settings
def nli(
    settings: Settings,
    contracts: Contracts,
    arm: Annotated[NliArm | None, typer.Option(help="What judges; default: nli.arm of the settings.")] = None,
    allow_seen: AllowSeen = False,
    output: Output = Format.text,
) -> int:
    """Judge for each agreement the 17 hypotheses of ContractNLI, with evidence."""
    from ovrag_studies.contract_review.checklist import judge_document, judged_text, make_judge, nli_record
    from ovrag_studies.contract_review.texts.datasets import load_contractnli

    with _study(settings) as study:
        wordings = load_contractnli(project_file(study.options.data.contractnli)).hypotheses
        judge = make_judge(study, arm or study.options.nli.arm, allow_seen=allow_seen)

        def judged(document: Document) -> tuple[str, list[Record]]:
            judgements = judge_document(study, document, wordings, judge)
            number = int(document.id) if document.id.isdecimal() else document.id
            return judged_text(document, wordings, judgements), [nli_record(number, j) for j in judgements]

        return _print_each(contracts, judged, output)


def _print_each(contracts: list[Path], work: Callable[[Document], tuple[str, list[Record]]], output: Format) -> int:
    """Print the text or the records that `work` gives for each document; say what is refused. Returns the exit code."""
    code = 0
    collected = []
    for document in _each(contracts):
        try:
            if isinstance(document, str):
                raise DocumentError(document)
            text, records = work(document)
        except (DocumentError, CorpusError) as error:
            say(str(error))
            code = BAD
            continue
        if output is Format.text:
            print(text + "\n", flush=True)
        elif output is Format.jsonl:
            print_records(records, output)
        collected += records
    if output is Format.json:
        print_json(collected)
    return code


@app.command(epilog="Example: ovrag contract-review run nli --out nli.jsonl")
@with_settings
def run(
    settings: Settings,
    what: Annotated[What, typer.Argument(metavar="PART", help="retrieval, answers, nli or graph.")],
    out: Annotated[
        Path, typer.Option("--out", help="The file of results, one JSON object a line.", callback=writable_file)
    ],
    data: Data = None,
    arm: Annotated[str | None, typer.Option(help="Another arm than that of the settings.")] = None,
) -> int:
    """Ask every question of a data set, and write what was found in the shapes that are scored.

    With `sample` in the settings, so many of them are asked; `score` then counts the same ones.
    """
    from ovrag_studies.contract_review import arms, checklist
    from ovrag_studies.contract_review.texts.datasets import load_cuad

    settings = _with_arm(settings, what, arm)
    options = ContractReview.of(settings)
    agreements = _agreements(data, options) if what == "nli" else None
    folder = None if agreements else _existing(data or options.data.cuad)
    contracts = load_cuad(folder) if folder else ()
    with _study(settings, folder) as study:
        if agreements:
            lines = checklist.nli_records(arms.judge_all(study, agreements, options.nli.arm))
        elif what == "answers":
            lines = checklist.answer_records(arms.answer_all(study, contracts, options.answers.arm))
        else:
            make = arms.retrieval_arm if what == "retrieval" else arms.graph_arm
            lines = checklist.chunk_records(arms.sampled_questions(options, contracts), make(study, contracts))
        count = write_records(lines, out, CorpusError)
    print(f"{out}: {count} lines")
    return 0


@app.command(epilog="Example: ovrag contract-review score nli nli.jsonl")
@with_settings
def score(
    settings: Settings,
    what: Annotated[What, typer.Argument(metavar="PART", help="retrieval, answers, nli or graph.")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of `ovrag contract-review run`, or of another system.")
    ],
    data: Data = None,
    output: Output = Format.text,
) -> int:
    """Score a file of results against the data set, with intervals that resample contracts."""
    from ovrag_studies.contract_review.arms import sampled_hypotheses, sampled_questions
    from ovrag_studies.contract_review.measures import score_files
    from ovrag_studies.contract_review.texts.datasets import load_cuad

    options = ContractReview.of(settings)
    plan = options.experiments.plan
    if what == "nli":
        frame = score_files.score_nli(sampled_hypotheses(options, _agreements(data, options)), file, plan)
    else:
        contracts = sampled_questions(options, load_cuad(_existing(data or options.data.cuad)))
        if what == "answers":
            frame = score_files.score_answers(contracts, file, plan, options.answers.present)
        else:
            frame = score_files.score_chunks(contracts, file, plan)
    if output is Format.text:
        print(score_files.scores_text(frame, plan))
    else:
        print_record(json.loads(frame.to_json(orient="records")), output)
    return 0


def _read(paths: list[Path]) -> tuple[list[Document], int]:
    """Read the documents, count those that could not be, and say why. Raises DocumentError where none could be read."""
    read = list(_each(paths))
    documents = [document for document in read if not isinstance(document, str)]
    problems = [problem for problem in read if isinstance(problem, str)]
    if not documents:
        raise DocumentError("; ".join(problems) or "no contract was given")
    for problem in problems:
        say(problem)
    return documents, len(problems)


def _each(paths: list[Path]) -> Iterator[Document | str]:
    """Yield each document by its title, or the reason why it is not read: one is the title of an earlier document."""
    from dataclasses import replace

    from ovrag_studies.contract_review.checklist import title_of

    titled: dict[str, Path] = {}
    for path, document in load_each(paths):
        if isinstance(document, str):
            yield document
        elif (owner := titled.setdefault(title := title_of(path), path)) != path:
            yield f"{path} and {owner} are both called {title}; rename one of them, or ask for them one by one"
        else:
            yield replace(document, id=title)


@contextmanager
def _study(settings: Settings, data: Path | None = None) -> Iterator[ReviewStudy]:
    """Open the parts of which arms are made, with the connection to a model where the settings name one."""
    from ovrag_core.llm import open_chat
    from ovrag_core.retrieval import MiniLMOnDemand
    from ovrag_studies.contract_review.arms import ReviewStudy
    from ovrag_studies.contract_review.retrieval.expansion import read_descriptions

    options = ContractReview.of(settings)
    described = read_descriptions(data) if data else {}
    with open_chat(settings.llm) as chat:
        yield ReviewStudy(options, MiniLMOnDemand(), described, chat, settings.llm.seed, say)


def _with_arm(settings: Settings, what: What, arm: str | None) -> Settings:
    """Return the settings with another arm: a retriever, a way to answer, a judge, or a walk."""
    if arm is None:
        return settings
    section, key = {"retrieval": ("retrieval", "retriever")}.get(what, (what, "arm"))
    section_options = settings.studies.get(ContractReview.name, {}).get(section, {})
    return ContractReview.changed(settings, **{section: {**section_options, key: arm}})


def _agreements(data: Path | None, options: ContractReview) -> NliSet:
    from ovrag_studies.contract_review.texts.datasets import load_contractnli

    folder = _existing(data or options.data.contractnli)
    return load_contractnli(below if (below := folder / "contractnli").is_dir() else folder)


def _existing(path: Path) -> Path:
    resolved = project_file(path)
    if not resolved.exists():
        raise CorpusError(f"{path} does not exist; name the folder of the data set with --data")
    return resolved
