"""Tables, figures and macros of the chains; captions and notes stand in `captions.yaml`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import pandas
from matplotlib.figure import Figure

from ovrag_core.base import Settings
from ovrag_core.evaluation import Estimate, Resampling, ratio
from ovrag_core.report import GREY, MARKERS, Look, colours, interval_plot, numbers, styled, with_bounds
from ovrag_core.study import Book, bounds, milliseconds
from ovrag_core.study import book as books
from ovrag_studies.causal.chains import chain_metrics, drift, random_verdicts
from ovrag_studies.causal.chains.chain_metrics import MEASURES, ComparedArms, Detection
from ovrag_studies.causal.chains.chain_runs import Case
from ovrag_studies.causal.chains.study import OURS, ChainStudy
from ovrag_studies.causal.graphs.verifier import CausalVerdict, verdict_text
from ovrag_studies.causal.reports.question_results import published
from ovrag_studies.causal.settings import Arm, Causal

NAMES: Mapping[str, str] = {
    "vanilla": "vanilla",
    "cot": "CoT",
    "rag": "RAG",
    "rag_cot": "RAG+CoT",
    "best_of_t": "best of T",
    "caf": "loop (CAF)",
    "random_verdicts": "random verdicts",
}
OF_DRAFTS, INVARIANCE = MEASURES[:6], MEASURES[6:]
PARTS: Mapping[str, str] = {
    "none": "the whole loop",
    "feedback": "without feedback",
    "gaps": "without a look at gaps",
    "score": "without score",
    "linking": "without linking",
    "partial": "without partial",
    "scm": "without causal model",
}
PARAMETERS: Mapping[str, str] = {"rounds": "T", "alpha": "α", "beta": "β", "theta": "θ", "epsilon": "ε"}
_UNITS: Mapping[str, str] = {
    "entailment": "share of statements",
    "complete": "share of the chain",
    "contradicted": "share of drafts",
}
_CURVES: Mapping[str, str] = {
    "entailment": "share of statements",
    "complete": "share of the chain",
    "gain": "difference in entailment",
}
SWEPT = ("entailment", "complete", "accepted")
_LOOK = Look(
    ends=0.8, row=0.14, series=0.085, spread=0.66, line=1.2, mark=4.2, limits=(-0.03, 1.03), ticks=None, columns=5
)
_PANELS = (
    "Complete: steps and conclusion of the chain that are stated and verified. Bands: intervals. Gain: entailment of "
    "the loop minus that of best of T, paired by chain"
)
_OF_DRAFTS = (
    "Entailment: (verified + partial / 2) / statements of the final draft, by the whole graph; complete: steps and "
    "conclusion of the chain that are stated and verified; depth: verified before the first contradiction, as a share "
    "of the chain; contradicted: drafts with a contradiction; accepted: answers given"
)
Measured = Mapping[tuple[str, Arm], Mapping[str, Estimate]]
Found = tuple[Sequence[Detection], Sequence[Detection]]


def open_book(settings: Settings, study: ChainStudy) -> Book:
    """Return the book of the settings, whose notes tell who drafted, and on how many chains."""
    prompts = f"{len(study.ours.bench.chains)} chains, prompts alone"
    words = {"model": _model(study), "varied": _simulator(study, " where not varied"), "chains": _chains(study)}
    words |= {"prompts": prompts, "of_drafts": _OF_DRAFTS, "panels": _PANELS}
    return replace(books.open_book(settings, Causal, **words), folder="causal_chains")


def _model(study: ChainStudy) -> str:
    return _simulator(study) if study.drafts_by == drift.NAME else study.drafts_by


def _simulator(study: ChainStudy, where: str = "") -> str:
    options = study.options.drift
    return f"{drift.NAME} (declared, no model; drift {options.rate:g}, obedience {options.obedience:g}{where})"


def _chains(study: ChainStudy) -> str:
    counted = []
    for name, ran in study.sets.items():
        wordings = sum(1 + len(chain.paraphrases) for chain in ran.bench.chains)
        kind = "" if name == OURS else f" {name}"
        counted.append(f"{len(ran.bench.chains)}{kind} chains ({wordings} wordings)")
    return "; ".join(counted)


def chains_table(book: Book, study: ChainStudy) -> pandas.DataFrame:
    """Table of the number of chains, by set and domain: `chains`."""
    rows = [
        {
            "chains": name,
            "domain": domain,
            "n": len(chains),
            "steps": ", ".join(f"{depth} ({n})" for depth, n in sorted(Counter(c.depth for c in chains).items())),
            "contradicted": sum(bool(chain.contradictions) for chain in chains),
            "true denials": sum(bool(chain.asides) for chain in chains),
            "paraphrases": sum(len(chain.paraphrases) for chain in chains),
        }
        for name, ran in study.sets.items()
        for domain in dict.fromkeys(chain.domain for chain in ran.bench.chains)
        for chains in [[chain for chain in ran.bench.chains if chain.domain == domain]]
    ]
    return book.table(pandas.DataFrame(rows), "chains")


def verdicts_text(verdicts: Sequence[CausalVerdict]) -> str:
    """Verdicts with their reason, query and triples, for people."""
    return "\n\n".join(map(verdict_text, verdicts)) or "Nothing is stated."


def case_text(case: Case) -> str:
    """An answer from the inside, up to its last round: each draft, and what was said against it."""
    answer = case.answer
    lines = [f"{case.chain.id}, {NAMES[case.arm]}: {answer.decision} ({answer.reason})", "", case.chain.prompt]
    for round_ in answer.rounds:
        counted = Counter(verdict.outcome for verdict in round_.verdicts)
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counted.items()) or "no statement"
        lines += ["", f"Round {round_.number}: score {numbers.number(round_.score)}, {outcomes}", round_.draft]
        lines += [f"  ! {line}" for line in round_.constraints]
    return "\n".join(lines)


def arms_table(book: Book, study: ChainStudy, figures: Measured) -> pandas.DataFrame:
    """Table of what each arm's final drafts are worth: `arms`."""
    frame = _by_arm(study, figures, OF_DRAFTS)
    return book.table(_shown(study, frame).drop(columns="n"), "arms", full=frame, decimals={"drafts": 2})


