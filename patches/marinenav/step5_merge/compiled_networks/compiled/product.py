"""The matrix product that torch uses on the host, for compiled code to call."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import torch
from numba import types
from numba.core.typing import signature

_SYMBOL: Final = "patches_sgemm"
_LIBRARY: Final = "libtorch_cpu.so"

sgemm: Any = types.ExternalFunction(_SYMBOL, signature(types.void, *[types.intp] * 13))
"""C := alpha A B + beta C by columns; every argument is an address, as in Fortran."""


def find_product() -> str:
    """Let compiled code call torch's matrix product; return why it cannot, if so."""
    if sys.byteorder != "little":
        return "numbers of this machine begin with their large end"
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / _LIBRARY))
        address = ctypes.cast(library.sgemm_, ctypes.c_void_p).value
    except (OSError, AttributeError):
        return "torch does not show the matrix product that it uses"
    llvm.add_symbol(_SYMBOL, address)
    return ""
