"""Tries compiled networks against torch's: every bit of answers and slopes has to agree."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import mse_loss, smooth_l1_loss

from patches.marinenav import forwards
from patches.marinenav.batches import NUM_TAU
from patches.marinenav.step5_merge import by_autograd
from patches.marinenav.step5_merge.compiled_networks import kinds, losses
from patches.marinenav.step5_merge.compiled_networks.compiled import product
from patches.marinenav.step5_merge.compiled_networks.forwards import Forwards
from patches.marinenav.step5_merge.compiled_networks.kernels import (
    LAST_INPUT,
    NOTHING,
    PARAMETERS,
    Kernels,
    Sizes,
)
from patches.marinenav.step5_merge.compiled_networks.programs import Program
from patches.marinenav.step5_merge.compiled_networks.sampling import Sampled
from patches.marinenav.step5_merge.learning import MOST_ROWS

_LANES: Final = (8, 16, 4)
"""Of vectors with 256, 512 and 128 bits."""
_ENCODERS: Final = ((56, 7), (40, 5))
_CRITIC: Final = (*_ENCODERS, (128, 2), (128, 256), (128, 128), (1, 128))
_QUANTILES: Final = (*_ENCODERS, (256, 64), (128, 256), (128, 128), (25, 128))
_TRIED: Final = (
    (kinds.CRITIC, _CRITIC, Sizes(64), PARAMETERS),
    (kinds.CRITIC, _CRITIC, Sizes(64), LAST_INPUT),
    (kinds.QUANTILE_VALUES, _QUANTILES, Sizes(64, 8), PARAMETERS),
    (kinds.QUANTILE_VALUES, _QUANTILES, Sizes(1, 32, 5), NOTHING),
)
"""More is tried when it is first needed."""
_BATCHES: Final = (1, 7, 32, 64, 100, MOST_ROWS)
_ALPHA: Final = 0.078
_SAMPLES: Final = "it samples otherwise than torch"


def try_kernels() -> tuple[Forwards | None, str]:
    """Return compiled functions that agree, or why there are none."""
    problem = product.find_product()
    if problem:
        return None, problem
    for lanes in _LANES:
        kernels = Kernels(lanes)
        if all(agree(kernels) for agree in _AGREEMENTS):
            return (Forwards(kernels), "") if samples_agree() else (None, _SAMPLES)
    return None, "its networks round otherwise than torch's"


def networks_agree(kernels: Kernels) -> bool:
    """Whether answers and slopes of a few networks have torch's bits."""
    return all(isinstance(kernels.tried(*each), Program) for each in _TRIED)


def slopes_agree(kernels: Kernels) -> bool:
    """Whether losses of quantiles and their slopes are those that autograd finds."""
    return all(_slopes_agree(kernels, batch) for batch in _BATCHES)


def _slopes_agree(kernels: Kernels, batch: int) -> bool:
    random = torch.Generator().manual_seed(0)
    targets, quantiles, taus = (
        torch.randn(shape, generator=random, device="cpu", dtype=torch.float32)
        for shape in ((batch, 1, NUM_TAU), (batch, NUM_TAU), (batch, NUM_TAU, 1))
    )
    with torch.enable_grad():
        leaf = quantiles.clone().requires_grad_()
        loss = by_autograd.quantile_huber_loss(targets, leaf.unsqueeze(-1), taus.abs())
    (wanted,) = torch.autograd.grad(loss, leaf)
    found = kernels.quantile_slopes(targets, quantiles, taus.abs())
    return all(map(torch.equal, found, (loss.detach(), wanted)))


def mixtures_agree(kernels: Kernels) -> bool:
    """Whether noisy weights are those that torch computes."""
    random = torch.Generator().manual_seed(0)
    mean, deviation, noise = torch.randn(
        3, 3001, generator=random, device="cpu", dtype=torch.float32
    )
    found = torch.empty_like(mean)
    kernels.mix([found], [mean], [deviation], [noise])
    return torch.equal(found, mean + deviation * noise)


def losses_agree(kernels: Kernels) -> bool:
    """Whether losses of values and their slopes are those that autograd finds."""
    return all(_losses_agree(kernels.lanes, batch) for batch in _BATCHES)


def _losses_agree(lanes: int, batch: int) -> bool:
    random = torch.Generator().manual_seed(0)
    values, others, logarithms = torch.randn(
        3, batch, 1, generator=random, device="cpu", dtype=torch.float32
    )
    others[::3] = values[::3]
    with torch.enable_grad():
        leaves = [each.clone().requires_grad_() for each in (values, others, logarithms)]
        first, second, certain = leaves
        wanted = (
            (mse_loss(first, others), [first]),
            (smooth_l1_loss(first, others), [first]),
            ((_ALPHA * certain - torch.min(first, second)).mean(), leaves),
        )
    found = (
        _alone(losses.squared(values, others, lanes)),
        _alone(losses.smooth(values, others, lanes)),
        losses.lower_of_two(values, others, logarithms, _ALPHA, lanes),
    )
    return all(
        torch.equal(ours, loss.detach())
        and all(map(torch.equal, slopes, torch.autograd.grad(loss, given)))
        for (ours, slopes), (loss, given) in zip(found, wanted, strict=True)
    )


def _alone(found: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
    loss, slopes = found
    return loss, (slopes,)


def samples_agree() -> bool:
    """Whether what SAC samples, its log-probabilities and their slopes are torch's."""
    random = torch.Generator().manual_seed(0)
    mean, log_std, normals, of_actions = torch.randn(
        4, 64, 2, generator=random, device="cpu", dtype=torch.float32
    )
    shares = torch.full((64, 1), 0.2, device="cpu", dtype=torch.float32)
    actor = _Actor(torch.tensor(2 / math.pi, device="cpu", dtype=torch.float32))
    with torch.enable_grad():
        leaves = mean.clone().requires_grad_(), log_std.clone().requires_grad_()
        wanted = forwards.sample_with_log_probs(actor, *leaves, normals)
    slopes = torch.autograd.grad(wanted, leaves, (of_actions, shares))
    found = Sampled(actor, mean, log_std, normals)
    ours = found.actions, found.log_probs, *found.slopes(of_actions, shares)
    return all(torch.equal(one, other) for one, other in zip(ours, (*wanted, *slopes), strict=True))


_AGREEMENTS: Final = networks_agree, slopes_agree, losses_agree, mixtures_agree


class _Actor(NamedTuple):
    atan_scale: torch.Tensor
    min_log_std: float = -1.0
    max_log_std: float = 1.0
