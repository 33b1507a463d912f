"""Files of weights in the format of safetensors: arrays by name, and notes that go with them."""

from pathlib import Path

import numpy
from safetensors import safe_open


def read_tensors(path: Path) -> tuple[dict[str, numpy.ndarray], dict[str, str]]:
    """All arrays of a file by name, and its notes. Raises OSError or SafetensorError where it cannot be read."""
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.offset_keys()}, dict(file.metadata() or {})
