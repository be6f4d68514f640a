"""Functions of torch's own library, for compiled code to call."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import torch
from numba import types
from numba.core.typing import signature

_LIBRARY: Final = "libtorch_cpu.so"


def foreign(symbol: str, arguments: int) -> Any:
    """Declare a function that returns nothing, and whose arguments are addresses and integers."""
    return types.ExternalFunction(symbol, signature(types.void, *[types.intp] * arguments))


def show(symbol: str, name: str) -> bool:
    """Let compiled code call a function of the library as a symbol; return whether there is one of that name.

    Where there is none, something else takes its place, which nobody may call: compiled code could not be loaded else.
    """
    try:
        address = ctypes.cast(_library()[name], ctypes.c_void_p).value
    except (OSError, AttributeError):
        address = None
    llvm.add_symbol(symbol, address or id(show))
    return address is not None


@cache
def _library() -> Any:
    return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / _LIBRARY))
