"""The training steps of all agents over rows that are on the device already.

Replaces: policy.agent:Agent.train and soft_update (policy.updates.* and what they call)
Removes:  graphs through target networks and through parts of a critic that the actor's gradient does not
          pass, argument validation, noisy weights computed twice, a conversion and an upload per input; on the
          host, where compiled code agrees, autograd
Keeps:    draws and their order, every product and sum that reaches a loss or a parameter, optimizer state,
          what `train` returns (read at once without step 2, when looked at with it)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from legacy_marinenav.policy.agent import Agent
from patches.blocks.lazy_losses import loss_of, read_loss
from patches.marinenav.agents import Notes, notes_of
from patches.marinenav.batches import draw_inputs
from patches.marinenav.guards import Learners, followers_of, learners_of
from patches.marinenav.step5_merge import descent, targets
from patches.marinenav.step5_merge.learning import learning_for, rows_apart
from patches.marinenav.step5_merge.rainbow_update import train_rainbow

if TYPE_CHECKING:
    from torch import Tensor

_legacy_train = Agent.train
_legacy_soft_update = Agent.soft_update


def train(self: Any) -> Any:
    """`Agent.train`: one update; its losses as legacy returns them, or read when looked at."""
    notes = notes_of(self)
    learners = None if notes is None else learners_of(self)
    if notes is None or learners is None:
        return _legacy_train(self)
    losses = _UPDATES[self.agent_type](self, notes, learners)
    wrap = loss_of if notes.settings.has(2) else read_loss
    found = tuple(wrap(loss) for loss in losses)
    return found if len(found) > 1 else found[0]


def soft_update(self: Any) -> None:
    """`Agent.soft_update`: move the target network towards the local one."""
    found = None if notes_of(self) is None else followers_of(self)
    if found is None:
        _legacy_soft_update(self)
    else:
        descent.soft_update(*found, self.TAU)


def _train_ac_iqn(agent: Any, notes: Notes, learners: Learners) -> tuple[Tensor, ...]:
    inputs = rows_apart(notes, draw_inputs(agent, notes, fractions=3))
    states = inputs.states()
    learning = learning_for(agent, learners, states)
    wanted = targets.of_ac_iqn(learning.networks, agent, inputs)
    return (
        learning.critic_of_ac_iqn(agent, inputs, states, wanted),
        learning.actor_of_ac_iqn(agent, inputs, states),
    )


def _train_ddpg(agent: Any, notes: Notes, learners: Learners) -> tuple[Tensor, ...]:
    inputs = rows_apart(notes, draw_inputs(agent, notes))
    states = inputs.states()
    learning = learning_for(agent, learners, states)
    wanted = targets.of_ddpg(learning.networks, agent, inputs)
    return (
        learning.critic_of_ddpg(agent, inputs, states, wanted),
        learning.actor_of_ddpg(agent, inputs, states),
    )


def _train_sac(agent: Any, notes: Notes, learners: Learners) -> tuple[Tensor, ...]:
    inputs = rows_apart(notes, draw_inputs(agent, notes, normals=2))
    states = inputs.states()
    learning = learning_for(agent, learners, states)
    wanted = targets.of_sac(learning.networks, agent, inputs)
    return (
        *learning.critics_of_sac(agent, inputs, states, wanted),
        learning.actor_of_sac(agent, inputs, states),
    )


def _train_iqn(agent: Any, notes: Notes, learners: Learners) -> tuple[Tensor, ...]:
    inputs = rows_apart(notes, draw_inputs(agent, notes, fractions=2))
    states = inputs.states()
    learning = learning_for(agent, learners, states)
    wanted = targets.of_iqn(learning.networks, agent, inputs)
    return (learning.values_of_iqn(agent, inputs, states, wanted),)


def _train_dqn(agent: Any, notes: Notes, learners: Learners) -> tuple[Tensor, ...]:
    inputs = rows_apart(notes, draw_inputs(agent, notes))
    states = inputs.states()
    learning = learning_for(agent, learners, states)
    wanted = targets.of_dqn(learning.networks, agent, inputs)
    return (learning.values_of_dqn(agent, inputs, states, wanted),)


_UPDATES = {
    "AC-IQN": _train_ac_iqn,
    "IQN": _train_iqn,
    "DDPG": _train_ddpg,
    "DQN": _train_dqn,
    "SAC": _train_sac,
    "Rainbow": train_rainbow,
}
