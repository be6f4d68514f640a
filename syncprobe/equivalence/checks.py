"""What "identical" means: to the last bit in exact mode, three comparisons with limits in fast mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.equivalence.entries import entries_of
from syncprobe.equivalence.matching import Margin, Match, match
from syncprobe.equivalence.trend import TOLERANCE, trend_of
from syncprobe.equivalence.verdict import Deviation, Difference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.equivalence.entries import Entry
    from syncprobe.equivalence.trace import Trace

STEPS_WITHOUT_DRIFT: Final = 200
"""Free runs are held to their limits for so long; rounding may then have led them elsewhere."""
ACTION_LIMIT: Final = Margin(absolute=1e-6)
LOSS_LIMIT: Final = Margin(relative=1e-5)
LEARNT_LIMIT: Final = Margin(absolute=1e-6, relative=1e-5)
DRIFT_LIMIT: Final = Margin(absolute=1e-3)
FORCED_LIMITS: Final = {
    "proposed action": ACTION_LIMIT,
    "loss": LOSS_LIMIT,
    "parameter": LEARNT_LIMIT,
    "optimizer state": LEARNT_LIMIT,
    "saved model": LEARNT_LIMIT,
    "aftermath": LEARNT_LIMIT,
}
"""With the same actions taken, all the rest has to be equal to the last bit."""
FREE_LIMITS: Final = {"action": DRIFT_LIMIT}
FREE_QUANTITIES: Final = frozenset({"action", "deactivation", "failure"})


def check_exact(legacy: Trace, variant: Trace) -> Match:
    """Everything is equal to the last bit."""
    return _match("exact", legacy, variant)


def check_within(legacy: Trace, variant: Trace, limits: Mapping[str, Margin]) -> Match:
    """Left to itself, a variant does the same to the last bit, but for what limits leave room for."""
    return _match("free-running", legacy, variant, limits)


def check_forced(legacy: Trace, variant: Trace) -> Match:
    """Fed the same states and generators, a variant proposes the same actions and learns the same."""
    limits = dict(FORCED_LIMITS)
    if "priorities" in legacy.replay:
        # Priorities are losses, and so are as exact as these.
        limits["replay"] = LOSS_LIMIT
    return _match("teacher-forced", legacy, variant, limits)


def check_free(legacy: Trace, variant: Trace) -> Match:
    """Left to itself, learning included, a variant takes the same way."""

    def is_checked(entry: Entry) -> bool:
        is_early = entry.step is None or entry.step < STEPS_WITHOUT_DRIFT
        return entry.quantity in FREE_QUANTITIES and is_early

    return _match("free-running", legacy, variant, FREE_LIMITS, is_checked)


def check_trend(legacy: Trace, variant: Trace) -> tuple[Deviation, Difference | None]:
    """Episode rewards agree, or differ only by chance."""
    first, second = legacy.episode_rewards(), variant.episode_rewards()
    episodes: dict[int, list[tuple[int, int]]] = {}
    for key in first:
        if key in second:
            episodes.setdefault(key[0], []).append(key)
    trend = trend_of(
        [[first[key] for key in keys] for keys in episodes.values()],
        [[second[key] for key in keys] for keys in episodes.values()],
    )
    deviation = Deviation(
        check="reward trend",
        what="episode reward",
        largest=trend.largest,
        used=trend.largest / TOLERANCE,
        limit=f"{TOLERANCE:g}, or by chance",
    )
    if not trend.is_significant:
        return deviation, None
    return deviation, Difference(
        check="reward trend",
        what=f"mean reward of {trend.pairs} episodes of single robots",
        expected="0 on average",
        found=f"{trend.mean:+.3g} off (interval {trend.low:.3g} to {trend.high:.3g})",
        limit=f"{TOLERANCE:g}, or by chance",
    )


def _match(
    check: str,
    legacy: Trace,
    variant: Trace,
    limits: Mapping[str, Margin] | None = None,
    is_checked: Callable[[Entry], bool] = lambda _: True,
) -> Match:
    if variant.failure is not None:
        steps = {step.timestep for step in variant.steps[:-1]}

        def is_complete(entry: Entry) -> bool:
            """Tell what came about before a failure: how things stand after one says nothing."""
            return entry.quantity == "failure" or (entry.step in steps and is_checked(entry))

        return match(
            check,
            entries_of(legacy),
            entries_of(variant),
            limits,
            is_checked=is_complete,
        )
    return match(check, entries_of(legacy), entries_of(variant), limits, is_checked=is_checked)
