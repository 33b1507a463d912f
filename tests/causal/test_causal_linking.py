"""Linking mentions: direction and denial split off first, ambiguity reported, never the nearest by force."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from ovrag_core.graph import EmbeddedStore, load_graph
from ovrag_core.retrieval.embedding import Vectors
from ovrag_studies.causal.graphs.causal_terms import AFFECTS, LOWERS, NO_EFFECT_ON, RAISES
from ovrag_studies.causal.graphs.linking import (
    CausalClaim,
    Linked,
    NameLexicon,
    ThingName,
    Unlinked,
    claim,
    link,
)
from ovrag_studies.causal.language.directions import split
from ovrag_studies.causal.language.propositions import read

PROJECT = Path(__file__).resolve().parents[2]
SAMPLE = "urn:ovrag:causal:sample#"
THING, OTHER = NamedNode("urn:t:thing"), NamedNode("urn:t:other")


@pytest.fixture(scope="module")
def graph() -> EmbeddedStore:
    return load_graph(PROJECT / "data" / "samples" / "causal" / "graph.ttl")


@pytest.fixture(scope="module")
def lexicon(graph: EmbeddedStore) -> NameLexicon:
    return NameLexicon.of_graph(graph)


def meaning(phrase: str, lexicon: NameLexicon) -> tuple[str, str, str] | None:
    linked = link(phrase, lexicon)
    if not isinstance(linked, Linked):
        return None
    return linked.entity.value.removeprefix(SAMPLE), linked.direction, linked.polarity


@pytest.mark.parametrize(
    ("mention", "core", "direction", "negative"),
    [
        ("price rises", "price", "up", False),
        ("A sharp drop in the price of oil", "price of oil", "down", False),
        ("prices have risen sharply", "prices", "up", False),
        ("much lower blood pressure", "blood pressure", "down", False),
        ("demand to fall", "demand", "down", False),
        ("tax cut", "tax", "down", False),
        ("a fall in rising prices", "prices", "down", False),
        ("a fall in falling prices", "prices", "up", False),
        ("total momentum unchanged", "total momentum", "steady", False),
        ("no rain", "rain", "none", True),
        ("smoke is absent", "smoke", "none", True),
        ("prices don't rise", "prices", "up", True),
        ("prices can't rise", "prices", "up", True),
        ("it is not the case that rain does not occur", "rain", "none", False),
        ("the food supply", "food supply", "none", False),
    ],
)
def test_direction_and_denial_are_taken_off(mention: str, core: str, direction: str, negative: bool) -> None:
    parts = split(mention)
    assert (parts.core, parts.direction, parts.negative) == (core, direction, negative)


@pytest.mark.parametrize("name", ["linking", "linking_first", "linking_unseen"])
def test_synonyms_link_and_opposites_are_never_the_same(name: str, lexicon: NameLexicon) -> None:
    lists = yaml.safe_load((PROJECT / "tests" / "data" / "causal" / f"{name}.yaml").read_text(encoding="utf-8"))
    right = [meaning(phrase, lexicon) == (thing, way, "positive") for phrase, thing, way in lists["synonyms"]]
    assert sum(right) / len(right) >= (0.85 if name == "linking_first" else 0.95)
    for one, other in (*lists["opposites"], *lists["negations"]):
        first = meaning(one, lexicon)
        assert first is None or first != meaning(other, lexicon), (one, other)
    assert len(lists["opposites"]) == 39
    assert [phrase for phrase in lists["strangers"] if meaning(phrase, lexicon)] == []


def test_a_name_for_a_fall_is_a_direction(lexicon: NameLexicon) -> None:
    assert meaning("global cooling", lexicon) == ("global_mean_temperature", "down", "positive")
    assert meaning("a rise in insulin resistance", lexicon) == ("insulin_sensitivity", "down", "positive")
    assert meaning("a fall in sea level rise", lexicon) == ("sea_level", "down", "positive")


def test_other_order_number_and_spelling_are_the_same_name(lexicon: NameLexicon) -> None:
    for phrase in ("oil price", "the price of oil", "Oil prices", "oil's price"):
        assert meaning(phrase, lexicon) == ("oil_price", "none", "positive")
    assert meaning("fertilizer runoff", lexicon) == meaning("fertiliser runoff", lexicon)
    assert meaning("bee numbers", lexicon) == ("pollinator_abundance", "none", "positive")


def test_a_fall_is_not_another_order_of_a_name_that_holds_a_falling_thing(lexicon: NameLexicon) -> None:
    assert meaning("a fall in body's acceleration", lexicon) == ("acceleration_of_the_body", "down", "positive")
    assert meaning("acceleration of a falling body", lexicon) == ("free_fall_acceleration", "none", "positive")


def test_a_name_of_several_things_is_ambiguous(lexicon: NameLexicon) -> None:
    found = link("a rise in pressure", lexicon)
    assert isinstance(found, Unlinked) and found.ambiguous
    assert {each.entity.value.removeprefix(SAMPLE) for each in found.candidates} == {
        "air_pressure",
        "blood_pressure",
        "gas_pressure",
    }


@pytest.mark.parametrize("mention", ["lunar quorance", "", "   ", "no", "a rise in", '}> " \\ DROP ALL #', "x" * 5000])
def test_what_fits_nothing_is_unknown_with_the_nearest(mention: str, lexicon: NameLexicon) -> None:
    found = link(mention, lexicon)
    assert isinstance(found, Unlinked) and not found.ambiguous
    assert len(found.candidates) <= 3


class Likeness:
    """An embedder in which texts are near to "heat of the sea" as a table says."""

    name = "table"

    def __init__(self, cosines: dict[str, float]) -> None:
        self.cosines = cosines

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Two numbers a text."""
        angles = [numpy.arccos(self.cosines.get(text, 0.0)) for text in texts]
        return numpy.array([[numpy.cos(angle), numpy.sin(angle)] for angle in angles], dtype=numpy.float32)


