"""Generalised advantages on the device, rounded as NumPy rounds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def advantages_of(
    rewards: Tensor,
    values: Tensor,
    last_values: Tensor,
    going_on: Tensor,
    discount: float,
    trace: float,
) -> Tensor:
    """Advantages by step and environment.

    Every product and every sum is rounded by itself: a fused operation would be more exact, and so differ.

    Args:
        rewards: By step and environment, like all that follows.
        values: Of the states that actions were chosen in.
        last_values: Of the states after the last step.
        going_on: 1 where the episode goes on after the step, else 0.
        discount: Of rewards, per step.
        trace: How much of what comes later counts (lambda).
    """
    later = torch.cat([values[1:], last_values[None]])
    deltas = rewards + discount * later * going_on - values
    weights = discount * trace * going_on
    advantage = torch.zeros_like(last_values)
    found = []
    for delta, weight in zip(reversed(deltas.unbind()), reversed(weights.unbind()), strict=True):
        advantage = delta + weight * advantage
        found.append(advantage)
    return torch.stack(found[::-1])