def _by_arm(study: ChainStudy, figures: Measured, measures: Sequence[str]) -> pandas.DataFrame:
    rows = [
        {"chains": name, "arm": NAMES[arm], "n": len(study.sets[name].bench.chains)} | _row(estimates, measures)
        for (name, arm), estimates in figures.items()
    ]
    return pandas.DataFrame(rows)


def _row(found: Mapping[str, Estimate], measures: Iterable[str] | None = None) -> dict[str, float | None]:
    return {column: value for measure in measures or found for column, value in bounds(measure, found[measure]).items()}


def _shown(study: ChainStudy, frame: pandas.DataFrame) -> pandas.DataFrame:
    """A table without the name of the set of chains, where there is one set only."""
    return frame.drop(columns="chains", errors="ignore") if len(study.sets) == 1 else frame


def arms_figure(book: Book, study: ChainStudy, figures: Measured) -> Path:
    """Entailment, completeness and contradictions by arm: `arms`."""
    panels = {
        measure: pandas.DataFrame(
            {"arm": NAMES[arm], "chains": name, **asdict(estimates[measure])}
            for (name, arm), estimates in figures.items()
        )
        for measure in _UNITS
    }
    series = "chains" if len(study.sets) > 1 else None
    look = replace(_LOOK, rules=series is not None)
    return book.figure(interval_plot(panels, "arm", book.width, series=series, units=_UNITS, look=look), "arms")


def paired_table(book: Book, study: ChainStudy, compared: Mapping[str, Sequence[ComparedArms]]) -> pandas.DataFrame:
    """The loop against each other arm on the same chains: `paired`."""
    rows = [
        {
            "chains": name,
            "against": NAMES[comparison.second],
            "n": comparison.difference.clusters,
            **bounds("gain", comparison.difference),
            "Holm p": comparison.p,
            "loop alone right": comparison.whole.first_only,
            "it alone": comparison.whole.second_only,
            "McNemar p": comparison.whole.p,
            "Holm p, McNemar": comparison.p_whole,
        }
        for name, comparisons in compared.items()
        for comparison in comparisons
    ]
    frame = pandas.DataFrame(rows)
    return book.table(_shown(study, frame), "paired", full=frame)


def invariance_table(book: Book, study: ChainStudy, figures: Measured) -> pandas.DataFrame:
    """Table of how alike answers to a prompt and to its paraphrases are: `invariance`."""
    frame = _by_arm(study, figures, INVARIANCE)
    return book.table(_shown(study, frame), "invariance", full=frame)


