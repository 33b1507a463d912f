"""Terms, references, parties and amendments of a contract, with their spans."""

from hypothesis import given
from hypothesis import strategies as st

from ovrag_studies.contract_review.texts.structure import Structure, find_structure

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


def quoted(text: str, structure: Structure) -> dict[str, str]:
    return {term.name: " ".join(text[slice(*term.definition)].split()) for term in structure.terms}


def targets(structure: Structure) -> list[tuple[str, str | None]]:
    clauses = structure.clauses
    return [(each.text, None if each.target is None else clauses[each.target].number) for each in structure.references]


def test_terms_have_the_span_of_their_definition() -> None:
    structure = find_structure(TEXT)
    defined = quoted(TEXT, structure)
    assert set(defined) == {"Agreement", "Seller", "Buyer", "Goods", "Net Price"}
    assert "means sawn timber of the grades listed in Exhibit A." in defined["Goods"]
    assert defined["Buyer"].endswith('(hereinafter referred to as the "Buyer").')
    assert all(TEXT[term.start : term.end] == term.name for term in structure.terms)


def test_a_use_is_outside_of_the_terms_own_definition() -> None:
    structure = find_structure(TEXT)
    used = [structure.terms[use.term].name for use in structure.uses]
    assert used.count("Goods") == 1 and used.count("Net Price") == 1
    assert all(TEXT[use.start : use.end] == structure.terms[use.term].name for use in structure.uses)


def test_the_longer_of_two_terms_is_used() -> None:
    text = '"Price" means a sum. "Net Price" means less. The Net Price falls and each Net Prices rises.'
    structure = find_structure(text)
    assert [structure.terms[use.term].name for use in structure.uses] == ["Net Price", "Net Price"]


def test_references_find_the_clause_that_is_called_so() -> None:
    assert targets(find_structure(TEXT)) == [
        ("Exhibit A", "Exhibit A"),
        ("Section 2.2(b)", "b"),
        ("Section 9.9", None),  # there is none
        ("paragraph (b)", "b"),
        ("Section 2.2", "2.2"),
        ("paragraph (b)", "b"),
        ("Article I", "Article I"),
        ("Section 1.1", "1.1"),
        ("Section 2.1", "2.1"),
    ]


def test_a_number_that_comes_again_in_an_exhibit_means_the_clause_of_the_contract() -> None:
    structure = find_structure(TEXT)
    found = next(each for each in structure.references if each.text == "Section 1.1")
    assert found.target is not None
    assert structure.clauses[found.target].start < TEXT.index("EXHIBIT A\n")


def test_references_to_laws_and_to_the_clause_itself_are_none() -> None:
    text = "1. Term. As this Section 1 says, Section 5 of the Securities Act applies.\n\n2. End. See Section 1.\n"
    assert targets(find_structure(text)) == [("Section 1", "1")]


def test_references_may_lead_in_a_circle() -> None:
    text = "1. First. Subject to Section 2.\n\n2. Second. Subject to Section 1.\n"
    assert targets(find_structure(text)) == [("Section 2", "2"), ("Section 1", "1")]


def test_parties_with_their_short_names() -> None:
    parties = find_structure(TEXT).parties
    assert [(party.name, party.short) for party in parties] == [
        ("Norrland Timber AB", "Seller"),
        ("Harbour Joinery, Inc.", "Buyer"),
    ]


def test_an_amendment_says_what_it_changes() -> None:
    text = (
        "SECOND AMENDMENT TO THE SUPPLY AGREEMENT\n\n1. Price. Section 2.2(a) of the Agreement is hereby deleted.\n\n"
        "2. Goods. Exhibit A is hereby amended and restated as follows."
    )
    found = find_structure(text).amendments
    assert [(each.action, each.target) for each in found] == [
        ("amended", "SUPPLY AGREEMENT"),
        ("deleted", "Section 2.2(a) of the Agreement"),
        ("amended and restated", "Exhibit A"),
    ]


def test_a_text_without_structure_has_none() -> None:
    assert find_structure("") == Structure((), (), (), (), (), ())
    plain = find_structure("nothing is numbered here and nobody is named")
    assert (plain.terms, plain.references, plain.parties) == ((), (), ())


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
    structure = find_structure(text)
    spans = [(each.start, each.end) for each in (*structure.terms, *structure.uses, *structure.references)]
    spans += [(each.start, each.end) for each in (*structure.parties, *structure.amendments)]
    spans += [term.definition for term in structure.terms]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(0 <= use.term < len(structure.terms) for use in structure.uses)
    assert all(each.target is None or each.target < len(structure.clauses) for each in structure.references)


def test_words_that_only_look_like_the_beginning_of_a_definition_take_no_time() -> None:
    for words in ('"X", as used when used ', '"X" or "Y" and (so called) ', "the agreement and Section 1, 2 and "):
        assert find_structure(words * 300).terms == ()
