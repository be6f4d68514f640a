"""A recording: torch is watched inside the ``with`` block and left as it was found after it."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

from syncprobe.clock import SystemClock
from syncprobe.errors import SyncprobeError
from syncprobe.interrupts import finish, uninterrupted
from syncprobe.recording import marks
from syncprobe.recording.automatic import steps_told
from syncprobe.recording.automatic.finder import NONE
from syncprobe.recording.callsite import CallSiteFinder
from syncprobe.recording.processes.spawned import Nursery
from syncprobe.recording.processes.told import children_told
from syncprobe.recording.recorder import Recorder
from syncprobe.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import TracebackType

    from syncprobe.clock import Clock
    from syncprobe.events import Event, Sink
    from syncprobe.profiles.model import Profile
    from syncprobe.recording.automatic.finder import StepFinder
    from syncprobe.recording.own_time.timer import OwnTimer

AUTOMATIC: Final = "auto"
SHOWN_LINES: Final = 5
"""Of a recording that is printed."""


class AlreadyRecordingError(SyncprobeError):
    """A recording inside another one."""

    def __init__(self) -> None:
        super().__init__(
            "A recording is open already in this process; leave its 'with' block before opening another."
        )


class CannotCheckError(SyncprobeError):
    """Values to be checked on a device that computes them itself."""

    def __init__(self, device: str) -> None:
        super().__init__(
            f"Values are checked on the simulated device only, not on {device!r}: choose device 'sim'."
        )


def _values_checked() -> AbstractContextManager[None]:
    from syncprobe.simgpu.checking import values_checked  # torch is imported only to record

    return values_checked()


def _simulated(sink: Sink) -> AbstractContextManager[object]:
    from syncprobe.simgpu import SimulatedDevice  # torch is imported only to record

    return SimulatedDevice(sink)


def _host(sink: Sink) -> AbstractContextManager[object]:
    from syncprobe.recording.host import host_watched  # torch is imported only to record

    return host_watched(sink)


def _cuda(sink: Sink) -> AbstractContextManager[object]:
    from syncprobe.recording.cuda import cuda_watched  # torch is imported only to record

    return cuda_watched(sink)


def _own_timer() -> tuple[OwnTimer, int]:
    from syncprobe.recording.own_time.calibration import (
        simulated_call,  # torch is imported only to record
    )
    from syncprobe.recording.own_time.timer import OwnTimer

    call = simulated_call()
    return OwnTimer(call), call.handover_ns


DEVICES: Registry[Callable[[Sink], AbstractContextManager[object]]] = Registry("device")
DEVICES.add("sim", _simulated)
DEVICES.add("cpu", _host)
DEVICES.add("cuda", _cuda)


def resolve_device(name: str) -> str:
    """The device that ``auto`` stands for here; other names are checked and given back."""
    if name == AUTOMATIC:
        import torch  # only this question needs it

        return "cuda" if torch.cuda.is_available() else "sim"
    if name not in DEVICES:
        DEVICES[name]  # raises the error that suggests a name
    return name


class Recording:
    """Records what a program does between host and device.

    Args:
        device: ``sim`` (torch gets a simulated CUDA device), ``cuda`` (a real one), ``cpu`` (no
            device: only conversions can be seen), or ``auto``: ``cuda`` where there is one, else ``sim``.
        gpu: Device spec for modelled time, such as ``t4``.
        warmup: Marked steps to let pass before recording.
        steps: Marked steps to record; None records all.
        max_events: How many single events to keep beside the sums; None keeps all.
        root: Folder that paths are shown relative to; the working directory by default.
        own: Folder, or file, of the user's own project, to which lines of libraries are rolled up; the root by
            default.
        clock: Measures host time.
        on_step: Told how many steps, warm-up included, have begun before each one.
        step_on: What a step is (``auto``, ``optimizer``, ``env``, ``batch``, ``mark`` or ``none``), regions
            being found, too; None knows marks only.
        ends_program: End the program, with an exception of its own, after the last step.
        checks_values: Compute everything on the host once more and note the first difference
            (simulated device only).
    """

    def __init__(
        self,
        *,
        device: str = AUTOMATIC,
        gpu: str = "t4",
        warmup: int = 0,
        steps: int | None = None,
        max_events: int | None = 10_000,
        root: Path | None = None,
        own: Path | None = None,
        clock: Clock | None = None,
        on_step: Callable[[int], None] | None = None,
        step_on: str | None = None,
        ends_program: bool = False,
        checks_values: bool = False,
    ) -> None:
        from syncprobe.cuda.costs import TwoClocks  # its package imports torch
        from syncprobe.cuda.specs import SPECS  # its package imports torch

        self.device = resolve_device(device)
        self.gpu = SPECS[gpu]
        self.root = root
        self.warmup = warmup
        if checks_values and self.device != "sim":
            raise CannotCheckError(self.device)
        self._checks_values = checks_values
        self._finder = CallSiteFinder(root, own)
        # A clock that is handed in is not torch's, so operators cannot be found on it.
        own_timer, handover_ns = (
            _own_timer() if self.device == "sim" and clock is None else (None, 0)
        )
        self._nursery = Nursery(
            {
                "device": self.device,
                "gpu": gpu,
                "warmup": warmup,
                "steps": steps,
                "root": root,
                "own": own,
                "step_on": step_on,
                "ends_program": ends_program,
                "checks_values": checks_values,
            }
        )
        self._recorder = Recorder(
            self._finder,
            clock or SystemClock(),
            TwoClocks(self.gpu) if self.device == "sim" else None,
            max_events=max_events,
            warmup=warmup,
            max_steps=steps,
            on_step=on_step,
            own_timer=own_timer,
            handover_ns=handover_ns,
            nursery=self._nursery,
        )
        self._step_on = step_on
        self._ends_program = ends_program
        self._steps: StepFinder | None = None
        self._undo: ExitStack | None = None
        self._spawned_step_on: str | None = None

    def __enter__(self) -> Self:
        if marks.active() is not None:
            raise AlreadyRecordingError
        self._finder.outermost = sys._getframe(1)
        try:
            with uninterrupted(), ExitStack() as undo:
                self._install(undo)
                self._undo = undo.pop_all()
        except BaseException:
            finish(self._leave)
            raise
        return self

    def _install(self, undo: ExitStack) -> None:
        undo.callback(setattr, self._finder, "outermost", None)
        self._steps = undo.enter_context(
            steps_told(self._recorder, self._step_on, ends_program=self._ends_program)
        )
        undo.enter_context(children_told(self._recorder.note))
        undo.enter_context(DEVICES[self.device](self._recorder))
        if self._checks_values:
            undo.enter_context(_values_checked())
        self._recorder.resume()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._undo is not None, "left without being entered"
        finish(self._leave)

    def _leave(self) -> None:
        if self._undo is None:
            return
        undo, self._undo = self._undo, None
        with undo:
            if self._steps is not None:
                self._steps.drop_open_step()
            self._recorder.close()
        self._bring_home()

    def _bring_home(self) -> None:
        """Add what spawned processes did, now that they are over."""
        if not self._nursery.started:
            return
        records = self._nursery.collect()
        self._recorder.absorb(records)
        self._finder.own_files.update(*(record.own_files for record in records))
        self._recorder.note(self._nursery.note(len(records)))
        self._spawned_step_on = next((each.step_on for each in records if each.steps), None)

    def step(self) -> AbstractContextManager[None]:
        """Begin a training step; see :func:`syncprobe.step`."""
        return marks.step()

    def region(self, name: str) -> AbstractContextManager[None]:
        """Charge what happens inside to a region; see :func:`syncprobe.region`."""
        return marks.region(name)

    @property
    def step_on(self) -> str | None:
        """What was taken for a step; None if only marks were asked for."""
        if self._steps is None:
            return None
        if self._steps.kind == NONE and self._spawned_step_on is not None:
            return self._spawned_step_on
        return self._steps.kind if self._recorder.steps_recorded else NONE

    @property
    def recorder(self) -> Recorder:
        """The sums as they stand, for analysis."""
        return self._recorder

    @property
    def own_files(self) -> frozenset[str]:
        """Paths, as sites show them, of the user's own files that were seen running."""
        return frozenset(self._finder.own_files)

    @property
    def counts(self) -> Counter[str]:
        """Events by kind; kinds that never happened count 0."""
        return self._recorder.counts

    @property
    def syncs(self) -> int:
        """How often the host had to wait for the device."""
        return sum(entry.count for entry in self._recorder.sums if entry.is_blocking)

    @property
    def events(self) -> tuple[Event, ...]:
        """Single events in order, the first ``max_events`` of them."""
        return self._recorder.events

    @property
    def events_dropped(self) -> int:
        """How many events were summed but not kept singly."""
        return self._recorder.events_dropped

    def __str__(self) -> str:
        """What was recorded so far, on a few lines: counts, then the lines that wait most often."""
        steps = self._recorder.steps_recorded
        within = f" in {steps} steps" if steps else ""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts.items() if count)
        waits: Counter[str] = Counter()
        for entry in self._recorder.sums:
            if entry.is_blocking:
                waits[f"{entry.origin.site.path}:{entry.origin.site.line}"] += entry.count
        lines = [f"{self.syncs} syncs{within} on {self.device}: {counts or 'nothing happened'}"]
        lines += [f"  {count} at {place}" for place, count in waits.most_common(SHOWN_LINES)]
        return "\n".join(lines)

    def profile(self) -> Profile:
        """What was recorded so far, as a profile."""
        from syncprobe.recording.assembling import profile_of  # it builds on this module

        return profile_of(self)
