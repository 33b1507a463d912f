"""Chains along the causal graph: what a prompt says is what the graph says, but for what is marked."""

from __future__ import annotations

import json
from collections import Counter
from math import prod
from pathlib import Path

import networkx
import pytest
from pyoxigraph import NamedNode

from ovrag_core.base.errors import CorpusError
from ovrag_core.graph import EmbeddedStore, load_graph
from ovrag_studies.causal.chains.causal_chains import CausalChain, read_chains, read_recorded, recorded_graph
from ovrag_studies.causal.graphs.causal_terms import ALT_LABEL, LOWERS, NO_EFFECT_ON, RAISES
from ovrag_studies.causal.graphs.linking import CausalClaim, NameLexicon, claim
from ovrag_studies.causal.graphs.verifier import Verifier
from ovrag_studies.causal.language.propositions import read

PROJECT = Path(__file__).resolve().parents[2]
CHAINS = PROJECT / "data" / "samples" / "causal" / "chains.jsonl"
RECORDED = "chains_75_published_run.json"

Key = tuple[NamedNode, NamedNode, NamedNode, bool]


@pytest.fixture(scope="module")
def graph() -> EmbeddedStore:
    return load_graph(PROJECT / "data" / "samples" / "causal" / "graph.ttl")


@pytest.fixture(scope="module")
def lexicon(graph: EmbeddedStore) -> NameLexicon:
    return NameLexicon.of_graph(graph)


@pytest.fixture(scope="module")
def chains(graph: EmbeddedStore) -> list[CausalChain]:
    return read_chains(CHAINS, graph)


def claims(text: str, lexicon: NameLexicon) -> tuple[set[Key], int]:
    """What a text claims, and how much of it could not be read or linked."""
    reading = read(text, lexicon.compounds)
    found = [claim(each, lexicon) for each in reading.propositions]
    keys = {(c.subject, c.predicate, c.object, c.denied) for c in found if isinstance(c, CausalClaim)}
    return keys, len(reading.unread) + sum(not isinstance(each, CausalClaim) for each in found)


# --- the graph


def effects(graph: EmbeddedStore) -> dict[NamedNode, dict[NamedNode, int]]:
    signs: dict[NamedNode, dict[NamedNode, int]] = {}
    for predicate, sign in ((RAISES, 1), (LOWERS, -1)):
        for triple in graph.triples(None, predicate):
            assert triple.object not in signs.setdefault(triple.subject, {}), f"two signs: {triple}"
            signs[triple.subject][triple.object] = sign
    return signs


def test_the_sample_graph_has_no_circle_and_says_nothing_twice(graph: EmbeddedStore) -> None:
    signs = effects(graph)
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph(signs))
    assert sum(map(len, signs.values())) + len(graph.triples(None, NO_EFFECT_ON)) == 252


def test_what_has_no_effect_leads_nowhere(graph: EmbeddedStore) -> None:
    signs = effects(graph)
    for triple in graph.triples(None, NO_EFFECT_ON):
        reached, waiting = set(), [triple.subject]
        while waiting:
            for node in signs.get(waiting.pop(), {}):
                if node not in reached:
                    reached.add(node)
                    waiting.append(node)
        assert triple.object not in reached, triple


def test_all_ways_between_two_things_have_the_same_sign(graph: EmbeddedStore) -> None:
    signs = effects(graph)
    for first in signs:
        reached: dict[NamedNode, int] = {}
        waiting = [(first, 1)]
        while waiting:
            node, sign = waiting.pop()
            for other, factor in signs.get(node, {}).items():
                assert reached.setdefault(other, sign * factor) == sign * factor, (first, other)
                waiting.append((other, sign * factor))


def test_every_thing_has_a_name_and_two_synonyms(graph: EmbeddedStore, lexicon: NameLexicon) -> None:
    things = {name.entity for name in lexicon.names}
    assert len(things) == 226
    assert all(len(graph.triples(thing, ALT_LABEL)) >= 2 for thing in things)


# --- our chains


def test_counts_first_middle_and_last(chains: list[CausalChain]) -> None:
    assert len(chains) == 75
    assert set(Counter(chain.domain for chain in chains).values()) == {15}
    assert set(Counter((chain.domain, chain.depth) for chain in chains)) == {
        (domain, depth)
        for domain in ("biology", "climate", "economics", "medicine", "physics")
        for depth in (3, 4, 5, 6)
    }
    assert [chains[at].id for at in (0, 37, 74)] == ["biology-01", "economics-08", "physics-15"]
    assert chains[0].prompt.startswith("Given: ")
    assert len({tuple((step.subject, step.object) for step in chain.premises) for chain in chains}) == 75


def test_three_prompts_in_ten_hold_a_contradiction_of_every_kind(chains: list[CausalChain]) -> None:
    kinds = Counter(each.kind for chain in chains for each in chain.contradictions)
    assert sum(kinds.values()) == 23
    assert set(kinds) == {"negation", "reversed", "polarity", "disjoint", "target"}
    assert max(kinds.values()) - min(kinds.values()) <= 1
    assert all(len(chain.contradictions) <= 1 for chain in chains)


