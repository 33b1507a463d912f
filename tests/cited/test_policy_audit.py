"""An audit bundle holds all that its answers rest on, and its verifier finds and places whatever is altered."""

from __future__ import annotations

import ast
import json
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ovrag_core.base.errors import ResultError
from ovrag_studies.cited.answering.audit import Audited, Bundle, seal_of, write_bundle
from ovrag_studies.cited.answering.cited_answers import answer
from ovrag_studies.cited.answering.replies import KeptReply, cache_key
from ovrag_studies.cited.arms import Result
from ovrag_studies.cited.corpus.policies import FileParagraph, PolicyCorpus, assemble
from ovrag_studies.cited.corpus.retrieval import RankedParagraph, RetrievedParagraphs
from ovrag_studies.cited.records import audited, record_of

TOOL = "tools/verify_audit_bundle.py"
DOG, BOAT = "Dogs stay on a lead. Cats “may” roam.", "No boat leaves after 18:00."


@dataclass(frozen=True)
class Quote:
    doc_id: str
    paragraph_id: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class Sentence:
    text: str
    citations: tuple[Quote, ...]


@pytest.fixture(scope="module")
def corpus() -> PolicyCorpus:
    read = [
        FileParagraph("park", "park.pdf", 1, 0, DOG),
        FileParagraph("park", "park.pdf", 2, 0, BOAT),
        FileParagraph("lake", "lake.pdf", 1, 0, BOAT),
    ]
    return assemble(read, {"park": "a" * 64, "lake": "b" * 64})


def cited(corpus: PolicyCorpus, words: str) -> Quote:
    paragraph = next(each for each in corpus.paragraphs if words in each.text)
    start = paragraph.start + paragraph.text.index(words)
    return Quote(paragraph.doc_id, paragraph.id, start, start + len(words), words)


def records(corpus: PolicyCorpus) -> list[Audited]:
    asked = {"embedder": "minilm", "model": "small"}
    keys = [cache_key("Dogs", "Is it so?", "small")]
    dogs = Sentence("Dogs stay on a lead.", (cited(corpus, "Dogs stay on a lead."), cited(corpus, "“may” roam")))
    return [
        Audited("q1", "May dogs run?", [dogs], ["Cows too."], False, "", asked, asked, keys),
        Audited("q2", "Why?", [], [], True, "below the threshold", asked, {**asked, "model": "none"}),
    ]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, corpus: PolicyCorpus) -> Bundle:
    folder = tmp_path_factory.mktemp("audit") / "bundle"
    kept = [KeptReply(text="Dogs", prompt="Is it so?", model="small", reply="yes")]
    return write_bundle(folder, records(corpus), corpus, {"alpha": 0.1, "k": 5}, kept)


@pytest.fixture(scope="module")
def tool(project: Path) -> dict[str, Any]:
    return runpy.run_path(str(project / TOOL))


@pytest.fixture(scope="module")
def verify(tool: dict[str, Any]) -> Callable[..., tuple[list[str], dict[str, int]]]:
    found: Callable[..., tuple[list[str], dict[str, int]]] = tool["verify"]
    return found


def test_an_untouched_bundle_has_no_fault(bundle: Bundle, verify: Callable[..., Any]) -> None:
    faults, counted = verify(bundle.folder, seal=bundle.seal)
    assert faults == []
    assert counted == {"files": 8, "records": 2, "sentences": 1, "citations": 2, "paragraphs": 3, "replies": 1}


