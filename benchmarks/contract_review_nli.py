"""The offline judges of ContractNLI's hypotheses, each with its measures and 95% intervals over agreements.

    python benchmarks/contract_review_nli.py [--judge NAME ...] [--samples N] [--per-hypothesis] [--write FOLDER]
                                             [--chat ARM ...]

`learned` and `majority` are trained on the agreements of the other four of five folds; `lexical` learns nothing.
`learned, no cues` is the learned judge without the cue words: a lower bound, as who wrote them knew the agreements.
`--write` leaves each judge's results as JSON Lines.
`--chat` asks the chat model of the settings 400 drawn questions in an arm (`chat_rag`, `chat_five_shot`,
`chat_document`), or reads its recorded replies.

At the end the study's first experiment: 400 questions drawn 200 times, beside its published figures. They are called F1
and are multiples of 1/2,000, as accuracy averaged over five passes of 400 would be, so accuracy stands beside them; the
study's questions are of the whole corpus and may lack NotMentioned, so the two are not to be subtracted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from unittest.mock import patch

from ovrag_core.base.project import ROOT, external_data
from ovrag_core.base.settings import load_settings
from ovrag_core.evaluation.statistics import Estimate, Resampling, holm
from ovrag_core.llm import connect
from ovrag_studies.contract_review.inference import nli_reading
from ovrag_studies.contract_review.inference.nli import JudgedHypothesis, as_record, out_of_fold
from ovrag_studies.contract_review.inference.nli_chat import CHAT_ARMS, PUBLISHED, ChatArm, ask_all, draw, faults
from ovrag_studies.contract_review.measures.nli_metrics import (
    MEASURES,
    AskedHypothesis,
    asked_of,
    differences,
    estimates,
    measure,
)
from ovrag_studies.contract_review.texts.datasets import NliSet, load_contractnli

NO_CUES = "learned, no cues"
QUESTIONS, DRAWS = 400, 200
ARMS = ("majority", "lexical", NO_CUES, "learned")


def judged_by(name: str, data: NliSet) -> dict[int, list[JudgedHypothesis]]:
    if name != NO_CUES:
        return out_of_fold(data, name)
    with patch.object(nli_reading, "cue_hits", lambda hypothesis, text: (False, False, False)):
        return out_of_fold(data, "learned")


def shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def print_hypotheses(data: NliSet, asked: dict[int, list[AskedHypothesis]]) -> None:
    rows = defaultdict(list)
    for listed in asked.values():
        for row in listed:
            rows[row.hypothesis].append(row)
    print(f"\n{'hypothesis':<10} {'E':>4} {'C':>4} {'N':>4}  accuracy  F1(E)  F1(C)   mAP  recall@3")
    for name in data.hypotheses:
        counts = [sum(row.true == choice for row in rows[name]) for choice in ("Entailment", "Contradiction")]
        found = measure(rows[name])
        print(
            f"{name:<10} {counts[0]:>4} {counts[1]:>4} {len(rows[name]) - sum(counts):>4}  {found['accuracy']:>8.3f}"
            f"  {found['f1_E_pooled']:.3f}  {found['f1_C_pooled']:.3f}  {found['evidence_map']:.3f}"
            f"  {found['evidence_recall@3']:>8.3f}"
        )


def print_first_experiment(data: NliSet, asked: dict[str, dict[int, list[AskedHypothesis]]]) -> None:
    print(f"\nfirst experiment: {QUESTIONS} questions drawn {DRAWS} times, mean and central 95%")
    print(f"{'':<18} {'accuracy':<24} {'F1 pooled, E':<24} F1 by hypothesis, E")
    drawn = [
        {(each.number, one.hypothesis) for each in draw(data, QUESTIONS, seed).agreements for one in each.judgements}
        for seed in range(DRAWS)
    ]
    for name, by_document in asked.items():
        rows = [(number, row) for number, listed in by_document.items() for row in listed]
        found = [measure([row for number, row in rows if (number, row.hypothesis) in chosen]) for chosen in drawn]
        columns = []
        for measured in ("accuracy", "f1_E_pooled", "f1_E_by_hypothesis"):
            values = sorted(each[measured] for each in found)
            low, high = values[DRAWS // 40], values[-1 - DRAWS // 40]
            columns.append(f"{sum(values) / DRAWS:.3f} [{low:.3f}, {high:.3f}]")
        print(f"{name:<18} {columns[0]:<24} {columns[1]:<24} {columns[2]}")
    for model, (rag, few_shot) in PUBLISHED.items():
        print(f"{model:<18} published: RAG {rag:.4f}, few-shot {few_shot:.4f}")


def print_chat(data: NliSet, arm: ChatArm, plan: Resampling) -> None:
    options = load_settings().llm
    if options.provider == "offline":
        print(f"\n{arm}: no chat model; set llm.provider to openai or replay")
        return
    with connect(options, folder=ROOT) as connection:
        chosen = draw(data, QUESTIONS)
        results = ask_all(chosen, connection.chat, arm, seed=options.seed)
    print(f"\n{arm} {options.model}, {QUESTIONS} questions; faults: {faults(results) or 'none'}")
    asked = {each.number: asked_of(each, results[each.number]) for each in chosen.agreements}
    for measured, estimate in estimates(asked, plan).items():
        print(f"  {measured:<26} {shown(estimate)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--per-hypothesis", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--chat", nargs="+", choices=CHAT_ARMS, default=[])
    wanted = parser.parse_args()
    plan = Resampling(samples=wanted.samples)
    data = load_contractnli(external_data("contract_review", "contractnli"))
    pairs = sum(len(each.judgements) for each in data.agreements)
    print(f"{len(data.agreements)} agreements, {pairs} pairs, folds by agreement; 95% intervals over agreements")
    asked: dict[str, dict[int, list[AskedHypothesis]]] = {}
    for name in wanted.judge:
        began = time.perf_counter()
        results = judged_by(name, data)
        asked[name] = {each.number: asked_of(each, results[each.number]) for each in data.agreements}
        print(f"\n{name} ({time.perf_counter() - began:.0f} s)")
        for measured, estimate in estimates(asked[name], plan).items():
            print(f"  {measured:<26} {shown(estimate)}")
        if wanted.write:
            wanted.write.mkdir(parents=True, exist_ok=True)
            lines = (json.dumps(as_record(number, each)) for number, listed in results.items() for each in listed)
            (wanted.write / f"{name.replace(', ', '-').replace(' ', '-')}.jsonl").write_text("\n".join(lines) + "\n")
        if wanted.per_hypothesis:
            print_hypotheses(data, asked[name])
    for other in (name for name in asked if "learned" in asked and name != "learned"):
        print(f"\nlearned minus {other} (p by Holm over the measures)")
        compared = differences(asked["learned"], asked[other], plan)
        for measured, p in zip(MEASURES, holm([compared[each].p for each in MEASURES]), strict=True):
            each = compared[measured]
            interval = f"[{each.low:+.3f}, {each.high:+.3f}]" if each.low is not None else ""
            print(f"  {measured:<26} {each.value:+.3f} {interval} p {p:.3f}")
    print_first_experiment(data, asked)
    for arm in wanted.chat:
        print_chat(data, arm, plan)


if __name__ == "__main__":
    main()
