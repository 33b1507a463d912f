"""Tables, figures and macros of the chains, each with the note that says what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy
import pandas
from matplotlib.figure import Figure

from ovrag_core.evaluation.statistics import Estimate
from ovrag_core.report import numbers
from ovrag_core.report.tables import Note
from ovrag_core.text.lines import one_line
from ovrag_studies.causal import chain_pictures, drift, random_verdicts
from ovrag_studies.causal.book import FOLDER, NO_MODEL, Book, bounds, figure, published, table
from ovrag_studies.causal.experiments import Case
from ovrag_studies.causal.metrics import Compared, Detection, Figures, Found
from ovrag_studies.causal.random_verdicts import Cell
from ovrag_studies.causal.settings import Arm
from ovrag_studies.causal.study import OURS, Study
from ovrag_studies.causal.verifier import Verdict

NAMES: Mapping[Arm, str] = {
    "vanilla": "vanilla",
    "cot": "CoT",
    "rag": "RAG",
    "rag_cot": "RAG+CoT",
    "best_of_t": "best of T",
    "caf": "loop (CAF)",
    "random_verdicts": "random verdicts",
}
MEASURES = ("entailment", "complete", "depth", "contradicted", "accepted", "drafts")
INVARIANCE = ("jaccard", "agreement")
PARTS: Mapping[str, str] = {
    "none": "the whole loop",
    "feedback": "without feedback",
    "gaps": "without a look at gaps",
    "score": "without score",
    "linking": "without linking",
    "partial": "without partial",
    "scm": "without causal model",
}
PARAMETERS: Mapping[str, str] = {
    "rounds": "T",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "theta": "θ",
    "epsilon": "ε",
    "coverage": "coverage",
    "drift": "drift",
    "obedience": "obedience",
}
_UNITS: Mapping[str, str] = {
    "entailment": "share of statements",
    "complete": "share of the chain",
    "contradicted": "share of drafts",
}
SWEPT = ("entailment", "complete", "accepted")
_PANELS = (
    "Complete: steps and conclusion of the chain that are stated and verified. Bands: intervals. Gain: entailment of "
    "the loop minus that of best of T, paired by chain"
)
_OF_DRAFTS = (
    "Entailment: (verified + partial / 2) / statements of the final draft, by the whole graph; complete: steps and "
    "conclusion of the chain that are stated and verified; depth: verified before the first contradiction, as a share "
    "of the chain; contradicted: drafts with a contradiction; accepted: answers given"
)


def _model(study: Study) -> str:
    """Who drafts, and where that is the simulator, under which assumptions."""
    return _simulator(study) if study.drafts_by == drift.NAME else study.drafts_by


def _simulator(study: Study, where: str = "") -> str:
    given = study.options.drift
    return f"{drift.NAME} (declared, no model; drift {given.rate:g}, obedience {given.obedience:g}{where})"


def _chains(study: Study) -> str:
    """How many chains there are, by set."""
    told = []
    for name, ran in study.sets.items():
        wordings = sum(1 + len(chain.paraphrases) for chain in ran.bench.chains)
        kind = "" if name == OURS else f" {name}"
        told.append(f"{len(ran.bench.chains)}{kind} chains ({wordings} wordings)")
    return "; ".join(told)


def _note(book: Book, study: Study, arm: str = "each", more: str = "", *, interval: bool = True) -> Note:
    return book.note(_model(study), arm, _chains(study), "chains" if interval else "", more)


# -- the chains and one from the inside -------------------------------------------------------------------------------


def chains_table(book: Book, study: Study) -> pandas.DataFrame:
    """How many chains there are, by set and domain: `chains`."""
    rows = []
    for name, ran in study.sets.items():
        for domain in dict.fromkeys(chain.domain for chain in ran.bench.chains):
            of = [chain for chain in ran.bench.chains if chain.domain == domain]
            depths = Counter(chain.depth for chain in of)
            rows.append(
                {
                    "chains": name,
                    "domain": domain,
                    "n": len(of),
                    "steps": ", ".join(f"{depth} ({count})" for depth, count in sorted(depths.items())),
                    "contradicted": sum(bool(chain.contradictions) for chain in of),
                    "true denials": sum(bool(chain.asides) for chain in of),
                    "paraphrases": sum(len(chain.paraphrases) for chain in of),
                }
            )
    more = (
        "Steps: in brackets how many chains have so many. Contradicted: a false sentence stands in the prompt and its "
        "paraphrases"
    )
    note = book.note(NO_MODEL, "none", _chains(study), more=more)
    return table(book, pandas.DataFrame(rows), "chains", "The chains.", note)


def verdicts_text(verdicts: Sequence[Verdict]) -> str:
    """Verdicts with their reason, query and triples, for people."""
    lines: list[str] = []
    for each in verdicts:
        rows = [f"{each.outcome}: {one_line(each.quote)}", f"  why     {one_line(each.reason)}"]
        rows += [f"  query   {each.query}"] if each.query else []
        rows += [f"  triple  {' '.join(map(str, triple))}" for triple in each.triples]
        lines += [*rows, ""]
    return "\n".join(lines).rstrip() or "Nothing is stated."


def told(case: Case) -> str:
    """An answer from the inside, up to its last round: each draft, and what was said against it."""
    answer = case.answer
    lines = [f"{case.chain.id}, {NAMES[case.arm]}: {answer.decision} ({answer.reason})", "", case.chain.prompt]
    for each in answer.rounds:
        counted = Counter(verdict.outcome for verdict in each.verdicts)
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counted.items()) or "no statement"
        lines += ["", f"Round {each.number}: score {numbers.number(each.score)}, {outcomes}", each.draft]
        lines += [f"  ! {line}" for line in each.constraints]
    return "\n".join(lines)


# -- arms -------------------------------------------------------------------------------------------------------------


def arms_table(book: Book, study: Study, figures: Mapping[tuple[str, Arm], Figures]) -> pandas.DataFrame:
    """What each arm's final drafts are worth: `arms`."""
    rows = [
        {"chains": name, "arm": NAMES[arm], "n": len(study.sets[name].bench.chains)} | _row(found, MEASURES)
        for (name, arm), found in figures.items()
    ]
    frame = pandas.DataFrame(rows)
    shown = frame.drop(columns=["chains", "n"] if len(study.sets) == 1 else ["n"])
    more = f"{_OF_DRAFTS}. Prompts alone, no paraphrases. CoT drafts as vanilla does: that steps help is not assumed"
    note = _note(book, study, more=more)
    return table(
        book, shown, "arms", "What the arms' final drafts are worth.", note, full=frame, decimals={"drafts": 2}
    )


