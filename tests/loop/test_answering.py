"""The extractive answerer holds the fact asked for, quotes verbatim, obeys exclusions and knows when to be silent."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.base.types import Chunk, Document
from ovrag_core.documents.chunking import split
from ovrag_core.loop.answering import NO_ANSWER, ExtractiveAnswerer, passages_of, question_parts
from ovrag_core.retrieval.embedding import minilm
from ovrag_core.text.passages import find_passages

LEASE = """LEASE OF A BOAT

OWNER:
Harbour Trading Company Ltd.

HIRER:
Wilhelmina Okafor

Section 2: Terms

Daily Rate: EUR 85.00
Period: 14 days
Deposit: EUR 400.00, to be returned within ten days after the boat has been
inspected and found in order

Section 3: Use

The hirer may sail the boat within sight of the coast only. Repairs up to EUR 50 are paid by the hirer; larger ones
are the owner's. Sub-letting is not allowed.
"""


@pytest.fixture(scope="module")
def answerer():
    return ExtractiveAnswerer(minilm())


def chunks_of(text, document_id="lease", size=1000, overlap=200):
    return split(Document(document_id, text), "recursive", size, overlap)


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        (
            "Who is the owner and who is the hirer in this document?",
            ["Harbour Trading Company Ltd.", "Wilhelmina Okafor"],
        ),
        ("What deposit is to be paid, and when is it returned?", ["EUR 400.00", "within ten days"]),
        ("Where may the boat be sailed?", ["within sight of the coast"]),
        ("Who pays for repairs?", ["larger ones\nare the owner's"]),
        ("Summarise this contract with its daily rate, period and deposit.", ["EUR 85.00", "14 days", "EUR 400.00"]),
    ],
)
def test_the_answer_holds_the_fact_asked_for(answerer, question, facts):
    answer = answerer.answer(question, chunks_of(LEASE))
    assert all(fact in answer.text for fact in facts), answer.text
    assert len(answer.text) < len(LEASE) / 2


def test_every_passage_is_evidence_and_the_text_is_nothing_else(answerer):
    answer = answerer.answer(
        "What is the daily rate, and may the boat be sub-let?", chunks_of(LEASE, size=200, overlap=80)
    )
    assert answer.evidence
    for evidence in answer.evidence:
        assert LEASE[evidence.start : evidence.end] == evidence.quote
        assert evidence.document_id == "lease"
    assert answer.text == "\n".join(evidence.quote for evidence in answer.evidence)
    assert [evidence.start for evidence in answer.evidence] == sorted(evidence.start for evidence in answer.evidence)


def test_what_overlapping_chunks_share_is_quoted_once(answerer):
    start = LEASE.index("Daily Rate")
    whole, tail = (Chunk(str(at), "lease", at, len(LEASE), LEASE[at:]) for at in (0, start))
    answer = answerer.answer("What is the daily rate?", [tail, whole])
    assert answer.text.count("EUR 85.00") == 1


def test_excluded_passages_are_left_out(answerer):
    chunks = chunks_of(LEASE)
    first = answerer.answer("What is the daily rate?", chunks)
    spans = frozenset((evidence.document_id, evidence.start, evidence.end) for evidence in first.evidence)
    second = answerer.answer("What is the daily rate?", chunks, exclude=spans)
    assert "EUR 85.00" in first.text
    assert "EUR 85.00" not in second.text
    elsewhere = frozenset(("another", start, end) for _, start, end in spans)
    assert answerer.answer("What is the daily rate?", chunks, exclude=elsewhere) == first


@pytest.mark.parametrize("question", ["How tall is Mount Kilimanjaro?", "Which enzymes break down lactose?"])
def test_it_says_so_when_the_context_does_not_hold_an_answer(answerer, question):
    answer = answerer.answer(question, chunks_of(LEASE))
    assert answer.text == NO_ANSWER
    assert answer.evidence == ()


def test_no_context_is_no_answer(answerer):
    assert answerer.answer("Who is the owner?", []).text == NO_ANSWER
    assert answerer.answer("Who is the owner?", [Chunk("x", "x", 0, 4, "____")]).text == NO_ANSWER


def test_several_documents_are_told_apart(answerer):
    chunks = [*chunks_of("OWNER:\nAda Byron", "one"), *chunks_of("OWNER:\nGrace Hopper", "two")]
    answer = answerer.answer("Who is the owner?", chunks)
    assert {(evidence.document_id, evidence.quote) for evidence in answer.evidence} == {
        ("one", "OWNER:\nAda Byron"),
        ("two", "OWNER:\nGrace Hopper"),
    }


def test_an_answer_does_not_depend_on_what_was_asked_before(answerer):
    fresh = ExtractiveAnswerer(minilm())
    question = "What is the period, and what is the deposit?"
    answerer.answer("Who is the owner?", chunks_of(LEASE, size=300))
    assert answerer.answer(question, chunks_of(LEASE)) == fresh.answer(question, chunks_of(LEASE))


@pytest.mark.parametrize("question", ["", "?", "and, or; if", "x" * 5000, "☃"])
def test_a_question_that_asks_for_nothing_gets_no_answer(answerer, question):
    given = answerer.answer(question, chunks_of(LEASE))
    assert (given.text, given.evidence) == (NO_ANSWER, ())


def test_odd_signs_beside_a_question_do_not_hide_it(answerer):
    given = answerer.answer(f"☃ ??? {'x' * 500} Who is the hirer?", chunks_of(LEASE))
    assert "Wilhelmina Okafor" in given.text


def test_a_question_is_taken_apart_into_what_it_asks_for():
    assert question_parts("Who is the owner and who is the hirer in this document?") == [
        "Who is the owner",
        "who is the hirer",
    ]
    assert question_parts("Summarise the lease with its daily rate, period and deposit.")[1:] == [
        "daily rate",
        "period",
        "deposit",
    ]


def test_a_clause_that_only_looks_back_is_no_part_unless_it_asks():
    assert question_parts("Who is the owner, and is each of them a person?") == ["Who is the owner"]
    assert question_parts("Is a deposit paid, and when is it returned?")[1:] == ["when is it returned"]


def test_headings_give_context_but_are_not_quoted(answerer):
    text = "LEASE\n\n1. Owner\n\nAda Byron of Ems, a person.\n\n2. Notices\n\nLetters go to the harbour office in Ems."
    answer = answerer.answer("Who is the owner?", chunks_of(text))
    assert answer.text == "Ada Byron of Ems, a person."
    assert {passage.heading for passage in passages_of(chunks_of(text)) if not passage.is_title} == {
        "1. Owner",
        "2. Notices",
    }


def test_labels_keep_their_values_and_sentences_cross_lines():
    quotes = [LEASE[start:end] for start, end in find_passages(LEASE)]
    assert "OWNER:\nHarbour Trading Company Ltd." in quotes
    assert "Period: 14 days" in quotes
    assert any(re.fullmatch(r"Deposit: EUR 400\.00.*\n.*in order", quote) for quote in quotes)
    assert "The hirer may sail the boat within sight of the coast only." in quotes
    assert "Repairs up to EUR 50 are paid by the hirer; larger ones\nare the owner's." in quotes


def test_a_role_below_a_name_stays_with_it():
    text = "__________\n\nAda Byron\n\n(Owner)\n\nDate: ______"
    assert "Ada Byron\n\n(Owner)" in [text[start:end] for start, end in find_passages(text)]


def test_abbreviations_do_not_end_sentences():
    text = "The U.S. office of Mr. Hale, Inc. Ltd. No. 7 is closed. It opens at 9."
    assert [text[start:end] for start, end in find_passages(text)] == [text[:-15], "It opens at 9."]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab C.:;,()\n\r -_•1é\t"), max_size=200), st.integers(0, 50))
def test_passages_are_in_order_apart_and_trimmed(text, start):
    spans = list(find_passages(text, start))
    for left, right in spans:
        quote = text[left - start : right - start]
        assert quote and quote == quote.strip()
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab C.:\n "), min_size=1, max_size=120), st.integers(5, 40))
def test_passages_of_chunks_are_verbatim(text, size):
    document = Document("d", text)
    for passage in passages_of(split(document, "recursive", size, size // 3)):
        assert text[passage.evidence.start : passage.evidence.end] == passage.text
