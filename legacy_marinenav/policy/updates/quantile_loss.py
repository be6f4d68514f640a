"""The quantile Huber loss of AC-IQN and IQN."""

from __future__ import annotations

import torch

NUM_TAU = 8


def calculate_huber_loss(td_errors: torch.Tensor, k: float = 1.0) -> torch.Tensor:
    """Elementwise Huber loss of errors ``[*, 8, 8]``: quadratic up to k, linear beyond."""
    loss = torch.where(
        td_errors.abs() <= k, 0.5 * td_errors.pow(2), k * (td_errors.abs() - 0.5 * k)
    )
    assert loss.shape == (td_errors.shape[0], NUM_TAU, NUM_TAU), "huber loss has wrong shape"
    return loss


def quantile_huber_loss(
    targets: torch.Tensor, quantiles: torch.Tensor, taus: torch.Tensor
) -> torch.Tensor:
    """Loss of quantiles ``[B, 8, 1]`` at fractions ``taus`` against targets ``[B, 1, 8]``, averaged over the batch."""
    td_errors = targets - quantiles
    assert td_errors.shape == (targets.shape[0], NUM_TAU, NUM_TAU), "wrong td error shape"
    huber = calculate_huber_loss(td_errors, 1.0)
    loss = abs(taus - (td_errors.detach() < 0).float()) * huber / 1.0
    return loss.sum(dim=1).mean(dim=1).mean()
