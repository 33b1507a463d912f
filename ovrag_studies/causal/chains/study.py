"""The whole study of chains by the settings, once: chains drawn, every arm run, every round in an audit log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ovrag_core.base.errors import SettingsError
from ovrag_core.base.project import project_file
from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Estimate, Resampling
from ovrag_core.graph import EmbeddedStore, Store
from ovrag_core.llm import Chat
from ovrag_core.retrieval.embedding import Embedder
from ovrag_studies.causal.chains import (
    chain_generation,
    chain_metrics,
    chain_runs,
    drift,
    random_verdicts,
    recorded_chains,
)
from ovrag_studies.causal.chains.arms import DRAFTING
from ovrag_studies.causal.chains.audit_log import AuditLog, answer_record, round_record
from ovrag_studies.causal.chains.chain_generation import CausalChain
from ovrag_studies.causal.chains.chain_metrics import ComparedArms, Detection
from ovrag_studies.causal.chains.chain_runs import Case, ChainBench
from ovrag_studies.causal.chains.drafting import ChatDrafter, Drafter
from ovrag_studies.causal.chains.feedback_loop import Round
from ovrag_studies.causal.chains.random_verdicts import ReplayedCell
from ovrag_studies.causal.chains.stability import instability_in
from ovrag_studies.causal.graphs.causal_terms import LOWERS, RAISES
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.stores import open_graph_file, open_store
from ovrag_studies.causal.graphs.verifier import Verdict, Verifier
from ovrag_studies.causal.settings import Arm, Causal

OURS = "ours"
RECORDED = "recorded"
LOG = Path("data/runs/causal/chains.jsonl")
_ASK = "ASK { ?s ?p ?o }"
Watch = Callable[[], float]


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
    replayed: tuple[ReplayedCell, ...]

    @property
    def ours(self) -> Ran:
        """Our own chains."""
        return self.sets[OURS]

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that draft, in the order of the settings."""
        return tuple(arm for arm in self.options.arms if arm in DRAFTING)


def run_study(
    settings: Settings, embedder: Embedder | None = None, chat: Chat | None = None, log: Path | None = None
) -> ChainStudy:
    """The study of the settings. With `log` every round and answer is kept there, in a log that is made anew.

    Raises an OvragError for material that is missing or does not fit together.
    """
    options = Causal.of(settings)
    drafter = _drafter(options, chat, settings.llm.seed)
    sets = {OURS: open_bench(options, embedder)}
    if options.data.recorded:
        sets[RECORDED] = _recorded_bench(project_file(options.data.recorded), options, embedder)
    with _logged(log) as kept:
        ran = {name: Ran(bench, tuple(_run(name, bench, options, drafter, kept))) for name, bench in sets.items()}
    drawn = options.experiments
    replayed: list[ReplayedCell] = []
    if "random_verdicts" in options.arms:
        replayed = random_verdicts.replay(drawn.replays, drawn.seed, confidence=drawn.confidence)
    return ChainStudy(options, drafter.name if drafter else drift.NAME, ran, tuple(replayed))


def _drafter(options: Causal, chat: Chat | None, seed: int | None) -> Drafter | None:
    """Who drafts instead of the declared simulator, where the settings ask for that."""
    if options.drafts == "drift":
        return None
    if chat is None:
        raise SettingsError("studies.causal.drafts asks a chat model; set llm.provider to openai or replay")
    return ChatDrafter(chat, seed=seed)


def open_bench(options: Causal, embedder: Embedder | None = None) -> ChainBench:
    """Our chains over the graph of the settings."""
    graph = open_graph_file(options)
    drawn = chain_generation.generate(graph, options.experiments.seed)
    return ChainBench.of(graph, drawn, NameLexicon.of_graph(graph, embedder), options.loop.gamma)


def _recorded_bench(path: Path, options: Causal, embedder: Embedder | None) -> ChainBench:
    read = recorded_chains.read_recorded(path)
    graph = EmbeddedStore(recorded_chains.recorded_graph(read))
    return ChainBench.of(graph, read, NameLexicon.of_graph(graph, embedder), options.loop.gamma)


def _run(name: str, bench: ChainBench, options: Causal, drafter: Drafter | None, log: AuditLog | None) -> list[Case]:
    def note(chain: CausalChain, arm: Arm, wording: int, round_: Round) -> None:
        if log:
            log.add({"run": name, "item": chain.id, "arm": arm, "wording": wording, **round_record(round_)})

    cases = chain_runs.run(
        bench,
        options.loop,
        options.drift,
        arms=options.arms,
        coverage=options.store.coverage,
        seed=options.experiments.seed,
        drafter=drafter,
        note=note,
        # the recorded chains state no causes, and some come back to where they were
        stability=instability_in(bench.graph, options.loop.strength) if name == OURS else None,
    )
    for case in cases:
        if log:
            place = {"run": name, "item": case.chain.id, "arm": case.arm, "wording": case.wording}
            log.add({**place, **answer_record(case.answer)})
    return cases


