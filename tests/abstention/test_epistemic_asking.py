"""What is said of one question: claims, triples and constraints in words, also of things that have no name."""

from pathlib import Path

import pytest
from epistemic_rivers import graph, iri, rivers
from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.graph import LABEL, TYPE
from ovrag_studies.abstention.licensing.asking import Asked, as_text, ask, constraint_sentence, is_borne_out, sentence
from ovrag_studies.abstention.parsing.name_index import names_of

DOMAIN = rivers()
MOUTH = NamedNode(DOMAIN.predicates["hasMouth"].iri)


@pytest.fixture
def asks(tmp_path: Path):
    store = graph(tmp_path, ["Saale"])
    names = names_of(store, DOMAIN)

    def question(text: str) -> tuple[Asked, bool | None]:
        asked = ask(text, store, DOMAIN, names)
        return asked, is_borne_out(asked, store)

    return question


def test_triples_are_said_as_the_domain_says_them(tmp_path: Path) -> None:
    names = names_of(graph(tmp_path), DOMAIN)
    main, rhine, odd = (NamedNode(iri(name)) for name in ("Main", "Rhine", "No_Such"))
    assert sentence(Triple(main, MOUTH, rhine), DOMAIN, names) == "Main flows into Rhine"
    assert sentence(Triple(odd, MOUTH, Literal("the {subject}")), DOMAIN, names) == "No Such flows into the {subject}"
    assert sentence(Triple(main, TYPE, DOMAIN.class_iri("River")), DOMAIN, names) == "Main is recorded as river"
    assert sentence(Triple(main, LABEL, Literal("Main")), DOMAIN, names) == "Main is called Main"
    other = NamedNode("http://example.org/x#crosses")
    assert sentence(Triple(main, other, rhine), DOMAIN, names) == "Main crosses Rhine"


def test_constraints_are_said_and_the_rules_of_chains_too() -> None:
    assert constraint_sentence("hasMouth", "one_mouth", DOMAIN) == "a river has one water body as its mouth"
    assert "does not pass" in constraint_sentence("drainsTo", "complete chain", DOMAIN)
    assert constraint_sentence("hasMouth", "unheard of", DOMAIN) == "unheard of"


def test_a_proof_is_borne_out_and_an_unread_question_has_none(asks) -> None:
    for question, verdict in (
        ("Does the Main flow into the Rhine?", "YES"),
        ("Does the Main flow into the Elbe?", "NO"),
        ("Does the Rhine flow into the Main?", "NO"),
        ("Does the Saale flow into the Danube?", "UNKNOWN"),
    ):
        asked, holds = asks(question)
        assert (asked.verdict, holds) == (verdict, None if verdict == "UNKNOWN" else True)
        assert bool(asked.lacking) == (verdict == "UNKNOWN")
        assert bool(asked.constraint) == (verdict == "NO")
    asked, holds = asks("Who are you?")
    assert (asked.verdict, holds, asked.claim, asked.proof()) == ("UNKNOWN", None, "", [])


def test_no_line_of_the_text_can_move_the_cursor(asks) -> None:
    asked, _ = asks("Does the\rMain\x1b[2J flow into the\nRhine?")
    text = as_text(asked)
    assert "\x1b" not in text and "\r" not in text
    assert len(text.splitlines()) == 2
