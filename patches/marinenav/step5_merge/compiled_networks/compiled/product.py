"""The matrix products of torch's libraries on the host, for compiled code to call: the one that it uses, and oneDNN's."""

from __future__ import annotations

import sys
from typing import Any, Final

from patches.marinenav.step5_merge.compiled_environment.compiled.torch_library import foreign, show

_SYMBOL: Final = "patches_sgemm"
_BLOCKS: Final = "patches_brgemm"
_NAME_OF_BLOCKS: Final = "_ZN2at6native7cpublas6brgemmEllllllbPKfS3_Pfb"
"""As compilers write `at::native::cpublas::brgemm` for single precision."""

sgemm: Any = foreign(_SYMBOL, 13)
"""C := alpha A B + beta C by columns; every argument is an address, as in Fortran."""

brgemm: Any = foreign(_BLOCKS, 11)
"""C := A B, or C + A B, by rows.

Its arguments are rows, columns and terms, the leading sizes of A, B and C, whether it adds, their addresses, and 0.
"""


_HAS_PRODUCT: Final = show(_SYMBOL, "sgemm_")
HAS_BLOCKS: Final = show(_BLOCKS, _NAME_OF_BLOCKS)
"""Whether torch shows the matrix product of oneDNN."""


def find_product() -> str:
    """Return why compiled code cannot call torch's matrix product, if so."""
    if sys.byteorder != "little":
        return "numbers of this machine begin with their large end"
    return "" if _HAS_PRODUCT else "torch does not show the matrix product that it uses"
