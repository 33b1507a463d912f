"""Evidence is verbatim, pages are found, values are frozen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ovrag_core.base.types import Document, Evidence, Page, Triple


@given(st.text(min_size=1), st.data())
def test_evidence_quotes_its_span_verbatim(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    evidence = Evidence.of(Document("d", text), start, end)
    assert evidence.quote == text[start:end]
    assert Evidence.model_validate_json(evidence.model_dump_json()) == evidence


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 5)])
def test_evidence_outside_the_text_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="not inside d"):
        Evidence.of(Document("d", "abcd"), start, end)


def test_a_page_is_found_by_offset() -> None:
    document = Document("d", "abcdef", pages=(Page(1, 0, 3), Page(2, 3, 6)))
    assert [document.page_at(offset) for offset in range(6)] == [1, 1, 1, 2, 2, 2]
    assert Document("d", "abc").page_at(1) is None


def test_values_are_frozen_and_closed() -> None:
    triple = Triple(subject="Loan", predicate="rdf:type", object="Loan")
    with pytest.raises(ValidationError):
        triple.subject = "Other"
    with pytest.raises(ValidationError):
        Triple.model_validate({"subject": "a", "predicate": "b", "object": "c", "sub_type": "d"})
