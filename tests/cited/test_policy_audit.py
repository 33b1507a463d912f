"""An audit bundle holds all that its answers rest on, and its verifier finds and places whatever is altered."""

from __future__ import annotations

import ast
import json
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ovrag_core.base.errors import ResultError
from ovrag_core.retrieval.embedding import minilm
from ovrag_studies.cited.answering.audit import write_bundle
from ovrag_studies.cited.answering.cited_answers import answer
from ovrag_studies.cited.answering.quotations import CitedAnswer, CitedSentence, Removed, cite, silent_answer
from ovrag_studies.cited.answering.verification import SentenceVerifier
from ovrag_studies.cited.corpus.policies import FileParagraph, PolicyCorpus, assemble
from ovrag_studies.cited.corpus.retrieval import RankedParagraph
from ovrag_studies.cited.records import KeptReply, PolicyRecord, record_of

TOOL = "tools/verify_audit_bundle.py"
DOG, BOAT = "Dogs stay on a lead. Cats “may” roam.", "No boat leaves after 18:00."
REPLY = KeptReply(text="Dogs", prompt="Is it so?", model="small", reply="yes")


@pytest.fixture(scope="module")
def corpus() -> PolicyCorpus:
    read = [
        FileParagraph("park", "park.pdf", 1, 0, DOG),
        FileParagraph("park", "park.pdf", 2, 0, BOAT),
        FileParagraph("lake", "lake.pdf", 1, 0, BOAT),
    ]
    return assemble(read, {"park": "a" * 64, "lake": "b" * 64})


def records(corpus: PolicyCorpus) -> list[PolicyRecord]:
    paragraph = corpus.paragraphs[0]
    said = CitedSentence("Dogs stay on a lead.", (cite(paragraph, 0, 20), cite(paragraph, 26, 36)))
    dogs = CitedAnswer("May dogs run?", (said,), (Removed("Cows too.", "no"),), False, "", 1.0)
    silent = silent_answer("Why?", "below the threshold")
    return [
        record_of("ours", dogs, (), 1.0, query_id="q1", replies=(REPLY.key,)),
        record_of("ours", silent, (), 0.0, query_id="q2"),
    ]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, corpus: PolicyCorpus) -> tuple[Path, str]:
    """A bundle and its seal."""
    folder = tmp_path_factory.mktemp("audit") / "bundle"
    return folder, write_bundle(folder, records(corpus), corpus, {"alpha": 0.1, "k": 5}, [REPLY])


@pytest.fixture(scope="module")
def tool(project: Path) -> dict[str, Any]:
    return runpy.run_path(str(project / TOOL))


@pytest.fixture(scope="module")
def verify(tool: dict[str, Any]) -> Callable[..., tuple[list[str], dict[str, int]]]:
    found: Callable[..., tuple[list[str], dict[str, int]]] = tool["verify"]
    return found


def test_an_untouched_bundle_has_no_fault(bundle: tuple[Path, str], verify: Callable[..., Any]) -> None:
    faults, counted = verify(bundle[0], seal=bundle[1])
    assert faults == []
    assert counted == {"records": 2, "sentences": 1, "citations": 2, "paragraphs": 3, "replies": 1}


def test_every_altered_byte_is_found_in_its_file(
    bundle: tuple[Path, str], verify: Callable[..., Any], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle[0], copy)
    for path in [each for each in copy.rglob("*") if each.is_file()]:
        data = path.read_bytes()
        for at in range(0, len(data), 1 + len(data) // 30):
            for mask in (0x01, 0x80):
                altered = bytearray(data)
                altered[at] ^= mask
                path.write_bytes(altered)
                assert any(path.relative_to(copy).as_posix() in fault for fault in verify(copy)[0]), (path, at, mask)
        path.write_bytes(data)
    assert verify(copy)[0] == []


def rewrite(copy: Path, name: str, change: Callable[[str], str], digest: Callable[[bytes], str]) -> None:
    """Change a file and make every hash of files anew, as a forger would."""
    data = change((copy / name).read_text(encoding="utf-8")).encode()
    (copy / name).write_bytes(data)
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["files"][name] = digest(data)
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (copy / "seal.txt").write_text(digest((copy / "manifest.json").read_bytes()) + "\n")


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        (
            "records.jsonl",
            'Dogs stay on a lead.", "sha256',
            'Dogs stay on a bead.", "sha256',
            "is not what stands at 0",
        ),
        ("records.jsonl", '"end": 20', '"end": 21', "sentence 1, citation 1"),
        ("records.jsonl", '"silent": true', '"silent": false', "says nothing and is not silent"),
        ("records.jsonl", '"silent": false', '"silent": true', "silent and yet says something"),
        ("documents/0001.txt", "Cats", "Rats", "do not have its hash"),
        ("replies.jsonl", "Is it so?", "Is it not?", "the key is not that of text, prompt and model"),
        ("paragraphs.jsonl", '"end": 37', '"end": 36', "is not that of the text"),
    ],
)
def test_a_change_is_found_even_where_hashes_of_files_were_made_anew(
    bundle: tuple[Path, str], tool: dict[str, Any], tmp_path: Path, name: str, old: str, new: str, fault: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle[0], copy)
    rewrite(copy, name, lambda text: text.replace(old, new, 1), tool["digest"])
    faults, _ = tool["verify"](copy)
    assert any(fault in each for each in faults), faults
    assert any("this is another bundle" in each for each in tool["verify"](copy, seal=bundle[1])[0])


