"""Rainbow's training step over a prioritised batch that is on the device already.

Replaces: policy.updates.rainbow:train_rainbow, project_distribution
Removes:  boolean-mask updates (each waits for the device), index ranges and offsets made per update, the noisy
          weights of the local network computed twice
Keeps:    draws and their order (target noise included), every sum in its order, priorities, the losses returned

The one read of the losses stays: priorities live in a tree on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from patches import forwards
from patches.decisions import waiting_rows
from patches.descent import descend
from patches.device_priority_replay import DeviceReplayMemory
from patches.forwards import observation_of
from patches.rows import OBJECTS, OWN, SEEN
from patches.staging import Section

if TYPE_CHECKING:
    from patches.agents import Notes


class Sampled:
    """A batch of Rainbow on the device."""

    def __init__(
        self, tree_indices: Any, rows: Tensor, sent: dict[str, Tensor], returns: Tensor
    ) -> None:
        self.tree_indices = tree_indices
        half = len(rows) // 2
        self.states = observation_of(rows[:half], has_objects=True)
        self.next_states = observation_of(rows[half:], has_objects=True)
        self.actions = sent["actions"]
        self.returns = returns
        self.nonterminals = sent["nonterminals"]
        self.weights = sent["weights"]


def train_rainbow(agent: Any, notes: Notes) -> tuple[Tensor, ...]:
    """Cross entropy to the projected target distribution; the loss of each sample."""
    batch = sample(agent, notes)
    network, target = agent.policy_local, agent.policy_target
    rows = _index_range(notes, agent.BATCH_SIZE)

    weights = forwards.noisy_weights(network, with_noise=network.training)
    log_probs = forwards.atom_log_probs(network, batch.states, weights)
    chosen = log_probs[rows, batch.actions]
    with torch.no_grad():
        probs = forwards.atom_probs(network, batch.next_states, weights)
        best = (agent.support.expand_as(probs) * probs).sum(2).argmax(1)
        target.reset_noise()
        target_weights = (
            forwards.noisy_weights_at_once(target)
            if target.training
            else forwards.noisy_weights(target, with_noise=False)
        )
        target_probs = forwards.atom_probs(target, batch.next_states, target_weights)[rows, best]
        projected = project(agent, notes, target_probs, batch.returns, batch.nonterminals)

    loss = -torch.sum(projected * chosen, 1)
    descend((batch.weights * loss).mean(), network, agent.optimizer, clears_network=True)
    agent.memory.update_priorities(batch.tree_indices, notes.reads.read(loss.detach()).numpy())
    return (loss,)


def sample(agent: Any, notes: Notes) -> Sampled:
    """Draw a batch and send what the device needs to know about it, with the rows that wait."""
    memory = agent.memory
    if not isinstance(memory, DeviceReplayMemory):
        return _sample_legacy(agent)
    drawn = memory.draw(agent.BATCH_SIZE)
    pending = waiting_rows(agent)
    views = notes.update.open(
        (agent.BATCH_SIZE, pending.shape),
        lambda: (*drawn.sections(), Section("pending", pending.shape)),
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
    return Sampled(drawn.tree_indices, rows, sent, returns)


def _sample_legacy(agent: Any) -> Sampled:
    indices, states, actions, returns, next_states, nonterminals, weights = agent.memory.sample(
        agent.BATCH_SIZE
    )
    rows = torch.cat([_as_rows(states), _as_rows(next_states)])
    sent = {"actions": actions, "nonterminals": nonterminals, "weights": weights}
    return Sampled(indices, rows, sent, returns)


def _as_rows(state: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    own, objects, masks = state
    return torch.cat((own.view(-1, OWN), objects.view(-1, SEEN), masks.view(-1, OBJECTS)), 1)


def _index_range(notes: Notes, size: int) -> Tensor:
    key = ("range", size)
    if key not in notes.constants or not notes.settings.has(3):
        notes.constants[key] = torch.arange(size, device=notes.device)
    return notes.constants[key]


def _offsets(agent: Any, notes: Notes, batch: int) -> Tensor:
    key = ("offsets", batch, agent.atoms)
    if key not in notes.constants or not notes.settings.has(3):
        # Through float32, as legacy does it, whatever that rounds to.
        line = torch.linspace(0, (batch - 1) * agent.atoms, batch).unsqueeze(1)
        line = line.expand(batch, agent.atoms).to(torch.int64)
        notes.constants[key] = line.to(notes.device)
    return notes.constants[key]


def project(
    agent: Any, notes: Notes, probs: Tensor, returns: Tensor, nonterminals: Tensor
) -> Tensor:
    """Shift and shrink distributions ``[B, 51]`` and share them out between the atoms."""
    size = agent.BATCH_SIZE
    positions = returns.unsqueeze(1) + nonterminals * (
        agent.GAMMA**agent.n
    ) * agent.support.unsqueeze(0)
    positions = positions.clamp(min=agent.Vmin, max=agent.Vmax)
    b = (positions - agent.Vmin) / agent.delta_z
    lower, upper = b.floor().to(torch.int64), b.ceil().to(torch.int64)
    # A position exactly on an atom would lose its mass: both shares would be zero.
    lower = lower - ((upper > 0) & (lower == upper)).to(torch.int64)
    upper = upper + ((lower < (agent.atoms - 1)) & (lower == upper)).to(torch.int64)

    projected = returns.new_zeros(size, agent.atoms)
    offset = _offsets(agent, notes, size)
    flat = projected.view(-1)
    flat.index_add_(0, (lower + offset).view(-1), (probs * (upper.float() - b)).view(-1))
    flat.index_add_(0, (upper + offset).view(-1), (probs * (b - lower.float())).view(-1))
    return projected