def _row(found: Figures, measures: Sequence[str]) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for measure in measures:
        row |= bounds(measure, getattr(found, measure))
    return row


def arms_figure(book: Book, study: Study, figures: Mapping[tuple[str, Arm], Figures]) -> Path:
    """Entailment, completeness and contradictions by arm: `arms`."""
    panels = {}
    for measure in _UNITS:
        rows = [
            {"arm": NAMES[arm], "chains": name, **_plain(getattr(found, measure))}
            for (name, arm), found in figures.items()
        ]
        panels[measure] = pandas.DataFrame(rows)
    series = "chains" if len(study.sets) > 1 else None
    fig = chain_pictures.marks(panels, "arm", book.width, series=series, units=_UNITS)
    return figure(book, fig, "arms", "What the arms' final drafts are worth.", _note(book, study, more=_OF_DRAFTS))


def _plain(found: Estimate) -> dict[str, float | None]:
    return {"value": found.value, "low": found.low, "high": found.high}


def paired_table(book: Book, study: Study, compared: Mapping[str, Sequence[Compared]]) -> pandas.DataFrame:
    """The loop against each other arm on the same chains: `paired`."""
    rows = [
        {
            "chains": name,
            "against": NAMES[each.second],
            "n": each.difference.clusters,
            "gain": each.difference.value,
            "gain_low": each.difference.low,
            "gain_high": each.difference.high,
            "Holm p": each.p,
            "loop alone right": each.whole.first_only,
            "it alone": each.whole.second_only,
            "McNemar p": each.whole.p,
            "Holm p, McNemar": each.p_whole,
        }
        for name, of in compared.items()
        for each in of
    ]
    frame = pandas.DataFrame(rows)
    more = (
        "Gain: entailment of the loop minus that of the other, with the bootstrap's p. Right: every statement of the "
        "final draft is verified; exact McNemar over chains. Holm: over the arms"
    )
    note = _note(book, study, "loop (CAF) against each", more)
    shown = frame.drop(columns=["chains"]) if len(study.sets) == 1 and len(frame) else frame
    return table(book, shown, "paired", "The loop against the other arms on the same chains.", note, full=frame)


