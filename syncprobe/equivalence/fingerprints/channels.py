"""What there is to compare in two fingerprints: steps, series of numbers, and how the runs ended."""

from __future__ import annotations

import base64
import math
import struct
from typing import TYPE_CHECKING

from syncprobe.equivalence.fingerprints.likeness import FirstDifference
from syncprobe.profiles.fingerprints.model import SKETCH, UNMOVED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.profiles.fingerprints.model import Fingerprints, Series, StepPrint

_DIGITS = 8
_NUMBERS = SKETCH + 1


def obstacle(before: Fingerprints | None, after: Fingerprints | None) -> str:
    """Why two runs cannot be compared; empty if they can."""
    if before is None or after is None:
        return "not both runs have fingerprints"
    for name, run in (("first", before), ("second", after)):
        if not run.steps and not run.losses.count and not run.observed:
            return f"the {name} program reaches no optimizer step, no backward pass and observes nothing"
    return ""


def common_steps(before: Fingerprints, after: Fingerprints) -> list[tuple[StepPrint, StepPrint]]:
    """The steps that were looked at in both runs."""
    others = {each.step: each for each in after.prints}
    return [(each, others[each.step]) for each in before.prints if each.step in others]


def differences_in_steps(before: Fingerprints, after: Fingerprints) -> Iterator[FirstDifference]:
    """Parameters, optimizers and generators, of each step that was looked at in both runs."""
    if before.sizes != after.sizes:
        yield _other_parameters(before, after)
        return
    is_chained = before.is_thorough and after.is_thorough
    is_parted, since = False, 0
    for first, second in common_steps(before, after):
        found = [*_in_draws(first, second, since), *_in_rows(before, first, second, since)]
        if not found and not is_parted and is_chained and first.chain != second.chain:
            # Both have come to the same again: only what was in between differs.
            found = [_of_step("parameter", "values", first.step, since)]
        yield from found
        is_parted, since = is_parted or bool(found), first.step


def differences_in_series(
    what: str, name: str, before: Series, after: Series
) -> Iterator[FirstDifference]:
    """Numbers that came about one after the other."""
    if before.count == after.count and before.digest == after.digest:
        return
    sparser = max(before.every, after.every)
    first, second = (
        list(zip(each.steps, each.values, strict=True))[:: sparser // each.every]
        for each in (before, after)
    )
    since, is_found = 0, False
    for (step, one), (_, other) in zip(first, second, strict=False):
        if one != other:
            is_found = True
            yield _of_numbers(what, name, step, since, one, other)
        since = step
    if before.count != after.count:
        yield FirstDifference(
            what=f"{what} {name}".strip(),
            name="count",
            before=f"{before.count:,}",
            after=f"{after.count:,}",
        )
    elif not is_found:
        # Of those in between, or in bits that the mean does not show.
        yield FirstDifference(what=what, name=name, step=max(since, 1), since=0)


def differences_in_observed(
    name: str, before: Fingerprints, after: Fingerprints
) -> Iterator[FirstDifference]:
    """What the programs handed over under one name; a name that only one has is nobody's difference."""
    if name in before.observed and name in after.observed:
        yield from differences_in_series(
            "observed", name, before.observed[name], after.observed[name]
        )


def differences_at_the_end(before: Fingerprints, after: Fingerprints) -> Iterator[FirstDifference]:
    """How many steps there were, what was printed, and the exit status."""
    if before.steps != after.steps:
        texts = (f"{before.steps:,}", f"{after.steps:,}")
        step = min(before.steps, after.steps) + 1
        yield FirstDifference(
            what="number of optimizer steps", step=step, before=texts[0], after=texts[1]
        )
    if before.exit_code != after.exit_code:
        yield FirstDifference(
            what="exit status", before=str(before.exit_code), after=str(after.exit_code)
        )
    if before.printed.words == after.printed.words:
        for number, (one, other) in enumerate(
            zip(before.printed.numbers, after.printed.numbers, strict=False), 1
        ):
            if one != other:
                yield _of_numbers("printed number", str(number), None, None, one, other)


def remarks(before: Fingerprints, after: Fingerprints) -> Iterator[str]:
    """What differs in words only."""
    first, second = before.printed, after.printed
    if first.words != second.words:
        yield (
            f"Standard output has other words ({first.lines:,} lines, then {second.lines:,}), so its numbers "
            "were not compared."
        )
    elif first.digest != second.digest and first.numbers == second.numbers:
        yield "Standard output writes the same numbers in another way."
    for name in sorted(before.observed.keys() ^ after.observed.keys()):
        side = "first" if name in before.observed else "second"
        yield f"Only the {side} program observes {name!r}."


def _other_parameters(before: Fingerprints, after: Fingerprints) -> FirstDifference:
    texts = [f"{len(each.rows):,} with {sum(each.sizes):,} numbers" for each in (before, after)]
    return FirstDifference(what="parameters", step=1, before=texts[0], after=texts[1])


def _in_draws(first: StepPrint, second: StepPrint, since: int) -> Iterator[FirstDifference]:
    for name in first.draws.keys() & second.draws.keys():
        if not _draw_alike(first.draws[name], second.draws[name]):
            yield _of_step("random draws", f"of {name}", first.step, since)


def _draw_alike(first: str, second: str) -> bool:
    are_unmoved = first.startswith(UNMOVED) and second.startswith(UNMOVED)
    return are_unmoved or first.removeprefix(UNMOVED) == second.removeprefix(UNMOVED)


def _in_rows(
    run: Fingerprints, first: StepPrint, second: StepPrint, since: int
) -> Iterator[FirstDifference]:
    if first.hashes == second.hashes:
        return
    sketches = [_sketches(each) for each in (first, second)]
    for number, name in enumerate(run.rows[: len(first.hashes) // _DIGITS]):
        place = slice(number * _DIGITS, (number + 1) * _DIGITS)
        if first.hashes[place] != second.hashes[place]:
            one, other = sketches[0][number], sketches[1][number]
            size = math.sqrt(
                sum((a - b) ** 2 for a, b in zip(one[:-1], other[:-1], strict=True)) / SKETCH
            )
            norm = max(one[-1], other[-1])
            what = "optimizer" if name.startswith("state of ") else "parameter"
            yield FirstDifference(
                what=what,
                name=name,
                step=first.step,
                since=since,
                size=size,
                relative=None if math.isnan(size) else size / norm if norm else math.inf,
            )


def _sketches(each: StepPrint) -> list[tuple[float, ...]]:
    data = base64.b64decode(each.sketches)
    numbers = struct.unpack(f"<{len(data) // 8}d", data)
    return [numbers[start : start + _NUMBERS] for start in range(0, len(numbers), _NUMBERS)]


def _of_step(what: str, name: str, step: int, since: int) -> FirstDifference:
    return FirstDifference(what=what, name=name, step=step, since=since)


def _of_numbers(
    what: str,
    name: str,
    step: int | None,
    since: int | None,
    one: float | None,
    other: float | None,
) -> FirstDifference:
    texts = ["not finite" if each is None else f"{each:.9g}" for each in (one, other)]
    size = None if one is None or other is None else abs(other - one)
    norm = max(abs(one or 0.0), abs(other or 0.0))
    return FirstDifference(
        what=what,
        name=name,
        step=step,
        since=since,
        size=size,
        relative=None if size is None else size / norm,
        before=texts[0],
        after=texts[1],
    )
