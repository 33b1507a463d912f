"""Tables of learned numbers of which most are zero, as tensors of a file: what is not zero, and where it stands."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

Table = NDArray[numpy.float32]
Tensors: TypeAlias = Mapping[str, NDArray[numpy.generic]]


def sparse(name: str, table: Table, width: int) -> dict[str, NDArray[numpy.generic]]:
    """The rows of `width` numbers that are not all zero, in half precision, and where they stand."""
    rows = table.reshape(-1, width)
    indices = numpy.flatnonzero(rows.any(axis=1))
    return {
        f"{name}.rows": rows[indices].astype(numpy.float16),
        f"{name}.at": indices.astype(numpy.uint32),
        f"{name}.shape": numpy.array(table.shape, dtype=numpy.int64),
    }


def from_sparse(name: str, tensors: Tensors) -> Table:
    """The table of `sparse`. Raises KeyError where a part is missing, ValueError where they do not fit."""
    rows, indices, shape = (tensors[f"{name}.{key}"] for key in ("rows", "at", "shape"))
    table = numpy.zeros(tuple(int(side) for side in shape), dtype=numpy.float32)
    every = table.reshape(-1, rows.shape[1])
    if len(indices) != len(rows) or (len(indices) and int(indices.max()) >= len(every)):
        raise ValueError(f"the rows of {name} do not fit its shape")
    every[indices.astype(numpy.intp)] = rows
    return table
