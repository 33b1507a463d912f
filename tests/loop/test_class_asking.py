"""Another domain without code: its classes asked passage by passage, its documents reviewed by its own ontology."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from faulty_server import MODEL, Call, refusal, scripted
from pydantic import BaseModel

from ovrag_core.base.settings import Settings
from ovrag_core.base.types import Chunk, Document, Evidence
from ovrag_core.llm import Message
from ovrag_core.loans import workbench
from ovrag_core.loans.workbench import make_validator
from ovrag_core.loop.class_asking import ClassAsker, _windows
from ovrag_core.ontology import open_form, open_ontology
from ovrag_core.ontology.forms import Form
from ovrag_core.retrieval import minilm

LEASES = Path("ontologies/examples/leases")
Ovrag = Callable[..., tuple[int, str, str]]
Start = Callable[..., Settings]

# What a model that reads well says of the documents' passages: words of the passage, classes that it states.
SAYS = {
    "is let furnished": "FurnishedLease",
    "Pets are welcome": "PetsAllowedLease",
    "no pets are to be kept": "PetsForbiddenLease",
    "may keep a dog": "PetsAllowedLease",
    "are included in this rent": "InclusiveRentLease",
    "pays his own water": "ExclusiveRentLease",
    "continues until it is ended by notice": "PeriodicLease",
}


def reader(call: Call) -> object:
    """Fills in forms with what stands behind fixed words, and knows what some passages state."""
    asked = call.messages[1]["content"]
    text = call.fenced[0]
    if "What does it state?" in asked:
        stated = (name for words, name in SAYS.items() if words in text and f"- {name}: " in asked)
        return {"states": next(stated, "not stated")}
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    day = "31 March 2026" if "31 March 2026" in text else "not stated"
    return {
        "tenant": lines.get("Tenant", "not stated"),
        "tenant_kind": "person",
        "landlord": lines.get("Owner", "not stated"),
        "landlord_kind": "person",
        "rent": "not stated",
        "deposit": "not stated",
        "first_day": "not stated",
        "last_day": day,
    }


@pytest.fixture
def folder(start: Start, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example's folder, for commands that validate by its own ontology and not by the one that tests share."""
    monkeypatch.setattr(workbench, "make_validator", make_validator)
    return project / LEASES


def reviewed(start: Start, ovrag: Ovrag, folder: Path, name: str) -> tuple[int, dict[str, object]]:
    settings = start(scripted(reader), **{"extraction.form": "short"})
    words = ("review", str(folder / "documents" / f"{name}.txt"), "--ontology", str(folder), "--format", "jsonl")
    code, out, _ = ovrag(settings, *words)
    return code, json.loads(out)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("harbour_lofts", "utilities_exclusive"), ("garden_flat", "pets_exclusive"), ("mill_cottage", "last_day_ends_it")],
)
def test_another_domain_is_reviewed_by_its_own_ontology(
    start: Start, ovrag: Ovrag, folder: Path, name: str, rule: str
) -> None:
    code, found = reviewed(start, ovrag, folder, name)
    assert (code, found["label"], found["model"]) == (1, "CLASH", MODEL)
    text = (folder / "documents" / f"{name}.txt").read_text()
    (violation,) = [each for each in found["violations"] if each["severity"] == "clash"]
    assert violation["rule"] == rule and violation["evidence"]
    for each in (*violation["evidence"], *(stated["evidence"] for stated in found["stated"])):
        assert text[each["start"] : each["end"]] == each["quote"]


def test_a_sound_document_is_clean_and_an_unread_one_is_no_pass(start: Start, ovrag: Ovrag, folder: Path) -> None:
    code, found = reviewed(start, ovrag, folder, "quay_house")
    assert (code, found["label"]) == (0, "CLEAN")
    path = str(folder / "documents" / "quay_house.txt")
    code, out, err = ovrag(
        start(lambda call: refusal(), **{"llm.store": "other.jsonl"}), "review", path, "--ontology", str(folder)
    )
    assert code == 2 and "not checked" in out and "the model declined to answer" in err.splitlines()[-1]


def test_a_question_about_another_domain(start: Start, ovrag: Ovrag, folder: Path) -> None:
    def model(call: Call) -> object:
        return reader(call) if call.wants_json else "Pets are welcome."

    path = str(folder / "documents" / "harbour_lofts.txt")
    code, out, _ = ovrag(start(scripted(model)), "ask", "May I keep a dog?", "-d", path, "--ontology", str(folder))
    assert code == 1 and "Pets are welcome." in out and "includes the utilities" in out


