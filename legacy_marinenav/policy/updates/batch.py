"""From a sampled batch of nested lists to tensors on the agent's device."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    import numpy as np
    from torch import nn

    from legacy_marinenav.policy.agent import Agent
    from legacy_marinenav.policy.networks.encoders import State

MAX_GRADIENT_NORM = 0.5


class Batch(NamedTuple):
    """Transitions as the networks take them; actions, rewards and dones have one row per transition."""

    states: State
    actions: torch.Tensor
    rewards: torch.Tensor
    next_states: State
    dones: torch.Tensor


def sample_continuous(agent: Agent) -> Batch:
    """A batch with real-valued actions ``[B, 2]``."""
    states, actions, rewards, next_states, dones = agent.memory.sample()
    return Batch(
        states=agent.state_to_tensor(states),
        actions=torch.tensor(actions).float().to(agent.device),
        rewards=torch.tensor(rewards).unsqueeze(-1).float().to(agent.device),
        next_states=agent.state_to_tensor(next_states),
        dones=torch.tensor(dones).unsqueeze(-1).float().to(agent.device),
    )


def sample_discrete(agent: Agent) -> Batch:
    """A batch with action indices ``[B, 1]``."""
    states, actions, rewards, next_states, dones = agent.memory.sample()
    return Batch(
        states=agent.state_to_tensor(states),
        actions=torch.tensor(actions).unsqueeze(-1).to(agent.device),
        rewards=torch.tensor(rewards).unsqueeze(-1).float().to(agent.device),
        next_states=agent.state_to_tensor(next_states),
        dones=torch.tensor(dones).unsqueeze(-1).float().to(agent.device),
    )


def descend(loss: torch.Tensor, network: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Backward, clip the gradients of one network, and take its optimizer step."""
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), MAX_GRADIENT_NORM)
    optimizer.step()


def to_host(loss: torch.Tensor) -> np.ndarray:
    """Read a loss back, which waits for the device."""
    return loss.detach().cpu().numpy()
