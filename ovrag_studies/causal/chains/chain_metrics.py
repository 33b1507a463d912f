"""Measures of answers about chains; every interval is by chain, every comparison paired by chain.

Shares of statements are those of the final draft, by the whole graph as the judge, so that an arm that was given a part
of the graph is measured by the same rule as one that had all of it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from ovrag_core.evaluation import (
    Difference,
    Estimate,
    McNemar,
    Resampling,
    exact_mcnemar,
    holm,
    paired_difference,
    ratio,
)
from ovrag_studies.causal.chains.chain_runs import Case
from ovrag_studies.causal.chains.drift import CONTRADICTING, Written
from ovrag_studies.causal.chains.feedback_loop import Round
from ovrag_studies.causal.graphs.linking import ClaimKey
from ovrag_studies.causal.graphs.verifier import CONTRADICTIONS, CausalVerdict, Rule
from ovrag_studies.causal.language.propositions import Span
from ovrag_studies.causal.settings import Arm

# `entailment` is the mean of (verified + partial / 2) / statements of the final draft, `complete` the share of
# a chain's statements that it makes and the graph bears out, `depth` the share verified before the first
# contradiction, `contradicted` the share of drafts with one, `accepted` that of answers given, caveats or not, `drafts`
# how many there were. Over paraphrases `jaccard` compares verified statements, `agreement` the decisions.
MEASURES = ("entailment", "complete", "depth", "contradicted", "accepted", "drafts", "jaccard", "agreement")


@dataclass(frozen=True, slots=True)
class ComparedArms:
    """The first arm minus another in entailment, on the same chains, and which drafts are right throughout (McNemar).

    `p` and `p_whole` are adjusted by Holm over the arms that are compared.
    """

    second: Arm
    difference: Difference
    whole: McNemar
    p: float | None
    p_whole: float | None


@dataclass(frozen=True, slots=True)
class Detection:
    """Contradictions of one kind, or by one rule: `share` found of those written, or written of those found."""

    name: str
    of: int
    share: Estimate


def figures(cases: Iterable[Case], arm: Arm, plan: Resampling) -> dict[str, Estimate]:
    """Return the figures of one arm by `MEASURES`."""
    arm_cases = [case for case in cases if case.arm == arm]
    prompts = _by_chain(arm_cases, arm)
    ones = [1.0] * len(prompts)
    measures = (entailment, completeness, depth, contradicted, accepted)
    means = [ratio([measure(case) for case in prompts.values()], ones, plan) for measure in measures]
    drafts = ratio([case.answer.drafts for case in prompts.values()], ones, plan, proportion=False)
    by_chain = [[(p, c) for c in arm_cases if c.wording and c.chain.id == name] for name, p in prompts.items()]
    counts = [float(len(pairs)) for pairs in by_chain]
    alike = [
        ratio([sum(measure(*pair) for pair in pairs) for pairs in by_chain], counts, plan)
        for measure in (_shared, _agreed)
    ]
    return dict(zip(MEASURES, (*means, drafts, *alike), strict=True))


def compare(cases: Sequence[Case], first: Arm, others: Sequence[Arm], plan: Resampling) -> list[ComparedArms]:
    """The first arm against each of the others, on the prompts."""
    first_cases = _by_chain(cases, first)
    differences, wholes = [], []
    for arm in others:
        second_cases = _by_chain(cases, arm)
        shared = [name for name in first_cases if name in second_cases]
        sides = [[side[name] for name in shared] for side in (first_cases, second_cases)]
        of_first, of_second = ([entailment(case) for case in side] for side in sides)
        ones = [1.0] * len(shared)
        differences.append(paired_difference((of_first, ones), (of_second, ones), plan))
        wholes.append(exact_mcnemar(*([whole(case) for case in side] for side in sides)))
    adjusted, adjusted_whole = holm([d.p for d in differences]), holm([w.p for w in wholes])
    rows = zip(others, differences, wholes, adjusted, adjusted_whole, strict=True)
    return [ComparedArms(*row) for row in rows]


def revised(cases: Iterable[Case], plan: Resampling) -> dict[str, Estimate]:
    """Return what the loop's revisions of its drafts make of the objections to the draft before, on the prompts.

    `obeyed` is the share of objections that the next draft does not draw again, `new` the number of objections that
    only it draws, a revision. A next draft that states nothing obeys none.
    """
    answers = [case.answer.rounds for case in _by_chain(cases, "caf").values()]
    revisions = [[pair for pair in pairwise(rounds) if not pair[0].count("UNCHECKED")] for rounds in answers]
    drawn = [sum(len(_objections(before)) for before, _ in pairs) for pairs in revisions]
    gone = [
        sum(len(_objections(before) - _objections(after)) for before, after in pairs if after.verdicts)
        for pairs in revisions
    ]
    new = [sum(len(_objections(after) - _objections(before)) for before, after in pairs) for pairs in revisions]
    counts = [float(len(pairs)) for pairs in revisions]
    return {"obeyed": ratio(gone, drawn, plan), "new": ratio(new, counts, plan, proportion=False)}


def entailment(case: Case) -> float:
    """(verified + partial / 2) / statements of the final draft; 0 for a draft that states nothing."""
    worth = {"VERIFIED": 1.0, "PARTIAL": 0.5}
    return sum(worth.get(verdict.outcome, 0.0) for verdict in case.judged) / max(1, len(case.judged))


def completeness(case: Case) -> float:
    """The share of the chain's steps and conclusion that the final draft makes."""
    return _share_borne_out(case, case.judged)


