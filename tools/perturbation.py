"""Noise on every vector, as large as another processor's last digits may be and larger: does a result hang on them?

`changed(size)` says what becomes of each module that makes vectors: the sentence embedder, the judges' encoder and
BERTScore's. `start_with(folder, size)` makes every Python that has `folder` on its PYTHONPATH make vectors so: stages,
kernels and workers alike, with not a line of the project changed.
"""

from __future__ import annotations

import importlib.machinery
import sys
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

SIZE = 1e-6
Change = Callable[[ModuleType], None]


def noise(key: bytes, shape: Sequence[int], size: float) -> Any:
    """Numbers between -size and size (float32); the same for the same key, so that a vector is still its text's own."""
    import numpy  # noqa: PLC0415 - this module is imported at the start of every Python

    return numpy.random.default_rng(zlib.crc32(key)).uniform(-size, size, shape).astype(numpy.float32)


def tensor(key: bytes, shape: Sequence[int], size: float) -> Any:
    """The same for states of tokens."""
    import torch  # noqa: PLC0415 - see noise

    return torch.from_numpy(noise(key, shape, size))


def embedder(size: float, module: ModuleType) -> None:
    """Change the vectors of texts."""
    plain = module.MiniLM.embed

    def embed(self: object, texts: Sequence[str]) -> Any:
        vectors = plain(self, texts)
        for row, text in enumerate(texts):
            vectors[row] += noise(text.encode("utf-8", "surrogatepass"), vectors[row].shape, size)
        return vectors

    module.MiniLM.embed = embed


def encoder(size: float, module: ModuleType) -> None:
    """Change the states of tokens that judges read."""
    plain = module.Encoder._states

    def states(self: object, passages: Sequence[Sequence[int]]) -> Any:
        made = zip(passages, plain(self, passages), strict=True)
        return [own + tensor(repr(list(ids)).encode(), own.shape, size) for ids, own in made]

    module.Encoder._states = states


def bertscore(size: float, module: ModuleType) -> None:
    """Change the vectors of tokens that BERTScore compares."""
    plain = module._encode

    def encode(pairs: Any, scorer: Any) -> Any:
        made = plain(pairs, scorer).items()
        return {text: (own + tensor(text.encode(), own.shape, size), weights) for text, (own, weights) in made}

    module._encode = encode


def changed(size: float = SIZE) -> dict[str, Change]:
    """What is done to each module that makes vectors."""
    return {
        "ovrag_core.retrieval.embedding": partial(embedder, size),
        "ovrag_core.retrieval.encoder": partial(encoder, size),
        "ovrag_core.evaluation.quality": partial(bertscore, size),
    }


class _Finder(MetaPathFinder):
    """Changes modules when they are imported."""

    def __init__(self, changes: dict[str, Change]) -> None:
        self._changes = changes

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module's own specification, with the change behind its code."""
        if name not in self._changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        plain = spec.loader.exec_module  # type: ignore[union-attr]

        def run(module: ModuleType) -> None:
            plain(module)
            self._changes[name](module)

        spec.loader.exec_module = run  # type: ignore[union-attr, method-assign]
        return spec


def install(size: float) -> None:
    """Change the modules as they are imported, in this process."""
    sys.meta_path.insert(0, _Finder(changed(size)))


def start_with(folder: Path, size: float) -> None:
    """Write what Python runs at its start where `folder` is on its PYTHONPATH."""
    folder.mkdir(parents=True, exist_ok=True)
    code = Path(__file__).read_text(encoding="utf-8")
    (folder / "sitecustomize.py").write_text(f"{code}\n\ninstall({size!r})\n", encoding="utf-8")
