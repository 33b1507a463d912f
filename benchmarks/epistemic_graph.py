"""How fast a graph of a million triples answers, and how fast it licenses a claim with its proof. And the gold cards.

    python benchmarks/epistemic_graph.py [--triples 1000000] [--claims 4000] [--seed 1]

The graph is made: waters in trees below fifty seas, a dozen steps deep in the mean, which is deeper than real
drainages. Times are those on the processor, so that other work on the machine does not count. With
`OVRAG_EXTERNAL_DATA`, licences and second looks at the gold cards of `rivers` are counted first.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base import external_data, project_file
from ovrag_core.evaluation import wilson
from ovrag_core.graph import LABEL, TYPE, EmbeddedStore, open_graph
from ovrag_studies.abstention.cards.card import read_cards
from ovrag_studies.abstention.knowledge.domain import Domain, load_domain
from ovrag_studies.abstention.licensing.licence import license_any, license_claim
from ovrag_studies.abstention.licensing.rechecking import recheck
from ovrag_studies.abstention.parsing.claim_reader import Claim

_WORDS = ("Alder", "Bear", "Cedar", "Deer", "Elm", "Fox", "Goose", "Hazel", "Iron", "Jay", "Kelp", "Lynx", "Maple")
_PER_RIVER = 3  # triples: name, class, mouth
_SEAS = 50


def made(triples: int, domain: Domain, seed: int) -> tuple[list[NamedNode], Iterator[Triple]]:
    """The waters and the triples of a graph of about that size."""
    draw, mouth = random.Random(seed), NamedNode(domain.predicates["hasMouth"].iri)
    waters = [NamedNode(f"http://example.org/made/{number}") for number in range(triples // _PER_RIVER)]

    def written() -> Iterator[Triple]:
        for number, water in enumerate(waters):
            kind = "Sea" if number < _SEAS else draw.choice(["River", "River", "Lake"])
            yield Triple(water, LABEL, Literal(f"{draw.choice(_WORDS)} {draw.choice(_WORDS)} {number} {kind}"))
            yield Triple(water, TYPE, domain.class_iri(kind))
            if number >= _SEAS:
                yield Triple(water, mouth, waters[draw.randrange(number)])

    return waters, written()


def timed(action: Callable[[Claim], object], claims: Sequence[Claim]) -> list[float]:
    """Milliseconds of each call, sorted."""
    spent = []
    for claim in claims:
        start = time.thread_time()
        action(claim)
        spent.append(1e3 * (time.thread_time() - start))
    return sorted(spent)


def show(name: str, spent: Sequence[float], target: float) -> None:
    median, tail = statistics.median(spent), spent[int(0.95 * len(spent))]
    times = f"median {median:7.3f} ms  p95 {tail:7.3f} ms (target {target:g})  max {spent[-1]:.1f} ms"
    print(f"{name:34} n={len(spent):5}  {times}")


def at_size(domain: Domain, triples: int, count: int, seed: int) -> None:
    waters, written = made(triples, domain, seed)
    start = time.perf_counter()
    store = EmbeddedStore(written)
    print(f"{len(store):,} triples in {time.perf_counter() - start:.1f} s")
    draw, relation = random.Random(seed + 1), NamedNode(domain.predicates["hasMouth"].iri)
    pairs = [(draw.choice(waters), draw.choice(waters)) for _ in range(count)]
    said = [
        Claim(one, "hasMouth", triple.object)
        for one, _ in pairs[::2]
        for triple in store.triples(one, relation)
        if isinstance(triple.object, NamedNode)
    ]
    direct = [Claim(one, "hasMouth", other) for one, other in pairs] + said
    chained = [Claim(one, "drainsTo", other) for one, other in pairs]
    ask = "ASK { ?s ?p ?o }"
    show("ASK", timed(lambda each: store.ask(ask, {"s": each.subject, "p": relation, "o": each.object}), direct), 0.1)
    show("licence with proof, a fact", timed(lambda each: license_claim(each, store, domain), direct), 10)
    show("licence with proof, a chain", timed(lambda each: license_claim(each, store, domain), chained), 10)
    some = [license_claim(each, store, domain) for each in (*direct[:200], *chained[:200], *said[:200])]
    verdicts = Counter(f"{each.verdict} {each.constraint or ''}".strip() for each in some)
    looks = [look for each in some if (look := recheck(each, store, domain)) is not None]
    listed = ", ".join(f"{what} {n}" for what, n in sorted(verdicts.items()))
    print(f"second look: {sum(looks)} of {len(looks)} hold ({listed})")


def on_gold_cards(folder: Path, domain: Domain) -> None:
    hidden = frozenset((folder / "hidden_subjects.txt").read_text(encoding="utf-8").split())
    store = open_graph(folder / "hasMouth_facts.tsv", domain.table, hidden)
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    looks: list[bool | None] = []
    spent = []
    for card in read_cards(folder / "cards_gold.jsonl"):
        claims = [Claim(NamedNode(one), card.claim.pred, NamedNode(card.claim.obj)) for one in card.claim.subjects]
        start = time.thread_time()
        licence = license_any(claims, store, domain)
        spent.append(1e3 * (time.thread_time() - start))
        asked[card.subtype] += 1
        right[card.subtype] += licence.verdict == card.gold
        looks += [recheck(license_claim(each, store, domain), store, domain) for each in claims]
    for kind, count in sorted(asked.items()):
        print(f"  {kind:16} {right[kind]:4} of {count}")
    checked = [look for look in looks if look is not None]
    for name, hits, of in (
        ("licence, claim given", right.total(), asked.total()),
        ("second look at each proof", sum(checked), len(checked)),
    ):
        estimate = wilson(hits, of)
        print(f"{name:34} {hits} of {of} = {estimate.value:.4f} [{estimate.low:.4f}, {estimate.high:.4f}]")
    show("licence with proof, gold cards", sorted(spent), 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--claims", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    domain = load_domain(project_file(Path("ontologies/domains/rivers.yaml")))
    if (folder := external_data("rivers")).is_dir():
        on_gold_cards(folder, domain)
    at_size(domain, options.triples, options.claims, options.seed)


if __name__ == "__main__":
    main()
