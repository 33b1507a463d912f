"""Reading questions into claims: our own wordings on a small graph, and whatever else may stand in a question."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from epistemic_rivers import opened
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from ovrag_studies.abstention.knowledge.domain import Domain, load_domain
from ovrag_studies.abstention.parsing.claim_reader import QuestionReading, read_claim
from ovrag_studies.abstention.parsing.name_index import Names, Thing, names_of

PROJECT = Path(__file__).resolve().parents[2]
RIVERS = load_domain(PROJECT / "ontologies/domains/rivers.yaml")
LOANS = load_domain(PROJECT / "ontologies/domains/loans.yaml")
RELATION = {"direct": "hasMouth", "chain": "drainsTo"}


def node(name: str) -> NamedNode:
    return NamedNode("http://example.org/" + name.replace(" ", "_"))


def index(*labels: str) -> Names:
    return Names([(node(label), label) for label in labels], RIVERS.names.short, frozenset({"river", "creek"}))


NAMES = index(
    "Alder Creek (Kansas)",
    "Birch River",
    "Drain Creek",
    "Mouth of Wilson",
    "Wilson Creek",
    "River Mouth",
    "Mouth",
    "joining the Kennet",
    "Kennet River",
    "Fork Creek (Ohio)",
    "Fork Creek (Utah)",
    "Mill Creek",
    "North Mill Creek",
    "Mill Creek Ash River tributary",
    "Ash River",
    "Basin of Tributaries",
    "Jones Falls",
    "Great Bay",
)


def read(question: str, names: Names = NAMES, domain: Domain = RIVERS) -> QuestionReading:
    return read_claim(question, names, domain)


def claimed(question: str) -> tuple[str, str, str] | None:
    claim = read(question).claim
    return claim and (NAMES.label(claim.subject), claim.predicate, NAMES.label(claim.object))


def wordings(file: str) -> Iterator[tuple[str, str]]:
    with (PROJECT / "tests/data/epistemic" / file).open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield row["asks"], row["wording"]


def filled(wording: str, subject: str, object_: str) -> str:
    return wording.replace("{subject}", subject).replace("{object}", object_)


def test_our_wordings_are_read_with_their_relation_direction_and_polarity() -> None:
    right, wrong, every = 0, [], list(wordings("river_wordings.tsv"))
    for asks, wording in every:
        reading, object_ = read(filled(wording, "Alder Creek (Kansas)", "Birch River")), node("Birch River")
        negated, relation = asks.startswith("not "), RELATION.get(asks.removeprefix("not "))
        if reading.claim is None:
            right += relation is None
        elif (reading.claim.predicate, reading.negated, reading.claim.object) == (relation, negated, object_):
            right += 1
        else:
            wrong.append(wording)
    assert right / len(every) > 0.97
    assert len(wrong) / len(every) < 0.005  # what is not understood is to be refused, not misread


@pytest.mark.parametrize("domain", [RIVERS, LOANS], ids=["rivers", "loans"])
def test_every_wording_of_a_domain_is_read_surely_and_in_its_direction(domain: Domain) -> None:
    names = [(node("one thing"), "One Thing"), (node("other thing"), "Other Thing"), (Literal("USD 7.50"), "USD 7.50")]
    for predicate in domain.predicates.values():
        object_: Thing = names[1][0] if predicate.values == "thing" else names[2][0]
        for relation, wording in (
            (predicate.name, predicate),
            (predicate.name, predicate.inverse),
            *([(predicate.chain.name, predicate.chain)] if predicate.chain else []),
        ):
            for template in (*wording.questions, *wording.statements):
                value = "Other Thing" if predicate.values == "thing" else "USD 7.50"
                reading = read(template.format(subject="One Thing", object=value), Names(names), domain)
                assert reading.claim is not None, template
                assert (reading.claim.subject, reading.claim.object) == (node("one thing"), object_), template
                assert (reading.claim.predicate, reading.confidence) == (relation, 1.0), template


def test_loans_are_read_by_their_own_file() -> None:
    facts = {
        "hasBorrower": "Ann Miller",
        "hasLender": "Harbour Bank",
        "hasKind": "Mortgage Loan Agreement",
        "hasPrincipal": "USD 254,000.00",
        "hasInterestRate": "4.2%",
    }
    labels = {
        name: Literal(value) if name in ("hasPrincipal", "hasInterestRate") else node(value)
        for name, value in facts.items()
    }
    names = Names([(node("contract 7"), "contract 7"), *((thing, facts[name]) for name, thing in labels.items())])
    every = list(wordings("loan_wordings.tsv"))
    for asks, wording in every:
        relation = asks.removeprefix("not ")
        reading = read(filled(wording, "contract 7", facts.get(relation, "Harbour Bank")), names, LOANS)
        if relation == "none":
            assert reading.claim is None, wording
            continue
        assert reading.claim is not None, wording
        assert reading.claim.subject == node("contract 7"), wording
        assert (reading.claim.predicate, reading.claim.object) == (relation, labels[relation]), wording
        assert reading.negated == asks.startswith("not "), wording


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("Does Drain Creek flow into River Mouth?", ("Drain Creek", "hasMouth", "River Mouth")),
        ("Is River Mouth the mouth of Drain Creek?", ("Drain Creek", "hasMouth", "River Mouth")),
        ("Does Mouth of Wilson end in Ash River?", ("Mouth of Wilson", "hasMouth", "Ash River")),
        ("Is Ash River the mouth of Wilson Creek?", ("Wilson Creek", "hasMouth", "Ash River")),
        (
            "Is joining the Kennet the mouth of Birch River?",
            ("Birch River", "hasMouth", "joining the Kennet"),
        ),
        ("Does Birch River end in Kennet River?", ("Birch River", "hasMouth", "Kennet River")),
        ("Is Mouth the mouth of Birch River?", ("Birch River", "hasMouth", "Mouth")),
        ("Does North Mill Creek flow into Mill Creek?", ("North Mill Creek", "hasMouth", "Mill Creek")),
        (
            "Does Mill Creek Ash River tributary flow into Ash River?",
            ("Mill Creek Ash River tributary", "hasMouth", "Ash River"),
        ),
        ("Is Mill Creek an Ash River tributary?", ("Mill Creek", "hasMouth", "Ash River")),
        (
            "Is Mill Creek in the Basin of Tributaries basin?",
            ("Mill Creek", "drainsTo", "Basin of Tributaries"),
        ),
        ("Is Great Bay Jones Falls' mouth?", ("Jones Falls", "hasMouth", "Great Bay")),
        ("is great bay the mouth of jones falls", ("Jones Falls", "hasMouth", "Great Bay")),
        ("DOES MILL CREEK FLOW INTO ASH RIVER?", ("Mill Creek", "hasMouth", "Ash River")),
        ("Does Alder Creek, Kansas flow into Ash River?", ("Alder Creek (Kansas)", "hasMouth", "Ash River")),
    ],
)
def test_names_hold_words_of_relations_and_one_another(question: str, claim: tuple[str, str, str]) -> None:
    assert claimed(question) == claim


def test_a_direct_question_and_one_about_the_chain_are_told_apart() -> None:
    def relation(wording: str) -> str | None:
        reading = read(filled(wording, "Mill Creek", "Ash River"))
        return reading.claim and reading.claim.predicate

    assert relation("Does {subject} flow into {object}?") == "hasMouth"
    assert relation("Does {subject} eventually flow into {object}?") == "drainsTo"
    assert relation("Is {object} downstream of {subject}?") == "drainsTo"
    assert relation("Is {object} immediately downstream of {subject}?") == "hasMouth"
    assert relation("Is {subject} a direct or indirect tributary of {object}?") == "drainsTo"


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("If I drop a leaf into Mill Creek, will it come to Ash River?", ("Mill Creek", "drainsTo", "Ash River")),
        (
            "If I drop a leaf into Mill Creek, will it come out of its mouth into Ash River?",
            ("Mill Creek", "hasMouth", "Ash River"),
        ),
        ("Sailing up Ash River, would I pass the mouth of Mill Creek?", ("Mill Creek", "hasMouth", "Ash River")),
    ],
)
def test_a_way_leads_from_one_thing_down_to_the_other(question: str, claim: tuple[str, str, str]) -> None:
    assert claimed(question) == claim


@pytest.mark.parametrize(
    "question",
    [
        "From a boat on Ash River, could you see Mill Creek coming in at its mouth?",
        "Would a list of the streams with their mouths in Ash River include Mill Creek?",
        "When Mill Creek comes to the end of its course, is Ash River the water it enters?",
        "Is Ash River the answer to the question of which water Mill Creek has its mouth in?",
        "Is Ash River given under 'mouth' in the entry on Mill Creek?",
        "Does Mill Creek reach Ash River when it ends?",
    ],
)
def test_a_pronoun_or_a_heading_is_of_the_name_that_it_stands_for(question: str) -> None:
    assert claimed(question) == ("Mill Creek", "hasMouth", "Ash River")


@pytest.mark.parametrize(
    "question",
    [
        "Does Mill Creek have more tributaries than Ash River?",
        "Is the mouth of Mill Creek north of Ash River?",
        "Does Mill Creek flow into a tributary of Ash River?",
        "Does a tributary of Mill Creek flow into Ash River?",
        "Does Mill Creek flow into the sea or into Ash River?",
        "Does Mill Creek flow out of Ash River?",
        "Does Mill Creek flow through the town on Ash River?",
        "Does the mouth of Mill Creek face Ash River?",
        "Why does Mill Creek flow into Ash River?",
        "Does Mill Creek almost reach Ash River?",
        "Could a salmon get from Ash River up to Mill Creek?",
        "Paddling down Mill Creek, shall we see Ash River?",
    ],
)
def test_what_is_not_understood_is_no_claim(question: str) -> None:
    reading = read(question)
    assert (reading.claim, reading.candidates) == (None, ()), reading


def test_a_wording_that_means_either_relation_has_both_as_candidates() -> None:
    reading = read("Does Mill Creek drain to Ash River?")
    assert reading.claim is None
    assert {claim.predicate for claim in reading.candidates} == {"hasMouth", "drainsTo"}
    assert read("Does Mill Creek drain directly to Ash River?").claim is not None


def test_a_name_of_several_things_is_no_claim_but_its_candidates_are_given() -> None:
    reading = read("Does Fork Creek flow into Ash River?")
    assert (reading.claim, reading.reason) == (None, "'Fork Creek' is the name of 2 things")
    assert {claim.subject for claim in reading.candidates} == {node("Fork Creek (Ohio)"), node("Fork Creek (Utah)")}


def test_a_name_without_its_qualifier_is_less_sure_and_says_what_it_is_taken_for() -> None:
    whole, part = (
        read("Does Alder Creek (Kansas) have its mouth in Ash River?"),
        read("Does Alder Creek have its mouth in Ash River?"),
    )
    assert part.claim == whole.claim is not None
    assert part.confidence < whole.confidence == 1.0
    assert "'Alder Creek (Kansas)'" in part.reason


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Does Kennett Water flow into Ash River?", "'Kennett Water'"),
        ("Does South Mill Creek flow into Ash River?", "'South Mill Creek'"),
        ("Does Mill Creek (Nevada) flow into Ash River?", "'Mill Creek (Nevada)'"),
        ("Does Mill Creek, Nevada flow into Ash River?", "'Mill Creek, Nevada'"),
        ("Does Great Mill Creek flow into Ash River?", "'Great Mill Creek'"),
        ("does upper mill creek flow into ash river?", "'upper mill creek'"),
        ("Upper Mill Creek flows into Ash River.", "'Upper Mill Creek'"),
        ("Is Ash River the mouth of Sandy Creek (Mill Creek tributary)?", "'Sandy Creek (Mill Creek tributary)'"),
        ("Does Mill Creek, a tributary of Ash River, flow into Foo River?", "'Foo River'"),
        ("Does Lost River, which Mill Creek joins, flow into Ash River?", "'Lost River'"),
        ("Lost River flows into Ash River.", "'Lost River'"),
        ("Does Mill Creek Canyon flow into Ash River?", "'Mill Creek Canyon'"),
    ],
)
def test_a_longer_name_that_is_not_there_is_not_taken_for_one_inside_it(question: str, missing: str) -> None:
    reading = read(question)
    assert reading.claim is None
    assert reading.reason.startswith(f"{missing} is no name in the graph")


def test_the_nearest_names_are_given() -> None:
    assert "'North Mill Creek'" in read("Does Noth Mill Creek flow into Ash River?").reason


@pytest.mark.parametrize(
    "question",
    [
        "Is Mill Creek longer than Ash River?",
        "Do Mill Creek and Ash River flow into the same sea?",
        "Does Mill Creek flow into Ash River or Birch River?",
        "Does Mill Creek flow into another water instead of Ash River?",
        "Is the weather nice?",
        "Mill Creek?",
        "",
        "?",
        "into",
    ],
)
def test_what_makes_no_claim_has_a_reason(question: str) -> None:
    reading = read(question)
    assert reading.claim is None
    assert reading.reason and reading.confidence == 0.0


def test_a_negation_is_seen_and_a_negative_question_is_none() -> None:
    assert read("Confirm that Mill Creek does not flow into Ash River.").negated
    assert read("Is it false that Mill Creek flows into Ash River?").negated
    assert not read("Doesn't Mill Creek flow into Ash River?").negated
    assert not read("Mill Creek doesn't flow into Ash River, does it?").negated
    assert not read("True or false: Mill Creek flows into Ash River.").negated


HOSTILE = [
    '" } UNION { ?s ?p ?o . FILTER("" = "',
    "<http://example.org/Mill_Creek>",
    "<script>alert(1)</script>",
    "'; DROP TABLE rivers; --",
    "{subject} {object}",
    "\x00\ufffe\u202e",
    "%s %d {0} \\1",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_question_is_only_ever_text(text: str) -> None:
    assert read(text).claim is None
    around = read(f"Does Mill Creek flow into Ash River? {text}")
    if around.claim is not None:  # what stands behind the question changes nothing in it
        assert (around.claim.subject, around.claim.object) == (node("Mill Creek"), node("Ash River"))
    names = Names([(node("Ash River"), "Ash River"), (node("hostile"), text)])
    inside = read_claim(f"Does {text} flow into Ash River?", names, RIVERS)
    assert inside.claim is None or inside.claim.object == node("Ash River")


def test_newlines_and_quotes_are_space_and_signs() -> None:
    assert claimed('Does "Mill Creek"\n\tflow\r\ninto Ash   River?') == ("Mill Creek", "hasMouth", "Ash River")
    reason = read("Does Foo\nBar <b>Creek</b> flow into Ash River?").reason
    assert "\n" not in reason


def test_a_question_without_end_is_refused_at_once() -> None:
    start = time.process_time()
    reading = read("Does Mill Creek flow into Ash River " * 300_000)
    assert time.process_time() - start < 1  # ten million characters are measured, not read
    assert reading.claim is None and "characters" in reading.reason
    long = read(("the " * 300 + "Mill Creek flows into Ash River")[-1000:])
    assert len(long.reason) < 500


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_the_reading(text: str) -> None:
    for question in (text, f"Mill Creek {text} Ash River", f"Does Mill Creek flow into Ash River{text}"):
        reading = read(question)
        assert reading.claim is not None or reading.reason
        assert 0 <= reading.confidence <= 1


def test_the_questions_of_the_benchmark_are_read(external_data: Path) -> None:
    folder = external_data / "rivers"
    store = opened(folder / "hasMouth_facts.tsv", (folder / "hidden_subjects.txt").read_text().split())
    names = names_of(store, RIVERS)
    cards = [json.loads(line) for line in (folder / "cards_gold.jsonl").read_text(encoding="utf-8").splitlines()]
    right, seconds = 0, []
    for card in cards:
        start = time.process_time()
        reading = read_claim(card["question"], names, RIVERS)
        seconds.append(time.process_time() - start)
        claim, gold = reading.claim, card["claim"]
        if isinstance(gold["subj"], list):
            right += claim is None
        else:
            found = claim and (claim.subject.value, claim.predicate, claim.object.value)
            right += found == (gold["subj"], gold["pred"], gold["obj"])
    assert right / len(cards) >= 0.99
    assert sorted(seconds)[len(seconds) // 2] < 0.005
