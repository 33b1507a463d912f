"""Vectors kept on disk by what they are vectors of, so that a text is embedded once."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy

from ovrag_core.retrieval.embedding import Embedder, Vectors

VECTORS = Path("data/cache/vectors")


def kept_vectors(embedder: Embedder, texts: Sequence[str], folder: Path = VECTORS) -> Vectors:
    """One row per text (n × d, float32), from `folder` where the same texts were embedded before.

    What is kept is the list as a whole: ask for the passages of one document at a time. A file that is broken or of
    another shape is made anew. Writers do not disturb each other.
    """
    digest = hashlib.sha256(embedder.name.encode())
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    file = folder / f"{digest.hexdigest()[:32]}.npy"
    try:
        stored: Vectors = numpy.load(file, allow_pickle=False)
        if stored.ndim == 2 and len(stored) == len(texts) and stored.dtype == numpy.float32:
            return stored
    except (OSError, ValueError, EOFError):
        pass
    vectors = embedder.embed(texts)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}.tmp")
    with unfinished.open("wb") as out:
        numpy.save(out, vectors, allow_pickle=False)
    unfinished.replace(file)
    return vectors
