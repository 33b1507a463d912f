"""The loop with one parameter varied at a time, the others as set: `python -m ovrag_studies.causal.sweep`.

Each run is our chains' prompts through the loop and through as many drafts of which the best counts (best_of_t). The
declared simulator drafts, whoever drafts elsewhere. What comes of it is one CSV.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import pandas

from ovrag_core.base import OvragError, ResultError, bar, load_settings, write_text
from ovrag_core.report import with_bounds
from ovrag_core.retrieval import Embedder, minilm
from ovrag_core.study import bounds
from ovrag_studies.causal.chains import chain_metrics, chain_runs
from ovrag_studies.causal.chains.chain_runs import instability_in, varied
from ovrag_studies.causal.chains.study import open_bench
from ovrag_studies.causal.settings import Arm, Causal, LoopPart

FILE = Path("data/runs/causal/sweep.csv")
ARMS: tuple[Arm, ...] = ("best_of_t", "caf")
PARTS: tuple[LoopPart, ...] = get_args(LoopPart)
MEASURES = ("entailment", "complete", "contradicted", "accepted", "drafts")
VARIED: Mapping[str, tuple[float, ...]] = {
    "rounds": (1, 3, 5, 10),
    "alpha": (0.0, 0.5, 1.0),
    "beta": (0.0, 0.5, 1.0),
    "theta": (0.6, 0.7, 0.8, 0.9, 1.0),
    "epsilon": (0.05, 0.1, 0.15, 0.2, 1.0),
    "coverage": (0.4, 0.6, 0.8, 0.9, 1.0),
    "drift": (0.1, 0.3, 0.5),
    "obedience": (0.0, 0.25, 0.5, 0.75, 0.9, 1.0),
}
_PLACES = {"coverage": ("store", "coverage"), "drift": ("drift", "rate"), "obedience": ("drift", "obedience")}


def points(options: Causal) -> Iterator[tuple[str, str, Causal, LoopPart | None]]:
    """Yield the runs: the parameter, its value, the settings with it; the part taken out, for those of "parts"."""
    yield "parts", "none", options, None
    for loop_part in PARTS:
        yield "parts", loop_part, options, loop_part
    for name, values in VARIED.items():
        section, field = _PLACES.get(name, ("loop", name))
        for value in values:
            yield name, f"{value:g}", varied(options, section, **{field: value}), None


def run_sweep(options: Causal, embedder: Embedder | None = None) -> pandas.DataFrame:
    """Return a row a run and arm, with intervals by chain, and the loop minus best_of_t beside the loop."""
    bench = open_bench(options, embedder)
    stability, plan = instability_in(bench.graph), options.experiments.plan
    runs = list(points(options))
    rows: list[dict[str, object]] = []
    with bar(len(runs), "the loop, varied", "run") as progress:
        for name, value, changed, loop_part in runs:
            cases = chain_runs.run(bench, changed, ARMS, paraphrases=False, stability=stability, without=loop_part)
            (compared,) = chain_metrics.compare(cases, "caf", ["best_of_t"], plan).to_dict("records")
            gain = {column: compared[column] for column in with_bounds(["gain"])} | {"p": compared["Holm p"]}
            for arm in ARMS:
                estimates = chain_metrics.figures(cases, arm, plan)
                rows.append({"parameter": name, "value": value, "arm": arm, "chains": len(cases) // len(ARMS)})
                for measure in MEASURES:
                    rows[-1] |= bounds(measure, estimates[measure])
                rows[-1] |= gain if arm == "caf" else dict.fromkeys(gain)
            progress.update()
    return pandas.DataFrame(rows)


def read_sweep(path: Path = FILE) -> pandas.DataFrame:
    """Return what the sweep wrote. Raises ResultError where it was not run."""
    if not path.is_file():
        raise ResultError(f"{path} is missing; `dvc repro causal_sweep` makes it")
    return pandas.read_csv(path, dtype={"value": str}, keep_default_na=False, na_values=[""])


def main() -> None:
    """Run the sweep by `params.yaml`; one line on stderr and exit code 2 where that cannot be."""
    try:
        frame = run_sweep(Causal.of(load_settings(Path("params.yaml"))), minilm())
        text = frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
        write_text(text, FILE, ResultError, parents=True)
    except OvragError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
