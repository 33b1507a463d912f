"""The licence on cards of DBpedia rivers asked in other words: accuracy and errors with intervals.

    python benchmarks/epistemic_arms.py --split S ...

Reads the rivers below `OVRAG_EXTERNAL_DATA`; wordings are those of each split of
tests/data/epistemic/river_wordings.tsv, in turn. Intervals (95%) resample drainages.
"""

import argparse
import csv
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from pyoxigraph import NamedNode

from ovrag_core.base import external_data, project_file
from ovrag_core.evaluation import Resampling
from ovrag_core.retrieval import minilm
from ovrag_studies.abstention.arms.comparison import offline_arms, run
from ovrag_studies.abstention.arms.world import CardWorld, deal
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.knowledge.domain import fill
from ovrag_studies.abstention.knowledge.likeness import bare
from ovrag_studies.abstention.measures import estimates
from ovrag_studies.abstention.settings import Epistemic, GraphSource
from tables import estimate, table

SHOWN = ("accuracy", "LA*", "FAR*", "false YES")
WORDINGS = project_file(Path("tests/data/epistemic/river_wordings.tsv"))


def main() -> None:
    data = external_data("rivers")
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--split", nargs="+", required=True)
    source = GraphSource(
        graph=str(data / "hasMouth_facts.tsv"),
        domain=Path("ontologies/domains/rivers.yaml"),
        hidden=data / "hidden_subjects.txt",
        cards=data / "cards_gold.jsonl",
    )
    world, cards = deal(source, Epistemic().cards, minilm())
    licence = offline_arms(world)["licence"]
    rows = []
    for split in options.parse_args().split:
        with WORDINGS.open(encoding="utf-8", newline="") as file:
            asked = [row for row in csv.DictReader(file, delimiter="\t") if row["split"] == split]
        by_kind = {kind: [row["wording"] for row in asked if row["asks"] == kind] for kind in ("direct", "chain")}
        answers = run(world, reworded(world, cards, by_kind), [licence])
        found = estimates([record.outcome() for record in answers.records], Resampling())
        number = sum(map(len, by_kind.values()))
        rows.append((split, number, len(cards), *(estimate(found[name]) for name in SHOWN)))
    print(table(("wordings", "n", "cards", *SHOWN), rows))


def reworded(world: CardWorld, cards: Sequence[Card], wordings: dict[str, list[str]]) -> tuple[Card, ...]:
    """The cards asked in wordings in turn; an ambiguous name stays as short as it is."""
    turns = {kind: cycle(texts) for kind, texts in wordings.items()}
    kinds = ("chain" if card.claim.pred in world.domain.chains else "direct" for card in cards)
    return tuple(
        replace(card, question=_filled(next(turns[kind]), card, world)) for card, kind in zip(cards, kinds, strict=True)
    )


def _filled(wording: str, card: Card, world: CardWorld) -> str:
    subject, value = (world.names.label(NamedNode(iri)) for iri in (card.claim.subjects[0], card.claim.obj))
    return fill(wording, bare(subject) if len(card.claim.subjects) > 1 else subject, value)


if __name__ == "__main__":
    main()
