"""Rainbow's projection of a target distribution onto the atoms.

Replaces: policy.updates.rainbow:project_distribution
Removes:  boolean-mask updates (each waits for the device), offsets made per update
Keeps:    every sum in its order
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from patches.marinenav.agents import Notes


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


def _offsets(agent: Any, notes: Notes, batch: int) -> Tensor:
    def offsets() -> Tensor:
        # Through float32, as legacy does it, whatever that rounds to.
        line = torch.linspace(0, (batch - 1) * agent.atoms, batch).unsqueeze(1)
        return line.expand(batch, agent.atoms).to(torch.int64).to(notes.device)

    return notes.constant(("offsets", batch, agent.atoms), offsets)
