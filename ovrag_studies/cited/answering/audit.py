"""An audit bundle: answers with their quotations, and all that is needed to check them without this package.

A folder of plain text. `records.jsonl` holds the answers as a run has them; `documents/` the texts that spans count in;
`paragraphs.jsonl` where each paragraph stands; `replies.jsonl` what a model was asked and said, under keys over text,
prompt and model; `settings.json` the settings. `manifest.json` has the hash of each file, and of the files that the
texts were read from; `seal.txt` has its own: whoever keeps that seal elsewhere can tell the bundle from any other.

`tools/verify_audit_bundle.py` recomputes all of it. The bytes depend on what is written alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from ovrag_core.base import ResultError
from ovrag_studies.cited.answering.quotations import verifies
from ovrag_studies.cited.answering.replies import KeptReply
from ovrag_studies.cited.corpus.policies import PolicyCorpus
from ovrag_studies.cited.records import PolicyRecord

FORMAT = "ovrag-policy-audit-2"


def write_bundle(
    folder: Path,
    records: Sequence[PolicyRecord],
    corpus: PolicyCorpus,
    settings: Mapping[str, JsonValue],
    kept: Sequence[KeptReply] = (),
) -> str:
    """Write a bundle to a folder that is empty or not there, and return its seal.

    Raises ResultError where the folder holds something, an answer quotes what does not stand at its span, or a reply
    that it rests on is not among those kept.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ResultError(f"{folder} is not empty; name a folder for the audit bundle that is")
    _require_whole(records, corpus, {reply.key for reply in kept})
    texts = {doc_id: f"documents/{number:04}.txt" for number, doc_id in enumerate(corpus.documents, 1)}
    content = {texts[document.doc_id]: _encoded(document.text) for document in corpus.documents.values()}
    content |= {
        "settings.json": _encoded(json.dumps(settings, indent=1, sort_keys=True) + "\n"),
        "records.jsonl": _lines(record.model_dump(mode="json") for record in records),
        "paragraphs.jsonl": _lines(_paragraphs(corpus)),
        "replies.jsonl": _lines({"key": reply.key, **reply.model_dump()} for reply in kept),
    }
    documents: list[JsonValue] = [
        {"doc_id": document.doc_id, "file": document.file, "sha256": document.sha256, "text": texts[document.doc_id]}
        for document in corpus.documents.values()
    ]
    hashes: dict[str, JsonValue] = {name: _digest(data) for name, data in sorted(content.items())}
    manifest = {"format": FORMAT, "documents": documents, "files": hashes}
    content["manifest.json"] = _encoded(json.dumps(manifest, indent=1) + "\n")
    seal = _digest(content["manifest.json"])
    content["seal.txt"] = _encoded(seal + "\n")
    (folder / "documents").mkdir(parents=True)
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return seal


def _require_whole(records: Iterable[PolicyRecord], corpus: PolicyCorpus, keys: set[str]) -> None:
    for record in records:
        for cited in (cited for sentence in record.sentences for cited in sentence.citations):
            if not verifies(cited, corpus):
                location = f"{cited.doc_id} at {cited.start}–{cited.end}"
                raise ResultError(f"{record.query_id} quotes what does not stand in {location}; answer it anew")
        if unknown := sorted(set(record.replies) - keys):
            raise ResultError(f"{record.query_id}: no reply is kept under the key {unknown[0]}; run the queries anew")


def _paragraphs(corpus: PolicyCorpus) -> Iterator[dict[str, JsonValue]]:
    """Yield each paragraph by the ids of its places."""
    for paragraph in corpus.paragraphs:
        digest = _digest(_encoded(paragraph.text))
        for place in paragraph.places:
            yield {
                "id": place.id,
                "doc_id": place.doc_id,
                "page": place.page,
                "start": place.start,
                "end": place.end,
                "sha256": digest,
            }


def _lines(records: Iterable[Mapping[str, JsonValue]]) -> bytes:
    """Return records as JSON Lines; text outside ASCII is escaped, so that any text can be written."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
