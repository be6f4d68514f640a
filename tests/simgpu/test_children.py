"""Processes that a program spawns have the device, and what they do there is brought home."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import multiprocessing, nn
from torch.utils.data import DataLoader, Dataset

import syncprobe
from syncprobe.recording.processes.spawned import BROUGHT
from syncprobe.simgpu.torch_api import amp, children, hooks

if TYPE_CHECKING:
    from pathlib import Path

    from syncprobe.simgpu import SimulatedDevice
    from tests.simgpu.conftest import RecordingSink

LAUNCH_AND_MEMORY = 2
PROGRAM = """
import torch
from torch import multiprocessing

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

def work(rank, shared):
    assert shared.is_cuda
    shared[rank] = torch.ones(3, device=DEVICE).sum()

if __name__ == "__main__":
    shared = torch.zeros(2, device=DEVICE)
    multiprocessing.spawn(work, args=(shared,), nprocs=2)
    print("shared", shared.tolist())
"""


@pytest.mark.slow  # each process imports torch
def test_a_script_spawns_processes_that_share_device_memory(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "syncprobe", "profile", "program.py", "-o", "p.json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "shared [3.0, 3.0]" in ran.stdout
    profile = syncprobe.load(tmp_path / "p.json")
    assert BROUGHT.format(count="2 processes", they="they") in profile.run.notes
    work = [site for site in profile.sites if site.site.function == "work"]
    assert (
        sum(site.count for site in work if site.operation == "aten::sum") == 2 * LAUNCH_AND_MEMORY
    )
    assert profile.counts["copy_to_host"] == 1, "the list that the program itself reads"


TRAINING = """
import os, signal, sys
import torch
from torch import multiprocessing

def train(rank, fails):
    model = torch.nn.Linear(4, 2, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(8):
        loss = model(torch.ones(8, 4, device="cuda")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        if fails and step == 4:
            os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    try:
        multiprocessing.spawn(train, args=("fails" in sys.argv,), nprocs=2)
    except multiprocessing.ProcessExitedException as error:
        print("gone", error.exit_code)
"""


@pytest.mark.slow  # each process imports torch
@pytest.mark.parametrize(("options", "steps"), [((), 7), (("--steps", "3"), 3)])
def test_steps_of_spawned_processes_are_the_programs(
    tmp_path: Path, options: tuple[str, ...], steps: int
) -> None:
    (tmp_path / "program.py").write_text(TRAINING)
    command = [sys.executable, "-m", "syncprobe", "profile", "program.py", "-o", "p.json", *options]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    profile = syncprobe.load(tmp_path / "p.json")
    assert (profile.run.steps, profile.run.step_on) == (steps, "optimizer")
    assert profile.per_step["scalar_read"] == 2, "one of each process"
    assert profile.time.modelled_ms_per_step
    assert profile.timeline is not None


@pytest.mark.slow  # each process imports torch
def test_a_process_that_was_killed_is_missed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TRAINING)
    command = [sys.executable, "-m", "syncprobe", "profile", "program.py", "-o", "p.json"]
    ran = subprocess.run(
        [*command, "--", "fails"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "gone -9" in ran.stdout
    notes = " ".join(syncprobe.load(tmp_path / "p.json").run.notes)
    assert "left no record" in notes


class Numbers(Dataset[torch.Tensor]):
    """Samples that a worker makes on the device."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((2,), index, device="cuda").cpu()


@pytest.mark.slow  # each process imports torch
def test_spawned_data_loader_workers_have_the_device(
    device: SimulatedDevice, sink: RecordingSink
) -> None:
    del device
    loader = DataLoader(
        Numbers(),
        batch_size=2,
        num_workers=1,
        multiprocessing_context=multiprocessing.get_context("spawn"),
    )
    assert [batch.tolist() for batch in loader] == [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]
    assert sink.notes == [children.NOTE]


def test_notes_say_where_values_and_launches_are_not_what_they_seem(
    device: SimulatedDevice, sink: RecordingSink, recwarn: pytest.WarningsRecorder
) -> None:
    del device, recwarn
    module = torch.compile(nn.Linear(2, 2).cuda())
    assert sink.notes == [hooks.COMPILED]
    with torch.autocast("cuda", dtype=torch.bfloat16):
        module(torch.ones(1, 2, device="cuda")).sum().backward()
    assert sink.notes[1:] == [amp.NOTE]
    for kind, said in ((torch.optim.Adam, 0), (torch.optim.NAdam, 1), (torch.optim.RAdam, 2)):
        kind(module.parameters()).step()
        assert len(sink.notes) == 2 + said
    torch.optim.ASGD(module.parameters(), foreach=False).step()
    assert sink.notes[2:] == [hooks.OTHER_ROUNDING.format(name) for name in ("NAdam", "RAdam")]


def _answer(answers: Any, received: Any) -> None:
    answers.put(torch.arange(3.0, device="cuda"))
    received.wait(60)


@pytest.mark.usefixtures("device")
def test_device_tensors_stay_on_the_device_in_queues() -> None:
    context = multiprocessing.get_context("spawn")
    answers, received = context.Queue(), context.Event()
    child = context.Process(target=_answer, args=(answers, received))
    child.start()
    answer = answers.get(timeout=60)
    received.set()
    child.join()
    assert answer.is_cuda
    assert answer.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.slow  # each process imports torch
def test_spawned_workers_count_for_the_steps_of_the_program() -> None:
    with syncprobe.record(device="sim") as recording:
        loader = DataLoader(
            Numbers(),
            batch_size=2,
            num_workers=1,
            multiprocessing_context=multiprocessing.get_context("spawn"),
        )
        for batch in loader:
            with recording.step():
                assert batch.sum() > 0
    profile = recording.profile()
    assert profile.run.steps == 2
    assert profile.per_step["copy_to_host"] == 2, "one per sample, made by the worker"
    assert BROUGHT.format(count="one process", they="it") in profile.run.notes
