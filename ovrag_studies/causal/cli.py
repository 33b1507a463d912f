"""Causal chains and causal questions: statements checked by SPARQL, effects by a real causal model.

Exit code 0: done; 1: a contradiction, or an answer that was rejected; 2: bad input, nothing was checked.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ovrag_core.base import QuestionError, Settings, SettingsError, write_text
from ovrag_core.study import (
    BAD,
    FOUND,
    Format,
    Output,
    print_record,
    say,
    study_commands,
    with_settings,
    writable_file,
)
from ovrag_core.text import one_line
from ovrag_studies.causal.settings import Arm, Causal

if TYPE_CHECKING:
    from ovrag_studies.causal.chains.chain_generation import CausalChain
    from ovrag_studies.causal.chains.drafting import Drafter
    from ovrag_studies.causal.chains.feedback_loop import LoopAnswer
    from ovrag_studies.causal.graphs.verifier import CausalVerdict, Verifier
    from ovrag_studies.causal.questions.question_files import Solved

Asked = Annotated[
    str | None,
    typer.Argument(
        metavar="QUESTION",
        help="A question with its rules or numbers before it, or with a graph: “u -> x -> y, u -> y; u is unobserved. "
        "Effect of x on y?”; - reads stdin.",
    ),
]
Graph = Annotated[
    str | None, typer.Option("--graph", "-g", help="A causal graph in Turtle, or an endpoint's URL; default: settings.")
]
app = study_commands(__doc__)


@app.command(epilog="Example: ovrag causal ask 'Does rain cause floods?'")
@with_settings
def ask(
    settings: Settings,
    question: Asked = None,
    chain: Annotated[str | None, typer.Option(help="A chain of the study, drafted by the declared simulator.")] = None,
    arm: Annotated[Arm | None, typer.Option(help="Draft and check by this arm instead of solving.")] = None,
    log: Annotated[
        Path | None, typer.Option(help="An audit log that the rounds are added to.", callback=writable_file)
    ] = None,
    graph: Graph = None,
    output: Output = Format.text,
) -> int:
    """The answer to a question: solved from its own rules or numbers, or drafted and checked where an arm is named."""
    if chain is not None or arm is not None:
        return _draft(settings, question, chain, arm or "caf", log, graph, output)
    from ovrag_studies.causal.questions.question_files import split

    solved = split(_given(question))
    text = f"{_said(solved)}: {solved.reason}" if solved.reason else _said(solved)
    return _show(solved, text, solved.record, output)


@app.command(epilog="Example: ovrag causal verify 'Rain causes floods.'")
@with_settings
def verify(
    settings: Settings,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT", help="Statements, or files of them; - reads stdin.")],
    graph: Graph = None,
    output: Output = Format.text,
) -> int:
    """A verdict on every statement: VERIFIED, CONTRADICTION, PARTIAL, FAILED or UNCHECKED, with query and triples."""
    verifier = _verifier(Causal.of(settings), graph)
    all_verdicts: list[CausalVerdict] = []
    faults = 0
    for argument in texts:
        try:
            source, text = _text_of(argument)
        except QuestionError as error:
            say(str(error))
            faults += 1
            continue
        all_verdicts += _checked(verifier, source, text, output, _line, {"source": source})
    ended = _ended(all_verdicts, verifier)
    return BAD if faults else ended


@app.command(epilog="Example: ovrag causal explain 'Does rain cause floods?'")
@with_settings
def explain(
    settings: Settings,
    question: Asked = None,
    graph: Graph = None,
    output: Output = Format.text,
) -> int:
    """Explain an answer step by step. For statements, show the query that decided and the triples behind it."""
    text = _given(question)
    if not text.rstrip().endswith("?"):
        verifier = _verifier(Causal.of(settings), graph)
        return _ended(_checked(verifier, "the text", text, output, _explained, {}), verifier)
    from ovrag_studies.causal.questions.question_files import split

    solved = split(text)
    explanation = "\n".join([*solved.lines, f"answer: {_said(solved)}"])
    return _show(solved, explanation, solved.record | {"lines": list(solved.lines)}, output)


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
    from tqdm import tqdm

    from ovrag_studies.causal.questions.question_files import CausalQuestion, read_questions, solve

    all_solved: list[Solved] = []
    faults = 0
    for path in files:
        try:
            questions = list(read_questions(path))
        except QuestionError as error:
            say(str(error))
            faults += 1
            continue
        for question in tqdm(questions, unit="question", delay=2, disable=None):
            if not isinstance(question, CausalQuestion):
                say(question)
                faults += 1
                continue
            solved = solve(question)
            all_solved.append(solved)
            if solved.status == "unread":
                say(f"{path}, {one_line(question.id, 60)} was not read: {solved.reason}")
    text = "".join(json.dumps(solved.record, ensure_ascii=False) + "\n" for solved in all_solved)
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(text, out, QuestionError)
    counted = Counter(solved.status for solved in all_solved)
    rights = [solved.answer == solved.question.label for solved in all_solved if solved.question.label is not None]
    summary = ", ".join(f"{number} {status}" for status, number in sorted(counted.items())) or "no question"
    accuracy = f"; {sum(rights)} of {len(rights)} as their labels say" if rights else ""
    say(f"{summary}{accuracy}" + (f"; {faults} lines or files are no questions" if faults else ""))
    return BAD if faults or not counted or set(counted) == {"unread"} else 0


def _given(text: str | None) -> str:
    read = sys.stdin.read() if text == "-" else text or ""
    if not read.strip():
        raise QuestionError("there is no question; write it behind the command, or - to read it from stdin")
    return read


def _text_of(text: str) -> tuple[str, str]:
    """Return the source of statements, and the statements: those of a file, where one has that name."""
    if text == "-":
        return "stdin", sys.stdin.read()
    path = Path(text)
    try:
        if len(text) < 1000 and "\n" not in text and path.is_file():
            return text, path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise QuestionError(f"{one_line(text, 200)} cannot be read; give text in UTF-8") from None
    return "the text", text


def _said(solved: Solved) -> str:
    """The answer with its status; of an effect in a drawn graph there is no more than that."""
    if solved.question.language == "graph":
        return solved.status
    return f"{solved.answer or 'no answer'} ({solved.status})"


def _show(solved: Solved, text: str, record: dict[str, object], output: Format) -> int:
    if output is not Format.text:
        print_record(record, output)
    elif solved.status != "unread":
        print(text)
    if solved.status == "unread":
        say(f"the question was not read: {solved.reason}")
        return BAD
    return 0


def _checked(
    verifier: Verifier,
    source: str,
    text: str,
    output: Format,
    written: Callable[[CausalVerdict, Verifier], str],
    head: dict[str, object],
) -> list[CausalVerdict]:
    """The verdicts on a text, printed; where there are none, it is said why."""
    from ovrag_studies.causal.chains.audit_log import verdict_record

    verdicts = verifier.check(text)
    for verdict in verdicts:
        if output is Format.text:
            print(written(verdict, verifier))
        else:
            print_record(head | verdict_record(verdict), output)
    if not text.strip():
        say(f"{source} is empty; write sentences such as “A raises B.”")
    elif not verdicts:
        say(f"{source} states no cause or effect that could be checked; write sentences such as “A raises B.”")
    return verdicts


def _verifier(options: Causal, graph: str | None) -> Verifier:
    from ovrag_studies.causal.graphs.stores import open_store
    from ovrag_studies.causal.graphs.verifier import Verifier

    return Verifier(open_store(options, graph), gamma=options.loop.gamma)


def _line(verdict: CausalVerdict, _: Verifier | None = None) -> str:
    return f"{verdict.outcome}: {one_line(verdict.quote)}: {verdict.reason}"


def _explained(verdict: CausalVerdict, verifier: Verifier) -> str:
    lines = [f"{verdict.outcome}: {one_line(verdict.quote)}", f"  {verdict.reason}"]
    if verdict.claim:
        subject, object_ = (verifier.name(verdict.claim.subject), verifier.name(verdict.claim.object))
        lines.append(f"  read as: {subject}, {verdict.claim.predicate.value.rsplit('#', 1)[-1]}, {object_}")
    lines += [f"  rule: {verdict.rule}"] if verdict.rule else []
    lines += [f"  query: {verdict.query}"] if verdict.query else []
    lines += [f"  triple: {triple.subject} {triple.predicate} {triple.object}" for triple in verdict.triples]
    return "\n".join(lines)


def _ended(verdicts: Sequence[CausalVerdict], verifier: Verifier) -> int:
    """The exit code of verdicts: what could not be checked is never passed over."""
    if not verdicts:  # which has been said
        return BAD
    if unchecked := sum(verdict.outcome == "UNCHECKED" for verdict in verdicts):
        say(f"{unchecked} of {len(verdicts)} statements could not be checked")
    elif not verifier.lexicon.names:
        say("nothing was checked: the graph names nothing; give things labels and the class urn:ovrag:causal#Factor")
    elif not any(verdict.claim for verdict in verdicts):
        say("no statement was checked: none is about two things that the graph names")
    else:
        return FOUND if any(verdict.outcome == "CONTRADICTION" for verdict in verdicts) else 0
    return BAD


def _draft(
    settings: Settings,
    question: str | None,
    chain: str | None,
    arm: Arm,
    log: Path | None,
    graph: str | None,
    output: Format,
) -> int:
    from ovrag_studies.causal.chains.arms import DRAFTING, StoreFacts, answer, gaps_of
    from ovrag_studies.causal.chains.audit_log import answer_record, lines_of, round_record
    from ovrag_studies.causal.chains.feedback_loop import DraftJudge

    if arm not in DRAFTING:
        raise SettingsError(f"{arm} drafts nothing; take one of {', '.join(DRAFTING)}")
    options = Causal.of(settings)
    verifier = _verifier(options, graph)
    with _drafter(settings, chain) as (drafter, prompt):
        question_text = prompt.prompt if prompt else _given(question)
        head: dict[str, object] = {"item": prompt.id if prompt else "asked", "arm": arm, "drafts_by": drafter.name}
        judge = DraftJudge(verifier.check, options.loop, gaps_of(question_text, verifier))
        loop_answer = answer(arm, question_text, drafter, judge, StoreFacts(verifier.store, verifier).best)
    record = head | answer_record(loop_answer) | {"draft": loop_answer.final.draft if loop_answer.final else None}
    if log:
        with log.open("a", encoding="utf-8") as file:
            file.writelines(lines_of([(head, loop_answer)]))
    if output is Format.text:
        print(_answer_text(loop_answer, drafter.name, arm))
    else:
        print_record(record | {"all_rounds": [round_record(r) for r in loop_answer.rounds]}, output)
    if loop_answer.decision in ("unchecked", "failed"):
        say(f"not checked: {loop_answer.reason}")
        return BAD
    return FOUND if loop_answer.decision == "rejected" else 0


@contextmanager
def _drafter(settings: Settings, chain: str | None) -> Iterator[tuple[Drafter, CausalChain | None]]:
    """Open the drafter: the simulator for a chain, else the chat model of the settings."""
    from ovrag_core.llm import open_chat
    from ovrag_studies.causal.chains.chain_generation import generate
    from ovrag_studies.causal.chains.drafting import ChatDrafter
    from ovrag_studies.causal.chains.drift import Simulator, World
    from ovrag_studies.causal.graphs.stores import open_graph_file

    options = Causal.of(settings)
    if chain is not None:
        whole = open_graph_file(options)
        chains = {c.id: c for c in generate(whole, options.experiments.seed)}
        if chain not in chains:
            raise QuestionError(f"there is no chain {one_line(chain, 60)}; there are {', '.join(list(chains)[:3])}, …")
        yield Simulator(chains[chain], World.of_graph(whole), options.drift), chains[chain]
        return
    with open_chat(settings.llm) as chat:
        if chat is None:
            raise SettingsError(
                "drafts on a question of your own need a chat model; set llm.provider, or name a --chain, whose drafts "
                "come from the declared simulator"
            )
        yield ChatDrafter(chat, settings.llm.temperature, settings.llm.seed), None


def _answer_text(made: LoopAnswer, drafter: str, arm: Arm) -> str:
    from ovrag_studies.causal.chains.feedback_loop import EMPTY

    lines = [f"{made.decision}: {made.reason} (drafts by {drafter}, arm {arm})"]
    for round_ in made.rounds:
        score = "none" if round_.score is None else f"{round_.score:.3f}"
        lines.append(f"round {round_.number}, score {score}:")
        lines += [f"  {_line(verdict)}" for verdict in round_.verdicts] or [f"  {EMPTY}"]
        lines += [f"  missing: {one_line(gap)}" for gap in round_.gaps]
    return "\n".join(lines)
