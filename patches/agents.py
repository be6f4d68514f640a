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
from patches.replacement import Replacement
from patches.rows import OBJECT, OBJECTS, OWN
from patches.staging import ReadBack, Slab
from patches.toggle import current_settings

if TYPE_CHECKING:
    from patches.settings import Settings

_legacy_init = Agent.__init__


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
        self.weights: tuple[Any, list[int], Any] | None = None
        """Rainbow's effective weights, behind their network and the versions of what they come from."""

    def forget_weights(self, *_: Any) -> None:
        """Have effective weights computed again: called behind every optimizer step."""
        self.weights = None

    def function(self, forward: Any) -> Any:
        """A forward as it is, or compiled if that extra was asked for."""
        if "compile" not in self.settings.extras:
            return forward
        if forward not in self.compiled:
            self.compiled[forward] = torch.compile(forward, dynamic=True)
        return self.compiled[forward]

    def scratch(self, key: Any, shape: tuple[int, ...]) -> Any:
        """A float32 array of the host, made once per key if buffers are to be reused."""
        if not self.settings.has(3):
            return np.empty(shape, dtype=np.float32)
        if key not in self.arrays:
            self.arrays[key] = np.empty(shape, dtype=np.float32)
        return self.arrays[key]


def notes_of(agent: Any) -> Notes | None:
    """The notes of an agent, or None if it was built without patches or is none of ours."""
    return getattr(agent, "patch_notes", None)


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
    if self.kind.is_prioritized and self.training:
        self.optimizer.register_step_post_hook(self.patch_notes.forget_weights)
    if hasattr(memory, "place"):
        memory.place(self.patch_notes)


def _has_usual_dimensions(agent: Any) -> bool:
    """Rows have a fixed width; an agent with other dimensions stays legacy."""
    if not hasattr(agent, "policy_local"):
        return True
    network = next(agent.kind.networks_of(agent.policy_local))
    wanted = (OWN, OBJECT, OBJECTS)
    found = (network.self_dimension, network.object_dimension, network.max_object_num)
    return found == wanted and len(agent.value_ranges_of_action) == 2


REPLACEMENTS = (
    Replacement("legacy_marinenav.policy.agent:Agent", "__init__", _init),
    Replacement("legacy_marinenav.policy.agent:Agent", "patch_notes", None),
)
