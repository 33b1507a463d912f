"""The form that a model fills in about a document: which parties and terms of the ontology, and how they are asked for.

A form is a file beside the ontology, `form.yaml`; nothing in it is code, so another domain brings its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ovrag_core.base import Frozen, OntologyError, fault, read_yaml
from ovrag_core.ontology.load import Ontology, OntologyTerm

FORM = "form.yaml"


class _Asked(Frozen):
    property: str
    ask: str


class _Kind(Frozen, populate_by_name=True):
    class_: Annotated[str, Field(alias="class")]
    ask: str


class _File(Frozen):
    thing: str
    about: str
    parties: dict[str, _Asked] = Field(default_factory=dict)
    kinds: dict[str, _Kind] = Field(default_factory=dict)
    terms: dict[str, _Asked] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form: its name there, the property that it fills, and the words that ask for it."""

    name: str
    term: OntologyTerm
    ask: str


@dataclass(frozen=True, slots=True)
class Form:
    """A form about one `thing`, a class. `kinds` are what a party may be: name, class, words."""

    thing: OntologyTerm
    about: str
    parties: tuple[FormField, ...]
    kinds: tuple[FormField, ...]
    terms: tuple[FormField, ...]


def read_form(path: Path, ontology: Ontology) -> Form:
    """Return the form that a file holds. Raises OntologyError naming the file and what in it the ontology lacks."""
    try:
        given = _File.model_validate(read_yaml(path, OntologyError, "name a folder that holds one"))
    except ValidationError as problem:
        raise OntologyError(f"{path}: {fault(problem)}; mend that line") from None

    def field(name: str, word: str, ask: str, kind: str) -> FormField:
        names = ontology.class_names if kind == "class" else ontology.property_names
        term = next((each for each in names.values() if each.name == word), None)
        if term is None or (kind == "object" and term.kind != "object") or (kind == "data" and term.kind != "data"):
            near = ontology.nearest_class(word) if kind == "class" else ontology.nearest_property(word)
            hint = f" (did you mean {near}?)" if near and near != word else ""
            what = {"class": "class", "object": "property between things", "data": "property with values"}[kind]
            raise OntologyError(f"{path}: {name}: the ontology has no {what} {word}{hint}; mend that line")
        return FormField(name, term, ask)

    return Form(
        thing=field("thing", given.thing, "", "class").term,
        about=given.about,
        parties=tuple(field(name, each.property, each.ask, "object") for name, each in given.parties.items()),
        kinds=tuple(field(name, each.class_, each.ask, "class") for name, each in given.kinds.items()),
        terms=tuple(field(name, each.property, each.ask, "data") for name, each in given.terms.items()),
    )
