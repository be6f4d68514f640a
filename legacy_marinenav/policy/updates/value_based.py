"""Training steps of IQN and DQN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn.functional import smooth_l1_loss

from legacy_marinenav.policy.updates.batch import descend, sample_discrete, to_host
from legacy_marinenav.policy.updates.quantile_loss import NUM_TAU, quantile_huber_loss

if TYPE_CHECKING:
    import numpy as np

    from legacy_marinenav.policy.agent import Agent


def train_iqn(agent: Agent) -> np.ndarray:
    """Quantile regression towards the best next action per quantile; returns the loss."""
    batch = sample_discrete(agent)

    agent.optimizer.zero_grad()
    next_quantiles, _ = agent.policy_target(batch.next_states)
    next_quantiles = next_quantiles.detach().max(2)[0].unsqueeze(1)
    rewards, dones = batch.rewards.unsqueeze(-1), batch.dones.unsqueeze(-1)
    targets = rewards + agent.GAMMA * next_quantiles * (1.0 - dones)
    quantiles, taus = agent.policy_local(batch.states)
    actions = batch.actions.unsqueeze(-1).expand(agent.BATCH_SIZE, NUM_TAU, 1)
    loss = quantile_huber_loss(targets, quantiles.gather(2, actions), taus)
    descend(loss, agent.policy_local, agent.optimizer)
    return to_host(loss)


def train_dqn(agent: Agent) -> np.ndarray:
    """One-step target without a detach, so that the target network collects gradients nobody uses."""
    batch = sample_discrete(agent)

    agent.optimizer.zero_grad()
    next_values = agent.policy_target(batch.next_states).max(dim=1, keepdim=True)[0]
    targets = batch.rewards + (1.0 - batch.dones) * agent.GAMMA * next_values
    values = agent.policy_local(batch.states).gather(1, batch.actions)
    loss = smooth_l1_loss(values, targets)
    descend(loss, agent.policy_local, agent.optimizer)
    return to_host(loss)
