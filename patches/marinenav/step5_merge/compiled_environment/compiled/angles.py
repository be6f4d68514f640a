"""Compiled: arcs as numpy computes them, by numpy's own loops.

Where the CPU has the widest vectors numpy takes another library for them than Python does, and their last bits differ.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, NamedTuple

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from numba import types
from numba.core.typing import signature

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled

_SYMBOLS: Final = ("patches_arcsin", "patches_arctan2")
_arcsin, _arctan2 = (
    types.ExternalFunction(symbol, signature(types.void, *[types.intp] * 4)) for symbol in _SYMBOLS
)
_NUMBERS: Final = 7
"""Where numbers begin in the words that a loop is told: addresses, how often, and steps come first."""


class Arcs(NamedTuple):
    """What numpy gives its loops besides numbers, by address."""

    arcsin: int
    arctan2: int


class _Ufunc(ctypes.Structure):
    """How numpy's interface for C says that a function of arrays begins, behind the head that all objects have."""

    _fields_ = (
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    )


def find_arcs() -> Arcs | None:
    """Let compiled code call numpy's arcs of doubles; None if they are not where they should be."""
    found = []
    for symbol, ufunc in zip(_SYMBOLS, (np.arcsin, np.arctan2), strict=True):
        inside = _Ufunc.from_address(id(ufunc) + object.__basicsize__)
        names = ("nin", "nout", "nargs", "ntypes")
        kind = "d" * ufunc.nin + "->d"
        if kind not in ufunc.types or any(
            getattr(inside, name) != getattr(ufunc, name) for name in names
        ):
            return None
        place = ufunc.types.index(kind)
        if not inside.functions[place]:
            return None
        llvm.add_symbol(symbol, inside.functions[place])
        found.append((inside.data[place] or 0) if inside.data else 0)
    return Arcs(*found)


@compiled
def prepared(arcs: Any) -> Any:
    """Return what `arcsin` and `arctan2` want: what is given to the loops, and words to tell them by."""
    return arcs[0], arcs[1], _told(1), _told(2)


@compiled
def _told(count: int) -> Any:
    """Return words for a loop that reads so many numbers once, and writes one."""
    words = np.empty(_NUMBERS + count + 1, dtype=np.int64)
    begin = words.ctypes.data
    for place in range(3):
        words[place] = begin + 8 * (_NUMBERS + place)
        words[4 + place] = 8
    words[3] = 1
    return words


@compiled
def arcsin(arcs: Any, value: float) -> Any:
    """Return `numpy.arcsin` of a number."""
    words = arcs[2]
    numbers = words[_NUMBERS:].view(np.float64)
    numbers[0] = value
    begin = words.ctypes.data
    _arcsin(begin, begin + 24, begin + 32, arcs[0])
    return numbers[1]


@compiled
def arctan2(arcs: Any, y: float, x: float) -> Any:
    """Return `numpy.arctan2` of two numbers."""
    words = arcs[3]
    numbers = words[_NUMBERS:].view(np.float64)
    numbers[0], numbers[1] = y, x
    begin = words.ctypes.data
    _arctan2(begin, begin + 24, begin + 32, arcs[1])
    return numbers[2]


@compiled
def arcs_of(arcs: Any, pairs: Any, results: Any) -> None:
    """Write both arcs of (n, 2) numbers, the first of them for the sine, to try them."""
    ready = prepared(arcs)
    for row in range(len(pairs)):
        results[row, 0] = arcsin(ready, pairs[row, 0])
        results[row, 1] = arctan2(ready, pairs[row, 0], pairs[row, 1])
