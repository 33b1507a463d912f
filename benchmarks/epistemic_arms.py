"""All systems on cards from elsewhere: metrics with intervals, paired tests, retrieval.

    python benchmarks/epistemic_arms.py [--facts F] [--hidden H] [--cards C] [--domain D] [--own] [--shipped]
        [--learn] [--split S ...] [--write RUN]

Reads the rivers below `OVRAG_EXTERNAL_DATA` unless told otherwise. Intervals (95%) resample drainages. The readers of
passages learn anew by folds of drainages, as what they are shipped with was learned from these very cards: give
`--shipped` for cards on other rivers. `--own` runs the samples of the repository instead, with cards made from them.
`--learn` writes what the readers learn from all cards; `--write` the records and their seconds. With `--split` the
cards are asked in other words, of the licence alone: those of each split of tests/data/epistemic/river_wordings.tsv,
in turn.
"""

import argparse
import csv
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from pyoxigraph import NamedNode

from ovrag_core.base import external_data, project_file
from ovrag_core.evaluation import Resampling, compare_pairs
from ovrag_core.retrieval import minilm
from ovrag_studies.abstention.arms.comparison import crossfit_arms, lessons, offline_arms, ranks, run
from ovrag_studies.abstention.arms.readers import learn
from ovrag_studies.abstention.arms.world import CardWorld, deal
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.knowledge.domain import fill
from ovrag_studies.abstention.knowledge.likeness import bare
from ovrag_studies.abstention.measures import CardOutcome, count, estimates
from ovrag_studies.abstention.records import write_run
from ovrag_studies.abstention.settings import Epistemic, GraphSource
from tables import estimate, table

PLAN = Resampling()
CORRECTED = ("LA*", "CVRR*", "FAR*", "AR*", "false YES", "accuracy")
MORE = ("macro-F1", "AURC", "excess AURC")
REWORDED = ("accuracy", "LA*", "FAR*", "false YES")
PUBLISHED = ("AP", "CVRR", "FAR-NE", "LA")
WEIGHTS = project_file(Path("ovrag_studies/abstention/arms/weights/readers.json"))
WORDINGS = project_file(Path("tests/data/epistemic/river_wordings.tsv"))
LICENSED, RIVALS = "Graph-RAG with licence", ("RAG by similarity", "RAG by names", "RAG by weights")


def main() -> None:
    data = external_data("rivers")
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--facts", type=Path, default=data / "hasMouth_facts.tsv")
    options.add_argument("--hidden", type=Path, default=data / "hidden_subjects.txt")
    options.add_argument("--cards", type=Path, default=data / "cards_gold.jsonl")
    options.add_argument("--domain", type=Path, default=Path("ontologies/domains/rivers.yaml"))
    options.add_argument("--own", action="store_true")
    options.add_argument("--shipped", action="store_true")
    options.add_argument("--learn", action="store_true")
    options.add_argument("--split", nargs="+")
    options.add_argument("--write", type=Path)
    given = options.parse_args()
    if given.own:
        for name, source in Epistemic().sources.items():
            measure(name, source, shipped=True)
        return
    source = GraphSource(graph=str(given.facts), domain=given.domain, hidden=given.hidden, cards=given.cards)
    if given.split:
        measure_splits(source, given.split)
        return
    measure("rivers", source, shipped=given.shipped, learning=given.learn, path=given.write)


def measure_splits(source: GraphSource, splits: Sequence[str]) -> None:
    """Print how the licence answers the cards in the wordings of each split."""
    world, cards = deal(source, Epistemic().cards, minilm())
    arm = offline_arms(world)["licence"]
    rows = []
    for split in splits:
        made = run(world, reworded(world, cards, split), [arm])
        found = estimates([record.outcome() for record in made.by_arm()[LICENSED]], PLAN)
        with WORDINGS.open(encoding="utf-8", newline="") as file:
            asks = [row["asks"] for row in csv.DictReader(file, delimiter="\t") if row["split"] == split]
        number = sum(kind in ("direct", "chain") for kind in asks)
        rows.append((split, number, len(cards), *(estimate(found[name]) for name in REWORDED)))
    print(table(("wordings", "n", "cards", *REWORDED), rows))


