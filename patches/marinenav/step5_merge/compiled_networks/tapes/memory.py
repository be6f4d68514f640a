"""Numbered pieces of memory, which operations work on."""

from __future__ import annotations

from typing import Final, NamedTuple

BYTES: Final = 4
"""Of a number."""
_ALIGNMENT: Final = 16
"""Numbers: where torch's memory begins, which can decide how sums are split."""


class Piece(NamedTuple):
    """A matrix in memory."""

    slot: int
    rows: int
    width: int

    @property
    def length(self) -> int:
        """How many numbers it has."""
        return self.rows * self.width


class Memory:
    """Numbered pieces of memory: some are given, some a run has for itself, one after the other."""

    def __init__(self) -> None:
        self.offsets: dict[int, int] = {}
        """Of slots that a run has for itself, in numbers."""
        self.slots = 0
        self.length = 0

    def take(self) -> int:
        """Return a slot whose address is told for each run."""
        self.slots += 1
        return self.slots - 1

    def make(self, rows: int, width: int) -> Piece:
        """Make room in the memory of a run."""
        slot = self.take()
        self.offsets[slot] = self.length
        self.length += -(-rows * width // _ALIGNMENT) * _ALIGNMENT
        return Piece(slot, rows, width)
