"""Terms, references and parties of a contract, with their spans."""

from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.text.passages import find_passages
from ovrag_studies.contract_review.texts.clause_tree import find_clauses
from ovrag_studies.contract_review.texts.structure import (
    DefinedTerm,
    find_parties,
    find_references,
    find_terms,
    find_uses,
)

TEXT = """\
SUPPLY AGREEMENT

This Supply Agreement (the "Agreement") is made as of May 4, 2015 by and between Norrland Timber AB, a Swedish
company ("Seller"), and Harbour Joinery, Inc., a Delaware corporation (hereinafter referred to as the "Buyer").

ARTICLE I
DEFINITIONS

1.1 "Goods" means sawn timber of the grades listed in Exhibit A.

1.2 “Net Price” shall have the meaning set forth in Section 2.2(b).

ARTICLE II
PRICE

2.1 Orders. Buyer shall order Goods in writing, subject to Section 9.9 and to paragraph (b) of Section 2.2.

2.2 Payment.

(a) Buyer shall pay within 30 days, unless paragraph (b) below applies.

(b) The Net Price is reduced as Article I and Sections 1.1 and 2.1 provide.

2.3 Law. Section 365 of the Bankruptcy Code applies.

EXHIBIT A
GRADES

1.1 Spruce, second grade.
"""


def terms_of(text: str) -> list[DefinedTerm]:
    return find_terms(text, find_clauses(text), list(find_passages(text)))


def targets(text: str) -> list[tuple[str, str]]:
    clauses = find_clauses(text)
    return [
        (text[each.start : each.end].strip(), clauses[each.target].number) for each in find_references(text, clauses)
    ]


def test_terms_have_the_span_of_their_definition() -> None:
    terms = terms_of(TEXT)
    defined = {term.name: " ".join(TEXT[slice(*term.definition)].split()) for term in terms}
    assert set(defined) == {"Agreement", "Seller", "Buyer", "Goods", "Net Price"}
    assert "means sawn timber of the grades listed in Exhibit A." in defined["Goods"]
    assert defined["Buyer"].endswith('(hereinafter referred to as the "Buyer").')
    assert all(TEXT[term.start : term.end] == term.name for term in terms)


def test_a_use_is_outside_of_the_terms_own_definition() -> None:
    terms = terms_of(TEXT)
    uses = list(find_uses(TEXT, terms))
    used = [terms[use.term].name for use in uses]
    assert used.count("Goods") == 1 and used.count("Net Price") == 1
    assert all(TEXT[use.start : use.end] == terms[use.term].name for use in uses)


def test_the_longer_of_two_terms_is_used() -> None:
    text = '"Price" means a sum. "Net Price" means less. The Net Price falls and each Net Prices rises.'
    terms = terms_of(text)
    assert [terms[use.term].name for use in find_uses(text, terms)] == ["Net Price", "Net Price"]


def test_references_find_the_clause_that_is_called_so() -> None:
    assert targets(TEXT) == [
        ("A", "Exhibit A"),
        ("2.2(b)", "b"),
        ("2.2", "2.2"),  # there is no Section 9.9, and no list is open where its paragraph (b) is named
        ("(b)", "b"),
        ("I", "Article I"),
        ("1.1", "1.1"),
        ("2.1", "2.1"),
    ]


def test_a_number_that_comes_again_in_an_exhibit_means_the_clause_of_the_contract() -> None:
    clauses = find_clauses(TEXT)
    found = next(each for each in find_references(TEXT, clauses) if TEXT[each.start : each.end] == "1.1")
    assert clauses[found.target].start < TEXT.index("EXHIBIT A\n")


def test_references_to_laws_and_to_the_clause_itself_are_none() -> None:
    text = "1. Term. As this Section 1 says, Section 5 of the Securities Act applies.\n\n2. End. See Section 1.\n"
    assert targets(text) == [("1", "1")]


def test_references_may_lead_in_a_circle() -> None:
    text = "1. First. Subject to Section 2.\n\n2. Second. Subject to Section 1.\n"
    assert targets(text) == [("2", "2"), ("1", "1")]


def test_parties_are_found_where_they_are_introduced() -> None:
    parties = [TEXT[start:end] for start, end in find_parties(TEXT, find_clauses(TEXT))]
    assert parties == ["Norrland Timber AB", "Harbour Joinery, Inc."]


def test_a_text_without_structure_has_none() -> None:
    for text in ("", "nothing is numbered here and nobody is named"):
        assert terms_of(text) == [] and list(find_uses(text, [])) == []
        assert targets(text) == [] and list(find_parties(text, ())) == []


@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    '"X" means',
                    '("Y")',
                    "“Z”",
                    "Section 1",
                    "(a)",
                    "(i)",
                    "IV",
                    "\n1. A",
                    "\n1.1 B",
                    "ARTICLE I\n",
                    "Exhibit A",
                ),
                *(
                    "\n1.1 B",
                    "Exhibit A",
                    "between",
                    "Oak, Inc.",
                    "and",
                    "this",
                    "is hereby deleted",
                    ". ",
                    "\n\n",
                    "’",
                    "\u00ad",
                    "\f",
                ),
                "'}) DETACH DELETE n //",
            ]
        ),
        max_size=30,
    ).map(" ".join)
)
def test_every_span_is_inside_the_text(text: str) -> None:
    clauses, terms = find_clauses(text), terms_of(text)
    uses, references = list(find_uses(text, terms)), list(find_references(text, clauses))
    spans = [(each.start, each.end) for each in (*terms, *uses, *references)]
    spans += [*find_parties(text, clauses), *(term.definition for term in terms)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(0 <= use.term < len(terms) for use in uses)
    assert all(0 <= each.target < len(clauses) for each in references)


def test_words_that_only_look_like_the_beginning_of_a_definition_take_no_time() -> None:
    for words in ('"X", as used when used ', '"X" or "Y" and (so called) ', "the agreement and Section 1, 2 and "):
        assert terms_of(words * 300) == []
