"""A tensordict whose tensors go to the device when somebody looks, or with an upload that happens anyway.

The environment knows its observation before the policy has drawn its noise. If the observation waits, both go
up together; whoever looks first, in whatever way, gets the tensors as if they had been there all along.
"""

from __future__ import annotations

from typing import Any

import torch
from tensordict import TensorDict  # type: ignore[import-untyped]  # ships no types

from patches.blocks.staging import Segment, Slab, Views
from patches.marinenav.rows import OBJECT, OBJECTS, OWN, SEEN


class HostStep:
    """What a tensordict of the environment says, on the host."""

    def __init__(self, rows: Any, rewards: Any, dones: Any) -> None:
        self.rows = rows
        """``[R, 37]`` float32."""
        self.rewards = rewards
        """``[R]`` float32; None after a reset."""
        self.dones = dones
        self.actions: Any = None
        """``[R, 2 or 1]`` float32, once the environment has carried them out."""

    def sections(self) -> tuple[Segment, ...]:
        """The tensors that the device gets."""
        count = len(self.rows)
        found = (
            Segment("self_state", (count, OWN)),
            Segment("objects_state", (count, OBJECTS, OBJECT)),
            Segment("objects_mask", (count, OBJECTS)),
        )
        if self.rewards is None:
            return found
        return (*found, Segment("reward", (count, 1)), Segment("done", (count, 1), torch.bool))

    def write(self, views: Views) -> None:
        """Fill the sections."""
        arrays, rows = views.arrays, self.rows
        arrays["self_state"][:] = rows[:, :OWN]
        arrays["objects_state"].reshape(len(rows), SEEN)[:] = rows[:, OWN : OWN + SEEN]
        arrays["objects_mask"][:] = rows[:, OWN + SEEN :]
        if self.rewards is not None:
            arrays["reward"][:, 0] = self.rewards
            arrays["done"][:, 0] = self.dones


class DeferredObservation(TensorDict):  # type: ignore[misc]  # untyped base
    """A flat tensordict of the environment; every access goes through ``_tensordict``, which fills it first."""

    _waits_for: tuple[HostStep, Slab] | None = None
    """Nothing, for copies: whoever copied has looked."""

    def __init__(self, step: HostStep, slab: Slab) -> None:
        super().__init__({}, batch_size=[])
        self._waits_for = step, slab

    @property
    def waiting_step(self) -> HostStep | None:
        """What still has to go to the device."""
        return None if self._waits_for is None else self._waits_for[0]

    @property
    def wanted_device(self) -> torch.device | None:
        """Where the waiting tensors are wanted."""
        return None if self._waits_for is None else self._waits_for[1].device

    def fill(self, tensors: dict[str, torch.Tensor]) -> None:
        """Take over tensors that went up with another upload."""
        step = self.waiting_step
        assert step is not None, "filled twice"
        self._waits_for = None
        for section in step.sections():
            self._tensors[section.name] = tensors[section.name]

    @property
    def _tensordict(self) -> Any:
        if self._waits_for is not None:
            step, slab = self._waits_for
            views = slab.open((len(step.rows), step.rewards is None), step.sections)
            step.write(views)
            self.fill(slab.send_fresh())
        return self._tensors

    @_tensordict.setter
    def _tensordict(self, value: Any) -> None:
        self._tensors = value
