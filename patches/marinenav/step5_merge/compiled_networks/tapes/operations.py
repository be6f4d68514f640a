"""What a row of a tape asks for: its first number, then up to three pieces of memory, then sizes.

====================  ===================================================================================
PRODUCT to, a, b      two letters, rows, columns and terms by columns, leading sizes of a and b, whether it adds
BLOCKS to, a, b       the same, then room for whatever has to be turned, and how many terms are summed at once
TURN to, a            rows of a, width, leading size; once for all groups
SPREAD to, bias       rows, width
RECTIFY to            length; what is there, above zero
RECTIFY_BACK to, a    length; slopes that are there, where outputs a are above zero
JOIN to, own, objects absent, rows, width of own, objects of a row, width of an object
PART a, own, objects  the same, the other way round: a is read, the others are written
TIMES to, a, b        rows of a, rows of b for each of them, width
TIMES_SUM to, a, b    the same; products of a and b, summed over the rows that share one of `to`
SUM to, a             rows, width
ADD to, a             length
COPY to, a            length
DUEL to, value, a     rows, actions, atoms; value plus a, less the mean of a over actions
DUEL_BACK a, value, b the same, the other way round: a is read, the others are written
====================  ===================================================================================
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

Rows = list[tuple[int, ...]]

(
    PRODUCT,
    SPREAD,
    RECTIFY,
    RECTIFY_BACK,
    JOIN,
    PART,
    TIMES,
    TIMES_SUM,
    SUM,
    ADD,
    COPY,
    DUEL,
    DUEL_BACK,
    BLOCKS,
    TURN,
) = range(15)

WIDTH: Final = 14
"""Numbers of a row."""


def as_tape(rows: Rows) -> Any:
    """Rows as compiled code reads them."""
    tape = np.zeros((len(rows), WIDTH), dtype=np.int64)
    for place, row in enumerate(rows):
        tape[place, : len(row)] = row
    return tape
