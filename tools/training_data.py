"""What weights were learned from, told in their file, and whether that is still what there is."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import numpy
from safetensors import safe_open
from scipy.sparse import csr_matrix

from ovrag_core.text import BUCKETS, hashed_words

NOTE = "learned_with"  # one entry of the file's notes: several would be written in an order that changes


class LearnedFrom(TypedDict):
    """Patterns of the files that weights learned from, below the project's folder, and the SHA-256 of them all."""

    files: list[str]
    sha256: str


def learned_from(patterns: Sequence[str], project: Path = Path()) -> LearnedFrom:
    """What is there now to learn from. Raises FileNotFoundError for a pattern that no file has."""
    digest = hashlib.sha256()
    for pattern in patterns:
        if not (found := sorted(project.glob(pattern))):
            raise FileNotFoundError(f"no file is called {pattern}; the training data are incomplete")
        for path in found:
            data = path.read_bytes()
            digest.update(f"{path.relative_to(project).as_posix()}\0{len(data)}\0".encode())
            digest.update(data)
    return {"files": list(patterns), "sha256": digest.hexdigest()}


def notes(patterns: Sequence[str], **others: object) -> dict[str, str]:
    """Notes for a file of weights in the format of safetensors, learned from the files of these patterns."""
    return {NOTE: json.dumps({**others, "learned_from": learned_from(patterns)})}


def told(weights: Path) -> LearnedFrom | None:
    """What a file of weights says that it learned from; None where it says nothing."""
    if weights.suffix == ".json":
        said: dict[str, LearnedFrom] = json.loads(weights.read_text(encoding="utf-8"))
    else:
        with safe_open(weights, framework="numpy") as file:
            said = json.loads((file.metadata() or {}).get(NOTE, "{}"))
    return said.get("learned_from")


def hashed_rows(texts: Sequence[str], *, counted: bool = True) -> csr_matrix:
    """The hashed words of each text, a row each (texts × BUCKETS)."""
    rows = [hashed_words(text, counted=counted) for text in texts]
    columns, values = (numpy.concatenate(part) for part in zip(*rows, strict=True))
    ends = numpy.cumsum([0, *(len(buckets) for buckets, _ in rows)])
    return csr_matrix((values, columns, ends), shape=(len(texts), BUCKETS))
