"""Vectors are kept by the texts they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ovrag_core.retrieval.embedding import Vectors, kept_vectors


class Counting:
    """Embeds a text as its length; remembers how often it was asked."""

    def __init__(self, name: str = "counting") -> None:
        self.name = name
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32).reshape(len(texts), 2)


def test_the_same_texts_are_embedded_once(tmp_path: Path) -> None:
    embedder = Counting()
    first = kept_vectors(embedder, ["a", "bcd"], tmp_path)
    assert np.array_equal(kept_vectors(embedder, ["a", "bcd"], tmp_path), first)
    assert embedder.calls == 1
    assert first.tolist() == [[1, 1], [3, 1]]


@pytest.mark.parametrize("others", [["ab", "cd"], ["bcd", "a"], ["a", "bcd", ""], ["a,3:bcd"]])
def test_other_texts_have_vectors_of_their_own(tmp_path: Path, others: list[str]) -> None:
    embedder = Counting()
    kept_vectors(embedder, ["a", "bcd"], tmp_path)
    assert kept_vectors(embedder, others, tmp_path)[:, 0].tolist() == [len(text) for text in others]
    assert embedder.calls == 2


def test_another_embedder_has_vectors_of_its_own(tmp_path: Path) -> None:
    kept_vectors(Counting(), ["a"], tmp_path)
    other = Counting("other")
    kept_vectors(other, ["a"], tmp_path)
    assert other.calls == 1


def test_a_broken_file_is_made_anew(tmp_path: Path) -> None:
    embedder = Counting()
    first = kept_vectors(embedder, ["a", "bcd"], tmp_path)
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-4])
    assert np.array_equal(kept_vectors(embedder, ["a", "bcd"], tmp_path), first)
    assert embedder.calls == 2
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
