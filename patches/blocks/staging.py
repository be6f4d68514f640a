"""Host memory that inputs are written to before they go to the device in one copy.

A `Slab` holds everything that one decision or one update needs from the host. Under CUDA it is pinned, and
the copy does not block. Two host buffers take turns, each with an event behind its last copy: a buffer is
written again only when that event has happened. In a training loop it always has, because the action
read-back between two decisions waits for everything before it, so the guard costs a query and no wait.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ALIGNMENT: Final = 64
"""Every section starts where torch would have put a tensor of its own: kernels may round by alignment."""

_NUMPY: Final = {
    torch.float32: np.float32,
    torch.int64: np.int64,
    torch.bool: np.bool_,
}

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """One tensor among those that travel together."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32

    @property
    def nbytes(self) -> int:
        """Bytes without the filling behind."""
        return math.prod(self.shape) * self.dtype.itemsize


class Views:
    """The sections of one buffer: arrays to write to, host tensors to draw into, device tensors to use."""

    __slots__ = ("arrays", "host", "places", "tensors")

    def __init__(
        self, sections: tuple[Segment, ...], host: torch.Tensor, device: torch.Tensor
    ) -> None:
        self.host: dict[str, torch.Tensor] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        self.arrays: dict[str, Any] = {}
        self.places: list[tuple[str, int, int, Segment]] = []
        start = 0
        for section in sections:
            stop = start + section.nbytes
            self.places.append((section.name, start, stop, section))
            self.host[section.name] = _typed(host[start:stop], section)
            self.arrays[section.name] = self.host[section.name].numpy()
            is_same = device is host
            self.tensors[section.name] = (
                self.host[section.name] if is_same else _typed(device[start:stop], section)
            )
            start = aligned(stop)


class Slab:
    """Host buffers and the device memory they are copied to.

    Args:
        device: Where the data is wanted.
        is_persistent: Whether buffers are made once; else every use makes new ones, pageable, as unpatched code does.
    """

    def __init__(self, device: torch.device, *, is_persistent: bool) -> None:
        self.device = device
        self.is_persistent = is_persistent
        self.is_remote = device.type != "cpu"
        self._layouts: dict[Key, tuple[tuple[Segment, ...], int]] = {}
        self._slots: list[_Slot] = []
        self._turn = 0
        self._open: tuple[_Slot, Views, int] | None = None

    def __reduce__(self) -> Any:
        # Arrays and tensors of a slot are one memory, which copying would tear apart: a copy makes its own.
        return _new_slab, (self.device, self.is_persistent)

    def open(self, key: Key, make_sections: Callable[[], Iterable[Segment]]) -> Views:
        """Sections to write to; they are asked for once per key."""
        layout = self._layouts.get(key)
        if layout is None:
            sections = tuple(make_sections())
            layout = sections, sum(aligned(section.nbytes) for section in sections)
            self._layouts[key] = layout
        sections, nbytes = layout
        slot = self._next_slot(nbytes)
        views = slot.views.get(key)
        if views is None:
            # They outlive an inference mode, and are written to outside of it.
            with torch.inference_mode(mode=False):
                views = slot.views[key] = Views(sections, slot.host, slot.device)
        self._open = slot, views, nbytes
        return views

    def send(self) -> dict[str, torch.Tensor]:
        """Copy what was written to the device, without waiting if the memory is pinned."""
        assert self._open is not None, "open a slab before sending it"
        slot, views, nbytes = self._open
        self._open = None
        if self.is_remote and nbytes:
            slot.device[:nbytes].copy_(slot.host[:nbytes], non_blocking=self.is_persistent)
            if slot.copied is not None:
                slot.copied.record()
        return views.tensors

    def send_fresh(self) -> dict[str, torch.Tensor]:
        """Copy what was written to new device memory, for results that callers may keep."""
        assert self._open is not None, "open a slab before sending it"
        slot, views, nbytes = self._open
        self._open = None
        host = slot.host[:nbytes]
        if self.is_remote:
            device = host.to(self.device, non_blocking=self.is_persistent)
            if slot.copied is not None:
                slot.copied.record()
        else:
            device = host.clone()
        return {
            name: _typed(device[start:stop], section) for name, start, stop, section in views.places
        }

    def _next_slot(self, nbytes: int) -> _Slot:
        if not self.is_persistent:
            return _Slot(nbytes, self.device, is_pinned=False)
        if not self._slots or self._slots[0].nbytes < nbytes:
            count = 2 if self.is_remote else 1
            room = max(nbytes, 2 * self._slots[0].nbytes if self._slots else 0, 4096)
            for slot in self._slots:
                slot.wait()
            self._slots = [_Slot(room, self.device, is_pinned=self.is_remote) for _ in range(count)]
        self._turn = (self._turn + 1) % len(self._slots)
        slot = self._slots[self._turn]
        slot.wait()
        return slot


class _Slot:
    """One host buffer with its place on the device; on the CPU they are the same memory."""

    def __init__(self, nbytes: int, device: torch.device, *, is_pinned: bool) -> None:
        self.nbytes = nbytes
        self.views: dict[Key, Views] = {}
        with torch.inference_mode(mode=False):
            self.host = torch.empty(nbytes, dtype=torch.uint8, device="cpu", pin_memory=is_pinned)
            self.device = (
                self.host
                if device.type == "cpu"
                else torch.empty(nbytes, dtype=torch.uint8, device=device)
            )
        self.copied: Any = torch.cuda.Event() if is_pinned else None  # type: ignore[no-untyped-call]  # torch's own
        self._is_used = False

    def wait(self) -> None:
        """Wait until the last copy from here is over, which it is unless uploads follow each other closely."""
        if self.copied is not None and self._is_used and not self.copied.query():
            self.copied.synchronize()
        self._is_used = True


class ReadBack:
    """Host memory that results are read into, the one wait of a decision."""

    def __init__(self, device: torch.device, *, is_persistent: bool) -> None:
        self._is_remote = device.type != "cpu"
        self._is_persistent = is_persistent
        self._device = device
        self._buffers: dict[tuple[Any, ...], torch.Tensor] = {}

    def __reduce__(self) -> Any:
        return _new_read_back, (self._device, self._is_persistent)

    def read(self, tensor: torch.Tensor) -> torch.Tensor:
        """The values on the host; valid until the next read of the same shape."""
        if not self._is_remote:
            return tensor
        if not self._is_persistent:
            return tensor.cpu()
        key = (tuple(tensor.shape), tensor.dtype)
        buffer = self._buffers.get(key)
        if buffer is None:
            with torch.inference_mode(mode=False):
                buffer = torch.empty(
                    tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True
                )
            self._buffers[key] = buffer
        return buffer.copy_(tensor)


def _new_slab(device: torch.device, is_persistent: bool) -> Slab:
    return Slab(device, is_persistent=is_persistent)


def _new_read_back(device: torch.device, is_persistent: bool) -> ReadBack:
    return ReadBack(device, is_persistent=is_persistent)


def aligned(nbytes: int) -> int:
    """The next place where a section may start."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _typed(part: torch.Tensor, section: Segment) -> torch.Tensor:
    if section.nbytes == 0:
        return torch.empty(section.shape, dtype=section.dtype, device=part.device)
    return part.view(section.dtype).view(section.shape)
