"""The whole study of chains by the settings, once: chains drawn, every arm run."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pandas

from ovrag_core.base import Settings, SettingsError, project_file
from ovrag_core.evaluation import Estimate, Resampling
from ovrag_core.graph import EmbeddedStore
from ovrag_core.llm import Chat
from ovrag_core.retrieval import Embedder
from ovrag_studies.causal.chains import causal_chains, chain_metrics, chain_runs, drift, random_verdicts
from ovrag_studies.causal.chains.arms import DRAFTING
from ovrag_studies.causal.chains.causal_chains import CausalChain
from ovrag_studies.causal.chains.chain_metrics import ComparedArms, Detection
from ovrag_studies.causal.chains.chain_runs import Case, ChainBench
from ovrag_studies.causal.chains.drafting import ChatDrafter, Drafter
from ovrag_studies.causal.chains.stability import instability_in
from ovrag_studies.causal.graphs.causal_terms import SIGNS
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.stores import open_graph_file
from ovrag_studies.causal.graphs.verifier import Verifier
from ovrag_studies.causal.settings import Arm, Causal

OURS = "ours"
RECORDED = "recorded"
REPLAY: Arm = "random_verdicts"


@dataclass(frozen=True, slots=True)
class Ran:
    """Chains over their graph, and what every arm answered to every wording of them."""

    bench: ChainBench
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class ChainStudy:
    """The chains by the name of their set, ours first, and the published table replayed where it is an arm."""

    options: Causal
    drafts_by: str
    sets: Mapping[str, Ran]
    replayed: pandas.DataFrame | None

    @property
    def ours(self) -> Ran:
        """Our own chains."""
        return self.sets[OURS]

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that draft, in the order of the settings."""
        return tuple(arm for arm in self.options.arms if arm in DRAFTING)


def run_study(settings: Settings, embedder: Embedder | None = None, chat: Chat | None = None) -> ChainStudy:
    """The study of the settings. Raises an OvragError for material that is missing or does not fit together."""
    options = Causal.of(settings)
    drafter = _drafter(options, chat, settings.llm.seed)
    sets = {OURS: open_bench(options, embedder)}
    if options.data.recorded:
        chains = causal_chains.read_recorded(project_file(options.data.recorded))
        graph = EmbeddedStore(causal_chains.recorded_graph(chains))
        sets[RECORDED] = _bench(graph, chains, options, embedder)
    ran = {}
    for name, bench in sets.items():
        # the recorded chains state no causes, and some come back to where they were
        stability = instability_in(bench.graph) if name == OURS else None
        cases = chain_runs.run(
            bench, options, options.arms, paraphrases=options.paraphrases, drafter=drafter, stability=stability
        )
        ran[name] = Ran(bench, tuple(cases))
    drawn = options.experiments
    replayed = random_verdicts.replay(seed=drawn.seed, confidence=drawn.confidence) if REPLAY in options.arms else None
    return ChainStudy(options, drafter.name if drafter else drift.NAME, ran, replayed)


def _drafter(options: Causal, chat: Chat | None, seed: int | None) -> Drafter | None:
    """None stands for the declared simulator."""
    if options.drafts == "drift":
        return None
    if chat is None:
        raise SettingsError("studies.causal.drafts asks a chat model; set llm.provider to openai or replay")
    return ChatDrafter(chat, seed=seed)


def open_bench(options: Causal, embedder: Embedder | None = None) -> ChainBench:
    """Our chains over the graph of the settings, or the sample of them."""
    graph = open_graph_file(options)
    return _bench(graph, causal_chains.read_chains(project_file(options.data.chains), graph), options, embedder)


def _bench(
    graph: EmbeddedStore, chains: Sequence[CausalChain], options: Causal, embedder: Embedder | None
) -> ChainBench:
    return ChainBench(graph, NameLexicon.of_graph(graph, embedder), options.sampled(chains))


def figures(study: ChainStudy, plan: Resampling) -> dict[tuple[str, Arm], dict[str, Estimate]]:
    """The figures of every arm, by the set of chains and the arm."""
    return {
        (name, arm): chain_metrics.figures(ran.cases, arm, plan)
        for name, ran in study.sets.items()
        for arm in study.arms
    }


def compared(study: ChainStudy, plan: Resampling) -> dict[str, list[ComparedArms]]:
    """The loop against each other arm, by the set of chains."""
    baselines = [arm for arm in study.arms if arm != "caf"]
    return {name: chain_metrics.compare(ran.cases, "caf", baselines, plan) for name, ran in study.sets.items()}


def detected(study: ChainStudy, plan: Resampling) -> tuple[list[Detection], list[Detection]]:
    """Measure how contradictions in prompts and paraphrases are found, by kind and by rule."""
    bench = study.ours.bench
    texts = [
        (chain.id, [(c.kind, c.span) for c in contradictions], bench.reference.check(text))
        for chain in bench.chains
        for text, contradictions in (
            (chain.prompt, chain.contradictions),
            *((paraphrase.text, paraphrase.contradictions) for paraphrase in chain.paraphrases),
        )
    ]
    return chain_metrics.detected(texts, plan)


def example(study: ChainStudy, chain: str | None = None, arm: Arm = "caf") -> Case:
    """An answer to look at from the inside: of the chain named, or one that was accepted after the most rounds."""
    cases = [case for case in study.ours.cases if case.arm == arm and case.wording == 0]
    named = [case for case in cases if case.chain.id == chain]
    return max(named or cases, key=lambda case: (case.answer.decision == "accepted", len(case.answer.rounds)))


def seconds(study: ChainStudy, watch: Callable[[], float] = time.perf_counter) -> dict[str, list[float]]:
    """Seconds of single ASK queries, for each stated effect as it is and turned round, and of checking a sentence."""
    bench = study.ours.bench
    edges = [edge for predicate in SIGNS for edge in bench.graph.triples(None, predicate)]
    bindings = [{"s": edge.subject, "p": edge.predicate, "o": edge.object} for edge in edges]
    bindings += [{"s": edge.object, "p": edge.predicate, "o": edge.subject} for edge in edges]
    asked = [_timed(partial(bench.graph.ask, "ASK { ?s ?p ?o }", terms), watch) for terms in bindings]
    sentences = [step.text for chain in bench.chains for step in chain.premises]
    fresh = (Verifier(bench.graph, bench.lexicon) for _ in sentences)  # which knows no answer
    checked = [_timed(partial(verifier.check, text), watch) for verifier, text in zip(fresh, sentences, strict=True)]
    return {"ASK, embedded": asked, "parse, link and verify a sentence": checked}


def _timed(action: Callable[[], object], watch: Callable[[], float]) -> float:
    start = watch()
    action()
    return watch() - start