def model_table(book: Book, asked: ChainStudy, simulated: ChainStudy) -> pandas.DataFrame:
    """A chat model's drafts and the declared simulator's on the same chains, a row a measure: `model`."""
    measured = {
        (by, NAMES[arm]): _drafted(study, arm, book.plan)
        for by, study in (("model", asked), ("simulator", simulated))
        for arm in study.arms
    }
    n = len(asked.ours.bench.chains)
    full = [{"drafts by": by, "arm": arm, "n": n} | _row(estimates) for (by, arm), estimates in measured.items()]
    measures = dict.fromkeys(measure for estimates in measured.values() for measure in estimates)
    shown = [
        {"measure": measure} | _row({f"{by}, {arm}": estimates[measure] for (by, arm), estimates in measured.items()})
        for measure in measures
    ]
    words = {"drafter": asked.drafts_by, "simulator": _simulator(simulated), "sampled": n}
    words |= {"rounds": asked.options.loop.rounds, "assumed": f"{simulated.options.drift.obedience:g}"}
    return book.table(pandas.DataFrame(shown), "model", words, full=pandas.DataFrame(full))


def _drafted(study: ChainStudy, arm: Arm, plan: Resampling) -> dict[str, Estimate]:
    """The figures of an arm's final drafts, what its revisions obeyed, and the prompts left without a statement."""
    cases = [case for case in study.ours.cases if case.arm == arm and case.wording == 0]
    figures = chain_metrics.figures(cases, arm, plan)
    failed = [float(case.answer.decision == "failed") for case in cases]
    silent = [float(not any(v.claim for v in case.judged)) for case in cases]
    ones = [1.0] * len(cases)
    of_replies = {"no statement": ratio(silent, ones, plan), "no reply": ratio(failed, ones, plan)}
    return {name: figures[name] for name in OF_DRAFTS} | chain_metrics.revised(cases, plan) | of_replies


def contradictions_table(book: Book, found: Found) -> pandas.DataFrame:
    """Contradictions found, by kind, and those called so, by rule: `contradictions`."""
    rows = [
        {"kind or rule": detection.name, "of": detection.of, **bounds(measure, detection.share)}
        for measure, half in zip(("recall", "precision"), found, strict=True)
        for detection in half
    ]
    columns = ["kind or rule", "of", *with_bounds(("recall", "precision"))]
    return book.table(pandas.DataFrame(rows).reindex(columns=columns), "contradictions")


def ablations_table(book: Book, swept: pandas.DataFrame) -> pandas.DataFrame:
    """The loop without each of its parts: `ablations`."""
    frame = _of_loop(swept, "parts").drop(columns=["parameter", "arm"]).rename(columns={"value": "loop"})
    frame["loop"] = frame["loop"].map(PARTS)
    shown = frame[["loop", *with_bounds(("entailment", "complete", "accepted", "drafts", "gain"))]]
    return book.table(shown, "ablations", full=frame, decimals={"drafts": 2})


def _of_loop(swept: pandas.DataFrame, parameter: str) -> pandas.DataFrame:
    return swept[(swept["parameter"] == parameter) & (swept["arm"] == "caf")]


def sweep_table(book: Book, swept: pandas.DataFrame) -> pandas.DataFrame:
    """Each parameter varied, the others as set: `sweep`."""
    loop_rows = swept[(swept["parameter"] != "parts") & (swept["arm"] == "caf")]
    named = loop_rows.assign(parameter=loop_rows["parameter"].replace(PARAMETERS))
    shown = named[["parameter", "value", *with_bounds((*SWEPT, "gain")), "p"]]
    return book.table(shown, "sweep", full=swept[swept["parameter"] != "parts"], decimals={"p": 4}, long=True)


def gain_ends(swept: pandas.DataFrame) -> float | None:
    """The obedience below which the loop gains nothing over best of T; None where it gains at every value swept.

    It is where the line between two values swept crosses zero.
    """
    loop_rows = _of_loop(swept, "obedience")
    points = sorted(zip(loop_rows["value"].astype(float), loop_rows["gain"].astype(float), strict=True))
    crossing = [
        low + (high - low) * -below / (above - below)
        for (low, below), (high, above) in pairwise(points)
        if below <= 0 < above
    ]
    return crossing[-1] if crossing else None


def obedience_figure(book: Book, swept: pandas.DataFrame) -> Path:
    """The loop beside best of T, and the gain, by how often a constraint is obeyed: `obedience`."""
    ends = gain_ends(swept)
    fig = _curves(book, swept, "obedience", "share of constraints that are obeyed", ends)
    where = "it gains everywhere" if ends is None else f"the gain is 0 at {ends:.2f}, between the values swept"
    return book.figure(fig, "obedience", {"ends": where})


def coverage_figure(book: Book, swept: pandas.DataFrame) -> Path:
    """The same by the share of the graph's effects that the store knows: `coverage`."""
    return book.figure(_curves(book, swept, "coverage", "share of the effects that the store knows"), "coverage")


