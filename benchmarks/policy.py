"""The figures of the study "cited or silent" on any material, each with n and a 95% interval.

    python benchmarks/policy.py [--corpus PATH ...] [--golden [NAME=]FILE ...] [--conflicts FILE] [--critic PATH]
                                [--calibrate-corpus PATH ...] [--calibrate-golden FILE] [--runs FOLDER] [--samples N]
                                [--cases]

`--corpus` is a folder of documents, or one with `processed/paragraphs.jsonl`; several are searched together. `--golden`
is a golden set in the published columns, if possible with `expected` and `gold_quote`. `--conflicts` has pairs of
paragraphs, one JSON object a line: two ids, a label (conflict or lookalike; superseded or unresolved), quotations.
`--critic` is a file of snippets, or a folder of such files. Without any of them all is measured on the development
material of Policy Copilot below `OVRAG_EXTERNAL_DATA`.

Silence is calibrated on `--calibrate-golden` over `--calibrate-corpus`, by default the audited labels of the
development material. Queries that it is calibrated on are scored by models that have not seen them; all others by the
model of all. `--cases` lists what went wrong. Seconds are of this machine as it is.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy
from scipy.stats import rankdata

from ovrag_core.errors import ResultError
from ovrag_core.evaluation.statistics import Estimate, Resampling, wilson
from ovrag_core.external import external_data
from ovrag_core.studies.policy import conflict_metrics, critic_metrics, recorded
from ovrag_core.studies.policy.arms import Parts, ask
from ovrag_core.studies.policy.calibration import Calibration
from ovrag_core.studies.policy.citations import read_citations
from ovrag_core.studies.policy.conflict_metrics import Pair
from ovrag_core.studies.policy.corpus import Corpus, read_corpus
from ovrag_core.studies.policy.critic import criticise
from ovrag_core.studies.policy.critic_metrics import Snippet
from ovrag_core.studies.policy.experiments import calibrate_on, run_arms
from ovrag_core.studies.policy.golden import Query, read_golden, require_gold
from ovrag_core.studies.policy.perturbations import misplace, perturb
from ovrag_core.studies.policy.printing import estimate_text, figures_text
from ovrag_core.studies.policy.retrieval import CorpusIndex, Way
from ovrag_core.studies.policy.retrieval_metrics import rank_queries, summarise_ranks
from ovrag_core.studies.policy.scores import Judged, compare_arms, holds_quote, judge, score
from ovrag_core.studies.policy.settings import ARMS, Policy


def show(measure: str, estimate: Estimate | str) -> None:
    print(f"  {measure:<58} {estimate if isinstance(estimate, str) else estimate_text(estimate)}", flush=True)


def share(values: Iterable[bool], plan: Resampling) -> Estimate:
    listed = list(values)
    return wilson(sum(listed), len(listed), plan.confidence)


def counted(values: Iterable[bool], plan: Resampling) -> str:
    listed = list(values)
    return f"{sum(listed)}/{len(listed)}  {estimate_text(wilson(sum(listed), len(listed), plan.confidence))}"


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


def measure_retrieval(parts: Parts, queries: Sequence[Query], plan: Resampling, *, cases: bool) -> None:
    given = parts.options.retrieval
    ways = {way: given.model_copy(update={"by": way, "rerank": "none"}) for way in get_args(Way)}
    ways[f"{given.by}, {given.rerank}"] = given
    for way, settings in ways.items():
        search = replace(parts, options=parts.options.model_copy(update={"retrieval": settings})).retriever
        ranks = rank_queries(queries, lambda query, s=search: [each.paragraph for each in s(query).evidence])
        figures = summarise_ranks(ranks, plan)
        show(f"recall@5, {way}", figures["recall_at_5"])
        show(f"MRR@5, {way}", figures["mrr_at_5"])
    if cases:
        print(
            "    not all found:", ", ".join(f"{each.query_id} ({each.recall:.2f})" for each in ranks if each.recall < 1)
        )


def measure_silence(
    parts: Parts, queries: Sequence[Query], judged: Sequence[Judged], plan: Resampling, *, cases: bool
) -> None:
    """What does not depend on the threshold is measured on the arm that is never silent."""
    open_ended = [each for each in judged if each.record.arm == "no_silence"]
    scored = {query.query_id: ask(parts, "ours", query.question).confidence for query in queries}
    scores = [scored[each.query_id] for each in queries]
    show("AUROC answerable : unanswerable, score", auroc(scores, [each.answerable for each in queries], plan))
    plain = [max(parts.index.scores(each.question, "sentences"), default=0.0) for each in queries]
    show("AUROC answerable : unanswerable, best sentence alone", auroc(plain, [q.answerable for q in queries], plan))
    right = [not each.wrong for each in open_ended]
    show("AUROC right : wrong, score", auroc([scored[each.query.query_id] for each in open_ended], right, plan))
    ours = [each for each in judged if each.record.arm == "ours"]
    answered = [each for each in ours if each.answered]
    show("answered at the certified threshold", counted((each.answered for each in ours), plan))
    show("wrong of answered", counted((each.wrong for each in answered), plan))
    for name in ("answerable", "contradiction"):
        quoted = [each for each in judged if each.query.quote and each.query.category == name]
        for arm in ("no_silence", "ours"):
            held = (holds_quote(each) for each in quoted if each.record.arm == arm)
            show(f"a sentence holds the gold quotation, {name}, {arm}", counted(held, plan))
    if cases:
        print("    wrong:", ", ".join(each.query.query_id for each in answered if each.wrong))
        without = [each.query.query_id for each in open_ended if each.query.quote and not holds_quote(each)]
        print("    without the gold quotation:", ", ".join(without))


def measure_conflicts(
    parts: Parts, queries: Sequence[Query], path: Path | None, plan: Resampling, *, cases: bool
) -> None:
    corpus = parts.index.corpus
    found = conflict_metrics.flagged(parts.conflicts, corpus)
    published = conflict_metrics.flagged_as_published(corpus)
    every = len(corpus.paragraphs) * (len(corpus.paragraphs) - 1) // 2
    show("paragraph pairs flagged, all of the corpus", counted_of(len(found.pairs), every, plan))
    show("paragraph pairs flagged, published rules", counted_of(len(published.pairs), every, plan))
    row = {name: place for place, each in enumerate(corpus.paragraphs) for name in each.ids}
    probes = {frozenset(row[name] for name in each.gold) for each in queries if each.category == "contradiction"}
    sets = sorted(sorted(each) for each in probes if len(each) > 1)
    for name, flagged in (("ours", found), ("published rules", published)):
        hits = [any(pair in flagged.pairs for pair in combinations(each, 2)) for each in sets]
        show(f"gold sets of contradiction queries with a pair found, {name}", counted(hits, plan))
        if cases:
            missed = [each for each, hit in zip(sets, hits, strict=True) if not hit]
            print("    missed:", [tuple(corpus.paragraphs[place].id for place in each) for each in missed])
    if path is None:
        return
    known = read_pairs(path, corpus)
    for name, flagged in (("ours", found), ("published rules", published)):
        report = conflict_metrics.assess(flagged, known, corpus, plan)
        show(f"conflict pairs found, {name}", report.found)
        show(f"lookalikes flagged, {name}", report.lookalikes)
        show(f"other paragraph pairs flagged, {name}", report.others)
        if flagged.conflicts:
            show("superseded : unresolved told apart, of those found", report.told_apart)
        if cases:
            print("    missed:", ", ".join(report.missed), " mistaken:", ", ".join(report.mistaken))


def counted_of(count: int, of: int, plan: Resampling) -> str:
    return f"{count}/{of}  {estimate_text(wilson(count, of, plan.confidence))}"


def read_pairs(path: Path, corpus: Corpus) -> list[Pair]:
    """Pairs in our form, or in any whose objects hold two ids of paragraphs, a label and quotations of the two."""
    try:
        return conflict_metrics.read_pairs(path)
    except ResultError:
        lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
        return [_pair(number, json.loads(line), corpus) for number, line in enumerate(lines, 1)]


def _pair(number: int, given: object, corpus: Corpus) -> Pair:
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


def measure_critic(path: Path, parts: Parts, plan: Resampling, *, cases: bool) -> None:
    snippets = read_snippets(path)
    report = critic_metrics.assess(snippets, lambda text: criticise(text, parts.index.embedder), plan)
    show("critic, macro F1", f"{report.macro_f1:.3f} (n = {report.snippets})" if report.macro_f1 is not None else "–")
    for label, made in report.labels.items():
        f1 = "–" if made.f1 is None else f"{made.f1:.3f}"
        show(f"critic, {label}", f"F1 {f1} (right {made.right}, found {made.found}, given {made.given})")
    show("critic, labels all right", report.exact)
    show("critic, neutral snippets flagged", report.neutral_flagged)
    if report.span_f1 is not None:
        show("critic, F1 of spans in characters", f"{report.span_f1:.3f}")
    if cases:
        for each in snippets:
            said = {finding.label for finding in criticise(each.text, parts.index.embedder)}
            if said != set(each.labels):
                print(f"    {each.snippet_id}: given {sorted(each.labels)}, found {sorted(said)}")


def measure_verification(parts: Parts, runs: Path | None, plan: Resampling) -> None:
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
    if claims:
        show("claims of the recorded B3 run accepted", counted_of(len(accepted), len(claims), plan))
        wrong += misplace(accepted, texts)
        wrong += [
            replace(each, evidence=cited)
            for sentence, cited in accepted
            for each in perturb([sentence])
            if each.kind == "number"
        ]
    for kind, name in (
        ("must", "must / must not swapped"),
        ("number", "number changed"),
        ("paragraph", "other paragraph"),
    ):
        of_kind = [each for each in wrong if each.kind == kind]
        if of_kind:
            rejected = sum(not parts.verifier.supports(each.sentence, each.evidence).ok for each in of_kind)
            show(f"{name}: rejected", counted_of(rejected, len(of_kind), plan))


def measure_replay(runs: Path, corpus: Corpus) -> None:
    print("\nrecorded runs: published, computed anew, with citations read right")
    for folder in sorted(each for each in runs.iterdir() if each.is_dir()):
        was = recorded.read_run(folder)
        recorded.require_known(was, corpus)
        anew, mended = recorded.summarise(was), recorded.summarise(recorded.corrected(was))
        compared = [name for name in anew if name in was.published]
        equal = sum(was.published[name] == _rounded(anew[name]) for name in compared)
        rates = f"answer rate {anew['answer_rate']:.4f}, corrected {mended['answer_rate']:.4f}"
        show(was.name, f"{equal} of {len(compared)} figures to four decimals; {rates}")


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


def calibrate(paths: Sequence[Path], golden: Path) -> Calibration:
    parts = Parts(Policy(), CorpusIndex(read_corpus(*paths)))
    queries = read_golden(golden)
    require_gold(queries, parts.index.corpus, golden)
    return calibrate_on(parts, queries, golden.name)


def measure_golden(parts: Parts, name: str, path: Path, plan: Resampling, *, cases: bool) -> None:
    queries = read_golden(path)
    require_gold(queries, parts.index.corpus, path)
    counts = {
        each: sum(query.category == each for query in queries)
        for each in ("answerable", "contradiction", "unanswerable")
    }
    print(f"\n{name}: {len(queries)} queries, {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    measure_retrieval(parts, queries, plan, cases=cases)
    fresh = replace(parts, index=CorpusIndex(parts.index.corpus))
    begun, spent = time.perf_counter(), time.process_time()
    timed = list(run_arms(fresh, queries, ["ours"]))
    total, busy = time.perf_counter() - begun, time.process_time() - spent
    each = [seconds for _, seconds in timed]
    records = [record for record, _ in timed]
    records += [record for record, _ in run_arms(parts, queries, [arm for arm in ARMS if arm not in ("b1", "ours")])]
    judged = judge(records, queries, parts.index.corpus)
    measure_silence(parts, queries, judged, plan, cases=cases)
    print(figures_text(score(judged, parts.index.corpus, plan, parts.verifier), compare_arms(judged)))
    show("seconds, all queries through ours, index included", f"{total:.1f}, of the processor {busy:.1f}")
    late = float(numpy.quantile(each[1:] or each, 0.95))
    show("seconds of one query, P95 after the first", f"{late:.3f}")


def main() -> None:
    given = arguments()
    plan = Resampling(given.samples)
    calibration = calibrate(given.calibrate_corpus, given.calibrate_golden)
    print(f"silence, calibrated on {given.calibrate_golden}: {calibration.certificate.text}")
    corpus = read_corpus(*given.corpus)
    parts = Parts(Policy(), CorpusIndex(corpus), calibration)
    documents = [f"{len(corpus.documents)} documents", f"{len(corpus.paragraphs)} paragraphs"]
    print(f"corpus {', '.join(map(str, given.corpus))}: {', '.join(documents)}")
    for name, path in given.golden or []:
        measure_golden(parts, name, path, plan, cases=given.cases)
        print("\nconflicts")
        measure_conflicts(parts, read_golden(path), None, plan, cases=given.cases)
    if given.conflicts:
        print(f"\nconflicts of {given.conflicts}")
        measure_conflicts(parts, [], given.conflicts, plan, cases=given.cases)
    if given.critic:
        print(f"\ncritic on {given.critic}")
        measure_critic(given.critic, parts, plan, cases=given.cases)
    print("\nverification")
    measure_verification(parts, given.runs, plan)
    if given.runs:
        measure_replay(given.runs, corpus)


if __name__ == "__main__":
    main()
