"""`MarineNavEnv3` as a TorchRL environment: observations of all robots as padded tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3

CONTINUOUS_WIDTH = 2


class MarineNavTorchRLEnv(EnvBase):
    """Wraps a `MarineNavEnv3`; the number of robots may change with every reset.

    `reset` and `step` return flat tensordicts: the observation, and after a step ``reward`` and ``done`` next
    to it, without TorchRL's "next" level. Actions of width 2 are continuous, of width 1 action indices.

    Args:
        seed: Seed of the wrapped environment.
        schedule: Its training schedule.
        is_eval_env: Whether its robots keep histories.
        device: Where the tensors go.
        max_obj_num: Rows of objects per robot.
    """

    def __init__(
        self,
        seed: int = 0,
        schedule: dict[str, list[Any]] | None = None,
        is_eval_env: bool = False,
        device: str | torch.device = "cuda",
        max_obj_num: int = 5,
    ) -> None:
        super().__init__(device=device, batch_size=[])
        self.seed_value = seed
        self.schedule = schedule
        self.is_eval_env = is_eval_env
        self.max_obj_num = max_obj_num
        self.self_dim = 7
        self.obj_dim = 5
        self._env = MarineNavEnv3(seed=seed, schedule=schedule, is_eval_env=is_eval_env)
        self.num_robots = self._env.num_robots
        self._make_specs()

    @property
    def robots(self) -> list[Any]:
        """The robots of the wrapped environment."""
        return self._env.robots

    def reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:
        """Begin an episode and return the observation."""
        return self._reset(tensordict, **kwargs)

    def step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Carry out ``action`` and return observation, ``reward`` and ``done``."""
        return self._step(tensordict)

    def reset_with_eval_config(self, eval_config: dict[str, Any]) -> TensorDictBase:
        """Set up a stored episode and return the observation."""
        states, _, _ = self._env.reset_with_eval_config(eval_config)
        self._follow_num_robots()
        return self._format_observation(states)

    def check_all_deactivated(self) -> bool:
        """Whether no robot is active any more."""
        return self._env.check_all_deactivated()

    def check_all_reach_goal(self) -> bool:
        """Whether every robot has arrived."""
        return self._env.check_all_reach_goal()

    def check_any_collision(self) -> bool:
        """Whether any robot has collided."""
        return self._env.check_any_collision()

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:  # noqa: ARG002
        states, _, _ = self._env.reset()
        self._follow_num_robots()
        return self._format_observation(states)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        rows = tensordict["action"].cpu().numpy()
        is_continuous = rows.shape[-1] == CONTINUOUS_WIDTH
        actions = []
        for i in range(self.num_robots):
            if self._env.robots[i].deactivated:
                actions.append(None)
            else:
                actions.append(rows[i] if is_continuous else int(rows[i, 0]))

        states, rewards, dones, _ = self._env.step(actions, is_continuous)
        result = self._format_observation(states)
        reward = torch.tensor(rewards, dtype=torch.float32, device=self.device)
        done = torch.tensor(dones, dtype=torch.bool, device=self.device)
        result.set("reward", reward.view(self.num_robots, 1))
        result.set("done", done.view(self.num_robots, 1))
        return result

    def _set_seed(self, seed: int | None) -> None:
        self._env.rd = np.random.RandomState(seed)

    def _format_observation(self, states: list[Any]) -> TensorDictBase:
        self_states, object_states, object_masks = [], [], []
        for self_state, objects in states:
            self_row = np.zeros(self.self_dim)
            object_rows = np.zeros((self.max_obj_num, self.obj_dim))
            mask_row = np.zeros(self.max_obj_num)
            if self_state is not None:
                self_row[:] = self_state
                for row, seen in enumerate(objects):
                    object_rows[row] = seen
                    mask_row[row] = 1.0
            self_states.append(self_row)
            object_states.append(object_rows)
            object_masks.append(mask_row)
        return TensorDict(
            {
                "self_state": self._to_tensor(self_states),
                "objects_state": self._to_tensor(object_states),
                "objects_mask": self._to_tensor(object_masks),
            },
            batch_size=[],
        )

    def _to_tensor(self, rows: list[np.ndarray]) -> torch.Tensor:
        return torch.tensor(np.stack(rows), dtype=torch.float32, device=self.device)

    def _follow_num_robots(self) -> None:
        """Take over the number of robots that a reset has placed."""
        if len(self._env.robots) != self.num_robots:
            self.num_robots = len(self._env.robots)
            self._make_specs()

    def _make_specs(self) -> None:
        robots, objects = self.num_robots, self.max_obj_num
        placed = {"dtype": torch.float32, "device": self.device}
        self.observation_spec = Composite(
            self_state=Unbounded(shape=(robots, self.self_dim), **placed),
            objects_state=Unbounded(shape=(robots, objects, self.obj_dim), **placed),
            objects_mask=Bounded(low=0.0, high=1.0, shape=(robots, objects), **placed),
            shape=(),
        )
        self.action_spec = Bounded(low=-1.0, high=1.0, shape=(robots, CONTINUOUS_WIDTH), **placed)
        self.reward_spec = Unbounded(shape=(robots, 1), **placed)
        self.done_spec = Categorical(n=2, shape=(robots, 1), dtype=torch.bool, device=self.device)
