"""What a graph licenses to say of a claim, the proof of it, and the second look at each proof."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pyshacl
import pytest
from epistemic_rivers import opened
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, serialize
from rdflib import RDF, Graph
from sparql_server import SparqlServer, from_graph

from ovrag_core.base.errors import DomainError, Unchecked
from ovrag_core.graph import EmbeddedStore, Term, open_graph
from ovrag_core.graph.endpoint import EndpointStore
from ovrag_core.graph.shapes import SH
from ovrag_studies.abstention.knowledge.domain import Domain, load_domain
from ovrag_studies.abstention.knowledge.known import Known, violations
from ovrag_studies.abstention.knowledge.likeness import names_alike
from ovrag_studies.abstention.licensing.licence import (
    CHAIN,
    COMPLETE,
    LicenceVerdict,
    as_data,
    license_any,
    license_claim,
    recheck,
)
from ovrag_studies.abstention.parsing.claim_reader import GraphClaim

WATERS = "http://example.org/waters/"
# Name, kind and mouth of each water; several mouths with a bar between them. The rivers are made up.
MOUTHS = """
Upper Brook > Alder River
Alder River > Great Esk
Great Esk > Northern Ocean
Sandy Creek > Great Esk
Heron Creek > Mirror Lake
Bay River > Heron Bay
Mill Creek (Ardshire) > Great Esk
Mill Creek (Benshire) > Alder River
Town River > Ardshire
Prose Creek > confluence with the Alder River
Lost Creek > Hidden River
Clash Creek > Great Esk | Mirror Lake
Below Clash > Clash Creek
Two Ways > Northern Ocean | Heron Bay
Ring One > Ring Two
Ring Two > Ring Three
Ring Three > Ring One
Feeder > Ring One
"""
KINDS = {
    "Northern Ocean": "sea",
    "Southern Ocean": "sea",
    "Heron Bay": "coast",
    "Mirror Lake": "lake",
    "Ardshire": "administrative",
}
OTHERS = ["Southern Ocean > Northern Ocean", "Lake Alone > Mirror Lake"]


def iri(name: str) -> NamedNode:
    return NamedNode(WATERS + name.replace(" ", "_"))


@pytest.fixture(scope="module")
def rivers(project: Path) -> Domain:
    return load_domain(project / "ontologies/domains/rivers.yaml")


@pytest.fixture(scope="module")
def loans(project: Path) -> Domain:
    return load_domain(project / "ontologies/domains/loans.yaml")


@pytest.fixture(scope="module")
def waters(tmp_path_factory: pytest.TempPathFactory, rivers: Domain) -> EmbeddedStore:
    path = tmp_path_factory.mktemp("waters") / "facts.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter="\t")
        rows.writerow(["subject", "subject_label", "object", "object_label", "object_kind"])
        for line in MOUTHS.strip().splitlines():
            river, _, mouths = line.partition(" > ")
            for mouth in mouths.split(" | "):
                kind = KINDS.get(mouth, "text" if mouth.startswith("confluence") else "river")
                rows.writerow([iri(river).value, river, iri(mouth).value, mouth, kind])
        rows.writerow([iri("Far River").value, "Far River", iri("Southern Ocean").value, "Southern Ocean", "sea"])
    return open_graph(path, rivers.table)


def claim(subject: str, object_: str, predicate: str = "hasMouth") -> GraphClaim:
    return GraphClaim(iri(subject), predicate, iri(object_))


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "verdict", "constraint"),
    [
        ("Alder River", "hasMouth", "Great Esk", "YES", None),
        ("Upper Brook", "drainsTo", "Northern Ocean", "YES", None),
        ("Upper Brook", "drainsTo", "Alder River", "YES", None),
        ("Alder River", "hasMouth", "Mirror Lake", "NO", "one_mouth"),
        ("Upper Brook", "hasMouth", "Great Esk", "NO", "one_mouth"),  # two steps down is not the mouth
        ("Alder River", "hasMouth", "Upper Brook", "NO", "one_mouth"),
        ("Hidden River", "hasMouth", "Lost Creek", "NO", "not_both_ways"),
        ("Great Esk", "drainsTo", "Upper Brook", "NO", "no_circle"),
        ("Hidden River", "hasMouth", "Hidden River", "NO", "no_circle"),
        ("Upper Brook", "drainsTo", "Mirror Lake", "NO", CHAIN),
        ("Hidden River", "hasMouth", "Great Esk", "UNKNOWN", None),
        ("Lost Creek", "drainsTo", "Great Esk", "UNKNOWN", None),  # the chain stops at Hidden River
        ("Town River", "hasMouth", "Great Esk", "UNKNOWN", None),  # a county is no water body
        ("Prose Creek", "hasMouth", "Great Esk", "UNKNOWN", None),
        ("Bay River", "hasMouth", "Northern Ocean", "UNKNOWN", None),  # the bay may be a part of it
        ("Great Esk", "hasMouth", "Heron Bay", "UNKNOWN", None),
        ("Great Esk", "drainsTo", "Southern Ocean", "UNKNOWN", None),  # one sea may lie in another
        ("Heron Creek", "drainsTo", "Great Esk", "UNKNOWN", None),  # water flows on from a lake
        ("Alder River", "hasMouth", "Ardshire", "UNKNOWN", None),  # nothing says that a county is not where it ends
        ("Two Ways", "hasMouth", "Northern Ocean", "YES", None),
        ("Two Ways", "hasMouth", "Hidden River", "NO", "one_mouth"),
        ("Two Ways", "hasMouth", "Mirror Lake", "UNKNOWN", None),  # of which the bay may be a part
        ("Clash Creek", "hasMouth", "Great Esk", "UNCHECKED", None),
        ("Clash Creek", "hasMouth", "Heron Creek", "UNCHECKED", None),
        ("Below Clash", "hasMouth", "Clash Creek", "YES", None),  # what it says of itself is sound
        ("Below Clash", "drainsTo", "Great Esk", "UNCHECKED", None),
        ("Ring One", "hasMouth", "Ring Two", "UNCHECKED", None),
        ("Feeder", "hasMouth", "Ring One", "YES", None),
        ("Feeder", "drainsTo", "Ring Three", "UNCHECKED", None),
    ],
)
def test_each_claim_gets_its_verdict_and_its_proof_bears_a_second_look(
    waters: EmbeddedStore,
    rivers: Domain,
    subject: str,
    predicate: str,
    object_: str,
    verdict: str,
    constraint: str | None,
) -> None:
    licence = license_claim(claim(subject, object_, predicate), waters, rivers)
    assert (licence.verdict, licence.constraint) == (verdict, constraint), licence.lacking
    assert bool(licence.lacking) == (verdict in ("UNKNOWN", "UNCHECKED"))
    checked = verdict == "YES" or constraint in rivers.predicates["hasMouth"].constraints
    assert recheck(licence, waters, rivers) is (True if checked else None)


def test_a_yes_by_the_chain_carries_every_link(waters: EmbeddedStore, rivers: Domain) -> None:
    licence = license_claim(claim("Upper Brook", "Northern Ocean", "drainsTo"), waters, rivers)
    steps = [(part.subject, part.object) for part in licence.proof]
    assert steps == [
        (iri("Upper Brook"), iri("Alder River")),
        (iri("Alder River"), iri("Great Esk")),
        (iri("Great Esk"), iri("Northern Ocean")),
    ]


def test_a_no_carries_what_it_contradicts_with_names_and_classes(waters: EmbeddedStore, rivers: Domain) -> None:
    licence = license_claim(claim("Alder River", "Mirror Lake"), waters, rivers)
    said = {(part.subject, part.predicate.value.rsplit("#")[-1], part.object) for part in licence.proof}
    assert (iri("Alder River"), "hasMouth", iri("Great Esk")) in said
    assert (iri("Mirror Lake"), "label", Literal("Mirror Lake")) in said
    assert (iri("Mirror Lake"), "type", rivers.class_iri("Lake")) in said


def test_unknown_says_what_is_lacking(waters: EmbeddedStore, rivers: Domain) -> None:
    def lacking(subject: str, object_: str, predicate: str = "hasMouth") -> str:
        return license_claim(claim(subject, object_, predicate), waters, rivers).lacking

    assert lacking("Hidden River", "Great Esk") == "no mouth of Hidden River is recorded"
    assert "stops at Hidden River" in lacking("Lost Creek", "Great Esk", "drainsTo")
    assert "Ardshire, is not known to be a WaterBody" in lacking("Town River", "Great Esk")
    assert lacking("Bay River", "Northern Ocean") == "Heron Bay and Northern Ocean may lie one in the other"


def test_a_forged_proof_does_not_bear_a_second_look(waters: EmbeddedStore, rivers: Domain) -> None:
    yes = license_claim(claim("Alder River", "Great Esk"), waters, rivers)
    no = license_claim(claim("Alder River", "Mirror Lake"), waters, rivers)
    two_ways = license_claim(claim("Two Ways", "Hidden River"), waters, rivers)
    chain = license_claim(claim("Upper Brook", "Northern Ocean", "drainsTo"), waters, rivers)
    made_up = Triple(iri("Alder River"), NamedNode(rivers.predicates["hasMouth"].iri), iri("Mirror Lake"))
    forged = [
        replace(yes, claim=claim("Alder River", "Mirror Lake")),
        replace(yes, claim=claim("Alder River", "Mirror Lake"), proof=(made_up,)),
        replace(yes, proof=()),
        replace(no, claim=claim("Alder River", "Great Esk")),
        replace(no, constraint="no_circle"),
        replace(no, proof=()),
        replace(two_ways, claim=claim("Two Ways", "Mirror Lake")),
        replace(chain, proof=chain.proof[:-1]),
        replace(chain, proof=chain.proof[::-1]),
    ]
    assert [recheck(each, waters, rivers) for each in forged] == [False] * len(forged)


def test_the_shapes_judge_with_pyshacl_as_with_queries(waters: EmbeddedStore, rivers: Domain) -> None:
    known = Known(waters, rivers, rivers.predicates["hasMouth"])
    data = as_data(waters.triples(predicate=known.iri), known)
    queried = rivers.shape_set.violations(EmbeddedStore(data))
    graph = Graph().parse(data=serialize(data, format=RdfFormat.N_TRIPLES), format="nt")
    _, report, _ = pyshacl.validate(graph, shacl_graph=Graph().parse(rivers.shapes), inplace=True)
    judged = {
        (str(report.value(each, SH.sourceShape)), NamedNode(str(report.value(each, SH.focusNode))))
        for each in report.subjects(RDF.type, SH.ValidationResult)
    }
    assert {(each.shape, each.focus) for each in queried} == judged
    assert {each.shape.rsplit("#")[-1] for each in queried} == {"OneMouth", "NoCircle"}


def test_what_contradicts_itself_is_reported_once_for_each_subject(waters: EmbeddedStore, rivers: Domain) -> None:
    sentences = violations(waters, rivers)
    assert [sentence.split("about ")[1].split(":")[0] for sentence in sentences] == [
        "Clash Creek",
        "Ring One",
        "Ring Three",
        "Ring Two",
    ]


def test_a_name_of_several_things_is_licensed_only_where_all_agree(waters: EmbeddedStore, rivers: Domain) -> None:
    both = ["Mill Creek (Ardshire)", "Mill Creek (Benshire)"]
    differing = license_any([claim(name, "Great Esk") for name in both], waters, rivers)
    agreeing = license_any([claim(name, "Northern Ocean", "drainsTo") for name in both], waters, rivers)
    assert differing.verdict == LicenceVerdict.UNKNOWN
    assert "2 claims" in differing.lacking
    assert agreeing.verdict == LicenceVerdict.YES


def test_an_endpoint_licenses_as_the_graph_behind_it(waters: EmbeddedStore, rivers: Domain) -> None:
    asked = [
        claim("Alder River", "Mirror Lake"),
        claim("Upper Brook", "Northern Ocean", "drainsTo"),
        claim("Upper Brook", "Mirror Lake", "drainsTo"),
        claim("Hidden River", "Great Esk"),
        claim("Clash Creek", "Great Esk"),
    ]
    with SparqlServer(from_graph(waters.triples())) as server, EndpointStore(server.url) as remote:
        there = [license_claim(each, remote, rivers) for each in asked]
        assert [recheck(each, remote, rivers) for each in there] == [True, True, None, None, None]
    assert there == [license_claim(each, waters, rivers) for each in asked]
    gone = license_claim(asked[0], EndpointStore(server.url, attempts=1), rivers)
    assert gone.verdict == LicenceVerdict.UNCHECKED


def test_no_answer_of_the_store_is_unchecked_and_never_unknown(rivers: Domain) -> None:
    class Silent:
        def ask(self, query: str, terms: object = None) -> bool:
            raise Unchecked("the endpoint does not answer")

        def select(self, query: str, terms: object = None) -> list[dict[str, Term]]:
            raise Unchecked("the endpoint does not answer")

        def triples(self, subject: object = None, predicate: object = None, object_: object = None) -> list[Triple]:
            raise Unchecked("the endpoint does not answer")

    licence = license_claim(claim("Alder River", "Great Esk"), Silent(), rivers)
    assert (licence.verdict, licence.lacking) == (LicenceVerdict.UNCHECKED, "the endpoint does not answer")


def test_a_text_that_looks_like_a_query_is_text(rivers: Domain) -> None:
    hostile = '" } UNION { ?s ?p ?o . FILTER("" = "'
    of, label = NamedNode(rivers.predicates["hasMouth"].iri), NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    store = EmbeddedStore([Triple(iri("A"), of, iri("B")), Triple(iri("C"), label, Literal(hostile + "\n<script>"))])
    said = license_claim(GraphClaim(iri("A"), "hasMouth", Literal(hostile)), store, rivers)
    of_named = license_claim(GraphClaim(iri("C"), "hasMouth", iri("B")), store, rivers)
    assert said.verdict == of_named.verdict == LicenceVerdict.UNKNOWN
    assert hostile in of_named.lacking


def test_an_unknown_predicate_names_the_known(waters: EmbeddedStore, rivers: Domain) -> None:
    with pytest.raises(DomainError, match="hasMoth is no predicate of rivers; it has hasMouth"):
        license_claim(claim("Alder River", "Great Esk", "hasMoth"), waters, rivers)


LOAN = """subject\tsubject_label\tpredicate\tobject\tobject_label\tobject_kind
urn:c1\tcontract 1\thasBorrower\turn:ann\tAnn\tparty
urn:c1\tcontract 1\thasLender\turn:bank\tOld Bank\tparty
urn:c1\tcontract 1\thasKind\turn:mortgage\tMortgage Loan\tkind
urn:c1\tcontract 1\thasPrincipal\tUSD 254,000.00\tUSD 254,000.00\tliteral
urn:c1\tcontract 1\thasInterestRate\t4.2%\t4.2%\tliteral
urn:c2\tcontract 2\thasKind\turn:card\tCredit Card Account\tkind
urn:c2\tcontract 2\thasBorrower\turn:bob\tBob\tparty
"""


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "verdict", "constraint"),
    [
        ("c1", "hasBorrower", NamedNode("urn:ann"), "YES", None),
        ("c1", "hasBorrower", NamedNode("urn:bob"), "UNKNOWN", None),  # two people may borrow together
        ("c1", "hasBorrower", NamedNode("urn:bank"), "NO", "other_side"),
        ("c1", "hasLender", NamedNode("urn:card"), "NO", "by_a_party"),
        ("ann", "hasLender", NamedNode("urn:bank"), "NO", "of_a_contract"),
        ("c1", "hasKind", NamedNode("urn:card"), "NO", "one_kind"),
        ("c1", "hasPrincipal", Literal("$254,000"), "YES", None),
        ("c1", "hasPrincipal", Literal("254,000"), "YES", None),
        ("c1", "hasPrincipal", Literal("EUR 254,000"), "NO", "one_principal"),
        ("c1", "hasPrincipal", Literal("USD 254,001"), "NO", "one_principal"),
        ("c1", "hasPrincipal", Literal("a great deal"), "UNKNOWN", None),
        ("c2", "hasPrincipal", Literal("USD 1"), "UNKNOWN", None),
        ("c1", "hasInterestRate", Literal("4.20 per cent"), "YES", None),
        ("c1", "hasInterestRate", Literal("5%"), "NO", "one_rate"),
    ],
)
def test_a_second_domain_runs_from_its_file(
    tmp_path: Path,
    loans: Domain,
    subject: str,
    predicate: str,
    object_: NamedNode | Literal,
    verdict: str,
    constraint: str | None,
) -> None:
    path = tmp_path / "loans.tsv"
    path.write_text(LOAN, encoding="utf-8")
    store = open_graph(path, loans.table)
    licence = license_claim(GraphClaim(NamedNode("urn:" + subject), predicate, object_), store, loans)
    assert (licence.verdict, licence.constraint) == (verdict, constraint), licence.lacking
    assert recheck(licence, store, loans) is (None if verdict == "UNKNOWN" else True)


def test_what_is_recorded_completely_denies_the_rest(tmp_path: Path, waters: EmbeddedStore, project: Path) -> None:
    text = (project / "ontologies/domains/rivers.yaml").read_text(encoding="utf-8")
    before = text[: text.index("    constraints:")]
    path = tmp_path / "rivers.yaml"
    path.write_text(before.replace("  hasMouth:\n", "  hasMouth:\n    complete: true\n"), encoding="utf-8")
    (tmp_path / "rivers.shacl.ttl").write_bytes((project / "ontologies/domains/rivers.shacl.ttl").read_bytes())
    closed = load_domain(path)
    licence = license_claim(claim("Alder River", "Mirror Lake"), waters, closed)
    assert (licence.verdict, licence.constraint) == (LicenceVerdict.NO, COMPLETE)
    assert license_claim(claim("Hidden River", "Mirror Lake"), waters, closed).verdict == LicenceVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Hudson River", "Hudson River (New York)", True),
        ("New River North Carolina", "New River (Kanawha River tributary)", True),
        ("Green River Utah", "Green River Colorado River", True),
        ("Silver Creek (Kentucky)", "Silver Creek (New York)", False),
        ("Mobile Bay on the Gulf of Mexico", "Gulf of Mexico", True),
        ("main stem of the Gallatin River", "Gallatin River", True),
        ("river Sulak", "Sulak River", True),
        ("Loire", "Loire River", True),
        ("St. Croix River", "Saint Croix River", True),
        ("Grass River", "Grasse River", True),
        ("Saint-Maurice River", "Saint Maurice River", True),
        ("Rivière Outaouais", "Riviere Outaouais", True),
        ("Flathead Lake", "Flathead River", False),
        ("Platte River", "South Platte River", False),
        ("Colorado River", "Green River Colorado River", False),
        ("Lake Michigan", "Lake Superior", False),
        ("Little River", "Little Delaware River", False),
        ("Red River", "Rio Grande", False),
    ],
)
def test_names_of_one_thing_are_told_from_names_of_two(rivers: Domain, one: str, other: str, alike: bool) -> None:
    assert names_alike(one, other, rivers) is names_alike(other, one, rivers) is alike


def test_the_gold_cards_are_licensed_as_they_are_marked(external_data: Path, rivers: Domain) -> None:
    folder = external_data / "rivers"
    hidden = (folder / "hidden_subjects.txt").read_text(encoding="utf-8").split()
    store = opened(folder / "hasMouth_facts.tsv", hidden)
    cards = [json.loads(line) for line in (folder / "cards_gold.jsonl").read_text(encoding="utf-8").splitlines()]
    right = 0
    for number, card in enumerate(cards):
        subjects = card["claim"]["subj"] if isinstance(card["claim"]["subj"], list) else [card["claim"]["subj"]]
        claims = [
            GraphClaim(NamedNode(each), card["claim"]["pred"], NamedNode(card["claim"]["obj"])) for each in subjects
        ]
        right += license_any(claims, store, rivers).verdict == card["gold"]
        if number % 8 == 0:
            assert recheck(license_claim(claims[0], store, rivers), store, rivers) is not False, card["id"]
    assert right >= 0.995 * len(cards)
