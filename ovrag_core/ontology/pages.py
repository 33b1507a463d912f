"""What an ontology can say and which rules it states, as pages for people and prompts. Generated, never edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ovrag_core.ontology.load import Ontology, Term
from ovrag_core.ontology.rules import Rule

_KINDS_OF_VALUE = {
    "amount": "an amount with its currency, like USD 254,000.00",
    "rate": "per cent a year, like 5.75%",
    "date": "a date, like 2031-06-30",
    "months": "a duration, like 348 months",
    "boolean": "true or false",
    "text": "text",
}


def vocabulary(ontology: Ontology) -> str:
    """The classes and properties, a line each, as `ovrag vocabulary` prints them and extraction prompts hold them."""
    lines = ["Classes (predicate rdf:type):", *(f"- {_class_line(term)}" for term in ontology.classes)]
    lines += [
        "",
        "Properties:",
        *(f"- {_property_line(term, ontology)}" for term in ontology.properties if term.inverse is None),
    ]
    return "\n".join(lines) + "\n"


def vocabulary_data(ontology: Ontology) -> dict[str, list[dict[str, Any]]]:
    """The same for programs: name, label, parents and alternative names of each class and property."""
    return {
        "classes": [_entry(term) for term in ontology.classes],
        "properties": [_entry(term) | {"kind": term.kind, "values": term.values} for term in ontology.properties],
    }


def rules_page(ontology: Ontology) -> str:
    """Markdown: each rule in a sentence, with what breaking it means and where it comes from."""
    clash_types = sorted({rule.clash_type for rule in ontology.rules if rule.clash_type})
    parts = [
        "# Rules",
        "Generated from `ontologies/` by `ovrag rules`; edit the ontology, not this page. Switch a rule off, or lower\n"
        "it to a warning, in `ontologies/rules.yaml`. Breaking a rule of severity *clash* makes a document CLASH; a\n"
        "*warning* is listed.",
    ]
    for clash_type in clash_types:
        parts.append(
            f"## {clash_type}\n\n" + _table([rule for rule in ontology.rules if rule.clash_type == clash_type])
        )
    parts.append("## Warnings\n\n" + _table([rule for rule in ontology.rules if rule.clash_type is None]))
    return "\n\n".join(parts) + "\n"


def _table(rules: Sequence[Rule]) -> str:
    rows = [f"| `{rule.id}` | {_state(rule)} | {_checked(rule)} | {rule.sentence} | {rule.source} |" for rule in rules]
    return "\n".join(["| rule | severity | as | in a sentence | source |", "|---|---|---|---|---|", *rows])


def _state(rule: Rule) -> str:
    return rule.severity if rule.enabled else "off"


def _checked(rule: Rule) -> str:
    return "axiom (OWL)" if rule.form == "axiom" else "shape (SHACL)"


def _class_line(term: Term) -> str:
    above = f" (a {', '.join(term.parents)})" if term.parents else ""
    return f"{term.name}{above}: {term.label}"


def _property_line(term: Term, ontology: Ontology) -> str:
    if term.kind == "object":
        ends = [
            ", ".join(sorted(ontology.by_iri[iri].name for iri in side)) or "anything" for side in ontology.ends(term)
        ]
        return f"{term.name}: from {ends[0]} to {ends[1]}"
    return f"{term.name}: {_KINDS_OF_VALUE.get(term.values, 'text')}"


def _entry(term: Term) -> dict[str, Any]:
    return {
        "name": term.name,
        "label": term.label,
        "iri": term.iri,
        "parents": list(term.parents),
        "alternatives": list(term.alternatives),
    }