def test_another_domain_needs_a_model_to_be_read_and_none_to_be_checked(
    call: Callable[..., tuple[int, str, str]], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    code, _, err = call("review", str(LEASES / "documents" / "quay_house.txt"), "--ontology", str(LEASES))
    assert code == 2 and "are read by a language model; name one" in err.splitlines()[-1]
    code, _, err = call("review", str(LEASES / "documents"), "--ontology", str(LEASES), "--deal")
    assert code == 2 and "--deal and --html are for loan agreements" in err
    triples = str(LEASES / "triples.json")
    code, out, _ = call("check", triples, "--ontology", str(LEASES))
    assert code == 1 and "is called furnished and unfurnished at once" in out
    code, _, err = call("check", triples, "--ontology", str(tmp_path))
    assert code == 2 and "holds no ontology" in err


def test_what_cannot_be_understood_by_another_domain_is_no_pass(
    call: Callable[..., tuple[int, str, str]], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    triple = {"sub": "Loan", "pred": "hasBorrower", "obj": "Jane Roe", "sub_type": "Loan", "obj_type": ""}
    (tmp_path / "triples.json").write_text(json.dumps([triple]))
    code, out, err = call("check", str(tmp_path / "triples.json"), "--ontology", str(LEASES))
    assert code == 2 and out.startswith("unchecked: 0 of 1 triples") and "was not checked: 0 of 1 triples" in err


def test_rules_and_vocabulary_are_those_of_another_domain(
    call: Callable[..., tuple[int, str, str]], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    rules, words = (call(command, "--ontology", str(LEASES))[1] for command in ("rules", "vocabulary"))
    assert "tenant_dwells" in rules and "mortgage_secured" not in rules
    assert "- hasTenant: from Lease to Party" in words and "hasBorrower" not in words


def test_the_recorded_replies_of_the_example_are_replayed(
    call: Callable[..., tuple[int, str, str]], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    words = [str(LEASES / "documents"), "--ontology", str(LEASES), "--format", "jsonl", "-S", "llm.provider=replay"]
    words += ["-S", "llm.store=data/replies/leases.jsonl.xz", "-S", "llm.max_tokens=400"]
    code, out, _ = call("review", *words, "-S", "llm.model=qwen2.5-coder-1.5b-instruct-q4_k_m")
    reviews = [json.loads(line) for line in out.splitlines()]
    gold = json.loads((LEASES / "gold.json").read_text())
    assert code == 1 and {Path(each["document"]).stem for each in reviews} == set(gold)
    for each in reviews:
        due = set(gold[Path(each["document"]).stem]["classes"])
        stated = {it["object"] for it in each["stated"] if it["predicate"] == "rdf:type"}
        assert len(stated - due) <= 1 and stated & due, each["document"]


@pytest.fixture(scope="module")
def form(project: Path) -> Form:
    settings = Settings.model_validate({"ontology": {"domain": project / LEASES}})
    return open_form(settings, open_ontology(settings))


def test_classes_that_exclude_one_another_are_one_choice(form: Form) -> None:
    names = [{field.name for field in choice} for choice in form.choices]
    assert {"FurnishedLease", "UnfurnishedLease"} in names and {"StaffHousingLease"} in names
    assert len(names) == 6


class Chat:
    """Answers by a function of the passage and the options in their order, and remembers what it was asked."""

    name = "played"

    def __init__(self, answer: Callable[[str, list[str]], str]) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self._answer = answer

    def complete(self, messages: Sequence[Message], *, schema: type[BaseModel], **how: object) -> Any:
        passage = messages[1].content.split("\n")[2]
        self.asked.append((passage, list(schema.model_json_schema()["properties"]["states"]["enum"])))
        parsed = schema.model_validate({"states": self._answer(*self.asked[-1])})
        return type("R", (), {"parsed_as": staticmethod(lambda wanted: parsed)})


def stated(chat: Chat, form: Form, text: str, taken: str = "") -> dict[str, str]:
    """Class → quote of what is found in a text that begins at 10 of its document."""
    place = 10 + text.index(taken) if taken else 10
    evidence = [Evidence(document_id="A", start=place, end=place + len(taken), quote=taken)] if taken else []
    asker = ClassAsker(chat, form, minilm())
    found = asker.read([Chunk("", "A", 10, 10 + len(text), text)], "context", evidence)
    assert all(text[t.evidence.start - 10 : t.evidence.end - 10] == t.evidence.quote for t in found if t.evidence)
    before = len(chat.asked)
    assert len(asker.read([Chunk("", "A", 10, 10 + len(text), text)], "context", evidence)) == len(found)
    assert len(chat.asked) == before, "the same question is asked once"
    return {triple.object: triple.evidence.quote for triple in found if triple.evidence}


def test_passages_are_asked_about_what_is_near_them(form: Form) -> None:
    text = (
        "LEASE OF A FURNISHED FLAT\n\nThe flat is let with furniture.\n\nThe rent is due on the first of each month."
        "\n\nThe moon is made of green cheese and nobody minds.\n\nTenant: Ada Byron-Lovelace"
    )
    chat = Chat(lambda passage, options: "FurnishedLease" if "furniture" in passage else options[0])
    assert stated(chat, form, text, "Ada Byron-Lovelace") == {"FurnishedLease": "The flat is let with furniture."}
    asked = {passage for passage, _ in chat.asked}
    assert asked == {"The flat is let with furniture."}, (
        "no heading, no line that a field fills, nothing that is far off"
    )
    orders = [options for _, options in chat.asked]
    assert len(orders) == 2 and orders[0][1:] == orders[1][:0:-1], "both orders of the options"
    assert orders[0][0] == orders[1][0] == "not stated"
    assert {"FurnishedLease", "UnfurnishedLease"} < set(orders[0])


def test_what_a_model_says_in_one_order_only_is_not_stated(form: Form) -> None:
    chat = Chat(lambda passage, options: options[1])
    assert stated(chat, form, "The flat is let with furniture.\n\nPets may not be kept.") == {}
    assert len(chat.asked) == 4


def test_what_a_passage_says_of_a_party_or_a_term_is_no_class(form: Form) -> None:
    terms = {field.name for field in (*form.parties, *form.terms)}
    chat = Chat(lambda passage, options: next((each for each in options if each in terms), options[0]))
    assert stated(chat, form, "Water and heating are included in the rent of each month.") == {}
    assert chat.asked


def test_long_documents_are_read_in_pieces_that_end_with_passages() -> None:
    text = "\n\n".join(f"Clause {number} says something of its own." for number in range(60))
    pieces = _windows(Document("A", text), 500)
    assert "".join(piece.text for piece in pieces) == text
    assert all(len(piece.text) <= 500 and piece.text.rstrip().endswith(".") for piece in pieces)
