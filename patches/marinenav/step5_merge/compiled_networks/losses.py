"""Losses of values with their slopes, by compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from patches.marinenav.step5_merge.compiled_networks.compiled import losses

if TYPE_CHECKING:
    from torch import Tensor


def squared(values: Tensor, wanted: Tensor, lanes: int) -> tuple[Tensor, Tensor]:
    """What `mse_loss` says about values ``[B, 1]``, and how that changes with them."""
    return _compared(losses.squared, values, wanted, lanes)


def smooth(values: Tensor, wanted: Tensor, lanes: int) -> tuple[Tensor, Tensor]:
    """What `smooth_l1_loss` says about values ``[B, 1]``, and how that changes with them."""
    return _compared(losses.smooth, values, wanted, lanes)


def _compared(compare: Any, values: Tensor, wanted: Tensor, lanes: int) -> tuple[Tensor, Tensor]:
    slopes, loss = torch.empty_like(values), _number()
    compare(_line(values), _line(wanted), lanes, _line(slopes), _line(loss))
    return loss, slopes


def lower_of_two(
    first: Tensor, second: Tensor, log_probs: Tensor, alpha: float, lanes: int
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """What SAC's actor lowers, and how it changes with both values and the log-probabilities, ``[B, 1]``."""
    slopes, loss = first.new_empty((3, *first.shape)), _number()
    given = map(_line, (first, second, log_probs))
    losses.lower_of_two(*given, np.float32(alpha), lanes, slopes.view(3, -1).numpy(), _line(loss))
    return loss, slopes.unbind()


def _line(tensor: Tensor) -> Any:
    return tensor.numpy().reshape(-1)


def _number() -> Tensor:
    return torch.empty((), dtype=torch.float32, device="cpu")
