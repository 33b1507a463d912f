"""An audit bundle: answers with their quotations, and all that is needed to check them without this package.

Text files: `records.jsonl`, `documents/` that spans count in, `paragraphs.jsonl`, `replies.jsonl` of a model under
keys over text, prompt and model, `settings.json`. `manifest.json` has the hash of each and of the files that were read,
`seal.txt` its own, by which the bundle is told from any other. `tools/verify_audit_bundle.py` recomputes all of it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from ovrag_core.base import ResultError
from ovrag_studies.cited.answering.quotations import verifies
from ovrag_studies.cited.corpus.policies import PolicyCorpus
from ovrag_studies.cited.corpus.sources import text_digest
from ovrag_studies.cited.records import KeptReply, PolicyRecord

FORMAT = "ovrag-policy-audit-2"
PLACE = ("id", "doc_id", "page", "start", "end")


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
    content = {texts[document.doc_id]: document.text for document in corpus.documents.values()}
    paragraphs = (
        {name: getattr(place, name) for name in PLACE} | {"sha256": text_digest(paragraph.text)}
        for paragraph in corpus.paragraphs
        for place in paragraph.places
    )
    content |= {
        "settings.json": json.dumps(settings, indent=1, sort_keys=True) + "\n",
        "records.jsonl": _lines(record.model_dump(mode="json") for record in records),
        "paragraphs.jsonl": _lines(paragraphs),
        "replies.jsonl": _lines({"key": reply.key, **reply.model_dump()} for reply in kept),
    }
    documents = [
        {"doc_id": document.doc_id, "file": document.file, "sha256": document.sha256, "text": texts[document.doc_id]}
        for document in corpus.documents.values()
    ]
    hashes = {name: text_digest(text) for name, text in sorted(content.items())}
    manifest = {"format": FORMAT, "documents": documents, "files": hashes}
    content["manifest.json"] = json.dumps(manifest, indent=1) + "\n"
    seal = text_digest(content["manifest.json"])
    content["seal.txt"] = seal + "\n"
    (folder / "documents").mkdir(parents=True)
    for name, text in content.items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    return seal


def _require_whole(records: Iterable[PolicyRecord], corpus: PolicyCorpus, keys: set[str]) -> None:
    for record in records:
        citations = (cited for sentence in record.sentences for cited in sentence.citations)
        if wrong := next((cited for cited in citations if not verifies(cited, corpus)), None):
            location = f"{wrong.doc_id} at {wrong.start}–{wrong.end}"
            raise ResultError(f"{record.query_id} quotes what does not stand in {location}; answer it anew")
        if unknown := sorted(set(record.replies) - keys):
            raise ResultError(f"{record.query_id}: no reply is kept under the key {unknown[0]}; run the queries anew")


def _lines(records: Iterable[Mapping[str, JsonValue]]) -> str:
    """Return records as JSON Lines; text outside ASCII is escaped, so that any text can be written."""
    return "".join(json.dumps(record) + "\n" for record in records)
