"""Tables of weights in few bytes: nothing is lost."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from ovrag_studies.contract_review.answering import learned
from ovrag_studies.contract_review.inference import nli
from ovrag_studies.contract_review.packed import from_sparse, sparse

HALVES = st.floats(-100, 100, width=16)


@given(arrays(numpy.float32, array_shapes(min_dims=2, max_dims=3, max_side=6), elements=HALVES))
def test_a_sparse_table_comes_back_whole(table: NDArray[numpy.float32]) -> None:
    for width in {1, table.shape[-1]}:
        again = from_sparse("a", sparse("a", table, width))
        assert again.dtype == numpy.float32
        assert numpy.array_equal(again, table)


def test_zeros_take_no_room() -> None:
    table = numpy.zeros((4000, 40), dtype=numpy.float32)
    table[7, 3] = table[3999, 39] = 0.5
    assert sum(part.nbytes for part in sparse("a", table, 1).values()) == 2 * (2 + 4) + 2 * 8


def test_parts_that_do_not_fit_are_refused() -> None:
    packed = sparse("a", numpy.eye(3, dtype=numpy.float32), 3)
    with pytest.raises(ValueError, match="do not fit"):
        from_sparse("a", {**packed, "a.at": numpy.array([0, 1, 9], dtype=numpy.uint32)})
    with pytest.raises(ValueError, match="do not fit"):
        from_sparse("a", {**packed, "a.at": numpy.array([0, 1], dtype=numpy.uint32)})
    with pytest.raises(KeyError):
        from_sparse("b", packed)


def test_the_weights_of_the_study_stay_small() -> None:
    assert learned.WEIGHTS.stat().st_size < 3_000_000
    assert nli.WEIGHTS.stat().st_size < 2 * 2**20
