"""Terms, references and parties of a contract, with their spans."""

from hypothesis import given
from hypothesis import strategies as st

from ovrag_studies.contract_review.texts.clause_tree import find_clauses
from ovrag_studies.contract_review.texts.structure import (
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


def targets(text: str) -> list[tuple[str, str]]:
    clauses = find_clauses(text)
    return [(text[start : start + 6], clauses[target].number) for start, target in find_references(text, clauses)]


def test_terms_are_known_by_where_they_are_defined() -> None:
    terms = find_terms(TEXT)
    assert {name for name, _ in terms} == {"Agreement", "Seller", "Buyer", "Goods", "Net Price"}
    assert all(TEXT[start:].startswith(name) for name, start in terms)
    uses = [name for name, start in find_uses(TEXT, terms) if (name, start) not in terms]
    assert uses.count("Goods") == 1 and uses.count("Net Price") == 1


def test_the_longer_of_two_terms_is_used() -> None:
    text = '"Price" means a sum. "Net Price" means less. The Net Price falls and each Net Prices rises.'
    used = [name for name, _ in find_uses(text, find_terms(text))]
    assert used == ["Price", "Net Price", "Net Price", "Net Price"]  # two of them are the definitions


def test_references_find_the_clause_that_is_called_so() -> None:
    assert targets(TEXT) == [
        ("A.\n\n1.", "Exhibit A"),
        ("2.2(b)", "2.2"),
        ("2.2.\n\n", "2.2"),  # there is no Section 9.9
        ("I and ", "Article I"),
        ("1.1 an", "1.1"),
        ("2.1 pr", "2.1"),
    ]


def test_a_number_that_comes_again_in_an_exhibit_means_the_clause_of_the_contract() -> None:
    clauses = find_clauses(TEXT)
    found = next(target for start, target in find_references(TEXT, clauses) if TEXT[start:].startswith("1.1 and"))
    assert clauses[found].start < TEXT.index("EXHIBIT A\n")


def test_references_to_laws_are_none() -> None:
    text = "1. Term. Section 1 of the Securities Act applies.\n\n2. End. See Section 1.\n"
    assert [number for _, number in targets(text)] == ["1"]


def test_references_may_lead_in_a_circle() -> None:
    text = "1. First. Subject to Section 2.\n\n2. Second. Subject to Section 1.\n"
    assert [number for _, number in targets(text)] == ["2", "1"]


def test_parties_are_found_where_they_are_introduced() -> None:
    terms = find_terms(TEXT)
    parties = [TEXT[start : start + 5] for start in find_parties(TEXT, find_clauses(TEXT), terms)]
    assert parties == ["Selle", "Buyer"]


def test_a_text_without_structure_has_none() -> None:
    for text in ("", "nothing is numbered here and nobody is named"):
        assert find_terms(text) == [] and list(find_uses(text, [])) == []
        assert targets(text) == [] and list(find_parties(text, (), [])) == []


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
def test_every_place_is_inside_the_text(text: str) -> None:
    clauses, terms = find_clauses(text), find_terms(text)
    uses, references = list(find_uses(text, terms)), list(find_references(text, clauses))
    places = [start for _, start in (*terms, *uses)] + [start for start, _ in references]
    assert all(0 <= start < len(text) for start in (*places, *find_parties(text, clauses, terms)))
    assert {name for name, _ in uses} <= {name for name, _ in terms}
    assert all(0 <= target < len(clauses) for _, target in references)


def test_words_that_only_look_like_the_beginning_of_a_definition_take_no_time() -> None:
    for words in ('"X", as used when used ', '"X" or "Y" and (so called) ', "the agreement and Section 1, 2 and "):
        assert find_terms(words * 300) == []
