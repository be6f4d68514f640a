"""Compiled: the quantile Huber loss, and how it changes with each quantile.

Replaces: by_autograd.quantile_huber_loss, and autograd's way back through it
Removes:  two dozen operations, with memory of its own each
Keeps:    every product and sum of both ways, in its order
"""

from __future__ import annotations

from typing import Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled, inlined
from patches.marinenav.step5_merge.compiled_networks.compiled.row_sums import sum_line, sum_rows


@compiled
def quantile_slopes(
    targets: Any, quantiles: Any, taus: Any, part: Any, lanes: int, slopes: Any, loss: Any
) -> None:
    """Write the loss and the slopes of quantiles.

    Args:
        targets: (n, m), what each quantile is compared with.
        quantiles: (n, t)
        taus: (n, t), their fractions.
        part: Weight of one comparison in the loss.
        lanes: Numbers that torch adds up side by side.
        slopes: (n, t), written.
        loss: (1,), written.
    """
    count, fractions = targets.shape[1], quantiles.shape[1]
    pulls = np.empty(count, dtype=np.float32)
    losses = np.empty((fractions, count), dtype=np.float32)
    sums = np.empty(count, dtype=np.float32)
    means = np.empty(len(quantiles), dtype=np.float32)
    for row in range(len(quantiles)):
        for place in range(fractions):
            _compare(
                targets[row], quantiles[row, place], taus[row, place], part, losses[place], pulls
            )
            slopes[row, place] = sum_line(pulls, lanes)
        sum_rows(sums, losses, lanes)
        means[row] = sum_line(sums, lanes) / np.float32(count)
    loss[0] = sum_line(means, lanes) / np.float32(len(means))


@inlined
def _compare(targets: Any, quantile: Any, tau: Any, part: Any, losses: Any, pulls: Any) -> None:
    """Write losses of a quantile compared with each target, and how each pulls at it."""
    half, one, two, zero = np.float32(0.5), np.float32(1.0), np.float32(2.0), np.float32(0.0)
    for place in range(len(targets)):
        error = targets[place] - quantile
        size = abs(error)
        weight = abs(tau - (one if error < zero else zero))
        slope = part * weight
        # Both ways are computed, so that several comparisons are made at once.
        near, far = half * (error * error), size - half
        pull_near, pull_far = (slope * half) * (two * error), slope if error > zero else -slope
        losses[place] = weight * (near if size <= one else far)
        pulls[place] = -(pull_near if size <= one else pull_far)
