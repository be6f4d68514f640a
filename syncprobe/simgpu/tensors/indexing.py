"""Assigning to device tensors: what C++ does for CUDA before an operator is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from syncprobe.simgpu.tensors.handling import handler
from syncprobe.simgpu.tensors.tensor import DeviceTensor
from syncprobe.simgpu.torch_api.functions import upload

_set: Any = torch._C.TensorBase.__setitem__
_tensor = torch.tensor


_PLAIN = (int, slice, type(None), type(Ellipsis), torch.Tensor)
"""Indices that C++ takes as they are, without making a tensor first."""


def _set_item(self: DeviceTensor, index: Any, value: Any) -> None:
    if not isinstance(index, _PLAIN):
        index = _index_from_data(index)
    if not isinstance(value, torch.Tensor):
        value = _scalar(value, self.dtype)
    _set(self, index, value)


@handler
def _scalar(value: Any, dtype: torch.dtype) -> torch.Tensor:
    # For CUDA tensors C++ makes a Python number into a host tensor, not a device tensor
    # (python_variable_indexing.cpp), and then fills, or copies where the shapes are equal.
    return _tensor(value, dtype=dtype)


def _index_from_data(index: Any) -> Any:
    """Lists and arrays used as an index become tensors: masks on the device, others on the host.

    They are not reported as conversions: what costs is the copy, and nobody wrote ``torch.tensor``.
    """
    if isinstance(index, tuple):
        return tuple(item if isinstance(item, _PLAIN) else _index_from_data(item) for item in index)
    if isinstance(index, (list, range)):
        # A list that holds slices or tensors is a tuple to C++.
        if any(isinstance(item, _PLAIN[1:]) for item in index):
            return index
        return _host_index(list(index))
    if isinstance(index, np.ndarray) and index.ndim > 0:
        return _host_index(index)
    return index


@handler
def _host_index(index: Any) -> torch.Tensor:
    made = _tensor(index)
    if made.dtype in {torch.bool, torch.uint8}:
        # C++ makes masks on the side of the tensor, where they are searched.
        return upload(made, "aten::copy_")
    return made.long()


# Reading has no counterpart: with a __getitem__ of its own a tensor without dimensions would be a
# sequence to C++, and torch.tensor([t, u]) would fail.
DeviceTensor.__setitem__ = _set_item  # type: ignore[method-assign,assignment]  # needs the handlers
