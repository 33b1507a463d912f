"""Tables, figures and macros of the chains; captions and notes stand in `captions.yaml`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas
from matplotlib.figure import Figure

from ovrag_core.base import Settings
from ovrag_core.evaluation import Estimate, Resampling, ratio
from ovrag_core.report import GREY, MARKERS, Look, colours, interval_plot, numbers, styled, with_bounds
from ovrag_core.study import Book, macros, milliseconds, scores, wide
from ovrag_core.study import book as books
from ovrag_studies.causal.chains import chain_metrics, drift, random_verdicts
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
OF_DRAFTS = ("entailment", "complete", "depth", "contradicted", "accepted", "drafts")
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
_CURVES = {measure: _UNITS[measure] for measure in ("entailment", "complete")} | {"gain": "difference in entailment"}
SWEPT = ("entailment", "complete", "accepted")
_LOOK = Look(
    ends=0.8, row=0.14, series=0.085, spread=0.66, line=1.2, mark=4.2, limits=(-0.03, 1.03), ticks=None, columns=5
)


def open_book(settings: Settings, study: ChainStudy) -> Book:
    """Return the book of the settings, whose notes tell who drafted, and on how many chains."""
    by_model = study.drafts_by != drift.NAME
    words = {
        "model": study.drafts_by if by_model else _simulator(study),
        "varied": _simulator(study, " where not varied"),
        "chains": _chains(study),
        "prompts": f"{len(study.ours.bench.chains)} chains, prompts alone",
    }
    return replace(books.open_book(settings, Causal, **words), folder="causal_chains")


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


def arms_table(book: Book, study: ChainStudy, figures: pandas.DataFrame) -> pandas.DataFrame:
    """Table of what each arm's final drafts are worth: `arms`."""
    frame = _by_arm(figures, OF_DRAFTS)
    return book.table(_shown(study, frame).drop(columns="n"), "arms", full=frame, decimals={"drafts": 2})


def _by_arm(figures: pandas.DataFrame, measures: Sequence[str]) -> pandas.DataFrame:
    named = figures.assign(arm=figures["arm"].map(NAMES)).rename(columns={"set": "chains"})
    return wide(named, measures, by=("chains", "arm", "n"))


def _shown(study: ChainStudy, frame: pandas.DataFrame) -> pandas.DataFrame:
    """A table without the name of the set of chains, where there is one set only."""
    return frame.drop(columns="chains", errors="ignore") if len(study.sets) == 1 else frame


def arms_figure(book: Book, study: ChainStudy, figures: pandas.DataFrame) -> Path:
    """Entailment, completeness and contradictions by arm: `arms`."""
    named = figures.assign(arm=figures["arm"].map(NAMES))
    panels = {measure: named[named["measure"] == measure] for measure in _UNITS}
    series = "set" if len(study.sets) > 1 else None
    fig = interval_plot(panels, "arm", book.width, series=series, units=_UNITS, look=_LOOK)
    for ax in fig.axes if series else ():
        for row in range(1, len(study.arms)):  # a rule between the arms
            ax.axhline(row - 0.5, color="0.85", lw=0.5)
    return book.figure(fig, "arms")


def paired_table(book: Book, study: ChainStudy, compared: pandas.DataFrame) -> pandas.DataFrame:
    """The loop against each other arm on the same chains: `paired`."""
    frame = compared.assign(against=compared["against"].map(NAMES))
    return book.table(_shown(study, frame), "paired", full=frame)


def invariance_table(book: Book, study: ChainStudy, figures: pandas.DataFrame) -> pandas.DataFrame:
    """Table of how alike answers to a prompt and to its paraphrases are: `invariance`."""
    frame = _by_arm(figures, ("jaccard", "agreement"))
    return book.table(_shown(study, frame), "invariance", full=frame)


def model_table(book: Book, asked: ChainStudy, simulated: ChainStudy) -> pandas.DataFrame:
    """A chat model's drafts and the declared simulator's on the same chains, a row a measure: `model`."""
    n = len(asked.ours.bench.chains)
    drafted = [
        scores({NAMES[arm]: _drafted(study, arm, book.plan) for arm in study.arms}, n, by)
        for by, study in (("model", asked), ("simulator", simulated))
    ]
    frame = pandas.concat(drafted).rename(columns={"set": "drafts by"})
    measures = frame["measure"].unique()
    full = wide(frame, measures, by=("drafts by", "arm", "n"))
    turned = frame.assign(measure=frame["drafts by"] + ", " + frame["arm"], row=frame["measure"])
    shown = wide(turned, turned["measure"].unique(), by=("row",)).rename(columns={"row": "measure"})
    words = {"drafter": asked.drafts_by, "simulator": _simulator(simulated), "sampled": n}
    words |= {"rounds": asked.options.loop.rounds, "assumed": f"{simulated.options.drift.obedience:g}"}
    return book.table(shown, "model", words, full=full)


def _drafted(study: ChainStudy, arm: Arm, plan: Resampling) -> dict[str, Estimate]:
    """The figures of an arm's final drafts, what its revisions obeyed, and the prompts left without a statement."""
    cases = [case for case in study.ours.cases if case.arm == arm and case.wording == 0]
    figures = chain_metrics.figures(cases, arm, plan)
    silent = [float(not any(v.claim for v in case.judged)) for case in cases]
    failed = [float(case.answer.decision == "failed") for case in cases]
    of_replies = {
        name: ratio(hits, [1.0] * len(cases), plan) for name, hits in (("no statement", silent), ("no reply", failed))
    }
    return {name: figures[name] for name in OF_DRAFTS} | chain_metrics.revised(cases, plan) | of_replies


def contradictions_table(book: Book, found: pandas.DataFrame) -> pandas.DataFrame:
    """Contradictions found, by kind, and those called so, by rule: `contradictions`."""
    return book.table(found, "contradictions")


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
    figures: pandas.DataFrame,
    compared: pandas.DataFrame,
    found: pandas.DataFrame,
    swept: pandas.DataFrame,
) -> Path:
    """The headline figures as macros, each beginning with `Causal`: `numbers.tex`."""
    drifting = study.options.drift
    values = {"chains": str(len(study.ours.bench.chains)), "drift": f"{drifting.rate:g}"}
    values |= {"obedience": f"{drifting.obedience:g}", "rounds": str(study.options.loop.rounds)}
    for name, of_set in figures.groupby("set", sort=False):
        prefix = "" if name == OURS else f"{name} "
        values |= macros(of_set.assign(arm=prefix + of_set["arm"]), "{} {}".format)
    recall, precision = found[found["kind or rule"] == "all"].to_dict("records")
    intervals = [("recall in prompts and paraphrases", recall, "recall")]
    intervals += [("precision in prompts and paraphrases", precision, "precision")]
    intervals += [(f"gain over {row['against']}", row, "gain") for row in compared.to_dict("records") if row["chains"] == OURS]
    for row in _of_loop(swept, "coverage").to_dict("records"):
        intervals += [(f"coverage {row['value']} {measure}", row, measure) for measure in ("entailment", "complete")]
    for words, row, measure in intervals:
        values |= numbers.with_interval(words, *(row[column] for column in with_bounds([measure])))
    crossing = gain_ends(swept)
    values["gain ends"] = "n/a" if crossing is None else f"{crossing:.2f}"
    if study.replayed is not None:
        inside, measured = random_verdicts.reproduced(study.replayed)
        values |= {"cells inside": str(inside), "cells measured": str(measured)}
        values["replays"] = str(random_verdicts.REPLAYS)
    return book.numbers(values, f"Causal chains: {_chains(study)}.")
