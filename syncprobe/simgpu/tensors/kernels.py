"""Kernels that C++ asks for by itself, for as long as a device is simulated.

Two dispatch keys need them, and a CPU build has no kernels of its own for either. ``CUDA`` is where
calls go that name the device and have no device tensor yet: factories, copies to the device.
``Lazy`` is what the wrappers are to C++: where the Python key is excluded (reading the tensors
inside a list), C++ goes to the backend directly.
"""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from syncprobe.simgpu.tensors.composites import COMPOSITES, FUSED, WHOLE, run_composite
from syncprobe.simgpu.tensors.dispatch import dispatch
from syncprobe.simgpu.tensors.plain_branches import PLAIN_BRANCHES
from syncprobe.simgpu.tensors.plain_formulas import PLAIN_FORMULAS

if TYPE_CHECKING:
    from collections.abc import Iterator


_CALLED_BY_NAME = (
    torch.ops.aten._local_scalar_dense.default,
    # A list used as an index; under a dispatch mode C++ looks for a kernel of this name.
    torch.ops.aten._to_copy.default,
)

_MADE_WHOLE = (
    # C++ would make an empty tensor of the device and ask for a kernel that a CPU build lacks.
    torch.ops.aten.kaiser_window.default,
    torch.ops.aten.kaiser_window.periodic,
    torch.ops.aten.kaiser_window.beta,
)


def _fallback(overload: Any, *args: Any, **kwargs: Any) -> Any:
    return dispatch(overload, args, kwargs)


def _copy_of_data(origin: Any, destination: Any, non_blocking: bool = False) -> Any:
    """C++ made a tensor from Python data: a list used as an index."""
    return dispatch(torch.ops.aten.copy_.default, (destination, origin, non_blocking), {})


def _whole(overload: Any) -> Any:
    return lambda *args, **kwargs: dispatch(overload, args, kwargs)


def _composite(overload: Any) -> Any:
    return lambda *args, **kwargs: run_composite(overload, args, kwargs)


def _group_norm(given: Any, *args: Any, **kwargs: Any) -> Any:
    """The host normalises channels-last images as they are, another device copies them first."""
    overload = torch.ops.aten.group_norm.default
    if given.dim() == 4 and not given.is_contiguous():
        return run_composite(overload, (given, *args), kwargs)
    return overload.decompose(given, *args, **kwargs)


@contextmanager
def installed() -> Iterator[None]:
    """Register the kernels; afterwards the dispatcher has none of them."""
    fallbacks = torch.library.Library("_", "IMPL")
    kernels = torch.library.Library("aten", "IMPL")
    try:
        fallbacks.fallback(_fallback, "Lazy")
        fallbacks.fallback(_fallback, "CUDA")
        for overload in _CALLED_BY_NAME:
            kernels.impl(overload, _whole(overload), "Lazy")
        for overload in _MADE_WHOLE:
            kernels.impl(overload, _whole(overload), "CUDA")
        kernels.impl(torch.ops.aten._copy_from.default, _copy_of_data, "Lazy")
        for overload in WHOLE:
            kernels.impl(overload, _whole(overload), "Lazy")
            kernels.impl(overload, _whole(overload), "AutogradLazy")
        for overload, parts in PLAIN_BRANCHES.items():
            kernels.impl(overload, parts, "AutogradLazy")
        for overload, formula in PLAIN_FORMULAS.items():
            kernels.impl(overload, formula, "AutogradLazy")
        for overload in FUSED:
            # With a kernel for the device, torch differentiates the operator as a whole.
            kernels.impl(overload, _whole(overload), "Lazy")
        for key in ("Lazy", "AutogradLazy"):
            kernels.impl(torch.ops.aten.group_norm.default, _group_norm, key)
        for overload in COMPOSITES:
            kernels.impl(overload, _composite(overload), "AutogradLazy")
            kernels.impl(overload, _composite(overload), "Lazy")
        yield
    finally:
        kernels._destroy()
        fallbacks._destroy()
