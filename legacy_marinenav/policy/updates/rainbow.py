"""Training step of Rainbow: the categorical n-step update on a prioritised batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from legacy_marinenav.policy.updates.batch import descend, to_host

if TYPE_CHECKING:
    import numpy as np

    from legacy_marinenav.policy.agent import Agent


def train_rainbow(agent: Agent) -> np.ndarray:
    """Cross entropy to the projected target distribution; returns the loss of each sample."""
    batch_size = agent.BATCH_SIZE
    sampled = agent.memory.sample(batch_size)
    tree_indices, states, actions, returns, next_states, nonterminals, weights = sampled

    log_probs = agent.policy_local(states, log=True)
    chosen_log_probs = log_probs[range(batch_size), actions]

    with torch.no_grad():
        next_probs = agent.policy_local(next_states)
        expectations = (agent.support.expand_as(next_probs) * next_probs).sum(2)
        best_actions = expectations.argmax(1)
        agent.policy_target.reset_noise()
        target_probs = agent.policy_target(next_states)[range(batch_size), best_actions]
        projected = project_distribution(agent, target_probs, returns, nonterminals)

    loss = -torch.sum(projected * chosen_log_probs, 1)
    agent.policy_local.zero_grad()
    descend((weights * loss).mean(), agent.policy_local, agent.optimizer)

    agent.memory.update_priorities(tree_indices, to_host(loss))
    return to_host(loss)


def project_distribution(
    agent: Agent, probs: torch.Tensor, returns: torch.Tensor, nonterminals: torch.Tensor
) -> torch.Tensor:
    """Shift and shrink distributions ``[B, 51]`` by the n-step return and share them out between the atoms."""
    batch_size = agent.BATCH_SIZE
    positions = returns.unsqueeze(1) + nonterminals * (
        agent.GAMMA**agent.n
    ) * agent.support.unsqueeze(0)
    positions = positions.clamp(min=agent.Vmin, max=agent.Vmax)
    b = (positions - agent.Vmin) / agent.delta_z
    lower, upper = b.floor().to(torch.int64), b.ceil().to(torch.int64)
    # A position exactly on an atom would lose its mass: both shares would be zero.
    lower[(upper > 0) * (lower == upper)] -= 1
    upper[(lower < (agent.atoms - 1)) * (lower == upper)] += 1

    projected = returns.new_zeros(batch_size, agent.atoms)
    offset = torch.linspace(0, (batch_size - 1) * agent.atoms, batch_size).unsqueeze(1)
    offset = offset.expand(batch_size, agent.atoms).to(torch.int64).to(agent.device)
    projected.view(-1).index_add_(
        0, (lower + offset).view(-1), (probs * (upper.float() - b)).view(-1)
    )
    projected.view(-1).index_add_(
        0, (upper + offset).view(-1), (probs * (b - lower.float())).view(-1)
    )
    return projected