def test_missing_and_added_files_are_named(
    bundle: tuple[Path, str], verify: Callable[..., Any], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle[0], copy)
    (copy / "replies.jsonl").unlink()
    (copy / "note.txt").write_text("hello")
    faults, _ = verify(copy)
    assert "replies.jsonl: the file is missing" in faults
    assert "note.txt: the file does not belong to the bundle" in faults


def test_source_files_are_hashed_where_they_are_given(
    bundle: tuple[Path, str], verify: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "park.pdf").write_bytes(b"another version")
    faults, _ = verify(bundle[0], documents=tmp_path)
    assert [fault.rpartition(": ")[2] for fault in faults] == [
        "this is not the file that park was read from",
        "the file is missing",
    ]


def test_the_script_runs_alone_and_needs_the_standard_library_only(bundle: tuple[Path, str], project: Path) -> None:
    tree = ast.parse((project / TOOL).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    command = [sys.executable, "-I", "-S", str(project / TOOL), str(bundle[0]), "--seal", bundle[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("all as it was written\n")
    none = subprocess.run([*command[:4], str(project / "tests")], capture_output=True, text=True, check=False)
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)


def test_the_same_answers_make_the_same_bytes(bundle: tuple[Path, str], corpus: PolicyCorpus, tmp_path: Path) -> None:
    assert write_bundle(tmp_path / "again", records(corpus), corpus, {"k": 5, "alpha": 0.1}, [REPLY]) == bundle[1]


def test_what_does_not_stand_there_or_was_not_kept_is_not_filed(corpus: PolicyCorpus, tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="no reply is kept under the key"):
        write_bundle(tmp_path / "a", records(corpus), corpus, {})
    other = assemble([FileParagraph("park", "park.pdf", 1, 0, "Cows stay on a lead.")], {"park": "a" * 64})
    with pytest.raises(ResultError, match="q1 quotes what does not stand in park at 0–20"):
        write_bundle(tmp_path / "b", records(corpus), other, {}, [REPLY])


def test_a_folder_that_holds_something_is_left_alone(corpus: PolicyCorpus, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ResultError, match="not empty"):
        write_bundle(tmp_path, [], corpus, {})


def test_keys_tell_texts_apart_wherever_one_ends() -> None:
    one, other = (
        KeptReply(text=text, prompt=prompt, model="m", reply="") for text, prompt in (("a", "bc"), ("ab", "c"))
    )
    assert one.key != other.key


def test_answers_of_the_study_are_filed_as_they_are(
    corpus: PolicyCorpus, verify: Callable[..., Any], tmp_path: Path
) -> None:
    evidence = [RankedParagraph(paragraph, 1.0, "", rank) for rank, paragraph in enumerate(corpus.paragraphs, 1)]
    verifier = SentenceVerifier(minilm())
    made = [answer(query, evidence, verifier) for query in ("May a boat leave?", " ")]
    assert [each.silent for each in made] == [False, True]
    filed = [record_of("b2", each, (), 0.0, query_id=f"q{n}") for n, each in enumerate(made)]
    write_bundle(tmp_path / "b", filed, corpus, {})
    faults, counted = verify(tmp_path / "b")
    assert (faults, counted["records"]) == ([], 2)
    assert counted["citations"] >= 1
