"""What the host asked of the device: calls of the CUDA runtime, named and classed as syncprobe does it.

A copy and the synchronisation that torch issues right after it, inside the same operation, are one event: a
copy that blocks. HIP's calls have the same names behind another prefix.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings import operations
from syncprobe.importing.nesting import Nesting, by_thread
from syncprobe.importing.trace_file import COPY, OPERATOR, RUNTIME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.importing.trace_file import TraceEvent, TraceFile

CONVERSION: Final = "aten::lift_fresh"
"""What torch ends every constructor from Python or NumPy data with."""
SCALAR_READ: Final = "aten::_local_scalar_dense"
PLAIN_READS: Final = frozenset({SCALAR_READ, "aten::item", "aten::is_nonzero"})
COPIES: Final = frozenset({"aten::copy_", "aten::_to_copy", "aten::to"})
IMPLICIT: Final = operations.DYNAMIC_SHAPES | (operations.COMPARISONS - {"is_nonzero"})
SYNCHRONISING: Final = frozenset(
    {"StreamSynchronize", "DeviceSynchronize", "EventSynchronize", "CtxSynchronize"}
)
_CALL: Final = re.compile(r"(?:cuda|hip|cu)(?P<call>[A-Z]\w*?)(?:_ptsz|_ptds|_v\d+)*")
_LAUNCH: Final = re.compile(r"(?:Ext)?(?:Module|Graph)?Launch\w*|Memset\w*")
_DIRECTION: Final = re.compile(r"Memcpy (?P<direction>[A-Z]to[A-Z])\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One event of the program, at a moment of a thread."""

    kind: EventKind
    operation: str
    is_blocking: bool
    nbytes: int
    thread: str
    at_ns: int


class Calls:
    """Reads the runtime calls of a trace."""

    def __init__(self, trace: TraceFile) -> None:
        self._trace = trace
        self._operators = by_thread(trace.of(OPERATOR))
        self._copies = {
            copy.correlation: copy for copy in trace.of(COPY) if copy.correlation is not None
        }
        self.unmatched_copies = 0
        """Copies that the device side of the trace knows nothing of: neither direction nor size."""

    def happenings(self) -> Iterator[Happening]:
        """Everything that the host asked of the device, and the tensors it made from its own data."""
        threads: dict[str, list[TraceEvent]] = {}
        for call in self._trace.of(RUNTIME):
            threads.setdefault(call.thread, []).append(call)
        for thread, calls in threads.items():
            yield from self._of_thread(thread, calls)
        for operator in self._trace.of(OPERATOR):
            if operator.name == CONVERSION:
                yield _happening(operator, EventKind.CONVERSION, CONVERSION)

    def _of_thread(self, thread: str, calls: list[TraceEvent]) -> Iterator[Happening]:
        nesting = self._operators.get(thread, Nesting(()))
        pending: defaultdict[int | None, list[Happening]] = defaultdict(list)
        for call in calls:
            place = nesting.innermost(call.start_ns)
            chain = _chain(nesting, call.start_ns)
            if _short(call.name) in SYNCHRONISING:
                copies: Sequence[Happening] = pending.pop(place, ())
                yield from (replace(copy, is_blocking=True) for copy in copies)
                if not copies:
                    yield _synchronisation(call, chain)
                continue
            if place is None:
                # Outside of operations only a synchronisation right after a copy belongs to it.
                yield from pending.pop(place, ())
            found = self._plain(call, chain)
            if found is not None and found.kind is EventKind.LAUNCH:
                yield found
            elif found is not None:
                pending[place].append(found)
        for copies in pending.values():
            yield from copies

    def _plain(self, call: TraceEvent, chain: tuple[str, ...]) -> Happening | None:
        name = _short(call.name)
        innermost = chain[0] if chain else call.name
        if _LAUNCH.fullmatch(name):
            return _happening(call, EventKind.LAUNCH, innermost)
        if not name.startswith("Memcpy"):
            return None
        copy = None if call.correlation is None else self._copies.get(call.correlation)
        if copy is None:
            self.unmatched_copies += 1
            return None
        found = _DIRECTION.match(copy.name)
        direction = found["direction"] if found else ""
        if direction not in {"DtoH", "HtoD"}:
            return _happening(call, EventKind.LAUNCH, innermost)
        kind, operation = _transfer(direction, chain) if chain else (_kind(direction), call.name)
        # The runtime stages pageable memory itself, and keeps the host until it has.
        blocks = "Pageable" in copy.name or "Async" not in name
        return replace(_happening(call, kind, operation), is_blocking=blocks, nbytes=copy.nbytes)


def _happening(event: TraceEvent, kind: EventKind, operation: str) -> Happening:
    return Happening(
        kind=kind,
        operation=operation,
        is_blocking=False,
        nbytes=0,
        thread=event.thread,
        at_ns=event.start_ns,
    )


def _short(name: str) -> str:
    found = _CALL.fullmatch(name)
    return found["call"] if found else ""


def _chain(nesting: Nesting, at_ns: int) -> tuple[str, ...]:
    """The operations around a moment, innermost first, up to the first that is not torch's own."""
    names: list[str] = []
    for number in nesting.around(at_ns):
        name = nesting.events[number].name
        if not name.startswith("aten::"):
            break
        names.append(name)
    return tuple(names)


def _kind(direction: str) -> EventKind:
    return EventKind.COPY_TO_HOST if direction == "DtoH" else EventKind.COPY_TO_DEVICE


def _transfer(direction: str, chain: tuple[str, ...]) -> tuple[EventKind, str]:
    """What a transfer is, by the operation that made it and the one that the program called."""
    innermost, called = chain[0], chain[-1]
    if direction == "HtoD":
        return EventKind.COPY_TO_DEVICE, called
    if _is_implicit(called):
        return EventKind.IMPLICIT_SYNC, called
    if innermost == SCALAR_READ:
        return EventKind.SCALAR_READ, SCALAR_READ if called in PLAIN_READS else called
    if innermost in COPIES:
        return EventKind.COPY_TO_HOST, called
    return EventKind.IMPLICIT_SYNC, called


def _is_implicit(operation: str) -> bool:
    name = operations.base_name(operation)
    return name in IMPLICIT or name.startswith("linalg")


def _synchronisation(call: TraceEvent, chain: tuple[str, ...]) -> Happening:
    kind = EventKind.IMPLICIT_SYNC if chain else EventKind.EXPLICIT_SYNC
    return replace(_happening(call, kind, chain[-1] if chain else call.name), is_blocking=True)
