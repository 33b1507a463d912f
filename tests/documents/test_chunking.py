"""Chunks know their span, miss nothing, and keep to the sizes asked for."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.base.types import Document
from ovrag_core.documents.chunking import split

METHODS = ["recursive", "fixed", "paragraph"]
PROSE = st.text(alphabet=st.sampled_from("abc de. \n\n,;éﬁ☃\r\t "), max_size=600)
ANY_TEXT = st.one_of(PROSE, st.text(max_size=300))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT, size=st.integers(1, 120), share=st.floats(0, 0.99))
def test_chunks_are_exact_complete_and_bounded(method, text, size, share):
    overlap = int(size * share)
    chunks = split(Document("d", text), method, size, overlap)
    covered = set()
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert 0 < len(chunk.text) <= size
        assert chunk.text == chunk.text.strip()
        covered.update(range(chunk.start, chunk.end))
    assert all(position in covered for position, character in enumerate(text) if not character.isspace())
    for before, after in pairwise(chunks):
        assert before.start <= after.start
        assert before.end < after.end
        assert before.end - after.start <= overlap


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30, deadline=None)
@given(text=ANY_TEXT)
def test_the_same_text_gives_the_same_chunks_with_ids_of_their_own(method, text):
    once, again = (split(Document("d", text), method, 50, 10) for _ in range(2))
    assert once == again
    assert len({chunk.id for chunk in once}) == len(once)


def test_the_coarsest_separator_wins():
    text = "One two three.\nFour five six seven.\n\nEight nine ten. Eleven twelve thirteen."
    assert [chunk.text for chunk in split(Document("d", text), "recursive", 50, 0)] == [
        "One two three.\nFour five six seven.",
        "Eight nine ten. Eleven twelve thirteen.",
    ]


def test_overlap_begins_at_a_sentence_so_that_no_statement_is_lost_at_a_cut():
    text = " ".join(f"Sentence number {number} says a little." for number in range(12))
    chunks = split(Document("d", text), "recursive", 100, 40)
    assert all(chunk.text.startswith("Sentence") and chunk.text.endswith(".") for chunk in chunks)
    assert all(after.start < before.end for before, after in pairwise(chunks))


def test_a_word_longer_than_a_chunk_is_cut_hard():
    chunks = split(Document("d", "x" * 95), "recursive", 30, 0)
    assert [len(chunk.text) for chunk in chunks] == [30, 30, 30, 5]


def test_a_heading_stays_with_its_paragraph():
    text = (
        "Security\n\nThe Borrower pledges its stock of timber, wherever it is kept, to the Lender as security.\n\nEnd"
    )
    first, second = split(Document("d", text), "paragraph", 400, 0)
    assert first.text.startswith("Security\n\nThe Borrower")
    assert second.text == "End"


def test_ten_million_characters_take_seconds():
    text = ("The Borrower shall repay the Loan in equal instalments. " * 12 + "\n\n") * 15_000
    chunks = split(Document("d", text[:10_000_000]), "recursive", 1000, 200)
    assert len(chunks) > 10_000


def test_impossible_sizes_and_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="overlap"):
        split(Document("d", "text"), "fixed", 10, 10)
    with pytest.raises(ValueError, match="known are fixed, paragraph, recursive"):
        split(Document("d", "text"), "sentences", 10, 0)
