"""One ring on the device for what all agents remember: states are stored once, and copied, never shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from patches.blocks.device_replay import DeviceReplay, sample_range
from patches.blocks.ring import Ring
from patches.blocks.staging import Segment, Slab
from syncprobe.workloads.uara.agent import Transition

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.uara.training import Outcome, Trainer


class SharedRing:
    """Rows of a state, the next state, and the action and reward of every agent."""

    def __init__(self, trainer: Trainer) -> None:
        self.agents, self.users = len(trainer.agents), trainer.users
        width = 2 * (self.users + self.agents)
        self.rows = DeviceReplay(trainer.options.capacity, width, trainer.device)
        self.rows.put_on(trainer.device, rides_to=trainer.device, is_persistent=True)
        self._slab = Slab(trainer.device, is_persistent=True)
        self._state = np.zeros(self.users, dtype=np.float32)
        self.nothing = torch.empty(0, device=trainer.device)
        """Stands for a state that is still on the host."""
        for number, agent in enumerate(trainer.agents):
            agent.memory = AgentMemory(self, number)  # type: ignore[assignment]  # looks like theirs

    def store(self, outcome: Outcome, *, is_first: bool) -> None:
        """Write a step on the host; it goes to the device with the next upload."""
        users, agents = self.users, self.agents
        row = self.rows.waiting_room(1)[0]
        row[:users] = 0 if is_first else self._state
        self._state = connection(outcome.users, outcome.connected, users)
        row[users : 2 * users] = self._state
        row[2 * users : 2 * users + agents] = outcome.users
        row[2 * users + agents :] = outcome.rates
        self.rows.admit(1)

    def sample(self, count: int) -> Transition | None:
        """A batch for each agent, drawn agent by agent; None while there are too few rows."""
        size = self.rows.size()
        if size < count:
            self.rows.flush()
            return None
        waiting = self.rows.waiting()
        shapes = (len(waiting), waiting.shape[1]), (self.agents, count)
        views = self._slab.open(
            shapes,
            lambda: (Segment("rows", shapes[0]), Segment("places", shapes[1], torch.int64)),
        )
        views.arrays["rows"][:] = waiting
        views.arrays["places"][:] = [sample_range(size, count) for _ in range(self.agents)]
        sent = self._slab.send()
        self.rows.commit(sent["rows"])
        return self._split(self.rows.storage.gather(sent["places"].view(-1)), count)

    def _split(self, rows: Tensor, count: int) -> Transition:
        users, agents = self.users, self.agents
        rows = rows.view(agents, count, -1)
        actions, rewards = (
            rows[:, :, start : start + agents].diagonal(dim1=0, dim2=2).t()
            for start in (2 * users, 2 * users + agents)
        )
        return Transition(
            rows[:, :, :users].contiguous(),
            actions.long().unsqueeze(2),
            rows[:, :, users : 2 * users].contiguous(),
            rewards.contiguous(),
        )

    def newest_state(self) -> Tensor:
        """The state after the step that was stored last, in memory of its own."""
        storage = self.rows.storage
        assert isinstance(storage, Ring), "rows are in one tensor"
        newest = storage.rows[(self.rows.total - 1) % self.rows.capacity]
        return newest[self.users : 2 * self.users].clone()


class AgentMemory:
    """What one agent remembers, for those who look: read back from the ring."""

    def __init__(self, ring: SharedRing, number: int) -> None:
        self._ring = ring
        self._number = number

    def __len__(self) -> int:
        return self._ring.rows.size()

    @property
    def position(self) -> int:
        """Where the next transition goes."""
        return self._ring.rows.total % self._ring.rows.capacity

    @property
    def entries(self) -> list[Transition]:
        """The transitions, in the order of their places."""
        ring, users = self._ring, self._ring.users
        places = torch.arange(len(self), device=ring.rows.storage.device)
        rows = ring.rows.storage.gather(places)
        action = 2 * users + self._number
        reward = action + ring.agents
        return [
            Transition(
                row[None, :users],
                row[None, action : action + 1].long(),
                row[None, users : 2 * users],
                row[reward : reward + 1],
            )
            for row in rows
        ]


def connection(users: list[int], connected: list[int], count: int) -> Any:
    """Which users are connected: where several stations picked one, the last one's word counts."""
    state = np.zeros(count, dtype=np.float32)
    for user, is_connected in zip(users, connected, strict=True):
        state[user] = is_connected
    return state
