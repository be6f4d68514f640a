"""One learning agent of any of the six types: how it acts, learns, and is saved."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from legacy_marinenav.policy.agent_kinds import agent_kind
from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from legacy_marinenav.policy.replay_memory_rainbow import ReplayMemory
from legacy_marinenav.policy.updates.quantile_loss import calculate_huber_loss

if TYPE_CHECKING:
    from pathlib import Path

    from torch import nn

    from legacy_marinenav.policy.networks.encoders import State
    from legacy_marinenav.policy.networks.padding import RobotState

__all__ = ["Agent", "calculate_huber_loss"]

ATOMS = 51
RETURN_RANGE = (-1, 1)


class Agent:
    """Policies, optimizers and memory of one agent type.

    With ``training`` the local and the target policy are built with the same seed, which reseeds torch, and
    the uniform replay buffer seeds Python's generator. Without it there is no policy and no memory: attach
    both before acting.

    Raises:
        UnknownAgentTypeError: A RuntimeError naming the allowed types.
    """

    def __init__(
        self,
        self_dimension: int = 7,
        object_dimension: int = 5,
        max_object_num: int = 5,
        self_feature_dimension: int = 56,
        object_feature_dimension: int = 40,
        concat_feature_dimension: int = 256,
        hidden_dimension: int = 128,
        value_ranges_of_action: list[list[float]] | None = None,
        action_size: int = 25,
        multi_steps: int = 3,
        BATCH_SIZE: int = 64,
        BUFFER_SIZE: int = 1_000_000,
        LR: float = 1e-4,
        TAU: float = 1.0,
        GAMMA: float = 0.99,
        device: str = "cpu",
        seed: int = 0,
        training: bool = True,
        agent_type: str | None = None,
    ) -> None:
        self.kind = agent_kind(agent_type)
        self.device = device
        self.LR = LR
        self.TAU = TAU
        self.GAMMA = GAMMA
        self.BUFFER_SIZE = BUFFER_SIZE
        self.BATCH_SIZE = BATCH_SIZE
        self.training = training
        self.value_ranges_of_action = copy.deepcopy(
            value_ranges_of_action or [[-1.0, 1.0], [-1.0, 1.0]]
        )
        self.action_size = action_size
        self.agent_type = agent_type
        if not training:
            return

        dimensions = (
            self_dimension,
            object_dimension,
            max_object_num,
            self_feature_dimension,
            object_feature_dimension,
            concat_feature_dimension,
            hidden_dimension,
        )
        self.policy_local = self._build_policy(dimensions, seed)
        self.policy_target = self._build_policy(dimensions, seed)
        for name, network in zip(
            self.kind.optimizer_names, self.kind.networks_of(self.policy_local), strict=True
        ):
            setattr(self, name, torch.optim.Adam(network.parameters(), lr=LR))

        if self.agent_type == "SAC":
            self.alpha = 0.078
        if self.kind.is_prioritized:
            self._prepare_distribution(multi_steps)
            self.memory = ReplayMemory(device, BUFFER_SIZE)
        else:
            self.memory = ReplayBuffer(BUFFER_SIZE, BATCH_SIZE, object_dimension, max_object_num)

    def _build_policy(self, dimensions: tuple[int, ...], seed: int) -> Any:
        if self.kind.is_continuous:
            return self.kind.policy(
                *dimensions, self.value_ranges_of_action, device=self.device, seed=seed
            )
        sizes = (self.action_size, ATOMS) if self.kind.is_prioritized else (self.action_size,)
        return self.kind.policy(*dimensions, *sizes, device=self.device, seed=seed).to(self.device)

    def _prepare_distribution(self, multi_steps: int) -> None:
        self.atoms = ATOMS
        self.Vmin, self.Vmax = RETURN_RANGE
        self.support = torch.linspace(self.Vmin, self.Vmax, self.atoms).to(self.device)
        self.delta_z = (self.Vmax - self.Vmin) / (self.atoms - 1)
        self.n = multi_steps

    def act_ac_iqn(
        self,
        state: RobotState,
        eps: float = 0.0,
        cvar: float = 1.0,  # noqa: ARG002 - all act methods with quantiles take it
        use_eval: bool = True,
    ) -> list[float]:
        """Two thrust changes of AC-IQN; ``cvar`` has no influence."""
        return self._act_continuous(state, eps, use_eval)

    def act_ddpg(self, state: RobotState, eps: float = 0.0, use_eval: bool = True) -> list[float]:
        """Two thrust changes of DDPG."""
        return self._act_continuous(state, eps, use_eval)

    def act_sac(self, state: RobotState, eps: float = 0.0, use_eval: bool = True) -> list[float]:
        """Two thrust changes of SAC, sampled in evaluation too."""
        if random.random() > eps:
            action, _ = self._forward(self.policy_local.actor, state, use_eval)
            return action.cpu().data.numpy()[0].tolist()
        return self._random_action()

    def act_iqn(
        self, state: RobotState, eps: float = 0.0, cvar: float = 1.0, use_eval: bool = True
    ) -> tuple[np.int64, np.ndarray, np.ndarray]:
        """Action index of IQN, with the quantiles ``[1, 32, 25]`` and fractions ``[1, 32, 1]`` it looked at."""
        network = self.policy_local
        quantiles, taus = self._forward(network, state, use_eval, network.K, cvar)
        action_values = quantiles.mean(dim=1)
        if random.random() > eps:
            action = np.argmax(action_values.cpu().data.numpy())
        else:
            action = random.choice(np.arange(self.action_size))
        return action, quantiles.cpu().data.numpy(), taus.cpu().data.numpy()

    def act_dqn(self, state: RobotState, eps: float = 0.0, use_eval: bool = True) -> np.int64:
        """Action index of DQN."""
        action_values = self._forward(self.policy_local, state, use_eval)
        if random.random() > eps:
            return np.argmax(action_values.cpu().data.numpy())
        return random.choice(np.arange(self.action_size))

    def act_rainbow(
        self, state: RobotState, eps: float = 0.0, use_eval: bool = True
    ) -> int | np.int64:
        """Action index of Rainbow by the expected return."""
        probs = self._forward(self.policy_local, state, use_eval)
        if random.random() > eps:
            return (probs * self.support).sum(2).argmax(1).item()
        return random.choice(np.arange(self.action_size))

    def _act_continuous(self, state: RobotState, eps: float, use_eval: bool) -> list[float]:
        if random.random() > eps:
            action = self._forward(self.policy_local.actor, state, use_eval)
            return action.cpu().data.numpy()[0].tolist()
        return self._random_action()

    def _random_action(self) -> list[float]:
        return [np.random.uniform(low, high) for low, high in self.value_ranges_of_action]

    def _forward(
        self, network: nn.Module, state: RobotState, use_eval: bool, *arguments: Any
    ) -> Any:
        """Ask a network about one robot; it is in training mode afterwards whatever it was before."""
        observation = self.state_to_tensor(self.memory.state_batch([state]))
        if use_eval:
            network.eval()
        else:
            network.train()
        with torch.no_grad():
            answer = network(observation, *arguments)
        network.train()
        return answer

    def state_to_tensor(self, states: tuple[list[Any], list[Any], list[Any]]) -> State:
        """Nested lists of `state_batch` as float32 tensors on the device; empty lists become None."""
        self_states, object_states, object_masks = states
        self_tensor = torch.tensor(self_states).float().to(self.device)
        if not object_states:
            return self_tensor, None, None
        object_tensor = torch.tensor(object_states).float().to(self.device)
        mask_tensor = torch.tensor(object_masks).float().to(self.device)
        return self_tensor, object_tensor, mask_tensor

    def train(self) -> Any:
        """One training step on a sampled batch; returns the losses, read back from the device."""
        return self.kind.update(self)

    def soft_update(self) -> None:
        """Move the target's parameters towards the local ones by TAU; buffers stay as they are."""
        for target, local in zip(
            self.kind.networks_of(self.policy_target),
            self.kind.networks_of(self.policy_local),
            strict=True,
        ):
            for target_param, local_param in zip(
                target.parameters(), local.parameters(), strict=True
            ):
                target_param.data.copy_(
                    self.TAU * local_param.data + (1.0 - self.TAU) * target_param.data
                )

    def save_latest_model(self, directory: str | Path) -> None:
        """Write the local policy into a directory."""
        self.policy_local.save(directory)

    def load_model(self, path: str | Path, device: str = "cpu") -> None:
        """Replace the local policy; the optimizers keep the parameters they were built with.

        Raises:
            ModelDirectoryError: The directory does not hold a policy of this type.
        """
        self.policy_local = self.kind.load_policy(path, device)
