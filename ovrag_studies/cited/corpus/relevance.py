"""The reader that scores how surely a paragraph answers a question, by weights learned from invented policies.

`tools/train_policy_reader.py` makes the weights from `training/cited/questions` and `.../houses`.
"""

from functools import cache
from pathlib import Path

from ovrag_core.retrieval import RelevanceReader

WEIGHTS = Path(__file__).parents[1] / "weights" / "reader.safetensors"


@cache
def load_reader() -> RelevanceReader:
    """The reader, loaded once in a process. Raises SettingsError where the weights cannot be read."""
    return RelevanceReader(WEIGHTS)
