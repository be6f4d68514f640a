"""Programs that a gate runs end with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from syncprobe.budgets.children import Children

PROGRAM = """
import os, pathlib, time
pathlib.Path("pid.tmp").write_text(str(os.getpid()))
os.replace("pid.tmp", "pid")
while True:
    time.sleep(1)
"""
BUDGET = "[tool.syncprobe.budget.endless]\ntarget = 'endless.py'\ndevice = 'sim'\nsyncs = 1\n"


def test_a_process_answers_and_one_that_ends_without_an_answer_gives_none():
    children = Children()
    assert children.ask(divmod, 7, 2) == (3, 1)
    assert children.ask(os._exit, 3) is None


def wait_for(condition) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends processes with their parents")
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, -signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_a_gate_that_is_ended_takes_its_program_along(number, code, tmp_path):
    (tmp_path / "endless.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").write_text(BUDGET)
    gate = subprocess.Popen(
        [sys.executable, "-m", "syncprobe", "gate"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: (tmp_path / "pid").exists() or gate.poll() is not None)
    program = int((tmp_path / "pid").read_text())
    gate.send_signal(number)  # to the gate alone, not to its group
    _, said = gate.communicate(timeout=300)
    assert gate.returncode == code, said
    assert "Traceback" not in said
    wait_for(lambda: not is_alive(program))
