"""Holds two fingerprints against each other: what differs first, and whether rounding could do that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.equivalence.fingerprints import channels
from syncprobe.equivalence.fingerprints.likeness import FirstDifference, Kind, Likeness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.profiles.fingerprints.model import Fingerprints

TOLERANCE: Final = 1e-5
"""Of a value, as a share; what a different order of float32 additions stays well below at first."""
NO_STEP: Final = 1 << 62
_ORDER: Final = ("random draws", "loss", "observed", "parameter", "optimizer", "printed", "exit")
"""Of what differs at the same step, the earlier one explains the later ones."""


def likeness_of(
    before: Fingerprints | None, after: Fingerprints | None, *, tolerance: float = TOLERANCE
) -> Likeness:
    """How alike two runs are, and the first thing that differs.

    Args:
        before: Of the first run; None if nobody looked.
        after: Of the second.
        tolerance: How far apart values may be, as a share of them, to count as rounded differently.
    """
    reason = channels.obstacle(before, after)
    if before is None or after is None or reason:
        return Likeness(kind=Kind.INCOMPARABLE, reason=reason)
    found = sorted(_differences(before, after), key=_moment)
    common = channels.common_steps(before, after)
    every_step = before.is_thorough and after.is_thorough
    steps = min(before.steps, after.steps)
    beyond = [each for each in found if not _is_rounding(each, tolerance)]
    return Likeness(
        kind=_kind(found, beyond),
        steps=steps,
        looked_at=steps if every_step else len(common),
        first=found[0] if found else None,
        beyond=beyond[0] if beyond and beyond[0] is not found[0] else None,
        remarks=tuple(channels.remarks(before, after)),
    )


def _kind(found: list[FirstDifference], beyond: list[FirstDifference]) -> Kind:
    if not found:
        return Kind.IDENTICAL
    return (
        Kind.DIFFERENT if beyond and _moment(beyond[0])[0] == _moment(found[0])[0] else Kind.WITHIN
    )


def _differences(before: Fingerprints, after: Fingerprints) -> Iterator[FirstDifference]:
    yield from channels.differences_in_steps(before, after)
    yield from channels.differences_in_series("loss", "", before.losses, after.losses)
    for name in dict.fromkeys([*before.observed, *after.observed]):
        yield from channels.differences_in_observed(name, before, after)
    yield from channels.differences_at_the_end(before, after)


def _moment(difference: FirstDifference) -> tuple[int, int]:
    step = NO_STEP if difference.step is None else difference.step
    place = next(
        (i for i, word in enumerate(_ORDER) if difference.what.startswith(word)), len(_ORDER)
    )
    return step, place


def _is_rounding(difference: FirstDifference, tolerance: float) -> bool:
    return difference.relative is not None and difference.relative <= tolerance
