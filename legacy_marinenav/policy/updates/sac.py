"""Training step of SAC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import mse_loss

from legacy_marinenav.policy.updates.batch import descend, sample_continuous, to_host

if TYPE_CHECKING:
    import numpy as np

    from legacy_marinenav.policy.agent import Agent


def train_sac(agent: Agent) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both critics, then the actor; the next action comes from the target actor. Returns the three losses."""
    batch = sample_continuous(agent)
    local, target = agent.policy_local, agent.policy_target

    with torch.no_grad():
        next_actions, next_log_probs = target.actor(batch.next_states)
        next_values = torch.min(
            target.critic_1(batch.next_states, next_actions),
            target.critic_2(batch.next_states, next_actions),
        )
        next_values = next_values - agent.alpha * next_log_probs
        targets = batch.rewards + agent.GAMMA * next_values * (1.0 - batch.dones)

    critic_1_loss = mse_loss(local.critic_1(batch.states, batch.actions), targets)
    critic_2_loss = mse_loss(local.critic_2(batch.states, batch.actions), targets)
    agent.critic_1_optimizer.zero_grad()
    descend(critic_1_loss, local.critic_1, agent.critic_1_optimizer)
    agent.critic_2_optimizer.zero_grad()
    descend(critic_2_loss, local.critic_2, agent.critic_2_optimizer)

    actions, log_probs = local.actor(batch.states)
    values = torch.min(local.critic_1(batch.states, actions), local.critic_2(batch.states, actions))
    actor_loss = (agent.alpha * log_probs - values).mean()
    agent.actor_optimizer.zero_grad()
    descend(actor_loss, local.actor, agent.actor_optimizer)
    return to_host(critic_1_loss), to_host(critic_2_loss), to_host(actor_loss)
