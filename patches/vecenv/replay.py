"""What DQN remembers, on the device: places are drawn on the host as ever, and new rows ride with them.

Replaces: syncprobe.workloads.vecenv.training:Replay
Removes:  with step 4 four of five uploads per update
Keeps:    the draws, the order of places, what is sampled, bit for bit
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from stable_baselines3.common.type_aliases import ReplayBufferSamples

from patches.blocks.device_replay import WAITING_ROOM, DeviceReplay
from patches.vecenv.tools import Tools, in_place_of, settings_now
from syncprobe.workloads.vecenv.training import Replay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor


class KeptReplay(Replay):
    """Transitions as rows of a ring on the device: observation, the next one, action, end, reward."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        settings = settings_now()
        self.tools = Tools(settings, self.device)
        self._length = int(np.prod(self.obs_shape))
        self.rows = DeviceReplay(self.buffer_size * self.n_envs, 2 * self._length + 3)
        self.rows.put_on(self.device, rides_to=self.device, is_persistent=settings.has(3))

    def add(
        self,
        obs: Any,
        next_obs: Any,
        action: Any,
        reward: Any,
        done: Any,
        infos: Sequence[dict[str, Any]],
    ) -> None:
        """Let the transitions of one vector step wait for the next upload."""
        cut_off = np.array([info.get("TimeLimit.truncated", False) for info in infos])
        length, ends = self._length, done & ~cut_off
        for start in range(0, self.n_envs, WAITING_ROOM):
            part = slice(start, start + WAITING_ROOM)
            rows = self.rows.waiting_room(len(obs[part]))
            rows[:, :length], rows[:, length : 2 * length] = obs[part], next_obs[part]
            rows[:, -3], rows[:, -2], rows[:, -1] = np.ravel(action)[part], ends[part], reward[part]
            self.rows.admit(len(rows))
        self.pos += 1
        if self.pos == self.buffer_size:
            self.full, self.pos = True, 0

    def _get_samples(self, batch_inds: Any, env: Any = None) -> ReplayBufferSamples:
        assert env is None, "the workload normalises nothing"
        numbers = np.random.randint(0, high=self.n_envs, size=(len(batch_inds),))  # noqa: NPY002  # the library's
        sent = self.tools.upload_together(
            {"rows": self.rows.waiting(), "places": batch_inds * self.n_envs + numbers}
        )
        self.rows.commit(sent["rows"])
        return ReplayBufferSamples(*self._columns(self.rows.storage.gather(sent["places"])))

    def _columns(self, rows: Tensor) -> tuple[Tensor, ...]:
        """Observations, actions, next observations, ends and rewards."""
        length = self._length
        action, is_end, reward = (rows[:, 2 * length + place, None] for place in range(3))
        # Networks may round by layout, what is added and multiplied number by number does not.
        return (
            rows[:, :length].contiguous(),
            action.long(),
            rows[:, length : 2 * length].contiguous(),
            is_end,
            reward,
        )

    def contents(self) -> Mapping[str, Any]:
        """Everything in it as arrays, in the order of their places."""
        self.rows.flush()
        places = torch.arange(self.rows.size(), device=self.device)
        names = ("observations", "actions", "next_observations", "ends", "rewards")
        columns = self._columns(self.rows.storage.gather(places))
        found = {}
        for name, column in zip(names, columns, strict=True):
            array = column.cpu().numpy().reshape(-1, self.n_envs, column.shape[1])
            found[name] = array[:, :, 0] if name in {"ends", "rewards"} else array
        return found


ROWS = (in_place_of("Replay", KeptReplay),)