def invariance_table(book: Book, study: Study, figures: Mapping[tuple[str, Arm], Figures]) -> pandas.DataFrame:
    """How alike answers to a prompt and to its paraphrases are: `invariance`."""
    rows = [
        {"chains": name, "arm": NAMES[arm], "n": len(study.sets[name].bench.chains)} | _row(found, INVARIANCE)
        for (name, arm), found in figures.items()
    ]
    frame = pandas.DataFrame(rows)
    more = (
        "Jaccard: of the statements verified in the answers to the prompt and to a paraphrase, whatever their words; "
        "agreement: of the decisions. The published figure compares scores alone"
    )
    shown = frame.drop(columns=["chains"]) if len(study.sets) == 1 else frame
    caption = "Answers to a prompt and to its paraphrases."
    return table(book, shown, "invariance", caption, _note(book, study, more=more), full=frame)


# -- contradictions, domains, depths ----------------------------------------------------------------------------------


def contradictions_table(
    book: Book, study: Study, found: Mapping[str, tuple[Sequence[Detection], Sequence[Found]]]
) -> pandas.DataFrame:
    """Contradictions found, by kind, and those called so, by rule: `contradictions`."""
    rows: list[dict[str, object]] = []
    for where, (kinds, rules) in found.items():
        for kind in kinds:
            row = {"in": where, "kind or rule": kind.kind.replace("_", " "), "of": kind.written}
            rows.append(row | bounds("recall", kind.recall))
        for rule in rules:
            row = {"in": where, "kind or rule": rule.rule, "of": rule.found}
            rows.append(row | bounds("precision", rule.precision))
    columns = ["in", "kind or rule", "of", *_with_bounds(("recall", "precision"))]
    more = (
        "Recall: of those written, by kind; precision: of those that a rule calls a contradiction, those written as "
        "one. Repeated: a false sentence of the prompt"
    )
    frame = pandas.DataFrame(rows).reindex(columns=columns)
    note = _note(book, study, "the verifier; simulated drafts are those of vanilla", more)
    return table(book, frame, "contradictions", "Contradictions found, by kind and by rule.", note)


def groups_table(book: Book, study: Study, found: Mapping[tuple[str, str, Arm], Figures]) -> pandas.DataFrame:
    """Entailment by domain and by depth; the CSV has all measures: `groups`."""
    full = pandas.DataFrame(
        [
            {"by": kind, "group": group, "arm": NAMES[arm], "n": each.entailment.clusters} | _row(each, MEASURES)
            for (kind, group, arm), each in found.items()
        ]
    )
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for (kind, group, arm), each in found.items():
        row = rows.setdefault((kind, group), {"by": kind, "group": group, "n": each.entailment.clusters})
        if arm in _SHOWN:
            row |= bounds(NAMES[arm], each.entailment)
    note = _note(book, study, more="Entailment, on our chains; the other arms are in the CSV")
    caption = "Entailment by domain and by the number of steps."
    return table(book, pandas.DataFrame(list(rows.values())), "groups", caption, note, full=full)


_SHOWN: tuple[Arm, ...] = ("vanilla", "rag", "best_of_t", "caf")


