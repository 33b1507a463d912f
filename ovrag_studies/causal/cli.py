"""Causal questions and statements: answers by a real causal model, verdicts by SPARQL.

Exit code 0: done; 1: a contradiction; 2: bad input, nothing was checked.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ovrag_core.base import QuestionError, Settings, write_text
from ovrag_core.study import BAD, FOUND, Format, Output, print_record, say, study_commands, with_settings, writable_file
from ovrag_core.text import one_line
from ovrag_studies.causal.settings import Causal

if TYPE_CHECKING:
    from ovrag_studies.causal.questions.question_files import CausalQuestion, Solved

Asked = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="A question with its rules or numbers before it; - reads stdin."),
]
Graph = Annotated[
    str | None, typer.Option("--graph", "-g", help="A causal graph in Turtle, or an endpoint's URL; default: settings.")
]
app = study_commands(__doc__)


@app.command(epilog="Example: ovrag causal ask 'Ab causes Bo. Would Bo occur if not Ab instead of Ab?'")
def ask(question: Asked = None, output: Output = Format.text) -> int:
    """The answer to a question, solved from its own rules or numbers."""
    return _answered(_given(question), output, explained=False)


@app.command(epilog="Example: ovrag causal verify 'Rain causes floods.'")
@with_settings
def verify(
    settings: Settings,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT", help="Statements, or files of them; - reads stdin.")],
    graph: Graph = None,
    output: Output = Format.text,
) -> int:
    """A verdict on every statement: VERIFIED, CONTRADICTION, PARTIAL, FAILED or UNCHECKED, with query and triples."""
    sources: list[tuple[str, str]] = []
    for argument in texts:
        try:
            sources.append(_text_of(argument))
        except QuestionError as error:
            say(str(error))
    ended = _verified(Causal.of(settings), graph, sources, output)
    return BAD if len(sources) < len(texts) else ended


@app.command(epilog="Example: ovrag causal explain 'Rain causes floods.'")
@with_settings
def explain(settings: Settings, question: Asked = None, graph: Graph = None, output: Output = Format.text) -> int:
    """Explain an answer step by step. For statements, show the query that decided and the triples behind it."""
    text = _given(question)
    if text.rstrip().endswith("?"):
        return _answered(text, output, explained=True)
    return _verified(Causal.of(settings), graph, [("the text", text)], output, explained=True)


@app.command(epilog="Example: ovrag causal bench questions.jsonl --out records.jsonl")
def bench(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Questions of CounterBench or CLadder, JSON Lines.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the records here instead of to stdout.", callback=writable_file)
    ] = None,
) -> int:
    """Solve files of questions, a record a line; what cannot be read is named on stderr and the run goes on."""
    from ovrag_studies.causal.questions.question_files import solve

    all_solved: list[Solved] = []
    faults = 0
    for path in files:
        for question in _questions(path):
            if isinstance(question, str):
                say(question)
                faults += 1
                continue
            all_solved.append(solved := solve(question))
            if solved.status == "unread":
                say(f"{path}, {one_line(question.id, 60)} was not read: {solved.reason}")
    text = "".join(json.dumps(solved.record, ensure_ascii=False) + "\n" for solved in all_solved)
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(text, out, QuestionError)
    counted = Counter(solved.status for solved in all_solved)
    say(_summary(all_solved, counted, faults))
    return BAD if faults or set(counted) <= {"unread"} else 0


def _summary(all_solved: "list[Solved]", counted: Mapping[str, int], faults: int) -> str:
    rights = [solved.answer == solved.question.label for solved in all_solved if solved.question.label is not None]
    summary = ", ".join(f"{number} {status}" for status, number in sorted(counted.items())) or "no question"
    accuracy = f"; {sum(rights)} of {len(rights)} as their labels say" if rights else ""
    return f"{summary}{accuracy}" + (f"; {faults} lines or files are no questions" if faults else "")


def _questions(path: Path) -> "list[CausalQuestion | str]":
    """The questions of a file; for a line or a file that holds none, why."""
    from ovrag_studies.causal.questions.question_files import read_questions

    try:
        return list(read_questions(path))
    except QuestionError as error:
        return [str(error)]


def _given(text: str | None) -> str:
    read = sys.stdin.read() if text == "-" else text or ""
    if not read.strip():
        raise QuestionError("there is no question; write it behind the command, or - to read it from stdin")
    return read


def _text_of(text: str) -> tuple[str, str]:
    """Return the source of statements, and the statements: those of a file, where one has that name."""
    if text == "-":
        return "stdin", sys.stdin.read()
    try:
        if len(text) < 1000 and "\n" not in text and Path(text).is_file():
            return text, Path(text).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise QuestionError(f"{one_line(text, 200)} cannot be read; give text in UTF-8") from None
    return "the text", text


def _answered(text: str, output: Format, *, explained: bool) -> int:
    from ovrag_studies.causal.questions.question_files import split

    solved = split(text)
    is_read = solved.status != "unread"
    answer = f"{solved.answer or 'no answer'} ({solved.status})"
    if output is not Format.text:
        print_record(solved.record | ({"lines": list(solved.lines)} if explained else {}), output)
    elif is_read and explained:
        print("\n".join([*solved.lines, f"answer: {answer}"]))
    elif is_read:
        print(f"{answer}: {solved.reason}" if solved.reason else answer)
    if not is_read:
        say(f"the question was not read: {solved.reason}")
    return 0 if is_read else BAD


def _verified(
    options: Causal, graph: str | None, sources: list[tuple[str, str]], output: Format, *, explained: bool = False
) -> int:
    """Print the verdicts on texts, each with its source, and return the exit code: what is unchecked never passes."""
    from ovrag_studies.causal.graphs.causal_terms import open_store
    from ovrag_studies.causal.graphs.verifier import CausalVerdict, Verifier, verdict_record, verdict_text

    verifier = Verifier(open_store(options, graph))
    verdicts: list[CausalVerdict] = []
    for source, text in sources:
        of_text = verifier.check(text)
        verdicts += of_text
        for verdict in of_text:
            if output is not Format.text:
                print_record(({} if explained else {"source": source}) | verdict_record(verdict), output)
            elif explained:
                print(verdict_text(verdict))
            else:
                print(f"{verdict.outcome}: {one_line(verdict.quote)}: {verdict.reason}")
        if not of_text:
            fault = "states no cause or effect that could be checked" if text.strip() else "is empty"
            say(f"{source} {fault}; write sentences such as “A raises B.”")
    if not verdicts:  # which has been said
        return BAD
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    if unchecked := outcomes["UNCHECKED"]:
        say(f"{unchecked} of {len(verdicts)} statements could not be checked")
    elif not verifier.lexicon.names:
        say("nothing was checked: the graph names nothing; give things labels and the class urn:ovrag:causal#Factor")
    elif not any(verdict.claim for verdict in verdicts):
        say("no statement was checked: none is about two things that the graph names")
    else:
        return FOUND if outcomes["CONTRADICTION"] else 0
    return BAD
