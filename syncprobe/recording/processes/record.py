"""What one spawned process did, on its way home to the recording that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from syncprobe.events import EventSum, RegionTime, StepFilm
from syncprobe.profiles.host import Outside
from syncprobe.profiles.own_time.steps import OwnStep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.recording.session import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """What a recorder knows when its process ends; written as JSON, never as code."""

    steps: int
    step_on: str | None
    sums: Sequence[EventSum]
    regions: Mapping[str, RegionTime]
    busy_ns: float
    handover_ns: int
    own_steps: Sequence[OwnStep]
    films: Sequence[StepFilm]
    outside: Outside | None
    unknown_operations: Sequence[str]
    notes: Sequence[str]
    own_files: Sequence[str]


def record_of(recording: Recording) -> ProcessRecord:
    """The record of a recording that is over."""
    recorder = recording.recorder
    times = recorder.times()
    return ProcessRecord(
        steps=recorder.steps_recorded,
        step_on=recording.step_on,
        sums=recorder.sums,
        regions=dict(times.regions),
        busy_ns=times.busy_ns,
        handover_ns=times.handover_ns,
        own_steps=recorder.own_steps,
        films=recorder.films,
        outside=recorder.outside,
        unknown_operations=sorted(recorder.unknown_operations),
        notes=tuple(recorder.notes),
        own_files=sorted(recording.own_files),
    )


def leader(records: Sequence[ProcessRecord]) -> ProcessRecord | None:
    """Whose steps the program's are, if it makes none itself: of the process that made most, the first."""
    stepping = [record for record in records if record.steps]
    return max(stepping, key=lambda record: record.steps, default=None)


def beside(record: ProcessRecord, *, has_steps: bool) -> Iterator[EventSum]:
    """The events of a process that worked beside the program: they count, but its host did not wait for them.

    Where it made no steps of its own, all it did was for those of the program.
    """
    for each in record.sums:
        is_for_steps = has_steps and not record.steps
        yield replace(
            each,
            in_steps=each.count if is_for_steps else each.in_steps,
            nbytes_in_steps=each.nbytes if is_for_steps else each.nbytes_in_steps,
            host_ns=0.0,
            stall_ns=0.0,
            run_host_ns=0.0,
            run_stall_ns=0.0,
        )
