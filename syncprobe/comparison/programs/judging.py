"""What can be said about two programs from what their runs computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.equivalence.fingerprints import Kind, likeness_of
from syncprobe.equivalence.trend import trend_of
from syncprobe.equivalence.verdict import Verdict
from syncprobe.profiles.fingerprints.model import Printed

if TYPE_CHECKING:
    from syncprobe.equivalence.fingerprints import Likeness
    from syncprobe.profiles.fingerprints.model import Fingerprints, Series

PRINTED: Final = "printed number"
INPUT_ENDED: Final = "EOFError"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run, as far as its equivalence to another is concerned."""

    fingerprints: Fingerprints | None
    interruption: str | None = None


def verdict_of(before: Ended, after: Ended, again: Ended | None = None) -> Verdict:
    """Whether two programs do the same.

    Args:
        before: The first.
        after: The second.
        again: The first once more, which must do the same for anything to be said; None leaves that open.
    """
    failure = _failure(before, after)
    if failure is not None:
        return failure
    first, second = before.fingerprints, after.fingerprints
    if again is not None:
        unsteady = likeness_of(first, again.fingerprints)
        if unsteady.kind in {Kind.WITHIN, Kind.DIFFERENT} and not _is_only_printed(unsteady):
            return Verdict(
                is_equivalent=None,
                summary="not comparable because two runs of the first program differ: it is not "
                f"deterministic, first in {unsteady.first}",
            )
        if first is not None and second is not None and _is_only_printed(unsteady):
            # Such as the time that something took.
            first, second = (replace(each, printed=Printed()) for each in (first, second))
    return _judged(likeness_of(first, second), first, second)


def _judged(likeness: Likeness, first: Fingerprints | None, second: Fingerprints | None) -> Verdict:
    if likeness.kind is Kind.INCOMPARABLE:
        return Verdict(is_equivalent=None, summary=likeness.summary)
    if likeness.kind is not Kind.WITHIN or likeness.beyond is None:
        is_equivalent = likeness.kind is not Kind.DIFFERENT
        return Verdict(
            is_equivalent=is_equivalent,
            summary=likeness.summary if is_equivalent else f"NOT identical: {likeness.summary}",
            differences=() if likeness.first is None else (str(likeness.first),),
            remarks=likeness.remarks,
        )
    # Rounding has led the runs apart. What they earn or lose must still be the same, but for chance.
    assert first is not None, "runs that were compared have fingerprints"
    assert second is not None, "likewise"
    what, is_significant = _trend(first, second)
    ending = "off beyond chance" if is_significant else "the same but for chance"
    return Verdict(
        is_equivalent=not is_significant,
        summary=f"{likeness.summary}; {what} {ending}",
        differences=(str(likeness.first), str(likeness.beyond)),
        remarks=likeness.remarks,
    )


def _trend(first: Fingerprints, second: Fingerprints) -> tuple[str, bool]:
    """Whether observed rewards, or else losses, moved; which of the two it was."""
    common = [name for name in first.observed if name in second.observed]
    name = next((name for name in common if "reward" in name or "return" in name), None)
    pairs = (
        (first.losses, second.losses)
        if name is None
        else (first.observed[name], second.observed[name])
    )
    values = _paired(*pairs)
    trend = trend_of([[one] for one, _ in values], [[other] for _, other in values])
    return "losses are" if name is None else f"observed {name} is", trend.is_significant


def _paired(before: Series, after: Series) -> list[tuple[float, float]]:
    sparser = max(before.every, after.every)
    first, second = (each.values[:: sparser // each.every] for each in (before, after))
    return [
        (one, other)
        for one, other in zip(first, second, strict=False)
        if one is not None and other is not None
    ]


def _failure(before: Ended, after: Ended) -> Verdict | None:
    """What to say where a program did not come to its end."""
    if before.interruption is None and after.interruption is None:
        return None
    if before.interruption is not None and after.interruption is not None:
        return Verdict(
            is_equivalent=None,
            summary=f"not comparable because both programs fail: {explained(before.interruption)}",
        )
    place, why = (
        ("first", before.interruption)
        if before.interruption is not None
        else ("second", after.interruption)
    )
    return Verdict(
        is_equivalent=False,
        summary=f"NOT identical: only the {place} program fails: {explained(str(why))}",
        differences=(f"The {place} program {why}.",),
    )


def explained(interruption: str) -> str:
    """How a program ended, with what that means where it asked somebody."""
    if INPUT_ENDED in interruption:
        return f"{interruption}; it asks for input, which nobody can give it here"
    return interruption


def _is_only_printed(likeness: Likeness) -> bool:
    return likeness.first is not None and likeness.first.what == PRINTED
