"""The training steps of all agents over rows that are on the device already.

Replaces: policy.agent:Agent.train and soft_update (policy.updates.* and what they call)
Removes:  graphs through target networks and through parts of a critic that the actor's gradient does not
          pass, argument validation, noisy weights computed twice, a conversion and an upload per input
Keeps:    draws and their order, every product and sum that reaches a loss or a parameter, optimizer state,
          what `train` returns (read at once without step 2, when looked at with it)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import mse_loss, smooth_l1_loss

from legacy_marinenav.policy.agent import Agent
from patches.blocks.lazy_losses import loss_of, read_loss
from patches.marinenav import forwards
from patches.marinenav.agents import Notes, notes_of
from patches.marinenav.batches import draw_inputs
from patches.marinenav.guards import follows_as_legacy, learns_as_legacy
from patches.marinenav.step5_merge import descent
from patches.marinenav.step5_merge.descent import descend
from patches.marinenav.step5_merge.rainbow_update import train_rainbow

if TYPE_CHECKING:
    from patches.marinenav.observations import Observation

_legacy_train = Agent.train
_legacy_soft_update = Agent.soft_update


def train(self: Any) -> Any:
    """`Agent.train`: one update; its losses as legacy returns them, or read when looked at."""
    notes = notes_of(self)
    if notes is None or not learns_as_legacy(self):
        return _legacy_train(self)
    losses = _UPDATES[self.agent_type](self, notes)
    wrap = loss_of if notes.settings.has(2) else read_loss
    found = tuple(wrap(loss) for loss in losses)
    return found if len(found) > 1 else found[0]


def soft_update(self: Any) -> None:
    """`Agent.soft_update`: move the target network towards the local one."""
    if notes_of(self) is None or not follows_as_legacy(self):
        _legacy_soft_update(self)
    else:
        descent.soft_update(self)


def _train_ac_iqn(agent: Any, notes: Notes) -> tuple[Tensor, ...]:
    inputs = draw_inputs(agent, notes, fractions=3)
    local, target = agent.policy_local, agent.policy_target
    states, rewards, dones = inputs.states(), inputs.rewards(), inputs.dones()
    with torch.no_grad():
        next_states = inputs.next_states()
        next_actions = forwards.deterministic_actions(target.actor, next_states)
        hidden = forwards.quantile_hidden(target.critic, next_states, inputs.fractions[0])
        next_quantiles = forwards.action_quantiles(target.critic, hidden, next_actions)
        targets = rewards.unsqueeze(-1) + agent.GAMMA * next_quantiles.unsqueeze(1) * (
            1.0 - dones.unsqueeze(-1)
        )
    hidden = forwards.quantile_hidden(local.critic, states, inputs.fractions[1])
    quantiles = forwards.action_quantiles(local.critic, hidden, inputs.actions())
    critic_loss = _quantile_huber_loss(targets, quantiles.unsqueeze(-1), inputs.fractions[1])
    descend(critic_loss, local.critic, agent.critic_optimizer)

    with torch.no_grad():  # the actor's gradient comes through the action alone
        hidden = forwards.quantile_hidden(local.critic, states, inputs.fractions[2])
    actions = forwards.deterministic_actions(local.actor, states)
    actor_loss = -forwards.action_quantiles(local.critic, hidden, actions).mean()
    descend(actor_loss, local.actor, agent.actor_optimizer)
    return critic_loss, actor_loss


def _quantile_huber_loss(targets: Tensor, quantiles: Tensor, taus: Tensor) -> Tensor:
    errors = targets - quantiles
    sizes = errors.abs()
    huber = torch.where(sizes <= 1.0, 0.5 * errors.pow(2), 1.0 * (sizes - 0.5))
    weights = (taus - (errors.detach() < 0).float()).abs()
    return (weights * huber / 1.0).sum(dim=1).mean(dim=1).mean()


def _train_ddpg(agent: Any, notes: Notes) -> tuple[Tensor, ...]:
    inputs = draw_inputs(agent, notes)
    local, target = agent.policy_local, agent.policy_target
    states = inputs.states()
    with torch.no_grad():
        next_states = inputs.next_states()
        next_actions = forwards.deterministic_actions(target.actor, next_states)
        next_values = _critic_values(target.critic, next_states, next_actions)
        targets = inputs.rewards() + agent.GAMMA * next_values * (1.0 - inputs.dones())
    critic_loss = smooth_l1_loss(_critic_values(local.critic, states, inputs.actions()), targets)
    descend(critic_loss, local.critic, agent.critic_optimizer)

    with torch.no_grad():
        hidden = forwards.state_action_hidden(local.critic, states)
    actions = forwards.deterministic_actions(local.actor, states)
    actor_loss = -forwards.state_action_values(local.critic, hidden, actions).mean()
    descend(actor_loss, local.actor, agent.actor_optimizer)
    return critic_loss, actor_loss


def _critic_values(critic: Any, seen: Observation, actions: Tensor) -> Tensor:
    return forwards.state_action_values(critic, forwards.state_action_hidden(critic, seen), actions)


def _train_sac(agent: Any, notes: Notes) -> tuple[Tensor, ...]:
    inputs = draw_inputs(agent, notes, normals=2)
    local, target = agent.policy_local, agent.policy_target
    states = inputs.states()
    with torch.no_grad():
        next_states = inputs.next_states()
        next_actions, next_log_probs = forwards.sampled_actions_with_log_probs(
            target.actor, next_states, inputs.normals[0]
        )
        next_values = torch.min(
            _critic_values(target.critic_1, next_states, next_actions),
            _critic_values(target.critic_2, next_states, next_actions),
        )
        next_values = next_values - agent.alpha * next_log_probs
        targets = inputs.rewards() + agent.GAMMA * next_values * (1.0 - inputs.dones())

    actions = inputs.actions()
    critic_1_loss = mse_loss(_critic_values(local.critic_1, states, actions), targets)
    critic_2_loss = mse_loss(_critic_values(local.critic_2, states, actions), targets)
    descend(critic_1_loss, local.critic_1, agent.critic_1_optimizer)
    descend(critic_2_loss, local.critic_2, agent.critic_2_optimizer)

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
    actor_loss = (agent.alpha * log_probs - values).mean()
    descend(actor_loss, local.actor, agent.actor_optimizer)
    return critic_1_loss, critic_2_loss, actor_loss


def _train_iqn(agent: Any, notes: Notes) -> tuple[Tensor, ...]:
    inputs = draw_inputs(agent, notes, fractions=2)
    network = agent.policy_local
    rewards, dones = inputs.rewards().unsqueeze(-1), inputs.dones().unsqueeze(-1)
    with torch.no_grad():
        next_quantiles = forwards.all_quantiles(
            agent.policy_target, inputs.next_states(), inputs.fractions[0]
        )
        next_quantiles = next_quantiles.max(2)[0].unsqueeze(1)
        targets = rewards + agent.GAMMA * next_quantiles * (1.0 - dones)
    quantiles = forwards.all_quantiles(network, inputs.states(), inputs.fractions[1])
    actions = inputs.action_indices().unsqueeze(-1).expand(*quantiles.shape[:2], 1)
    loss = _quantile_huber_loss(targets, quantiles.gather(2, actions), inputs.fractions[1])
    descend(loss, network, agent.optimizer)
    return (loss,)


def _train_dqn(agent: Any, notes: Notes) -> tuple[Tensor, ...]:
    inputs = draw_inputs(agent, notes)
    network = agent.policy_local
    with torch.no_grad():
        next_values = forwards.action_values(agent.policy_target, inputs.next_states())
        next_values = next_values.max(dim=1, keepdim=True)[0]
        targets = inputs.rewards() + (1.0 - inputs.dones()) * agent.GAMMA * next_values
    values = forwards.action_values(network, inputs.states()).gather(1, inputs.action_indices())
    loss = smooth_l1_loss(values, targets)
    descend(loss, network, agent.optimizer)
    return (loss,)


_UPDATES = {
    "AC-IQN": _train_ac_iqn,
    "IQN": _train_iqn,
    "DDPG": _train_ddpg,
    "DQN": _train_dqn,
    "SAC": _train_sac,
    "Rainbow": train_rainbow,
}
