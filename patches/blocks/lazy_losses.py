"""Losses that stay on the device until somebody looks at them.

A training step that returns its losses as arrays waits for the device; most are never looked at. These look,
compare, compute, change and print like the arrays they stand for. Only code in C that wants an array's memory
itself (``memoryview``, ``torch.from_numpy``, methods called as ``numpy.ndarray.mean(loss)``) cannot make them
read: it refuses them with a TypeError, and ``numpy.asarray`` is what it wants. On the host there is nothing to wait for, and losses are arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from torch import Tensor

_PROTOCOLS: Final = frozenset(
    {"__array_interface__", "__array_struct__", "__dlpack__", "__dlpack_device__"}
)
"""By which numpy and torch ask an object for its memory; without the latter torch takes a number for a sequence."""


def loss_of(tensor: Tensor) -> Any:
    """A loss for whoever wants it: an array if it is on the host already, else one that is read when looked at."""
    return read_loss(tensor) if tensor.device.type == "cpu" else LazyLoss(tensor)


def read_loss(tensor: Tensor) -> Any:
    """Read a loss back now."""
    return tensor.detach().cpu().numpy()


class LazyLoss(NDArrayOperatorsMixin):
    """A loss on the device, read at the first look and kept on the host from then on."""

    __slots__ = ("_array", "_tensor")

    _tensor: Tensor | None
    _array: Any

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor.detach()
        self._array = None

    @property
    def is_read(self) -> bool:
        """Whether somebody has looked."""
        return self._tensor is None

    def read(self) -> Any:
        """The array that the tensor would have been read into."""
        if self._tensor is not None:
            self._array = self._tensor.cpu().numpy()
            self._tensor = None
        return self._array

    @property
    def __class__(self) -> Any:
        """What ``isinstance`` is told."""
        return np.ndarray

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of a loss cannot be changed")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.read(), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        targets = kwargs.get("out", ())
        if targets:
            kwargs["out"] = tuple(map(_array_of, targets))
        result = getattr(ufunc, method)(*map(_array_of, inputs), **kwargs)
        # An operation in place answers with the very object that it changed.
        return targets[0] if len(targets) == 1 else result

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        return function(
            *map(_deep_array_of, args), **{k: _deep_array_of(v) for k, v in kwargs.items()}
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _PROTOCOLS:
            raise AttributeError(name)
        return getattr(self.read(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__slots__:
            object.__setattr__(self, name, value)
        else:  # such as a shape
            setattr(self.read(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.read(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.read()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.read()[index] = _array_of(value)

    def __iter__(self) -> Any:
        return iter(self.read())

    def __contains__(self, value: Any) -> bool:
        return value in self.read()

    def __len__(self) -> int:
        return len(self.read())

    def __float__(self) -> float:
        return float(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __complex__(self) -> complex:
        return complex(self.read())

    def __bool__(self) -> bool:
        return bool(self.read())

    def __repr__(self) -> str:
        return repr(self.read())

    def __str__(self) -> str:
        return str(self.read())

    def __bytes__(self) -> bytes:
        return bytes(self.read())

    def __format__(self, spec: str) -> str:
        return format(self.read(), spec)

    def __reduce__(self) -> Any:
        return self.read().__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.read().__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return self.read().__copy__()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.read().__deepcopy__(memo)

    __hash__ = None  # type: ignore[assignment]  # arrays have none either


def _array_of(item: Any) -> Any:
    return item.read() if type(item) is LazyLoss else item


def _deep_array_of(item: Any) -> Any:
    if isinstance(item, (list, tuple)):
        return type(item)(map(_deep_array_of, item))
    return _array_of(item)
