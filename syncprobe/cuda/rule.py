"""The words in which the tables speak: rules, calls, effects, and where a rule is known from."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from syncprobe.events import EventKind

PAGEABLE_ASYNC: Final = "pageable async"
"""The mark of copies that were asked not to block and go through pageable memory: whether the host
waits for the device is the driver's choice, so they count as blocking and say so."""

PINNED: Final = "pinned"
"""The mark of copies that wait although their host side is pinned: nobody asked them not to."""


class HostOperands(enum.Enum):
    """Which host tensors an operator accepts next to device tensors."""

    NONE = enum.auto()
    """Any host tensor is an error."""
    SCALAR = enum.auto()
    """One host tensor without dimensions is read as a number (an iterator that allows it)."""
    SCALARS = enum.auto()
    """Host tensors without dimensions are taken, however many."""
    ANY = enum.auto()
    """The operator moves host tensors itself, or wants them there."""


class Source(NamedTuple):
    """Where a rule was read."""

    file: str
    """In PyTorch's repository."""
    says: str = ""
    """What is written there, in our words."""
    since: str = ""
    """The first torch version that does so; empty if all that matter do."""


def native(file: str, says: str = "", since: str = "") -> Source:
    """A source below ``aten/src/ATen/native``."""
    return Source(f"aten/src/ATen/native/{file}", says, since)


class Effect(NamedTuple):
    """One event that the operator causes."""

    kind: EventKind
    is_blocking: bool = False
    nbytes: int = 0
    flops: int = 0
    mark: str = ""
    """Shown after the operator's name where events of one kind must be told apart."""

    def operation(self, name: str) -> str:
        """The operator's name with the mark."""
        return f"{name} ({self.mark})" if self.mark else name


class Placement(NamedTuple):
    """Where tensors live."""

    is_device: Callable[[Any], bool]
    is_pinned: Callable[[Any], bool]
    runs_formula: Callable[[], bool] = lambda: False
    """True while a backward formula runs on tensors that look like subclasses to torch: it calls the
    out-of-place forms of operators where it calls the in-place forms for CUDA tensors."""


class Call(NamedTuple):
    """One operator call, finished."""

    overload: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    place: Placement

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument that may have been given by position or by name."""
        if len(self.args) > position:
            return self.args[position]
        return self.kwargs.get(name, default)

    def named(self, name: str, default: Any = None) -> Any:
        """An argument by the name that it has in the schema."""
        for position, argument in enumerate(self.overload._schema.arguments):
            if argument.name == name:
                return self.argument(position, name, default)
        return default

    def is_host(self, value: Any) -> bool:
        """True for tensors that are not on the device."""
        return hasattr(value, "dim") and not self.place.is_device(value)

    def clones(self) -> bool:
        """True for out-of-place writes that copy their first argument before."""
        name = f"{self.overload._schema.name}.{self.overload._schema.overload_name}"
        if name not in _IN_PLACE_IN_FORMULAS:
            return True
        if name == "aten::index_put." and not self.argument(3, "accumulate", default=False):
            return True
        return not self.place.runs_formula()


_IN_PLACE_IN_FORMULAS: Final = frozenset(
    {
        "aten::index_put.",
        "aten::index_add.",
        "aten::index_fill.int_Tensor",
        "aten::scatter.src",
        "aten::scatter_add.",
        "aten::masked_scatter.",
        "aten::put.",
        "aten::diagonal_scatter.",
    }
)
"""What FunctionsManual.cpp and its helpers write in place, unless a tensor is a subclass."""

Waits = Callable[[Call], bool]
Counts = Callable[[Call], int]
Effects = Callable[[Call], Iterator[Effect]]


@dataclass(frozen=True, slots=True)
class DeviceRule:
    """What is known about one operator."""

    launches: int = 1
    """Kernels that it puts on the device."""
    allocates: bool = True
    """Its fresh results are newly allocated device memory."""
    waits: Waits | None = None
    """Says whether this call makes the host wait for device data."""
    count: Counts | None = None
    """Kernels of one call, where they depend on the arguments."""
    crossings: Effects | None = None
    """Copies and reads that come before the kernels."""
    effects: Effects | None = None
    """Replaces the kernels, the wait and the rest."""
    flops: Callable[..., int] | None = None
    host_operands: HostOperands = HostOperands.NONE
    is_known: bool = True
    source: Source | None = None


def always(call: Call) -> bool:
    """Waits whatever the arguments are."""
    del call
    return True


def upload(nbytes: int) -> Effect:
    """A host value moved to the device with a plain ``.to(device)``."""
    return Effect(EventKind.COPY_TO_DEVICE, is_blocking=True, nbytes=nbytes)


def read(nbytes: int) -> Effect:
    """One value taken to the host with ``item()``."""
    return Effect(EventKind.SCALAR_READ, is_blocking=True, nbytes=nbytes)


def launch(nbytes: int, flops: int = 0) -> Effect:
    """One kernel."""
    return Effect(EventKind.LAUNCH, nbytes=nbytes, flops=flops)


WAIT: Final = Effect(EventKind.IMPLICIT_SYNC, is_blocking=True)
"""Counted once per operator that waits, however often it waits inside."""


def operation_effects(rule: DeviceRule, call: Call, nbytes: int) -> Iterator[Effect]:
    """What one call does to the device, but for the allocation of its results.

    Both the simulated and the real device are classified here.

    Args:
        rule: The rule of the overload that was called.
        call: The call, after it has run.
        nbytes: What the operator reads and writes on the device; nothing runs for nothing.
    """
    if rule.effects is not None:
        yield from rule.effects(call)
        return
    if rule.crossings is not None:
        yield from rule.crossings(call)
    if nbytes:
        flops = 0 if rule.flops is None else rule.flops(*call.args, result=call.result)
        for _ in range(rule.launches if rule.count is None else rule.count(call)):
            yield launch(nbytes, flops)
    if rule.waits is not None and rule.waits(call):
        yield WAIT
