"""States of the random generators that programs usually draw from."""

from __future__ import annotations

import random
import zlib

import numpy as np
import torch

from syncprobe.profiles.fingerprints.model import UNMOVED


class Draws:
    """How far generators have come since this was made."""

    def __init__(self) -> None:
        self._before = _states()

    def now(self) -> dict[str, str]:
        """A digest for each."""
        found = _states()
        # Whoever has moved once may come by where it began, and has still moved.
        self._before = {
            name: state for name, state in self._before.items() if found.get(name) == state
        }
        return {
            name: f"{UNMOVED}{state}" if name in self._before else state
            for name, state in found.items()
        }


def _states() -> dict[str, str]:
    """Looking draws nothing."""
    version, numbers, gauss = random.getstate()
    _, keys, *rest = np.random.get_state()  # noqa: NPY002  # the one that programs draw from
    found = {
        "Python": zlib.crc32(repr((version, hash(numbers), gauss)).encode()),
        "NumPy": zlib.crc32(repr(rest).encode(), zlib.crc32(np.asarray(keys).tobytes())),
        "torch": zlib.crc32(torch.default_generator.get_state().numpy().tobytes()),
    }
    if torch._C._has_cuda and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # torch's
        found["CUDA"] = zlib.crc32(torch.cuda.get_rng_state().numpy().tobytes())
    return {name: f"{state:08x}" for name, state in found.items()}
