"""The figures of the study "cited or silent" on any material, as Markdown tables with n and 95% intervals.

    python benchmarks/policy.py [--corpus PATH ...] [--golden [NAME=]FILE ...] [--conflicts FILE] [--critic PATH]
                                [--calibrate-corpus PATH ...] [--calibrate-golden FILE] [--runs FOLDER] [--samples N]
                                [--cases] [--seconds]

`--corpus` is a folder of documents, or one with `processed/paragraphs.jsonl`; several are searched together. `--golden`
is a golden set in the published columns, if possible with `expected` and `gold_quote`. `--conflicts` has pairs of
paragraphs, one JSON object a line: two ids, a label (conflict or lookalike; superseded or unresolved), quotations.
`--critic` is a file of snippets, or a folder of such files. Without any of them all is measured on the development
material of Policy Copilot below `OVRAG_EXTERNAL_DATA`.

Silence is calibrated on `--calibrate-golden` over `--calibrate-corpus`, by default the audited labels of the
development material; the table of certificates has it on parts of those queries too. `--cases` lists what went wrong,
`--seconds` adds the time that each query takes.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy
from scipy.stats import rankdata

from ovrag_core.base.errors import ResultError
from ovrag_core.base.project import external_data
from ovrag_core.evaluation.statistics import Estimate, Resampling, wilson
from ovrag_studies.cited.answering import recorded
from ovrag_studies.cited.answering.calibration import Calibration
from ovrag_studies.cited.answering.citations import read_citations
from ovrag_studies.cited.answering.silence import COSINE, MEAN, TraitReader
from ovrag_studies.cited.arms import ArmParts
from ovrag_studies.cited.corpus.golden import GoldenQuery, read_golden, require_gold
from ovrag_studies.cited.corpus.policies import PolicyCorpus, corpus_digest, read_corpus
from ovrag_studies.cited.corpus.retrieval import CorpusIndex, Way
from ovrag_studies.cited.critic.criticism import by_rules, criticise
from ovrag_studies.cited.golden_runs import calibrate_on, run_arms
from ovrag_studies.cited.measuring import conflict_metrics, critic_metrics
from ovrag_studies.cited.measuring.conflict_metrics import Pair
from ovrag_studies.cited.measuring.critic_metrics import Snippet
from ovrag_studies.cited.measuring.golden_scores import JudgedRecord, compare_arms, holds_quote, judge, score
from ovrag_studies.cited.measuring.paragraph_ranks import rank_queries, summarise_ranks
from ovrag_studies.cited.measuring.perturbations import misplace, perturb
from ovrag_studies.cited.printing import estimate_text
from ovrag_studies.cited.records import PolicyRecord
from ovrag_studies.cited.settings import Arm, Policy

BEFORE = (6.0, 1.0)  # COSINE and MEAN until they were weighed without the development queries
COMPARED: tuple[Arm, ...] = ("b2", "b3", "ours", "no_silence")
TRAINING = Path("training/cited/questions")


def table(title: str, *columns: str) -> None:
    print(f"\n{title}\n")
    row(*columns)
    print("|" + "---|" * len(columns))


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def show(measure: str, estimate: Estimate) -> None:
    row(measure, value_of(estimate), estimate.clusters)


def value_of(estimate: Estimate) -> str:
    return estimate_text(estimate).partition(" (n")[0]


def count(label: str, hits: int, of: int, plan: Resampling) -> None:
    row(label, f"{hits} of {of}", value_of(wilson(hits, of, plan.confidence)))


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


def measure_retrieval(
    parts: ArmParts, labels: str, queries: Sequence[GoldenQuery], plan: Resampling, *, cases: bool
) -> None:
    given = parts.options.retrieval
    ways = {way: given.model_copy(update={"by": way, "rerank": "none"}) for way in get_args(Way)}
    ways[f"{given.by}, {given.rerank}"] = given
    table("Retrieval", "labels and way", "queries with gold", "recall@5", "MRR@5")
    for way, settings in ways.items():
        search = replace(parts, options=parts.options.model_copy(update={"retrieval": settings})).retriever
        ranks = rank_queries(queries, lambda query, s=search: [each.paragraph for each in s(query).evidence])
        figures = summarise_ranks(ranks, plan)
        row(f"{labels}: {way}", len(ranks), value_of(figures["recall_at_5"]), value_of(figures["mrr_at_5"]))
    if cases:
        missed = [f"{each.query_id} ({each.recall:.2f})" for each in ranks if each.recall < 1]
        print("\nnot all found:", ", ".join(missed))


def measure_silence(
    parts: ArmParts,
    labels: str,
    queries: Sequence[GoldenQuery],
    judged: Sequence[JudgedRecord],
    plan: Resampling,
    *,
    cases: bool,
) -> None:
    """What does not depend on the threshold is measured on the arm that is never silent."""
    open_ended = [each for each in judged if each.record.arm == "no_silence"]
    ours = [each for each in judged if each.record.arm == "ours"]
    scores = {each.query.query_id: each.record.confidence for each in ours}
    alone = {each.query_id: max(parts.index.scores(each.question, "sentences"), default=0.0) for each in queries}
    table("Score of silence", "AUROC", "value", "queries")
    for name, given in (("score", scores), ("best sentence alone", alone)):
        answerable = [each.answerable for each in queries]
        area = auroc([given[each.query_id] for each in queries], answerable, plan)
        show(f"{labels}: answerable against not, {name}", area)
    right = auroc([scores[each.query.query_id] for each in open_ended], [not each.wrong for each in open_ended], plan)
    show(f"{labels}: right against wrong, score", right)
    if cases:
        print("\nwrong:", ", ".join(each.query.query_id for each in ours if each.wrong))
        without = [each.query.query_id for each in open_ended if each.query.quote and not holds_quote(each)]
        print("\nwithout the gold quotation:", ", ".join(without))


def measure_arms(parts: ArmParts, labels: str, judged: Sequence[JudgedRecord], plan: Resampling) -> None:
    figures = score(judged, parts.index.corpus, plan, parts.verifier)
    arms = list(dict.fromkeys(each.arm for each in figures))
    table("Arms", "labels and measure", *arms)
    for measure in dict.fromkeys(each.measure for each in figures):
        row(f"{labels}: {measure}", *(value_of(each.estimate) for each in figures if each.measure == measure))
    title = "Ours against another arm, McNemar's exact test"
    table(title, "labels and arm", "right by ours alone", "right by the other alone", "p")
    for each in compare_arms(judged).itertuples():
        row(f"{labels}: {each.other}", each.only_arm_right, each.only_other_right, f"{each.p:.3f}")


def measure_certificates(parts: ArmParts, golden: Mapping[str, Sequence[GoldenQuery]], plan: Resampling) -> None:
    """The threshold of silence on all queries and on those that nothing was chosen by."""
    levels = parts.options.silence
    title = f"Certificates at alpha = {levels.alpha:g}, delta = {levels.delta:g}"
    table(title, "labels, COSINE, MEAN: calibrated on", "answered", "wrong", "wrong of answered", "p", "certified")
    known = trained_questions()
    for labels, queries in golden.items():
        unseen = [each for each in queries if each.split != "dev"]
        parts_of_it = {
            "all queries": queries,
            "all but the development split": unseen,
            "nor those of the training data": [each for each in unseen if plain(each.question) not in known],
        }
        for weights in dict.fromkeys([(COSINE, MEAN), BEFORE]):
            weighed = replace(parts)
            vars(weighed).update({name: getattr(parts, name) for name in ("conflicts", "verifier", "retriever")})
            vars(weighed)["reader"] = TraitReader(parts.index.embedder, None, *weights)
            for name, chosen in parts_of_it.items():
                made = calibrate_on(weighed, chosen, name).certificate
                share = value_of(wilson(made.errors, made.answered, plan.confidence))
                cells = f"{made.answered} of {made.n}", made.errors, share, f"{made.p:.3f}"
                row("{}, {:g}, {:g}: {}".format(labels, *weights, name), *cells, "yes" if made.certified else "no")


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


def measure_pairs(parts: ArmParts, path: Path, plan: Resampling, *, cases: bool) -> None:
    corpus = parts.index.corpus
    known = read_pairs(path, corpus)
    found = conflict_metrics.flagged(parts.conflicts, corpus)
    published = conflict_metrics.flagged_as_published(corpus)
    table("Pairs of rules", "what", "share", "n")
    for name, flagged in (("ours", found), ("published rule", published)):
        report = conflict_metrics.assess(flagged, known, corpus, plan)
        show(f"conflict pairs found, {name}", report.found)
        show(f"lookalikes flagged, {name}", report.lookalikes)
        show(f"other paragraph pairs flagged, {name}", report.others)
        show(f"superseded and unresolved told apart, of those found, {name}", report.told_apart)
        if cases:
            print("\nmissed:", ", ".join(report.missed), " mistaken:", ", ".join(report.mistaken), "\n")


def read_pairs(path: Path, corpus: PolicyCorpus) -> list[Pair]:
    """Pairs in our form, or in any whose objects hold two ids of paragraphs, a label and quotations of the two."""
    try:
        return conflict_metrics.read_pairs(path)
    except ResultError:
        lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
        return [_pair(number, json.loads(line), corpus) for number, line in enumerate(lines, 1)]


def _pair(number: int, given: object, corpus: PolicyCorpus) -> Pair:
    known, words = corpus.by_id(), list(_strings(given))
    named = [word for word in words if word in known]
    ids = list(dict.fromkeys(named)) if len(set(named)) > 1 else named  # the two may stand in one paragraph
    if len(ids) < 2:
        raise ResultError(f"pair {number} names {len(ids)} paragraphs of the corpus, not two")
    first, second = ids[:2]
    lowered = {word.lower() for word in words}
    status = next((each for each in ("superseded", "unresolved") if each in lowered), "")
    negative = any("lookalike" in word or word in ("none", "no", "compatible", "false") for word in lowered)
    quotes = []
    for each in (first, second):
        held = (word for word in words if len(word) > 15 and word in known[each].text and word not in quotes)
        quotes.append(next(held, known[each].text))
    return Pair(
        pair_id=str(number),
        label="lookalike" if negative and not status else "conflict",
        first=first,
        first_quote=quotes[0],
        second=second,
        second_quote=quotes[1],
        status=status,
    )


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from [f"{key} no"] if each is False and "conflict" not in str(key) else []
            yield from ["none"] if each is False and "conflict" in str(key) else []
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value


def read_snippets(path: Path) -> list[Snippet]:
    files = [path] if path.is_file() else sorted(path.rglob("*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]
    return [Snippet.model_validate(json.loads(line)) for line in lines]


def measure_critic(path: Path, parts: ArmParts, plan: Resampling, *, cases: bool) -> None:
    snippets = read_snippets(path)
    critics = {"rules": by_rules, "rules and weights": lambda text: criticise(text, parts.index.embedder)}
    reports = {name: critic_metrics.assess(snippets, critic, plan) for name, critic in critics.items()}
    table("Critic", "critic", "snippets", "macro F1", "all labels right", "neutral flagged", "F1 by label, L1 to L6")
    for name, made in reports.items():
        by_label = " ".join("–" if each.f1 is None else f"{each.f1:.2f}" for each in made.labels.values())
        shares = value_of(made.exact), value_of(made.neutral_flagged)
        row(name, made.snippets, "–" if made.macro_f1 is None else f"{made.macro_f1:.3f}", *shares, by_label)
    if cases:
        for each in snippets:
            said = {finding.label for finding in criticise(each.text, parts.index.embedder)}
            if said != set(each.labels):
                print(f"\n{each.snippet_id}: given {sorted(each.labels)}, found {sorted(said)}")


def measure_verification(parts: ArmParts, runs: Path | None, plan: Resampling) -> None:
    texts = [each.text for each in parts.index.corpus.paragraphs]
    wrong = list(perturb(texts))
    claims: list[tuple[str, tuple[str, ...]]] = []
    for folder in sorted(runs.glob("b3_generative*")) if runs else []:
        for each in recorded.read_run(folder).answers:
            if each.claims:
                claims += [
                    (cited.text, tuple(each.evidence.get(name, "") for name in cited.ids))
                    for cited in read_citations(recorded.reply_of(each), each.evidence)
                ]
    accepted = [each for each in claims if parts.verifier.supports(*each).ok]
    table("Verification", "sentences", "count", "share")
    if claims:
        count("claims of the recorded B3 run: accepted", len(accepted), len(claims), plan)
        wrong += misplace(accepted, texts)
        wrong += [
            replace(each, evidence=cited)
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


def measure_replay(runs: Path, corpus: PolicyCorpus) -> None:
    columns = "figures equal to four decimals", "answer rate", "with citations read right"
    table("Recorded runs, computed anew", "run", *columns)
    for folder in sorted(each for each in runs.iterdir() if each.is_dir()):
        was = recorded.read_run(folder)
        recorded.require_known(was, corpus)
        anew, mended = recorded.summarise(was), recorded.summarise(recorded.corrected(was))
        compared = [name for name in anew if name in was.published]
        equal = sum(was.published[name] == _rounded(anew[name]) for name in compared)
        rates = f"{anew['answer_rate']:.3f}", f"{mended['answer_rate']:.3f}"
        row(was.name, f"{equal} of {len(compared)}", *rates)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


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
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--seconds", action="store_true")
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
    queries = read_golden(golden)
    require_gold(queries, corpus, golden)
    return calibrate_on(own, queries, golden.name)


def measure_seconds(parts: ArmParts, queries: Sequence[GoldenQuery]) -> None:
    fresh = replace(parts, index=CorpusIndex(parts.index.corpus))
    begun, spent = time.perf_counter(), time.process_time()
    each = [seconds for _, seconds in run_arms(fresh, queries, ["ours"])]
    total, busy = time.perf_counter() - begun, time.process_time() - spent
    table("Seconds", "of", "seconds")
    row(f"{len(queries)} queries through ours, index and conflicts included", f"{total:.1f}")
    row("the same, of the processor", f"{busy:.1f}")
    row("one query, 95th percentile after the first", f"{numpy.quantile(each[1:] or each, 0.95):.3f}")


def main() -> None:
    given = arguments()
    plan = Resampling(given.samples)
    corpus = read_corpus(*given.corpus)
    parts = ArmParts(Policy(), CorpusIndex(corpus))
    calibration = calibrated(parts, given.calibrate_corpus, given.calibrate_golden)
    vars(asking := replace(parts, calibration=calibration))["conflicts"] = parts.conflicts
    print(f"Silence: {calibration.certificate.text}")
    golden = {name: read_golden(path) for name, path in given.golden or []}
    runs: dict[tuple[tuple[str, str], ...], list[PolicyRecord]] = {}  # the same questions are asked once
    for (name, queries), (_, path) in zip(golden.items(), given.golden or [], strict=True):
        require_gold(queries, corpus, path)
        key = tuple((each.query_id, each.question) for each in queries)
        if key not in runs:
            runs[key] = [record for record, _ in run_arms(asking, queries, COMPARED)]
        judged = judge(runs[key], queries, corpus)
        print(f"\n{name}: {dict(Counter(each.category for each in queries))}")
        measure_retrieval(parts, name, queries, plan, cases=given.cases)
        measure_silence(parts, name, queries, judged, plan, cases=given.cases)
        measure_arms(parts, name, judged, plan)
        measure_conflicts(parts, name, queries, plan)
        if given.seconds:
            measure_seconds(asking, queries)
    measure_certificates(parts, golden, plan)
    if given.conflicts:
        measure_pairs(parts, given.conflicts, plan, cases=given.cases)
    if given.critic:
        measure_critic(given.critic, parts, plan, cases=given.cases)
    measure_verification(parts, given.runs, plan)
    if given.runs:
        measure_replay(given.runs, corpus)


if __name__ == "__main__":
    main()
