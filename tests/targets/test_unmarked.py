"""Programs as people write them, without marks: what is taken for a step, and for regions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import syncprobe
from syncprobe.rendering.answer.summary import summarise

PROGRAMS = Path(__file__).parent / "unmarked"


@pytest.mark.parametrize(
    ("name", "step_on", "steps", "regions"),
    [
        # 8 batches in each of 2 epochs; the first of the run only tells that optimizers step here.
        ("supervised", "optimizer", 15, {"data", "forward", "backward", "optimizer"}),
        ("ppo", "optimizer", 11, {"env", "forward", "backward", "optimizer"}),
        ("dqn", "optimizer", 10, {"env", "forward", "backward", "optimizer"}),
        ("lstm", "optimizer", 4, {"forward", "backward", "optimizer"}),
        ("gan", "optimizer", 5, {"forward", "backward", "optimizer"}),
        ("transformer", "optimizer", 4, {"forward", "backward", "optimizer"}),
        ("evaluation", "batch", 5, {"data", "forward"}),
        ("no_training", "none", 0, set()),
    ],
)
def test_steps_and_regions_are_found(name, step_on, steps, regions):
    profile = syncprobe.run(str(PROGRAMS / f"{name}.py"), device="sim")
    assert profile.run.is_complete
    assert (profile.run.step_on, profile.run.steps) == (step_on, steps)
    assert set(profile.regions) - {"other"} == regions


def test_evaluation_between_epochs_is_in_no_step():
    profile = syncprobe.run(str(PROGRAMS / "supervised.py"), device="sim")
    assert profile.counts["copy_to_host"] == 4, "two batches are evaluated after each epoch"
    assert profile.per_step["copy_to_host"] == 0
    assert profile.per_step["copy_to_device"] == 2
    assert profile.time.outside.before_ms > 300, "the program slept before it trained"


def test_what_happens_once_before_a_loop_is_not_judged():
    profile = syncprobe.run(str(PROGRAMS / "no_training.py"), device="sim")
    assert profile.time.modelled_ms_per_step < 100, "it sleeps for a second"
    assert profile.per_step["scalar_read"] == 500


@pytest.mark.parametrize("name", ["supervised", "gan", "evaluation"])
def test_a_program_is_ended_after_the_steps_that_were_asked_for(name, capsys):
    profile = syncprobe.run(str(PROGRAMS / f"{name}.py"), device="sim", steps=3)
    assert (profile.run.steps, profile.run.is_complete, profile.run.exit_code) == (3, True, 0)
    assert any("was ended after the last step" in note for note in profile.run.notes)
    assert capsys.readouterr().out == "", "evaluation would print what it found at its end"


def test_what_a_step_is_can_be_chosen():
    profile = syncprobe.run(str(PROGRAMS / "dqn.py"), device="sim", step_on="env")
    assert (profile.run.step_on, profile.run.steps) == ("env", 19)
    profile = syncprobe.run(str(PROGRAMS / "dqn.py"), device="sim", step_on="none")
    assert (profile.run.step_on, profile.run.steps) == ("none", 0)


def test_marks_win_over_what_is_found(tmp_path):
    script = tmp_path / "marked.py"
    script.write_text(
        "import torch, syncprobe\n"
        "model = torch.nn.Linear(2, 2).to('cuda')\n"
        "optimizer = torch.optim.SGD(model.parameters())\n"
        "for _ in range(3):\n"
        "    with syncprobe.step():\n"
        "        for _ in range(2):\n"
        "            with syncprobe.region('learn'):\n"
        "                model(torch.ones(2, device='cuda')).sum().backward()\n"
        "                optimizer.step()\n"
        "            model(torch.ones(2, device='cuda'))\n"
    )
    profile = syncprobe.run(str(script), device="sim")
    assert (profile.run.step_on, profile.run.steps) == ("mark", 3)
    assert set(profile.regions) == {"other", "learn", "forward"}


LOOP = """
import time, torch, syncprobe
x = torch.ones(4, device='cuda')
time.sleep(0.5)
for _ in range(20):
    with syncprobe.step():
        for _ in range(200):
            x = x * 1.0
"""


def is_all_launches(profile):
    launches = next(entry for entry in profile.ceiling if entry.what == "all launches")
    return launches.share > 0.8 and summarise(profile).verdict.startswith("Yes:")


def test_the_loop_of_small_operators_is_launches_and_nothing_else(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    assert is_all_launches(syncprobe.run(str(script), device="sim"))


def test_the_loop_of_small_operators_is_so_without_marks(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(LOOP.replace("with syncprobe.step():", "if True:"))

    def profiled():
        # Collecting the garbage of all tests takes its time: a new process.
        command = [sys.executable, "-m", "syncprobe", "profile", str(script), "--device", "sim"]
        subprocess.run([*command, "-o", "loop.json"], check=True, cwd=tmp_path, capture_output=True)
        return syncprobe.load(tmp_path / "loop.json")

    profile = profiled()
    assert profile.run.step_on == "none"
    # It runs for a tenth of a second: a busy machine can add a quarter to that, but not every time.
    assert is_all_launches(profile) or is_all_launches(profiled())
