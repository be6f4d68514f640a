"""Multi-robot marine navigation with six reinforcement learning agents, as its users know it.

The public classes are here under their own names. They are imported on first use, so that importing this
package alone stays cheap and needs neither torch nor torchrl.
"""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "Agent": "policy.agent",
    "MarineNavEnv3": "marinenav_env.envs.marinenav_env",
    "MarineNavTorchRLEnv": "marinenav_env.envs.torchrl_gpu.marinenav_torchrl_env",
    "PolicyWrapper": "torchrl_gpu.policy_wrapper",
    "ReplayBuffer": "policy.replay_buffer",
    "Robot": "marinenav_env.envs.utils.robot",
    "TorchRLTrainer": "torchrl_gpu.torchrl_trainer",
    "Trainer": "policy.trainer",
}

__all__ = [
    "Agent",
    "MarineNavEnv3",
    "MarineNavTorchRLEnv",
    "PolicyWrapper",
    "ReplayBuffer",
    "Robot",
    "TorchRLTrainer",
    "Trainer",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
