"""Train the judge of hypotheses on all of ContractNLI that is at hand: `python tools/train_contract_nli.py [FILE]`.

Reads `contract_review/contractnli` below OVRAG_EXTERNAL_DATA and writes `weights/nli.safetensors`, with the training
agreements, the source and its licence beside it. Half a minute on one core; nothing is drawn by chance.
"""

import argparse
from pathlib import Path

from training_data import learned_from

from ovrag_core.base import ROOT, external_data
from ovrag_studies.contract_review.inference.nli import WEIGHTS, save, train
from ovrag_studies.contract_review.texts.datasets import load_contractnli

LEARNED_FROM = ["training/contract_review/ndas/*.yaml"]  # beside ContractNLI


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / WEIGHTS)
    file = parser.parse_args().file
    data = load_contractnli(external_data("contract_review", "contractnli"))
    learned = train(data.agreements, data.hypotheses)
    save(learned, list(data.hypotheses), data.agreements, file, learned_from(LEARNED_FROM))
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB from {len(data.agreements)} agreements")


if __name__ == "__main__":
    main()
