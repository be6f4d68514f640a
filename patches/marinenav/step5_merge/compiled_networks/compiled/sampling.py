"""Compiled: what SAC samples, its log-probabilities, and the way back through them; arcs, logarithms and powers are torch's.

Replaces: forwards.sample_with_log_probs and autograd's way back through it
Removes:  some forty operations on a few numbers each
Keeps:    each product and sum of these, and the order in which slopes of one number are added
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numba import float32

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled

_LOG_ROOT: Final = np.float32(math.log(math.sqrt(2 * math.pi)))
_ONE, _TWO, _LITTLE = np.float32(1.0), np.float32(2.0), np.float32(1e-6)


@compiled
def draw(mean: Any, deviation: Any, normals: Any, sampled: Any) -> None:
    """Write samples ``(n, 2)``; all else has this shape, too."""
    for row in range(len(mean)):
        for place in range(mean.shape[1]):
            sampled[row, place] = mean[row, place] + normals[row, place] * deviation[row, place]


@compiled
def squash(arcs: Any, scale: Any, deviation: Any, actions: Any, logarithms: Any) -> None:
    """Write actions, and what logarithms are wanted of.

    Args:
        arcs: (n, 2), of samples.
        scale: What they are multiplied by to be actions.
        deviation: (n, 2)
        actions: (n, 2), written.
        logarithms: (2, n, 2), written: deviations, and what squares of actions leave of one.
    """
    logarithms[0] = deviation
    for row in range(len(arcs)):
        for place in range(arcs.shape[1]):
            action = scale * arcs[row, place]
            actions[row, place] = action
            logarithms[1, row, place] = (_ONE - action * action) + _LITTLE


@compiled
def log_probs(mean: Any, sampled: Any, deviation: Any, logarithms: Any, found: Any) -> None:
    """Write the log-probabilities of samples.

    Args:
        mean: (n, 2)
        sampled: (n, 2)
        deviation: (n, 2)
        logarithms: (2, n, 2), of what `squash` wrote.
        found: (n, 1), written.
    """
    for row in range(len(mean)):
        total = float32(0.0)
        for place in range(mean.shape[1]):
            distance = sampled[row, place] - mean[row, place]
            density = -(distance * distance) / _twice_square(deviation[row, place])
            density = density - logarithms[0, row, place] - _LOG_ROOT
            total += density - logarithms[1, row, place]
        found[row, 0] = total


@compiled
def sample_slopes(
    mean: Any, log_std: Any, normals: Any, deviation: Any, sampled: Any, actions: Any, rests: Any,
    limits: Any, scale: Any, of_actions: Any, of_log_probs: Any, of_mean: Any, of_log_std: Any,
) -> None:  # fmt: skip
    """Write how a loss changes with means and log-deviations.

    Args:
        mean: (n, 2), like all that is not said here.
        log_std: What becomes the deviation's logarithm within limits.
        normals: Drawn.
        deviation: Within limits.
        sampled: Mean plus deviation times normals.
        actions: Squashed samples.
        rests: (2, n, 2), what `squash` wrote.
        limits: The least and the largest log-deviation.
        scale: What arcs of samples are multiplied by to be actions.
        of_actions: How the loss changes with actions.
        of_log_probs: (n, 1), how it changes with log-probabilities.
        of_mean: Written.
        of_log_std: Written.
    """
    for row in range(len(mean)):
        share = of_log_probs[row, 0]
        for place in range(mean.shape[1]):
            sample, spread = sampled[row, place], deviation[row, place]
            action = actions[row, place]
            squashed = of_actions[row, place] + -(-share / rests[1, row, place]) * (_TWO * action)
            by_squash = squashed * scale / (sample * sample + _ONE)
            distance, twice = sample - mean[row, place], _twice_square(spread)
            by_distance = -(share / twice) * (_TWO * distance)
            of_sample = by_squash + by_distance
            by_variance = -share * (-(distance * distance) / twice / twice) * _TWO
            by_density = -share / spread + by_variance * (_TWO * spread)
            slope = (by_density + of_sample * normals[row, place]) * spread
            is_inside = limits[0] <= log_std[row, place] <= limits[1]
            of_mean[row, place] = of_sample - by_distance
            of_log_std[row, place] = slope if is_inside else float32(0.0)


@compiled
def _twice_square(number: Any) -> Any:
    return _TWO * (number * number)