@contextmanager
def _logged(path: Path | None) -> Iterator[AuditLog | None]:
    """A log that takes its name once the run is whole."""
    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_name(f"{path.name}.partial")
    begun.unlink(missing_ok=True)
    yield AuditLog(begun)
    begun.replace(path)


# What is measured


def figures(study: ChainStudy, plan: Resampling) -> dict[tuple[str, Arm], dict[str, Estimate]]:
    """The figures of every arm, by the set of chains and the arm."""
    return {
        (name, arm): chain_metrics.figures(ran.cases, arm, plan)
        for name, ran in study.sets.items()
        for arm in study.arms
    }


def compared(study: ChainStudy, plan: Resampling) -> dict[str, list[ComparedArms]]:
    """The loop against each other arm, by the set of chains; nothing where the loop was not run."""
    others = [arm for arm in study.arms if arm != "caf"]
    if "caf" not in study.arms or not others:
        return {}
    return {name: chain_metrics.compare(ran.cases, "caf", others, plan) for name, ran in study.sets.items()}


def detected(study: ChainStudy, plan: Resampling) -> dict[str, tuple[list[Detection], list[Detection]]]:
    """How contradictions are found: those in prompts and paraphrases, and those that the simulator wrote."""
    ran = study.ours
    wordings = [
        (chain.id, text, contradictions)
        for chain in ran.bench.chains
        for text, contradictions in (
            (chain.prompt, chain.contradictions),
            *((each.text, each.contradictions) for each in chain.paraphrases),
        )
    ]
    texts = [
        (name, [(each.kind, each.span) for each in contradictions], ran.bench.reference.check(text))
        for name, text, contradictions in wordings
    ]
    single = [case for case in ran.cases if case.arm == "vanilla"]
    found = {"prompts and paraphrases": chain_metrics.detection_in_prompts(texts, plan)}
    if any(case.written is not None for case in single):
        found["simulated drafts"] = chain_metrics.detection_in_drafts(single, plan)
    return found


def groups(study: ChainStudy, plan: Resampling) -> dict[tuple[str, str, Arm], dict[str, Estimate]]:
    """The figures of every arm on our chains by kind of group (domain, depth), group and arm."""
    made: dict[tuple[str, str, Arm], dict[str, Estimate]] = {}
    by: dict[str, Callable[[CausalChain], str]] = {
        "domain": lambda chain: chain.domain,
        "depth": lambda chain: str(chain.depth),
    }
    for kind, of in by.items():
        for group in sorted({of(chain) for chain in study.ours.bench.chains}):
            cases = [case for case in study.ours.cases if of(case.chain) == group]
            made |= {(kind, group, arm): chain_metrics.figures(cases, arm, plan) for arm in study.arms}
    return made


def example(study: ChainStudy, chain: str | None = None, arm: Arm = "caf") -> Case:
    """An answer to look at from the inside: of the chain named, or one that was accepted after the most rounds."""
    cases = [case for case in study.ours.cases if case.arm == arm and case.wording == 0]
    named = [case for case in cases if case.chain.id == chain]
    if named:
        return named[0]
    return max(cases, key=lambda case: (case.answer.decision == "accepted", len(case.answer.rounds)))


def check(study: ChainStudy, text: str) -> Sequence[Verdict]:
    """The verdicts of the whole graph on a text of anybody's."""
    return study.ours.bench.reference.check(text)


def seconds(study: ChainStudy, watch: Watch = time.perf_counter) -> dict[str, list[float]]:
    """Seconds of single ASK queries, for each stated effect as it is and turned round, and of checking a sentence.

    Asked is the embedded store, and the endpoint where the settings name one.
    """
    bench = study.ours.bench
    stores: dict[str, Store] = {"ASK, embedded": bench.graph}
    if study.options.store.at != "embedded":
        stores["ASK, endpoint"] = open_store(study.options)
    edges = [edge for predicate in (RAISES, LOWERS) for edge in bench.graph.triples(None, predicate)]
    asked = [{"s": edge.subject, "p": edge.predicate, "o": edge.object} for edge in edges]
    asked += [{"s": edge.object, "p": edge.predicate, "o": edge.subject} for edge in edges]
    spent = {
        name: [_timed(partial(store.ask, _ASK, terms), watch) for terms in asked] for name, store in stores.items()
    }
    sentences = [step.text for chain in bench.chains for step in chain.premises]
    fresh = (Verifier(bench.graph, bench.lexicon, study.options.loop.gamma) for _ in sentences)  # which knows no answer
    checked = [_timed(partial(each.check, text), watch) for each, text in zip(fresh, sentences, strict=True)]
    return {**spent, "parse, link and verify a sentence": checked}


def _timed(action: Callable[[], object], watch: Watch) -> float:
    start = watch()
    action()
    return watch() - start
