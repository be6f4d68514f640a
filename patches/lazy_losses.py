"""Losses that stay on the device until somebody looks at them.

Replaces: policy.updates.*:to_host
Removes:  one to three blocking reads per update, for values that the training loop throws away
Keeps:    what `Agent.train` returns: looks, compares, computes and prints like the float32 array it stands for
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from patches.replacement import Replacement

if TYPE_CHECKING:
    from torch import Tensor


class LazyLoss(NDArrayOperatorsMixin):
    """A loss on the device, read at the first look and kept on the host from then on."""

    __slots__ = ("_array", "_tensor")

    def __init__(self, tensor: Tensor) -> None:
        self._tensor: Tensor | None = tensor.detach()
        self._array: Any = None

    @property
    def is_read(self) -> bool:
        """Whether somebody has looked."""
        return self._tensor is None

    def read(self) -> Any:
        """The float32 array that legacy would have returned."""
        if self._tensor is not None:
            self._array = self._tensor.cpu().numpy()
            self._tensor = None
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.read(), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        read = [item.read() if isinstance(item, LazyLoss) else item for item in inputs]
        return getattr(ufunc, method)(*read, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.read(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.read()[index]

    def __len__(self) -> int:
        return len(self.read())

    def __float__(self) -> float:
        return float(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __bool__(self) -> bool:
        return bool(self.read())

    def __repr__(self) -> str:
        return repr(self.read())

    def __str__(self) -> str:
        return str(self.read())

    def __format__(self, spec: str) -> str:
        return format(self.read(), spec)

    def __reduce__(self) -> Any:
        return self.read().__reduce__()

    __hash__ = None  # type: ignore[assignment]  # arrays have none either


_UPDATES = "legacy_marinenav.policy.updates"

REPLACEMENTS = tuple(
    Replacement(f"{_UPDATES}.{module}", "to_host", LazyLoss)
    for module in ("actor_critic", "rainbow", "sac", "value_based")
)