def test_a_contradiction_stands_in_the_prompt_and_clashes_with_the_graph(
    chains: list[CausalChain], graph: EmbeddedStore
) -> None:
    verifier = Verifier(graph)
    for chain in chains:
        for text, marked in (
            (chain.prompt, chain.contradictions),
            *((p.text, p.contradictions) for p in chain.paraphrases),
        ):
            assert len(marked) == len(chain.contradictions)
            for each in marked:
                assert text[slice(*each.span)] == each.text
                (verdict,) = verifier.check(each.text)
                assert verdict.outcome == "CONTRADICTION" and verdict.triples
                assert all(graph.triples(*clash) for clash in verdict.triples)


def test_every_premise_is_in_the_graph_and_the_conclusion_multiplies_the_signs(
    chains: list[CausalChain], graph: EmbeddedStore
) -> None:
    for chain in chains:
        assert all(graph.triples(step.subject, step.predicate, step.object) for step in chain.premises)
        assert all(step.text in chain.prompt for step in chain.premises)
        total = prod(1 if step.predicate == RAISES else -1 for step in chain.premises)
        assert chain.conclusion.predicate == (RAISES if total > 0 else LOWERS)
        assert (chain.conclusion.subject, chain.conclusion.object) == (
            chain.premises[0].subject,
            chain.premises[-1].object,
        )


def test_paraphrases_are_of_three_kinds_differ_and_say_the_same(
    chains: list[CausalChain], lexicon: NameLexicon
) -> None:
    for chain in chains:
        assert tuple(paraphrase.kind for paraphrase in chain.paraphrases) == ("relation", "synonym", "order")
        texts = [chain.prompt, *(paraphrase.text for paraphrase in chain.paraphrases)]
        assert len(set(texts)) == 4
        said, unread = claims(chain.prompt, lexicon)
        assert unread == 0
        assert {(step.subject, step.predicate, step.object, False) for step in chain.premises} <= said
        assert len(said) == chain.depth + len(chain.contradictions) + len(chain.asides)
        assert all(claims(text, lexicon) == (said, 0) for text in texts[1:])


def test_asides_deny_and_are_true(chains: list[CausalChain], lexicon: NameLexicon, graph: EmbeddedStore) -> None:
    asides = [aside for chain in chains for aside in chain.asides]
    assert len(asides) > 15
    for aside in asides:
        ((subject, predicate, object_, denied),) = claims(aside, lexicon)[0]
        if predicate == NO_EFFECT_ON:
            assert graph.triples(subject, NO_EFFECT_ON, object_)
        else:
            assert denied
            assert graph.triples(subject, LOWERS if predicate == RAISES else RAISES, object_)


def test_chains_of_another_graph_or_form_are_an_error_in_one_sentence(graph: EmbeddedStore, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the chain biology-01 has a step that the graph lacks"):
        read_chains(CHAINS, EmbeddedStore([]))
    (tmp_path / "chains.jsonl").write_text('{"id": "x"}')
    for name in ("chains.jsonl", "none.jsonl"):
        with pytest.raises(CorpusError, match="holds no chains"):
            read_chains(tmp_path / name, graph)


# --- the recorded chains


def test_recorded_chains_are_read_with_their_steps(external_data: Path) -> None:
    chains = read_recorded(external_data / "causal" / "recorded" / RECORDED)
    assert len(chains) == 75
    assert sum(chain.depth for chain in chains) == 434
    assert sum(len(chain.paraphrases) for chain in chains) == 225
    assert not any(chain.contradictions for chain in chains)
    assert [chains[at].id for at in (0, 74)] == ["chain_physics_0001", "chain_causality_0075"]


def test_steps_of_recorded_prompts_are_read_and_linked(external_data: Path) -> None:
    hit = total = 0
    for chain in read_recorded(external_data / "causal" / "recorded" / RECORDED):
        lexicon = NameLexicon.of_graph(EmbeddedStore(recorded_graph([chain])))
        stated = {(step.subject, step.predicate, step.object, False) for step in chain.premises}
        hit, total = hit + len(claims(chain.prompt, lexicon)[0] & stated), total + len(stated)
    assert hit / total >= 0.99


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"chains": [1]}', '{"chains": [{"chain_id": "x"}]}', "\udcff"])
def test_a_file_of_no_chains_is_an_error_in_one_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "chains.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CorpusError, match="holds no recorded chains"):
        read_recorded(path)
    with pytest.raises(CorpusError, match="does not exist"):
        read_recorded(tmp_path / "other.json")


def test_a_phrase_of_a_recorded_step_keeps_its_direction(tmp_path: Path) -> None:
    step = {
        "antecedent": "price rises",
        "consequent": "demand falls",
        "natural_language": "price rises causes demand falls",
    }
    record = {
        "chain_id": "c", "domain": "economics", "initial_premise": "price rises", "final_conclusion": "demand falls",
        "prompt": "", "steps": [step], "perturbations": [], "injected_contradictions": [],
    }  # fmt: skip
    path = tmp_path / "chains.json"
    path.write_text(json.dumps({"chains": [record]}), encoding="utf-8")
    (chain,) = read_recorded(path)
    assert chain.premises[0].predicate == LOWERS
