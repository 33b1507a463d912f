"""The figures of the study "cited or silent" on any material, as Markdown tables with n and 95% intervals.

    python benchmarks/policy.py [--corpus PATH ...] [--golden [NAME=]FILE ...] [--conflicts FILE] [--critic PATH]
                                [--calibrate-corpus PATH ...] [--calibrate-golden FILE] [--runs FOLDER] [--samples N]

`--corpus` is a folder of documents, or one with `processed/paragraphs.jsonl`; several are searched together. `--golden`
is a golden set in the published columns, if possible with `expected` and `gold_quote`. `--conflicts` is a file of pairs
of paragraphs and `--critic` a folder of snippets, both in the form of the samples. Without any of them all is measured
on the development material of Policy Copilot below `OVRAG_EXTERNAL_DATA`.

Silence is calibrated on `--calibrate-golden` over `--calibrate-corpus`, by default the audited labels of the
development material; the table of certificates has it on parts of those queries too.
"""

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy
from scipy.stats import rankdata

from ovrag_core.base import external_data
from ovrag_core.evaluation import Estimate, Resampling, wilson
from ovrag_studies.cited.answering.silence import Calibration
from ovrag_studies.cited.arms import ArmParts, search
from ovrag_studies.cited.corpus.golden import GoldenQuery, read_golden
from ovrag_studies.cited.corpus.policies import corpus_digest, read_corpus
from ovrag_studies.cited.corpus.retrieval import CorpusIndex, Way, retrieve_by
from ovrag_studies.cited.critic.critic_rules import by_rules
from ovrag_studies.cited.critic.criticism import criticise
from ovrag_studies.cited.golden_runs import calibrate_on, run_arms
from ovrag_studies.cited.measuring import conflict_metrics, critic_metrics
from ovrag_studies.cited.measuring.golden_scores import JudgedRecord, compare_arms, judge, score, score_ranks
from ovrag_studies.cited.measuring.perturbations import misplace, perturb
from ovrag_studies.cited.measuring.recorded_answers import read_answers
from ovrag_studies.cited.printing import value_text
from ovrag_studies.cited.records import PolicyRecord
from ovrag_studies.cited.settings import Arm, Policy

COMPARED: tuple[Arm, ...] = ("b2", "b3", "ours", "no_silence")
TRAINING = Path("training/cited/questions")


def table(title: str, *columns: str) -> None:
    print(f"\n{title}\n")
    row(*columns)
    print("|" + "---|" * len(columns))


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def show(measure: str, estimate: Estimate) -> None:
    row(measure, value_text(estimate), estimate.clusters)


def count(label: str, hits: int, of: int, plan: Resampling) -> None:
    row(label, f"{hits} of {of}", value_text(wilson(hits, of, plan.confidence)))


def auroc(scores: Sequence[float], positive: Sequence[bool], plan: Resampling) -> Estimate:
    """The chance that an answerable query scores higher; percentile interval, each kind resampled by itself."""
    truth, values = numpy.asarray(positive), numpy.asarray(scores)
    if truth.all() or not truth.any():
        return Estimate(None)

    def area(of: numpy.ndarray, other: numpy.ndarray) -> float:
        ranks = rankdata(numpy.concatenate([of, other]))
        return float((ranks[: len(of)].sum() - len(of) * (len(of) + 1) / 2) / (len(of) * len(other)))

    one, two = values[truth], values[~truth]
    drawn = numpy.random.default_rng(plan.seed)
    areas = [area(drawn.choice(one, len(one)), drawn.choice(two, len(two))) for _ in range(plan.samples)]
    tail = (1 - plan.confidence) / 2
    low, high = (float(bound) for bound in numpy.quantile(areas, [tail, 1 - tail]))
    return Estimate(area(one, two), low, high, len(values), "percentile")


def measure_retrieval(parts: ArmParts, labels: str, queries: Sequence[GoldenQuery], plan: Resampling) -> None:
    table("Retrieval", "labels and way", "queries with gold", "recall@5", "MRR@5")
    for way in (*get_args(Way), None):
        found = [
            retrieve_by(way, each.question, parts.index) if way else search(parts, each.question) for each in queries
        ]
        paragraphs = [[each.paragraph for each in evidence] for evidence in found]
        ranks = score_ranks(zip(queries, paragraphs, strict=True), plan)
        shown = value_text(ranks["recall@5"]), value_text(ranks["MRR@5"])
        row(f"{labels}: {way or 'fused, reader'}", ranks["recall@5"].clusters, *shown)


