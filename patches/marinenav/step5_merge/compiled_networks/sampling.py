"""Actions that SAC samples, their log-probabilities, and the way back to what its actor said, without autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from patches.marinenav import forwards
from patches.marinenav.step5_merge.compiled_networks.compiled.sampling import (
    draw,
    log_probs,
    sample_slopes,
    squash,
)

if TYPE_CHECKING:
    from torch import Tensor


class Sampled:
    """Actions ``[B, 2]`` with log-probabilities ``[B, 1]``.

    Args:
        actor: Whose distribution it is.
        mean: What its first output layer said, ``[B, 2]``.
        log_std: What its second one said.
        normals: Standard normals ``[B, 2]``.
    """

    def __init__(self, actor: Any, mean: Tensor, log_std: Tensor, normals: Tensor) -> None:
        sampled, self.actions = torch.empty_like(mean), torch.empty_like(mean)
        rests = torch.empty((2, *mean.shape), dtype=torch.float32, device="cpu")
        self.log_probs = torch.empty((len(mean), 1), dtype=torch.float32, device="cpu")
        deviation = forwards.deviation_of(actor, log_std)
        self._numbers = tuple(
            each.numpy()
            for each in (mean, log_std, normals, deviation, sampled, self.actions, rests)
        )
        means, _, drawn, deviations, samples, actions, written = self._numbers
        self._limits = np.float32(actor.min_log_std), np.float32(actor.max_log_std)
        self._scale = np.float32(actor.atan_scale)
        draw(means, deviations, drawn, samples)
        squash(sampled.atan().numpy(), self._scale, deviations, actions, written)
        log_probs(means, samples, deviations, rests.log().numpy(), self.log_probs.numpy())

    def slopes(self, of_actions: Tensor, of_log_probs: Tensor) -> tuple[Tensor, Tensor]:
        """How a loss changes with means and log-deviations, for how it changes with actions and log-probabilities."""
        found = torch.empty_like(of_actions), torch.empty_like(of_actions)
        sample_slopes(
            *self._numbers, self._limits, self._scale,
            of_actions.numpy(), of_log_probs.numpy(), *(each.numpy() for each in found),
        )  # fmt: skip
        return found
