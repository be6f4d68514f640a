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
    return _earned(networks, agent, inputs, next_quantiles).unsqueeze(1)


@torch.no_grad()
def of_ddpg(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Values ``[B, 1]``."""
    target, next_states = agent.policy_target, inputs.next_states()
    next_actions = networks.deterministic_actions(target.actor, next_states)
    next_values = networks.critic_values(target.critic, next_states, next_actions)
    return _earned(networks, agent, inputs, next_values)


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
    return _earned(networks, agent, inputs, next_values)


@torch.no_grad()
def of_iqn(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Quantiles ``[B, 1, 8]``."""
    next_quantiles = networks.all_quantiles(
        agent.policy_target, inputs.next_states(), inputs.fractions[0]
    )
    return _earned(networks, agent, inputs, next_quantiles.max(2)[0]).unsqueeze(1)


@torch.no_grad()
def of_dqn(networks: Any, agent: Any, inputs: UpdateInputs) -> Tensor:
    """Values ``[B, 1]``."""
    next_values = networks.action_values(agent.policy_target, inputs.next_states())
    next_values = next_values.max(dim=1, keepdim=True)[0]
    return _earned(networks, agent, inputs, next_values, rest_first=True)


def _earned(
    networks: Any, agent: Any, inputs: UpdateInputs, values: Tensor, *, rest_first: bool = False
) -> Tensor:
    """Rewards plus what the values ``[B, M]`` that follow are worth, if anything follows."""
    earn = getattr(networks, "earned", None)  # only compiled ones
    if earn is not None and type(agent.GAMMA) is float:  # torch knows others, too
        earned: Tensor = earn(inputs.rows, values, agent.GAMMA, rest_first=rest_first)
        return earned
    rest = 1.0 - inputs.dones()
    later: Tensor = rest * agent.GAMMA * values if rest_first else agent.GAMMA * values * rest
    return inputs.rewards() + later
