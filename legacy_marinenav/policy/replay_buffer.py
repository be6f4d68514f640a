"""Uniform replay over Python lists."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from legacy_marinenav.policy.networks.padding import RobotState, batch_states


class ReplayBuffer:
    """The newest transitions of all robots, sampled with Python's global generator.

    Constructing a buffer seeds that generator, which is part of what makes a run repeatable.
    """

    def __init__(
        self, buffer_size: int, batch_size: int, obj_len: int, max_object_num: int, seed: int = 249
    ) -> None:
        self.memory: deque[Any] = deque(maxlen=buffer_size)
        self.batch_size = batch_size
        self.obj_len = obj_len
        self.max_obj_num = max_object_num
        self.seed = random.seed(seed)

    def add(self, item: tuple[RobotState, Any, float, RobotState, bool]) -> None:
        """Store (state, action, reward, next state, done); the oldest transition gives way when full."""
        self.memory.append(item)

    def sample(self) -> tuple[Any, list[Any], list[float], Any, list[bool]]:
        """A batch without repetition, as nested Python lists."""
        batch = random.sample(self.memory, k=self.batch_size)
        states, actions, rewards, next_states, dones = [], [], [], [], []
        for state, action, reward, next_state, done in batch:
            states.append(state)
            actions.append(action)
            rewards.append(reward)
            next_states.append(next_state)
            dones.append(done)
        return self.state_batch(states), actions, rewards, self.state_batch(next_states), dones

    def state_batch(self, states: list[RobotState]) -> tuple[list[Any], list[Any], list[Any]]:
        """Own states, padded objects and object masks of several robots."""
        return batch_states(states, self.max_obj_num, self.obj_len)

    def size(self) -> int:
        """Number of stored transitions."""
        return len(self.memory)