def depth(case: Case) -> float:
    """The share of the chain's steps and conclusion that is verified before the first contradiction, each once."""
    before = takewhile(lambda verdict: verdict.outcome != "CONTRADICTION", case.judged)
    return _share_borne_out(case, before)


def contradicted(case: Case) -> float:
    """Return 1 where the final draft holds a contradiction, else 0."""
    return float(any(verdict.outcome == "CONTRADICTION" for verdict in case.judged))


def accepted(case: Case) -> float:
    """Return 1 where an answer was given, with caveats or without, else 0."""
    return float(case.answer.decision in ("accepted", "accepted with caveats"))


def whole(case: Case) -> bool:
    """Check that every statement of the final draft is borne out by the whole graph."""
    return bool(case.judged) and all(verdict.outcome == "VERIFIED" for verdict in case.judged)


def jaccard(one: set[ClaimKey], two: set[ClaimKey]) -> float:
    """Shared over all; 1 where there is nothing on either side."""
    return len(one & two) / len(one | two) if one | two else 1.0


def detection_in_drafts(cases: Iterable[Case], plan: Resampling) -> tuple[list[Detection], list[Detection]]:
    """Measure how the verdicts that the arm itself was given find the errors that the simulator wrote.

    By kind, the recall; by rule, the precision; each with all together at the end. Use an arm of single drafts: a loop
    has mended what it found.
    """
    groups = [
        (case.chain.id, _matched(case.written, case.answer.final.verdicts))
        for case in cases
        if case.written is not None and case.answer.final is not None
    ]
    return _detection(groups, CONTRADICTING, plan)


def detection_in_prompts(
    chains: Iterable[tuple[str, Sequence[tuple[str, Span]], Sequence[CausalVerdict]]], plan: Resampling
) -> tuple[list[Detection], list[Detection]]:
    """The same for contradictions in prompts: a chain's id, the kind and place of each, and the prompt's verdicts.

    Every other statement of the prompt is one that does not contradict the graph.
    """
    groups = []
    kinds: set[str] = set()
    for chain, injected, verdicts in chains:
        kinds.update(kind for kind, _ in injected)
        pairs: list[tuple[str, Rule | None]] = [(kind, _rule_at(span, verdicts)) for kind, span in injected]
        outside = [verdict for verdict in verdicts if not any(_overlap(verdict.span, span) for _, span in injected)]
        pairs += [("true", verdict.rule if verdict.outcome == "CONTRADICTION" else None) for verdict in outside]
        groups.append((chain, pairs))
    return _detection(groups, sorted(kinds), plan)


