"""Training steps of AC-IQN and DDPG: a critic step, then an actor step through the critic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn.functional import smooth_l1_loss

from legacy_marinenav.policy.updates.batch import descend, sample_continuous, to_host
from legacy_marinenav.policy.updates.quantile_loss import quantile_huber_loss

if TYPE_CHECKING:
    import numpy as np

    from legacy_marinenav.policy.agent import Agent


def train_ac_iqn(agent: Agent) -> tuple[np.ndarray, np.ndarray]:
    """Critic by quantile regression, actor by the mean quantile; returns both losses."""
    batch = sample_continuous(agent)
    local, target = agent.policy_local, agent.policy_target

    agent.critic_optimizer.zero_grad()
    next_actions = target.actor(batch.next_states).detach()
    next_quantiles, _ = target.critic(batch.next_states, next_actions)
    next_quantiles = next_quantiles.detach().unsqueeze(1)
    rewards, dones = batch.rewards.unsqueeze(-1), batch.dones.unsqueeze(-1)
    targets = rewards + agent.GAMMA * next_quantiles * (1.0 - dones)
    quantiles, taus = local.critic(batch.states, batch.actions)
    critic_loss = quantile_huber_loss(targets, quantiles.unsqueeze(-1), taus)
    descend(critic_loss, local.critic, agent.critic_optimizer)

    agent.actor_optimizer.zero_grad()
    quantiles, _ = local.critic(batch.states, local.actor(batch.states))
    actor_loss = -quantiles.mean()
    descend(actor_loss, local.actor, agent.actor_optimizer)
    return to_host(critic_loss), to_host(actor_loss)


def train_ddpg(agent: Agent) -> tuple[np.ndarray, np.ndarray]:
    """Critic by the one-step target, actor by the critic; returns both losses."""
    batch = sample_continuous(agent)
    local, target = agent.policy_local, agent.policy_target

    agent.critic_optimizer.zero_grad()
    next_actions = target.actor(batch.next_states).detach()
    next_values = target.critic(batch.next_states, next_actions).detach()
    targets = batch.rewards + agent.GAMMA * next_values * (1.0 - batch.dones)
    critic_loss = smooth_l1_loss(local.critic(batch.states, batch.actions), targets)
    descend(critic_loss, local.critic, agent.critic_optimizer)

    agent.actor_optimizer.zero_grad()
    actor_loss = -local.critic(batch.states, local.actor(batch.states)).mean()
    descend(actor_loss, local.actor, agent.actor_optimizer)
    return to_host(critic_loss), to_host(actor_loss)
