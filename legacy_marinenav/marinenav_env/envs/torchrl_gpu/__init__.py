"""The environment behind TorchRL's interface; importing this package does not import torchrl."""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "MarineNavTorchRLEnv": "marinenav_torchrl_env",
    "compute_vortex_velocity": "field_ops",
}

__all__ = ["MarineNavTorchRLEnv", "compute_vortex_velocity"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
