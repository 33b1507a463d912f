"""All arms on all chains and their wordings, under one drift, one obedience and one coverage of the graph."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from itertools import product

import numpy
from pyoxigraph import Literal as Text
from pyoxigraph import NamedNode

from ovrag_core.base import Unchecked
from ovrag_core.graph import LABEL, EmbeddedStore, Store
from ovrag_core.retrieval import WordRanker
from ovrag_core.text import one_line, stems
from ovrag_studies.causal.chains.causal_chains import CausalChain
from ovrag_studies.causal.chains.drafting import Drafter
from ovrag_studies.causal.chains.drift import Simulator, World
from ovrag_studies.causal.chains.feedback_loop import DRAFTING, Check, DraftJudge, Facts, Gaps, LoopAnswer, answer
from ovrag_studies.causal.graphs.causal_terms import NO_EFFECT_ON, SIGNS, STATED, pairs_of
from ovrag_studies.causal.graphs.linking import Linked, NameLexicon, link
from ovrag_studies.causal.graphs.verifier import CausalVerdict, Verifier, things_in
from ovrag_studies.causal.language.propositions import read
from ovrag_studies.causal.models.structural_models import Scm, from_strata, instability
from ovrag_studies.causal.settings import Arm, Causal, LoopPart

Instability = Callable[[CausalChain], float]
TOP = 3  # facts beside a question
STRENGTH = 0.8  # of causes, an assumption: signs and causes are the graph's, their strength is not
_KEPT = 1 << 12  # texts whose verdicts are kept
_UNCOUNTED: Mapping[LoopPart | None, dict[str, float]] = {"score": {"theta": 0.0}, "partial": {"alpha": 0.0}}
Desk = tuple[Check, Callable[[str], Gaps], Facts]
"""Verdicts on a text, gaps by a question and facts beside it, by a part of the graph; answers are kept."""


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


@dataclass(frozen=True, eq=False)
class ChainBench:
    """Common ground of all runs of a comparison: the whole graph, its names, and the chains."""

    graph: EmbeddedStore
    lexicon: NameLexicon
    chains: Sequence[CausalChain]
    _desks: dict[tuple[float, int, bool], Desk] = field(default_factory=dict)

    @cached_property
    def world(self) -> World:
        """What the simulator knows."""
        return World.of_graph(self.graph)

    @cached_property
    def reference(self) -> Verifier:
        """The judge by the whole graph."""
        return Verifier(self.graph, self.lexicon)

    def desk(self, options: Causal, *, linking: bool = True) -> Desk:
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
            self._desks[desk_key] = (keep(verifier.check), gaps, facts_in(store, verifier))
        return self._desks[desk_key]


def facts_in(store: Store, verifier: Verifier) -> Facts:
    """Build the finder of the effects that a store holds, as sentences: the best by words of a question (BM25).

    The store is asked at the first question. Raises Unchecked there where it does not answer.
    """

    @cache
    def ranked() -> tuple[list[str], WordRanker]:
        triples = [triple for predicate in STATED for triple in store.triples(None, predicate)]
        sentences = sorted(f"{verifier.sentence(triple)}." for triple in triples)
        return sentences, WordRanker([stems(sentence) for sentence in sentences])

    def best(question: str) -> tuple[str, ...]:
        sentences, index = ranked()
        scores = index.scores([(stem, 1.0) for stem in dict.fromkeys(stems(question))])
        return tuple(sentences[i] for i in numpy.argsort(-scores, kind="stable")[:TOP] if scores[i] > 0)

    return best


def gaps_of(question: str, verifier: Verifier) -> Gaps:
    """Build the finder of what a draft leaves out of an answer: steps that the question gives, and what it asks for.

    A step is an effect that the question states and the graph bears out. What is asked for is the effect of what is
    given on what a question names, where the graph knows of one. Nothing is asked for that the graph cannot check.
    """
    verified = [(v.claim, v.quote) for v in verifier.check(question) if v.outcome == "VERIFIED" and v.claim]
    steps = {claim.key: quote for claim, quote in verified if not claim.denied and claim.predicate != NO_EFFECT_ON}
    asked = _asked(question, verifier)

    def gaps(verdicts: Sequence[CausalVerdict]) -> list[str]:
        claims = list(filter(None, (verdict.claim for verdict in verdicts)))
        stated_keys = {claim.key for claim in claims}
        lines = [f'that "{one_line(quote)}"' for step_key, quote in steps.items() if step_key not in stated_keys]
        effects = {(claim.subject, claim.object) for claim in claims}
        missing = [ends for ends in asked if ends not in effects]
        return lines + [f"what {verifier.name(cause)} does to {verifier.name(effect)}" for cause, effect in missing]

    return gaps


def _asked(question: str, verifier: Verifier) -> list[tuple[NamedNode, NamedNode]]:
    """Pairs of what is given and what is asked for, of which the graph knows an effect."""
    try:
        lexicon = verifier.lexicon
        reading = read(question, lexicon.compounds)
        linked = (link(state.mention, lexicon) for state in reading.states)
        given = dict.fromkeys(mention.entity for mention in linked if isinstance(mention, Linked))
        wanted = dict.fromkeys(entity for clause in reading.questions for entity in things_in(clause.quote, lexicon))
        return [ends for ends in product(given, wanted) if ends[0] != ends[1] and verifier.knows(*ends)]
    except Unchecked:  # the verdicts will tell
        return []


def instability_in(store: Store, strength: float = STRENGTH) -> Instability:
    """Δ of a chain: by how much P(end | do(beginning)) differs between two contexts, on average (0 to 1).

    Each chain is computed once. Raises CycleError for a chain that comes back to a thing.
    """

    @cache
    def of(chain: CausalChain) -> float:
        start, end = chain.premises[0].subject.value, chain.premises[-1].object.value
        return instability(model_of(chain, store, strength), {start: 1}, end)

    return of


def model_of(chain: CausalChain, store: Store, strength: float) -> Scm:
    """The model of a chain and its context: its things and their other direct causes in the graph, named by IRIs.

    A thing is up (1) or down (0); a context is up as often as down, and P(up | causes) is 1/2 + strength/2 · the mean
    of the pushes of the causes (1 or -1, by state and sign).
    """
    start = chain.premises[0].subject
    nodes = dict.fromkeys(step.object for step in chain.premises)
    causes: dict[NamedNode, dict[NamedNode, int]] = {}
    for node in nodes:
        stated = [(t.subject, sign) for p, sign in SIGNS.items() for t in store.triples(None, p, node)]
        causes[node] = {cause: sign for cause, sign in sorted(stated, key=str) if isinstance(cause, NamedNode)}
    for step in chain.premises:  # what the store does not know, the chain says
        causes[step.object].setdefault(step.subject, SIGNS[step.predicate])
    around = {cause for signs in causes.values() for cause in signs} - nodes.keys() | {start}
    strata = {node.value: _shares(tuple(causes[node].values()), strength) for node in nodes}
    strata |= {node.value: _shares((), strength) for node in sorted(around, key=str)}
    return from_strata(strata, {node.value: [cause.value for cause in causes[node]] for node in nodes})


@cache
def _shares(signs: tuple[int, ...], strength: float) -> dict[tuple[int, ...], float]:
    """P(1 | states of the causes) by their signs."""
    shares = {}
    for states in product((0, 1), repeat=len(signs)):
        pushes = sum(sign * (2 * state - 1) for sign, state in zip(signs, states, strict=True))
        shares[states] = round(0.5 + strength / 2 * pushes / max(1, len(signs)), 12)
    return shares


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
    options = varied(options, "loop", **_UNCOUNTED.get(without, {}))
    check, gaps, facts = bench.desk(options, linking=without != "linking")
    cases = []
    for chain in bench.chains:
        stable = partial(stability, chain) if stability and without != "scm" else None
        texts = [chain.prompt, *(paraphrase.text for paraphrase in chain.paraphrases if paraphrases)]
        for wording, text in enumerate(texts):
            open_gaps = None if without == "gaps" else gaps(text)
            judge = DraftJudge(check, options.loop, open_gaps, stable, feedback=without != "feedback")
            for arm in (a for a in arms if a in DRAFTING):
                simulator = Simulator(chain, bench.world, options.drift, wording)
                loop_answer = answer(arm, text, drafter or simulator.draft, judge, facts)
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
