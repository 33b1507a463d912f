"""Files of triples: what is read, what is reported, and what is refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ovrag_core.base.errors import TripleError
from ovrag_core.base.types import Document, Reading, Triple
from ovrag_core.loop.checking import check_file, read_triples
from ovrag_core.loop.document_review import NOTHING_READ, review_document
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology.load import load_ontology

GOOD = {"sub": "Loan", "pred": "rdf:type", "obj": "SecuredLoan", "sub_type": "Loan", "obj_type": "Class"}


@pytest.fixture(scope="module")
def validator(project: Path) -> Iterator[Validator]:
    validator = Validator(load_ontology(project / "ontologies"))
    yield validator
    validator.close()


def write(path: Path, items: object) -> Path:
    path.write_text(json.dumps(items), encoding="utf-8")
    return path


def test_the_report_has_the_documented_form(validator: Validator, tmp_path: Path) -> None:
    items = [
        GOOD,
        GOOD | {"pred": "hasColour", "obj": "blue"},
        GOOD | {"obj": "UnsecuredLoan", "quote": "The loan is unsecured."},
        GOOD,
        GOOD | {"pred": "hasCollateral", "obj": "the mill"},
    ]
    report = check_file(write(tmp_path / "t.json", items), validator)
    data = json.loads(report.model_dump_json())
    assert list(data)[:5] == ["status", "reason", "violations", "unmapped", "seconds"]
    assert (data["status"], data["unmapped"]) == ("inconsistent", [1])
    first = next(item for item in data["violations"] if item["rule"] == "security_exclusive")
    assert list(first)[:6] == ["rule", "clash_type", "severity", "triples", "axioms", "message"]
    assert first["quotes"] == ["The loan is unsecured."]
    assert first["triples"] == [0, 2]
    assert first["axioms"] == ["SecuredLoan DisjointWith UnsecuredLoan"]
    assert 0 < data["seconds"] < 10


def test_the_text_keeps_names_and_positions_as_given_and_warnings_apart(validator: Validator, tmp_path: Path) -> None:
    items = [
        GOOD | {"sub": "L1", "quote": "The loan is\nsecured."},
        GOOD | {"sub": "L1", "obj": "UnsecuredLoan"},
        GOOD | {"sub": "L1", "sub_type": "Morgage"},
        GOOD | {"sub": "L1", "pred": "hasInterestRate", "obj": "4%", "obj_type": "xsd:decimal"},
    ]
    lines = check_file(write(tmp_path / "t.json", items), validator).to_text().splitlines()
    assert lines[0] == "inconsistent: 4 triples, 2 contradictions, 3 warnings, 1 not fully understood"
    at = lines.index("- L1 is called secured and unsecured at once. [security_exclusive; triples 0, 1]")
    assert lines[at + 1 : at + 3] == ["    “The loan is secured.”", "    SecuredLoan DisjointWith UnsecuredLoan"]
    unmapped = lines.index("Not fully understood (1 of 4 triples):")
    assert lines.index("Contradictions:") < at < lines.index("Warnings:") < unmapped
    assert lines[-1] == "- triple 2: unknown class Morgage (did you mean Mortgage?), read without it"


def test_triples_that_none_is_understood_of_are_unchecked(validator: Validator, tmp_path: Path) -> None:
    unknown = [GOOD | {"pred": "hasPilot"}, GOOD | {"obj": "Flight", "sub_type": ""}, GOOD | {"obj": "owl:Thing"}]
    report = check_file(write(tmp_path / "t.json", unknown), validator)
    assert (report.status, report.reason) == ("unchecked", "0 of 3 triples were understood")
    assert (report.unmapped, report.violations) == ((0, 1, 2), ())
    report = check_file(write(tmp_path / "t.json", [GOOD | {"obj": "GreenLoan", "sub_type": "Flight"}]), validator)
    assert (report.status, report.unmapped) == ("consistent", (0,))


def test_a_document_nothing_of_which_is_understood_is_unchecked(validator: Validator) -> None:
    document = Document("d", "A flight.")
    unknown = Triple(subject="F", predicate="rdf:type", object="Flight")
    reader = SimpleNamespace(read=lambda document: Reading(document_id="d", triples=(unknown,)))
    found = review_document(document, reader, validator, "m")
    assert (found.label, found.reason) == ("UNCHECKED", NOTHING_READ)


def test_text_cannot_steer_the_terminal(validator: Validator, tmp_path: Path) -> None:
    evil = "\x1b[2J\u202eevil"
    items = [GOOD | {"sub": evil, "obj": kind, "quote": evil} for kind in ("SecuredLoan", "UnsecuredLoan", evil)]
    text = check_file(write(tmp_path / "t.json", items), validator).to_text()
    assert not set("\x1b\u202e") & set(text)
    assert "\ufffd[2J\ufffdevil is called secured and unsecured at once." in text


def test_a_list_and_lines_are_the_same(tmp_path: Path) -> None:
    listed = write(tmp_path / "a.json", [GOOD, GOOD])
    lines = tmp_path / "b.jsonl"
    lines.write_text(f"\ufeff{json.dumps(GOOD)}\n\n{json.dumps(GOOD)}\r\n", encoding="utf-8")
    assert read_triples(listed) == read_triples(lines)


def test_null_types_and_further_fields_are_fine(tmp_path: Path) -> None:
    (triple,) = read_triples(write(tmp_path / "a.json", [GOOD | {"sub_type": None, "confidence": 0.5}]))
    assert triple.subject_type == ""


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "holds no triples"),
        ("[]", "holds no triples"),
        ("[{", "is not JSON"),
        (json.dumps(GOOD) + '\n{"sub": ', "line 2: this is not JSON"),
        ("[1]", "0 cannot be used"),
        ('"text"', "line 1: the line cannot be used"),
        ('[{"sub": "a", "pred": "b", "obj": "c", "sub_type": "d"}]', "'0.obj_type' is missing"),
        ('[{"sub": 5, "pred": "b", "obj": "c", "sub_type": "", "obj_type": ""}]', "0.sub cannot be used"),
        ('[{"sub": null, "pred": "b", "obj": "c", "sub_type": "", "obj_type": ""}]', "0.sub cannot be used"),
        (
            '[{"sub": "a", "pred": "b", "obj": "c", "sub_type": "", "obj_type": "", "quote": []}]',
            "0.quote cannot be used",
        ),
        ("[" * 100_000, "is not JSON"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TripleError, match=complaint) as caught:
        read_triples(path)
    assert "bad.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_or_a_folder_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.json", tmp_path):
        with pytest.raises(TripleError, match=r"does not exist|cannot be read"):
            read_triples(path)


def test_odd_content_is_only_content(validator: Validator, tmp_path: Path) -> None:
    odd = ['quote " here', "line\nbreak", "😀", "<http://x/> .", "x" * 100_000]
    items = [GOOD | {"pred": "hasCollateral", "obj": text} for text in odd] + [GOOD | {"obj": "UnsecuredLoan"}]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    report = check_file(path, validator)
    assert (report.status, report.unmapped) == ("inconsistent", ())
    assert len(report.model_dump_json()) < 5_000
