"""What is made of a model's statements: names, facilities, facts, windows, and the reader's beside them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from pydantic import BaseModel

from ovrag_core.base.settings import Settings
from ovrag_core.base.types import Chunk, Document, Evidence, Triple, Usage
from ovrag_core.llm import Message, Reply
from ovrag_core.llm.schema import parse
from ovrag_core.loans.loan_facts import LoanReading
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reading.chat import OVERLAP, ChatExtractor, FormExtractor, Statement, Statements, windows_of
from ovrag_core.loans.reading.hybrid import HybridExtractor, aligned, joined
from ovrag_core.loans.reading.subjects import bare_name, loan_names, words_of
from ovrag_core.loans.reading.support import is_supported
from ovrag_core.ontology.configured import open_form, open_ontology
from ovrag_core.ontology.load import Ontology, fold

ANN = "Ms. Ann Lee, a natural person"
TWO = """CREDIT AGREEMENT

Between Harbor Bank, N.A. (the "Lender") and Mill Works LLC (the "Borrower").

The Lender grants the Borrower a term loan of USD 500,000.00 (the "Term Loan"). The Term Loan is repaid in 60 monthly
instalments.

The Lender also makes available a revolving facility of USD 100,000.00 (the "Revolving Facility"). Under the Revolving
Facility amounts repaid may be borrowed again.

The obligations are secured by all inventory of the Borrower.
"""


ONE = """LOAN AGREEMENT

Between Harbor Bank, N.A. (the "Lender") and Ms. Ann Lee, a natural person (the "Borrower").