def measure_silence(
    parts: ArmParts, labels: str, queries: Sequence[GoldenQuery], judged: Sequence[JudgedRecord], plan: Resampling
) -> None:
    """What does not depend on the threshold is measured on the arm that is never silent."""
    open_ended = [each for each in judged if each.record.arm == "no_silence"]
    scores = {each.query.query_id: each.record.confidence for each in judged if each.record.arm == "ours"}
    alone = {each.query_id: max(parts.index.scores(each.question, "sentences"), default=0.0) for each in queries}
    table("Score of silence", "AUROC", "value", "queries")
    for name, given in (("score", scores), ("best sentence alone", alone)):
        area = auroc([given[each.query_id] for each in queries], [each.answerable for each in queries], plan)
        show(f"{labels}: answerable against not, {name}", area)
    right = auroc([scores[each.query.query_id] for each in open_ended], [not each.wrong for each in open_ended], plan)
    show(f"{labels}: right against wrong, score", right)


def measure_arms(parts: ArmParts, labels: str, judged: Sequence[JudgedRecord], plan: Resampling) -> None:
    figures = score(judged, parts.index.corpus, plan, parts.verifier)
    table("Arms", "labels and measure", *figures)
    for measure in next(iter(figures.values())):
        row(f"{labels}: {measure}", *(value_text(measures[measure]) for measures in figures.values()))
    title = "Ours against another arm, McNemar's exact test"
    table(title, "labels and arm", "right by ours alone", "right by the other alone", "p")
    for each in compare_arms(judged).itertuples():
        row(f"{labels}: {each.other}", each.only_arm_right, each.only_other_right, f"{each.p:.3f}")


def measure_certificates(parts: ArmParts, golden: Mapping[str, Sequence[GoldenQuery]], plan: Resampling) -> None:
    """The threshold of silence on all queries and on those that nothing was chosen by."""
    levels = parts.options.silence
    title = f"Certificates at alpha = {levels.alpha:g}, delta = {levels.delta:g}"
    table(title, "labels: calibrated on", "answered", "wrong", "wrong of answered", "p", "certified")
    known = trained_questions()
    for labels, queries in golden.items():
        unseen = [each for each in queries if each.split != "dev"]
        parts_of_it = {
            "all queries": queries,
            "all but the development split": unseen,
            "nor those of the training data": [each for each in unseen if plain(each.question) not in known],
        }
        for name, chosen in parts_of_it.items():
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


def measure_conflicts(parts: ArmParts, labels: str, queries: Sequence[GoldenQuery], plan: Resampling) -> None:
    corpus = parts.index.corpus
    found = conflict_metrics.flagged(parts.conflicts, corpus)
    published = conflict_metrics.flagged_as_published(corpus)
    every = len(corpus.paragraphs) * (len(corpus.paragraphs) - 1) // 2
    place = {name: number for number, each in enumerate(corpus.paragraphs) for name in each.ids}
    probes = {frozenset(place[name] for name in each.gold) for each in queries if each.category == "contradiction"}
    sets = sorted(sorted(each) for each in probes if len(each) > 1)
    table("Conflicts", "labels and what is flagged", "count", "share")
    for name, flagged in (("ours", found), ("published rule", published)):
        count(f"{labels}: pairs of paragraphs of the corpus, {name}", len(flagged.pairs), every, plan)
        hits = [any(pair in flagged.pairs for pair in combinations(each, 2)) for each in sets]
        count(f"{labels}: gold sets of contradiction queries with a pair, {name}", sum(hits), len(hits), plan)


def measure_pairs(parts: ArmParts, path: Path, plan: Resampling) -> None:
    corpus = parts.index.corpus
    known = conflict_metrics.read_pairs(path)
    found = conflict_metrics.flagged(parts.conflicts, corpus)
    published = conflict_metrics.flagged_as_published(corpus)
    table("Pairs of rules", "what", "share", "n")
    for name, flagged in (("ours", found), ("published rule", published)):
        report = conflict_metrics.assess(flagged, known, corpus, plan)
        show(f"conflict pairs found, {name}", report.found)
        show(f"lookalikes flagged, {name}", report.lookalikes)
        show(f"other paragraph pairs flagged, {name}", report.others)
        show(f"superseded and unresolved told apart, of those found, {name}", report.told_apart)


def measure_critic(path: Path, parts: ArmParts, plan: Resampling) -> None:
    snippets = critic_metrics.read_snippets(path)
    critics = {"rules": by_rules, "rules and weights": lambda text: criticise(text, parts.index.embedder)}
    table("Critic", "critic", "snippets", "macro F1", "all labels right", "neutral flagged", "F1 by label, L1 to L6")
    for name, critic in critics.items():
        made = critic_metrics.assess_critic(snippets, [critic(each.text) for each in snippets], plan)
        by_label = " ".join("–" if each.value is None else f"{each.value:.2f}" for each in made.f1)
        shares = value_text(made.exact), value_text(made.neutral_flagged)
        row(name, len(snippets), f"{made.macro_f1.value:.3f}", *shares, by_label)


