"""Scripts for several GPUs run as a group of one process, and their collectives are seen."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
import torch.distributed as dist
from torch import nn

from syncprobe.simgpu.session import SilentSink
from tests.simgpu.twins import Tensors, assert_same_values

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def group(tmp_path: Path, device: object) -> None:
    del device
    store = f"file://{tmp_path / 'store'}"
    dist.init_process_group("nccl", init_method=store, rank=0, world_size=1)
    assert dist.get_backend() == "nccl"
    assert dist.is_nccl_available()


@pytest.mark.usefixtures("group")
def test_collectives_are_events_with_bytes(sink: RecordingSink) -> None:
    values, room = torch.arange(4.0, device="cuda"), torch.zeros(4, device="cuda")
    sink.take()
    dist.all_reduce(values)
    work = dist.all_reduce(values, async_op=True)
    assert work is not None
    work.wait()
    dist.broadcast(values, 0)
    dist.all_gather([room], values)
    assert torch.equal(room, values)
    dist.reduce_scatter(room, [values])
    dist.gather(values, [room])
    found = [(event.operation, event.nbytes) for event in sink.events if event.kind == "launch"]
    assert found[:3] == [("c10d::allreduce_", 16)] * 2 + [("c10d::broadcast_", 16)]
    assert found[3] == ("c10d::allgather_", 32)
    assert not sink.unknown


@pytest.mark.usefixtures("group")
def test_a_barrier_waits(sink: RecordingSink) -> None:
    sink.take()
    dist.barrier(device_ids=[0])
    assert [event.operation for event in sink.events if event.is_blocking] == [
        "torch.distributed.barrier"
    ]


def train_in_parallel(backend: str, folder: str) -> None:
    """Train on the host and on the device, and hold one to the other.

    The process ends with it: torch may wait for itself when a module that trained in parallel is freed.
    """
    kept: list[nn.Module] = []

    def program(device: str) -> Tensors:
        store = f"file://{folder}/{device}"
        name = "gloo" if device == "cpu" else backend
        dist.init_process_group(name, init_method=store, rank=0, world_size=1)
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(device)
        parallel = nn.parallel.DistributedDataParallel(
            model, device_ids=None if device == "cpu" else [0]
        )
        optimizer = torch.optim.SGD(parallel.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            parallel(torch.randn(5, 3).to(device)).pow(2).sum().backward()
            optimizer.step()
        dist.destroy_process_group()
        kept.append(parallel)
        return list(model.parameters())

    assert_same_values(program, SilentSink())
    os._exit(0)


@pytest.mark.parametrize("backend", ["nccl", pytest.param("gloo", marks=pytest.mark.slow)])
def test_data_parallel_training_gives_the_hosts_values(backend: str, tmp_path: Path) -> None:
    call = f"from {__name__} import *; train_in_parallel({backend!r}, {str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", call], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.usefixtures("group")
def test_a_group_is_not_freed_before_the_process_ends() -> None:
    """Its destructor would wait for a thread that waits for the interpreter."""
    groups = [dist.group.WORLD, dist.new_group([0])]
    assert [dist.get_backend(group) for group in groups] == ["nccl", "nccl"]
    kept = [weakref.ref(group) for group in groups]
    dist.destroy_process_group()
    groups.clear()
    gc.collect()
    assert all(reference() is not None for reference in kept)


@pytest.mark.usefixtures("device")
def test_more_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotImplementedError, match="2 processes is not simulated"):
        dist.init_process_group("nccl", rank=0, world_size=2)
    monkeypatch.setitem(os.environ, "WORLD_SIZE", "4")
    with pytest.raises(NotImplementedError, match="WORLD_SIZE=1"):
        dist.init_process_group()


@pytest.mark.usefixtures("group")
def test_a_group_left_open_is_closed() -> None:
    """The device closes it; that torch is left as it was found is every test's last assertion."""
    assert dist.is_initialized()


def test_no_group_is_open_afterwards() -> None:
    assert not dist.is_initialized()
