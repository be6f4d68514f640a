"""Rainbow's training step over a prioritised batch that is on the device already.

Replaces: policy.updates.rainbow:train_rainbow
Removes:  index ranges made per update, the noisy weights of the local network computed twice, probabilities of
          the target for actions that are not its best
Keeps:    draws and their order (target noise included), every sum in its order, priorities, the losses returned

The one read of the losses stays: priorities live in a tree on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from patches.blocks.device_replay import DeviceReplay
from patches.blocks.staging import Segment
from patches.marinenav import forwards
from patches.marinenav.agents import waiting_rows
from patches.marinenav.rows import OBJECTS, OWN, SEEN
from patches.marinenav.step5_merge.learning import (
    draw_by_priority,
    learning_for,
    set_priorities,
    states_apart,
)

if TYPE_CHECKING:
    from patches.marinenav.agents import Notes
    from patches.marinenav.guards import Learners


class Sampled:
    """A batch of Rainbow on the device."""

    def __init__(
        self, notes: Notes, tree_indices: Any, rows: Tensor, sent: dict[str, Tensor], returns: Tensor
    ) -> None:  # fmt: skip
        self.tree_indices = tree_indices
        self.states, self.next_states = states_apart(notes, rows)
        self.actions = sent["actions"]
        self.returns = returns
        self.nonterminals = sent["nonterminals"]
        self.weights = sent["weights"]


def train_rainbow(agent: Any, notes: Notes, learners: Learners) -> tuple[Tensor, ...]:
    """Cross entropy to the projected target distribution; the loss of each sample."""
    batch = sample(agent, notes)
    rows = _index_range(notes, agent.BATCH_SIZE)
    learning = learning_for(agent, learners, batch.states)
    heard = learning.hear_rainbow(agent, batch)
    projected = _wanted(learning, agent, notes, batch, rows, heard.weights)
    loss = learning.atoms_of_rainbow(agent, batch, rows, projected, heard)
    losses = notes.reads.read(loss.detach()).numpy()
    set_priorities(agent.memory, batch.tree_indices, losses)
    return (loss,)


@torch.no_grad()
def _wanted(
    learning: Any, agent: Any, notes: Notes, batch: Sampled, rows: Tensor, weights: Any
) -> Tensor:
    """The distribution of returns that atoms are drawn to, ``[B, 51]``."""
    network, target, networks = agent.policy_local, agent.policy_target, learning.networks
    probs = networks.atom_probs(network, batch.next_states, weights)
    best = (agent.support.expand_as(probs) * probs).sum(2).argmax(1)
    learning.renew_noise(target)
    target_weights = (
        networks.noisy_weights_at_once(target)
        if target.training
        else forwards.noisy_weights(target, with_noise=False)
    )
    target_probs = networks.atom_probs_of(target, batch.next_states, target_weights, rows, best)
    found: Tensor = learning.project(agent, notes, target_probs, batch.returns, batch.nonterminals)
    return found


def sample(agent: Any, notes: Notes) -> Sampled:
    """Draw a batch and send what the device needs to know about it, with the rows that wait."""
    memory = agent.memory
    if not isinstance(agent.memory, DeviceReplay):
        return _sample_legacy(agent, notes)
    drawn = draw_by_priority(memory, agent.BATCH_SIZE)
    pending = waiting_rows(agent)
    views = notes.update.open(
        (agent.BATCH_SIZE, memory.n, pending.shape),
        lambda: (*drawn.sections(), Segment("pending", pending.shape)),
    )
    drawn.write(views.arrays)
    if len(pending):
        views.arrays["pending"][:] = pending
    sent = notes.update.send()
    if len(pending):
        memory.commit(sent["pending"])
    memory.flush()
    device = memory.storage.device
    rows = memory.storage.gather(sent["slots"].to(device)).to(notes.device)
    returns = torch.matmul(sent["rewards"], memory.n_step_scaling)
    return Sampled(notes, drawn.tree_indices, rows, sent, returns)


def _sample_legacy(agent: Any, notes: Notes) -> Sampled:
    indices, states, actions, returns, next_states, nonterminals, weights = agent.memory.sample(
        agent.BATCH_SIZE
    )
    rows = torch.cat([_as_rows(states), _as_rows(next_states)])
    sent = {"actions": actions, "nonterminals": nonterminals, "weights": weights}
    return Sampled(notes, indices, rows, sent, returns)


def _as_rows(state: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    own, objects, masks = state
    return torch.cat((own.view(-1, OWN), objects.view(-1, SEEN), masks.view(-1, OBJECTS)), 1)


def _index_range(notes: Notes, size: int) -> Tensor:
    return notes.constant(("range", size), lambda: torch.arange(size, device=notes.device))
