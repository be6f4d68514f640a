"""Programs that mark no steps, of known composition: what is their own code, and is the GPU the problem?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.model.compositions import Composition
from tests.model.report import limit_us

pytestmark = pytest.mark.measured

ROOT = Path(__file__).parents[2]
RUNS = 3
PROGRAM = """
import json, time
import torch
import syncprobe
from syncprobe.rendering.answer.summary import summarise
from tests.model.compositions import spin

def loop():
    x = torch.ones(4, device="cuda")
    time.sleep(0.2)
{body}

for _ in range({runs}):
    with syncprobe.record(device="sim") as recording:
        loop()
    profile = recording.profile()
    launches = next(entry.share for entry in profile.ceiling if entry.what == "all launches")
    own = profile.time.own
    answer = summarise(profile).verdict.split(":")[0]
    print(json.dumps([own.ms_per_step, own.source, launches, answer]))
"""
PLAIN = """
    for _ in range(4_000):
        x = x * 1.0
"""
SPINNING = """
    for _ in range(40):
        for _ in range(50):
            x = x * 1.0
        spin(200)
"""
READING = """
    for _ in range(40):
        for _ in range(5):
            for _ in range(10):
                x = x * 1.0
            x.sum().item()
        spin(200)
"""
WHOLE = Composition(spin_us=40 * 200, operators=40 * 50, syncs=0)
"""What a run is made of, as one step would be; fifty operators are between two stretches of own code."""


def middle_run(body: str) -> tuple[float, str, float, str]:
    """Own time, where it is from, the share of launches, the answer; in a process without others' garbage."""
    script = PROGRAM.format(body=body, runs=RUNS)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    runs = sorted(json.loads(line) for line in done.stdout.splitlines())
    own_ms, source, launches, answer = runs[RUNS // 2]
    return own_ms, source, launches, answer


def test_a_loop_of_small_operators_is_launches():
    _, source, launches, answer = middle_run(PLAIN)
    assert (source, answer) == ("sampled", "Yes")
    assert launches > 0.8


@pytest.mark.parametrize("body", [SPINNING, READING], ids=["spinning", "reading"])
def test_own_code_between_many_small_operators_is_found(body):
    own_ms, source, *_ = middle_run(body)
    assert source == "sampled"
    assert own_ms * 1e3 == pytest.approx(WHOLE.spin_us, abs=limit_us(WHOLE))
