"""Whether torch makes and computes with tensors as it does unless told otherwise."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable


def computes_as_usual() -> bool:
    """Return whether new tensors are float32 on the host by default, and nothing is cast on the way.

    Another default dtype or device changes what legacy's conversions give, or makes them fail; under autocast
    products round otherwise. Rows of float32 know nothing of either.
    """
    return (
        torch.get_default_dtype() is torch.float32
        and not torch._C._is_any_autocast_enabled()  # noqa: SLF001  # the public one asks device by device
        and _makes_tensors_on_the_host()
    )


def _makes_tensors_on_the_host() -> bool:
    # A default device is a mode of torch functions; asking for it takes long, asking for modes does not.
    has_modes = torch._C._len_torch_function_stack()  # noqa: SLF001  # no public name
    return not has_modes or torch.get_default_device().type == "cpu"


def are_plain(tensors: Iterable[Tensor]) -> bool:
    """Return whether tensors are ordinary memory of the host, and nobody listens to what is done with them."""
    if torch._C._len_torch_dispatch_stack():  # noqa: SLF001  # no public name
        return False
    found = tuple(tensors)
    # Attribute by attribute, by functions written in C: half of what a loop takes.
    return (
        _ORDINARY.issuperset(map(type, found))
        and all(map(_is_on_the_host, found))
        and _SINGLE.issuperset(map(_dtype_of, found))
        and all(map(Tensor.is_contiguous, found))
    )


_ORDINARY = frozenset({Tensor, torch.nn.Parameter})
_SINGLE = frozenset({torch.float32})
_is_on_the_host = attrgetter("is_cpu")
_dtype_of = attrgetter("dtype")
