"""Check an audit bundle of policy answers with the standard library alone.

    python verify_audit_bundle.py BUNDLE [--documents FOLDER] [--seal HASH]

Every hash is computed anew: of each file, paragraph and quotation, and of each key of a reply. Every span is looked up
in the text of its document, and every quotation compared with what stands there. With `--documents` the files that the
texts were read from are hashed too; with `--seal` the hash of the manifest is compared with one that was kept
elsewhere, without which a bundle that was made anew as a whole cannot be told from the first. Exit code 0: all is as it
was written; 1: each fault is named with its place; 2: there is no bundle to check.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

FORMAT = "ovrag-policy-audit-2"
MANIFEST, SEAL = "manifest.json", "seal.txt"
ID_DIGITS = 12
NAMED = ("settings.json", "records.jsonl", "paragraphs.jsonl", "replies.jsonl")


class Unusable(Exception):
    """There is nothing that could be checked."""


def verify(bundle, documents=None, seal=None):
    """Return the faults of the bundle in the folder, each with its place, and what was counted on the way."""
    contents = {path.relative_to(bundle).as_posix(): path.read_bytes() for path in files_of(bundle)}
    if MANIFEST not in contents:
        raise Unusable(f"{bundle} holds no {MANIFEST}")
    computed = digest(contents[MANIFEST])
    faults = []
    if contents.get(SEAL) != f"{computed}\n".encode():
        faults.append(f"{MANIFEST} and {SEAL}: one of them is altered")
    if seal is not None and computed != seal:
        faults.append(f"{SEAL}: the seal is not {seal}; this is another bundle")
    counted = dict.fromkeys(("records", "sentences", "citations", "paragraphs", "replies"), 0)
    try:
        manifest = json.loads(contents[MANIFEST])
        faults += check_files(manifest, contents)
        faults += check_contents(manifest, contents, counted)
        faults += check_documents(manifest, documents) if documents else []
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError) as error:
        faults.append(f"the bundle does not have its form: {type(error).__name__}: {error}")
    return list(dict.fromkeys(faults)), counted


def files_of(bundle):
    """Return the paths of the files of the bundle."""
    if not bundle.is_dir():
        raise Unusable(f"{bundle} is no folder")
    paths = sorted(bundle.rglob("*"))
    if links := [path for path in paths if path.is_symlink()]:
        raise Unusable(f"{links[0]} is a link; a bundle holds files")
    return [path for path in paths if path.is_file()]


def check_files(manifest, contents):
    """Return a fault for each file that is missing, added, or not as it was written."""
    faults = []
    if manifest["format"] != FORMAT:
        faults.append(f"{MANIFEST}: the format is {manifest['format']!r} and not {FORMAT!r}")
    listed = manifest["files"]
    faults += [f"{name}: the manifest does not list this file" for name in NAMED if name not in listed]
    faults += [f"{name}: the file is missing" for name in listed if name not in contents]
    extra = set(contents) - set(listed) - {MANIFEST, SEAL}
    faults += [f"{name}: the file does not belong to the bundle" for name in sorted(extra)]
    shared = sorted(set(listed) & set(contents))
    return faults + [f"{name}: altered" for name in shared if digest(contents[name]) != listed[name]]


def check_contents(manifest, contents, counted):
    """Return the faults of paragraphs, replies and answers, whatever the hashes of files say."""
    faults = []
    named = {document["doc_id"]: document["text"] for document in manifest["documents"]}
    texts = {doc_id: contents.get(name, b"").decode("utf-8", "surrogatepass") for doc_id, name in named.items()}
    paragraphs = {}
    for place, said in lines_of(contents, "paragraphs.jsonl"):
        counted["paragraphs"] += 1
        faults += [f"{place}: {fault}" for fault in paragraph_faults(said, texts)]
        paragraphs[said["id"]] = said
    keys = set()
    for place, said in lines_of(contents, "replies.jsonl"):
        counted["replies"] += 1
        keys.add(said["key"])
        if said["key"] != digest(json.dumps([said["text"], said["prompt"], said["model"]]).encode()):
            faults.append(f"{place}: the key is not that of text, prompt and model")
    for place, said in lines_of(contents, "records.jsonl"):
        counted["records"] += 1
        counted["sentences"] += len(said["sentences"])
        counted["citations"] += sum(len(sentence["citations"]) for sentence in said["sentences"])
        faults += [f"{place} ({said['query_id']}){fault}" for fault in record_faults(said, texts, paragraphs, keys)]
    return faults


def lines_of(contents, name):
    """Return the objects of a file of lines, each with its place."""
    lines = contents.get(name, b"").splitlines()
    return [(f"{name}, line {number}", json.loads(line)) for number, line in enumerate(lines, start=1)]


def paragraph_faults(said, texts):
    """Return the faults of a paragraph."""
    if said["doc_id"] not in texts:
        return [f"the document {said['doc_id']!r} is unknown"]
    text = texts[said["doc_id"]]
    if not 0 <= said["start"] < said["end"] <= len(text):
        return [f"the span {said['start']} to {said['end']} lies outside {said['doc_id']}"]
    computed = digest(text[said["start"] : said["end"]].encode("utf-8", "surrogatepass"))
    faults = []
    if computed != said["sha256"]:
        faults.append(f"characters {said['start']} to {said['end']} of {said['doc_id']} do not have its hash")
    parts = said["id"].split("::")
    if parts[0] != said["doc_id"] or computed[:ID_DIGITS] not in parts[1:]:
        faults.append(f"the id {said['id']!r} is not that of the text")
    return faults


def record_faults(said, texts, paragraphs, keys):
    """Return the faults of an answer; each begins with its place in the record."""
    faults = []
    if said["silent"] and said["sentences"]:
        faults.append(": it is silent and yet says something")
    if not said["silent"] and not said["sentences"]:
        faults.append(": it says nothing and is not silent")
    faults += [f": no reply is filed under the key {key!r}" for key in said["replies"] if key not in keys]
    for number, sentence in enumerate(said["sentences"], start=1):
        if not sentence["citations"]:
            faults.append(f", sentence {number}: nothing is cited")
        for which, citation in enumerate(sentence["citations"], start=1):
            place = f", sentence {number}, citation {which}"
            faults += [f"{place}: {fault}" for fault in citation_faults(citation, texts, paragraphs)]
    return faults


def citation_faults(citation, texts, paragraphs):
    """Return the faults of a citation."""
    paragraph = paragraphs.get(citation["paragraph_id"])
    if paragraph is None or citation["doc_id"] not in texts:
        return [f"the paragraph {citation['paragraph_id']!r} of {citation['doc_id']!r} is unknown"]
    start, end, quote = citation["start"], citation["end"], citation["quote"]
    faults = []
    if paragraph["doc_id"] != citation["doc_id"]:
        faults.append(f"the paragraph is of {paragraph['doc_id']!r}")
    if not paragraph["start"] <= start < end <= paragraph["end"]:
        faults.append(f"the span {start} to {end} lies outside its paragraph")
    if texts[citation["doc_id"]][start:end] != quote:
        faults.append(f"the quotation is not what stands at {start} to {end} of {citation['doc_id']!r}")
    if digest(quote.encode("utf-8", "surrogatepass")) != citation["sha256"]:
        faults.append("the hash is not that of the quotation")
    return faults


def check_documents(manifest, folder):
    """Return a fault for each file that a text was read from and that is not in the folder as it was."""
    faults = []
    for document in manifest["documents"]:
        path = folder / Path(document["file"]).name
        if not path.is_file():
            faults.append(f"{path}: the file is missing")
        elif digest(path.read_bytes()) != document["sha256"]:
            faults.append(f"{path}: this is not the file that {document['doc_id']} was read from")
    return faults


def digest(data):
    """Return SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def main():
    """Check, say what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check an audit bundle of policy answers.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--documents", type=Path, help="folder of the files that the texts were read from")
    parser.add_argument("--seal", help="the hash in seal.txt, as it was kept elsewhere")
    asked = parser.parse_args()
    try:
        faults, counted = verify(asked.bundle, asked.documents, asked.seal)
    except (Unusable, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for fault in faults:
        print(fault)
    print("; ".join(f"{count} {name}" for name, count in counted.items()), end=": ")
    print(f"{len(faults)} faults" if faults else "all as it was written")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
