"""Importing syncprobe changes nothing and loads little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

IMPORT_LOADS_NO_TORCH = """
import sys
import syncprobe
with syncprobe.step(), syncprobe.region("act"):
    pass
heavy = {"torch", "numpy", "rich", "tensordict", "torchrl", "stable_baselines3"} & set(sys.modules)
assert not heavy, heavy
"""

IMPORT_PATCHES_NOTHING = """
import threading
import torch
import torch._dynamo
places = (torch, torch.cuda, torch.Tensor, torch.nn.Module, threading.Thread)
before = [dict(vars(place)) for place in places]
import syncprobe
import syncprobe.targets.running
for place, names in zip(places, before):
    for name, value in names.items():
        assert vars(place)[name] is value, (place, name)
"""


def test_importing_loads_neither_torch_nor_numpy() -> None:
    subprocess.run([sys.executable, "-c", IMPORT_LOADS_NO_TORCH], check=True)


def test_importing_patches_nothing() -> None:
    subprocess.run([sys.executable, "-c", IMPORT_PATCHES_NOTHING], check=True)


PROFILING_LOADS_NO_PAGE = """
import sys
from syncprobe.cli import main
assert main(["profile", "reads.py", "-o", "reads.json"]) == 0
heavy = {name for name in sys.modules if name.startswith(("jinja2", "syncprobe.rendering.html"))}
assert not heavy, heavy
"""


@pytest.mark.slow  # a process that imports torch
def test_profiling_loads_no_renderer_of_pages(tmp_path: Path) -> None:
    (tmp_path / "reads.py").write_text("import torch\ntorch.ones(2, device='cuda').sum().item()\n")
    subprocess.run([sys.executable, "-c", PROFILING_LOADS_NO_PAGE], check=True, cwd=tmp_path)
