"""An audit bundle: answers with their quotations, and all that is needed to check them without this package.

A folder of plain text. `records.jsonl` holds the answers, with document, paragraph, span, quote and hash for every
citation; `documents/` the texts that spans count in; `paragraphs.jsonl` where each paragraph stands; `cache.jsonl` what
a model was asked and said, under keys over text, prompt and model; `settings.json` the settings. `manifest.json` has
the hash of each file and of each of its lines, and the hashes of the files that the texts were read from; `seal.txt`
does the same for the manifest, and ends in a hash of itself. Whoever keeps that last hash elsewhere can tell the bundle
from any other.

`tools/verify_audit_bundle.py` recomputes all of it. The bytes depend on what is written alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from ovrag_core.base.errors import ResultError
from ovrag_studies.cited.answering.replies import KeptReply
from ovrag_studies.cited.corpus.policies import PolicyCorpus

FORMAT = "ovrag-policy-audit-1"
LINE_DIGITS = 16  # hexadecimal digits of a line's hash; the whole file has all 64


class Span(Protocol):
    """A citation: `[start, end)` in the text of a document is the quote."""

    @property
    def doc_id(self) -> str:
        """The document that is quoted."""

    @property
    def paragraph_id(self) -> str:
        """The paragraph in which the quote stands."""

    @property
    def start(self) -> int:
        """Where it begins in the text of the document."""

    @property
    def end(self) -> int:
        """Where it ends."""

    @property
    def quote(self) -> str:
        """The words themselves."""


class AuditSentence(Protocol):
    """A sentence of an answer."""

    @property
    def text(self) -> str:
        """The sentence."""

    @property
    def citations(self) -> Sequence[Span]:
        """What it rests on."""


@dataclass(frozen=True, slots=True)
class Audited:
    """One answer as it is filed. `removed` are texts of sentences that nothing supported.

    `requested` and `used` name the component by its part, such as `embedder`; `cache_keys` are of the model's replies
    that the answer rests on.
    """

    query_id: str
    question: str
    sentences: Sequence[AuditSentence]
    removed: Sequence[str]
    silent: bool
    reason: str
    requested: Mapping[str, str]
    used: Mapping[str, str]
    cache_keys: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Bundle:
    """Where a bundle is, and the hash that stands for all of it."""

    folder: Path
    seal: str
    files: tuple[str, ...] = field(default=())


def write_bundle(
    folder: Path,
    records: Iterable[Audited],
    corpus: PolicyCorpus,
    settings: Mapping[str, JsonValue],
    cache: Iterable[KeptReply] = (),
) -> Bundle:
    """Write a bundle to a folder that is empty or not there.

    Raises ResultError where the folder holds something, or an answer quotes what does not stand at its span.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ResultError(f"{folder} is not empty; name a folder for the audit bundle that is")
    kept = list(cache)
    keys = {each.key for each in kept}
    listed = [_record(each, corpus, keys) for each in records]
    files = {
        "settings.json": json.dumps(dict(settings), ensure_ascii=False, indent=1, sort_keys=True) + "\n",
        "records.jsonl": _lines(listed),
        "paragraphs.jsonl": _lines(_paragraphs(corpus)),
        "cache.jsonl": _lines({"key": key, **fields} for key, fields in sorted(_replies(kept).items())),
    }
    documents = []
    for number, document in enumerate(corpus.documents.values(), start=1):
        path = f"documents/{number:04}.txt"  # an id is anybody's text, and no name of a file
        files[path] = document.text
        documents.append({"doc_id": document.doc_id, "file": document.file, "sha256": document.sha256, "text": path})
    content = {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}
    manifest = {
        "format": FORMAT,
        "documents": documents,
        "files": {path: _hashes(data) for path, data in sorted(content.items())},
    }
    content["manifest.json"] = (json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
    content["seal.txt"] = seal_of(content["manifest.json"])
    for path, data in content.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return Bundle(folder, content["seal.txt"].split()[-1].decode(), tuple(sorted(content)))


def seal_of(manifest: bytes) -> bytes:
    """The seal of a manifest: its hash, the hash of each of its lines, and the hash of what stands above."""
    lines = ["manifest " + _digest(manifest), *(_digest(line)[:LINE_DIGITS] for line in manifest.splitlines(True))]
    body = "".join(f"{line}\n" for line in lines).encode()
    return body + f"seal {_digest(body)}\n".encode()


def _record(audited: Audited, corpus: PolicyCorpus, keys: set[str]) -> dict[str, JsonValue]:
    if unknown := sorted(set(audited.cache_keys) - keys):
        raise ResultError(f"{audited.query_id}: no reply is filed under the key {unknown[0]}; give it with the cache")
    return {
        "query_id": audited.query_id,
        "question": audited.question,
        "silent": audited.silent,
        "reason": audited.reason,
        "sentences": [
            {"text": said.text, "citations": [_citation(audited.query_id, span, corpus) for span in said.citations]}
            for said in audited.sentences
        ],
        "removed": list(audited.removed),
        "requested": dict(audited.requested),
        "used": dict(audited.used),
        "cache_keys": list(audited.cache_keys),
    }


def _citation(query_id: str, span: Span, corpus: PolicyCorpus) -> JsonValue:
    document = corpus.documents.get(span.doc_id)
    if document is None or document.text[span.start : span.end] != span.quote or not span.quote:
        raise ResultError(
            f"{query_id} quotes what does not stand in {span.doc_id} at {span.start}–{span.end}; answer it anew"
        )
    return {
        "doc_id": span.doc_id,
        "paragraph_id": span.paragraph_id,
        "start": span.start,
        "end": span.end,
        "quote": span.quote,
        "sha256": _digest(span.quote.encode("utf-8", "surrogatepass")),
    }


def _paragraphs(corpus: PolicyCorpus) -> Iterator[dict[str, JsonValue]]:
    """Each paragraph by the ids of its places."""
    for paragraph in corpus.paragraphs:
        digest = _digest(paragraph.text.encode("utf-8", "surrogatepass"))
        for place in paragraph.places:
            yield {
                "id": place.id,
                "published_id": place.published_id,
                "doc_id": place.doc_id,
                "page": place.page,
                "start": place.start,
                "end": place.end,
                "sha256": digest,
            }


def _replies(kept: Iterable[KeptReply]) -> dict[str, dict[str, JsonValue]]:
    return {
        each.key: {"text": each.text, "prompt": each.prompt, "model": each.model, "reply": each.reply} for each in kept
    }


def _lines(records: Iterable[Mapping[str, JsonValue]]) -> str:
    """Records as JSON Lines; text outside ASCII is escaped, so that any text can be written."""
    return "".join(json.dumps(record) + "\n" for record in records)


def _hashes(data: bytes) -> dict[str, JsonValue]:
    lines: list[JsonValue] = [_digest(line)[:LINE_DIGITS] for line in data.splitlines(True)]
    return {"sha256": _digest(data), "bytes": len(data), "lines": lines}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
