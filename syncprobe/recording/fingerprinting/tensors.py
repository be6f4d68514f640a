"""Bytes, hashes and sketches of tensors, wherever they are.

A sketch is the tensor multiplied by a few fixed rows of random signs. The root mean square of what two sketches
differ by estimates the norm of what the tensors differ by, though neither was kept.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from syncprobe.profiles.fingerprints.model import SKETCH
from syncprobe.simgpu.tensors.tensor import DeviceTensor

if TYPE_CHECKING:
    import numpy.typing as npt

_BLOCK: Final = 1024
_BLOCKS: Final = 1021  # a prime, so that the two patterns do not repeat together
_own = np.random.RandomState(12)
_SIGNS: Final = _own.choice([-1.0, 1.0], (_BLOCK, SKETCH))
_BLOCK_SIGNS: Final = _own.choice([-1.0, 1.0], (_BLOCKS, SKETCH))


@dataclass(frozen=True, slots=True)
class TensorPrint:
    """A tensor, or several taken together."""

    hash: int
    sketch: tuple[float, ...]
    """Its last number is the norm."""


def on_host(value: Any) -> torch.Tensor:
    """The values of a tensor as a host tensor, without anybody being told; copied only from a real device."""
    if isinstance(value, DeviceTensor):
        return value._host.detach()
    tensor = value.detach() if isinstance(value, torch.Tensor) else torch.as_tensor(value)
    return tensor if tensor.device.type == "cpu" else tensor.cpu()


def bytes_of(value: Any) -> memoryview:
    """The values as they are in memory."""
    return memory_of(array_of(value))


def memory_of(array: npt.NDArray[Any]) -> memoryview:
    """An array in memory order, byte by byte."""
    flat: Any = array.reshape(-1)
    return memoryview(flat).cast("B")


def array_of(value: Any) -> npt.NDArray[Any]:
    """The values as an array in memory order; of a type without one in NumPy, the bits as integers."""
    host = on_host(value)
    if host.is_sparse or host.layout != torch.strided:
        host = host.to_dense()
    if host.is_conj() or host.is_neg():
        host = host.resolve_conj().resolve_neg()
    if host.dtype is torch.bfloat16:
        host = host.view(torch.int16)
    return np.ascontiguousarray(host.numpy())


def doubles_of(value: Any) -> npt.NDArray[np.float64]:
    """The values as doubles, flat; complex ones as pairs."""
    host = on_host(value)
    if host.dtype is torch.bfloat16:
        host = host.float()
    array = array_of(host).reshape(-1)
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    return array.astype(np.float64)


def tensor_print(values: list[Any]) -> TensorPrint:
    """The print of some tensors taken together."""
    crc, squares, sketch = 0, 0.0, np.zeros(SKETCH)
    for value in values:
        crc = zlib.crc32(bytes_of(value), crc)
        numbers = doubles_of(value)
        with np.errstate(all="ignore"):
            squares += float(numbers @ numbers)
            sketch += _sketch(numbers)
    return TensorPrint(crc, (*sketch.tolist(), squares**0.5))


def _sketch(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    rows = -(-numbers.size // _BLOCK)
    padded = np.zeros(rows * _BLOCK)
    padded[: numbers.size] = numbers
    blocks = padded.reshape(rows, _BLOCK) @ _SIGNS
    total: npt.NDArray[np.float64] = (blocks * _BLOCK_SIGNS[np.arange(rows) % _BLOCKS]).sum(axis=0)
    return total
