"""Why two variants count as the same: what both runs did, step by step, in words and curves."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.rendering import figures
from syncprobe.rendering.html.charts import Chart, Form, Series

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.equivalence.verdict import Evidence
    from syncprobe.profiles.model import Profile

MAX_POINTS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """What one case shows."""

    title: str
    sentences: tuple[str, ...]
    charts: tuple[Chart, ...]


def exhibits(prefix: str, comparison: Comparison) -> tuple[Exhibit, ...]:
    """One for each case that was run; else what the digests tell."""
    verdict = comparison.verdict
    cases = () if verdict is None else verdict.evidence
    if not cases:
        return (_from_digests(comparison),)
    return tuple(_from_case(f"{prefix}-case{place}", case) for place, case in enumerate(cases))


def _from_case(prefix: str, evidence: Evidence) -> Exhibit:
    return Exhibit(
        title=evidence.case.label,
        sentences=(_rewards_sentence(evidence), _actions_sentence(evidence)),
        charts=tuple(_charts(prefix, evidence)),
    )


def _rewards_sentence(evidence: Evidence) -> str:
    pairs = list(zip(evidence.legacy_rewards, evidence.patched_rewards, strict=True))
    steps = figures.noun(len(pairs), "step")
    largest = max((abs(after - before) for before, after in pairs), default=0.0)
    if not pairs:
        return "No step was compared."
    if all(before == after for before, after in pairs):
        return f"Rewards, summed over robots, are bit-equal at all of {steps}: the curves coincide."
    differing = sum(before != after for before, after in pairs)
    return (
        f"Rewards, summed over robots, differ at {differing:,} of {steps}, by {largest:.3g} at most; "
        f"the sums end at {math.fsum(evidence.legacy_rewards):.6g} (legacy) "
        f"and {math.fsum(evidence.patched_rewards):.6g} (patched)."
    )


def _actions_sentence(evidence: Evidence) -> str:
    differences = evidence.action_differences
    steps = figures.noun(len(differences), "step")
    if not any(differences):
        return f"Actions are bit-equal at all of {steps}: every difference is 0."
    lone = sum(math.isinf(each) or math.isnan(each) for each in differences)
    largest = max((each for each in differences if math.isfinite(each)), default=0.0)
    equal = sum(each == 0 for each in differences)
    text = f"Actions are bit-equal (difference 0) at {equal:,} of {steps}; elsewhere they differ by {largest:.3g} at most"
    return f"{text}, and at {figures.noun(lone, 'step')} only one run acts." if lone else f"{text}."


def _charts(prefix: str, evidence: Evidence) -> Iterator[Chart]:
    places = _places(len(evidence.legacy_rewards))
    labels = tuple(str(place) for place in places)
    if places:
        yield Chart(
            id=f"{prefix}-rewards",
            title="Cumulative reward, summed over robots",
            unit="reward",
            labels=labels,
            series=(
                _curve("legacy", evidence.legacy_rewards, places, "before"),
                _curve("patched", evidence.patched_rewards, places, "after", is_dashed=True),
            ),
            form=Form.CURVE,
            label_title="step",
        )
    if any(math.isfinite(each) and each > 0 for each in evidence.action_differences):
        yield Chart(
            id=f"{prefix}-actions",
            title="Largest difference between actions",
            unit="difference",
            labels=labels,
            series=(
                Series(
                    name="largest difference",
                    values=tuple(_positive(evidence.action_differences[place]) for place in places),
                    colour="after",
                ),
            ),
            form=Form.CURVE,
            is_logarithmic=True,
            label_title="step",
            note="Logarithmic; a gap is a step without any difference.",
        )


def _curve(
    name: str,
    rewards: Sequence[float],
    places: Sequence[int],
    colour: str,
    *,
    is_dashed: bool = False,
) -> Series:
    sums = list(itertools.accumulate(rewards))
    values = tuple(sums[place] if math.isfinite(sums[place]) else None for place in places)
    return Series(name=name, values=values, colour=colour, is_dashed=is_dashed)


def _positive(difference: float) -> float | None:
    """What a logarithmic axis can show."""
    return difference if math.isfinite(difference) and difference > 0 else None


def _places(length: int) -> range:
    """At most as many steps as a chart can tell apart."""
    return range(0, length, max(-(-length // MAX_POINTS), 1))


def _from_digests(comparison: Comparison) -> Exhibit:
    before, after = comparison.before, comparison.after
    if before.digest is None or after.digest is None:
        sentences: tuple[str, ...] = (
            "Not both profiles have a digest of their actions and rewards, so there is no evidence.",
        )
    else:
        sentences = (
            _digest_sentence("actions", before.digest.actions, after.digest.actions),
            _digest_sentence("rewards", before.digest.rewards, after.digest.rewards),
            _episodes_sentence(before, after),
        )
    return Exhibit(title="Digests of the recorded runs", sentences=sentences, charts=())


def _digest_sentence(what: str, before: str, after: str) -> str:
    if before == after:
        return f"The digests of all {what} are equal ({before[:12]})."
    return f"The digests of all {what} differ ({before[:12]} and {after[:12]})."


def _episodes_sentence(before: Profile, after: Profile) -> str:
    first, second = (
        () if profile.digest is None else profile.digest.episode_rewards
        for profile in (before, after)
    )
    if not first and not second:
        return "No episode ended in the recorded steps."
    shown = " and ".join(
        ", ".join(f"{reward:.6g}" for reward in each[:20]) or "none" for each in (first, second)
    )
    return f"Rewards of the episodes that ended: {shown}{' (equal)' if first == second else ''}."
