"""A sink that writes everything down, and the promise that torch is left as it was found."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import torch
import torch.cuda.nvtx
import torch.utils._device
from torch.optim.optimizer import _foreach_supported_types

from syncprobe.events import EventKind
from syncprobe.simgpu import SimulatedDevice

if TYPE_CHECKING:
    from collections.abc import Iterator


TRANSFERS = ("scalar_read", "copy_to_host", "copy_to_device", "implicit_sync", "explicit_sync")


class Recorded(NamedTuple):
    kind: str
    operation: str
    is_blocking: bool
    nbytes: int
    flops: int
    thread: str


class RecordingSink:
    """Keeps every event, and checks that pauses and resumes come in pairs on each thread."""

    def __init__(self) -> None:
        self.events: list[Recorded] = []
        self.unknown: set[str] = set()
        self.notes: list[str] = []
        self.charged = 0
        self._paused: set[int] = set()

    def pause(self) -> None:
        assert threading.get_ident() not in self._paused
        self._paused.add(threading.get_ident())

    def resume(self) -> None:
        self._paused.remove(threading.get_ident())

    def emit(
        self,
        kind: EventKind,
        operation: str,
        *,
        is_blocking: bool = False,
        nbytes: int = 0,
        flops: int = 0,
    ) -> None:
        assert nbytes >= 0
        name = threading.current_thread().name
        self.events.append(Recorded(str(kind), operation, is_blocking, nbytes, flops, name))

    def emit_launch(
        self, operation: str, allocated: int, nbytes: int, flops: int, resumes: bool
    ) -> None:
        self.emit(EventKind.ALLOCATION, operation, nbytes=allocated)
        self.emit(EventKind.LAUNCH, operation, nbytes=nbytes, flops=flops)
        if resumes:
            self.resume()

    @contextmanager
    def charged_to_caller(self) -> Iterator[None]:
        self.charged += 1
        yield

    def unknown_operation(self, operation: str) -> None:
        self.unknown.add(operation)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def successor(self) -> None:
        return None

    def take(self) -> list[Recorded]:
        events, self.events = self.events, []
        return events

    def counts(self) -> Counter[str]:
        return Counter(event.kind for event in self.events)

    @property
    def syncs(self) -> int:
        return sum(event.is_blocking for event in self.events)


@pytest.fixture
def sink() -> RecordingSink:
    return RecordingSink()


@pytest.fixture
def device(sink: RecordingSink) -> Iterator[SimulatedDevice]:
    with SimulatedDevice(sink) as active:
        yield active


@pytest.fixture
def validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's default; importing stable-baselines3 turns it off for the whole process."""
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)


_OWNERS: tuple[Any, ...] = (
    torch,
    torch._C,
    torch.Tensor,
    torch.nn.Module,
    torch.cuda,
    torch.cuda.memory,
    torch.cuda.random,
    torch.cuda.streams,
    torch.cuda.nvtx,
    torch.accelerator,
    torch.autograd,
    torch.backends.cuda,
    torch.overrides,
    torch.version,
    torch._utils,
    torch.utils._device.DeviceContext,
    threading.Thread,
)


def state_of_torch() -> dict[str, Any]:
    """Everything that a simulated device touches."""
    state: dict[str, Any] = {
        f"{owner.__name__}.{name}": value
        for owner in _OWNERS
        for name, value in vars(owner).items()
        # Submodules appear when they are first imported, and caches when first used.
        if not isinstance(value, type(torch)) and name != "__slotnames__"
    }
    state["function modes"] = torch._C._len_torch_function_stack()
    state["default device"] = torch.utils._device.CURRENT_DEVICE
    state["foreach types"] = tuple(_foreach_supported_types)
    state["serialization"] = tuple(torch.serialization._package_registry)
    state["autocast"] = (
        torch.is_autocast_enabled("cuda"),
        torch.is_autocast_enabled("privateuseone"),
    )
    return state


_NOISE = frozenset({"torch.cuda._initialized", "torch._GLOBAL_DEVICE_CONTEXT"})


def assert_unchanged(before: dict[str, Any], after: dict[str, Any]) -> None:
    changed = [
        name
        for name, value in before.items()
        if name not in _NOISE and after.get(name) is not value and after.get(name) != value
    ]
    added = [name for name in after if name not in before and name not in _NOISE]
    assert not changed
    assert not added


@pytest.fixture(autouse=True)
def torch_left_as_found() -> Iterator[None]:
    torch.set_num_threads(1)
    before = state_of_torch()
    yield
    assert_unchanged(before, state_of_torch())
    assert not torch.cuda.is_available()
    with pytest.raises((RuntimeError, AssertionError, NotImplementedError)):
        torch.zeros(1, device="cuda")
