"""All arms on all chains and their wordings, under one drift, one obedience and one coverage of the graph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from ovrag_core.graph import EmbeddedStore
from ovrag_studies.causal.chains.arms import DRAFTING, StoreFacts, answer, gaps_of
from ovrag_studies.causal.chains.chain_generation import CausalChain
from ovrag_studies.causal.chains.drafting import Drafter, Untold
from ovrag_studies.causal.chains.drift import Simulator, World, Written
from ovrag_studies.causal.chains.feedback_loop import DraftJudge, LoopAnswer, Round
from ovrag_studies.causal.graphs.causal_terms import AFFECTS, LOWERS, NO_EFFECT_ON, RAISES
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.verifier import Verdict, Verifier
from ovrag_studies.causal.settings import Arm, Drift, LoopOptions

Note = Callable[[CausalChain, Arm, int, Round], None]


@dataclass(frozen=True, slots=True)
class Case:
    """What an arm answered to one wording (0: the prompt itself) of a chain.

    `judged` are the verdicts of the whole graph on the final draft, whatever part of it the arm was given. `written` is
    what the simulator did in it; None where a model wrote.
    """

    arm: Arm
    chain: CausalChain
    wording: int
    answer: LoopAnswer
    judged: tuple[Verdict, ...]
    written: tuple[Written, ...] | None


@dataclass(frozen=True, slots=True)
class ChainBench:
    """What all runs of a comparison share: the whole graph, its names, what the simulator knows, and the chains."""

    graph: EmbeddedStore
    lexicon: NameLexicon
    chains: tuple[CausalChain, ...]
    world: World
    reference: Verifier

    @classmethod
    def of(cls, graph: EmbeddedStore, chains: Sequence[CausalChain], lexicon: NameLexicon, gamma: float) -> ChainBench:
        """A bench for these chains of a graph."""
        return cls(graph, lexicon, tuple(chains), World.of_graph(graph), Verifier(graph, lexicon, gamma))


def run(
    bench: ChainBench,
    options: LoopOptions,
    drift: Drift,
    *,
    arms: Iterable[Arm] = DRAFTING,
    coverage: float = 1.0,
    seed: int = 42,
    paraphrases: bool = True,
    drafter: Drafter | None = None,
    note: Note | None = None,
    stability: Callable[[CausalChain], float] | None = None,
    feedback: bool = True,
    gaps: bool = True,
) -> list[Case]:
    """Every arm on every wording of every chain.

    `drafter` writes the drafts, by default the declared simulator. Names are those of the whole graph: what is missing
    at a lower coverage are effects, not words. `note` is told every round. With `stability` an answer is accepted only
    if the chain's effect is stable; without `feedback` the loop tells a drafter nothing, and its next draft is another;
    without `gaps` nobody minds what a draft leaves out.
    """
    store = covered(bench.graph, coverage, seed)
    verifier = Verifier(store, bench.lexicon, options.gamma)
    facts = StoreFacts(store, verifier)
    cases = []
    for chain in bench.chains:
        texts = [chain.prompt, *(each.text for each in chain.paraphrases if paraphrases)]
        for wording, text in enumerate(texts):
            stable = partial(stability, chain) if stability else None
            judge = DraftJudge(verifier.check, options, gaps_of(text, verifier) if gaps else None, stable)
            for arm in arms:
                if arm not in DRAFTING:
                    continue
                simulator = None if drafter else Simulator(chain, bench.world, drift, wording)
                told = _told(note, chain, arm, wording)
                writer = drafter or _known(simulator)
                given = answer(arm, text, writer if feedback else Untold(writer), judge, facts.best, told)
                final = given.final
                judged = tuple(bench.reference.check(final.draft)) if final else ()
                written = simulator.ledger(final.draft) if simulator and final else None
                cases.append(Case(arm, chain, wording, given, judged, written))
    return cases


def covered(graph: EmbeddedStore, coverage: float, seed: int = 42) -> EmbeddedStore:
    """The graph with this share of its statements of effect; a lower coverage knows nothing that a higher does not."""
    effects = [each for predicate in (RAISES, LOWERS, AFFECTS, NO_EFFECT_ON) for each in graph.triples(None, predicate)]
    missing = round(len(effects) * (1 - coverage))
    return graph.without(sorted(effects, key=lambda triple: _lot(seed, str(triple)))[:missing]) if missing else graph


def _lot(seed: int, text: str) -> bytes:
    return hashlib.sha256(f"{seed}|{text}".encode()).digest()


def _known(simulator: Simulator | None) -> Simulator:
    assert simulator is not None
    return simulator


def _told(note: Note | None, chain: CausalChain, arm: Arm, wording: int) -> Callable[[Round], None] | None:
    return None if note is None else lambda round_: note(chain, arm, wording, round_)
