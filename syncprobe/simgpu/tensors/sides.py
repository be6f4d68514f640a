"""Which tensors may meet: CUDA's refusals to mix devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.cuda.rule import HostOperands
from syncprobe.simgpu import errors
from syncprobe.simgpu.tensors.tensor import DeviceTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.simgpu.tensors.plans import OperatorPlan

_Tensor = torch.Tensor


def check_sides(plan: OperatorPlan, args: Any) -> None:
    """Refuse host tensors where CUDA refuses them."""
    allowed = plan.host_operands
    if allowed is HostOperands.ANY:
        if plan.operation in _INDEXING:
            _check_index(args)
        return
    if plan.written and isinstance(args[0], _Tensor) and type(args[0]) is not DeviceTensor:
        raise errors.mixed_devices(plan.operation)
    scalars = 0
    for value in args:
        for item in value if type(value) in {list, tuple} else (value,):
            if isinstance(item, _Tensor) and type(item) is not DeviceTensor:
                scalars += 1
                if allowed is HostOperands.NONE or item.dim() > 0:
                    raise errors.mixed_devices(plan.operation)
    if allowed is HostOperands.SCALAR and scalars > 1:
        raise errors.too_many_scalars()


def check_wanted_on_host(plan: OperatorPlan, args: Any) -> None:
    """Refuse device tensors where CUDA refuses them."""
    position, error = WANTED_ON_HOST[plan.operation]
    if len(args) > position and type(args[position]) is DeviceTensor:
        raise error()


WANTED_ON_HOST: dict[str, tuple[int, Callable[[], RuntimeError]]] = {
    "aten::_pack_padded_sequence": (1, errors.lengths_on_device),
    "aten::randint_like": (1, errors.bound_on_device),
    **{
        f"aten::_foreach_{name}{suffix}": (3, errors.scalars_on_device)
        for name in ("addcdiv", "addcmul")
        for suffix in ("", "_")
    },
}
"""Operators with an argument that belongs on the host: its position, and the error."""


def host_driver(operation: str, driver: str | None) -> str | None:
    """The driver of LAPACK that stands for one of cuSOLVER; others are refused as on CUDA."""
    if driver is not None and operation == "aten::linalg_lstsq" and driver.lower() != "gels":
        raise errors.unknown_driver("lstsq")
    if driver is not None and operation.startswith("aten::_linalg_svd"):
        if driver not in {"gesvd", "gesvdj", "gesvda"}:
            raise errors.unknown_driver("svd")
        return None
    return driver


_INDEXING = frozenset(
    f"aten::{name}"
    for name in ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index")
)


def _check_index(args: Any) -> None:
    """Host tensors take host indices only; values must be on the side of the tensor, or scalars."""
    if type(args[0]) is not DeviceTensor:
        if any(type(index) is DeviceTensor for index in args[1]):
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
            )
        raise errors.mixed_devices("aten::index_put_")
    if len(args) > 2 and type(args[2]) is not DeviceTensor and args[2].dim() > 0:
        raise errors.mixed_devices("aten::index_put_")
