"""One network after the other learns from a batch, by autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.functional import mse_loss, smooth_l1_loss

from patches.marinenav import forwards, projection
from patches.marinenav.step5_merge.descent import descend

if TYPE_CHECKING:
    from torch import Tensor

    from patches.marinenav.batches import UpdateInputs
    from patches.marinenav.observations import Observation
    from patches.marinenav.step5_merge.rainbow_update import Sampled

networks = forwards
"""How networks are asked where nothing is learned."""
project = projection.project


def renew_noise(network: Any) -> None:
    """Draw new noise for all noisy layers of Rainbow's network."""
    network.reset_noise()


def critic_of_ac_iqn(
    agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
) -> Tensor:
    """Quantiles of the actions that were taken; the loss."""
    critic, taus = agent.policy_local.critic, inputs.fractions[1]
    quantiles = forwards.critic_quantiles(critic, states, taus, inputs.actions())
    loss = quantile_huber_loss(wanted, quantiles.unsqueeze(-1), taus)
    descend(loss, critic, agent.critic_optimizer)
    return loss


def actor_of_ac_iqn(agent: Any, inputs: UpdateInputs, states: Observation) -> Tensor:
    """Actions whose quantiles are higher; the loss."""
    actor, critic = agent.policy_local.actor, agent.policy_local.critic
    with torch.no_grad():  # the actor's gradient comes through the action alone
        hidden = forwards.quantile_hidden(critic, states, inputs.fractions[2])
    actions = forwards.deterministic_actions(actor, states)
    loss = -forwards.action_quantiles(critic, hidden, actions).mean()
    descend(loss, actor, agent.actor_optimizer)
    return loss


def quantile_huber_loss(targets: Tensor, quantiles: Tensor, taus: Tensor) -> Tensor:
    """Of quantiles ``[B, T, 1]`` at fractions ``[B, T, 1]``, compared with each of the targets ``[B, 1, M]``."""
    errors = targets - quantiles
    sizes = errors.abs()
    huber = torch.where(sizes <= 1.0, 0.5 * errors.pow(2), 1.0 * (sizes - 0.5))
    weights = (taus - (errors.detach() < 0).float()).abs()
    return (weights * huber / 1.0).sum(dim=1).mean(dim=1).mean()


def critic_of_ddpg(agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor) -> Tensor:
    """Values of the actions that were taken; the loss."""
    critic = agent.policy_local.critic
    loss = smooth_l1_loss(forwards.critic_values(critic, states, inputs.actions()), wanted)
    descend(loss, critic, agent.critic_optimizer)
    return loss


def actor_of_ddpg(agent: Any, _: UpdateInputs, states: Observation) -> Tensor:
    """Actions whose values are higher; the loss."""
    actor, critic = agent.policy_local.actor, agent.policy_local.critic
    with torch.no_grad():
        hidden = forwards.state_action_hidden(critic, states)
    actions = forwards.deterministic_actions(actor, states)
    loss = -forwards.state_action_values(critic, hidden, actions).mean()
    descend(loss, actor, agent.actor_optimizer)
    return loss


def critics_of_sac(
    agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor
) -> tuple[Tensor, Tensor]:
    """Values of the actions that were taken; the losses of both critics."""
    local = agent.policy_local
    first, second = (
        mse_loss(forwards.critic_values(critic, states, inputs.actions()), wanted)
        for critic in (local.critic_1, local.critic_2)
    )
    descend(first, local.critic_1, agent.critic_1_optimizer)
    descend(second, local.critic_2, agent.critic_2_optimizer)
    return first, second


def actor_of_sac(agent: Any, inputs: UpdateInputs, states: Observation) -> Tensor:
    """Actions whose values are higher, and not too certain; the loss."""
    local = agent.policy_local
    with torch.no_grad():
        hidden_1 = forwards.state_action_hidden(local.critic_1, states)
        hidden_2 = forwards.state_action_hidden(local.critic_2, states)
    actions, log_probs = forwards.sampled_actions_with_log_probs(
        local.actor, states, inputs.normals[1]
    )
    values = torch.min(
        forwards.state_action_values(local.critic_1, hidden_1, actions),
        forwards.state_action_values(local.critic_2, hidden_2, actions),
    )
    loss: Tensor = (agent.alpha * log_probs - values).mean()
    descend(loss, local.actor, agent.actor_optimizer)
    return loss


def values_of_iqn(agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor) -> Tensor:
    """Quantiles of the actions that were taken; the loss."""
    network, taus = agent.policy_local, inputs.fractions[1]
    quantiles = forwards.all_quantiles(network, states, taus)
    actions = inputs.action_indices().unsqueeze(-1).expand(*quantiles.shape[:2], 1)
    loss = quantile_huber_loss(wanted, quantiles.gather(2, actions), taus)
    descend(loss, network, agent.optimizer)
    return loss


def values_of_dqn(agent: Any, inputs: UpdateInputs, states: Observation, wanted: Tensor) -> Tensor:
    """Values of the actions that were taken; the loss."""
    network = agent.policy_local
    values = forwards.action_values(network, states).gather(1, inputs.action_indices())
    loss = smooth_l1_loss(values, wanted)
    descend(loss, network, agent.optimizer)
    return loss


class Heard(NamedTuple):
    """What Rainbow's network says about the states of a batch, with what it takes to learn from it."""

    weights: forwards.Weights
    atoms: Tensor
    """Logarithms of their probabilities; to compiled code, what is to become those."""
    answer: Any = None


def hear_rainbow(agent: Any, batch: Sampled) -> Heard:
    """Ask, with noisy weights that are computed once per update."""
    network = agent.policy_local
    weights = forwards.noisy_weights(network, with_noise=network.training)
    return Heard(weights, forwards.atom_log_probs(network, batch.states, weights))


def atoms_of_rainbow(
    agent: Any, batch: Sampled, rows: Tensor, wanted: Tensor, heard: Heard
) -> Tensor:
    """Probabilities of the actions that were taken; the loss of each sample."""
    loss = -torch.sum(wanted * heard.atoms[rows, batch.actions], 1)
    weighted = (batch.weights * loss).mean()
    descend(weighted, agent.policy_local, agent.optimizer, clears_network=True)
    return loss
