"""Find, fix and gate the GPU<->CPU synchronisations that slow PyTorch training loops, with no GPU.

Importing this package patches nothing and does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syncprobe._version import __version__
from syncprobe.declarations import declare_operator
from syncprobe.recording.marks import region, step

if TYPE_CHECKING:
    from pathlib import Path

    from syncprobe.analysis.compare import Comparison
    from syncprobe.analysis.judgement import GateResult
    from syncprobe.analysis.model import Profile
    from syncprobe.recording.session import Recording

__all__ = [
    "__version__",
    "compare",
    "declare_operator",
    "gate",
    "load",
    "record",
    "region",
    "run",
    "step",
]


def record(
    *,
    device: str = "auto",
    gpu: str = "t4",
    warmup: int = 0,
    steps: int | None = None,
    max_events: int | None = 10_000,
    root: Path | None = None,
) -> Recording:
    """Watch torch inside a ``with`` block.

    Args:
        device: ``sim`` (torch gets a simulated CUDA device), ``cuda`` (a real one), ``cpu`` (no
            device: only conversions can be seen), or ``auto``: ``cuda`` where there is one, else ``sim``.
        gpu: Device spec for modelled time: ``t4``, ``v100``, ``a100`` or ``h100``.
        warmup: Marked steps to let pass before recording.
        steps: Marked steps to record; None records all.
        max_events: How many single events to keep beside the sums; None keeps all.
        root: Folder that paths are shown relative to; the working directory by default.
    """
    from syncprobe.recording.session import Recording  # torch is imported only to record

    return Recording(
        device=device, gpu=gpu, warmup=warmup, steps=steps, max_events=max_events, root=root
    )


def run(
    target: str,
    *,
    device: str = "auto",
    gpu: str = "t4",
    patches: str = "none",
    timed: bool | None = None,
    **options: Any,
) -> Profile:
    """Profile a target, as ``syncprobe profile`` does.

    Args:
        target: ``train``, ``torchrl``, a script's path, or ``module:function``.
        device: As in :func:`record`.
        gpu: As in :func:`record`.
        patches: Plan steps to switch on: ``none``, ``all``, ``2``, ``1-3``, ``1,4``.
        timed: Run a clean pass for measured time; built-in targets do unless told otherwise.
        options: The target's own: agent, robots, cores, obstacles, seed, steps, warmup, mode, arguments.
    """
    from syncprobe import running  # torch is imported only to run
    from syncprobe.targets.base import TargetOptions, parse_patches

    chosen = TargetOptions(patches=parse_patches(patches), **options)
    return running.run(
        target, running.RunOptions(target=chosen, device=device, gpu=gpu, is_timed=timed)
    )


def load(path: Path | str) -> Profile:
    """Read a profile that was saved as JSON."""
    from syncprobe import storage  # reading a file is not needed to mark a region

    return storage.load(path)


def compare(
    a: Profile | Path | str,
    b: Profile | Path | str,
    *,
    target: str | None = None,
    device: str = "auto",
    gpu: str = "t4",
    rounds: int = 5,
    verify_steps: int = 200,
    **options: Any,
) -> Comparison:
    """Put two variants side by side, as ``syncprobe compare`` does.

    Two profiles are only compared. Names are run now: timed in turns, recorded, and checked for equivalence.

    Args:
        a: A profile, the file of one, or a name: ``baseline``, ``step1`` to ``step5``, ``optimized``.
        b: The same.
        target: What names are variants of: ``train`` or ``torchrl``.
        device: As in :func:`record`.
        gpu: As in :func:`record`.
        rounds: Timed passes of each variant.
        verify_steps: Training steps to check equivalence on; 0 leaves it out.
        options: The target's own: agent, robots, cores, obstacles, seed, steps, warmup, mode.
    """
    from syncprobe import comparing  # marking a region needs none of it
    from syncprobe.targets.base import TargetOptions

    return comparing.compare(
        a,
        b,
        comparing.CompareOptions(
            name=target,
            target=TargetOptions(**options),
            device=device,
            gpu=gpu,
            rounds=rounds,
            verify_steps=verify_steps,
        ),
    )


def gate(
    *what: Profile | Path | str,
    config: Path | str | None = None,
    device: str = "auto",
    gpu: str = "t4",
    mode: str = "fast",
    jobs: int = 1,
) -> GateResult:
    """Hold programs or profiles to the budgets of a project, as ``syncprobe gate`` does.

    Budgets are run in processes of their own, so a script calls this under ``if __name__ == "__main__"``.

    Args:
        what: Names of budgets to run now, or profiles and files of profiles, held to every budget that is
            about such a run. Nothing runs all budgets.
        config: The project file with the budgets; by default the nearest ``pyproject.toml``.
        device: As in :func:`record`; like the next two, for budgets that leave it open.
        gpu: As in :func:`record`.
        mode: How patched code runs: ``fast`` or ``exact``.
        jobs: Budgets to run at a time; what is timed runs alone.
    """
    from pathlib import Path  # marking a region needs none of it

    from syncprobe import gating
    from syncprobe.config import Settings
    from syncprobe.gated_runs import GateOptions

    settings = Settings(device=device, gpu=gpu, mode=mode)
    return gating.gate(
        what,
        config=None if config is None else Path(config),
        options=GateOptions(settings=settings, jobs=jobs),
    )
