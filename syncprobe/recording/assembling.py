"""Puts a profile together from what was recorded, measured and computed."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe._version import __version__
from syncprobe.cuda.rule import PAGEABLE_ASYNC
from syncprobe.findings import SourceLines, examine
from syncprobe.profiles import aggregate, timing
from syncprobe.profiles.model import Profile, Run, Time
from syncprobe.profiles.own_time.runs import calibrated, sampled
from syncprobe.profiles.own_time.steps import estimate
from syncprobe.profiles.pace import at_pace, paces
from syncprobe.profiles.timeline import timeline_of
from syncprobe.recording import blind_spots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from syncprobe.events import EventSum
    from syncprobe.profiles.host import OwnTime
    from syncprobe.profiles.model import Digest
    from syncprobe.recording.kept.tally import Times
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
    times = recorder.times()
    sums, steps = recorder.sums, recorder.steps_recorded
    has_model = recording.device == "sim"
    measured = extras.measured
    own = _own_time(recording, times) if has_model else None
    regions = aggregate.regions_of(
        sums,
        steps,
        aggregate.RegionFacts(
            modelled=times.regions,
            own_ms=own.by_region if own else {},
            measured_ms=timing.region_means(measured) if measured else {},
            has_model=has_model,
        ),
    )
    step_ms = sum(region.modelled_ms_per_step or 0.0 for region in regions.values())
    busy_ms = times.busy_ns / 1e6 / max(steps, 1)
    source = SourceLines(recording.root or Path.cwd())
    sites = tuple(
        replace(site, source=source.text(site.site))
        for site in aggregate.sites_of(sums, steps, recording.own_files)
    )
    examined = examine(sites, regions, steps=steps, source=source)
    company = blind_spots.company(own, step_ms)
    pace = {} if own is None else paces(own, times.regions, steps)
    timelines = tuple(timeline_of(at_pace(film, pace)) for film in recorder.films)
    return Profile(
        syncprobe=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        run=_run(recording, extras, (*company, *examined.notes)),
        counts=aggregate.totals(sums),
        per_step=aggregate.rates(sums, steps),
        regions=regions,
        sites=examined.sites,
        time=Time(
            measured_ms_per_step=timing.step_spread(measured) if measured else None,
            modelled_ms_per_step=round(step_ms, 6) if has_model else None,
            device_busy=round(min(busy_ms / step_ms, 1.0), 6) if has_model and step_ms else None,
            spec=recording.gpu.name if has_model else None,
            own=own,
            outside=recorder.outside,
        ),
        ceiling=aggregate.ceilings(examined.sites, regions, step_ms if has_model else None),
        findings=examined.findings,
        digest=extras.digest,
        unknown_ops=tuple(sorted(recorder.unknown_operations)),
        timeline=timelines[0] if timelines else None,
        other_timelines=timelines[1:],
        doubts=tuple(blind_spots.doubts(recording)),
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


def _own_time(recording: Recording, times: Times) -> OwnTime:
    recorder = recording.recorder
    watched = estimate(recorder.own_steps, "watched")
    if watched is not None:
        return watched
    gaps = None if recorder.steps_recorded else recorder.run_gaps
    if gaps is not None:
        return sampled(times.regions, gaps)
    return calibrated(times.regions, recorder.steps_recorded, times.handover_ns, recorder.short_ns)


def _run(recording: Recording, extras: Extras, notes: tuple[str, ...]) -> Run:
    run = extras.run or describe_run(
        target="record", device=recording.device, gpu=recording.gpu.name
    )
    recorder = recording.recorder
    return replace(
        run,
        steps=recorder.steps_recorded,
        warmup=recording.warmup,
        notes=(
            *run.notes,
            # A program that was interrupted may have had no time to use it.
            *(blind_spots.notes(recording) if run.is_complete or recorder.steps_recorded else ()),
            *recorder.notes,
            *_unsettled(recorder.sums),
            *notes,
        ),
    )


def _unsettled(sums: Sequence[EventSum]) -> Iterator[str]:
    """What nobody could read in PyTorch's sources, where the program depends on it."""
    operations = {event_sum.operation for event_sum in sums}
    if any(operation.endswith(f"({PAGEABLE_ASYNC})") for operation in operations):
        yield (
            "Copies marked as pageable async were asked not to block but go through pageable memory: "
            "the driver decides whether the host waits. They are counted as blocking."
        )
    if any(operation.startswith(_LIBRARY_CALLS) for operation in operations):
        yield (
            "Whether cuSOLVER, MAGMA, cuFFT or cuDNN wait inside is not known; "
            "only what PyTorch itself waits for is counted."
        )


_LIBRARY_CALLS = tuple(
    f"aten::{name}"
    for name in (
        *("_linalg_", "linalg_cholesky", "linalg_eig", "linalg_householder", "linalg_inv"),
        *("linalg_ldl", "linalg_lstsq", "linalg_lu", "linalg_qr", "linalg_solve", "cholesky"),
        *("_fft_", "lstm", "gru", "rnn_", "_cudnn_rnn"),
    )
)
