"""Importing syncprobe changes nothing and loads little."""

from __future__ import annotations

import subprocess
import sys

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