def groups_figure(book: Book, study: Study, found: Mapping[tuple[str, str, Arm], Figures]) -> Path:
    """Entailment by domain and depth, for the arms that differ: `groups`."""
    rows = [
        {"group": group if kind == "domain" else f"{group} steps", "arm": NAMES[arm], **_plain(each.entailment)}
        for (kind, group, arm), each in found.items()
        if arm in _SHOWN
    ]
    least = min(row["low"] for row in rows if row["low"] is not None)
    fig = chain_pictures.marks(
        {"entailment": pandas.DataFrame(rows)},
        "group",
        book.width,
        series="arm",
        units=_UNITS,
        limits=(min(0.5, float(least) - 0.02), 1.01),
    )
    note = _note(book, study, "as in the legend", "(verified + partial / 2) / statements of the final draft")
    return figure(book, fig, "groups", "Entailment by domain and by the number of steps.", note)


# -- sweeps -----------------------------------------------------------------------------------------------------------


def ablations_table(book: Book, study: Study, swept: pandas.DataFrame) -> pandas.DataFrame:
    """The loop without each of its parts: `ablations`."""
    own = swept[(swept["parameter"] == "parts") & (swept["arm"] == "caf")]
    frame = own.assign(loop=[PARTS[part] for part in own["value"]]).drop(columns=["parameter", "value", "arm"])
    shown = frame[["loop", *_with_bounds(("entailment", "complete", "accepted", "drafts", "gain"))]]
    more = (
        "Gain: entailment over best of T. Without feedback: drafts afresh until one is good, and the last one stands; "
        "gaps: nobody minds what a draft leaves out; score: accepted where nothing is contradicted or missing; "
        "linking: one label a thing, nothing else; partial: α = 0 and γ = 1; causal model: no test of stability"
    )
    note = _swept_note(book, study, more, "loop (CAF)")
    full = frame[["loop", *(column for column in frame.columns if column != "loop")]]
    caption = "The loop without each of its parts."
    return table(book, shown, "ablations", caption, note, full=full, decimals={"drafts": 2})


def sweep_table(book: Book, study: Study, swept: pandas.DataFrame) -> pandas.DataFrame:
    """Each parameter varied, the others as set: `sweep`."""
    own = swept[(swept["parameter"] != "parts") & (swept["arm"] == "caf")]
    named = own.assign(parameter=[PARAMETERS[name] for name in own["parameter"]])
    shown = named[["parameter", "value", *_with_bounds((*SWEPT, "gain")), "p"]]
    more = "Gain: entailment over best of T at the same value; p: the bootstrap's, not adjusted. The CSV has both arms"
    note = _swept_note(book, study, more, "loop (CAF)")
    full = swept[swept["parameter"] != "parts"]
    caption = "Each parameter varied, the others as set."
    return table(book, shown, "sweep", caption, note, full=full, decimals={"p": 4}, long=True)


def _with_bounds(names: Sequence[str]) -> list[str]:
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def _swept_note(book: Book, study: Study, more: str, arm: str) -> Note:
    n = f"{len(study.ours.bench.chains)} chains, prompts alone"
    return book.note(_simulator(study, " where not varied"), arm, n, "chains", more)


def gain_ends(swept: pandas.DataFrame) -> float | None:
    """The obedience below which the loop gains nothing over best of T; None where it gains at every value swept.

    It is where the line between two values swept crosses zero.
    """
    own = swept[(swept["parameter"] == "obedience") & (swept["arm"] == "caf")]
    points = sorted(zip(own["value"].astype(float), own["gain"].astype(float), strict=True))
    crossing = [
        low + (high - low) * -below / (above - below)
        for (low, below), (high, above) in pairwise(points)
        if below <= 0 < above
    ]
    return crossing[-1] if crossing else None


def obedience_figure(book: Book, study: Study, swept: pandas.DataFrame) -> Path:
    """The loop beside best of T, and the gain, by how often a constraint is obeyed: `obedience`."""
    ends = gain_ends(swept)
    fig = _curves(book, swept, "obedience", "share of constraints that are obeyed", ends)
    where = "it gains everywhere" if ends is None else f"the gain is 0 at {ends:.2f}, between the values swept"
    more = f"Obedience is assumed, not found. {_PANELS}; {where}"
    note = _swept_note(book, study, more, "loop (CAF) and best of T")
    return figure(book, fig, "obedience", "What the loop gains, by how often a constraint is obeyed.", note)


