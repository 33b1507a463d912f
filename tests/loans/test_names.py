"""Names end where their party does, and show what sort of party it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.base.errors import OntologyError
from ovrag_core.loans.reading.names import described_kind, find_cue, name_at, party_kind, words


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Pellworm Harbour Works LLC, a Maine limited liability company", "Pellworm Harbour Works LLC"),
        ("OLIVIA STRAND BANK, N.A., chartered as a national bank", "OLIVIA STRAND BANK, N.A."),
        ("Bank of the Southern Isles plc (the lender)", "Bank of the Southern Isles plc"),
        ("Trawlermen and Coopers Trust Company of Hull, as agent", "Trawlermen and Coopers Trust Company of Hull"),
        ("Holm Verft GmbH & Co. KG, Kiel", "Holm Verft GmbH & Co. KG"),
        ("Kwiat Lniany Sp. z o.o., Poznań", "Kwiat Lniany Sp. z o.o."),
        ("Fjordlys Kraft A/S. It", "Fjordlys Kraft A/S"),
        ("Quill Media (Ireland), Inc., whose office", "Quill Media (Ireland), Inc."),
        ("NORTH LEDGE\nBANK, NATIONAL ASSOCIATION, as lender", "NORTH LEDGE BANK, NATIONAL ASSOCIATION"),
        ("the Ministry for Roads and Bridges (“Ministry”)", "Ministry for Roads and Bridges"),
        ("María de la Fuente of 12 Elm Street", "María de la Fuente"),
        ("Rosa Lind            Loan date: 3 May 2024", "Rosa Lind"),
        ("Rosa Lind and Karl Lind", "Rosa Lind"),
        ("Rosa Lind, Springfield", "Rosa Lind"),
    ],
)
def test_a_name_ends_before_description_and_address(text: str, name: str) -> None:
    found = name_at(text, 0)
    assert found is not None
    assert found.text == name
    assert " ".join(text[found.start : found.end].split()) == name


def test_a_title_is_kept_apart_from_the_name() -> None:
    found = name_at("  Ms Ines Okoro-Berg, director", 0)
    assert found is not None
    assert (found.text, found.title) == ("Ines Okoro-Berg", "Ms")


@pytest.mark.parametrize(
    "text", ["the Borrower shall", "Date: 3 May", "none", "New York, 3 May 2024", "Agreement", "LLC"]
)
def test_role_words_places_and_forms_alone_are_no_names(text: str) -> None:
    assert name_at(text, 0) is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Ingeborg Aasen", "natural_person"),
        ("Mr. Lucas Bank", "natural_person"),
        ("Sallie Morgan", "natural_person"),
        ("Tyrone Power", "natural_person"),
        ("Rosa Lind trading as Lind's Bakery", "natural_person"),
        ("Uwe Harms e.K.", "natural_person"),
        ("Rosa Lind Catering LLC", "legal_entity"),
        ("Harms & Söhne", "legal_entity"),
        ("Bob's Tyres, Inc.", "legal_entity"),
        ("Brzoza Meble Sp. z o.o.", "legal_entity"),
        ("Hoshizora Seimitsu K.K.", "legal_entity"),
        ("Kabushiki Kaisha Hoshizora", "legal_entity"),
        ("Lumière du Sud S.à r.l.", "legal_entity"),
        ("Vantaan Konepaja Oy", "legal_entity"),
        ("Perak Rubber Works Sdn Bhd", "legal_entity"),
        ("Olivia Strand Bank, N.A.", "financial_institution"),
        ("Sparkasse Oberaue", "financial_institution"),
        ("Volksbank Unteraue eG", "financial_institution"),
        ("Banque du Lac SA", "financial_institution"),
        ("Harbour Teachers Credit Union", "financial_institution"),
        ("Goldman Sachs", "financial_institution"),
        ("Sallie Mae", "financial_institution"),
        ("Wells Fargo Home Mortgage", "financial_institution"),
        ("U.S. Department of Education", "government"),
        ("City of Millport", "government"),
        ("Ministry of Fisheries", "government"),
        ("Bank of the City of Millport", "financial_institution"),
    ],
)
def test_the_kind_follows_the_form_of_the_name(name: str, kind: str) -> None:
    assert party_kind(name) == kind


@pytest.mark.parametrize(
    "name",
    [
        "Zyxo Quandre",  # no given name that is known
        "Repayment Particulars",
        "General Contractor",
        "Swingline Participant",
        "London Branch",
        "Florence Main Branch",
        "Santa Rosa",
        "Fort Wayne",
        "Madison Avenue",
        "Charlotte North Carolina",
        "Georgia",
        "Nguyễn Thị Hoa",
    ],
)
def test_a_name_that_shows_nothing_has_no_kind(name: str) -> None:
    assert party_kind(name) is None


def test_a_company_of_finance_is_an_institution_only_where_it_lends() -> None:
    assert party_kind("Tidewrack Capital Limited", role="lender") == "financial_institution"
    assert party_kind("Tidewrack Capital Limited", role="borrower") == "legal_entity"
    assert party_kind("Tidewrack Sails Limited", role="lender") == "legal_entity"


def test_a_description_decides_where_the_name_does_not() -> None:
    assert party_kind("Olive Thorne", ", a Delaware corporation with its office at") == "legal_entity"
    assert party_kind("Olive Thorne", ", an individual residing at 4 Company Street") == "natural_person"
    assert party_kind("Zyxo", "a savings bank chartered in Vermont") == "financial_institution"
    assert party_kind("Zyxo") is None


def test_the_first_telling_words_of_a_description_decide() -> None:
    assert (
        described_kind("a natural person whose savings these are, and neither bank nor corporation") == "natural_person"
    )
    assert described_kind("a limited liability company whose manager is an individual") == "legal_entity"
    assert described_kind("red and blue") is None


@given(st.text(max_size=200), st.integers(min_value=0, max_value=200))
def test_spans_are_inside_the_text(text: str, start: int) -> None:
    found = name_at(text, start)
    if found is not None:
        assert 0 <= found.start < found.end <= len(text)
        assert " ".join(text[found.start : found.end].split()) == found.text
    cue = find_cue(text)
    assert cue is None or 0 <= cue.start < cue.end <= len(text)


def test_a_broken_or_missing_lexicon_is_named(tmp_path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("this is : not turtle", encoding="utf-8")
    with pytest.raises(OntologyError, match=r"broken\.ttl is not valid Turtle"):
        words("bankWord", broken)
    with pytest.raises(OntologyError, match="is missing"):
        words("bankWord", tmp_path / "none.ttl")


def test_the_lexicon_can_be_extended_without_python(tmp_path) -> None:
    own = tmp_path / "own.ttl"
    own.write_text('@prefix : <urn:ovrag:parties#> . :Own :bankWord "zbank" .', encoding="utf-8")
    assert words("bankWord", own) == ("zbank",)
