"""Compiled: how the quantile Huber loss changes with each quantile.

Replaces: autograd's way back through updates._quantile_huber_loss
Removes:  a dozen operations, with memory of its own each
Keeps:    every product and sum of that way, in its order
"""

from __future__ import annotations

from typing import Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled
from patches.marinenav.step5_merge.compiled_networks.compiled.row_sums import sum_rows


@compiled
def quantile_slopes(
    targets: Any, quantiles: Any, taus: Any, part: Any, lanes: int, slopes: Any
) -> None:
    """Write the slopes of quantiles.

    Args:
        targets: (n, m), what each quantile is compared with.
        quantiles: (n, t)
        taus: (n, t), their fractions.
        part: Weight of one comparison in the loss.
        lanes: Numbers that torch adds up side by side.
        slopes: (n, t), written.
    """
    count = targets.shape[1]
    pulls = np.empty((count, 1), dtype=np.float32)
    half, one, zero = np.float32(0.5), np.float32(1.0), np.float32(0.0)
    for row in range(len(quantiles)):
        for place in range(quantiles.shape[1]):
            for other in range(count):
                error = targets[row, other] - quantiles[row, place]
                below = one if error < zero else zero
                slope = part * abs(taus[row, place] - below)
                if abs(error) <= one:
                    pull = (slope * half) * (np.float32(2.0) * error)
                elif error > zero:
                    pull = slope
                else:
                    pull = -slope
                pulls[other, 0] = -pull
            sum_rows(slopes[row, place : place + 1], pulls, lanes)
