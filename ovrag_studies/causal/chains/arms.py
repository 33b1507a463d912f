"""The arms: one verifier, one executive and one set of prompts for all of them, and the same number of drafts.

vanilla, cot, rag, rag_cot   one draft: as asked, step by step, with the facts that fit best, with both
best_of_t                    as many drafts as the loop may have, none told anything; the best by the same verdicts
caf                          the loop: what the verdicts object to joins the next prompt

`random_verdicts` asks nobody and has a module of its own. Drafts of the declared simulator are one for vanilla and cot.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import get_args

import numpy
from pyoxigraph import NamedNode

from ovrag_core.base import ModelError, Unchecked
from ovrag_core.graph import Store
from ovrag_core.retrieval import WordRanker as Words
from ovrag_core.text import one_line, stems
from ovrag_studies.causal.chains import feedback_loop
from ovrag_studies.causal.chains.drafting import Drafter, Prompt
from ovrag_studies.causal.chains.feedback_loop import DraftJudge, Gaps, LoopAnswer, Round
from ovrag_studies.causal.graphs.causal_terms import NO_EFFECT_ON, STATED
from ovrag_studies.causal.graphs.linking import Linked, link
from ovrag_studies.causal.graphs.verifier import CausalVerdict, Verifier, things_in
from ovrag_studies.causal.language.propositions import read
from ovrag_studies.causal.settings import Arm

TOP = 3  # facts beside a question
DRAFTING: tuple[Arm, ...] = tuple(arm for arm in get_args(Arm) if arm != "random_verdicts")


def facts_in(store: Store, verifier: Verifier) -> Callable[[str], tuple[str, ...]]:
    """Build the finder of the effects that a store holds, as sentences: the best by words of a question (BM25).

    The store is asked at the first question. Raises Unchecked there where it does not answer.
    """

    @cache
    def found() -> tuple[list[str], Words]:
        triples = [triple for predicate in STATED for triple in store.triples(None, predicate)]
        sentences = sorted(f"{verifier.sentence(triple)}." for triple in triples)
        return sentences, Words([stems(sentence) for sentence in sentences])

    def best(question: str) -> tuple[str, ...]:
        sentences, index = found()
        scores = index.scores([(stem, 1.0) for stem in dict.fromkeys(stems(question))])
        return tuple(sentences[i] for i in numpy.argsort(-scores, kind="stable")[:TOP] if scores[i] > 0)

    return best


def answer(
    arm: Arm,
    question: str,
    drafter: Drafter,
    judge: DraftJudge,
    facts: Callable[[str], tuple[str, ...]],
) -> LoopAnswer:
    """Answer a question by an arm.

    `facts` gives the sentences beside it, for the arms that have any. Where they cannot be had, nothing is drafted, and
    the decision is "unchecked". `arm` is one of `DRAFTING`.
    """
    try:
        beside = facts(question) if arm in ("rag", "rag_cot") else ()
    except Unchecked as error:
        return LoopAnswer("unchecked", f"the facts beside it could not be had: {one_line(str(error), 160)}")
    prompt = Prompt(question, "steps" if arm in ("cot", "rag_cot") else "plain", beside)
    if arm == "caf":
        return feedback_loop.run(prompt, drafter, judge)
    return _best(prompt, drafter, judge, judge.options.rounds if arm == "best_of_t" else 1)


def _best(prompt: Prompt, drafter: Drafter, judge: DraftJudge, drafts: int) -> LoopAnswer:
    """The best of independent drafts, the first of several: what is accepted at once, then score, then fewest gaps.

    As in the loop, no more are asked for once something could not be checked.
    """
    rounds: list[Round] = []
    for take in range(drafts):
        try:
            rounds.append(judge.round(take + 1, drafter.draft(prompt, take)))
        except ModelError as error:
            return feedback_loop.failed(error, rounds)
        if rounds[-1].count("UNCHECKED"):
            break

    def rank(index: int) -> tuple[bool, float, int]:
        score = rounds[index].score
        is_good = feedback_loop.is_good(rounds[index], judge.options)
        return is_good, -1.0 if score is None else score, -len(rounds[index].gaps)

    return judge.adjudicate(rounds, max(range(len(rounds)), key=rank))


def gaps_of(question: str, verifier: Verifier) -> Gaps:
    """Build the finder of what a draft leaves out of an answer: steps that the question gives, and what it asks for.

    A step is an effect that the question states and the graph bears out. What is asked for is the effect of what is
    given on what a question names, where the graph knows of one. Nothing is asked for that the graph cannot check.
    """
    steps = {
        verdict.claim.key: verdict.quote
        for verdict in verifier.check(question)
        if verdict.outcome == "VERIFIED"
        and verdict.claim
        and not verdict.claim.denied
        and verdict.claim.predicate != NO_EFFECT_ON
    }
    wanted_pairs = _asked(question, verifier)

    def gaps(verdicts: Sequence[CausalVerdict]) -> list[str]:
        claims = [verdict.claim for verdict in verdicts if verdict.claim]
        stated_keys = {claim.key for claim in claims}
        lines = [f'that "{one_line(quote)}"' for step_key, quote in steps.items() if step_key not in stated_keys]
        effects = {(claim.subject, claim.object) for claim in claims}
        return lines + [
            f"what {words} does to {effect}" for ends, (words, effect) in wanted_pairs.items() if ends not in effects
        ]

    return gaps


def _asked(question: str, verifier: Verifier) -> dict[tuple[NamedNode, NamedNode], tuple[str, str]]:
    """Pairs of what is given and what is asked for, with their names, of which the graph knows an effect."""
    try:
        lexicon = verifier.lexicon
        reading = read(question, lexicon.compounds)
        linked = (link(state.mention, lexicon) for state in reading.states)
        given_entities = dict.fromkeys(mention.entity for mention in linked if isinstance(mention, Linked))
        wanted_entities = dict.fromkeys(
            entity for clause in reading.questions for entity in things_in(clause.quote, lexicon)
        )
        return {
            (cause, effect): (verifier.name(cause), verifier.name(effect))
            for cause, effect in product(given_entities, wanted_entities)
            if cause != effect and verifier.knows(cause, effect)
        }
    except Unchecked:  # the verdicts will tell
        return {}
