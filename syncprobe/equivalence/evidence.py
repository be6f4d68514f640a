"""What two runs did, step by step, for people who want to see it and not only be told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from syncprobe.equivalence.verdict import Evidence

if TYPE_CHECKING:
    from syncprobe.equivalence.trace import Array, Trace
    from syncprobe.equivalence.verdict import Case


def evidence_of(case: Case, legacy: Trace, variant: Trace) -> Evidence:
    """Rewards and actions of both runs, for as many steps as both have."""
    pairs = list(zip(legacy.steps, variant.steps, strict=False))
    return Evidence(
        case=case,
        legacy_rewards=tuple(float(np.sum(first.rewards)) for first, _ in pairs),
        patched_rewards=tuple(float(np.sum(second.rewards)) for _, second in pairs),
        action_differences=tuple(_apart(first.actions, second.actions) for first, second in pairs),
    )


def _apart(first: tuple[Array | None, ...], second: tuple[Array | None, ...]) -> float:
    """The largest difference between the actions of a robot."""
    if len(first) != len(second):
        return math.inf
    return max((_distance(*pair) for pair in zip(first, second, strict=True)), default=0.0)


def _distance(first: Array | None, second: Array | None) -> float:
    if first is None or second is None:
        return 0.0 if first is second else math.inf
    return float(np.max(np.abs(first - second)))
