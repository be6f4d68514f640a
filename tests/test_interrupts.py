"""An interrupt waits while things are put in place or back, and arrives afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from syncprobe.interrupts import finish, uninterrupted
from syncprobe.simgpu import device as simulated
from syncprobe.simgpu.session import SilentSink
from tests.simgpu.conftest import assert_unchanged, state_of_torch


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with uninterrupted():
            with uninterrupted():
                interrupt()
            seen.append("still here")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert seen == ["still here"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_comes_before_the_interrupt_that_waited() -> None:
    def fail() -> None:
        with uninterrupted():
            interrupt()
            raise ValueError("first")

    with pytest.raises(KeyboardInterrupt) as caught:
        fail()
    assert isinstance(caught.value.__context__, ValueError)


def test_other_threads_are_never_interrupted() -> None:
    seen: list[bool] = []

    def work() -> None:
        with uninterrupted():
            seen.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]


def test_an_interrupt_that_comes_first_does_not_keep_things_from_being_put_back() -> None:
    calls: list[int] = []

    def put_back() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finish(put_back)
    assert len(calls) == 2


class Interrupted:
    """A part of the simulated device that is interrupted when it is installed and when it is undone."""

    def __init__(self, *, when: str) -> None:
        self._when = when

    @contextmanager
    def installed(self) -> Iterator[None]:
        if self._when == "entering":
            interrupt()
        yield
        if self._when == "leaving":
            interrupt()


@pytest.mark.parametrize("place", [0, 5])
@pytest.mark.parametrize("when", ["entering", "leaving"])
def test_torch_is_left_as_found_when_the_device_is_interrupted(
    when: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[Any] = list(simulated._PARTS)
    parts.insert(place, Interrupted(when=when))
    monkeypatch.setattr(simulated, "_PARTS", tuple(parts))
    before, entered = state_of_torch(), []
    with pytest.raises(KeyboardInterrupt), simulated.SimulatedDevice(SilentSink()):
        entered.append(torch.ones(1, device="cuda").is_cuda)
    assert_unchanged(before, state_of_torch())
    assert entered == ([True] if when == "leaving" else [])
    with pytest.raises((RuntimeError, AssertionError)):
        torch.zeros(1, device="cuda")
