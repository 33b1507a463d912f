"""The figures of silence that notebook 09 does not have, as Markdown tables with n and 95% intervals.

    python benchmarks/policy.py [--samples N]

How well scores tell answerable queries from others, and the certificate on parts of the queries, on the development
material of Policy Copilot below `OVRAG_EXTERNAL_DATA`, by published and by audited labels.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import numpy
from scipy.stats import rankdata

from ovrag_core.base import external_data
from ovrag_core.evaluation import Estimate, Resampling, wilson
from ovrag_studies.cited.answering.cited_answers import answer
from ovrag_studies.cited.answering.silence import score_answer
from ovrag_studies.cited.arms import ArmParts, calibrate_on, search
from ovrag_studies.cited.corpus.golden import GoldenQuery, read_golden
from ovrag_studies.cited.corpus.policies import read_corpus
from ovrag_studies.cited.corpus.retrieval import CorpusIndex
from ovrag_studies.cited.printing import value_text
from ovrag_studies.cited.settings import Policy

TRAINING = Path("training/cited/questions")


def table(title: str, *columns: str) -> None:
    print(f"\n{title}\n")
    row(*columns)
    print("|" + "---|" * len(columns))


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def auroc(scores: Sequence[float], positive: Sequence[bool], plan: Resampling) -> Estimate:
    """The chance that an answerable query scores higher; percentile interval, each kind resampled by itself."""

    def area(of: numpy.ndarray, other: numpy.ndarray) -> float:
        ranks = rankdata(numpy.concatenate([of, other]))
        return float((ranks[: len(of)].sum() - len(of) * (len(of) + 1) / 2) / (len(of) * len(other)))

    truth, values = numpy.asarray(positive), numpy.asarray(scores)
    one, two = values[truth], values[~truth]
    drawn = numpy.random.default_rng(plan.seed)
    areas = [area(drawn.choice(one, len(one)), drawn.choice(two, len(two))) for _ in range(plan.samples)]
    tail = (1 - plan.confidence) / 2
    low, high = (float(bound) for bound in numpy.quantile(areas, [tail, 1 - tail]))
    return Estimate(area(one, two), low, high, len(values), "percentile")


def score_of(parts: ArmParts, question: str) -> float:
    """The score that silence is decided by."""
    evidence = search(parts, question)
    return score_answer(answer(question, evidence, parts.verifier), evidence, parts.verifier)


def measure_scores(parts: ArmParts, labels: str, queries: Sequence[GoldenQuery], plan: Resampling) -> None:
    """Print how well the score, and the best sentence's cosine alone, tell answerable queries from others."""
    table("Score of silence", "AUROC", "value", "queries")
    scores = {
        "score": [round(score_of(parts, each.question), 6) for each in queries],
        "best sentence alone": [max(parts.index.scores(each.question, "sentences")) for each in queries],
    }
    for name, values in scores.items():
        area = auroc(values, [each.answerable for each in queries], plan)
        row(f"{labels}: answerable against not, {name}", value_text(area), area.clusters)


def measure_certificates(parts: ArmParts, labels: str, queries: Sequence[GoldenQuery], plan: Resampling) -> None:
    """Print the certificate on all queries and on those that nothing was chosen by."""
    levels = parts.options.silence
    title = f"Certificates at alpha = {levels.alpha:g}, delta = {levels.delta:g}"
    table(title, "labels: calibrated on", "answered", "wrong", "wrong of answered", "p", "certified")
    known = trained_questions()
    unseen = [each for each in queries if each.split != "dev"]
    for name, chosen in (
        ("all queries", queries),
        ("all but the development split", unseen),
        ("nor those of the training data", [each for each in unseen if plain(each.question) not in known]),
    ):
        made = calibrate_on(parts, chosen, name).certificate
        share = value_text(wilson(made.errors, made.answered, plan.confidence))
        cells = f"{made.answered} of {made.n}", made.errors, share, f"{made.p:.3f}"
        row(f"{labels}: {name}", *cells, "yes" if made.certified else "no")


def trained_questions() -> set[str]:
    """The questions of the training data, which are asked of other documents."""
    lines = [line for path in TRAINING.glob("*.txt") for line in path.read_text(encoding="utf-8").splitlines()]
    return {plain(line[2:]) for line in lines if line[:1] in ("+", "-")}


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=2000)
    plan = Resampling(parser.parse_args().samples)
    material = external_data("policy", "dev")
    corpus = read_corpus(material / "corpus")
    parts = ArmParts(Policy(), CorpusIndex(corpus))
    for labels, file in (("audited", "golden_set_audited.csv"), ("published", "golden_set.csv")):
        queries = read_golden(material / "golden_set" / file, corpus)
        measure_scores(parts, labels, queries, plan)
        measure_certificates(parts, labels, queries, plan)


if __name__ == "__main__":
    main()
