"""Abstention on a knowledge graph: what a graph says of a question, and how well systems know what they know.

Exit code 0: done, or YES, NO or UNKNOWN was said; 1: the graph contradicts itself (check); 2: bad input, not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ovrag_core.base import CardError, GraphError, Settings, SettingsError, Unchecked, project_file, write_text
from ovrag_core.study import (
    BAD,
    FOUND,
    Format,
    Output,
    print_record,
    print_records,
    say,
    study_commands,
    with_settings,
    writable_file,
)
from ovrag_core.text import one_line
from ovrag_studies.abstention.settings import Epistemic, GraphSource

if TYPE_CHECKING:
    from ovrag_core.evaluation import Estimate
    from ovrag_core.graph import Store
    from ovrag_studies.abstention.knowledge.domain import Domain
    from ovrag_studies.abstention.measures import CardOutcome

Graphs = Annotated[
    list[str] | None,
    typer.Option("--graph", "-g", help="Turtle, N-Triples, RDF/XML or a table of facts (TSV); or an endpoint's URL."),
]
OneGraph = Annotated[str | None, typer.Option("--graph", "-g", help="A graph's file, or the URL of an endpoint.")]
DomainFile = Annotated[
    str | None, typer.Option("--domain", "-d", help="What is true of the graph: a YAML file, or rivers or loans.")
]
Hidden = Annotated[Path | None, typer.Option("--hidden", help="Subjects whose facts are left out, an IRI a line.")]
CardsFile = Annotated[Path | None, typer.Option("--cards", help="A file of cards, one JSON object a line.")]
SourceName = Annotated[
    str | None, typer.Option("--source", help="A source of the settings instead; default: the first of them.")
]
Out = Annotated[Path, typer.Option("--out", help="The file to write.", callback=writable_file)]
app = study_commands(__doc__)


@app.command("license", epilog="Example: ovrag epistemic license 'Is Alder a tributary of Birch?'")
@with_settings
def license_(
    settings: Settings,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="A question or statement about two things of the graph.")
    ],
    graph: Graphs = None,
    domain: DomainFile = None,
    hidden: Hidden = None,
    recheck: Annotated[bool, typer.Option("--recheck", help="Check the proof again, by shapes and paths.")] = False,
    output: Output = Format.text,
) -> int:
    """Answer YES, NO or UNKNOWN, with the proof: the facts, the constraint that is broken, or what is lacking."""
    from ovrag_studies.abstention.licensing import asking
    from ovrag_studies.abstention.parsing.name_index import names_of

    try:
        loaded_domain, store = _opened(settings, graph, domain, hidden, tell_of_shapes=True)
        answer = asking.ask(question, store, loaded_domain, names_of(store, loaded_domain))
    except Unchecked as error:
        if output is not Format.text:
            print_record(asking.unchecked(question, str(error)), output)
        else:
            print(f"UNCHECKED: {one_line(question)}")
        say(f"not checked: {error}")
        return BAD
    holds = asking.is_borne_out(answer, store) if recheck else None
    if output is Format.text:
        told_again = {None: "nothing to check", True: "it holds", False: "it does NOT hold"}[holds]
        print(asking.as_text(answer) + (f"\nchecked again: {told_again}" if recheck else ""))
    else:
        print_record(asking.as_record(answer) | ({"rechecked": holds} if recheck else {}), output)
    if answer.verdict == "UNCHECKED":
        say(f"not checked: {answer.lacking}")
        return BAD
    return 0


@app.command(epilog="Example: ovrag epistemic check")
@with_settings
def check(settings: Settings, graph: Graphs = None, domain: DomainFile = None, output: Output = Format.text) -> int:
    """Check a graph against its domain: mended IRIs, shared names, contradictions, and shapes that can never fire."""
    from ovrag_core.graph import EmbeddedStore
    from ovrag_studies.abstention.knowledge.known import violations
    from ovrag_studies.abstention.licensing.rechecking import shape_problems

    loaded_domain, store = _opened(settings, graph, domain, None)
    if not isinstance(store, EmbeddedStore):
        raise GraphError("an endpoint is asked as it is and not loaded; check the graph as files")
    report, contradictions, problems = store.report, violations(store, loaded_domain), shape_problems(loaded_domain)
    if output is not Format.text:
        record = {
            "triples": report.triples,
            "repaired": [list(pair) for pair in report.repaired],
            "double_labels": {name: list(bearers) for name, bearers in report.double_labels.items()},
            "violations": contradictions,
            "shapes": problems,
        }
        print_record(record, output)
    else:
        print(f"{report.triples} triples")
        _print_listed("IRIs mended", [f"{before} -> {after}" for before, after in report.repaired])
        shared = [f"{name}: {', '.join(bearers)}" for name, bearers in report.double_labels.items()]
        _print_listed("names of several things", shared)
        _print_listed("contradictions", contradictions)
        _print_listed("faults of the shapes", problems)
    return FOUND if contradictions else 0


@app.command(epilog="Example: ovrag epistemic cards --out cards.jsonl")
@with_settings
def cards(
    settings: Settings,
    out: Out,
    graph: OneGraph = None,
    domain: DomainFile = None,
    source: SourceName = None,
    each: Annotated[int | None, typer.Option(help="Cards for each label and predicate.", min=1)] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed gives other cards.", min=0)] = None,
) -> int:
    """Make cards from a graph; the subjects whose facts must be hidden before they are asked stand in a file beside."""
    from ovrag_core.retrieval import MiniLMOnDemand
    from ovrag_studies.abstention.arms.world import make_deck
    from ovrag_studies.abstention.cards.card import write_cards

    options = Epistemic.of(_with_source(settings, source, graph, domain))
    changed = {key: value for key, value in (("each", each), ("seed", seed)) if value is not None}
    plan = options.cards.model_copy(update=changed)
    deck = make_deck(next(iter(options.sources.values())), plan, MiniLMOnDemand())
    beside = out.with_name(f"{out.stem}.hidden.txt")
    write_cards(deck.cards, out)
    write_text("".join(f"{iri}\n" for iri in deck.hidden), beside, CardError)
    print(f"{out}: {len(deck.cards)} cards; {beside}: {len(deck.hidden)} subjects to hide")
    for lacking in deck.lacking:
        say(f"no cards on {lacking}")
    counted = Counter((card.label, card.subtype) for card in deck.cards)
    print("\n".join(f"  {of} {kind}: {number}" for (of, kind), number in sorted(counted.items())))
    return 0


@app.command(epilog="Example: ovrag epistemic run --out run.jsonl")
@with_settings
def run(
    settings: Settings,
    out: Out,
    graph: OneGraph = None,
    domain: DomainFile = None,
    hidden: Hidden = None,
    cards_file: CardsFile = None,
    source: SourceName = None,
    arm: Annotated[list[str] | None, typer.Option(help="Only this arm; may be repeated.")] = None,
) -> int:
    """Ask the cards of every arm. Beside the records come the cards (.cards.jsonl) and seconds (.latency.jsonl)."""
    from ovrag_core.retrieval import MiniLMOnDemand
    from ovrag_studies.abstention.cards.card import write_cards
    from ovrag_studies.abstention.records import write_run
    from ovrag_studies.abstention.study import answer_main, size

    settings = _with_source(settings, source, graph, domain, hidden=hidden, cards=cards_file)
    settings = Epistemic.changed(settings, arms=arm) if arm else settings
    answered = answer_main(settings, MiniLMOnDemand())
    beside = out.with_name(f"{out.stem}.cards.jsonl")
    write_cards(answered.cards, beside)
    write_run(answered.run, out)
    print(size(answered))
    print(f"{out}: {len(answered.run.records)} answers; {beside}")
    return 0


@app.command(epilog="Example: ovrag epistemic score run.jsonl")
@with_settings
def score(
    settings: Settings,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of `ovrag epistemic run`; or, recorded, cards of others.")
    ],
    recorded: Annotated[bool, typer.Option("--recorded", help="The file holds cards with recorded answers.")] = False,
    kinds: Annotated[bool, typer.Option("--kinds", help="Also the share answered rightly by kind of card.")] = False,
    output: Output = Format.text,
) -> int:
    """Published and corrected metrics of each arm with intervals; with recorded ones, perfect and constant systems."""
    from ovrag_studies.abstention.cards.recorded_cards import read_recorded
    from ovrag_studies.abstention.measures import count, estimates, references, shares_by_kind
    from ovrag_studies.abstention.records import read_run

    plan = Epistemic.of(settings).experiments.plan
    systems: dict[str, Sequence[CardOutcome]]
    if recorded:
        read = read_recorded(file)
        systems = {name: read.outcomes(name) for name in read.answers}
        systems |= references(next(iter(systems.values())))
        say(f"{len(read.cards)} cards, {read.malformed} with an IRI that is none, {read.duplicates} said before")
    else:
        by_arm = read_run(file).by_arm()
        if not by_arm:
            raise CardError(f"{file} holds no answer; run the cards first")
        systems = {name: [record.outcome() for record in records] for name, records in by_arm.items()}
    measured = {name: estimates(outcomes, plan) for name, outcomes in systems.items()}
    tables = {name: count(outcomes).tolist() for name, outcomes in systems.items()}
    shares = {name: shares_by_kind(outcomes) for name, outcomes in systems.items()}
    if output is Format.text:
        for name, figures in measured.items():
            print(_system_text(name, tables[name], figures))
            if kinds:
                print(" answered rightly")
            for kind, share in shares[name].items() if kinds else ():
                print(f"  {one_line(kind)}: {share:.3f}")
            print()
        return 0
    records = [
        {"system": name, "table": tables[name], "kinds": shares[name]}
        | {metric: {"value": e.value, "low": e.low, "high": e.high} for metric, e in figures.items()}
        for name, figures in measured.items()
    ]
    print_records(records, output)
    return 0


def _opened(
    settings: Settings,
    graphs: Sequence[str] | None,
    domain: str | None,
    hidden: Path | None,
    *,
    tell_of_shapes: bool = False,
) -> tuple[Domain, Store]:
    """A domain, and a graph that has something of it; those of the main source where none is named."""
    from ovrag_studies.abstention.arms.world import read_hidden
    from ovrag_studies.abstention.knowledge.known import open_with_domain
    from ovrag_studies.abstention.licensing.rechecking import shape_problems
    from ovrag_studies.abstention.study import checked_domain, find_domain

    main = next(iter(Epistemic.of(settings).sources.values()))
    loaded_domain = checked_domain(find_domain(domain or str(main.domain)))
    for problem in shape_problems(loaded_domain) if tell_of_shapes else ():
        say(problem)
    unseen = read_hidden(hidden) if hidden else frozenset()
    return loaded_domain, open_with_domain(graphs or [main.graph], loaded_domain, unseen)


def _with_source(
    settings: Settings, name: str | None, graph: str | None, domain: str | None, **files: Path | None
) -> Settings:
    """The settings with one source: a named one, the first, or another graph; `files` replace parts of it."""
    from ovrag_studies.abstention.study import checked_domain, find_domain

    sources = Epistemic.of(settings).sources
    if name is not None and name not in sources:
        raise SettingsError(f"studies.epistemic.sources has no {name}; it has {', '.join(sources)}")
    called, chosen = name or next(iter(sources)), sources[name or next(iter(sources))]
    if graph is not None or domain is not None:
        file = find_domain(domain or str(chosen.domain))
        called, chosen = "own", GraphSource(graph=graph or chosen.graph, domain=file)
    checked_domain(project_file(chosen.domain))
    chosen = chosen.model_copy(update={key: path for key, path in files.items() if path is not None})
    return Epistemic.changed(settings, sources={called: chosen.model_dump(mode="json")})


def _print_listed(heading: str, lines: Sequence[str]) -> None:
    print(f"{heading}: {len(lines) or 'none'}")
    for line in lines:
        print(f"  {one_line(line)}")


def _system_text(name: str, table: Sequence[Sequence[int]], found: Mapping[str, Estimate]) -> str:
    from ovrag_core.study import told
    from ovrag_studies.abstention.measures import COLUMNS, PUBLISHED

    rows = [f"  {label}  " + " ".join(f"{cell:>9}" for cell in row) for label, row in zip("ECU", table, strict=True)]
    head = "     " + " ".join(f"{column:>9}" for column in COLUMNS)
    width = max(map(len, found))
    ours = [f"  {metric:<{width}}  {told(estimate)}" for metric, estimate in found.items() if metric not in PUBLISHED]
    theirs = [f"  {metric:<{width}}  {told(found[metric])}" for metric in PUBLISHED]
    return "\n".join([one_line(name), head, *rows, " corrected", *ours, " as published", *theirs])
