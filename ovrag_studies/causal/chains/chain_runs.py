"""All arms on all chains and their wordings, under one drift, one obedience and one coverage of the graph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial

from pyoxigraph import Literal as Text

from ovrag_core.graph import LABEL, EmbeddedStore
from ovrag_studies.causal.chains.arms import DRAFTING, answer, facts_in, gaps_of
from ovrag_studies.causal.chains.causal_chains import CausalChain
from ovrag_studies.causal.chains.drafting import Drafter
from ovrag_studies.causal.chains.drift import Simulator, World
from ovrag_studies.causal.chains.feedback_loop import Check, DraftJudge, Gaps, LoopAnswer
from ovrag_studies.causal.chains.stability import Instability
from ovrag_studies.causal.graphs.causal_terms import STATED
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.stores import pairs_of
from ovrag_studies.causal.graphs.verifier import CausalVerdict, Verifier
from ovrag_studies.causal.settings import Arm, Causal, LoopPart

_KEPT = 1 << 12  # texts whose verdicts are kept


@dataclass(frozen=True, slots=True)
class Case:
    """Answer of an arm to one wording (0: the prompt itself) of a chain.

    `judged` are the verdicts of the whole graph on the final draft, whatever part of it the arm was given.
    """

    arm: Arm
    chain: CausalChain
    wording: int
    answer: LoopAnswer
    judged: tuple[CausalVerdict, ...]


@dataclass(frozen=True, slots=True)
class _Desk:
    """Verdicts on a text, gaps by a question and facts beside it, by a part of the graph; answers are kept."""

    check: Check
    gaps: Callable[[str], Gaps]
    facts: Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class ChainBench:
    """Common ground of all runs of a comparison: the whole graph, its names, and the chains."""

    graph: EmbeddedStore
    lexicon: NameLexicon
    chains: Sequence[CausalChain]
    _desks: dict[tuple[float, int, bool], _Desk] = field(default_factory=dict)

    @cached_property
    def world(self) -> World:
        """What the simulator knows."""
        return World.of_graph(self.graph)

    @cached_property
    def reference(self) -> Verifier:
        """The judge by the whole graph."""
        return Verifier(self.graph, self.lexicon)

    def desk(self, options: Causal, *, linking: bool = True) -> _Desk:
        """The desk of a part of the graph by `store.coverage`; without `linking` each thing has its one label only.

        Names are those of the whole graph: what is missing at a lower coverage are effects, not words.
        """
        desk_key = (options.store.coverage, options.experiments.seed, linking)
        if desk_key not in self._desks:
            store = covered(self.graph, options.store.coverage, options.experiments.seed)
            # without linking: no synonyms, no names of a rise or a fall, no nearest names
            labels = set(pairs_of(self.graph, LABEL, Text))
            own = [name for name in self.lexicon.names if (name.entity, Text(name.text)) in labels]
            verifier = Verifier(store, self.lexicon if linking else NameLexicon(own))
            keep = lru_cache(_KEPT)
            gaps = keep(partial(gaps_of, verifier=verifier))
            self._desks[desk_key] = _Desk(keep(verifier.check), gaps, facts_in(store, verifier))
        return self._desks[desk_key]


def run(
    bench: ChainBench,
    options: Causal,
    arms: Iterable[Arm] = DRAFTING,
    *,
    paraphrases: bool = True,
    drafter: Drafter | None = None,
    stability: Instability | None = None,
    without: LoopPart | None = None,
) -> list[Case]:
    """Every arm on every wording of every chain.

    `drafter` writes the drafts, by default the declared simulator. With `stability` an answer is accepted only if the
    chain's effect is stable. `without` takes a part out of the loop: feedback (a drafter is told nothing, and drafts
    afresh), gaps (nobody minds what a draft leaves out), linking (one label a thing), scm (no test of stability), score
    (nothing but contradictions and gaps counts), partial (what is verified in part counts nothing).
    """
    if without == "score":
        options = varied(options, "loop", theta=0.0)
    elif without == "partial":
        options = varied(options, "loop", alpha=0.0)
    desk = bench.desk(options, linking=without != "linking")
    cases = []
    for chain in bench.chains:
        stable = partial(stability, chain) if stability and without != "scm" else None
        texts = [chain.prompt, *(paraphrase.text for paraphrase in chain.paraphrases if paraphrases)]
        for wording, text in enumerate(texts):
            gaps = None if without == "gaps" else desk.gaps(text)
            judge = DraftJudge(desk.check, options.loop, gaps, stable, feedback=without != "feedback")
            for arm in (a for a in arms if a in DRAFTING):
                simulator = Simulator(chain, bench.world, options.drift, wording)
                loop_answer = answer(arm, text, drafter or simulator, judge, desk.facts)
                final = loop_answer.final
                judged = tuple(bench.reference.check(final.draft)) if final else ()
                cases.append(Case(arm, chain, wording, loop_answer, judged))
    return cases


def varied(options: Causal, part: str, **values: object) -> Causal:
    """Return the options with other values of a part."""
    return options.model_copy(update={part: getattr(options, part).model_copy(update=values)})


def covered(graph: EmbeddedStore, coverage: float, seed: int = 42) -> EmbeddedStore:
    """The graph with this share of its statements of effect; a lower coverage knows nothing that a higher does not."""
    effects = [triple for predicate in STATED for triple in graph.triples(None, predicate)]
    missing = round(len(effects) * (1 - coverage))
    drawn = sorted(effects, key=lambda triple: hashlib.sha256(f"{seed}|{triple}".encode()).digest())
    return graph.without(drawn[:missing]) if missing else graph
