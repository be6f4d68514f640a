"""An agent as a module from tensordict to tensordict, asked for one robot after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from legacy_marinenav.policy.agent_kinds import agent_kind
from legacy_marinenav.torchrl_gpu.robot_rows import read_robot_state

if TYPE_CHECKING:
    from tensordict import TensorDictBase


class PolicyWrapper(nn.Module):
    """Chooses an action for every row of an observation, those of deactivated robots included.

    Args:
        agent: The agent to ask.
        max_obj_num: Rows of objects per robot.
        epsilon: Exploration rate in training mode.
    """

    def __init__(self, agent: Any, max_obj_num: int = 5, epsilon: float = 0.0) -> None:
        super().__init__()
        self.agent = agent
        self.max_obj_num = max_obj_num
        self.epsilon = epsilon
        self.training_mode = True
        self.kind = agent_kind(agent.agent_type)
        self.is_continuous = self.kind.is_continuous
        self.action_dim = self.kind.action_dimension

    def set_epsilon(self, epsilon: float) -> None:
        """Set the exploration rate."""
        self.epsilon = epsilon

    def set_training_mode(self, training: bool) -> None:
        """Choose between exploring and evaluating."""
        self.training_mode = training

    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Set ``action`` ``[R, 2 or 1]`` in the given tensordict and return it."""
        options = {"eps": self.epsilon, "use_eval": False} if self.training_mode else {}
        actions = []
        for row in range(tensordict["self_state"].shape[0]):
            state = read_robot_state(tensordict, row)
            actions.append(self._as_row(self.kind.act(self.agent, state, **options)))
        device = tensordict["self_state"].device
        tensordict.set("action", torch.tensor(actions, dtype=torch.float32, device=device))
        return tensordict

    def _as_row(self, action: Any) -> np.ndarray:
        row = np.array(action, dtype=np.float32).reshape(-1)
        return np.pad(row, (0, self.action_dim - row.size))
