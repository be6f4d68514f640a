"""From what the user typed to the target that runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe.errors import UnknownNameError
from syncprobe.registry import Registry
from syncprobe.targets.marinenav import TorchRLTarget, TrainTarget
from syncprobe.targets.module import PREFIX, ModuleTarget
from syncprobe.targets.program import FunctionTarget, ScriptTarget
from syncprobe.targets.workloads.packing import PackingTarget
from syncprobe.targets.workloads.uara import UaraTarget
from syncprobe.targets.workloads.vecenv import VecenvTarget

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.targets.base import Target
    from syncprobe.targets.options import TargetOptions

TARGETS: Registry[Callable[[TargetOptions], Target]] = Registry("target")
TARGETS.add("train", TrainTarget)
TARGETS.add("torchrl", TorchRLTarget)
TARGETS.add("uara", UaraTarget)
TARGETS.add("packing", PackingTarget)
TARGETS.add("vecenv", VecenvTarget)


def find_target(name: str, options: TargetOptions) -> Target:
    """A built-in target by name, a script by its path, ``module:function``, or ``-m module``."""
    if name in TARGETS:
        return TARGETS[name](options)
    if name.startswith(PREFIX):
        return ModuleTarget(name, options)
    if name.endswith(".py") or Path(name).is_file():
        return ScriptTarget(name, options)
    module, colon, function = name.partition(":")
    if colon and function and module.replace(".", "").isidentifier():
        return FunctionTarget(name, options)
    raise UnknownNameError(
        "target", name, (*TARGETS, "path/to/script.py", "module:function", "-m module")
    )
