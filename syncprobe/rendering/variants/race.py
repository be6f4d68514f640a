"""What a race between two variants gave, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.rendering import figures
from syncprobe.rendering.variants.ratios import interval

if TYPE_CHECKING:
    from syncprobe.comparison.race import SpeedVerdict


def sentence(verdict: SpeedVerdict) -> str:
    """The measured ratio beside what it is held to."""
    ratio = verdict.speedup.ratio
    measured = (
        f"{figures.faster(ratio.median)}, measured ({interval(ratio)}, {ratio.rounds} rounds); "
        f"at least {verdict.bound:g}x asked for"
    )
    if verdict.is_reached is None:
        return f"inconclusive: {measured}. Give it more rounds or a quieter machine."
    return measured
