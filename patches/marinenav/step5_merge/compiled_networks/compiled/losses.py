"""Compiled: losses of values and how they change with each, together.

Replaces: mse_loss and smooth_l1_loss, the mean that SAC's actor lowers, and autograd's way back through them
Removes:  a dozen operations on a few numbers each
Keeps:    every product and sum of both ways, in its order
"""

from __future__ import annotations

from typing import Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled
from patches.marinenav.step5_merge.compiled_networks.compiled.row_sums import sum_line

_HALF, _ONE, _TWO, _ZERO = map(np.float32, (0.5, 1.0, 2.0, 0.0))


@compiled
def squared(values: Any, wanted: Any, lanes: int, slopes: Any, loss: Any) -> None:
    """Write the mean of squared errors.

    Args:
        values: (n,)
        wanted: (n,)
        lanes: Numbers that torch adds up side by side.
        slopes: (n,), written.
        loss: (1,), written.
    """
    errors = np.empty(len(values), dtype=np.float32)
    part = np.float32(2.0 / len(values))
    for place in range(len(values)):
        error = values[place] - wanted[place]
        errors[place] = error * error
        slopes[place] = part * error
    loss[0] = sum_line(errors, lanes) / np.float32(len(values))


@compiled
def smooth(values: Any, wanted: Any, lanes: int, slopes: Any, loss: Any) -> None:
    """Write the mean of errors, squared where they are small; arguments are those of `squared`."""
    errors = np.empty(len(values), dtype=np.float32)
    part = np.float32(1.0 / len(values))
    for place in range(len(values)):
        error = values[place] - wanted[place]
        size = abs(error)
        errors[place] = _HALF * size * size if size < _ONE else size - _HALF
        slopes[place] = part * max(min(error, _ONE), -_ONE)
    loss[0] = sum_line(errors, lanes) / np.float32(len(values))


@compiled
def lower_of_two(
    first: Any, second: Any, log_probs: Any, alpha: Any, lanes: int, slopes: Any, loss: Any
) -> None:
    """Write by how much certainty outweighs the lower of two values, on average.

    Args:
        first: (n,), values of one critic.
        second: (n,), values of the other one.
        log_probs: (n,), logarithms of how probable the actions were.
        alpha: What these are worth.
        lanes: Numbers that torch adds up side by side.
        slopes: (3, n), written: of both values and of the logarithms.
        loss: (1,), written.
    """
    differences = np.empty(len(first), dtype=np.float32)
    share = _ONE / np.float32(len(first))
    for place in range(len(first)):
        one, other = first[place], second[place]
        # What is no number is lower than any.
        lower = one if one <= other or np.isnan(one) else other
        differences[place] = alpha * log_probs[place] - lower
        # All of it goes to the smaller one, half if they are equal.
        equal = -share / _TWO
        slopes[0, place] = _ZERO if one > other else (equal if one == other else -share)
        slopes[1, place] = _ZERO if other > one else (equal if one == other else -share)
        slopes[2, place] = share * alpha
    loss[0] = sum_line(differences, lanes) / np.float32(len(first))
