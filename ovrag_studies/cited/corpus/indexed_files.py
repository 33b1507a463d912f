"""An index of a corpus: its paragraphs, and the hash of every file that they were read from.

A folder with `paragraphs.jsonl`, in the published form, and `index.json`. It is refused once a document has changed,
came or went, until the documents are indexed anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ovrag_core.base.errors import CorpusError, DocumentError
from ovrag_core.base.types import Frozen
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.corpus.sources import PARAGRAPHS, PolicyFile, find_sources, published_id

INDEX = "index.json"
REMEDY = "index the documents anew with `ovrag policy index`"


class IndexedFile(Frozen):
    """A file as it was when it was indexed; `path` is relative to the folder of the index."""

    path: str
    sha256: str
    scanned: tuple[int, ...] = ()


class PolicyIndex(Frozen):
    """What `index.json` holds. `roots` are the paths that were named; `paragraphs` is the hash of the other file."""

    format: Literal["ovrag-policy-index-1"] = "ovrag-policy-index-1"
    roots: tuple[str, ...]
    files: tuple[IndexedFile, ...]
    left_out: tuple[str, ...] = ()
    paragraphs: str


def write_index(
    folder: Path, roots: Sequence[Path], sources: Sequence[PolicyFile], left_out: Iterable[Path] = ()
) -> None:
    """Write the index of sources; `left_out` are files that could not be read. Raises CorpusError where it cannot."""
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for source in sources for line in _lines(source))
    data = lines.encode("utf-8", "surrogatepass")
    index = PolicyIndex(
        roots=tuple(_relative(path, folder) for path in roots),
        files=tuple(
            IndexedFile(path=_relative(each.path, folder), sha256=each.sha256, scanned=each.scanned) for each in sources
        ),
        left_out=tuple(_relative(path, folder) for path in left_out),
        paragraphs=hashlib.sha256(data).hexdigest(),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PARAGRAPHS).write_bytes(data)
        (folder / INDEX).write_text(index.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise CorpusError(f"{folder} cannot be written ({error.strerror}); name another folder") from None


def check_index(folder: Path) -> PolicyIndex:
    """The index in a folder. Raises CorpusError, with the list, where files are not those that were indexed."""
    try:
        index = PolicyIndex.model_validate_json((folder / INDEX).read_bytes())
        paragraphs = hashlib.sha256((folder / PARAGRAPHS).read_bytes()).hexdigest()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise CorpusError(f"{folder / INDEX}: {one_line(first['msg'])}; {REMEDY}") from None
    except OSError as error:
        raise CorpusError(f"{folder} cannot be read ({error.strerror}); {REMEDY}") from None
    changed = sorted(_changes(folder, index))
    if paragraphs != index.paragraphs:
        changed.append(f"{PARAGRAPHS} (not as it was written)")
    if changed:
        raise CorpusError(f"{folder}: not as it was indexed: {', '.join(changed)}; {REMEDY}")
    return index


def _changes(folder: Path, index: PolicyIndex) -> Iterator[str]:
    known = {os.path.normpath(folder / name) for name in (*(each.path for each in index.files), *index.left_out)}
    for each in index.files:
        try:
            digest = hashlib.sha256((folder / each.path).read_bytes()).hexdigest()
        except OSError:
            yield f"{each.path} (gone)"
            continue
        if digest != each.sha256:
            yield f"{each.path} (changed)"
    for root in index.roots:
        try:
            found = find_sources(folder / root)
        except DocumentError:
            continue  # what was in it is gone, and was said to be
        yield from (f"{_relative(path, folder)} (new)" for path in found if os.path.normpath(path) not in known)


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _lines(source: PolicyFile) -> Iterator[dict[str, str | int]]:
    for each in source.read:
        yield {
            "doc_id": each.doc_id,
            "source_file": each.file,
            "page": each.page,
            "paragraph_index": each.index,
            "paragraph_id": published_id(each),
            "text": each.text,
            "char_len": len(each.text),
        }
