"""Measures of answers about chains; every interval is by chain, every comparison paired by chain.

Shares of statements are those of the final draft, by the whole graph as the judge, so that an arm that was given a part
of the graph is measured by the same rule as one that had all of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

import pandas

from ovrag_core.evaluation import Estimate, Resampling, exact_mcnemar, holm, paired_difference, ratio
from ovrag_core.study import bounds
from ovrag_studies.causal.chains.causal_chains import Contradiction
from ovrag_studies.causal.chains.chain_runs import Case, ChainBench
from ovrag_studies.causal.chains.feedback_loop import Round
from ovrag_studies.causal.graphs.linking import ClaimKey
from ovrag_studies.causal.graphs.verifier import CONTRADICTIONS, CausalVerdict
from ovrag_studies.causal.language.propositions import Span
from ovrag_studies.causal.settings import Arm


def figures(cases: Iterable[Case], arm: Arm, plan: Resampling) -> dict[str, Estimate]:
    """Return the figures of one arm by their names.

    `entailment` is the mean of (verified + partial / 2) / statements of the final draft, `complete` the share of a
    chain's statements that it makes and the graph bears out, `depth` the share verified before the first contradiction,
    `contradicted` the share of drafts with one, `accepted` that of answers given, caveats or not, `drafts` how many
    there were. Over paraphrases `jaccard` compares verified statements, `agreement` the decisions.
    """
    arm_cases = [case for case in cases if case.arm == arm]
    prompts = _by_chain(arm_cases, arm)
    ones = [1.0] * len(prompts)
    worth: dict[str, list[float]] = {
        "entailment": [entailment(case) for case in prompts.values()],
        "complete": [_share_borne_out(case, case.judged) for case in prompts.values()],
        "depth": [depth(case) for case in prompts.values()],
        "contradicted": [any(v.outcome == "CONTRADICTION" for v in case.judged) for case in prompts.values()],
        "accepted": [case.answer.decision in ("accepted", "accepted with caveats") for case in prompts.values()],
    }
    estimates = {measure: ratio(of_prompts, ones, plan) for measure, of_prompts in worth.items()}
    estimates["drafts"] = ratio([len(c.answer.rounds) for c in prompts.values()], ones, plan, proportion=False)
    return estimates | _of_paraphrases(arm_cases, prompts, plan)


def _of_paraphrases(cases: Sequence[Case], prompts: Mapping[str, Case], plan: Resampling) -> dict[str, Estimate]:
    by_chain = [[(p, c) for c in cases if c.wording and c.chain.id == name] for name, p in prompts.items()]
    alike: dict[str, list[float]] = {
        "jaccard": [sum(_shared(*pair) for pair in pairs) for pairs in by_chain],
        "agreement": [sum(p.answer.decision == c.answer.decision for p, c in pairs) for pairs in by_chain],
    }
    counts = [len(pairs) for pairs in by_chain]
    return {measure: ratio(of_pairs, counts, plan) for measure, of_pairs in alike.items()}


def compare(cases: Sequence[Case], first: Arm, others: Sequence[Arm], plan: Resampling) -> pandas.DataFrame:
    """Compare the first arm with each of the others on the prompts, a row each.

    `gain` is the first minus the other in entailment; "alone right" counts drafts that are right throughout (McNemar).
    p-values are adjusted by Holm over the arms that are compared.
    """
    first_cases = _by_chain(cases, first)
    rows: list[dict[str, Any]] = []
    for arm in others:
        second_cases = _by_chain(cases, arm)
        shared = [name for name in first_cases if name in second_cases]
        sides = [[side[name] for name in shared] for side in (first_cases, second_cases)]
        of_first, of_second = (([entailment(case) for case in side], [1.0] * len(shared)) for side in sides)
        gain = paired_difference(of_first, of_second, plan)
        right = [
            [bool(case.judged) and all(verdict.outcome == "VERIFIED" for verdict in case.judged) for case in side]
            for side in sides
        ]
        wholes = exact_mcnemar(*right)
        row = {"against": arm, "n": gain.clusters, **bounds("gain", gain), "Holm p": gain.p}
        row |= {"loop alone right": wholes.first_only, "it alone": wholes.second_only}
        rows.append(row | {"McNemar p": wholes.p, "Holm p, McNemar": wholes.p})
    frame = pandas.DataFrame(rows)
    for name in ("Holm p", "Holm p, McNemar"):
        frame[name] = holm([row[name] for row in rows])
    return frame


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


def depth(case: Case) -> float:
    """The share of the chain's steps and conclusion that is verified before the first contradiction, each once."""
    return _share_borne_out(case, takewhile(lambda verdict: verdict.outcome != "CONTRADICTION", case.judged))


def jaccard(one: set[ClaimKey], two: set[ClaimKey]) -> float:
    """Shared over all; 1 where there is nothing on either side."""
    return len(one & two) / len(one | two) if one | two else 1.0


def detected(bench: ChainBench, plan: Resampling) -> pandas.DataFrame:
    """Measure how contradictions written into prompts and paraphrases are found: by kind, the recall; by rule, the
    precision, each followed by that of all together.

    Every other statement of a text is one that does not contradict the graph.
    """
    flags = [
        (chain.id, kind, rule)
        for chain in bench.chains
        for text, written in (
            (chain.prompt, chain.contradictions),
            *((p.text, p.contradictions) for p in chain.paraphrases),
        )
        for kind, rule in _flags(bench.reference.check(text), written)
    ]
    frame = pandas.DataFrame(flags, columns=["chain", "kind", "rule"])
    chains = frame["chain"].unique()
    frame["hit"] = frame["kind"].notna() & frame["rule"].notna()

    def row(measure: str, name: str, chosen: pandas.DataFrame) -> dict[str, object]:
        by_chain = chosen.groupby("chain")["hit"].agg(["sum", "count"]).reindex(chains, fill_value=0)
        estimate = ratio(by_chain["sum"].tolist(), by_chain["count"].tolist(), plan)
        return {"kind or rule": name, "of": len(chosen), **bounds(measure, estimate)}

    rows = [row("recall", str(kind), of_kind) for kind, of_kind in frame.groupby("kind")]
    rows.append(row("recall", "all", frame.dropna(subset="kind")))
    rows += [row("precision", rule, frame[frame["rule"] == rule]) for rule in CONTRADICTIONS]
    return pandas.DataFrame([*rows, row("precision", "all", frame.dropna(subset="rule"))])


def _flags(verdicts: Iterable[CausalVerdict], written: Sequence[Contradiction]) -> Iterator[tuple[str | None, ...]]:
    """Yield the kind of each false sentence of a text, None for others, and the rule that flags it, if one does."""
    rules = [(verdict.span, verdict.rule if verdict.outcome == "CONTRADICTION" else None) for verdict in verdicts]
    for one in written:
        yield one.kind, next((rule for span, rule in rules if rule and _overlap(span, one.span)), None)
    for span, rule in rules:
        if not any(_overlap(span, one.span) for one in written):
            yield None, rule


def _objections(round_: Round) -> set[ClaimKey | str]:
    """Collect objections to a draft: claims, in whatever words, statements without a claim as quoted, and gaps."""
    verdicts = (verdict for verdict in round_.verdicts if verdict.outcome in ("CONTRADICTION", "FAILED"))
    return {v.claim.key if v.claim else v.quote for v in verdicts} | set(
        round_.gaps if round_.verdicts else round_.constraints
    )


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


def _by_chain(cases: Iterable[Case], arm: Arm) -> dict[str, Case]:
    return {case.chain.id: case for case in cases if case.arm == arm and case.wording == 0}
