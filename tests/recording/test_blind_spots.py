"""Nothing recorded is not nothing wrong: profiles say why there is nothing in them."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import syncprobe
from syncprobe.cli import main
from syncprobe.profiles.own_time.steps import OwnStep
from syncprobe.recording.blind_spots import BUSY, UNUSED_DEVICE
from syncprobe.recording.processes import told

CHOSEN_BEFORE = "cuda" if torch.cuda.is_available() else "cpu"


def run_steps(count: int, device: str = "cuda") -> None:
    values = torch.ones(3, device=device)
    for _ in range(count):
        syncprobe.step()
        values = values * 2
        values.sum().item()


@pytest.mark.parametrize(("steps", "made"), [(5, "made 5."), (0, "made none.")])
def test_a_warm_up_longer_than_the_run_is_a_doubt(steps, made):
    with syncprobe.record(device="sim", warmup=10) as recording:
        run_steps(steps)
    (doubt,) = recording.profile().doubts
    assert doubt.startswith("NOTHING RECORDED: the warm-up is 10 steps")
    assert made in doubt
    assert UNUSED_DEVICE not in recording.profile().run.notes, "one reason is enough"


def test_a_warm_up_that_leaves_steps_is_none():
    with syncprobe.record(device="sim", warmup=4) as recording:
        run_steps(5)
    profile = recording.profile()
    assert profile.doubts == ()
    assert profile.run.steps == 1


def test_a_warm_up_longer_than_the_run_is_said_on_the_screen(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    source = "import syncprobe, torch\nfor _ in range(3):\n    syncprobe.step()\n"
    Path("short.py").write_text(source + "    torch.ones(3, device='cuda').sum().item()\n")
    assert main(["profile", "short.py", "--warmup", "9", "--device", "sim"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "NOTHING RECORDED: the warm-up is 9 steps, and the program made 3." in out
    assert "Is the GPU the problem? Cannot tell: the warm-up was longer than the run" in out
    assert "No steps were found" not in out, "there were three"
    assert "What should I do first? Nobody can say: no event was recorded." in out


def test_figures_per_run_that_were_asked_for_are_no_steps_that_were_not_found(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("plain.py").write_text("import torch\ntorch.ones(3, device='cuda').sum().item()\n")
    assert main(["profile", "plain.py", "--step-on", "none", "--device", "sim"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Figures are per run, set-up left out: --step-on none." in out
    assert "No steps were found" not in out


@pytest.mark.skipif(CHOSEN_BEFORE == "cuda", reason="there is a GPU to choose")
def test_a_device_that_was_chosen_before_recording_began_is_suspected():
    with syncprobe.record(device="sim") as recording:
        run_steps(3, CHOSEN_BEFORE)
        torch.tensor([1.0, 2.0])
    assert UNUSED_DEVICE in recording.profile().run.notes
    with syncprobe.record(device="sim") as recording:
        run_steps(3, "cuda" if torch.cuda.is_available() else "cpu")
    assert UNUSED_DEVICE not in recording.profile().run.notes


def test_a_run_that_is_recorded_on_the_cpu_uses_no_device_on_purpose():
    with syncprobe.record(device="cpu") as recording:
        torch.tensor([1.0, 2.0])
    assert UNUSED_DEVICE not in recording.profile().run.notes


@pytest.mark.parametrize(
    ("share", "own_us", "is_said"), [(0.1, 900, False), (0.6, 900, True), (0.6, 1, False)]
)
def test_own_time_that_was_taken_on_a_busy_machine_is_said_to_be_where_it_decides(
    share, own_us, is_said, monkeypatch
):
    with syncprobe.record(device="sim") as recording:
        run_steps(3, "cuda")
    steps = [OwnStep((("other", own_us * 1e3),), 1, share)] * 3
    monkeypatch.setattr(type(recording.recorder), "own_steps", steps)
    notes = recording.profile().run.notes
    assert (BUSY.format(share=share) in notes) == is_said


def fork() -> None:
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)


def fork_by_multiprocessing() -> None:
    process = multiprocessing.get_context("fork").Process(target=int)
    process.start()
    process.join()


def run_python() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


@pytest.mark.parametrize("start", [fork, fork_by_multiprocessing, run_python])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_that_nobody_watched_are_noted(start):
    before = os.fork, subprocess.Popen.__init__
    with syncprobe.record(device="sim") as recording:
        start()
    assert told.NOTE in recording.profile().run.notes
    assert (os.fork, subprocess.Popen.__init__) == before


@pytest.mark.parametrize("command", [["true"], "true", iter(["true"]), Path("true")])
def test_tools_are_none_of_the_program(command):
    with syncprobe.record(device="sim") as recording:
        subprocess.run(command, check=True)
    assert told.NOTE not in recording.profile().run.notes


def test_a_program_that_raises_at_once_is_not_told_to_use_the_device(tmp_path: Path) -> None:
    script = tmp_path / "early.py"
    script.write_text("raise ValueError\n", encoding="utf-8")
    run = syncprobe.run(str(script), device="sim").run
    assert run.interruption
    assert UNUSED_DEVICE not in run.notes
