"""Rules: what an axiom or a shape is called, how severe breaking it is, and how it is said.

A rule's facts are annotations of its axiom (`owl:Axiom`) or shape; `rules.yaml` switches it off or changes its
severity.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

import yaml
from rdflib import OWL, RDF, Graph, Namespace
from rdflib import Literal as Text
from rdflib.namespace import DCTERMS
from rdflib.term import Node

from ovrag_core.base import OntologyError, Severity, ViolationKind

if TYPE_CHECKING:
    from ovrag_core.ontology.load import Ontology

RULE = Namespace("urn:ovrag:rule#")
SH = Namespace("http://www.w3.org/ns/shacl#")

_SHAPE_SEVERITIES: dict[Node | None, Severity] = {
    SH.Violation: "clash",
    SH.Warning: "warning",
    SH.Info: "warning",
    None: "clash",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `supporting` rules are named as broken only where no other rule takes part in the contradiction."""

    id: str
    form: Literal["axiom", "shape"]
    kind: ViolationKind
    clash_type: str | None
    severity: Severity
    sentence: str
    message: str
    source: str
    supporting: bool = False
    enabled: bool = True


def read_rules(graph: Graph) -> tuple[Rule, ...]:
    """The rules that the graph's annotated axioms and shapes state, by id. Raises OntologyError naming the rule."""
    rules: dict[str, Rule] = {}
    for node, id_ in sorted(
        graph.subject_objects(RULE.rule), key=lambda pair: (str(pair[1]), _is_bare(graph, pair[0]))
    ):
        rule = _read_rule(graph, node, str(id_))
        earlier = rules.setdefault(rule.id, rule)
        if earlier.form != rule.form:
            raise OntologyError(f"the rule {rule.id} is stated by an axiom and by a shape; give each an id of its own")
    for rule in rules.values():
        _require_complete(rule)
    return tuple(rules[id_] for id_ in sorted(rules))


def apply_settings(rules: Iterable[Rule], path: Path) -> tuple[Rule, ...]:
    """The rules as the settings file wants them. Raises OntologyError for an unknown rule or word."""
    wanted = _read_settings(path)
    by_id = {rule.id: rule for rule in rules}
    for id_, word in wanted.items():
        if id_ not in by_id:
            near = difflib.get_close_matches(id_, by_id, n=1)
            hint = f"did you mean {near[0]}?" if near else "`ovrag rules` lists them"
            raise OntologyError(f"{path} names the unknown rule {id_}; {hint}")
        by_id[id_] = _set(by_id[id_], word, path)
    return tuple(by_id.values())


def rules_page(ontology: Ontology) -> str:
    """Markdown: each rule in a sentence, with what breaking it means and where it comes from."""
    clash_types = sorted({rule.clash_type for rule in ontology.rules if rule.clash_type})
    blocks = [
        "# Rules",
        "Generated from `ontologies/` by `ovrag rules`; edit the ontology, not this page. Switch a rule off, or lower\n"
        "it to a warning, in `ontologies/rules.yaml`. Breaking a rule of severity *clash* makes a document CLASH; a\n"
        "*warning* is listed.",
    ]
    for clash_type in (*clash_types, None):
        table = _table([rule for rule in ontology.rules if rule.clash_type == clash_type])
        blocks.append(f"## {clash_type or 'Warnings'}\n\n{table}")
    return "\n\n".join(blocks) + "\n"


def _table(rules: Sequence[Rule]) -> str:
    lines = ["| rule | severity | as | in a sentence | source |", "|---|---|---|---|---|"]
    for rule in rules:
        state = rule.severity if rule.enabled else "off"
        form = "axiom (OWL)" if rule.form == "axiom" else "shape (SHACL)"
        lines.append(f"| `{rule.id}` | {state} | {form} | {rule.sentence} | {rule.source} |")
    return "\n".join(lines)


def _is_bare(graph: Graph, node: Node) -> bool:
    return graph.value(node, RULE.sentence) is None


def _read_rule(graph: Graph, node: Node, id_: str) -> Rule:
    is_axiom = (node, RDF.type, OWL.Axiom) in graph
    severity = _text(graph, node, RULE.severity) if is_axiom else _SHAPE_SEVERITIES.get(graph.value(node, SH.severity))
    if severity not in get_args(Severity) and not (is_axiom and _is_bare(graph, node)):
        raise OntologyError(f"the rule {id_} has the severity {severity!r}; write clash or warning")
    kind = _text(graph, node, RULE.kind) or ("owl" if is_axiom else "closed_world")
    if kind not in get_args(ViolationKind):
        raise OntologyError(f"the rule {id_} has the kind {kind!r}; write owl, closed_world or identity")
    return Rule(
        id=id_,
        form="axiom" if is_axiom else "shape",
        kind=cast(ViolationKind, kind),
        clash_type=_text(graph, node, RULE.clashType),
        severity=cast(Severity, severity or "warning"),
        sentence=_text(graph, node, RULE.sentence) or "",
        message=_text(graph, node, RULE.message if is_axiom else SH.message) or "",
        source=_text(graph, node, DCTERMS.source) or "",
        supporting=graph.value(node, RULE.supporting) == Text(True),
    )


def texts(graph: Graph, node: Node, predicate: Node) -> list[str]:
    """The values of a node's property as texts, sorted."""
    return sorted(str(value) for value in graph.objects(node, predicate))


def _text(graph: Graph, node: Node, predicate: Node) -> str | None:
    return next(iter(texts(graph, node, predicate)), None)


def _require_complete(rule: Rule) -> None:
    for field in ("sentence", "message", "source"):
        if not getattr(rule, field):
            raise OntologyError(f"the rule {rule.id} has no {field}; add it to its {rule.form}")
    if rule.severity == "clash" and rule.clash_type is None:
        raise OntologyError(
            f"the rule {rule.id} is of severity clash but has no clashType; add one or make it a warning"
        )


def _read_settings(path: Path) -> dict[str, object]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise OntologyError(f"{path} cannot be read: {error}") from None
    except yaml.YAMLError:
        raise OntologyError(
            f"{path} is not valid YAML; write one `rule: off`, `warning` or `clash` a line under rules"
        ) from None
    rules = (values or {}).get("rules") if isinstance(values or {}, dict) else None
    if rules is None and values:
        raise OntologyError(f"{path} must hold one key, rules, with a rule and a word a line")
    if not isinstance(rules or {}, dict):
        raise OntologyError(f"{path}: rules must name a rule and a word a line")
    return {str(id_): word for id_, word in (rules or {}).items()}


def _set(rule: Rule, word: object, path: Path) -> Rule:
    if word is False or word == "off":
        return replace(rule, enabled=False)
    if word not in get_args(Severity):
        raise OntologyError(f"{path}: {rule.id} is set to {word!r}; write off, warning or clash")
    if word == "clash" and rule.clash_type is None:
        raise OntologyError(f"{path}: {rule.id} has no clash type and cannot be a clash; leave it a warning")
    return replace(rule, severity=cast(Severity, word))