The Lender lends the Borrower USD 9,000.00. The advance is unsecured. Everything comes to its end on June 30, 2031.
"""


@pytest.fixture(scope="module")
def ontology() -> Ontology:
    return open_ontology(Settings())


class Model:
    """A chat model that says what it is told to, whatever it is asked."""

    name = "model"

    def __init__(self, *statements: Statement) -> None:
        self.statements = list(statements)
        self.asked = 0

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        temperature: float,
        seed: int | None,
        purpose: str,
    ) -> Reply:
        self.asked += 1
        parsed = Statements(statements=self.statements)
        return Reply("", parsed, Usage(calls=1), "stop", 0.0, self.name, False)


def said(
    subject: str, predicate: str, object_: str, quote: str, types: tuple[str, str] = ("Loan", ""), excerpt: int = 1
) -> Statement:
    return Statement(
        excerpt=excerpt,
        subject=subject,
        predicate=predicate,
        object=object_,
        quote=quote,
        subject_type=types[0],
        object_type=types[1],
    )


def content(triples: Sequence[Triple]) -> set[tuple[str, str, str]]:
    return {(triple.subject, triple.predicate, triple.object) for triple in triples}


def test_many_names_of_one_loan_are_one_and_parties_go_by_their_names(ontology: Ontology) -> None:
    text = "Ms Ann Lee borrows from Harbor Bank. The loan is secured. It is unsecured."
    model = Model(
        said(
            "the Loan",
            "has borrower",
            "Ms. Ann Lee, a natural person",
            "Ms Ann Lee borrows",
            ("loan", "natural person"),
        ),
        said("ConsumerLoan", "type", "secured loan", "The loan is secured", ("ConsumerLoan", "")),
        said("Loan Agreement", "rdf:type", "UnsecuredLoan", "It is unsecured.", ("", "")),
        said(ANN, "rdf:type", "NaturalPerson", "Ms Ann Lee", ("", "")),
    )
    triples = ChatExtractor(model, ontology).read_passage(text, document_id="A", start=100)
    assert content(triples) == {
        ("Loan", "hasBorrower", "Ann Lee"),
        ("Loan", "rdf:type", "SecuredLoan"),
        ("Loan", "rdf:type", "ConsumerLoan"),
        ("Loan", "rdf:type", "UnsecuredLoan"),
        ("Ann Lee", "rdf:type", "NaturalPerson"),
    }
    assert {triple.subject_type for triple in triples if triple.subject == "Loan"} == {"Loan"}
    for triple in triples:
        assert triple.evidence is not None
        assert text[triple.evidence.start - 100 : triple.evidence.end - 100] == triple.evidence.quote


def test_a_quote_counts_for_the_excerpt_it_is_said_to_be_from(ontology: Ontology) -> None:
    chunks = [Chunk(id_, id_, 10, 30, "The loan is secured.") for id_ in ("A", "B")]
    chunks.append(Chunk("C", "C", 0, 21, "Nothing is said here."))
    model = Model(
        said("Loan", "rdf:type", "SecuredLoan", "The loan is secured.", excerpt=2),
        said("Loan", "rdf:type", "Mortgage", "The loan is secured.", excerpt=3),
        said("Loan", "rdf:type", "CardAccount", "The loan is secured.", excerpt=9),
    )
    triples = ChatExtractor(model, ontology).read_chunks(chunks)
    assert [triple.evidence.document_id for triple in triples if triple.evidence] == ["B", "A", "A"]


def test_the_same_text_is_asked_about_once(ontology: Ontology) -> None:
    model = Model(said("Loan", "rdf:type", "SecuredLoan", "secured"))
    extractor = ChatExtractor(model, ontology)
    assert extractor.read_passage("It is secured.", document_id="A")[0].evidence != (
        extractor.read_passage("It is secured.", document_id="B")[0].evidence
    )
    assert model.asked == 1
    extractor.read_passage("It is secured.", document_id="A", origin="answer")
    assert model.asked == 2


def test_facts_follow_from_the_triples(ontology: Ontology) -> None:
    text = TWO + "\nThe Term Loan bears interest at 5.75% a year and matures on June 30, 2031."
    model = Model(
        said("TermLoan", "rdf:type", "ClosedEndCredit", "repaid in 60 monthly instalments"),
        said("TermLoan", "rdf:type", "Mortgage", "secured by all inventory"),
        said("TermLoan", "hasPrincipalAmount", "$500,000", "a term loan of USD 500,000.00"),
        said("TermLoan", "hasInterestRate", "5.75% per annum", "interest at 5.75% a year"),
        said("TermLoan", "hasMaturityDate", "June 30, 2031", "matures on June 30, 2031"),
        said("TermLoan", "hasTerm", "5 years", "60 monthly instalments"),
        said("TermLoan", "hasLender", "Harbor Bank, N.A.", "Harbor Bank, N.A.", ("Loan", "Bank")),
        said("RevolvingFacility", "rdf:type", "OpenEndCredit", "amounts repaid may be borrowed again"),
        said("RevolvingFacility", "rdf:type", "ClosedEndCredit", "may be borrowed again"),
    )
    reading = ChatExtractor(model, ontology).read(Document("A", text))
    term, revolving = reading.facilities
    assert (term.name, term.subject, term.credit_form, term.security) == (
        "Term Loan",
        "TermLoan",
        "closed-end",
        "secured",
    )
    assert term.loan_types == ("Mortgage",)
    assert term.principal is not None and (term.principal.amount, term.principal.currency) == (500_000, "USD")
    assert (term.interest_rate, term.maturity, term.term_months) == ("5.75%", "2031-06-30", 60)
    assert term.lender is not None and (term.lender.name, term.lender.kind) == (
        "Harbor Bank, N.A.",
        "financial_institution",
    )
    assert (revolving.credit_form, revolving.security, revolving.lender) == ("contradictory", "unstated", None)


def test_what_is_no_loan_is_not_sent(ontology: Ontology) -> None:
    model = Model()
    reading = ChatExtractor(model, ontology).read(
        Document("A", "A recipe for bread: flour, water, salt and time. " * 20)
    )
    assert (reading.status, model.asked) == ("not_loan", 0)


def test_a_models_statements_meet_the_readers_facilities(ontology: Ontology) -> None:
    model = Model(
        said("Term Loan", "rdf:type", "ClosedEndCredit", "repaid in 60 monthly instalments"),
        said("Revolver", "rdf:type", "OpenEndCredit", "amounts repaid may\nbe borrowed again"),
        said("Loan", "rdf:type", "OpenEndCredit", "be borrowed again"),
        said("Loan", "rdf:type", "UnsecuredLoan", "The obligations are"),
        said("Loan", "hasBorrower", "the Borrower", "the Borrower", ("Loan", "LegalEntity")),
        said("Mill Works, LLC", "rdf:type", "Corporation", "Mill Works LLC", ("", "")),
    )
    document = Document("A", TWO)
    mine = reader.read(document)
    assert {facility.subject for facility in mine.facilities} == {"TermLoan", "RevolvingFacility"}
    reading = HybridExtractor(ChatExtractor(model, ontology), reader, reader.NAME).read(document)
    assert reading.facilities == mine.facilities
    assert reading.triples[: len(mine.triples)] == mine.triples
    added = content(reading.triples) - content(mine.triples)
    assert added == {
        ("TermLoan", "rdf:type", "UnsecuredLoan"),
        ("RevolvingFacility", "rdf:type", "UnsecuredLoan"),
        ("Mill Works LLC", "rdf:type", "Corporation"),
    }


def triple(subject: str, predicate: str, object_: str, quote: str = "x") -> Triple:
    evidence = Evidence(document_id="A", start=0, end=len(quote), quote=quote)
    return Triple(subject=subject, predicate=predicate, object=object_, subject_type="Loan", evidence=evidence)


def test_one_loan_for_the_reader_and_several_for_the_model_stay_apart() -> None:
    known = (triple("Loan", "rdf:type", "SecuredLoan"),)
    several = (triple("TermLoan", "rdf:type", "ClosedEndCredit"), triple("Revolver", "rdf:type", "OpenEndCredit"))
    assert content(aligned(several, known, ["Loan"], "")) == content(several)
    one = (triple("TermLoan", "rdf:type", "ClosedEndCredit"), triple("the loan", "rdf:type", "SecuredLoan"))
    assert {each.subject for each in aligned(one, known, ["Loan"], "")} == {"Loan"}
    assert joined(known, aligned(one, known, ["Loan"], "")) == (*known, one[0].model_copy(update={"subject": "Loan"}))


def test_a_person_and_a_company_of_the_same_name_stay_two() -> None:
    known = (triple("Loan", "hasLender", "John Smith"),)
    other = (triple("Loan", "hasLender", "John Smith Lending LLC"),)
    assert aligned(other, known, ["Loan"], "")[0].object == "John Smith Lending LLC"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["the Loan", "Loan Agreement", "SecuredLoan"], ["Loan", "Loan", "Loan"]),
        (["SecuredLoan", "UnsecuredLoan"], ["Loan", "Loan"]),
        (["Term Loan A", "loan"], ["Loan", "Loan"]),
        (["Term Loan A", "TermLoanB", "loan"], ["TermLoanA", "TermLoanB", "Loan"]),
        (["Term Loan", "TermLoan", "Revolver"], ["TermLoan", "TermLoan", "Revolver"]),
    ],
)
def test_names_of_loans(names: list[str], expected: list[str]) -> None:
    found = loan_names(names)
    assert [found[name] for name in names] == expected


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Ms. Ann Lee", "Ann Lee"),
        ("Ann Lee (the “Borrower”)", "Ann Lee"),
        ("Acme LLC, a Delaware limited liability company", "Acme LLC"),
        ("Acme, Inc.", "Acme, Inc."),
        ("Dr", "Dr"),
    ],
)
def test_a_party_without_title_and_description(name: str, bare: str) -> None:
    assert bare_name(name) == bare


def test_names_in_words() -> None:
    names = ("TermLoanA", "Term_Loan", "USDFacility2")
    assert [words_of(name) for name in names] == ["Term Loan A", "Term Loan", "USD Facility 2"]


@pytest.mark.parametrize("length", [10, 2000, 2001, 9000])
def test_windows_cover_the_document_and_overlap(length: int) -> None:
    text = ("word " * 15 + "\n") * (length // 76 + 1)
    windows = windows_of(Document("A", text[:length]), 2000)
    assert windows[0].start == 0 and windows[-1].end == length
    assert all(window.text == text[:length][window.start : window.end] for window in windows)
    assert all(len(window.text) <= 2000 for window in windows)
    for first, second in pairwise(windows):
        assert first.start < second.start < first.end <= second.start + OVERLAP
    assert len(windows) == 1 or length > 2000


@pytest.mark.parametrize(
    ("predicate", "value", "quote", "supported"),
    [
        ("hasPrincipalAmount", "USD 25,000.00", "lends USD 25,000 under Section 4", True),
        ("hasPrincipalAmount", "USD 250,000.00", "lends USD 25,000 under Section 4", False),
        ("hasPrincipalAmount", "EUR 1,500,000", "a facility of EUR 1.5 million", True),
        ("hasPrincipalAmount", "EUR 25.000,00", "EUR 25.000,00", True),
        ("hasPrincipalAmount", "USD 25,000", "twenty-five thousand dollars, as Section 2 says", True),
        ("hasPrincipalAmount", "USD 500", "the sum of $600 at 5%", False),
        ("hasInterestRate", "5.75%", "at 5.75 per cent a year", True),
        ("hasInterestRate", "4.75%", "interest at 4¾% a year", True),
        ("hasInterestRate", "4.75%", "interest at 4 3/4% a year", True),
        ("hasInterestRate", "6%", "interest at 5.75% a year", False),
        ("hasInterestRate", "5%", "five per cent, as in Section 2", True),
        ("hasMaturityDate", "2031-06-30", "matures on June 30, 2031", True),
        ("hasMaturityDate", "2032-06-30", "matures on June 30, 2031", False),
        ("hasMaturityDate", "2031-06-30", "on the thirtieth of June", True),
        ("hasBorrower", "Ms. Ann Lee", "Ann lends", True),
        ("hasBorrower", "Ann Lee Smith", "Ann lends", False),
        ("hasCollateral", "a motor vehicle", "a car", True),
    ],
)
def test_a_value_is_one_that_its_passage_can_give(
    ontology: Ontology, predicate: str, value: str, quote: str, supported: bool
) -> None:
    term = ontology.property_names[fold(predicate)]
    assert is_supported(value, term, quote, [f"{quote} to Lee."]) is supported


@pytest.mark.parametrize(
    "reply",
    [
        '{"statements": [{"excerpt": "Excerpt 1", "subject": "Loan", "object": 60, "quote": null}]}',
        '[{"subject": "Loan", "predicate": "hasTerm", "object": "60", "object_type": null, "excerpt": null}]',
    ],
)
def test_slips_of_form_cost_a_statement_at_most(reply: str) -> None:
    (statement,) = parse(reply, Statements).statements
    assert (statement.excerpt, statement.object, statement.object_type, statement.quote) == (1, "60", "", "")


class FormModel:
    """Fills in every form alike: what it is given, and nothing else."""

    name = "form model"

    def __init__(self, **fields: object) -> None:
        self.fields = fields

    def complete(self, messages: Sequence[Message], *, schema: type[BaseModel] | None = None, **how: object) -> Reply:
        assert schema is not None
        parsed = schema.model_validate({**dict.fromkeys(schema.model_fields, "not stated"), **self.fields})
        return Reply(parsed.model_dump_json(), parsed, Usage(), "stop", 0.0, self.name, cached=False)


class ReaderOfNoDates:
    """The clause reader, blind for maturities."""

    read_passage, read_chunks = staticmethod(reader.read_passage), staticmethod(reader.read_chunks)

    def read(self, document: Document) -> LoanReading:
        found = reader.read(document)
        kept = tuple(triple for triple in found.triples if triple.predicate != "hasMaturityDate")
        return found.model_copy(update={"triples": kept})


def form_hybrid(ontology: Ontology, **fields: object) -> HybridExtractor:
    model = FormExtractor(FormModel(**fields), ontology, open_form(ontology))
    return HybridExtractor(model, ReaderOfNoDates(), reader.NAME, fills_form=True)


def said_of(text: str, extractor: HybridExtractor, predicate: str) -> list[tuple[str, str]]:
    triples = extractor.read(Document("A", text)).triples
    assert all(
        text[each.evidence.start : each.evidence.end] == each.evidence.quote for each in triples if each.evidence
    )
    return [(triple.subject, triple.object) for triple in triples if triple.predicate == predicate]


def test_a_form_adds_only_what_the_reader_is_silent_on(ontology: Ontology) -> None:
    extractor = form_hybrid(ontology, borrower="Harbor Bank, N.A.", maturity="2031-06-30", interest_rate="9.99%")
    alone = said_of(ONE, form_hybrid(ontology), "hasBorrower")
    assert said_of(ONE, extractor, "hasBorrower") == alone != []
    assert said_of(ONE, form_hybrid(ontology), "hasMaturityDate") == []
    assert said_of(ONE, extractor, "hasMaturityDate") == [("Loan", "June 30, 2031")]
    assert said_of(ONE, extractor, "hasInterestRate") == [], "the text does not hold it"


def test_a_form_says_nothing_of_one_of_several_facilities(ontology: Ontology) -> None:
    extractor = form_hybrid(ontology, principal="USD 600,000.00", maturity="2031-06-30")
    text = TWO + "\nThe Lender's total exposure is USD 600,000.00 until June 30, 2031.\n"
    assert said_of(text, extractor, "hasPrincipalAmount") == said_of(text, form_hybrid(ontology), "hasPrincipalAmount")
