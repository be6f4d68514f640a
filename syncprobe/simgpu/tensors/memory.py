"""The memory figures of the simulated device, from the blocks that are alive."""

from __future__ import annotations

TOTAL_BYTES = 16 * 1024**3
"""What the simulated device claims to have: 16 GiB, a T4's."""

_GRANULARITY = 512
"""The caching allocator rounds every request up to this (c10/cuda/CUDACachingAllocator)."""


class Memory:
    """Bytes in use now and at the peak, as ``torch.cuda.memory_*`` report them."""

    __slots__ = ("allocated", "allocations", "frees", "peak", "reserved", "reserved_peak")

    def __init__(self) -> None:
        self.allocated = 0
        self.peak = 0
        self.reserved = 0
        self.reserved_peak = 0
        self.allocations = 0
        self.frees = 0

    def reset_peak(self) -> None:
        """Start the peaks again from what is in use now."""
        self.peak = self.allocated
        self.reserved_peak = self.reserved

    def release_cached(self) -> bool:
        """Give unused memory back to the driver; true if there was any."""
        had_any = self.reserved > self.allocated
        self.reserved = self.allocated
        return had_any


class Block:
    """One allocation. Every view of a tensor holds its block, so it dies with the last of them."""

    __slots__ = ("_memory", "_nbytes")

    def __init__(self, memory: Memory, nbytes: int) -> None:
        rounded = -(-nbytes // _GRANULARITY) * _GRANULARITY
        self._memory = memory
        self._nbytes = rounded
        memory.allocations += 1
        allocated = memory.allocated = memory.allocated + rounded
        if allocated > memory.peak:  # noqa: PLR1730  # a call to max() would be half of the cost
            memory.peak = allocated
        if allocated > memory.reserved:
            memory.reserved = allocated
            memory.reserved_peak = max(memory.reserved_peak, allocated)

    def __del__(self) -> None:
        memory = self._memory
        memory.allocated -= self._nbytes
        memory.frees += 1
