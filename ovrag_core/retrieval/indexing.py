"""From documents to a stored index: load, split, embed, keep."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ovrag_core.base import CorpusError, Document, Settings
from ovrag_core.documents import find, load, load_readable, refuse_doubled, split
from ovrag_core.retrieval.embedding import Embedder, minilm
from ovrag_core.retrieval.index import Index, build

INDEX = Path("data/index")
KEPT = 64  # documents in memory, the last ones that were needed


def index_documents(settings: Settings, documents: Path, folder: Path = INDEX) -> Index:
    """Index the documents below the folder `documents`, and store chunks and vectors in `folder`.

    Of a folder of one's own, documents that cannot be read are left out, and `corpus.prepare` names them. Raises
    CorpusError that names every such document of a generated corpus, which has none, or where no other is left.
    """
    read, faults = load_readable(find(documents))
    if faults and (settings.corpus.is_generated or not read):
        raise CorpusError("; ".join(faults.values()))
    return index_loaded(settings, read, folder, minilm())


def index_loaded(settings: Settings, documents: Sequence[Document], folder: Path, embedder: Embedder) -> Index:
    """Index documents that are already read, and store chunks and vectors in `folder`."""
    how = settings.chunking
    chunks = [chunk for document in documents for chunk in split(document, how.method, how.size, how.overlap)]
    if not chunks:
        raise CorpusError("there is no text to index; check the folder of documents")
    return build(folder, chunks, embedder.embed([chunk.text for chunk in chunks]), embedder.name)


def load_all(paths: Sequence[Path]) -> list[Document]:
    """Documents in the order of their paths. Raises CorpusError for unreadable ones and for two of the same id."""
    documents, faults = load_readable(paths)
    if faults:
        raise CorpusError("; ".join(faults.values()))
    return documents


class Documents(Mapping[str, Document]):
    """Documents by id, in the order of their paths, each read when it is needed.

    The last few stay in memory, so that a large corpus takes no more than a small one. Asking for one that cannot be
    read raises a DocumentError. Raises CorpusError for two of the same id.
    """

    def __init__(self, paths: Sequence[Path], kept: int = KEPT) -> None:
        refuse_doubled([path.stem for path in paths])
        self._paths = {path.stem: path for path in paths}
        self._load = lru_cache(kept)(load)

    def __getitem__(self, document_id: str) -> Document:
        return self._load(self._paths[document_id])

    def __contains__(self, document_id: object) -> bool:
        return document_id in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
