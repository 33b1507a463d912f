"""The corpus on disk, generated or the user's own, and the manifest that says which files it consists of.

Later stages depend on the manifest, so that they notice a contract that was added, changed or taken away, wherever the
folder of contracts is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ovrag_core.base import CorpusError, DocumentError, Settings, project_file
from ovrag_core.documents import find, load_readable
from ovrag_core.loans.contracts.contract_truth import ContractTruth, load_truth, save_truth

CONTRACTS = Path("data/contracts")
TRUTH = Path("data/ground_truth.json")
MANIFEST = Path("data/contracts.json")
_MOST_NAMED = 5


def first_of(names: Sequence[str]) -> str:
    """The first five names, with the number of the others: `a, b, c, d, e and 3 more`."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


class CorpusStock(NamedTuple):
    """A corpus that was taken stock of: its documents, ground truth by document id, and files left out, with why."""

    paths: list[Path]
    truths: dict[str, ContractTruth]
    left_out: dict[Path, str]

    def text(self) -> str:
        """Describe the contents of the corpus, with lines for files that were left out and labels of no document."""
        counts = f"{len(self.paths)} documents, ground truth for {len(self.truths)}"
        counts += f"; {len(self.left_out)} cannot be read and are left out:" if self.left_out else ""
        stray = sorted(set(self.truths) - {path.stem for path in (*self.paths, *self.left_out)})
        remedy = "a label has its file's name, without suffix; mend it, or remove the label"
        named = f"there is no document for the ground truth of {first_of(stray)}; {remedy}"
        return "\n".join([counts, *self.left_out.values(), *([named] if stray else [])])


def find_own(settings: Settings) -> CorpusStock:
    """Find the user's own documents and their ground truth; no document is read, and nothing is written.

    Raises CorpusError, with the setting, for a folder without documents and for ground truth that cannot be read or
    names none of them.
    """
    corpus = settings.corpus
    try:
        paths = find(Path(corpus.source))
    except DocumentError as error:
        raise CorpusError(f"corpus.source: {error}") from None
    try:
        truths = load_truth(project_file(corpus.ground_truth))
    except CorpusError as error:
        raise CorpusError(f"corpus.ground_truth: {error}") from None
    if truths and not {path.stem for path in paths} & set(truths):
        named = f"{corpus.ground_truth} names none of the documents in {corpus.source}"
        raise CorpusError(f"{named}; use the files' names, without suffix")
    return CorpusStock(paths, truths, {})


def prepare(settings: Settings) -> CorpusStock:
    """Generate the contracts, or take stock of the user's own, of which those that cannot be read are left out.

    Writes `data/ground_truth.json` (an empty object where own contracts have none) and the manifest. Raises CorpusError
    as `find_own`, and for a folder without a readable document, before anything is written.
    """
    corpus = settings.corpus
    if corpus.is_generated:
        from ovrag_core.loans.contracts.generator import generate  # noqa: PLC0415 - only who generates sets pages

        truths = generate(CONTRACTS, TRUTH, count=corpus.contracts, seed=corpus.seed, wording=corpus.wording)
        stock = CorpusStock(find(CONTRACTS), truths, {})
    else:
        found, truths, _ = find_own(settings)
        _, left_out = load_readable(found)
        stock = CorpusStock([path for path in found if path not in left_out], truths, left_out)
        if not stock.paths:
            raise CorpusError("; ".join(left_out.values()))
        CONTRACTS.mkdir(parents=True, exist_ok=True)
        save_truth(TRUTH, truths)
    sums = {
        path.relative_to(folder(settings)).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in stock.paths
    }
    MANIFEST.write_text(json.dumps(sums, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return stock


def folder(settings: Settings) -> Path:
    """Folder of the contracts: the generated ones, or the user's own."""
    return CONTRACTS if settings.corpus.is_generated else Path(settings.corpus.source)


def kinds_of_loan() -> dict[str, tuple[str, ...]]:
    """Return the classes of loan of each contract by the ground truth; none where there is no such file."""
    return {name: truth.loan_types for name, truth in load_truth(TRUTH).items()} if TRUTH.exists() else {}
