"""SP6xx: Python work on the host that no device can make faster."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings.rule import Rule, code, register

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from syncprobe.profiles.model import Region, Site

DOMINANT_SHARE: Final = 0.5
"""From this share of the step on, host work in one region is what to look at first."""
SMALLEST_US: Final = 200.0
"""Per step; below this a region does nothing that a loop would be behind: it prints, it appends."""
LARGEST_US_PER_EVENT: Final = 200.0
"""Calling an operation takes the host some time as well, which is no loop of the program's."""
NOT_JUDGED: Final = frozenset({"other", "backward", "optimizer"})
"""What no mark covers is too much of everything to say something about; the other two are torch's own code."""

HOST_REGION: Final = register(
    Rule(
        id="SP601",
        title="Python work on the host dominates the step",
        plan_step=5,
        sync_class=None,
        flags="A region whose own host work, without any wait for the device, is half of the step or more: typically a Python loop over objects.",
        why=(
            "No sync, copy or launch can be worth more than what is left of the step. A loop over objects pays the "
            "interpreter for every object and every substep, whatever device the networks run on."
        ),
        example=code("""
            for particle in particles:
                particle.position = particle.position + particle.velocity * dt
        """),
        instead=code("""
            positions += velocities * dt
        """),
        advice="Vectorise this work over all samples or environments before anything else: syncs are worth little while it takes this share.",
    )
)


@dataclass(frozen=True, slots=True)
class HostRemedy:
    """What to do about a region, with an example."""

    advice: str
    example: str
    instead: str


VECTORISED: Final = HostRemedy(HOST_REGION.advice, HOST_REGION.example, HOST_REGION.instead)
LOADED: Final = HostRemedy(
    "Let workers of the `DataLoader` prepare batches while the step runs (`num_workers=`, more of them), or prepare "
    "the samples once and keep them: syncs are worth little while it takes this share.",
    "loader = DataLoader(data, batch_size=64)",
    "loader = DataLoader(data, batch_size=64, num_workers=4, persistent_workers=True)",
)
_DATA: Final = "data"
"""The region in which a program waits for its next batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRegion:
    """A region that spends half of the step or more on the host."""

    name: str
    host_us: float
    """Per step."""
    share: float
    """Of the step."""
    basis: str
    """Whether that step is ``modelled`` or ``measured``."""

    @property
    def remedy(self) -> HostRemedy:
        """What to do about it."""
        return LOADED if self.name == _DATA else VECTORISED


def dominant_regions(
    sites: Sequence[Site], regions: Mapping[str, Region]
) -> tuple[HostRegion, ...]:
    """The regions whose host work dominates the step.

    Modelled time is used where there is any: it is the host's own time with launches and waits added,
    so that the host's share can be told apart. Measured time includes what operations took, so without
    a model only regions that launch nothing are looked at.
    """
    has_model = any(region.modelled_ms_per_step is not None for region in regions.values())
    step_us = sum(_region_us(region, has_model) for region in regions.values())
    costs: defaultdict[str, list[float]] = defaultdict(list)
    for site in sites:
        costs[site.region].append(site.host_us_modelled)
    found = []
    for name, region in regions.items():
        host_us = _region_us(region, has_model) - sum(costs[name])
        has_launches = region.per_step.get(EventKind.LAUNCH, 0.0) > 0
        if name in NOT_JUDGED or (has_launches and not has_model):
            continue
        if host_us < max(SMALLEST_US, LARGEST_US_PER_EVENT * _events(region)):
            continue
        if host_us >= DOMINANT_SHARE * step_us:
            basis = "modelled" if has_model else "measured"
            share = host_us / step_us
            found.append(HostRegion(name=name, host_us=host_us, share=share, basis=basis))
    return tuple(found)


def _events(region: Region) -> float:
    """Operations and waits of a region per step; allocations come with operations."""
    return sum(
        region.per_step.get(kind, 0.0) for kind in EventKind if kind is not EventKind.ALLOCATION
    )


def _region_us(region: Region, has_model: bool) -> float:
    milliseconds = region.modelled_ms_per_step if has_model else region.measured_ms_per_step
    return (milliseconds or 0.0) * 1e3