def measure_verification(parts: ArmParts, runs: Path | None, plan: Resampling) -> None:
    texts = [each.text for each in parts.index.corpus.paragraphs]
    wrong = list(perturb(texts))
    folders = sorted(runs.glob("b3_generative*")) if runs else []
    claims = [said for folder in folders for each in read_answers(folder) for said in each.cited_sentences()]
    accepted = [each for each in claims if parts.verifier.supports(*each).ok]
    table("Verification", "sentences", "count", "share")
    if claims:
        count("claims of the recorded B3 run: accepted", len(accepted), len(claims), plan)
        wrong += misplace(accepted, texts)
        wrong += [
            each._replace(evidence=cited)
            for sentence, cited in accepted
            for each in perturb([sentence])
            if each.kind == "number"
        ]
    for kind, name in (
        ("must", "must and must not swapped"),
        ("number", "a number changed"),
        ("paragraph", "another paragraph"),
    ):
        of_kind = [each for each in wrong if each.kind == kind]
        if of_kind:
            rejected = sum(not parts.verifier.supports(each.sentence, each.evidence).ok for each in of_kind)
            count(f"{name}: rejected", rejected, len(of_kind), plan)


def measure_refusals(runs: Path) -> None:
    """Answerable queries that the recorded run answered, and those that it would have with its citations read right."""
    table("Recorded runs", "run", "answerable", "answered", "with citations read right")
    for folder in sorted(runs.glob("b3_generative*")):
        answers = [each for each in read_answers(folder) if each.category == "answerable"]
        was = sum(not each.is_abstained for each in answers)
        row(folder.name, len(answers), was, sum(each.is_answered_when_read_right() for each in answers))


def named(given: str) -> tuple[str, Path]:
    name, equals, path = given.partition("=")
    return (name, Path(path)) if equals else (Path(given).stem, Path(given))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, action="append")
    parser.add_argument("--golden", type=named, action="append")
    parser.add_argument("--conflicts", type=Path)
    parser.add_argument("--critic", type=Path)
    parser.add_argument("--calibrate-corpus", type=Path, action="append")
    parser.add_argument("--calibrate-golden", type=Path)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--samples", type=int, default=2000)
    given = parser.parse_args()
    dev = external_data("policy", "dev")
    given.calibrate_corpus = given.calibrate_corpus or [dev / "corpus"]
    given.calibrate_golden = given.calibrate_golden or dev / "golden_set/golden_set_audited.csv"
    if not (given.corpus or given.golden or given.conflicts or given.critic):
        sets = ("audited", "golden_set_audited.csv"), ("published", "golden_set.csv")
        given.golden = [(name, dev / "golden_set" / file) for name, file in sets]
        given.critic, given.runs = dev / "critic", dev / "runs"
    given.corpus = given.corpus or [dev / "corpus"]
    return given


def calibrated(parts: ArmParts, paths: Sequence[Path], golden: Path) -> Calibration:
    """Where silence begins, by the parts themselves where the corpus is theirs."""
    corpus = read_corpus(*paths)
    own = parts if corpus_digest(corpus) == parts.digest else ArmParts(Policy(), CorpusIndex(corpus))
    return calibrate_on(own, read_golden(golden, corpus), golden.name)


def main() -> None:
    given = arguments()
    plan = Resampling(given.samples)
    corpus = read_corpus(*given.corpus)
    parts = ArmParts(Policy(), CorpusIndex(corpus))
    calibration = calibrated(parts, given.calibrate_corpus, given.calibrate_golden)
    asking = replace(parts, calibration=calibration)
    print(f"Silence: {calibration.certificate.text}")
    golden = {name: read_golden(path, corpus) for name, path in given.golden or []}
    runs: dict[tuple[tuple[str, str], ...], list[PolicyRecord]] = {}  # the same questions are asked once
    for name, queries in golden.items():
        key = tuple((each.query_id, each.question) for each in queries)
        if key not in runs:
            runs[key] = [record for record, _ in run_arms(asking, queries, COMPARED)]
        judged = judge(runs[key], queries, corpus)
        print(f"\n{name}: {dict(Counter(each.category for each in queries))}")
        measure_retrieval(parts, name, queries, plan)
        measure_silence(parts, name, queries, judged, plan)
        measure_arms(parts, name, judged, plan)
        measure_conflicts(parts, name, queries, plan)
    measure_certificates(parts, golden, plan)
    if given.conflicts:
        measure_pairs(parts, given.conflicts, plan)
    if given.critic:
        measure_critic(given.critic, parts, plan)
    measure_verification(parts, given.runs, plan)
    if given.runs:
        measure_refusals(given.runs)


if __name__ == "__main__":
    main()
