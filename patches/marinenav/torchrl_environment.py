"""The TorchRL environment says all it has to say in one upload, and remembers it on the host.

Replaces: marinenav_env.envs.torchrl_gpu.marinenav_torchrl_env:MarineNavTorchRLEnv._step, _format_observation
Removes:  five conversions and uploads per step, an array per robot and field
Keeps:    keys, shapes, dtypes and values of the tensordicts, each in memory of its own; what the simulator is told
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from legacy_marinenav.marinenav_env.envs.torchrl_gpu.marinenav_torchrl_env import (
    CONTINUOUS_WIDTH,
    MarineNavTorchRLEnv,
)
from patches.blocks.staging import ReadBack, Slab
from patches.marinenav.authorship import is_own_work
from patches.marinenav.deferred_observation import DeferredObservation, HostStep
from patches.marinenav.rows import OBJECT, OBJECTS, OWN, STATE, state_rows
from patches.replacement import Replacement
from patches.toggle import current_settings

if TYPE_CHECKING:
    from patches.settings import Settings

_legacy_step = MarineNavTorchRLEnv._step  # noqa: SLF001
_legacy_format = MarineNavTorchRLEnv._format_observation  # noqa: SLF001

_OWN: Final = frozenset({"step", "reset", "_step", "_reset", "_format_observation", "_to_tensor"})
"""Methods that decide what a tensordict says; somebody who brings others is listened to."""

KEPT = 3
"""Observations remembered per environment: a step looks at the last and the one before."""


@dataclass
class EnvironmentNotes:
    """Buffers of one environment, and its last observations."""

    settings: Settings
    slab: Slab
    reads: ReadBack
    steps: list[tuple[DeferredObservation, HostStep]] = field(default_factory=list)

    def publish(self, step: HostStep) -> DeferredObservation:
        """Hand out an observation and remember what it says."""
        observation = DeferredObservation(step, self.slab)
        self.steps = [*self.steps[1 - KEPT :], (observation, step)]
        return observation

    def find(self, observation: Any) -> HostStep | None:
        """What is known about a tensordict of this environment."""
        for known, step in reversed(self.steps):
            if known is observation:
                return step
        return None


_notes: weakref.WeakKeyDictionary[Any, EnvironmentNotes] = weakref.WeakKeyDictionary()


def environment_notes(environment: Any) -> EnvironmentNotes | None:
    """Notes of an environment that says what it found, and nothing else; made at its first reset while patches are on."""
    if not isinstance(environment, MarineNavTorchRLEnv) or not is_own_work(environment, _OWN):
        return None
    return _notes.get(environment)


def _make_notes(environment: Any) -> EnvironmentNotes | None:
    settings = current_settings()
    is_usual = (environment.self_dim, environment.max_obj_num, environment.obj_dim) == (
        OWN,
        OBJECTS,
        OBJECT,
    )
    if settings is None or not is_usual or not is_own_work(environment, _OWN):
        return None
    device = torch.device(environment.device)
    is_persistent = settings.has(3)
    notes = EnvironmentNotes(
        settings,
        Slab(device, is_persistent=is_persistent),
        ReadBack(device, is_persistent=is_persistent),
    )
    _notes[environment] = notes
    return notes


def _format_observation(self: Any, states: list[Any]) -> Any:
    notes = _notes.get(self) or _make_notes(self)
    if notes is None:
        return _legacy_format(self, states)
    return notes.publish(_host_step(states))


def _step(self: Any, tensordict: Any) -> Any:
    notes = _notes.get(self)
    if notes is None:
        return _legacy_step(self, tensordict)
    # A copy, because robots of an evaluation keep their rows as history.
    rows = notes.reads.read(tensordict["action"]).numpy().copy()
    is_continuous = rows.shape[-1] == CONTINUOUS_WIDTH
    actions: list[Any] = []
    for i in range(self.num_robots):
        if self._env.robots[i].deactivated:
            actions.append(None)
        else:
            actions.append(rows[i] if is_continuous else int(rows[i, 0]))
    before = notes.find(tensordict)
    if before is not None:
        before.actions = rows
    states, rewards, dones, _ = self._env.step(actions, is_continuous)
    return notes.publish(_host_step(states, rewards, dones))


def _host_step(states: list[Any], rewards: Any = None, dones: Any = None) -> HostStep:
    rows = np.empty((len(states), STATE), dtype=np.float32)
    state_rows(states, rows)
    if rewards is None:
        return HostStep(rows, None, None)
    return HostStep(rows, np.array(rewards, dtype=np.float32), np.array(dones, dtype=np.bool_))


_ENVIRONMENT = (
    "legacy_marinenav.marinenav_env.envs.torchrl_gpu.marinenav_torchrl_env:MarineNavTorchRLEnv"
)

ROWS = (
    Replacement(_ENVIRONMENT, "_step", _step),
    Replacement(_ENVIRONMENT, "_format_observation", _format_observation),
)
"""Steps 2 and 3 need these: one to ask for what was said, one to say it in buffers that exist."""
