"""Contract review: passages that answer a checklist of 41 items, and what agreements entail. Not legal advice.

Exit code 0: done; 2: bad input, or something could not be read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from ovrag_core.base import CorpusError, Document, DocumentError, Settings, project_file, write_records
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

What = Literal["retrieval", "answers", "nli", "graph"]
Read = tuple[str, list[dict[str, object]]]  # what is found in a document, as text and as records
Contracts = Annotated[
    list[Path], typer.Argument(metavar="CONTRACT", help="PDF, DOCX, HTML or text files, or folders of them.")
]
app = study_commands(__doc__)


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
    from ovrag_studies.contract_review.arms import open_study
    from ovrag_studies.contract_review.checklist import chunk_record, find_chunks, found_text

    if (query is None) == (category is None):
        raise typer.BadParameter("name either a query or a --category")
    [(_, document)] = load_each([contract])
    if isinstance(document, str):
        raise DocumentError(document)
    document = replace(document, id=contract.stem)
    with open_study(settings, say) as study:
        hits = find_chunks(study, document, query, category)
    if output is Format.text:
        print(found_text(document, hits))
    else:
        chunks = [chunk_record(hit) | {"section": hit.chunk.section, "text": hit.chunk.text} for hit in hits]
        print_record({"id": f"{document.id}__{category or query}", "chunks": chunks}, output)
    return 0


@app.command(epilog="Example: ovrag contract-review review supply.pdf")
@with_settings
def review(
    settings: Settings,
    contracts: Contracts,
    arm: Annotated[AnswerArm | None, typer.Option(help="What answers; default: answers.arm of the settings.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this item; may be repeated.")] = None,
    output: Output = Format.text,
) -> int:
    """Answer the checklist of 41 items for each contract: present or not, with quote, place, section and confidence."""
    from ovrag_studies.contract_review.answering.span_answers import LIKE
    from ovrag_studies.contract_review.arms import checklist, open_study, refuse_seen
    from ovrag_studies.contract_review.checklist import answer_record, checklist_text
    from ovrag_studies.contract_review.retrieval.expansion import known, vocabulary

    categories = list(category or vocabulary())
    for name in categories:
        known(name)
    options = ContractReview.of(settings).answers
    chosen = arm or options.arm
    least = LIKE if chosen == "extractive" else options.present
    with open_study(settings, say) as study:

        def answered(document: Document) -> Read:
            if chosen == "learned":
                refuse_seen(document)
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
    output: Output = Format.text,
) -> int:
    """Judge for each agreement the 17 hypotheses of ContractNLI, with evidence."""
    from ovrag_studies.contract_review.arms import open_study
    from ovrag_studies.contract_review.checklist import judged_text, make_judge, nli_record
    from ovrag_studies.contract_review.texts.datasets import load_contractnli

    with open_study(settings, say) as study:
        wordings = load_contractnli(project_file(study.options.data.contractnli)).hypotheses
        judge = make_judge(study, arm or study.options.nli.arm)

        def judged(document: Document) -> Read:
            judgements = judge(document, None, wordings)
            number = int(document.id) if document.id.isdecimal() else document.id
            return judged_text(document, wordings, judgements), [nli_record(number, j) for j in judgements]

        return _print_each(contracts, judged, output)


def _print_each(contracts: list[Path], work: Callable[[Document], Read], output: Format) -> int:
    """Print the text or the records that `work` gives for each document; say what is refused. Returns the exit code."""
    code, collected, titles = 0, [], set[str]()
    for path, document in load_each(contracts):
        try:
            if isinstance(document, str):
                raise DocumentError(document)
            if path.stem in titles:
                raise DocumentError(f"{path}: another contract is called {path.stem} too; rename one of them")
            titles.add(path.stem)
            text, records = work(replace(document, id=path.stem))
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
    data: Annotated[Path | None, typer.Option(help="The data set's folder; default: that of the settings.")] = None,
    arm: Annotated[str | None, typer.Option(help="Another arm than that of the settings.")] = None,
) -> int:
    """Ask every question of a data set, or its `sample`, and write what was found as the data sets' scorers read it."""
    from ovrag_studies.contract_review import arms, checklist
    from ovrag_studies.contract_review.texts.datasets import load_contractnli, load_cuad

    if arm is not None:
        settings = _with_arm(settings, what, arm)
    options = ContractReview.of(settings)
    place = data or (options.data.contractnli if what == "nli" else options.data.cuad)
    if not (folder := project_file(place)).exists():
        raise CorpusError(f"{place} does not exist; name the folder of the data set with --data")
    below = folder / "contractnli"
    agreements = load_contractnli(below if below.is_dir() else folder) if what == "nli" else None
    contracts = () if agreements else load_cuad(folder)
    with arms.open_study(settings, say, None if agreements else folder) as study:
        if what in ("retrieval", "graph"):
            make = arms.retrieval_arm if what == "retrieval" else arms.graph_arm
            lines = checklist.chunk_records(arms.sampled_questions(options, contracts), make(study, contracts))
        elif agreements:
            judged = arms.judge_all(study, agreements, options.nli.arm)
            lines = (checklist.nli_record(number, j) for number, results in judged.items() for j in results)
        else:
            answered = arms.answer_all(study, contracts, options.answers.arm)
            lines = checklist.answer_records(answered)
        count = write_records(lines, out, CorpusError)
    print(f"{out}: {count} lines")
    return 0


def _with_arm(settings: Settings, what: What, arm: str) -> Settings:
    """Return the settings with another arm: a retriever, a way to answer, a judge, or a walk."""
    section = settings.studies.get(ContractReview.name, {}).get(what, {})
    key = "retriever" if what == "retrieval" else "arm"
    return ContractReview.changed(settings, **{what: {**section, key: arm}})
