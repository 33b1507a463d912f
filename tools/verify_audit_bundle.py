"""Check an audit bundle of policy answers with the standard library alone.

    python verify_audit_bundle.py BUNDLE [--documents FOLDER] [--seal HASH]

Every hash is computed anew: of each file and each of its lines, of the settings, of each paragraph, quotation and key
of the cache. Every span is looked up in the text of its document, and every quotation compared with what stands there.
With `--documents` the files that the texts were read from are hashed too; with `--seal` the last hash of the bundle is
compared with one that was kept elsewhere, without which a bundle that was made anew as a whole cannot be told from the
first. Exit code 0: all is as it was written; 1: each fault is named with its place; 2: there is no bundle to check.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

FORMAT = "ovrag-policy-audit-1"
LINE_DIGITS = 16
ID_DIGITS = 12
NAMED = ("settings.json", "records.jsonl", "paragraphs.jsonl", "cache.jsonl")


class Unusable(Exception):
    """There is nothing that could be checked."""


def verify(bundle, documents=None, seal=None):
    """The faults of the bundle in the folder, each with its place, and what was counted on the way."""
    contents = read_folder(bundle)
    faults = check_seal(contents, seal)
    manifest = parse(contents.get("manifest.json", b""), "manifest.json", faults)
    counted = {"files": len(contents), "records": 0, "sentences": 0, "citations": 0, "paragraphs": 0, "replies": 0}
    if not isinstance(manifest, dict):
        return faults, counted
    try:
        faults += check_files(manifest, contents)
        faults += check_contents(manifest, contents, counted)
        faults += check_documents(manifest, documents) if documents else []
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        faults.append(f"the bundle does not have its form: {type(error).__name__} at {error}")
    return list(dict.fromkeys(faults)), counted


def read_folder(bundle):
    """Every file of the bundle by its path."""
    if not bundle.is_dir():
        raise Unusable(f"{bundle} is no folder")
    contents = {}
    for path in sorted(bundle.rglob("*")):
        if path.is_symlink():
            raise Unusable(f"{path} is a link; a bundle holds files")
        if path.is_file():
            contents[path.relative_to(bundle).as_posix()] = path.read_bytes()
    if "manifest.json" not in contents and "seal.txt" not in contents:
        raise Unusable(f"{bundle} holds no manifest.json")
    return contents


def check_seal(contents, kept):
    """Whether seal and manifest belong together, and which of them was altered where they do not."""
    faults = [f"{name}: the file is missing" for name in ("manifest.json", "seal.txt") if name not in contents]
    if faults:
        return faults
    manifest, seal = contents["manifest.json"], contents["seal.txt"]
    expected = seal_of(manifest)
    body, _, last = seal.rpartition(b"seal ")
    intact = last == digest(body).encode() + b"\n"
    if seal != expected:
        name = "manifest.json" if intact else "seal.txt"
        heads = 1 if intact else 0  # the first line of a seal is of the whole manifest
        altered = different(seal.splitlines(True)[heads:], expected.splitlines(True)[heads:])
        lines = manifest.splitlines(True) if intact else seal.splitlines(True)
        faults += [f"{name}, line {number}: altered" for number in altered if number <= len(lines)]
        faults += [] if faults else [f"{name}: lines are missing or added"]
    if kept is not None and last.strip().decode("ascii", "replace") != kept:
        faults.append(f"seal.txt: the seal is not {kept}; this is another bundle")
    return faults


def check_files(manifest, contents):
    """Whether each file is there as it was written, and which of its lines are not."""
    faults = []
    if manifest["format"] != FORMAT:
        faults.append(f"manifest.json: the format is {manifest['format']!r} and not {FORMAT!r}")
    listed = manifest["files"]
    faults += [f"{name}: the manifest does not list this file" for name in NAMED if name not in listed]
    faults += [f"{name}: the file is missing" for name in listed if name not in contents]
    extra = set(contents) - set(listed) - {"manifest.json", "seal.txt"}
    faults += [f"{name}: the file does not belong to the bundle" for name in sorted(extra)]
    for name in sorted(set(listed) & set(contents)):
        data, said = contents[name], listed[name]
        lines = [digest(line)[:LINE_DIGITS] for line in data.splitlines(True)]
        altered = [f"{name}, line {number}: altered" for number in different(lines, said["lines"])]
        if not altered and (digest(data), len(data)) != (said["sha256"], said["bytes"]):
            altered = [f"{name}: altered, or its hash in the manifest is"]
        faults += altered
    return faults


def check_contents(manifest, contents, counted):
    """Whether paragraphs, quotations, keys and answers are what they say they are, whatever the hashes of files say."""
    faults = []
    texts = {}
    for document in manifest["documents"]:
        data = contents.get(document["text"], b"")
        try:
            texts[document["doc_id"]] = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            faults.append(f"{document['text']}, byte {error.start}: not UTF-8")
    parse(contents.get("settings.json", b""), "settings.json", faults)
    paragraphs = {}
    for place, said in parse_lines(contents.get("paragraphs.jsonl", b""), "paragraphs.jsonl", faults):
        counted["paragraphs"] += 1
        faults += [f"{place}: {fault}" for fault in paragraph_faults(said, texts)]
        paragraphs[said["id"]] = said
    keys = set()
    for place, said in parse_lines(contents.get("cache.jsonl", b""), "cache.jsonl", faults):
        counted["replies"] += 1
        keys.add(said["key"])
        if said["key"] != digest(json.dumps([said["text"], said["prompt"], said["model"]]).encode()):
            faults.append(f"{place}: the key is not that of text, prompt and model")
    for place, said in parse_lines(contents.get("records.jsonl", b""), "records.jsonl", faults):
        counted["records"] += 1
        counted["sentences"] += len(said["sentences"])
        counted["citations"] += sum(len(sentence["citations"]) for sentence in said["sentences"])
        faults += [f"{place} ({said['query_id']}){fault}" for fault in record_faults(said, texts, paragraphs, keys)]
    return faults


def paragraph_faults(said, texts):
    """What is wrong with a paragraph."""
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
    """What is wrong with an answer; each fault begins with its place in the record."""
    faults = []
    if said["silent"] and said["sentences"]:
        faults.append(": it is silent and yet says something")
    if not said["silent"] and not said["sentences"]:
        faults.append(": it says nothing and is not silent")
    faults += [f": no reply is filed under the key {key!r}" for key in said["cache_keys"] if key not in keys]
    for number, sentence in enumerate(said["sentences"], start=1):
        if not sentence["citations"]:
            faults.append(f", sentence {number}: nothing is cited")
        for which, citation in enumerate(sentence["citations"], start=1):
            place = f", sentence {number}, citation {which}"
            faults += [f"{place}: {fault}" for fault in citation_faults(citation, texts, paragraphs)]
    return faults


def citation_faults(citation, texts, paragraphs):
    """What is wrong with a citation."""
    paragraph = paragraphs.get(citation["paragraph_id"])
    if paragraph is None or citation["doc_id"] not in texts:
        return [f"{citation['paragraph_id']!r} of {citation['doc_id']!r} is unknown"]
    start, end, quote = citation["start"], citation["end"], citation["quote"]
    faults = []
    if paragraph["doc_id"] != citation["doc_id"]:
        faults.append(f"the paragraph is of {paragraph['doc_id']!r}")
    if not paragraph["start"] <= start < end <= paragraph["end"]:
        faults.append(f"the span {start} to {end} lies outside its paragraph")
    stands = texts[citation["doc_id"]][start:end]
    if stands != quote:
        at = (different(stands, quote) or [1])[0] - 1
        faults.append(f"the quotation differs at its character {at} from what stands at {start + at}")
    if digest(quote.encode("utf-8", "surrogatepass")) != citation["sha256"]:
        faults.append("the hash is not that of the quotation")
    return faults


def check_documents(manifest, folder):
    """Whether the files that the texts were read from are those of the manifest."""
    faults = []
    for document in manifest["documents"]:
        path = folder / Path(document["file"]).name
        if not path.is_file():
            faults.append(f"{path}: the file is missing")
        elif digest(path.read_bytes()) != document["sha256"]:
            faults.append(f"{path}: this is not the file that {document['doc_id']} was read from")
    return faults


def parse(data, name, faults):
    """JSON, or a fault and None."""
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        faults.append(f"{name}, byte {error.start}: not UTF-8")
    except json.JSONDecodeError as error:
        faults.append(f"{name}, line {error.lineno}, column {error.colno}: no JSON ({error.msg})")
    except RecursionError:
        faults.append(f"{name}: no JSON (nested too deep)")
    return None


def parse_lines(data, name, faults):
    """Each line that holds an object, with its place."""
    for number, line in enumerate(data.splitlines(), start=1):
        found = []
        said = parse(line, f"{name}, line {number}", found)
        faults += found
        if isinstance(said, dict):
            yield f"{name}, line {number}", said
        elif not found:
            faults.append(f"{name}, line {number}: no object")


def different(one, other):
    """The numbers, from 1, of the lines or characters that differ or are only in one."""
    longest = max(len(one), len(other))
    return [at + 1 for at in range(longest) if at >= len(one) or at >= len(other) or one[at] != other[at]]


def seal_of(manifest):
    """The seal that belongs to a manifest."""
    lines = ["manifest " + digest(manifest), *(digest(line)[:LINE_DIGITS] for line in manifest.splitlines(True))]
    body = "".join(f"{line}\n" for line in lines).encode()
    return body + f"seal {digest(body)}\n".encode()


def digest(data):
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def main():
    """Check, say what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check an audit bundle of policy answers.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--documents", type=Path, help="folder of the files that the texts were read from")
    parser.add_argument("--seal", help="the last hash of seal.txt, as it was kept elsewhere")
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
