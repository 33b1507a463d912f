"""The form that a model fills in about a document: which parties, terms and classes of the ontology, and how to ask.

A form is a file beside the ontology, `form.yaml`; nothing in it is code, so another domain brings its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ovrag_core.base import Frozen, OntologyError, Settings, fault, project_file, read_yaml
from ovrag_core.ontology.load import ONTOLOGIES, Ontology, OntologyTerm, TermKind

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
    classes: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form: its name there, the property that it fills, and the words that ask for it."""

    name: str
    term: OntologyTerm
    ask: str


@dataclass(frozen=True, slots=True)
class Form:
    """A form about one `thing`, a class. `kinds` are what a party may be: name, class, words.

    `choices` are the classes that a document may put the thing into, those that exclude one another together; the words
    of each are what a passage states.
    """

    thing: OntologyTerm
    about: str
    parties: tuple[FormField, ...]
    kinds: tuple[FormField, ...]
    terms: tuple[FormField, ...]
    choices: tuple[tuple[FormField, ...], ...] = ()


def read_form(path: Path, ontology: Ontology) -> Form:
    """Return the form that a file holds. Raises OntologyError naming the file and what in it the ontology lacks."""
    try:
        file = _File.model_validate(read_yaml(path, OntologyError, "name a folder that holds one"))
    except ValidationError as problem:
        raise OntologyError(f"{path}: {fault(problem)}; mend that line") from None

    def fields(asked: Iterable[tuple[str, str, str]], kind: TermKind) -> tuple[FormField, ...]:
        return tuple(FormField(name, _term(f"{path}: {name}", word, kind, ontology), ask) for name, word, ask in asked)

    return Form(
        thing=_term(f"{path}: thing", file.thing, "class", ontology),
        about=file.about,
        parties=fields(((name, field.property, field.ask) for name, field in file.parties.items()), "object"),
        kinds=fields(((name, field.class_, field.ask) for name, field in file.kinds.items()), "class"),
        terms=fields(((name, field.property, field.ask) for name, field in file.terms.items()), "data"),
        choices=_choices(fields(((name, name, ask) for name, ask in file.classes.items()), "class"), ontology),
    )


def open_form(settings: Settings, ontology: Ontology) -> Form:
    """The form that a model fills in about a document. Raises OntologyError naming what the ontology lacks."""
    return read_form((settings.ontology.domain or project_file(ONTOLOGIES)) / FORM, ontology)


def _choices(fields: Sequence[FormField], ontology: Ontology) -> tuple[tuple[FormField, ...], ...]:
    """The fields in groups: each with the first group one of whose classes its own is disjoint with."""
    groups: list[list[FormField]] = []
    for field in fields:
        near = (group for group in groups if any(ontology.are_disjoint(field.term.iri, it.term.iri) for it in group))
        if (group := next(near, None)) is None:
            groups.append([field])
        else:
            group.append(field)
    return tuple(map(tuple, groups))


_IN_WORDS: dict[TermKind, str] = {"class": "class", "object": "property between things", "data": "property with values"}


def _term(where: str, word: str, kind: TermKind, ontology: Ontology) -> OntologyTerm:
    """The term of that kind and name. Raises OntologyError where the ontology has none."""
    term = next((t for t in ontology.terms if (t.name, t.kind) == (word, kind)), None)
    if term is not None:
        return term
    near = ontology.nearest(word, "class" if kind == "class" else "property")
    hint = f" (did you mean {near}?)" if near and near != word else ""
    raise OntologyError(f"{where}: the ontology has no {_IN_WORDS[kind]} {word}{hint}; mend that line")
