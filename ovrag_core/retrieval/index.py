"""A vector index over chunks: two files and, for searches over several documents, Chroma; exact and deterministic.

`chunks.jsonl` and `embeddings.npy` are the index. Chroma's own folder beside them has random names inside, so it is
rebuilt from the two files whenever it is missing or does not belong to them; a search within one document does without.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy

from ovrag_core.base import Chunk, CorpusError, Retrieved, read_lines
from ovrag_core.retrieval.embedding import MINILM, Vectors

if TYPE_CHECKING:
    from chromadb import Where
    from chromadb.api.models.Collection import Collection as ChromaCollection

CHUNKS = "chunks.jsonl"
VECTORS = "embeddings.npy"
COLLECTION = "chunks"
DECIMALS = 2  # of a score that is told: with more, two processors tell some of a run's thousand scores differently
ORDERED = 6  # decimals by which chunks are ordered: beyond, batch sizes disagree, and equal texts must tie
_MARGIN = 8
_BATCH = 5_000  # Chroma refuses to add more at once


class Index:
    """Chunks and their vectors, searched by vector over all documents or within one.

    Raises CorpusError where the files of `folder` are missing, broken, or do not belong together.
    """

    def __init__(self, folder: Path, embedder_name: str = MINILM) -> None:
        self.embedder_name = embedder_name
        self._folder = folder
        self.chunks = tuple(read_chunks(folder / CHUNKS))
        self._vectors = _read_vectors(folder / VECTORS)
        if len(self.chunks) != len(self._vectors):
            raise CorpusError(
                f"{folder} holds {len(self.chunks)} chunks and {len(self._vectors)} vectors; index the documents again"
            )
        self._rows = {chunk.id: row for row, chunk in enumerate(self.chunks)}
        self._rows_of: dict[str, list[int]] = {}
        for row, chunk in enumerate(self.chunks):
            self._rows_of.setdefault(chunk.document_id, []).append(row)

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Ids of the indexed documents, in the order of their chunks."""
        return tuple(self._rows_of)

    def chunk(self, chunk_id: str) -> Chunk:
        """The chunk of that id. Raises KeyError for an unknown one."""
        return self.chunks[self._rows[chunk_id]]

    def search(self, vector: Vectors, top_k: int, documents: Collection[str] | None = None) -> list[Retrieved]:
        """The `top_k` chunks nearest to a vector of unit length, by cosine, ties by chunk id; told with two decimals.

        With `documents`, a collection of document ids, only their chunks are searched. The result is exact: the chunks
        of one document are all scored; of several, Chroma's candidates are, and more are asked for until no tie can
        reach beyond them. Raises CorpusError for a vector of another length.
        """
        flat = numpy.asarray(vector, dtype=numpy.float32).reshape(-1)
        if flat.shape[0] != self._vectors.shape[1]:
            raise CorpusError(
                f"the index was made with another embedder: its vectors have {self._vectors.shape[1]} numbers, those "
                f"of {self.embedder_name} {flat.shape[0]}; index the documents again"
            )
        within = self._rows_of if documents is None else self._rows_of.keys() & documents
        rows = [row for document_id in within for row in self._rows_of[document_id]]
        if len(within) > 1:
            rows = self._candidates(flat, top_k, None if len(rows) == len(self.chunks) else sorted(within), len(rows))
        nearest = self._scored(rows, flat)[:top_k]
        return [hit.model_copy(update={"score": round(hit.score, DECIMALS)}) for hit in nearest]

    def _candidates(self, vector: Vectors, top_k: int, documents: list[str] | None, available: int) -> list[int]:
        """Rows of Chroma's nearest chunks, of which the last one is farther than the `top_k`-th."""
        where = None if documents is None else cast("Where", {"document_id": {"$in": documents}})
        wanted = min(top_k + _MARGIN, available)
        while True:
            # Below the collection's size an HNSW search may miss neighbours, and with a filter come back short.
            nearest = self._collection.query([vector.tolist()], n_results=wanted, where=where, include=[])
            rows = [self._rows[chunk_id] for chunk_id in nearest["ids"][0]]
            scored = self._scored(rows, vector)
            if wanted == available or (len(scored) >= top_k and scored[-1].score < scored[top_k - 1].score):
                return rows
            wanted = min(wanted * 4, available)

    def _scored(self, rows: Sequence[int], vector: Vectors) -> list[Retrieved]:
        hits = []
        for row in rows:
            chunk = self.chunks[row]
            # Element-wise in double precision: a matrix product may differ in the last bit with the number of its rows.
            score = round(float(numpy.sum(self._vectors[row].astype(numpy.float64) * vector)), ORDERED)
            hits.append(
                Retrieved(
                    chunk_id=chunk.id, document_id=chunk.document_id, start=chunk.start, end=chunk.end, score=score
                )
            )
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    @cached_property
    def _collection(self) -> ChromaCollection:
        return _open_collection(self._folder, self.chunks, self._vectors)


