"""What was chosen when patches were applied, resolved once and frozen."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch

from patches.errors import CompileUnavailableError, PatchOptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

MODES: Final = ("fast", "exact", "max")
EXTRAS: Final = ("compile",)
KERNELS: Final = ("compiled", "numpy")
KERNELS_VARIABLE: Final = "PATCHES_KERNELS"
"""``compiled`` lets numba compute the environment, where it is installed and found to agree; ``numpy`` does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The steps and options in force."""

    steps: tuple[int, ...]
    mode: str = "fast"
    buffer_device: torch.device | None = None
    """Where replay lives; None is the agent's device."""
    extras: frozenset[str] = frozenset()
    kernels: str = KERNELS[0]
    """Whether the environment may be computed by compiled code."""

    @property
    def is_exact(self) -> bool:
        """Whether networks are asked about one thing at a time, which keeps every bit."""
        return self.mode == "exact"

    @property
    def is_free(self) -> bool:
        """Whether sums may be made in any order: as fast as it gets, and held to the trend of rewards only."""
        return self.mode == "max"

    def has(self, step: int) -> bool:
        """Whether a step of the plan is on."""
        return step in self.steps


def make_settings(
    steps: tuple[int, ...],
    mode: str,
    buffer_device: str | torch.device | None,
    extras: Iterable[str],
) -> Settings:
    """Check the options and freeze them."""
    if mode not in MODES:
        raise PatchOptionError("mode", mode, MODES)
    chosen = frozenset(extras)
    for extra in chosen:
        if extra not in EXTRAS:
            raise PatchOptionError("extras", extra, EXTRAS)
    if "compile" in chosen:
        _require_compiler()
    device = None if buffer_device is None else torch.device(buffer_device)
    return Settings(
        steps=steps, mode=mode, buffer_device=device, extras=chosen, kernels=chosen_kernels()
    )


def chosen_kernels() -> str:
    """What the user's environment variable says about compiled code."""
    chosen = os.environ.get(KERNELS_VARIABLE) or KERNELS[0]
    if chosen not in KERNELS:
        raise PatchOptionError(KERNELS_VARIABLE, chosen, KERNELS)
    return chosen


def _require_compiler() -> None:
    if torch.cuda.is_available():
        # A build that cannot ask a driver and still says it has a device has a simulated one.
        if not hasattr(torch._C, "_cuda_getDeviceCount"):  # noqa: SLF001
            raise CompileUnavailableError("the device is simulated")
    elif not any(map(shutil.which, ("g++", "c++", "clang++"))):
        raise CompileUnavailableError("there is neither a CUDA device nor a C++ compiler")
