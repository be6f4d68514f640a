"""Recording and profiles grow with the lines of a program, not with their square."""

from __future__ import annotations

import cProfile
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from syncprobe.clock import SystemClock
from syncprobe.recording.session import Recording

FEW, MANY = 40, 160
LINEAR = 1.15
"""How much more than linearly the work may grow: what is sorted grows a little faster."""

SHAPES = {
    "launches": ("def work(a):", "    a + 1", ""),
    "reads": ("def work(a):\n    x = 0.0", "    x = a.sum().item() + x", "    return x"),
    "uploads": ("def work(a):", "    b{n} = torch.tensor([{n}.0]).to('cuda')", ""),
    "buffers": ("def work(a):", "    c = torch.zeros(2, device='cuda')", ""),
    "loop": ("def work(a):\n  for i in range(2):", "    b = a[i] + 1; b.item()", ""),
    "update": (
        "def work(a):\n  for batch in range(2):\n    w = a.clone().requires_grad_()",
        "    w.sum().item()",
        "    w.sum().backward()",
    ),
    "deciding": (
        "def work(a):\n    env = Env()",
        "    b{n} = a.argmax().item()",
        "    env.step(b0)",
    ),
    "allowed": ("def work(a):", "    a.sum().item()  # syncprobe: allow[SP100] wanted", ""),
    "functions": (
        "",
        "def f{n}(a):\n    return a.sum().item()",
        "def work(a):\n    every(a, globals())",
    ),
}
PRELUDE = """
import torch

class Env:
    def step(self, action):
        pass

def every(a, names):
    for name, function in names.items():
        if name.startswith("f"):
            function(a)
"""


def program(folder: Path, shape: str, lines: int) -> Callable[[torch.Tensor], None]:
    """A function of many lines that are all alike."""
    first, line, last = SHAPES[shape]
    text = "\n".join([PRELUDE, first, *(line.format(n=n) for n in range(lines)), last])
    path = folder / f"{shape}_{lines}.py"
    path.write_text(text + "\n")
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    work: Callable[[torch.Tensor], None] = names["work"]
    return work


def calls(work: Callable[[], object]) -> int:
    """How many functions are called: it does not depend on the machine, nor on what else runs there."""
    linecache.clearcache()
    watch = cProfile.Profile()
    watch.enable()
    work()
    watch.disable()
    return sum(entry.callcount for entry in watch.getstats())


def recorded(folder: Path, shape: str, lines: int) -> Recording:
    work = program(folder, shape, lines)
    with Recording(device="sim", root=folder, clock=SystemClock()) as recording:
        values = torch.ones(4, device="cuda")
        with recording.step():
            work(values)
    return recording


@pytest.mark.parametrize("shape", SHAPES)
def test_profiles_grow_with_the_lines_of_a_program(tmp_path: Path, shape: str) -> None:
    recorded(tmp_path, shape, 2).profile()  # what is made on first use
    few, many = (calls(recorded(tmp_path, shape, lines).profile) for lines in (FEW, MANY))
    assert many / few <= MANY / FEW * LINEAR


def test_a_step_costs_the_same_after_many_lines(tmp_path: Path) -> None:
    def steps_after(lines: int) -> int:
        work = program(tmp_path, "launches", lines)
        with Recording(device="sim", root=tmp_path, clock=SystemClock()) as recording:
            values = torch.ones(4, device="cuda")
            work(values)

            def steps() -> None:
                for _ in range(20):
                    with recording.step():
                        torch.relu(values)

            return calls(steps)

    steps_after(2)
    assert steps_after(MANY) <= LINEAR * steps_after(FEW)


def test_lines_are_those_of_the_frames(tmp_path: Path) -> None:
    work = program(tmp_path, "launches", 50)
    with Recording(device="sim", root=tmp_path, clock=SystemClock()) as recording:
        work(torch.ones(4, device="cuda"))
    first = PRELUDE.count("\n") + 3
    launches = [event.site.line for event in recording.events if event.operation == "aten::add"]
    assert sorted(set(launches)) == list(range(first, first + 50))