def coverage_figure(book: Book, study: Study, swept: pandas.DataFrame) -> Path:
    """The same by the share of the graph's effects that the store knows: `coverage`."""
    fig = _curves(book, swept, "coverage", "share of the effects that the store knows", None)
    more = f"Judged by the whole graph. {_PANELS}"
    note = _swept_note(book, study, more, "loop (CAF) and best of T")
    return figure(book, fig, "coverage", "What the loop gains, by how much the store knows.", note)


def _curves(book: Book, swept: pandas.DataFrame, name: str, axis: str, ends: float | None) -> Figure:
    own = swept[swept["parameter"] == name]
    panels = {}
    for measure, of in (("entailment", own), ("complete", own), ("gain", own[own["arm"] == "caf"])):
        panels[measure] = pandas.DataFrame(
            {
                "x": of["value"].astype(float),
                "series": ["loop minus best of T" if measure == "gain" else NAMES[arm] for arm in of["arm"]],
                "value": of[measure],
                "low": of[f"{measure}_low"].fillna(of[measure]),
                "high": of[f"{measure}_high"].fillna(of[measure]),
            }
        )
    units = {**_UNITS, "gain": "difference in entailment"}
    return chain_pictures.curves(panels, book.width, axis=axis, units=units, level="gain", ends=ends)


# -- the published table, seconds, prose ------------------------------------------------------------------------------

CELLS: Mapping[str, str] = {
    "inference depth": "Inference depth\n(steps)",
    "contradiction rate": "Contradiction rate\n(share of chains)",
    "entailment accuracy": "Entailment\n(share of statements)",
    "semantic invariance": "Semantic invariance\n(1 − difference)",
}


def _cells(cells: Sequence[Cell]) -> pandas.DataFrame:
    return pandas.DataFrame(
        [
            {
                "arm": each.arm,
                "figure": each.figure,
                "published": each.published,
                "mean": each.mean,
                "low": each.low,
                "high": each.high,
                "inside": each.inside,
            }
            for each in cells
        ]
    )


def replays_table(book: Book, study: Study) -> pandas.DataFrame:
    """The published table beside its replay from drawn verdicts: `random_verdicts`."""
    frame = _cells(study.replayed)
    shown = frame.rename(columns={"mean": "replayed", "low": "replayed_low", "high": "replayed_high"})
    shown["inside"] = ["not measured" if pandas.isna(each) else "yes" if each else "no" for each in frame["inside"]]
    note = _replays_note(book, study)
    return table(book, shown, "random_verdicts", "The published table, replayed from drawn verdicts.", note, full=frame)


def replays_figure(book: Book, study: Study) -> Path:
    """The same drawn: `random_verdicts`."""
    fig = chain_pictures.replays(_cells(study.replayed), book.width, CELLS)
    caption = "The published table, replayed from drawn verdicts."
    return figure(book, fig, "random_verdicts", caption, _replays_note(book, study))


def _replays_note(book: Book, study: Study) -> Note:
    inside, measured = random_verdicts.reproduced(study.replayed)
    theirs, drawn = published()["loop"], study.options.experiments
    more = (
        f"Published: {theirs['source']}, {theirs['model']}; not measured there: {theirs['not_measured']}. {inside} of "
        f"{measured} measured cells lie in the range of {drawn.confidence:.0%} of {drawn.replays} replays. No text, "
        "model or knowledge base goes into a replay"
    )
    n = f"{theirs['chains']} chains, {drawn.replays} times"
    ranges = f"{drawn.confidence:.0%}, range of {drawn.replays} replays of {theirs['chains']} chains"
    return Note("none, verdicts are drawn", "random verdicts", n, ranges, more)


def latency_table(book: Book, seconds: Mapping[str, Sequence[float]]) -> pandas.DataFrame:
    """Milliseconds of an ASK query and of checking a sentence, which differ from run to run: `latency`."""
    rows = [
        {
            "what": what,
            "n": len(taken),
            "median": float(numpy.median(taken)) * 1000,
            "95th percentile": float(numpy.quantile(taken, 0.95)) * 1000,
            "longest": max(taken) * 1000,
        }
        for what, taken in seconds.items()
        if taken
    ]
    note = book.note(NO_MODEL, "the verifier", "queries or sentences, as listed", more="Milliseconds of the clock")
    caption = "Milliseconds for a query and for a sentence."
    return table(book, pandas.DataFrame(rows), "latency_chains", caption, note, decimals=4)