def _objections(round_: Round) -> set[ClaimKey | str]:
    """Collect objections to a draft: claims, in whatever words, statements without a claim as quoted, and gaps."""
    verdicts = (verdict for verdict in round_.verdicts if verdict.outcome in ("CONTRADICTION", "FAILED"))
    return {v.claim.key if v.claim else v.quote for v in verdicts} | set(
        round_.gaps if round_.verdicts else round_.constraints
    )


def _detection(
    groups: Sequence[tuple[str, Sequence[tuple[str, Rule | None]]]],
    kinds: Sequence[str],
    plan: Resampling,
) -> tuple[list[Detection], list[Detection]]:
    by_chain: defaultdict[str, list[tuple[str, Rule | None]]] = defaultdict(list)
    for chain, pairs in groups:
        by_chain[chain] += pairs

    def detection(name: str, chosen: Collection[str], of: int, is_hit: Callable[[str, Rule | None], bool]) -> Detection:
        counted = [[pair for pair in chain_pairs if pair[of] in chosen] for chain_pairs in by_chain.values()]
        hits = [sum(is_hit(*pair) for pair in chain_pairs) for chain_pairs in counted]
        return Detection(name, sum(map(len, counted)), ratio(hits, [len(chain_pairs) for chain_pairs in counted], plan))

    written = {kind: [kind] for kind in kinds} | {"all": kinds}
    called = {rule: [rule] for rule in CONTRADICTIONS} | {"all": CONTRADICTIONS}
    recalls = [detection(name, chosen, 0, lambda _, rule: rule is not None) for name, chosen in written.items()]
    precisions = [detection(name, chosen, 1, lambda kind, _: kind in kinds) for name, chosen in called.items()]
    return recalls, precisions


def _matched(written: Sequence[Written], verdicts: Sequence[CausalVerdict]) -> list[tuple[str, Rule | None]]:
    """The kind of each sentence of a simulated draft with the rule that called it a contradiction, None for none."""
    matched: list[tuple[str, Rule | None]] = []
    offset = 0
    for line in written:
        if line.sentence:
            matched.append((line.kind, _rule_at((offset, offset + len(line.sentence)), verdicts)))
            offset += len(line.sentence) + 1  # and the end of the line
    return matched


def _rule_at(span: Span, verdicts: Sequence[CausalVerdict]) -> Rule | None:
    rules = (v.rule for v in verdicts if v.outcome == "CONTRADICTION" and _overlap(v.span, span))
    return next(rules, None)


def _overlap(one: Span, two: Span) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def _borne_out(verdicts: Iterable[CausalVerdict]) -> set[ClaimKey]:
    return {verdict.claim.key for verdict in verdicts if verdict.outcome == "VERIFIED" and verdict.claim}


def _share_borne_out(case: Case, verdicts: Iterable[CausalVerdict]) -> float:
    steps = (*case.chain.premises, case.chain.conclusion)
    wanted = {(step.subject.value, step.predicate.value, step.object.value, False) for step in steps}
    return len(wanted & _borne_out(verdicts)) / len(wanted)


def _shared(prompt: Case, paraphrase: Case) -> float:
    """By the verdicts that the arm was given."""
    finals = (prompt.answer.final, paraphrase.answer.final)
    return jaccard(*(_borne_out(final.verdicts) if final else set() for final in finals))


def _agreed(prompt: Case, paraphrase: Case) -> float:
    return float(prompt.answer.decision == paraphrase.answer.decision)


def _by_chain(cases: Iterable[Case], arm: Arm) -> dict[str, Case]:
    return {case.chain.id: case for case in cases if case.arm == arm and case.wording == 0}
