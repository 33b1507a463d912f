"""The whole study of chains by the settings, once: chains drawn, every arm run."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from timeit import timeit

import pandas

from ovrag_core.base import Settings, SettingsError, project_file
from ovrag_core.evaluation import Resampling
from ovrag_core.graph import EmbeddedStore, load_graph
from ovrag_core.llm import Chat
from ovrag_core.retrieval import Embedder
from ovrag_core.study import scores
from ovrag_studies.causal.chains import causal_chains, chain_metrics, chain_runs, drift, random_verdicts
from ovrag_studies.causal.chains.chain_runs import Case, ChainBench, instability_in
from ovrag_studies.causal.chains.drafting import chat_drafter
from ovrag_studies.causal.chains.feedback_loop import DRAFTING
from ovrag_studies.causal.graphs.causal_terms import SIGNS
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.verifier import Verifier
from ovrag_studies.causal.settings import Arm, Causal

OURS = "ours"
RECORDED = "recorded"


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
    if options.drafts == "chat" and chat is None:
        raise SettingsError("studies.causal.drafts asks a chat model; set llm.provider to openai or replay")
    drafter = chat_drafter(chat, settings.llm.seed) if options.drafts == "chat" and chat else None
    sets = {OURS: open_bench(options, embedder)}
    if options.data.recorded:
        chains = causal_chains.read_recorded(project_file(options.data.recorded))
        graph = EmbeddedStore(causal_chains.recorded_graph(chains))
        sets[RECORDED] = ChainBench(graph, NameLexicon.of_graph(graph, embedder), options.sampled(chains))
    ran = {}
    for name, bench in sets.items():
        # the recorded chains state no causes, and some come back to where they were
        stability = instability_in(bench.graph) if name == OURS else None
        cases = chain_runs.run(
            bench, options, options.arms, paraphrases=options.paraphrases, drafter=drafter, stability=stability
        )
        ran[name] = Ran(bench, tuple(cases))
    drawn, replayed = options.experiments, None
    if "random_verdicts" in options.arms:
        replayed = random_verdicts.replay(seed=drawn.seed, confidence=drawn.confidence)
    return ChainStudy(options, chat.name if drafter and chat else drift.NAME, ran, replayed)


def open_bench(options: Causal, embedder: Embedder | None = None) -> ChainBench:
    """Our chains over the graph of the settings, or the sample of them."""
    graph = load_graph(project_file(options.data.graph))
    chains = causal_chains.read_chains(project_file(options.data.chains), graph)
    return ChainBench(graph, NameLexicon.of_graph(graph, embedder), options.sampled(chains))


def figures(study: ChainStudy, plan: Resampling) -> pandas.DataFrame:
    """The figures of every arm on every set of chains, as `ovrag_core.study.scores` has them."""
    of_sets = [
        scores({arm: chain_metrics.figures(ran.cases, arm, plan) for arm in study.arms}, len(ran.bench.chains), name)
        for name, ran in study.sets.items()
    ]
    return pandas.concat(of_sets, ignore_index=True)


def compared(study: ChainStudy, plan: Resampling) -> pandas.DataFrame:
    """The loop against each other arm, by the set of chains (`chain_metrics.compare`)."""
    baselines = [arm for arm in study.arms if arm != "caf"]
    of_sets = {name: chain_metrics.compare(ran.cases, "caf", baselines, plan) for name, ran in study.sets.items()}
    return pandas.concat(of_sets, names=["chains"]).reset_index("chains")


def detected(study: ChainStudy, plan: Resampling) -> pandas.DataFrame:
    """Measure how contradictions in prompts and paraphrases are found, by kind and by rule."""
    return chain_metrics.detected(study.ours.bench, plan)


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
    sentences = [step.text for chain in bench.chains for step in chain.premises]
    actions: dict[str, list[Callable[[], object]]] = {
        "ASK, embedded": [partial(bench.graph.ask, "ASK { ?s ?p ?o }", terms) for terms in bindings],
        # a fresh verifier knows no answer
        "parse, link and verify a sentence": [
            partial(Verifier(bench.graph, bench.lexicon).check, text) for text in sentences
        ],
    }
    return {task: [timeit(action, timer=watch, number=1) for action in of_task] for task, of_task in actions.items()}
