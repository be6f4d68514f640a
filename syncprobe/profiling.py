"""Puts a profile together from what was recorded, measured and computed."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe._version import __version__
from syncprobe.analysis import aggregate, timing
from syncprobe.analysis.model import Profile, Run, Time
from syncprobe.analysis.timeline import timeline_of
from syncprobe.findings import SourceLines, examine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from syncprobe.analysis.model import Digest
    from syncprobe.recording.session import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What is known about a run besides its events."""

    run: Run | None = None
    """How the run is described; steps and device are filled in from the recording."""
    measured: Sequence[Mapping[str, int]] | None = None
    """Nanoseconds by region of each step of the clean pass."""
    digest: Digest | None = None


def profile_of(recording: Recording, extras: Extras | None = None) -> Profile:
    """The profile of a recording."""
    extras = extras or Extras()
    recorder = recording.recorder
    sums, steps = recorder.sums, recorder.steps_recorded
    has_model = recording.device == "sim"
    measured = extras.measured
    regions = aggregate.regions_of(
        sums,
        steps,
        aggregate.RegionFacts(
            modelled=recorder.region_times,
            measured_ms=timing.region_means(measured) if measured else {},
            has_model=has_model,
        ),
    )
    step_ms = sum(region.modelled_ms_per_step or 0.0 for region in regions.values())
    busy_ms = recorder.device_busy_ns / 1e6 / max(steps, 1)
    sites = aggregate.sites_of(sums, steps)
    examined = examine(
        sites, regions, steps=steps, source=SourceLines(recording.root or Path.cwd())
    )
    return Profile(
        syncprobe=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        run=_run(recording, extras),
        counts=aggregate.totals(sums),
        per_step=aggregate.rates(sums, steps),
        regions=regions,
        sites=examined.sites,
        time=Time(
            measured_ms_per_step=timing.step_spread(measured) if measured else None,
            modelled_ms_per_step=round(step_ms, 6) if has_model else None,
            device_busy=round(min(busy_ms / step_ms, 1.0), 6) if has_model and step_ms else None,
            spec=recording.gpu.name if has_model else None,
        ),
        ceiling=aggregate.ceilings(examined.sites, regions, step_ms if has_model else None),
        findings=examined.findings,
        digest=extras.digest,
        unknown_ops=tuple(sorted(recorder.unknown_operations)),
        timeline=None if recorder.film is None else timeline_of(recorder.film),
    )


def describe_run(*, target: str, device: str, gpu: str, command: str = "") -> Run:
    """A run of which only these things are known; the rest is filled in with ``replace``."""
    return Run(
        target=target,
        device=device,
        gpu=gpu,
        steps=0,
        torch=metadata.version("torch"),
        python=platform.python_version(),
        command=command,
    )


def _run(recording: Recording, extras: Extras) -> Run:
    run = extras.run or describe_run(
        target="record", device=recording.device, gpu=recording.gpu.name
    )
    return replace(run, steps=recording.recorder.steps_recorded, warmup=recording.warmup)
