"""torch is as it was found, whatever happened inside."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import types

import pytest
import torch

import syncprobe
from syncprobe.errors import SyncprobeError
from syncprobe.simgpu import DeviceInUseError, SimulatedDevice
from syncprobe.simgpu.torch_api import serialization
from tests.simgpu.conftest import RecordingSink, assert_unchanged, state_of_torch


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_an_error(sink: RecordingSink, error: type[BaseException]) -> None:
    before = state_of_torch()

    def program() -> None:
        with SimulatedDevice(sink):
            torch.zeros(2, device="cuda")
            raise error

    with pytest.raises(error):
        program()
    assert_unchanged(before, state_of_torch())


def test_after_an_error_inside_an_operation() -> None:
    class Interrupted(RecordingSink):
        def emit(self, *_: object, **__: object) -> None:
            raise KeyboardInterrupt

    before = state_of_torch()
    with pytest.raises(KeyboardInterrupt), SimulatedDevice(Interrupted()):
        torch.zeros(2, device="cuda")
    assert_unchanged(before, state_of_torch())


def test_after_a_half_finished_entry(sink: RecordingSink, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise OSError("no")

    before = state_of_torch()
    with monkeypatch.context() as patch:
        patch.setattr(serialization, "installed", broken)
        with pytest.raises(OSError, match="no"), SimulatedDevice(sink):
            pytest.fail("entered")
    assert_unchanged(before, state_of_torch())
    with SimulatedDevice(sink):
        assert torch.cuda.is_available()


def test_entering_twice_says_so(sink: RecordingSink) -> None:
    with SimulatedDevice(sink):
        with pytest.raises(DeviceInUseError, match="active in this process already"):
            SimulatedDevice(sink).__enter__()
        assert torch.zeros(1, device="cuda").is_cuda
    assert issubclass(DeviceInUseError, SyncprobeError)


def test_a_default_device_left_behind_is_unset(sink: RecordingSink) -> None:
    with SimulatedDevice(sink):
        torch.set_default_device("cuda")
        assert torch.zeros(1).is_cuda
    assert torch.zeros(1).device.type == "cpu"


def test_device_tensors_can_be_read_afterwards(sink: RecordingSink) -> None:
    with SimulatedDevice(sink):
        tensor = torch.arange(3.0, device="cuda")
    sink.take()
    assert (tensor * 2).cpu().tolist() == [0, 2, 4]
    assert tensor.sum().item() == 3
    assert not sink.events


def test_two_devices_one_after_the_other(sink: RecordingSink) -> None:
    for _ in range(2):
        with SimulatedDevice(sink):
            torch.ones(2, device="cuda").sum().item()
    assert sink.counts()["scalar_read"] == 2


def test_a_thread_that_outlives_the_device_goes_on(sink: RecordingSink) -> None:
    go, results = threading.Event(), []

    def work(tensor: torch.Tensor) -> None:
        go.wait(10)
        results.append((tensor + 1).cpu().tolist())

    with SimulatedDevice(sink):
        thread = threading.Thread(target=work, args=(torch.zeros(1, device="cuda"),))
        thread.start()
    sink.take()
    go.set()
    thread.join()
    assert results == [[1.0]]
    assert not sink.events


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_works_and_reports_to_itself(sink: RecordingSink) -> None:
    with SimulatedDevice(sink):
        leaf = torch.ones(2, device="cuda", requires_grad=True)
        (leaf * 2).sum().backward()
        count = len(sink.events)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            (leaf * 3).sum().backward()
            os.write(writing, f"{leaf.grad.tolist()} {len(sink.events) > count}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(reading, 100) == b"[5.0, 5.0] True"
        assert len(sink.events) == count
        assert leaf.grad.tolist() == [2.0, 2.0]
    os.close(reading)
    os.close(writing)


def test_a_spawned_child_has_no_device(sink: RecordingSink) -> None:
    with SimulatedDevice(sink):
        program = "import torch; print(torch.cuda.is_available())"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


def test_names_imported_before_are_reached_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """``from torch import tensor`` at the top of a user's module is as good as ``torch.tensor``."""
    module = types.ModuleType("imported_early")
    module.make, original = torch.tensor, torch.tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with syncprobe.record(device="sim") as recording:
        assert module.make([1.0], device="cuda").is_cuda
    assert recording.counts["conversion"] == 1
    assert recording.counts["copy_to_device"] == 1
    assert module.make is original
