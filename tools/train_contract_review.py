"""Train the learned clause finder on CUAD: `python tools/train_contract_review.py [FOLDER]`.

Reads CUAD in any of its layouts (default: below `OVRAG_EXTERNAL_DATA`) and writes the weights with the titles and
digests of the contracts they were trained on. How well contracts that it has not seen are answered is measured out of
fold, by the notebook of the study. Some minutes on two cores; the same contracts give the same weights on the same
machine.
"""

import argparse
from pathlib import Path

from ovrag_core.base import external_data
from ovrag_studies.contract_review.answering.learned import WEIGHTS, Trainer, save_model
from ovrag_studies.contract_review.texts.datasets import categories, load_cuad

NOTICE = """# Weights of the clause finder

Learned from CUAD v1 (The Atticus Project; Hendrycks et al. 2021, arXiv 2103.06268), CC BY 4.0
(https://creativecommons.org/licenses/by/4.0/), by `tools/train_contract_review.py`. Words are hashed: the file holds
numbers, and neither texts nor lists of words. Prototypes are vectors of clauses written for this study.

Trained on these contracts, title and digest of the text. A figure measured on one of them means nothing, so measuring
refuses them.

"""


def main() -> None:
    """Train on all contracts, and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=external_data("contract_review", "cuad"))
    parser.add_argument("--to", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    contracts = load_cuad(options.folder)
    model = Trainer(contracts, categories(contracts)).fit()
    save_model(model, options.to)
    notice = NOTICE + "".join(f"- {title} ({own})\n" for title, own in model.trained_on)
    options.to.with_suffix(".md").write_text(notice, encoding="utf-8")
    print(f"{options.to}: {len(model.categories)} categories, trained on {len(model.trained_on)} contracts")


if __name__ == "__main__":
    main()
