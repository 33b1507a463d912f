"""The figures of the loop over causal chains, each with n and a 95% interval by chain.

    python benchmarks/causal_loop.py [--graph FILE] [--chains FILE] [--drift RATE] [--coverage SHARE ...]
                                     [--obedience SHARE ...] [--samples N]

Drafts come from the declared drift simulator. Without arguments everything is measured on the chains that are made
from the study's own graph. `--chains` reads recorded chains instead, whose steps are no causal facts: each is checked
against a graph of its own steps. Milliseconds are of this machine as it is.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ovrag_core.evaluation.statistics import Difference, Estimate, Resampling
from ovrag_core.graph import EmbeddedStore, Store, load_graph
from ovrag_studies.causal.chains import chain_metrics, random_verdicts
from ovrag_studies.causal.chains.arms import DRAFTING
from ovrag_studies.causal.chains.chain_generation import generate
from ovrag_studies.causal.chains.chain_runs import Case, ChainBench, run
from ovrag_studies.causal.chains.drift import NAME
from ovrag_studies.causal.chains.recorded_chains import read_recorded, recorded_graph
from ovrag_studies.causal.graphs.causal_terms import LOWERS, RAISES
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.verifier import Verdict, Verifier
from ovrag_studies.causal.settings import Causal, Drift


def text_of(estimate: Estimate | Difference) -> str:
    if estimate.value is None:
        return "–"
    low, high = estimate.low, estimate.high
    return f"{estimate.value:.3f}" + ("" if low is None or high is None else f" [{low:.3f}, {high:.3f}]")


def show_figures(cases: Sequence[Case], plan: Resampling) -> None:
    print(f"  {'arm':<12}" + "".join(f"{name:<23}" for name in chain_metrics.MEASURES))
    for arm in DRAFTING:
        given = chain_metrics.figures(cases, arm, plan)
        print(f"  {arm:<12}" + "".join(f"{text_of(given[name]):<23}" for name in chain_metrics.MEASURES))


def show_comparison(cases: Sequence[Case], plan: Resampling) -> None:
    others = [arm for arm in DRAFTING if arm != "caf"]
    for each in chain_metrics.compare(cases, "caf", others, plan):
        pairs = each.whole
        print(f"  caf - {each.second:<10} entailment {text_of(each.difference):<24} p = {each.p:.4f} (Holm)")
        print(
            f"      all statements right in one only: {pairs.first_only} to {pairs.second_only} of {pairs.pairs},"
            f" McNemar p = {each.p_whole:.2g} (Holm)"
        )


def show_detection(title: str, found: tuple[list[chain_metrics.Detection], list[chain_metrics.Detection]]) -> None:
    print(f"\n{title}")
    recalls, precisions = found
    for each in recalls:
        print(f"  recall     {each.name:<20} {text_of(each.share):<24} of {each.of}")
    for one in precisions:
        print(f"  precision  {one.name:<20} {text_of(one.share):<24} of {one.of}")


def show_arms(bench: ChainBench, options: Causal, coverage: Sequence[float], plan: Resampling) -> None:
    drift = options.drift
    for share in coverage:
        start = time.perf_counter()
        cases = run(bench, options.loop, drift, coverage=share, seed=options.experiments.seed)
        seconds = time.perf_counter() - start
        print(
            f"\n{NAME}, drift {drift.rate:g}, obedience {drift.obedience:g}, coverage {share:g}:"
            f" {len(bench.chains)} chains and their paraphrases, {seconds:.1f} s"
        )
        show_figures(cases, plan)
        show_comparison(cases, plan)
        singles = [case for case in cases if case.arm == "vanilla"]
        found = chain_metrics.detection_in_drafts(singles, plan)
        show_detection(f"errors written by the {NAME} (vanilla, all wordings), coverage {share:g}", found)


def show_prompts(bench: ChainBench, plan: Resampling) -> None:
    material = [
        (chain.id, [(each.kind, each.span) for each in chain.contradictions], bench.reference.check(chain.prompt))
        for chain in bench.chains
    ]
    show_detection("contradictions in the prompts", chain_metrics.detection_in_prompts(material, plan))


def show_sweep(bench: ChainBench, options: Causal, obedience: Sequence[float], plan: Resampling) -> None:
    print(f"\nobedience, swept ({NAME}, drift {options.drift.rate:g}, coverage 1; prompts alone)")
    ends = None
    for share in sorted(obedience, reverse=True):
        drift = options.drift.model_copy(update={"obedience": share})
        cases = run(bench, options.loop, drift, arms=("best_of_t", "caf"), paraphrases=False)
        (won,) = chain_metrics.compare(cases, "caf", ["best_of_t"], plan)
        caf, best = (chain_metrics.figures(cases, arm, plan)["entailment"] for arm in ("caf", "best_of_t"))
        print(f"  {share:<5g} caf {text_of(caf)}  best_of_t {text_of(best)}  difference {text_of(won.difference)}")
        if ends is None and (won.difference.low is None or won.difference.low <= 0):
            ends = share
    print(
        "  the gain holds throughout" if ends is None else f"  the interval of the gain reaches 0 at obedience {ends:g}"
    )


def show_random_verdicts(replays: int, seed: int) -> None:
    cells = random_verdicts.replay(replays, seed)
    right, measured = random_verdicts.reproduced(cells)
    print(f"\n{random_verdicts.NAME}: {right} of {measured} published cells in the 95% range of {replays} replays")
    for cell in cells:
        published = "not measured" if cell.published is None else f"{cell.published:.3f}"
        replayed = f"{cell.mean:.3f} [{cell.low:.3f}, {cell.high:.3f}]"
        print(f"  {cell.arm:<8} {cell.figure:<20} published {published:<13} replayed {replayed}")


def show_milliseconds(name: str, store: Store, graph: EmbeddedStore) -> None:
    taken = []
    for predicate in (RAISES, LOWERS):
        for triple in graph.triples(None, predicate):
            terms = {"s": triple.subject, "p": predicate, "o": triple.object}
            start = time.perf_counter()
            assert store.ask("ASK { ?s ?p ?o }", terms)
            taken.append(time.perf_counter() - start)
    middle, high = statistics.median(taken) * 1e3, statistics.quantiles(taken, n=20)[-1] * 1e3
    print(f"  ASK, {name:<10} median {middle:.3f} ms, 95th of 100 {high:.3f} ms, n = {len(taken)}")


def show_verdict_milliseconds(bench: ChainBench) -> None:
    taken = []
    for chain in bench.chains:
        verifier = Verifier(bench.graph, bench.lexicon)
        start = time.perf_counter()
        verdicts = verifier.check(chain.prompt)
        taken.append((time.perf_counter() - start) / max(1, len(verdicts)))
    middle = statistics.median(taken) * 1e3
    print(f"  parse, link and verify, a statement: median {middle:.3f} ms, n = {len(taken)} prompts")


def show_recorded(path: Path, options: Causal, plan: Resampling) -> None:
    """Each recorded chain is checked against what it states itself: no graph of causes belongs to them."""
    verdicts: list[Verdict] = []
    unprompted: list[bool] = []
    cases: list[Case] = []
    chains = read_recorded(path)
    for chain in chains:
        graph = EmbeddedStore(recorded_graph([chain]))
        bench = ChainBench.of(graph, [chain], NameLexicon.of_graph(graph), options.loop.gamma)
        verdicts += bench.reference.check(chain.prompt)
        for text in chain.unprompted:
            unprompted.append(any(each.outcome == "CONTRADICTION" for each in bench.reference.check(text)))
        cases += run(bench, options.loop, options.drift)
    print(f"\n{path.name}: {len(chains)} chains, each by a graph of its own steps")
    for (outcome, rule), count in Counter((each.outcome, each.rule) for each in verdicts).most_common():
        print(f"  statements of the prompts: {outcome}, {rule or 'not read'}: {count} of {len(verdicts)}")
    print(f"  contradictions kept beside the prompts, found: {sum(unprompted)} of {len(unprompted)}")
    print(f"\n{NAME}, drift {options.drift.rate:g}, obedience {options.drift.obedience:g}")
    show_figures(cases, plan)
    show_comparison(cases, plan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = Causal()
    parser.add_argument("--graph", type=Path, default=defaults.data.graph)
    parser.add_argument("--chains", type=Path)
    parser.add_argument("--drift", type=float, default=defaults.drift.rate)
    parser.add_argument("--coverage", type=float, nargs="+", default=[1.0, 0.8])
    parser.add_argument("--obedience", type=float, nargs="+", default=defaults.sweep.obedience)
    parser.add_argument("--samples", type=int, default=defaults.experiments.bootstrap_samples)
    chosen = parser.parse_args()
    drift = Drift(**{**defaults.drift.model_dump(), "rate": chosen.drift})
    options = defaults.model_copy(update={"drift": drift})
    plan = Resampling(chosen.samples, defaults.experiments.confidence, defaults.experiments.seed)

    if chosen.chains:
        show_recorded(chosen.chains, options, plan)
        return
    graph = load_graph(chosen.graph)
    chains = generate(graph, defaults.experiments.seed)
    bench = ChainBench.of(graph, chains, NameLexicon.of_graph(graph), options.loop.gamma)
    torn = sum(bool(chain.contradictions) for chain in chains)
    print(f"{len(chains)} chains of {chosen.graph}, {torn} with a contradiction")
    show_prompts(bench, plan)
    show_arms(bench, options, chosen.coverage, plan)
    show_sweep(bench, options, chosen.obedience, plan)
    show_random_verdicts(defaults.experiments.replays, defaults.experiments.seed)
    print("\nmilliseconds")
    show_verdict_milliseconds(bench)
    show_milliseconds("embedded", graph, graph)


if __name__ == "__main__":
    main()
