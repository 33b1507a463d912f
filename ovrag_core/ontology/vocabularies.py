"""List what an ontology can say, for people, prompts and programs."""

from typing import Any

from ovrag_core.ontology.load import Ontology, OntologyTerm

_NAMES = ("name", "label", "iri", "parents", "alternatives")
_KINDS_OF_VALUE = {
    "amount": "an amount with its currency, like USD 254,000.00",
    "rate": "per cent a year, like 5.75%",
    "date": "a date, like 2031-06-30",
    "months": "a duration, like 348 months",
    "boolean": "true or false",
    "text": "text",
}


def vocabulary(ontology: Ontology) -> dict[str, list[dict[str, Any]]]:
    """Name, label, IRI, parents and alternative names of each class and property, for programs."""
    return {
        "classes": [{name: getattr(term, name) for name in _NAMES} for term in ontology.classes],
        "properties": [
            {name: getattr(term, name) for name in (*_NAMES, "kind", "values")} for term in ontology.properties
        ],
    }


def vocabulary_text(ontology: Ontology) -> str:
    """The classes and properties, a line each, as `ovrag vocabulary` prints them and extraction prompts hold them."""
    lines = ["Classes (predicate rdf:type):"]
    for term in ontology.classes:
        above = f" (a {', '.join(term.parents)})" if term.parents else ""
        lines.append(f"- {term.name}{above}: {term.label}")
    lines += ["", "Properties:"]
    lines += [f"- {_property_line(term, ontology)}" for term in ontology.properties if term.inverse is None]
    return "\n".join(lines) + "\n"


def _property_line(term: OntologyTerm, ontology: Ontology) -> str:
    if term.kind == "object":
        ends = ((ontology.by_iri[iri].name for iri in side) for side in ontology.ends(term))
        origin, target = (", ".join(sorted(names)) or "anything" for names in ends)
        return f"{term.name}: from {origin} to {target}"
    return f"{term.name}: {_KINDS_OF_VALUE.get(term.values, 'text')}"
