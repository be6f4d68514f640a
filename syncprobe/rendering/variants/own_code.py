"""What two variants do to the device, and what became of their own code, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from syncprobe.rendering import figures
from syncprobe.rendering.labels import modelled_label
from syncprobe.rendering.tables import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.comparison.own_code import OwnChange
    from syncprobe.comparison.side_by_side import Comparison


def sentences(comparison: Comparison) -> Iterator[str]:
    """The exact part of the difference first, then the measured one."""
    first, second, own = comparison.events_ms.before, comparison.events_ms.after, comparison.own
    if first is None or second is None or own is None:
        return
    noun = comparison.after.rate_noun
    yield (
        f"Syncs, copies and launches, {modelled_label(comparison.after)}: {figures.duration(first)} ms, then "
        f"{figures.duration(second)} ms per {noun}, counts times costs: {_difference(second - first)}."
    )
    yield f"Own code: {_own(own)}."


def rows(comparison: Comparison) -> Iterator[tuple[str, str, str, str]]:
    """What the modelled step is made of, for the table of times."""
    own = comparison.own
    if own is None:
        return
    events = comparison.events_ms
    pairs = (
        ("of it events, ms", events.before, events.after),
        ("of it own code, ms", own.before_ms, own.after_ms),
    )
    for name, first, second in pairs:
        if first is not None and second is not None:
            factor = figures.speedup(first / second) if first and second else NOTHING
            yield name, figures.duration(first), figures.duration(second), factor


def _own(own: OwnChange) -> str:
    if not own.regions:
        return f"undecided, {_interval(own)}; taken as {figures.duration(own.before_ms)} ms in both"
    times = f"{figures.duration(own.before_ms)} ms, then {figures.duration(own.after_ms)} ms"
    where = f"changed in {', '.join(own.regions)}"
    undecided = "" if own.is_decided else "undecided in all, "
    return f"{times} ({where}): {undecided}{_interval(own)}"


def _interval(own: OwnChange) -> str:
    if not math.isfinite(own.low_ms) or not math.isfinite(own.high_ms):
        return "because nobody knows how far off it may be"
    if own.is_decided:
        least, most = sorted((abs(own.low_ms), abs(own.high_ms)))
        return f"{figures.duration(least)} to {figures.duration(most)} ms {_word(own.low_ms)}"
    return f"between {figures.duration(-own.low_ms)} ms less and {figures.duration(own.high_ms)} ms more"


def _difference(change_ms: float) -> str:
    shown = figures.duration(abs(change_ms))
    return "the same" if float(shown.replace(",", "")) == 0 else f"{shown} ms {_word(change_ms)}"


def _word(change_ms: float) -> str:
    return "more" if change_ms > 0 else "less"