def likely(cosines: dict[str, float]) -> NameLexicon:
    names = [ThingName(THING, "heat of the sea"), ThingName(OTHER, "salt of the earth")]
    return NameLexicon(names, Likeness({"heat of the sea": 1.0, "salt of the earth": 0.0, **cosines}))


def test_likeness_ranks_what_comes_near_and_links_nothing() -> None:
    found = link("a drop in marine heat", likely({"marine heat": 0.9}))
    assert isinstance(found, Unlinked) and not found.ambiguous
    assert [(each.entity, round(each.score, 3)) for each in found.candidates] == [(THING, 0.9)]


@pytest.mark.parametrize(
    ("text", "predicate", "denied"),
    [
        ("A fall in net force lowers kinetic energy.", RAISES, False),
        ("Without net force, kinetic energy falls.", RAISES, False),
        ("More net force means less kinetic energy.", LOWERS, False),
        ("Net force prevents a fall in kinetic energy.", RAISES, False),
        ("When net force rises, kinetic energy does not rise.", RAISES, True),
        ("Net force leaves kinetic energy unchanged.", NO_EFFECT_ON, False),
        ("Net force does not affect kinetic energy.", NO_EFFECT_ON, False),
        ("Net force influences kinetic energy.", AFFECTS, False),
        ("Net force does not lower kinetic energy.", LOWERS, True),
    ],
)
def test_signs_are_multiplied_out(text: str, predicate: NamedNode, denied: bool, lexicon: NameLexicon) -> None:
    (proposition,) = read(text, lexicon.compounds).propositions
    found = claim(proposition, lexicon)
    assert isinstance(found, CausalClaim)
    assert (found.subject.value, found.object.value) == (SAMPLE + "net_force", SAMPLE + "kinetic_energy")
    assert (found.predicate, found.denied) == (predicate, denied)


def test_what_stays_the_same_causes_nothing(lexicon: NameLexicon) -> None:
    (proposition,) = read("Net force unchanged raises kinetic energy.", lexicon.compounds).propositions
    assert claim(proposition, lexicon) is None


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["rise", "fall"]), st.lists(st.sampled_from(["a rise in", "a fall in"]), max_size=4))
def test_directions_of_directions_multiply(verb: str, heads: list[str]) -> None:
    downs = heads.count("a fall in") + (verb == "fall")
    parts = split(" ".join([*heads, f"prices {verb}"]))
    assert (parts.core, parts.direction) == ("prices", "down" if downs % 2 else "up")
