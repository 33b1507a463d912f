"""Rules: what an axiom or a shape is called, how severe breaking it is, and how it is said.

A rule's facts are annotations of its axiom (`owl:Axiom`) or shape; `rules.yaml` switches it off or changes its
severity.
"""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from pydantic import ValidationError
from rdflib import OWL, RDF, Graph, Namespace
from rdflib import Literal as Text
from rdflib.namespace import DCTERMS
from rdflib.term import Node

from ovrag_core.base import Frozen, OntologyError, Severity, ViolationKind, fault, read_yaml

RULE = Namespace("urn:ovrag:rule#")
SH = Namespace("http://www.w3.org/ns/shacl#")
PLACEHOLDER = re.compile(r"\{([^}]*)\}")  # in a message

_SHAPE_SEVERITIES: dict[Node | None, Severity] = {SH.Violation: "clash", SH.Warning: "warning", SH.Info: "warning"}


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
    stated = sorted(graph.subject_objects(RULE.rule), key=lambda pair: (str(pair[1]), _is_bare(graph, pair[0])))
    for node, id_ in stated:
        rule = _read_rule(graph, node, str(id_))
        earlier = rules.setdefault(rule.id, rule)
        if earlier.form != rule.form:
            raise OntologyError(f"the rule {rule.id} is stated by an axiom and by a shape; give each an id of its own")
    for rule in rules.values():
        _require_complete(rule)
    return tuple(rules[id_] for id_ in sorted(rules))


class _Settings(Frozen):
    """The file of rule settings: a word for each rule, where YAML reads a bare `off` as false."""

    rules: dict[str, bool | str] | None = None


def apply_settings(rules: Iterable[Rule], path: Path) -> tuple[Rule, ...]:
    """The rules as the settings file wants them. Raises OntologyError for an unknown rule or word."""
    remedy = "write one `rule: off`, `warning` or `clash` a line under rules"
    try:
        wanted = _Settings.model_validate(read_yaml(path, OntologyError, remedy) or {}).rules or {}
    except ValidationError as error:
        raise OntologyError(f"{path}: {fault(error)}; {remedy}") from None
    by_id = {rule.id: rule for rule in rules}
    for id_, word in wanted.items():
        if id_ not in by_id:
            near = difflib.get_close_matches(id_, by_id, n=1)
            hint = f"did you mean {near[0]}?" if near else "`ovrag rules` lists them"
            raise OntologyError(f"{path} names the unknown rule {id_}; {hint}")
        by_id[id_] = _set(by_id[id_], word, path)
    return tuple(by_id.values())


def _is_bare(graph: Graph, node: Node) -> bool:
    return graph.value(node, RULE.sentence) is None


def _read_rule(graph: Graph, node: Node, id_: str) -> Rule:
    is_axiom = (node, RDF.type, OWL.Axiom) in graph
    severity = (
        _text(graph, node, RULE.severity)
        if is_axiom
        else _SHAPE_SEVERITIES.get(graph.value(node, SH.severity, default=SH.Violation))
    )
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
        remedy = "add one or make it a warning"
        raise OntologyError(f"the rule {rule.id} is of severity clash but has no clashType; {remedy}")


def _set(rule: Rule, word: object, path: Path) -> Rule:
    if word is False or word == "off":
        return replace(rule, enabled=False)
    if word not in get_args(Severity):
        raise OntologyError(f"{path}: {rule.id} is set to {word!r}; write off, warning or clash")
    if word == "clash" and rule.clash_type is None:
        raise OntologyError(f"{path}: {rule.id} has no clash type and cannot be a clash; leave it a warning")
    return replace(rule, severity=cast(Severity, word))
