"""Puts a profile together from a trace. Its times are measured, on the machine that was traced."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe._version import __version__
from syncprobe.events import EventSum
from syncprobe.findings import SourceLines
from syncprobe.importing import trace_file
from syncprobe.importing.busy import device_busy
from syncprobe.importing.calls import CONVERSION, Calls
from syncprobe.importing.examining import examine_alone
from syncprobe.importing.frames import NOWHERE, Frames
from syncprobe.importing.marks import Marks
from syncprobe.profiles import aggregate, timing
from syncprobe.profiles.model import Profile, Run, Time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.events import Origin
    from syncprobe.importing.calls import Happening
    from syncprobe.importing.trace_file import TraceFile

UNKNOWN: Final = "unknown"
NO_DEVICE: Final = (
    "The trace has no device in it: syncs, copies and launches cannot be seen, only tensors made from "
    "host data. Trace the program on a GPU with ProfilerActivity.CUDA, or run it here: syncprobe profile."
)
NO_STACKS: Final = "The trace has no Python stacks, so nothing can be charged to a line. Record it with with_stack=True."
FIRST_LINES: Final = (
    "The lines are those where functions begin: torch.profiler records functions, not lines."
)
NO_STEPS: Final = (
    "The trace marks no steps, so rates are per run. Give torch.profiler.profile a schedule and call its "
    "step() after each step."
)


def import_trace(path: Path | str, *, root: Path | None = None) -> Profile:
    """The profile of a trace that torch.profiler exported, plain or compressed.

    Args:
        path: The trace.
        root: The folder that the program's source lies in, for findings; the current one if None.

    Raises:
        SyncprobeError: The file cannot be read, or is no such trace.
    """
    path = Path(path)
    trace = trace_file.read(path)
    marks, calls = Marks(trace), Calls(trace)
    root = root or Path.cwd()
    sums = _sums(calls.happenings(), Frames(trace, root), marks)
    run = _run(path, trace, len(marks.steps), tuple(_notes(trace, marks, calls, sums)))
    doubts = () if trace.has_device else (NO_DEVICE,)
    return replace(_profile(marks, sums, run, root), doubts=doubts)


def _sums(happenings: Iterator[Happening], frames: Frames, marks: Marks) -> list[EventSum]:
    sums: dict[tuple[object, ...], EventSum] = {}
    for happening in happenings:
        thread = frames.caller_thread(happening.thread, happening.at_ns)
        origin = frames.origin(thread, happening.at_ns)
        named = _named(happening, frames.builtin(thread, happening.at_ns))
        region = marks.region(thread, happening.at_ns)
        key = (named.kind, named.operation, origin, region, named.is_blocking)
        if key not in sums:
            sums[key] = _empty_sum(named, origin, region)
        _add(sums[key], named, marks.is_in_step(happening.at_ns))
    return list(sums.values())


def _named(happening: Happening, builtin: str) -> Happening:
    """A conversion is called what the program called; other operations have names of their own."""
    if happening.operation != CONVERSION or not builtin:
        return happening
    return replace(happening, operation=f"torch.{builtin}")


def _empty_sum(happening: Happening, origin: Origin, region: str) -> EventSum:
    return EventSum(
        kind=happening.kind,
        operation=happening.operation,
        origin=origin,
        region=region,
        is_blocking=happening.is_blocking,
    )


def _add(event_sum: EventSum, happening: Happening, is_in_step: bool) -> None:
    event_sum.count += 1
    event_sum.nbytes += happening.nbytes
    if is_in_step:
        event_sum.in_steps += 1
        event_sum.nbytes_in_steps += happening.nbytes


def _profile(marks: Marks, sums: Sequence[EventSum], run: Run, root: Path) -> Profile:
    measured = marks.measured()
    regions = aggregate.regions_of(
        sums,
        run.steps,
        aggregate.RegionFacts(measured_ms=timing.region_means(measured) if measured else {}),
    )
    sites = aggregate.sites_of(sums, run.steps)
    source = SourceLines(root, is_trusted=False)
    examined = examine_alone(sites, regions, steps=run.steps, source=source)
    return Profile(
        syncprobe=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        run=replace(run, notes=(*run.notes, *examined.notes)),
        counts=aggregate.totals(sums),
        per_step=aggregate.rates(sums, run.steps),
        regions=regions,
        sites=examined.sites,
        time=Time(measured_ms_per_step=timing.step_spread(measured) if measured else None),
        findings=examined.findings,
    )


def _run(path: Path, trace: TraceFile, steps: int, notes: tuple[str, ...]) -> Run:
    return Run(
        target=path.name,
        device="cuda" if trace.has_device else "cpu",
        gpu=trace.device_name or UNKNOWN,
        steps=steps,
        # A trace does not say what recorded it.
        torch=UNKNOWN,
        python=UNKNOWN,
        command=shlex.join(["syncprobe", "import", str(path)]),
        notes=notes,
    )


def _notes(trace: TraceFile, marks: Marks, calls: Calls, sums: Sequence[EventSum]) -> Iterator[str]:
    if sums:
        is_known = any(entry.origin is not NOWHERE for entry in sums)
        yield FIRST_LINES if is_known else NO_STACKS
    if not marks.steps:
        yield NO_STEPS
    if trace.has_device and marks.steps:
        share = device_busy(trace, marks.steps)
        yield f"The device was busy {share:.0%} of the steps, measured on the traced machine."
    if calls.unmatched_copies:
        yield f"{calls.unmatched_copies:,} copies have no device side in the trace and are not counted."
    if trace.malformed:
        yield f"{trace.malformed:,} damaged entries of the trace were left out."
