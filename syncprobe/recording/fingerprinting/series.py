"""Single numbers of a run, such as losses: all of them hashed, some of them kept."""

from __future__ import annotations

import functools
import hashlib
import math
from typing import Any, Final

from syncprobe.profiles.fingerprints.model import Series
from syncprobe.recording.fingerprinting.tensors import array_of, doubles_of, memory_of
from syncprobe.simgpu.tensors.tensor import DeviceTensor

MOST_VALUES: Final = 128
DIGEST_BYTES: Final = 8


class NumberSeries:
    """Takes tensors; what is on a real device is read when the run is over."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._count = 0
        self._every = 1
        self._kept: list[tuple[int, float | None]] = []
        self._waiting: list[tuple[int, Any]] = []

    def add(self, step: int, value: Any) -> None:
        """One more, that came about before the end of a step."""
        if _is_far(value):
            self._waiting.append((step, value.detach().clone()))
        else:
            self._take(step, value)

    def summary(self) -> Series:
        """All of them."""
        for step, value in self._waiting:
            self._take(step, value)
        self._waiting.clear()
        return Series(
            count=self._count,
            digest=self._digest.hexdigest(),
            every=self._every,
            steps=tuple(step for step, _ in self._kept),
            values=tuple(value for _, value in self._kept),
        )

    def _take(self, step: int, value: Any) -> None:
        array = array_of(value)
        self._digest.update(_label(array.dtype, array.shape))
        self._digest.update(memory_of(array))
        if self._count % self._every == 0:
            self._kept.append((step, _mean(value)))
        self._count += 1
        if len(self._kept) > MOST_VALUES:
            self._kept = self._kept[::2]
            self._every *= 2


@functools.cache
def _label(dtype: Any, shape: tuple[int, ...]) -> bytes:
    return f"{dtype} {shape}".encode()


def _mean(value: Any) -> float | None:
    numbers = doubles_of(value)
    mean = float(numbers.mean()) if numbers.size else math.nan
    return mean if math.isfinite(mean) else None


def _is_far(value: Any) -> bool:
    """On a real device, where reading would make the program wait."""
    return bool(getattr(value, "is_cuda", False)) and not isinstance(value, DeviceTensor)
