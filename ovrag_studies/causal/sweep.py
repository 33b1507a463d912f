"""One parameter of the loop varied, the others as set: `python -m ovrag_studies.causal.sweep theta`.

Each run is our chains' prompts through the loop and through as many drafts of which the best counts (best_of_t). The
declared simulator drafts, whoever drafts elsewhere. What comes of it is one small CSV a parameter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas
from pyoxigraph import Literal as Text

from ovrag_core.base.errors import OvragError, ResultError, SettingsError
from ovrag_core.base.settings import Settings, load_settings
from ovrag_core.evaluation.statistics import Difference, Resampling
from ovrag_core.graph import LABEL
from ovrag_core.retrieval.embedding import Embedder, minilm
from ovrag_core.study.scores import bounds
from ovrag_studies.causal.chains import chain_metrics, chain_runs
from ovrag_studies.causal.chains.chain_runs import ChainBench
from ovrag_studies.causal.chains.stability import Instability, instability_in
from ovrag_studies.causal.chains.study import open_bench
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.settings import Arm, Causal, LoopPart, Sweep

FOLDER = Path("data/runs/causal/sweep")
ARMS: tuple[Arm, ...] = ("best_of_t", "caf")
NAMES: tuple[str, ...] = tuple(Sweep.model_fields)
WHOLE = "none"  # of the parts is taken out
MEASURES = ("entailment", "complete", "contradicted", "accepted", "drafts")


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One run of a sweep: the value, what the settings are with it, and the part that is taken out, if any."""

    value: str
    options: Causal
    without: LoopPart | None = None


def points(options: Causal, name: str) -> Iterator[SweepPoint]:
    """The runs of the sweep over a parameter. Raises SettingsError for one that is not swept."""
    if name not in NAMES:
        raise SettingsError(f"{name} is not swept; name one of {', '.join(NAMES)}")
    if name == "parts":
        yield SweepPoint(WHOLE, options)
        for part in options.sweep.parts:
            yield SweepPoint(part, _without(options, part), part)
        return
    values: Sequence[float] = getattr(options.sweep, name)
    for value in values:
        yield SweepPoint(f"{value:g}", _varied(options, name, value))


def run_sweep(options: Causal, name: str, plan: Resampling, embedder: Embedder | None = None) -> pandas.DataFrame:
    """One row a value and arm, with intervals by chain, and the loop minus best_of_t beside the loop."""
    bench = open_bench(options, embedder)
    stability = instability_in(bench.graph, options.loop.strength)
    runs = points(options, name)
    return pandas.DataFrame([row for point in runs for row in _rows(bench, name, point, plan, stability)])


def read_sweep(folder: Path = FOLDER) -> pandas.DataFrame:
    """What the sweeps wrote, in the order of the settings. Raises ResultError where one is missing."""
    frames = []
    for name in NAMES:
        path = folder / f"{name}.csv"
        if not path.is_file():
            raise ResultError(f"{path} is missing; `dvc repro causal_sweep@{name}` makes it")
        frames.append(pandas.read_csv(path, dtype={"value": str}, keep_default_na=False, na_values=[""]))
    return pandas.concat(frames, ignore_index=True)


def _varied(options: Causal, name: str, value: float) -> Causal:
    if name == "coverage":
        return options.model_copy(update={"store": options.store.model_copy(update={name: value})})
    if name in ("drift", "obedience"):
        changed = {"rate" if name == "drift" else name: value}
        return options.model_copy(update={"drift": options.drift.model_copy(update=changed)})
    return options.model_copy(update={"loop": options.loop.model_copy(update={name: value})})


def _without(options: Causal, part: LoopPart) -> Causal:
    """Without a score nothing but contradictions and gaps counts; without partial support only names count."""
    if part == "score":
        return _varied(options, "theta", 0.0)
    if part == "partial":
        return _varied(_varied(options, "alpha", 0.0), "gamma", 1.0)
    return options


def _rows(
    bench: ChainBench, name: str, point: SweepPoint, plan: Resampling, stability: Instability
) -> Iterator[dict[str, object]]:
    options = point.options
    cases = chain_runs.run(
        replace(bench, lexicon=_labels(bench)) if point.without == "linking" else bench,
        options.loop,
        options.drift,
        arms=ARMS,
        coverage=options.store.coverage,
        seed=options.experiments.seed,
        paraphrases=False,
        stability=None if point.without == "scm" else stability,
        feedback=point.without != "feedback",
        gaps=point.without != "gaps",
    )
    (against,) = chain_metrics.compare(cases, "caf", ["best_of_t"], plan)
    for arm in ARMS:
        found = chain_metrics.figures(cases, arm, plan)
        row: dict[str, object] = {"parameter": name, "value": point.value, "arm": arm, "chains": len(bench.chains)}
        for measure in MEASURES:
            row |= bounds(measure, found[measure])
        gain = against.difference if arm == "caf" else Difference(None, None, None, None, 0)
        yield row | bounds("gain", gain) | {"p": gain.p}


def _labels(bench: ChainBench) -> NameLexicon:
    """Only the one label of each thing: no synonyms, no names of a rise or a fall, no likeness."""
    labels = {(triple.subject, triple.object) for triple in bench.graph.triples(None, LABEL)}
    return NameLexicon(name for name in bench.lexicon.names if (name.entity, Text(name.text)) in labels)


def _sweep(settings: Settings, name: str) -> Path:
    options = Causal.of(settings)
    plan = options.experiments.plan
    frame = run_sweep(options, name, plan, minilm())
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.csv"
    frame.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    return path


def main() -> None:
    """Sweep over the parameter of the command line; one line on stderr and exit code 2 where that cannot be."""
    try:
        for name in sys.argv[1:]:
            print(_sweep(load_settings(Path("params.yaml")), name))
    except OvragError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
