"""Compiled: writes the rows of a matrix as columns, eight by eight numbers at a time."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import carray, types
from numba.extending import intrinsic

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled

_SIDE: Final = 8
_BYTES: Final = 4


def _turn_tile(_context: Any, _to: Any, _ahead: Any, _source: Any, _behind: Any) -> Any:
    """Turn one tile; arguments are addresses, each with the bytes from one row to the next."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        to, ahead, source, behind = arguments
        vector = ir.VectorType(ir.FloatType(), _SIDE)

        def row_at(begin: Any, apart: Any, row: int) -> Any:
            place = builder.add(begin, builder.mul(apart, ir.Constant(ir.IntType(64), row)))
            return builder.inttoptr(place, vector.as_pointer())

        rows = [builder.load(row_at(source, behind, row), align=_BYTES) for row in range(_SIDE)]
        for distance in (4, 2, 1):
            rows = _exchanged(builder, rows, distance)
        for row, numbers in enumerate(rows):
            builder.store(numbers, row_at(to, ahead, row), align=_BYTES)
        return ir.Constant(ir.IntType(64), 0)

    return types.int64(*[types.int64] * 4), generate


def _exchanged(builder: Any, rows: list[Any], distance: int) -> list[Any]:
    """Rows whose blocks above and below the diagonal have changed places."""
    found = list(rows)
    for one in range(_SIDE):
        other = one + distance
        if not one & distance:
            upper = [
                place if not place & distance else _SIDE + place - distance
                for place in range(_SIDE)
            ]
            lower = [
                place + distance if not place & distance else _SIDE + place
                for place in range(_SIDE)
            ]
            for to, order in ((one, upper), (other, lower)):
                mask = ir.Constant(ir.VectorType(ir.IntType(32), _SIDE), order)
                found[to] = builder.shuffle_vector(rows[one], rows[other], mask)
    return found


def _as_pointer(_context: Any, _address: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(sig.return_type))

    return types.CPointer(types.float32)(types.int64), generate


_tile: Any = intrinsic(_turn_tile)
_numbers_at: Any = intrinsic(_as_pointer)


GAP: Final = 16
"""Numbers left out after each row that is written: rows a power of two apart would push each other out of the cache."""


@compiled
def turn(to: int, source: int, rows: int, width: int, ahead: int) -> None:
    """Write a matrix the other way round.

    Args:
        to: Where (width, rows + GAP) numbers go.
        source: Where the first row begins.
        rows: How many there are.
        width: Numbers of a row.
        ahead: Numbers from one row to the next.
    """
    behind = rows + GAP
    whole, across = rows // _SIDE * _SIDE, width // _SIDE * _SIDE
    # Four tiles together use up all that a processor fetches at once.
    for block in range(0, whole, 2 * _SIDE):
        for left in range(0, across, _SIDE):
            for top in range(block, min(block + 2 * _SIDE, whole), _SIDE):
                _tile(
                    to + _BYTES * (left * behind + top), _BYTES * behind,
                    source + _BYTES * (top * ahead + left), _BYTES * ahead,
                )  # fmt: skip
    target = carray(_numbers_at(to), (width, behind))
    numbers = carray(_numbers_at(source), (rows, ahead))
    for row in range(rows):
        for place in range(across if row < whole else 0, width):
            target[place, row] = numbers[row, place]
