"""Random generators of the simulated device: the host's algorithm, so that values are the CPU's."""

from __future__ import annotations

from typing import Any

import torch

from syncprobe.simgpu.tensors.tensor import SHOWN_DEVICE

HostGenerator = torch._C.Generator


_addresses: set[int] = set()


class DeviceGenerator(HostGenerator):
    """A host generator that says it belongs to the device."""

    _cdata: int

    def __init__(self) -> None:
        _addresses.add(self._cdata)

    def __del__(self) -> None:
        _addresses.discard(self._cdata)

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # an attribute in the stub
        """Shown as CUDA."""
        return SHOWN_DEVICE


def is_device_generator(generator: Any) -> bool:
    """True for ours, also after C++ has wrapped it in a new Python object."""
    return generator._cdata in _addresses


class _GeneratorType(type):
    """Lets the replacement of ``torch.Generator`` pass for the class it replaces."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, HostGenerator)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, HostGenerator)

    def __call__(cls, device: Any = "cpu") -> Any:
        if torch.device(device).type == "cuda":
            return DeviceGenerator()
        return HostGenerator(device)


class Generator(metaclass=_GeneratorType):
    """``torch.Generator`` while a device is simulated."""
