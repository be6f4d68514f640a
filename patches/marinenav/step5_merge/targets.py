"""What the values of a batch are drawn to: rewards, and what the target networks make of the next states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from patches.marinenav.batches import UpdateInputs


@torch.no_grad()
def of_ac_iqn(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Quantiles ``[B, 1, 8]``; networks are asked by `forwards`, or by compiled code as it is."""
    target, next_states = agent.policy_target, inputs.next_states()
    next_actions = networks.deterministic_actions(target.actor, next_states)
    next_quantiles = networks.critic_quantiles(
        target.critic, next_states, inputs.fractions[0], next_actions
    )
    rewards, dones = inputs.rewards().unsqueeze(-1), inputs.dones().unsqueeze(-1)
    wanted: Tensor = rewards + agent.GAMMA * next_quantiles.unsqueeze(1) * (1.0 - dones)
    return wanted


@torch.no_grad()
def of_ddpg(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Values ``[B, 1]``."""
    target, next_states = agent.policy_target, inputs.next_states()
    next_actions = networks.deterministic_actions(target.actor, next_states)
    next_values = networks.critic_values(target.critic, next_states, next_actions)
    wanted: Tensor = inputs.rewards() + agent.GAMMA * next_values * (1.0 - inputs.dones())
    return wanted


@torch.no_grad()
def of_sac(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Values ``[B, 1]``."""
    target, next_states = agent.policy_target, inputs.next_states()
    next_actions, next_log_probs = networks.sampled_actions_with_log_probs(
        target.actor, next_states, inputs.normals[0]
    )
    critics = target.critic_1, target.critic_2
    both = networks.both_critic_values(critics, next_states, next_actions)
    next_values = torch.min(*both) - agent.alpha * next_log_probs
    wanted: Tensor = inputs.rewards() + agent.GAMMA * next_values * (1.0 - inputs.dones())
    return wanted


@torch.no_grad()
def of_iqn(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Quantiles ``[B, 1, 8]``."""
    next_quantiles = networks.all_quantiles(
        agent.policy_target, inputs.next_states(), inputs.fractions[0]
    )
    next_quantiles = next_quantiles.max(2)[0].unsqueeze(1)
    rewards, dones = inputs.rewards().unsqueeze(-1), inputs.dones().unsqueeze(-1)
    wanted: Tensor = rewards + agent.GAMMA * next_quantiles * (1.0 - dones)
    return wanted


@torch.no_grad()
def of_dqn(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Values ``[B, 1]``."""
    next_values = networks.action_values(agent.policy_target, inputs.next_states())
    next_values = next_values.max(dim=1, keepdim=True)[0]
    wanted: Tensor = inputs.rewards() + (1.0 - inputs.dones()) * agent.GAMMA * next_values
    return wanted
