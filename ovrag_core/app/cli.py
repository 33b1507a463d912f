"""Read loan agreements and other documents, answer questions about them, and check both against an ontology.

Exit code 0: done; 1: a contradiction, or a stale or edited result; 2: bad input, or not checked.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ovrag_core import __version__
from ovrag_core.base import (
    ARM_NAMES,
    ArmName,
    CorpusError,
    DocumentError,
    OvragError,
    Question,
    RunError,
    Settings,
    SettingsError,
    installed_studies,
    load_study,
    no_notice,
    notice,
    print_beside,
    project_file,
    write_text,
)
from ovrag_core.study import (
    BAD,
    DEFAULT_PARAMS,
    FOUND,
    Format,
    Output,
    Overrides,
    Params,
    end_closed,
    fail,
    load_each,
    new_commands,
    print_json,
    print_record,
    read_settings,
    say,
    say_passed_over,
    silence_output,
    system_error_text,
    with_settings,
    writable_file,
    writable_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

    from ovrag_core.base import Document, QueryRecord
    from ovrag_core.loans import Review
    from ovrag_core.loop import Bench, Validator

    _Shown = tuple[str, Callable[[], str], Callable[[], str]]  # a review's label; the review as JSON, and as text

COMPLETED = "_OVRAG_COMPLETE"
READ, RUN, LOOK, STUDY = "Documents", "Experiment", "Ontology and results", "Studies"  # groups of commands
app = new_commands(__doc__, completion=True)
for _name in installed_studies():
    try:
        app.add_typer(load_study(_name).load_commands(), name=_name.replace("_", "-"), rich_help_panel=STUDY)
    except SettingsError as _error:  # the other commands go on
        say(str(_error))


def _tell_version(asked: bool) -> None:
    if asked:
        print(f"ovrag {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", is_eager=True, callback=_tell_version)
    ] = False,
) -> None: ...


Documents = Annotated[list[Path], typer.Option("--document", "-d", help="A document, or a folder of documents.")]
Domain = Annotated[
    Path | None, typer.Option("--ontology", help="A folder of another domain: ontology, rules and form.yaml.")
]


def main() -> NoReturn:
    """Run the command line; every expected error is one sentence on stderr and exit code 2."""
    if sys.stdout is None:  # closed from the start
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    try:
        with notice("ovrag: loading …"):
            code = _called(sys.argv)
        sys.stdout.flush()
        sys.exit(code)
    except OvragError as error:
        fail(str(error))
    except typer.Exit as done:
        sys.exit(done.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        is_run = sys.argv[1:2] == ["run"]
        fail("stopped; what is done is kept, and the same command goes on with it" if is_run else "stopped")
    except BrokenPipeError:
        end_closed()
    except OSError as error:
        silence_output()
        fail(system_error_text(error))
    except ModuleNotFoundError as error:
        if (error.name or "ovrag_").startswith("ovrag_"):  # a fault of ours, which no package mends
            raise
        remedy = "`pip install 'ovrag-core[studies,thesis]'` brings all that any command needs"
        fail(f"{error.name} is not installed, which this command needs; {remedy}")
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own errors of usage
            where = getattr(getattr(error, "ctx", None), "command_path", "ovrag")
            fail(f"{error.format_message().rstrip('.')}; `{where} -h` shows how it is called")
        raise


def _called(words: Sequence[str]) -> int:
    """The exit code of the command that was asked for. Not by `app()`, which ends with 1 where the pipe is closed."""
    command = typer.main.get_command(app)
    if COMPLETED in os.environ:  # a shell asks for words
        command.main(list(words[1:]), prog_name="ovrag")
    with command.make_context(Path(words[0]).name, list(words[1:])) as context:
        return command.invoke(context) or 0


@app.command(rich_help_panel=READ, epilog="Example: ovrag review contract.pdf --html review.html")
def review(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="PDF, DOCX, HTML or text files, or folders of them.")
    ],
    deal: Annotated[bool, typer.Option("--deal", help="The files are one agreement with its amendments.")] = False,
    output: Output = Format.text,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write a page with the passages marked in the text.", callback=writable_file),
    ] = None,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
    ontology: Domain = None,
) -> int:
    """Read whole documents; report facts and contradictions with quotes. Not legal advice."""
    from ovrag_core.app.review_page import review_page
    from ovrag_core.loans import make_validator, report, review_each, review_extractor, review_together

    settings = read_settings(params, _with_domain(overrides, ontology))
    validator = make_validator(settings, wait=False)
    loaded = load_each(_without_reports(paths))
    if settings.ontology.domain is not None:
        if deal or html is not None:
            raise SettingsError("--deal and --html are for loan agreements; leave them out with another ontology")
        return _review_of_another_domain(loaded, settings, validator, output)
    reviewed: list[tuple[Review, Sequence[Document]]] = []
    look = review_together if deal else review_each

    def reviews() -> Iterator[_Shown]:
        with review_extractor(settings, validator.ontology) as (extractor, name):
            for result, documents in look(loaded, extractor, validator, name):
                reviewed.append((result, documents))
                names = result.document if isinstance(result.document, str) else ", ".join(result.document)
                if result.label == "UNCHECKED":
                    reason = result.reason or "not checked"
                    say(f"{names} was not checked: {reason}" if documents else reason)
                yield result.label, result.to_json, partial(report, result)

    code = _print_each(reviews(), output)
    if html is not None:
        write_text(review_page(reviewed), html, OvragError)
    return code


@app.command(rich_help_panel=READ, epilog='Example: ovrag ask "Who is the borrower?" -d contract.pdf')
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    documents: Documents,
    arm: Annotated[ArmName, typer.Option(help="How it is answered and checked.")] = "ovrag_evidence",
    output: Output = Format.text,
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
    ontology: Domain = None,
) -> int:
    """Ask one question about the first document; others stand beside it, to see whether an arm mixes them up."""
    from ovrag_core.loans import answer_text, known_facts

    bench, document_id = _bench(documents, read_settings(params, _with_domain(overrides, ontology)))
    if len(bench.documents) > 1:
        say(f"the question is put to {document_id}, the first of {len(bench.documents)} documents")
    with bench:
        record = _ask(question, document_id, arm, bench)
    _print(record, lambda: answer_text(record, known_facts(record, bench) if bench.reader else ()), output)
    if record.failure is not None:
        say(_problem(record))
    return _exit_code(record)


@app.command(rich_help_panel=READ, epilog="Example: ovrag chat -d contract.pdf")
@with_settings
def chat(
    settings: Settings,
    documents: Documents,
    arm: Annotated[ArmName, typer.Option(help="How questions are answered and checked.")] = "ovrag_evidence",
) -> int:
    """Ask questions one after the other; an empty line or `quit` ends."""
    from ovrag_core.loans import answer_text, known_facts

    bench, document_id = _bench(documents, settings)
    worst = 0
    said = None
    with bench:
        for question in _questions(document_id):
            record = _ask(question, document_id, arm, bench)
            print(answer_text(record, known_facts(record, bench)) + "\n", flush=True)
            if record.failure is not None and record.failure != said:
                say(_problem(record))
            said = record.failure
            worst = max(worst, _exit_code(record))
    return worst


@app.command(rich_help_panel=READ, epilog="Example: ovrag check triples.json")
def check(
    triples: Annotated[
        Path, typer.Argument(metavar="FILE", help="A JSON list or JSON Lines of sub, pred, obj, sub_type, obj_type.")
    ],
    output: Output = Format.text,
    params: Params = DEFAULT_PARAMS,
    ontology: Domain = None,
) -> int:
    """Check triples against the ontology, with explanation."""
    from ovrag_core.loans import make_validator
    from ovrag_core.loop import check_file

    result = check_file(triples, make_validator(read_settings(params, _with_domain(None, ontology))))
    _print(result, result.to_text, output)
    if result.status == "unchecked":
        say(f"{triples} was not checked: {result.reason}")
        return BAD
    return FOUND if result.status == "inconsistent" else 0


@app.command(rich_help_panel=RUN, epilog="Example: ovrag corpus -S corpus.source=my_contracts")
@with_settings
def corpus(settings: Settings) -> int:
    """Check that the contracts and labels which the parameter file names are there; change nothing."""
    from ovrag_core.loans import find_own

    own = None if settings.corpus.is_generated else find_own(settings)
    generated = f"{settings.corpus.contracts} contracts, which `make loans` generates"
    print(f"{settings.corpus.source}: {own.text() if own else generated}")
    return 0


@app.command(rich_help_panel=RUN, epilog="Example: ovrag run -S experiment.run=mine --contract Contract_001")
def run(
    params: Params = DEFAULT_PARAMS,
    overrides: Overrides = None,
    arms: Annotated[
        list[str] | None, typer.Option("--arm", help=f"Only this arm of {', '.join(ARM_NAMES)}; may be repeated.")
    ] = None,
    contracts: Annotated[list[str] | None, typer.Option("--contract", help="Only this contract; repeatable.")] = None,
    questions: Annotated[list[str] | None, typer.Option("--question", help="Only this question; repeatable.")] = None,
    retry_errors: Annotated[bool, typer.Option("--retry-errors", help="Ask anew what was not judged.")] = False,
) -> int:
    """Run the experiment of the parameter file, or go on with one that was interrupted."""
    from ovrag_core.loans import corpus_bench, folder
    from ovrag_core.retrieval import INDEX
    from ovrag_core.runs import each_record, experiment, run_files

    chosen = {"experiment.arms": arms, "experiment.contracts": contracts, "experiment.questions": questions}
    filters = [f"{key}={json.dumps([str(name) for name in some])}" for key, some in chosen.items() if some]
    retry = ["llm.retry_failures=true"] if retry_errors else []
    settings = read_settings(params, [*(overrides or []), *filters, *retry])
    if not folder(settings).exists() and settings.corpus.is_generated:
        raise CorpusError(
            "there are no contracts yet; `make loans` makes them, or set corpus.source in params.yaml to yours"
        )
    if not INDEX.exists():
        raise CorpusError(
            "the contracts are not indexed yet; `make loans` does that, with the parameters of params.yaml"
        )
    spent = experiment.spent_usd(run_files(settings.experiment.run))
    with corpus_bench(settings, spent_usd=spent) as bench:
        path = experiment.run_experiment(settings, bench, retry_errors=retry_errors)
    print(path)
    for line in experiment.summary(each_record(path)):
        print(line, file=sys.stderr)
    failures = experiment.count_failures(each_record(path))
    if not failures.total:
        return 0
    say(f"{failures.text}; mend that, and `ovrag run --retry-errors` asks them again")
    return BAD


@app.command(rich_help_panel=RUN, epilog="Example: ovrag import-run queries.csv --name theirs --truth truth.json")
@with_settings
def import_run(
    settings: Settings,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A per-query CSV, or recorded queries as JSON Lines.")],
    name: Annotated[str, typer.Option(help="The name that the run gets here.")],
    truth: Annotated[Path | None, typer.Option(help="Ground truth with reference answers, by contract id.")] = None,
    contracts: Annotated[
        Path | None, typer.Option(help="The folder of the contracts, to find answers about the wrong one.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model that answered, where the file does not say.")] = None,
    rejudge: Annotated[
        bool, typer.Option("--rejudge", help="Add an arm in which our validator judges the recorded triples.")
    ] = False,
) -> int:
    """Read a run recorded elsewhere, so that every table and figure can be made from it."""
    from ovrag_core.loans import UNKNOWN_MODEL
    from ovrag_core.loans import import_run as read_elsewhere
    from ovrag_core.runs import RUNS

    summary = read_elsewhere(
        source,
        name,
        folder=_here(RUNS),
        truth=truth,
        contracts=contracts,
        model=model or UNKNOWN_MODEL,
        rejudge=rejudge,
        settings=settings,
    )
    print(summary.text())
    return 0


@app.command(rich_help_panel=RUN, epilog="Example: ovrag score main")
@with_settings
def score(
    settings: Settings,
    run_name: Annotated[str, typer.Argument(metavar="RUN", help="The name of a run, or the path of its JSONL file.")],
    output: Output = Format.text,
) -> int:
    """Print the metrics of a run, per arm, with intervals."""
    from ovrag_core.evaluation import CACHE, score_run, score_text
    from ovrag_core.runs import RUNS, read_latency, read_run, run_files

    path = Path(run_name) if run_name.endswith(".jsonl") else run_files(run_name, _here(RUNS)).records
    records, seconds = read_run(path), read_latency(path.with_suffix(".latency.jsonl"))
    if not records:
        raise RunError(f"{path} has no records; make the run again")
    result = score_run(records, seconds, settings, run=path.stem, cache=_here(CACHE))
    if output is Format.text:
        print(score_text(result))
    else:
        print_record(result, output)
    return 0


@app.command(rich_help_panel=RUN, epilog="Example: ovrag results theirs --to build/theirs")
@with_settings
def results(
    settings: Settings,
    run_name: Annotated[str, typer.Argument(metavar="RUN", help="The name of a run.")],
    to: Annotated[Path, typer.Option("--to", help="The folder that they are written to.", callback=writable_folder)],
) -> int:
    """Write every table and figure of any run, an imported one too, into a folder of its own."""
    from ovrag_core.evaluation import CACHE
    from ovrag_core.loans import kinds_of_loan
    from ovrag_core.report import write_run_results
    from ovrag_core.runs import RUNS

    print(write_run_results(run_name, to, settings, _here(RUNS), kinds_of_loan(), _here(CACHE)))
    return 0


@app.command(rich_help_panel=LOOK, epilog="Example: ovrag vocabulary")
def vocabulary(output: Output = Format.text, params: Params = DEFAULT_PARAMS, ontology: Domain = None) -> int:
    """List what the ontology can say: classes, properties and their other names."""
    from ovrag_core.ontology import open_ontology, vocabulary_text
    from ovrag_core.ontology import vocabulary as words

    known = open_ontology(read_settings(params, _with_domain(None, ontology)))
    if output is Format.text:
        print(vocabulary_text(known))
    else:
        print_record(words(known), output)
    return 0


@app.command(rich_help_panel=LOOK, epilog="Example: ovrag rules")
def rules(params: Params = DEFAULT_PARAMS, ontology: Domain = None) -> int:
    """List the rules, each in a sentence, with its source and setting."""
    from ovrag_core.ontology import open_ontology, rules_page

    sys.stdout.write(rules_page(open_ontology(read_settings(params, _with_domain(None, ontology)))))
    return 0


@app.command(rich_help_panel=LOOK, epilog="Example: ovrag why figures/consistency/rates.pdf")
def why(
    asked: Annotated[
        str, typer.Argument(metavar="RESULT", help="A file of the results, a macro, a LaTeX label, or a stage.")
    ],
    output: Output = Format.text,
) -> int:
    """Tell where a result comes from: what has changed since, stage, parameters, inputs, revision."""
    from ovrag_core.base import project_of
    from ovrag_core.publish import provenance, provenance_text

    origin = provenance(asked, project_of(Path.cwd()))
    _print(origin, lambda: provenance_text(origin), output)
    return 0


@app.command(rich_help_panel=LOOK, epilog="Example: ovrag export --to ~/thesis --only 'figures/*'")
def export(
    to: Annotated[Path | None, typer.Option(help="The folder of the thesis.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what was edited by hand.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Copy nothing; name what is stale or edited.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only results of such a path, as 'figures/*'; may be repeated.")
    ] = None,
) -> int:
    """Copy tables, figures and macros into a thesis, or check them there.

    Exit code 1: something is stale or edited.
    """
    from ovrag_core.base import project_of
    from ovrag_core.publish import export as results

    project = project_of(Path.cwd())
    if check:
        problems = results.check(project, to, only or ())
        print("\n".join(problems or ["nothing is stale, and nothing was edited by hand"]))
        return FOUND if problems else 0
    if to is None:
        raise typer.BadParameter("name the folder of the thesis: --to FOLDER")
    done = results.export(project, to, force=force, only=only or ())
    for warning in done.warnings:
        say(warning)
    print("\n".join(done.lines))
    return FOUND if done.kept else 0


def _print(result: BaseModel, text: Callable[[], str], output: Format) -> None:
    print(text() if output is Format.text else result.model_dump_json(indent=None if output is Format.jsonl else 2))


def _with_domain(overrides: Sequence[str] | None, ontology: Path | None) -> list[str]:
    return [*(overrides or []), *([f"ontology.domain={json.dumps(str(ontology))}"] if ontology else [])]


def _review_of_another_domain(
    loaded: Iterable[tuple[Path, Document | str]], settings: Settings, validator: Validator, output: Format
) -> int:
    """Print what a model reads of documents of a domain without its own reader, and what the ontology says of that."""
    from ovrag_core.loans import other_reader
    from ovrag_core.loop import review_document

    unread: list[str] = []

    def reviews() -> Iterator[_Shown]:
        with other_reader(settings, validator.ontology) as reader:
            for path, document in loaded:
                if isinstance(document, str):
                    unread.append(document)
                    say(document)
                    continue
                result = review_document(document, reader, validator, reader.name)
                if result.label == "UNCHECKED":
                    say(f"{path} was not checked: {result.reason}")
                yield result.label, result.model_dump_json, result.to_text

    code = _print_each(reviews(), output)
    return BAD if unread else code


def _print_each(reviews: Iterable[_Shown], output: Format) -> int:
    """Print reviews, each as soon as it is made but for a list in JSON, and return the exit code."""
    labels, listed = Counter[str](), []
    for label, as_json, as_text in reviews:
        labels[label] += 1
        if output is Format.json:
            listed.append(json.loads(as_json()))
        else:
            print_beside(as_json() if output is Format.jsonl else as_text() + "\n")
    if output is Format.json:
        print_json(listed)
    if output is Format.text and labels.total() > 1:
        clash, clean, unchecked = (labels[label] for label in ("CLASH", "CLEAN", "UNCHECKED"))
        print(f"{labels.total()} reviewed: contradictions in {clash}, none found in {clean}, {unchecked} not checked")
    return BAD if "UNCHECKED" in labels else FOUND if "CLASH" in labels else 0


def _here(folder: Path) -> Path:
    """A folder of the project that is worked in: the one in whose folder the command is started, else this one."""
    return folder if DEFAULT_PARAMS.exists() or folder.exists() else project_file(folder)


def _without_reports(paths: list[Path]) -> list[Path]:
    """The paths, folders as their documents, without what `ovrag review` wrote itself: a line says which those are."""
    from ovrag_core.documents import find
    from ovrag_core.loans import is_report

    chosen: list[Path] = []
    for path in paths:
        say_passed_over(path)
        for document in find(path) if path.is_dir() else [path]:
            if is_report(document):
                say(f"{document} was passed over: it is a report of ovrag review, not a document")
            else:
                chosen.append(document)
    if not chosen:
        raise DocumentError("only reports of ovrag review were given; name the documents that they are about")
    return chosen


def _bench(paths: list[Path], settings: Settings) -> tuple[Bench, str]:
    from ovrag_core.loans import documents_bench

    read = [document for _, document in load_each(paths)]
    documents = [document for document in read if not isinstance(document, str)]
    problems = [problem for problem in read if isinstance(problem, str)]
    if not documents or isinstance(read[0], str):  # no other document is asked in its place
        raise DocumentError("; ".join(problems) or "no document was given; name one with --document")
    for problem in problems:
        say(problem)
    return documents_bench(settings, documents), documents[0].id


def _ask(question: str, document_id: str, arm: ArmName, bench: Bench) -> QueryRecord:
    from ovrag_core.loans import ask_once
    from ovrag_core.loop import ARMS

    if not question.strip():
        raise typer.BadParameter("the question is empty")
    return ask_once(Question(id="Q", text=question), document_id, ARMS[arm], bench)[0]


def _questions(asked: str) -> Iterator[str]:
    no_notice()
    if sys.stdin.isatty():
        print(f"Questions about {asked}; an empty line ends.", file=sys.stderr)
    while True:
        if sys.stdin.isatty():
            print("? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline().strip()
        if line in ("", "quit", "exit"):
            return
        yield line


def _exit_code(record: QueryRecord) -> int:
    return BAD if record.failure is not None else FOUND if record.flagged else 0


def _problem(record: QueryRecord) -> str:
    """Explain why a question got no answer or its answer was not checked."""
    return f"{record.document_id} was not checked: {record.failure}"


if __name__ == "__main__":
    main()
