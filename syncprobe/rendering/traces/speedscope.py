"""Sites and their callers as flame graphs in speedscope's file format, one per thing to weigh."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__
from syncprobe.events import MOVING, CallSite
from syncprobe.profiles.titles import title_of
from syncprobe.rendering import figures
from syncprobe.rendering.labels import modelled_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from syncprobe.profiles.model import Profile, Site
    from syncprobe.rendering import Page

SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
OTHER_CALLERS: Final = CallSite(path="", line=0, function="(other callers)")
"""Stands above what was reached in more ways than a profile keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """One thing to weigh sites by."""

    name: str
    unit: str
    of: Callable[[Site], float]


@dataclass(slots=True)
class Frames:
    """The frames of all stacks, each listed once and known by its number."""

    listed: list[dict[str, Any]] = field(default_factory=list)
    _numbers: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def number(self, name: str, path: str = "", line: int = 0) -> int:
        """The number of a frame."""
        key = (name, path, line)
        if key not in self._numbers:
            self._numbers[key] = len(self.listed)
            frame: dict[str, Any] = {"name": figures.printable(name) or "(no name)"}
            if path:
                frame["file"] = figures.printable(path)
            if line > 0:
                frame["line"] = line
            self.listed.append(frame)
        return self._numbers[key]


def render(profiles: Sequence[Profile], _page: Page) -> str:
    """For each profile a graph of its syncs, its bytes moved and, where there is one, its modelled time."""
    frames = Frames()
    graphs = [
        _graph(profile, weight, frames) for profile in profiles for weight in _weights(profile)
    ]
    titles = "; ".join(title_of(profile.run) for profile in profiles)
    document = {
        "$schema": SCHEMA,
        "name": f"syncprobe: {figures.printable(titles)}",
        "exporter": f"syncprobe@{__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": frames.listed},
        "profiles": graphs,
    }
    return json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"


def _weights(profile: Profile) -> Iterator[Weight]:
    yield Weight(
        name="syncs, in all", unit="none", of=lambda site: site.count if site.is_blocking else 0
    )
    yield Weight(
        name="bytes moved, in all",
        unit="bytes",
        of=lambda site: site.nbytes if site.kind in MOVING else 0,
    )
    if profile.time.modelled_ms_per_step is not None:
        yield Weight(
            name=f"host time per {profile.rate_noun}, {modelled_label(profile)}",
            unit="microseconds",
            of=lambda site: site.host_us_modelled,
        )


def _graph(profile: Profile, weight: Weight, frames: Frames) -> dict[str, Any]:
    samples: list[list[int]] = []
    weights: list[float] = []
    for site in profile.sites:
        amount = weight.of(site)
        if amount > 0:
            for stack, share in _stacks(site, frames):
                samples.append(stack)
                weights.append(amount * share)
    return {
        "type": "sampled",
        "name": f"{weight.name}: {figures.printable(title_of(profile.run))}",
        "unit": weight.unit,
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }


def _stacks(site: Site, frames: Frames) -> Iterator[tuple[list[int], float]]:
    """The ways a site was reached, outermost frame first, with the share of its events.

    A profile counts events by caller; bytes and time are taken to be spread as the events are.
    """
    leaf = frames.number(f"{site.kind}: {site.operation}")
    ways = [(caller.stack, caller.count) for caller in site.callers if caller.count > 0]
    known = sum(count for _, count in ways)
    if known < site.count:
        ways.append(((OTHER_CALLERS,) if known else (), site.count - known))
    total = max(known, site.count)
    for above, count in ways:
        stack = [
            frames.number(frame.function, frame.path, frame.line)
            for frame in (*reversed(above), site.site)
        ]
        yield [*stack, leaf], count / total
