"""Files of domains and their shapes: both of ours hold, and what is wrong with another is said in one sentence."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from ovrag_core.base.errors import DomainError, GraphError, OntologyError
from ovrag_core.graph.shapes import read_shapes
from ovrag_studies.abstention.knowledge.domain import Domain, load_domain
from ovrag_studies.abstention.knowledge.known import open_with_domain, violations

Edit = Callable[[str], str]


@pytest.fixture
def edited(project: Path, tmp_path: Path) -> Callable[..., Path]:
    """The file of the rivers with changes to it, or to its shapes."""

    def edit(domain: Edit = str, shapes: Edit = str) -> Path:
        for name, change in (("rivers.yaml", domain), ("rivers.shacl.ttl", shapes)):
            text = (project / "ontologies/domains" / name).read_text(encoding="utf-8")
            (tmp_path / name).write_text(change(text), encoding="utf-8")
        return tmp_path / "rivers.yaml"

    return edit


def swap(old: str, new: str) -> Edit:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


def test_classes_pass_on_what_they_share_and_what_they_do_not(project: Path) -> None:
    loans = load_domain(project / "ontologies/domains/loans.yaml")
    assert ("StudentLoan", "CommercialCredit") in loans.apart  # by the class above
    assert ("Mortgage", "Contract") in loans.apart
    assert ("StudentLoan", "ConsumerCredit") not in loans.apart
    rivers = load_domain(project / "ontologies/domains/rivers.yaml")
    assert ("Sea", "CoastalWater") in rivers.nesting
    assert ("Sea", "River") not in rivers.nesting
    assert rivers.predicate("drainsTo") is rivers.predicate("hasMouth") is rivers.predicate(rivers.prefix + "hasMouth")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + "\n  - :", "is not valid YAML at line"),
        (lambda _: "- 1", "must hold keys and values"),
        (lambda _: "", "must hold keys and values"),
        (lambda _: "name: x\npredicates: [1]", "predicates must hold"),
        (lambda _: "name: x\nprefix: 'urn:'\nclasses: {}\npredicates: {}", "predicates cannot be used"),
        (swap("parent: WaterBody", "parent: Water"), "Water is no class of the domain; known are WaterBody"),
        (swap("of: WaterBody", "of: WaterBodies"), "constraints.one_mouth: WaterBodies is no class"),
        (swap("kind: asymmetric", "kind: asymetric"), "constraints.not_both_ways.kind"),
        (swap("ends_in: [Sea]", "ends_in: [See]"), "See is no class of the domain"),
        (swap('"http://example.org/rivers#"', '"rivers #"'), "is no IRI"),
        (swap("  hasMouth:", "  hasMouth:\n    iri: 'urn x'"), "predicates.hasMouth: urn x is no IRI"),
        (swap('"{subject} flows into {object}"', '"{subject} flows"'), "must hold {subject} and {object} once each"),
        (swap("predicate: hasMouth", "predicate: mouth"), "facts.predicate: mouth is no predicate"),
        (swap("    labels: [mouth, has mouth]", "    values: text"), "texts may say one thing in two ways"),
        (swap("nested:", "nestled:"), "nestled"),
    ],
)
def test_a_domain_that_cannot_be_used_is_named_with_its_place(
    edited: Callable[..., Path], change: Edit, message: str
) -> None:
    path = edited(change)
    with pytest.raises(DomainError) as caught:
        load_domain(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_domain_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="does not exist"):
        load_domain(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swap("@prefix sh:", "@prefix ssh:"), "line"),
        (swap(":OneMouth a", ":OneMouth a a"), "line"),
        (swap("?value a/rdfs:", "?value a/undeclared:"), "the query cannot be read"),
        (swap("SELECT $this ?value WHERE {", "SELECT $this ?value WHERE"), "cannot be read"),
        (swap("$this :hasMouth+ $this", "SERVICE <http://x.org> { $this :hasMouth $this }"), "SERVICE"),
        (lambda text: text.replace("sh:targetSubjectsOf :hasMouth ;", ""), "no shape with a target"),
        (swap(":NoCircle a", ":Circle a"), "has no shape http://example.org/rivers#NoCircle"),
        (swap('sh:select "SELECT $this WHERE', 'sh:selects "SELECT $this WHERE'), "has no sh:select"),
    ],
)
def test_shapes_that_cannot_be_used_are_an_error(edited: Callable[..., Path], change: Edit, message: str) -> None:
    domain = load_domain(edited(shapes=change))
    with pytest.raises((OntologyError, DomainError)) as caught:
        _ = domain.shape_set
    assert message in str(caught.value)
    assert str(domain.shapes) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_shape_may_count_values(edited: Callable[..., Path]) -> None:
    few = ":Few a sh:NodeShape ; sh:targetSubjectsOf :hasMouth ; sh:property [ sh:path :hasMouth ; sh:maxCount 1 ] ."
    path = edited(shapes=lambda text: text + few)
    shapes = read_shapes(path.with_name("rivers.shacl.ttl"))
    store = open_with_domain(str(_facts(path.parent)), load_domain(path))
    found = shapes.violations(store, ["http://example.org/rivers#Few"])
    assert {(each.focus, each.constraint) for each in found} == {(NamedNode("urn:two"), "property")}


def _facts(folder: Path) -> Path:
    path = folder / "facts.tsv"
    path.write_text(
        "subject\tsubject_label\tobject\tobject_label\tobject_kind\n"
        "urn:one\tOne River\turn:a\tA River\triver\n"
        "urn:two\tTwo River\turn:a\tA River\triver\n"
        "urn:two\tTwo River\turn:b\tB Lake\tlake\n",
        encoding="utf-8",
    )
    return path


def test_what_contradicts_itself_is_told(project: Path, tmp_path: Path) -> None:
    rivers = load_domain(project / "ontologies/domains/rivers.yaml")
    store = open_with_domain(str(_facts(tmp_path)), rivers)
    (sentence,) = violations(store, rivers)
    assert "about Two River: it has A River and B Lake, but a river has one water body as its mouth" in sentence


def test_a_graph_without_the_predicate_is_another_domains(project: Path, tmp_path: Path) -> None:
    rivers: Domain = load_domain(project / "ontologies/domains/rivers.yaml")
    path = tmp_path / "graph.ttl"
    path.write_text("<urn:a> <http://example.org/other#hasMouthAt> <urn:b> ; <urn:x> <urn:c> .", encoding="utf-8")
    with pytest.raises(
        GraphError, match=r"no fact under a predicate of rivers, such as http://example.org/rivers#hasMouth"
    ):
        open_with_domain(str(path), rivers)
