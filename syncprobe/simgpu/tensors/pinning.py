"""Page-locked host memory: a mark on the storage, since a CPU build cannot lock pages."""

from __future__ import annotations

from typing import Any

import torch

_MARK = "_syncprobe_pinned"


def is_pinned(tensor: Any) -> bool:
    """True for tensors in memory that was marked, whatever view of it they are."""
    with torch._C.DisableTorchFunction():
        if tensor.layout is not torch.strided:
            return False
        return bool(getattr(tensor.untyped_storage(), _MARK, False))


def mark_pinned(tensor: torch.Tensor) -> torch.Tensor:
    """Say that a fresh host tensor is in pinned memory."""
    with torch._C.DisableTorchFunction():
        setattr(tensor.untyped_storage(), _MARK, True)
    return tensor


def pinned_copy(tensor: torch.Tensor) -> torch.Tensor:
    """What ``pin_memory()`` gives: the tensor itself if it is pinned, else a copy that is."""
    if is_pinned(tensor):
        return tensor
    with torch._C.DisableTorchFunction():
        return mark_pinned(tensor.clone())
