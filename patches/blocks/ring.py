"""Rows of float32 in a ring on a device, allocated once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch

from patches.errors import BufferDoesNotFitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor


class Storage(Protocol):
    """Where transitions live."""

    device: torch.device

    def write(self, start: int, rows: Tensor) -> None:
        """Put rows of the same device from a place on, around the end of the ring if need be."""

    def gather(self, slots: Tensor) -> Tensor:
        """Copies of the rows at some places."""


class Ring:
    """One tensor of rows.

    Raises:
        BufferDoesNotFitError: The device has less free memory than the ring needs.
    """

    def __init__(self, capacity: int, width: int, device: torch.device) -> None:
        require_room(capacity, width, device)
        self.device = device
        self.capacity = capacity
        self.rows = torch.empty((capacity, width), dtype=torch.float32, device=device)

    def write(self, start: int, rows: Tensor) -> None:
        """Put rows from a place on, around the end of the ring if need be."""
        for place, part in parts(start, rows, self.capacity):
            self.rows[place : place + len(part)].copy_(part)

    def gather(self, slots: Tensor) -> Tensor:
        """Copies of the rows at some places."""
        return torch.index_select(self.rows, 0, slots)


def parts(start: int, rows: Tensor, capacity: int) -> Iterator[tuple[int, Tensor]]:
    """Where rows go that start at a place of a ring: one part, or two around its end."""
    room = capacity - start
    if len(rows) <= room:
        yield start, rows
    else:
        yield start, rows[:room]
        yield 0, rows[room:]


def require_room(capacity: int, width: int, device: torch.device) -> None:
    """Refuse a buffer that the device has no memory for."""
    if device.type == "cpu":
        return
    free, _ = torch.cuda.mem_get_info(device)
    needed = capacity * width * torch.float32.itemsize
    if needed > free:
        raise BufferDoesNotFitError(needed, free, capacity, device)
