"""A form filled in by a model: what is asked, what is found again in the text, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies
from pydantic import BaseModel

from ovrag_core.base.errors import OntologyError
from ovrag_core.base.types import Chunk, Document, Usage
from ovrag_core.llm.chat import Message, Reply
from ovrag_core.llm.schema import strict_schema
from ovrag_core.loop.answering import together
from ovrag_core.loop.form_filling import NOT_STATED, FormReader, place_of_name, place_of_value
from ovrag_core.ontology.forms import Form, read_form
from ovrag_core.ontology.load import Ontology, load_ontology

TEXT = """LOAN AGREEMENT between Harbour & Sons Bank, N.A. ("Bank") and Ms. Ana-Lucía Prieto.
The Bank lends EUR 12,500.00 at 4.25 per cent a year, repayable by 30 June 2031."""
NOTHING = dict.fromkeys(
    ("borrower", "borrower_kind", "lender", "lender_kind", "principal", "interest_rate", "maturity"), NOT_STATED
)
GOOD = {
    "borrower": "Ana-Lucia PRIETO",
    "borrower_kind": "person",
    "lender": "HARBOUR & SONS BANK, N.A., Leith",
    "lender_kind": "organisation",
    "principal": "EUR 12500",
    "interest_rate": "4.25%",
    "maturity": "2031-06-30",
}


class PlayedModel:
    """Gives the replies in their order, the last one again and again; keeps what it was asked."""

    name = "played"

    def __init__(self, *replies: dict[str, object]) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[Sequence[Message], type[BaseModel]]] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        temperature: float,
        seed: int | None,
        purpose: str,
    ) -> Reply:
        assert schema is not None and temperature == 0.0
        self.asked.append((messages, schema))
        said = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        parsed = schema.model_validate({**NOTHING, **said})
        return Reply(text=parsed.model_dump_json(), parsed=parsed, usage=Usage(), seconds=0.0, model=self.name)


@pytest.fixture(scope="module")
def ontology(project: Path) -> Ontology:
    return load_ontology(project / "ontologies")


@pytest.fixture(scope="module")
def form(project: Path, ontology: Ontology) -> Form:
    return read_form(project / "ontologies" / "form.yaml", ontology)


def filled(form: Form, *replies: dict[str, object]) -> dict[str, tuple[str, str | None, bool]]:
    fields, _ = FormReader(PlayedModel(*replies), form, str).fill(TEXT, "context")
    return {each.field.name: (each.value, each.kind, each.is_agreed) for each in fields}


def test_fields_are_found_again_in_the_letters_of_the_text(form: Form) -> None:
    assert filled(form, GOOD) == {
        "borrower": ("Ana-Lucía Prieto", "NaturalPerson", True),
        "lender": ("Harbour & Sons Bank, N.A.", "LegalEntity", True),
        "principal": ("EUR 12,500.00", None, True),
        "interest_rate": ("4.25 per cent", None, True),
        "maturity": ("30 June 2031", None, True),
    }


def test_both_orders_ask_the_same_of_the_same_beginning(form: Form) -> None:
    model = PlayedModel(GOOD)
    FormReader(model, form, str).fill(TEXT, "context")
    prompts = ["\n".join(message.content for message in messages) for messages, _ in model.asked]
    schemas = [next(iter(strict_schema(schema)["properties"])) for _, schema in model.asked]
    assert schemas == ["borrower", "lender"]
    same = next(place for place, (one, other) in enumerate(zip(*prompts, strict=False)) if one != other)
    assert same > prompts[0].index("The form:")
    assert sorted(prompts[0].splitlines()) == sorted(prompts[1].splitlines())


def test_orders_that_name_other_parties_do_not_agree(form: Form) -> None:
    swapped = {**GOOD, "borrower": GOOD["lender"], "borrower_kind": "organisation", "lender": GOOD["borrower"]}
    found = filled(form, GOOD, swapped)
    assert found["borrower"] == ("Ana-Lucía Prieto", None, False)
    assert found["principal"][2]


@pytest.mark.parametrize(
    ("copied", "name"),
    [
        ("Harbour & Sons Bank, N.A. (the Bank)", "Harbour & Sons Bank, N.A."),
        ("Harbour & Sons Bank, N.A., a national association", "Harbour & Sons Bank, N.A."),
        ("Ana Prieto, Jr., of Leith", "Ana Prieto, Jr."),
        ("Ana Prieto, residing at Leith", "Ana Prieto"),
    ],
)
def test_what_is_copied_after_a_name_is_left_out(copied: str, name: str) -> None:
    text = f"It is made between {copied} and others."
    assert text[slice(*(place_of_name(copied, text) or (0, 0)))] == name


def test_what_the_text_does_not_hold_is_dropped_and_counted(form: Form) -> None:
    invented = {"borrower": "Peter Pan", "borrower_kind": "person", "principal": "USD 1.00", "maturity": "2099-01-01"}
    assert FormReader(PlayedModel(invented, {}), form, str).fill(TEXT, "context") == ([], {"not in the text": 3})


def test_the_first_option_of_every_choice_is_not_stated(form: Form) -> None:
    model = PlayedModel(GOOD)
    FormReader(model, form, str).fill(TEXT, "context")
    schema = json.dumps(strict_schema(model.asked[0][1]))
    assert '"enum": ["not stated", "person", "organisation"]' in schema


def test_statements_have_their_passages_in_the_document(form: Form) -> None:
    before = "Page 1 of 1\n\n"
    model = PlayedModel(GOOD)
    reader = FormReader(model, form, str)
    pieces = [Chunk("", "A", len(before), len(before) + len(TEXT), TEXT)]
    triples = [each.triple(form, "context") for each in reader.read(pieces, "context").values()]
    document = before + TEXT
    assert {triple.predicate for triple in triples} == {each.term.name for each in (*form.parties, *form.terms)}
    for triple in triples:
        assert triple.evidence is not None and triple.subject_type == "Loan"
        assert document[triple.evidence.start : triple.evidence.end] == triple.evidence.quote
    assert reader.read(pieces, "context") and len(model.asked) == 2, "the same text is asked about once"


@pytest.mark.parametrize(
    ("text", "wanted", "asked"),
    [
        ("No, it is not secured.", None, []),
        ("It was lent to Ana-Lucía Prieto.", None, [["borrower", "lender"], ["lender", "borrower"]]),
        ("It was lent to Ana-Lucía Prieto.", {"lender"}, [["borrower", "lender"], ["lender", "borrower"]]),
        ("It was lent to Ana-Lucía Prieto.", {"maturity"}, []),
        ("It bears 4.25 per cent and ends in the spring.", None, [["interest_rate"]]),
        ("EUR 12,500.00 at 4.25 per cent.", {"principal", "maturity"}, [["principal"]]),
    ],
)
def test_only_what_is_wanted_and_what_the_text_can_bear_out_is_asked_for(
    form: Form, text: str, wanted: set[str] | None, asked: list[list[str]]
) -> None:
    model = PlayedModel({})
    FormReader(model, form, str).fill(text, "answer", wanted)
    fields = [[name for name in schema.model_fields if not name.endswith("_kind")] for _, schema in model.asked]
    assert fields == asked


def test_chunks_that_overlap_are_read_as_one_text() -> None:
    text = Document("A", TEXT).text
    chunks = [Chunk("2", "A", 60, 140, text[60:140]), Chunk("1", "A", 0, 80, text[:80]), Chunk("3", "B", 0, 5, "other")]
    assert [(each.document_id, each.start, each.text) for each in together(chunks)] == [
        ("A", 0, text[:140]),
        ("B", 0, "other"),
    ]


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        ("EUR 12500", "amount", "EUR 12,500.00"),
        ("4.25%", "rate", "4.25 per cent"),
        ("2031-06-30", "date", "30 June 2031"),
        ("EUR 12,5", "amount", None),
        ("2031-06-31", "date", None),
    ],
)
def test_values_are_found_however_they_are_written(value: str, kind: str, found: str | None) -> None:
    place = place_of_value(value, kind, TEXT)
    assert (TEXT[slice(*place)] if place else None) == found


@given(name=strategies.text(max_size=60), text=strategies.text(max_size=200))
def test_places_of_names_are_places_of_the_text(name: str, text: str) -> None:
    place = place_of_name(name, text)
    assert place is None or (0 <= place[0] < place[1] <= len(text))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("thing: Lone", "no class Lone (did you mean Loan?)"),
        ("terms: {rate: {property: hasBorrower, ask: x}}", "no property with values hasBorrower"),
        (
            "parties: {owner: {property: hasOwner, ask: x}}",
            "owner: the ontology has no property between things hasOwner",
        ),
        ("kinds: [", "is not valid YAML"),
        ("colour: red", "colour"),
    ],
)
def test_a_mistaken_form_is_one_sentence(tmp_path: Path, ontology: Ontology, line: str, said: str) -> None:
    path = tmp_path / "form.yaml"
    given = {"thing": "thing: Loan", "about": "about: a loan"}
    given[line.split(":", maxsplit=1)[0]] = line
    path.write_text("\n".join(given.values()))
    with pytest.raises(OntologyError) as wrong:
        read_form(path, ontology)
    assert said in str(wrong.value) and str(path) in str(wrong.value) and "\n" not in str(wrong.value)
