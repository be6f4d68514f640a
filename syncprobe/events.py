"""The facts a recorder reports. Everything downstream is computed from these."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


DEFAULT_REGION: Final = "other"
"""The region of what no mark covers."""


class EventKind(enum.StrEnum):
    """What happened between the host and the device."""

    SCALAR_READ = "scalar_read"
    """``.item()``, ``bool(t)``, ``if t``, printing: one value travels to the host."""
    COPY_TO_HOST = "copy_to_host"
    """``.cpu()``, ``.to("cpu")``, ``.tolist()``, ``copy_`` from the device to the host."""
    COPY_TO_DEVICE = "copy_to_device"
    """``.cuda()``, ``.to(device)``, ``torch.tensor(x, device=...)``, a host index on a device tensor."""
    IMPLICIT_SYNC = "implicit_sync"
    """A shape or a value that depends on device data: ``nonzero``, boolean masks, ``unique``."""
    EXPLICIT_SYNC = "explicit_sync"
    """``torch.cuda.synchronize`` and its stream and event relatives."""
    CONVERSION = "conversion"
    """A tensor made from Python or NumPy data."""
    LAUNCH = "launch"
    """An operation that puts work on the device."""
    ALLOCATION = "allocation"
    """Device memory newly allocated."""


TO_HOST: Final = frozenset({EventKind.SCALAR_READ, EventKind.COPY_TO_HOST})
"""The kinds whose bytes travel from the device to the host."""
MOVING: Final = TO_HOST | {EventKind.COPY_TO_DEVICE}
"""The kinds whose bytes travel at all."""


@dataclass(frozen=True, slots=True, order=True)
class CallSite:
    """A line of user code, relative to the project root so that profiles compare across machines."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened, and who asked for it."""

    kind: EventKind
    operation: str
    """``aten::...`` where an operator did it, else the name of the public API."""
    is_blocking: bool
    """The host had to wait for the device."""
    site: CallSite
    """The innermost frame of user code."""
    stack: tuple[CallSite, ...]
    """The user frames above the site, innermost first."""
    region: str
    step: int
    nbytes: int
    """Bytes transferred, allocated, or (for a launch) read and written by the operation."""
    thread: str


class Origin(NamedTuple):
    """Where an event came from."""

    stack: tuple[CallSite, ...]
    """User frames, innermost first: the first one is the call site."""
    entry: str
    """The library function that the site called, such as ``Normal.__init__``; empty if none."""

    @property
    def site(self) -> CallSite:
        """The innermost frame of user code."""
        return self.stack[0]


@dataclass(slots=True)
class EventSum:
    """All events that agree in kind, operation, origin, region and blocking, added up."""

    kind: EventKind
    operation: str
    origin: Origin
    region: str
    is_blocking: bool
    count: int = 0
    in_steps: int = 0
    """How many of them happened inside a marked step."""
    nbytes: int = 0
    nbytes_in_steps: int = 0
    host_ns: float = 0.0
    """Modelled host time in steps, waiting included."""
    stall_ns: float = 0.0
    """Modelled time in steps that the host waited for the device and for the transfer."""
    run_host_ns: float = 0.0
    run_stall_ns: float = 0.0
    """The same in all of the run."""
    needed: int = 0
    """How many were the one read-back per step that hands the decision to the environment."""
    touched_in: int = field(default=0, compare=False, repr=False)
    """The step that added to it last, by the tally's count."""


class Moment(NamedTuple):
    """One event on the modelled clocks, in nanoseconds since the recording began."""

    event_sum: EventSum
    """What happened, and where."""
    nbytes: int
    start_ns: float
    host_ns: float
    """How long it kept the host, waiting included."""
    stall_ns: float
    device_start_ns: float
    device_ns: float


@dataclass(slots=True)
class StepFilm:
    """Everything that one step did, in order."""

    step: int
    start_ns: float
    end_ns: float = 0.0
    moments: list[Moment] = field(default_factory=list)
    left_out: int = 0
    """Events beyond the number that is kept."""
    crossings: list[tuple[float, str]] = field(default_factory=list)
    """When the host entered which region."""
    device_free_ns: float = 0.0
    """When the device is done with what was issued before the step."""

    @property
    def duration_ns(self) -> float:
        """From the beginning to the end of the step, on the host."""
        return self.end_ns - self.start_ns

    @property
    def events(self) -> int:
        """All events of the step, kept or not."""
        return len(self.moments) + self.left_out


@dataclass(slots=True)
class RegionTime:
    """Modelled time spent in one region, inside steps if any were marked."""

    host_ns: float = 0.0
    """Measured host time between events."""
    modelled_ns: float = 0.0
    """Host time with launches, transfers and waiting added."""

    @property
    def device_ns(self) -> float:
        """What launches, transfers and waiting cost the host."""
        return self.modelled_ns - self.host_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTime:
    """Time that a line took, measured in a pass of its own."""

    site: CallSite
    hits_per_step: float
    elapsed_us_per_step: float


class Successor(Protocol):
    """What a process that the program spawns has instead of the sink; it is pickled on its way there."""

    def begin(self) -> None:
        """Give the process a simulated device, before anything of the program is imported."""

    def run(self, call: Callable[[], object]) -> None:
        """Run what the process is for."""

    def end(self) -> None:
        """The process is about to end."""


class Sink(Protocol):
    """Where a device reports what it sees. Implemented by the recorder, called by the devices."""

    def pause(self) -> None:
        """The program handed over to the device layer: from here on no host time is counted."""

    def resume(self) -> None:
        """The program has control again."""

    def emit(
        self,
        kind: EventKind,
        operation: str,
        *,
        is_blocking: bool = False,
        nbytes: int = 0,
        flops: int = 0,
    ) -> None:
        """Report one event; the sink finds the call site, the region and the step itself."""

    def emit_launch(
        self, operation: str, allocated: int, nbytes: int, flops: int, resumes: bool
    ) -> None:
        """Report the usual operation, an allocation for its result and a launch, at the price of one.

        With ``resumes`` it is over, and the program has control again.
        """

    def charged_to_caller(self) -> AbstractContextManager[None]:
        """Charge what other threads do meanwhile to the line that is running now (``backward``)."""

    def unknown_operation(self, operation: str) -> None:
        """Report an operator that the rules do not know."""

    def note(self, text: str) -> None:
        """Say something about the run that its reader must know; said twice it counts once."""

    def successor(self) -> Successor | None:
        """Who hears of what a process does that is about to be spawned; None if nobody wants to."""
