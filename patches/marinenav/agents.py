"""What an agent built while patches are on carries with it.

Replaces: policy.agent:Agent.__init__, adds Agent.patch_notes
Removes:  nothing
Keeps:    construction as it is, draws included; agents built without patches have no notes and stay legacy
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from legacy_marinenav.policy.agent import Agent
from patches.blocks.device_replay import DeviceReplay
from patches.blocks.staging import ReadBack, Slab
from patches.marinenav.circumstances import computes_as_usual
from patches.marinenav.rows import OBJECT, OBJECTS, OWN
from patches.replacement import Replacement
from patches.toggle import current_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from patches.settings import Settings

_legacy_init = Agent.__init__
_NOTHING = np.empty((0, 0), dtype=np.float32)


class Notes:
    """Settings, buffers and caches of one agent."""

    def __init__(self, agent: Any, settings: Settings) -> None:
        self.settings = settings
        self.device = torch.device(agent.device)
        is_persistent = settings.has(3)
        self.decision = Slab(self.device, is_persistent=is_persistent)
        self.update = Slab(self.device, is_persistent=is_persistent)
        self.reads = ReadBack(self.device, is_persistent=is_persistent)
        self.constants: dict[Any, torch.Tensor] = {}
        """Tensors made once: zero blocks, offsets, index ranges."""
        self.compiled: dict[Any, Any] = {}
        self.arrays: dict[Any, Any] = {}
        """Arrays made once, such as the range of action indices."""

    def __getstate__(self) -> dict[str, Any]:
        # What can be made again is not copied: arrays and compiled functions belong to one agent.
        return {**vars(self), "constants": {}, "compiled": {}, "arrays": {}}

    def place(self, memory: DeviceReplay) -> None:
        """Allocate a memory on the device of the agent, or on the one that was asked for."""
        memory.put_on(
            self.settings.buffer_device or self.device,
            rides_to=self.device,
            is_persistent=self.settings.has(3),
        )

    def function(self, forward: Any) -> Any:
        """A forward as it is, or compiled if that extra was asked for."""
        if "compile" not in self.settings.extras:
            return forward
        if forward not in self.compiled:
            self.compiled[forward] = torch.compile(forward, dynamic=True)
        return self.compiled[forward]

    def constant(self, key: Any, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        """A tensor that never changes, made once per key if buffers are to be reused."""
        if key not in self.constants or not self.settings.has(3):
            with torch.inference_mode(mode=False):  # it may be part of a graph later
                self.constants[key] = make()
        return self.constants[key]

    def scratch(self, key: Any, shape: tuple[int, ...]) -> Any:
        """A float32 array of the host, made once per key if buffers are to be reused."""
        return self.kept(key, lambda: np.empty(shape, dtype=np.float32))

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """Memory that is written anew for each use, made once per key if buffers are to be reused."""
        found = self.arrays.get(key) if self.settings.has(3) else None
        if found is None:
            with torch.inference_mode(mode=False):  # it may be used outside of it later
                found = self.arrays[key] = make()
        return found


def notes_of(agent: Any) -> Notes | None:
    """The notes of an agent, or None if it is to be treated as legacy does.

    That is one that was built without patches, is none of ours or has moved to another device since, and every
    one while torch computes otherwise than usual.
    """
    notes: Notes | None = getattr(agent, "patch_notes", None)
    if notes is None or not computes_as_usual():
        return None
    return notes if torch.device(agent.device) == notes.device else None


def waiting_rows(agent: Any) -> Any:
    """Rows of transitions that the memory wants to have on the device."""
    memory: Any = getattr(agent, "memory", None)
    return memory.waiting() if hasattr(memory, "waiting") else _NOTHING


@functools.wraps(_legacy_init)
def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    _legacy_init(self, *args, **kwargs)
    settings = current_settings()
    if settings is None:
        return
    memory: Any = getattr(self, "memory", None)
    if not _has_usual_dimensions(self):
        if hasattr(memory, "as_legacy"):
            self.memory = memory.as_legacy()
        return
    self.patch_notes = Notes(self, settings)
    if isinstance(memory, DeviceReplay):
        self.patch_notes.place(memory)


def _has_usual_dimensions(agent: Any) -> bool:
    """Rows have a fixed width; an agent with other dimensions stays legacy."""
    if not hasattr(agent, "policy_local"):
        return True
    network = next(agent.kind.networks_of(agent.policy_local))
    wanted = (OWN, OBJECT, OBJECTS)
    found = (network.self_dimension, network.object_dimension, network.max_object_num)
    return found == wanted and len(agent.value_ranges_of_action) == 2


_AGENT = "legacy_marinenav.policy.agent:Agent"

ROWS = (
    Replacement(_AGENT, "__init__", _init),
    Replacement(_AGENT, "patch_notes", None, is_new=True),
)
"""Every step needs these."""
