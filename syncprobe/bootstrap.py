"""How certain a statistic of a few measurements is: one bootstrap for all of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESAMPLES: Final = 2000


def interval(
    values: Sequence[float], statistic: Callable[[Sequence[float]], float], confidence: float
) -> tuple[float, float]:
    """The percentile interval of a statistic; the same values always give the same one."""
    generator = random.Random(0)
    found = sorted(statistic(generator.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = (1.0 - confidence) / 2.0
    return found[int(tail * RESAMPLES)], found[int((1.0 - tail) * RESAMPLES) - 1]
