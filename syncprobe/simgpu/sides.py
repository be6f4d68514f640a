"""Which tensors may meet: CUDA's refusals to mix devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.simgpu import errors
from syncprobe.simgpu.rules import HostOperands
from syncprobe.simgpu.tensor import DeviceTensor

if TYPE_CHECKING:
    from syncprobe.simgpu.plans import Plan

_Tensor = torch.Tensor


def check_sides(plan: Plan, args: Any) -> None:
    """Refuse host tensors where CUDA refuses them."""
    allowed = plan.host_operands
    if allowed is HostOperands.ANY:
        if plan.operation in _INDEXING:
            _check_index(args)
        return
    if plan.written and isinstance(args[0], _Tensor) and type(args[0]) is not DeviceTensor:
        raise errors.mixed_devices(plan.operation)
    for value in args:
        for item in value if type(value) in {list, tuple} else (value,):
            if isinstance(item, _Tensor) and type(item) is not DeviceTensor:
                if allowed is HostOperands.SCALARS and item.dim() == 0:
                    continue
                raise errors.mixed_devices(plan.operation)


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
