"""Factorizations and solvers: which look at their error codes, and which libraries wait."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from syncprobe.cuda.rule import Call, DeviceRule, Effect, always, native, upload

if TYPE_CHECKING:
    from collections.abc import Iterator

_SMALL, _MEDIUM, _FEW = 16, 128, 16
"""Sizes and batches that cuSOLVER or cuBLAS factorizes where MAGMA is built in, as it is in the
wheels for x86."""


def _uses_magma(matrix: Any) -> bool:
    """MAGMA waits for the whole device before and after a factorization into L and U."""
    if matrix.numel() == 0:
        return False
    rows, columns = int(matrix.shape[-2]), int(matrix.shape[-1])
    batch = math.prod(matrix.shape[:-2])
    is_elsewhere = rows == columns and (
        batch == 1 or rows <= _SMALL or (rows <= _MEDIUM and batch <= _FEW)
    )
    return not is_elsewhere


def _checks(call: Call) -> bool:
    """The ``_ex`` forms look at their error codes only when asked to."""
    return bool(call.named("check_errors", default=False))


def _lu_waits(call: Call) -> bool:
    return _checks(call) or _uses_magma(call.args[0])


def _ldl_uploads(call: Call) -> Iterator[Effect]:
    """Complex Hermitian matrices go to MAGMA, which leaves pivots and codes on the host."""
    matrix = call.args[0]
    if matrix.is_complex() and call.named("hermitian", default=False) and matrix.numel():
        batch = math.prod(matrix.shape[:-2])
        yield from (upload(4 * batch * int(matrix.shape[-1])), upload(4 * batch))


def _matrix_exp_waits(call: Call) -> bool:
    """A number is its own exponential; larger matrices are sorted by their norms."""
    return int(call.args[0].shape[-1]) > 1 and call.args[0].numel() > 0


_LU = native(
    "cuda/linalg/BatchLinearAlgebra.cpp",
    "MAGMA waits for the device, unless the matrices are square and one, or small, or small and few",
)
_ERRORS = native("BatchLinearAlgebra.cpp", "error codes are read")
_EIG = native(
    "BatchLinearAlgebra.cpp", "the input is checked to be finite; values come from the host"
)

RULES: dict[str, DeviceRule] = {
    "_linalg_check_errors": DeviceRule(waits=always, allocates=False, source=_ERRORS),
    "_linalg_eigh": DeviceRule(waits=always, source=_ERRORS),
    "_linalg_svd": DeviceRule(waits=always, source=_ERRORS),
    "cholesky": DeviceRule(waits=always, source=_ERRORS),
    "linalg_eig": DeviceRule(waits=always, source=_EIG),
    "linalg_eigvals": DeviceRule(waits=always, source=_EIG),
    "_linalg_eigvals": DeviceRule(waits=always, source=_EIG),
    "linalg_lstsq": DeviceRule(waits=always, source=_ERRORS),
    "linalg_pinv": DeviceRule(waits=always, source=_ERRORS),
    "linalg_cholesky_ex": DeviceRule(waits=_checks, source=_ERRORS),
    "linalg_inv_ex": DeviceRule(waits=_lu_waits, source=_LU),
    "linalg_lu": DeviceRule(waits=_lu_waits, source=_LU),
    "linalg_lu_factor_ex": DeviceRule(waits=_lu_waits, source=_LU),
    "_linalg_det": DeviceRule(waits=_lu_waits, source=_LU),
    "_linalg_slogdet": DeviceRule(waits=_lu_waits, source=_LU),
    "_linalg_solve_ex": DeviceRule(waits=_lu_waits, source=_LU),
    "linalg_ldl_factor_ex": DeviceRule(
        waits=_checks,
        crossings=_ldl_uploads,
        source=native("cuda/linalg/BatchLinearAlgebra.cpp", "complex Hermitian ones go to MAGMA"),
    ),
    "linalg_ldl_solve": DeviceRule(
        waits=always,
        source=native("cuda/linalg/BatchLinearAlgebraLib.cpp", "waits for the device before"),
    ),
    "linalg_matrix_exp": DeviceRule(
        waits=_matrix_exp_waits,
        source=native("LinearAlgebra.cpp", "matrices are sorted by norm on the host"),
    ),
}