def measure(
    name: str,
    source: GraphSource,
    *,
    shipped: bool,
    learning: bool = False,
    path: Path | None = None,
) -> None:
    """Print all figures of one source."""
    world, cards = deal(source, Epistemic().cards, minilm())
    print(f"{name}: {len(cards)} cards, {len(world.shelf.passages)} facts\n")
    if learning:
        learned = learn(lessons(world, cards), "gold cards on rivers, DBpedia, the part for development")
        WEIGHTS.write_text(learned.model_dump_json(indent=1) + "\n", encoding="utf-8")
    arms = offline_arms(world) | ({} if shipped else crossfit_arms(world, cards))
    made = run(world, cards, arms.values())
    if path is not None:
        write_run(made, path)
    outcomes = {arm: [each.outcome() for each in records] for arm, records in made.by_arm().items()}
    _print_arms(outcomes, name)
    _print_pairs(outcomes)
    _print_retrieval(world, cards)


def reworded(world: CardWorld, cards: Sequence[Card], split: str) -> tuple[Card, ...]:
    """The cards asked in the wordings of a split; an ambiguous name stays as short as it is."""
    with WORDINGS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["split"] == split]
    chains = world.domain.chains
    turns = {kind: cycle([row["wording"] for row in rows if row["asks"] == kind]) for kind in ("direct", "chain")}
    return tuple(
        replace(card, question=_filled(next(turns["chain" if card.claim.pred in chains else "direct"]), card, world))
        for card in cards
    )


def _filled(wording: str, card: Card, world: CardWorld) -> str:
    subject, value = (world.names.label(NamedNode(iri)) for iri in (card.claim.subjects[0], card.claim.obj))
    return fill(wording, bare(subject) if len(card.claim.subjects) > 1 else subject, value)


def _print_arms(outcomes: dict[str, list[CardOutcome]], name: str) -> None:
    found = {arm: estimates(listed, PLAN) for arm, listed in outcomes.items()}
    for title, shown in (("corrected", CORRECTED), ("more", MORE), ("as published", PUBLISHED)):
        rows = [(arm, *(estimate(measured[column]) for column in shown)) for arm, measured in found.items()]
        print(table((f"{name}, {title}", *shown), rows))
    cells = [(arm, *(" ".join(map(str, row)) for row in count(listed).tolist())) for arm, listed in outcomes.items()]
    print(table(("YES NO UNKNOWN none", "entailed", "contradicted", "unknown"), cells))


def _print_pairs(outcomes: dict[str, list[CardOutcome]]) -> None:
    right = {arm: [each.right for each in outcomes[arm]] for arm in (LICENSED, *RIVALS)}
    clusters = [each.cluster for each in outcomes[LICENSED]]
    found = compare_pairs({rival: (right[LICENSED], right[rival]) for rival in RIVALS}, clusters, PLAN)
    rows = [(rival, each.items.first_only, each.items.second_only, f"{each.holm:.2g}") for rival, each in found.items()]
    print(table((f"{LICENSED} against", "it alone right", "the other alone right", "Holm p"), rows))


def _print_retrieval(world: CardWorld, cards: Sequence[Card]) -> None:
    found = ranks(world, cards)
    rows = []
    for name, places in (("fused", [each.fused for each in found]), ("vectors", [each.vectors for each in found])):
        first, any_ = (sum(place == 1 for place in places), sum(place is not None for place in places))
        rows.append((name, len(found), f"{first / len(found):.3f}", f"{any_ / len(found):.3f}"))
    print(table(("right passage", "cards", "first", "in five"), rows))


if __name__ == "__main__":
    main()
