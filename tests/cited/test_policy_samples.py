"""The invented policies: they are made of their written sources, and every label stands in the text."""

from __future__ import annotations

import csv
import hashlib
import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader


@pytest.fixture(scope="module")
def samples(project: Path) -> Path:
    return project / "data" / "samples" / "policy"


@pytest.fixture(scope="module")
def tool(project: Path) -> dict[str, Any]:
    return runpy.run_path(str(project / "tools" / "policy_samples.py"))


@pytest.fixture(scope="module")
def paragraphs(samples: Path) -> dict[str, dict[str, Any]]:
    return {each["paragraph_id"]: each for each in lines(samples / "corpus/processed/paragraphs.jsonl")}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_files_are_what_the_sources_make(samples: Path, tool: dict[str, Any]) -> None:
    made = {path.as_posix(): content for path, content in tool["files"](samples / "source")}
    written = {
        path.relative_to(samples).as_posix(): path.read_bytes()
        for path in samples.rglob("*.*")
        if "source" not in path.parts and path.name != "README.md"
    }
    assert written == made


def test_every_paragraph_stands_on_its_page(samples: Path, paragraphs: dict[str, dict[str, Any]]) -> None:
    pages: dict[tuple[str, int], str] = {}
    for path in (samples / "corpus/raw").iterdir():
        if path.suffix == ".pdf":
            read = [page.extract_text() for page in PdfReader(path).pages]
        else:
            read = [path.read_text(encoding="utf-8")]
        pages |= {(path.name, number): " ".join(text.split()) for number, text in enumerate(read, start=1)}
    assert all(each["text"] in pages[each["source_file"], each["page"]] for each in paragraphs.values())
    assert len(paragraphs) == 95


def test_manifest_holds_the_hashes_of_the_documents(samples: Path) -> None:
    for row in rows(samples / "corpus/manifests/corpus_manifest.csv"):
        content = (samples / "corpus/raw" / row["source_file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == row["sha256"]


def test_queries_have_their_counts_and_a_quotation_in_the_first_gold_paragraph(
    samples: Path, paragraphs: dict[str, dict[str, Any]]
) -> None:
    queries = rows(samples / "golden_set/golden_set_audited.csv")
    assert Counter(each["expected"] for each in queries) == {
        "answer": 20,
        "abstain": 10,
        "superseded": 7,
        "unresolved": 3,
    }
    for query in queries:
        gold = query["gold_paragraph_ids"].split(",") if query["gold_paragraph_ids"] else []
        assert bool(gold) == bool(query["gold_quote"]) == (query["category"] != "unanswerable")
        assert not gold or query["gold_quote"] in paragraphs[gold[0]]["text"]


def test_first_and_last_query(samples: Path) -> None:
    queries = rows(samples / "golden_set/golden_set_audited.csv")
    assert (queries[0]["question"], queries[-1]["expected"]) == ("How far ahead is a roster put up?", "abstain")


def test_conflicting_quotations_stand_in_their_paragraphs(samples: Path, paragraphs: dict[str, dict[str, Any]]) -> None:
    pairs = lines(samples / "conflicts/pairs.jsonl")
    assert Counter((pair["label"], pair.get("status")) for pair in pairs) == {
        ("conflict", "superseded"): 7,
        ("conflict", "unresolved"): 5,
        ("lookalike", None): 10,
    }
    for pair in pairs:
        sides = ["first", "second"] + (["clause"] if pair.get("clause") else [])
        assert all(pair[f"{side}_quote"] in paragraphs[pair[side]]["text"] for side in sides)


def test_one_paragraph_stands_in_two_documents(paragraphs: dict[str, dict[str, Any]]) -> None:
    bodies = Counter(each["text"].rpartition("Bind ")[2] for each in paragraphs.values())
    assert [count for count in bodies.values() if count > 1] == [2]


def test_marked_spans_earn_the_labels(samples: Path) -> None:
    manipulated = lines(samples / "critic/manipulated/critic_snippets.jsonl")
    assert all({span["label"] for span in each["spans"]} == set(each["labels"]) for each in manipulated)
    assert manipulated[0]["text"][slice(*(manipulated[0]["spans"][0][side] for side in ("start", "end")))] == (
        "Only a fool would sail"
    )
    assert not any(each["labels"] for each in lines(samples / "critic/neutral/critic_snippets.jsonl"))
