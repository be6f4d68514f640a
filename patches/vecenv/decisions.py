"""Chooses actions as the library does, without the waits that it hides.

Removes:  the argument checks of distributions
Keeps:    the draw: one sample of ``multinomial`` is the largest quotient of probability and exponential noise
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import Distribution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor


@contextmanager
def unchecked() -> Iterator[None]:
    """Distributions that believe their arguments, in this scope only."""
    before = Distribution._validate_args  # noqa: SLF001  # torch lets it be set, but not asked for
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)


def decide(policy: Any, observations: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Actions, values and log-probabilities, all on the device."""
    with unchecked():
        features = policy.extract_features(observations)
        latent_policy, latent_value = policy.mlp_extractor(features)
        values = policy.value_net(latent_value)
        chances = policy._get_action_dist_from_latent(latent_policy).distribution  # noqa: SLF001  # as forward does
        noise = torch.empty_like(chances.probs).exponential_(1)
        actions = torch.argmax(chances.probs / noise, dim=-1)
        return actions, values, chances.log_prob(actions)
