"""Sums of products as the BLAS in use rounds them, for compiled code.

Which multiply-adds are fused depends on the kernels that BLAS chose for the CPU. Every product of the legacy
code has two or three terms, so there are few ways; `forms` finds by trying which of them this machine takes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import float64, njit
from numba.extending import intrinsic

PLAIN, FIRST_FUSED, CHAINED = range(3)
"""Every product rounded; the second term rounded and the others fused to it; the first one instead."""
FORMS = (PLAIN, FIRST_FUSED, CHAINED)


class Forms(NamedTuple):
    """How sums of products are rounded here."""

    dot: int
    """A vector of two with itself."""
    turned: int
    """A transposed 2x2 matrix and a vector."""
    pair: int
    """A 2x2 matrix and a vector."""
    triple: int
    """A 3x3 matrix and a vector."""


def compiled(function: Any) -> Any:
    """Compile a function on its first call: no reordering, no fusing but what is written, division as in C."""
    return njit(error_model="numpy")(function)


def compiled_unlocked(function: Any) -> Any:
    """The same, and other threads may run Python meanwhile."""
    return njit(error_model="numpy", nogil=True)(function)


def inlined(function: Any) -> Any:
    """Compile a function into each of its callers: for small ones, called often, that LLVM would rather call."""
    return njit(error_model="numpy", forceinline=True)(function)


def _fused(_context: Any, _a: Any, _b: Any, _c: Any) -> Any:

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return float64(float64, float64, float64), generate


fused: Any = intrinsic(_fused)
"""Returns a * b + c, rounded once."""


@compiled
def sum_of_two(form: int, a: float, x: float, b: float, y: float) -> Any:
    """Return a * x + b * y; never -0.0, because BLAS adds to a zero."""
    if form == FIRST_FUSED:
        return 0.0 + fused(a, x, b * y)
    if form == CHAINED:
        return 0.0 + fused(b, y, a * x)
    return 0.0 + (a * x + b * y)


@compiled
def sum_of_three(form: int, a: float, x: float, b: float, y: float, c: float, z: float) -> Any:
    """Return a * x + b * y + c * z."""
    if form == FIRST_FUSED:
        return 0.0 + fused(c, z, fused(a, x, b * y))
    if form == CHAINED:
        return 0.0 + fused(c, z, fused(b, y, a * x))
    return 0.0 + (a * x + b * y + c * z)


@compiled
def products_of_two(form: int, left: Any, right: Any, results: Any) -> None:
    """Multiply many matrices with a vector each: (k, 2, 2) and (k, 2), to try a form."""
    for index in range(len(left)):
        x, y = right[index, 0], right[index, 1]
        for row in range(2):
            results[index, row] = sum_of_two(form, left[index, row, 0], x, left[index, row, 1], y)


@compiled
def products_of_three(form: int, left: Any, right: Any, results: Any) -> None:
    """Multiply many matrices with a vector each: (k, 3, 3) and (k, 3), to try a form."""
    for index in range(len(left)):
        x, y, z = right[index, 0], right[index, 1], right[index, 2]
        for row in range(3):
            a, b, c = left[index, row, 0], left[index, row, 1], left[index, row, 2]
            results[index, row] = sum_of_three(form, a, x, b, y, c, z)