def numbers_file(
    book: Book,
    study: Study,
    figures: Mapping[tuple[str, Arm], Figures],
    compared: Mapping[str, Sequence[Compared]],
    found: Mapping[str, tuple[Sequence[Detection], Sequence[Found]]],
    swept: pandas.DataFrame,
) -> Path:
    """The headline figures as macros, each beginning with `Causal`: `numbers.tex`."""
    told = {"chains": str(len(study.ours.bench.chains)), "drift": f"{study.options.drift.rate:g}"}
    told |= {"obedience": f"{study.options.drift.obedience:g}", "rounds": str(study.options.loop.rounds)}
    for (name, arm), each in figures.items():
        of = "" if name == OURS else f"{name} "
        for measure in (*MEASURES, *INVARIANCE):
            got: Estimate = getattr(each, measure)
            told |= numbers.with_interval(f"{of}{arm} {measure}", got.value, got.low, got.high)
    for pair in compared.get(OURS, ()):
        gain = pair.difference
        told |= numbers.with_interval(f"gain over {pair.second}", gain.value, gain.low, gain.high)
    for where, (kinds, rules) in found.items():
        recall, precision = kinds[-1].recall, rules[-1].precision
        told |= numbers.with_interval(f"recall in {where}", recall.value, recall.low, recall.high)
        told |= numbers.with_interval(f"precision in {where}", precision.value, precision.low, precision.high)
    for _, row in swept[(swept["parameter"] == "coverage") & (swept["arm"] == "caf")].iterrows():
        for measure in ("entailment", "complete"):
            made = (row[f"{measure}{end}"] for end in ("", "_low", "_high"))
            told |= numbers.with_interval(f"coverage {row['value']} {measure}", *made)
    ends = gain_ends(swept)
    told["gain ends"] = "n/a" if ends is None else f"{ends:.2f}"
    if study.replayed:
        inside, measured = random_verdicts.reproduced(study.replayed)
        told |= {
            "cells inside": str(inside),
            "cells measured": str(measured),
            "replays": str(study.options.experiments.replays),
        }
    named = {numbers.macro_name("causal", name): value for name, value in told.items()}
    return numbers.write_numbers(named, book.tables / FOLDER / "numbers.tex", f"Causal chains: {_chains(study)}.")


def sentences(
    study: Study,
    figures: Mapping[tuple[str, Arm], Figures],
    compared: Mapping[str, Sequence[Compared]],
    swept: pandas.DataFrame,
) -> list[str]:
    """What the study shows on these chains, computed from its results."""
    lines = [f"Drafts by: {_model(study)}."]
    lines += [
        f"{NAMES[arm]}, chains {name}: entailment {_told(each.entailment)}, contradicted {_told(each.contradicted)}, "
        f"Jaccard over paraphrases {_told(each.jaccard)}."
        for (name, arm), each in figures.items()
    ]
    for pair in compared.get(OURS, ()):
        if pair.second == "best_of_t":
            gain = pair.difference
            lines.append(f"The loop's gain over best of T: {_told(Estimate(gain.value, gain.low, gain.high))}.")
    for _, row in swept[(swept["parameter"] == "coverage") & (swept["arm"] == "caf")].iterrows():
        lines.append(
            f"At coverage {row['value']}: entailment of the loop {numbers.number(row['entailment'])}, "
            f"{numbers.number(row['complete'])} of the chain stated and verified."
        )
    ends = gain_ends(swept)
    lines.append(
        "It gains at every obedience swept." if ends is None else f"It gains nothing below an obedience of {ends:.2f}."
    )
    if study.replayed:
        inside, measured = random_verdicts.reproduced(study.replayed)
        lines.append(f"Drawn verdicts reproduce {inside} of the {measured} measured cells of the published table.")
    return lines


def _told(found: Estimate) -> str:
    bounds = None if found.low is None or found.high is None else [found.low, found.high]
    return numbers.number(found.value) + (f" {numbers.interval(bounds)}" if bounds else "")