def build(folder: Path, chunks: Sequence[Chunk], vectors: Vectors, embedder_name: str) -> Index:
    """Store and index chunks and vectors (n × d, unit length). Raises ValueError for none, unlike counts, equal ids."""
    if len(chunks) != len(vectors) or not len(chunks):
        raise ValueError(f"{len(chunks)} chunks cannot be indexed with {len(vectors)} vectors")
    if len({chunk.id for chunk in chunks}) < len(chunks):
        raise ValueError("two chunks have the same id; give each document an id of its own")
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(asdict(chunk), ensure_ascii=False) + "\n" for chunk in chunks)
    (folder / CHUNKS).write_text("".join(lines), encoding="utf-8", newline="\n")
    numpy.save(folder / VECTORS, numpy.ascontiguousarray(vectors, dtype=numpy.float32))
    return Index(folder, embedder_name)


def read_chunks(path: Path) -> Iterator[Chunk]:
    """Chunks of a JSON Lines file. Raises CorpusError, with the line, for one that is missing or broken."""
    for number, line in read_lines(path, CorpusError, "index the documents first"):
        try:
            yield Chunk(**json.loads(line))
        except (ValueError, TypeError):
            raise CorpusError(f"{path} is broken at line {number}; index the documents again") from None


def _read_vectors(path: Path) -> Vectors:
    try:
        vectors: Vectors = numpy.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist; index the documents first") from None
    except (OSError, ValueError, EOFError):
        raise CorpusError(f"{path} is broken; index the documents again") from None
    if vectors.ndim != 2 or vectors.dtype != numpy.dtype("<f4"):
        raise CorpusError(f"{path} does not hold one vector a row; index the documents again")
    return vectors


def _open_collection(folder: Path, chunks: Sequence[Chunk], vectors: Vectors) -> ChromaCollection:
    """Chroma's collection of the chunks, built where it is missing or stale; other processes wait for it."""
    import chromadb  # noqa: PLC0415 - takes seconds; only who searches shall wait for it
    from chromadb.api.shared_system_client import SharedSystemClient  # noqa: PLC0415
    from chromadb.config import Settings  # noqa: PLC0415
    from chromadb.errors import ChromaError  # noqa: PLC0415

    path = folder / "chroma"
    connect = partial(chromadb.PersistentClient, str(path), Settings(anonymized_telemetry=False))
    stamp = hashlib.sha256((folder / CHUNKS).read_bytes() + (folder / VECTORS).read_bytes()).hexdigest()
    with (folder / VECTORS).open("rb") as lock:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        # A folder of another version, or one that was cut off while it was written, is built anew.
        with suppress(ChromaError, ValueError, OSError, RuntimeError, LookupError):
            if (path / "chroma.sqlite3").is_file():
                collection = connect().get_collection(COLLECTION, embedding_function=None)
                if (collection.metadata or {}).get("stamp") == stamp and collection.count() == len(chunks):
                    return collection
        # Chroma keeps one system per path alive; over a folder that was replaced it would write into nothing.
        SharedSystemClient.clear_system_cache()
        shutil.rmtree(path, ignore_errors=True)
        collection = connect().create_collection(
            COLLECTION,
            metadata={"stamp": stamp},
            configuration={"hnsw": {"space": "cosine", "ef_search": len(chunks) + 1, "ef_construction": 200}},
            embedding_function=None,
        )
        for start in range(0, len(chunks), _BATCH):
            batch = chunks[start : start + _BATCH]
            collection.add(
                ids=[chunk.id for chunk in batch],
                embeddings=numpy.asarray(vectors[start : start + _BATCH]),
                metadatas=[{"document_id": chunk.document_id} for chunk in batch],
            )
        return collection