def test_every_altered_byte_is_found_in_its_file_and_line(
    bundle: Bundle, verify: Callable[..., Any], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle.folder, copy)
    flipped = 0
    for name in bundle.files:
        data = (copy / name).read_bytes()
        for at in range(0, len(data), 1 + len(data) // 30):
            for mask in (0x01, 0x80):
                altered = bytearray(data)
                altered[at] ^= mask
                (copy / name).write_bytes(altered)
                faults, _ = verify(copy)
                line = data[:at].count(b"\n") + 1
                lines = {line, line + 1}  # a line end that is altered joins two lines or makes two of one
                assert any(fault.startswith(f"{name}, line {each}") for fault in faults for each in lines), (
                    name,
                    at,
                    mask,
                    faults,
                )
                flipped += 1
        (copy / name).write_bytes(data)
    assert flipped > 300
    assert verify(copy)[0] == []


def rewritten(bundle: Bundle, copy: Path, name: str, change: Callable[[str], str], tool: dict[str, Any]) -> None:
    """A copy in which a file was changed and every hash of files made anew, as a forger would."""
    shutil.copytree(bundle.folder, copy)
    data = change((copy / name).read_text(encoding="utf-8")).encode()
    (copy / name).write_bytes(data)
    manifest = json.loads((copy / "manifest.json").read_bytes())
    lines = [tool["digest"](line)[:16] for line in data.splitlines(True)]
    manifest["files"][name] = {"sha256": tool["digest"](data), "bytes": len(data), "lines": lines}
    (copy / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (copy / "seal.txt").write_bytes(seal_of((copy / "manifest.json").read_bytes()))


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        (
            "records.jsonl",
            'Dogs stay on a lead.", "sha256',
            'Dogs stay on a bead.", "sha256',
            "differs at its character 15",
        ),
        ("records.jsonl", '"end": 20', '"end": 21', "sentence 1, citation 1"),
        ("records.jsonl", '"silent": true', '"silent": false', "says nothing and is not silent"),
        ("records.jsonl", '"silent": false', '"silent": true', "silent and yet says something"),
        ("documents/0001.txt", "Cats", "Rats", "do not have its hash"),
        ("cache.jsonl", "Is it so?", "Is it not?", "the key is not that of text, prompt and model"),
        ("paragraphs.jsonl", '"end": 37', '"end": 36', "is not that of the text"),
    ],
)
def test_a_change_is_found_even_where_hashes_of_files_were_made_anew(
    bundle: Bundle, tool: dict[str, Any], tmp_path: Path, name: str, old: str, new: str, fault: str
) -> None:
    copy = tmp_path / "copy"
    rewritten(bundle, copy, name, lambda text: text.replace(old, new, 1), tool)
    faults, _ = tool["verify"](copy)
    assert any(fault in each for each in faults), faults
    assert any("this is another bundle" in each for each in tool["verify"](copy, seal=bundle.seal)[0])


def test_missing_and_added_files_are_named(bundle: Bundle, verify: Callable[..., Any], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle.folder, copy)
    (copy / "cache.jsonl").unlink()
    (copy / "note.txt").write_text("hello")
    faults, _ = verify(copy)
    assert "cache.jsonl: the file is missing" in faults
    assert "note.txt: the file does not belong to the bundle" in faults


def test_source_files_are_hashed_where_they_are_given(
    bundle: Bundle, verify: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "park.pdf").write_bytes(b"another version")
    faults, _ = verify(bundle.folder, documents=tmp_path)
    assert [fault.rpartition(": ")[2] for fault in faults] == [
        "this is not the file that park was read from",
        "the file is missing",
    ]


def test_the_script_runs_alone_and_needs_the_standard_library_only(bundle: Bundle, project: Path) -> None:
    tree = ast.parse((project / TOOL).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    command = [sys.executable, "-I", "-S", str(project / TOOL), str(bundle.folder), "--seal", bundle.seal]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("all as it was written\n")
    none = subprocess.run([*command[:4], str(project / "tests")], capture_output=True, text=True, check=False)
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)


def test_the_same_answers_make_the_same_bytes(bundle: Bundle, corpus: PolicyCorpus, tmp_path: Path) -> None:
    kept = [KeptReply(text="Dogs", prompt="Is it so?", model="small", reply="yes")]
    again = write_bundle(tmp_path / "again", records(corpus), corpus, {"k": 5, "alpha": 0.1}, kept)
    assert again.seal == bundle.seal


def test_a_quotation_that_does_not_stand_there_is_not_filed(corpus: PolicyCorpus, tmp_path: Path) -> None:
    wrong = Quote("park", corpus.paragraphs[0].id, 0, 4, "Cows")
    record = Audited("q9", "?", [Sentence("Cows.", (wrong,))], [], False, "", {}, {})
    with pytest.raises(ResultError, match="q9 quotes what does not stand in park at 0–4"):
        write_bundle(tmp_path / "b", [record], corpus, {})


def test_a_folder_that_holds_something_is_left_alone(corpus: PolicyCorpus, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ResultError, match="not empty"):
        write_bundle(tmp_path, [], corpus, {})


def test_keys_tell_texts_apart_wherever_one_ends() -> None:
    assert cache_key("a", "bc", "m") != cache_key("ab", "c", "m")


def test_answers_of_the_study_are_filed_as_they_are(
    corpus: PolicyCorpus, verify: Callable[..., Any], tmp_path: Path
) -> None:
    evidence = [RankedParagraph(paragraph, 1.0, "", rank) for rank, paragraph in enumerate(corpus.paragraphs, 1)]
    found = RetrievedParagraphs(tuple(evidence), {}, {})
    results = [Result("b2", answer(query, evidence), found, 0.0) for query in ("May a boat leave?", " ")]
    given = [audited(record_of(f"q{number}", result, "digest")) for number, result in enumerate(results)]
    assert [each.silent for each in given] == [False, True]
    made = write_bundle(tmp_path / "b", given, corpus, {})
    faults, counted = verify(made.folder)
    assert (faults, counted["records"]) == ([], 2)
    assert counted["citations"] >= 1