def _curves(book: Book, swept: pandas.DataFrame, name: str, axis: str, ends: float | None = None) -> Figure:
    """One panel a measure over the values of a parameter: a line an arm, with its interval; the gain is 0 at `ends`."""
    with styled():
        fig = Figure(figsize=(book.width, 2.6), layout="constrained")
        looks = list(zip(colours(2), ("-", "--"), MARKERS, strict=False))
        for ax, (measure, unit) in zip(fig.subplots(1, len(_CURVES)), _CURVES.items(), strict=True):
            rows = swept[swept["parameter"] == name].dropna(subset=[measure]).astype({"value": float})
            for (arm, line), (colour, ls, marker) in zip(rows.groupby("arm", sort=False), looks, strict=False):
                label, colour = ("loop minus best of T", "black") if measure == "gain" else (NAMES[str(arm)], colour)
                low, high = (line[f"{measure}_{end}"].fillna(line[measure]) for end in ("low", "high"))
                ax.fill_between(line["value"], low, high, color=colour, alpha=0.18, lw=0)
                drawn = {"color": colour, "ls": ls, "marker": marker, "label": label}
                ax.plot(line["value"], line[measure], lw=1.2, ms=4, mec="black", mew=0.4, **drawn)
            ax.set(title=measure, ylabel=unit, axisbelow=True)
            ax.grid()
        ax.axhline(0, color="black", lw=0.7)
        if ends is not None:
            ax.axvline(ends, color=GREY, lw=0.9, ls=(0, (4, 3)), label=f"no gain, {ends:.2f}")
        fig.supxlabel(axis, fontsize=8)
        handles = {label: line for ax in fig.axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        fig.legend(list(handles.values()), list(handles), loc="outside upper center", ncols=len(handles))
        return fig


def replays_table(book: Book, replayed: pandas.DataFrame) -> pandas.DataFrame:
    """The published table beside its replay from drawn verdicts: `random_verdicts`."""
    shown = replayed.rename(columns={"mean": "replayed", "low": "replayed_low", "high": "replayed_high"})
    shown["inside"] = replayed["inside"].map({True: "yes", False: "no"}).fillna("not measured")
    inside, measured = random_verdicts.reproduced(replayed)
    words = published()["loop"] | {"replays": random_verdicts.REPLAYS, "inside": inside, "measured": measured}
    return book.table(shown, "random_verdicts", words, full=replayed)


def latency_table(book: Book, seconds: Mapping[str, Sequence[float]]) -> pandas.DataFrame:
    """Milliseconds of an ASK query and of checking a sentence, which differ from run to run: `latency`."""
    rows = [{"what": task, **milliseconds(durations)} for task, durations in seconds.items() if durations]
    return book.table(pandas.DataFrame(rows), "latency_chains", decimals=4)


def numbers_file(
    book: Book,
    study: ChainStudy,
    figures: Measured,
    compared: Mapping[str, Sequence[ComparedArms]],
    found: Found,
    swept: pandas.DataFrame,
) -> Path:
    """The headline figures as macros, each beginning with `Causal`: `numbers.tex`."""
    estimates: dict[str, Estimate] = {}
    for (name, arm), arm_estimates in figures.items():
        prefix = "" if name == OURS else f"{name} "
        estimates |= {f"{prefix}{arm} {measure}": arm_estimates[measure] for measure in MEASURES}
    for measure, half in zip(("recall", "precision"), found, strict=True):
        estimates[f"{measure} in prompts and paraphrases"] = half[-1].share
    macros = {"chains": str(len(study.ours.bench.chains)), "drift": f"{study.options.drift.rate:g}"}
    macros |= {"obedience": f"{study.options.drift.obedience:g}", "rounds": str(study.options.loop.rounds)}
    for words, value in estimates.items():
        macros |= numbers.with_interval(words, value.value, value.low, value.high)
    for pair in compared[OURS]:
        gain = pair.difference
        macros |= numbers.with_interval(f"gain over {pair.second}", gain.value, gain.low, gain.high)
    for row in _of_loop(swept, "coverage").to_dict("records"):
        for measure in ("entailment", "complete"):
            ends = (row[column] for column in with_bounds([measure]))
            macros |= numbers.with_interval(f"coverage {row['value']} {measure}", *ends)
    crossing = gain_ends(swept)
    macros["gain ends"] = "n/a" if crossing is None else f"{crossing:.2f}"
    if study.replayed is not None:
        inside, measured = random_verdicts.reproduced(study.replayed)
        macros |= {"cells inside": str(inside), "cells measured": str(measured)}
        macros["replays"] = str(random_verdicts.REPLAYS)
    return book.numbers(macros, f"Causal chains: {_chains(study)}.")
