"""Abstention on a knowledge graph: what a graph says of a question, and how well systems know what they know.

Exit code 0: done, or YES, NO or UNKNOWN was said; 1: the graph contradicts itself (check); 2: bad input, not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ovrag_core.base import CardError, GraphError, Settings, write_text
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

Graph = Annotated[
    str | None,
    typer.Option("--graph", "-g", help="Turtle, N-Triples, RDF/XML or a table of facts (TSV); or an endpoint's URL."),
]
DomainFile = Annotated[
    str | None, typer.Option("--domain", "-d", help="What is true of the graph: a YAML file, or rivers or loans.")
]
Hidden = Annotated[Path | None, typer.Option("--hidden", help="Subjects whose facts are left out, an IRI a line.")]
CardsFile = Annotated[Path | None, typer.Option("--cards", help="A file of cards, one JSON object a line.")]
Out = Annotated[Path, typer.Option("--out", help="The file to write.", callback=writable_file)]
app = study_commands(__doc__)


@app.command("license", epilog="Example: ovrag epistemic license 'Is Alder a tributary of Birch?'")
@with_settings
def license_(
    settings: Settings,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="A question or statement about two things of the graph.")
    ],
    graph: Graph = None,
    domain: DomainFile = None,
    output: Output = Format.text,
) -> int:
    """Answer YES, NO or UNKNOWN, with the proof: the facts, the constraint that is broken, or what is lacking."""
    from ovrag_studies.abstention.arms.world import open_source
    from ovrag_studies.abstention.licensing import asking
    from ovrag_studies.abstention.parsing.name_index import names_of

    loaded_domain, store = open_source(_source(settings, graph, domain))
    answer = asking.ask(question, store, loaded_domain, names_of(store, loaded_domain))
    if output is Format.text:
        print(asking.as_text(answer))
    else:
        print_record(asking.as_record(answer), output)
    if answer.verdict == "UNCHECKED":
        say(f"not checked: {answer.lacking}")
        return BAD
    return 0


@app.command(epilog="Example: ovrag epistemic check")
@with_settings
def check(settings: Settings, graph: Graph = None, domain: DomainFile = None, output: Output = Format.text) -> int:
    """Check a graph against its domain: mended IRIs, shared names, contradictions."""
    from ovrag_core.graph import EmbeddedStore
    from ovrag_studies.abstention.arms.world import open_source
    from ovrag_studies.abstention.knowledge.known import violations

    loaded_domain, store = open_source(_source(settings, graph, domain))
    if not isinstance(store, EmbeddedStore):
        raise GraphError("an endpoint is asked as it is and not loaded; check the graph as files")
    report, contradictions = store.report, violations(store, loaded_domain)
    if output is not Format.text:
        record = {
            "triples": report.triples,
            "repaired": [list(pair) for pair in report.repaired],
            "double_labels": {name: list(bearers) for name, bearers in report.double_labels.items()},
            "violations": contradictions,
        }
        print_record(record, output)
        return FOUND if contradictions else 0
    print(f"{report.triples} triples")
    for heading, lines in (
        ("IRIs mended", [f"{before} -> {after}" for before, after in report.repaired]),
        ("names of several things", [f"{name}: {', '.join(of)}" for name, of in report.double_labels.items()]),
        ("contradictions", contradictions),
    ):
        print("\n".join([f"{heading}: {len(lines) or 'none'}", *(f"  {one_line(line)}" for line in lines)]))
    return FOUND if contradictions else 0


@app.command(epilog="Example: ovrag epistemic cards --out cards.jsonl")
@with_settings
def cards(settings: Settings, out: Out, graph: Graph = None, domain: DomainFile = None) -> int:
    """Make cards from a graph; the subjects whose facts must be hidden before they are asked stand in a file beside."""
    from ovrag_core.retrieval import minilm
    from ovrag_studies.abstention.arms.world import make_deck
    from ovrag_studies.abstention.cards.card import write_cards

    deck = make_deck(_source(settings, graph, domain), Epistemic.of(settings).cards, minilm())
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
    graph: Graph = None,
    domain: DomainFile = None,
    hidden: Hidden = None,
    cards_file: CardsFile = None,
) -> int:
    """Ask the cards of every arm. Beside the records come the cards (.cards.jsonl) and seconds (.latency.jsonl)."""
    from ovrag_core.retrieval import minilm
    from ovrag_studies.abstention.cards.card import write_cards
    from ovrag_studies.abstention.records import write_run
    from ovrag_studies.abstention.study import answer, size

    source = _source(settings, graph, domain, hidden=hidden, cards=cards_file)
    settings = Epistemic.changed(settings, sources={"own": source.model_dump(mode="json")})
    (answered,) = answer(settings, minilm())
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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of `ovrag epistemic run`.")],
    output: Output = Format.text,
) -> int:
    """Published and corrected metrics of each arm with intervals."""
    from ovrag_studies.abstention.measures import count, estimates, shares_by_kind
    from ovrag_studies.abstention.records import read_run

    plan = Epistemic.of(settings).experiments.plan
    by_arm = read_run(file).by_arm()
    if not by_arm:
        raise CardError(f"{file} holds no answer; run the cards first")
    records: list[dict[str, object]] = []
    for name, answers in by_arm.items():
        outcomes = [record.outcome() for record in answers]
        figures, table = estimates(outcomes, plan), count(outcomes).tolist()
        records.append(
            {"system": name, "table": table, "kinds": shares_by_kind(outcomes)}
            | {metric: {"value": e.value, "low": e.low, "high": e.high} for metric, e in figures.items()}
        )
        if output is Format.text:
            print(_system_text(name, table, figures) + "\n")
    if output is not Format.text:
        print_records(records, output)
    return 0


def _source(settings: Settings, graph: str | None, domain: str | None, **files: Path | None) -> GraphSource:
    """The first source of the settings, or another graph; `files` replace parts of it."""
    from ovrag_studies.abstention.study import find_domain

    chosen = next(iter(Epistemic.of(settings).sources.values()))
    if graph is not None or domain is not None:
        chosen = GraphSource(graph=graph or chosen.graph, domain=find_domain(domain or str(chosen.domain)))
    return chosen.model_copy(update={key: path for key, path in files.items() if path is not None})


def _system_text(name: str, table: Sequence[Sequence[int]], found: Mapping[str, Estimate]) -> str:
    from ovrag_core.study import told
    from ovrag_studies.abstention.measures import COLUMNS, PUBLISHED

    rows = [f"  {label}  " + " ".join(f"{cell:>9}" for cell in row) for label, row in zip("ECU", table, strict=True)]
    head = "     " + " ".join(f"{column:>9}" for column in COLUMNS)
    width = max(map(len, found))
    ours = [f"  {metric:<{width}}  {told(estimate)}" for metric, estimate in found.items() if metric not in PUBLISHED]
    theirs = [f"  {metric:<{width}}  {told(found[metric])}" for metric in PUBLISHED]
    return "\n".join([one_line(name), head, *rows, " corrected", *ours, " as published", *theirs])
