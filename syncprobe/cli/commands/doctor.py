"""``syncprobe doctor``: what will and will not work on this machine."""

from __future__ import annotations

import enum
import importlib
import json
import os
import platform
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe._version import __version__
from syncprobe.cli import output
from syncprobe.errors import SyncprobeError
from syncprobe.measuring.sampling import find_sampler, sampled
from syncprobe.rendering import figures

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

RULES_WRITTEN_FOR: Final = "2.13"
"""The release of torch whose operators the simulated device's rules describe."""
PTRACE_SCOPE: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
SAMPLED_SECONDS: Final = 0.1
COMPILED_ENVIRONMENT: Final = "patches.marinenav.step5_merge.compiled_environment.loading"
PACKAGES: Final = {
    "rich": "reports on the console",
    "numpy": "everything that torch does with arrays",
    "line_profiler": "profile --lines",
    "gymnasium": "the built-in workloads",
    "numba": "the compiled environment of the patches",
    "tensordict": "the torchrl target",
    "torchrl": "the torchrl target",
    "stable-baselines3": "the vecenv target",
}


class State(enum.StrEnum):
    """How a check came out."""

    OK = "ok"
    MISSING = "missing"
    """Something optional that is not here."""
    DOUBTFUL = "doubtful"
    """Something that is here but may not do what it should."""
    BROKEN = "broken"
    """Something that syncprobe cannot do without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    meaning: str = ""
    """What works or does not because of it."""


def add_arguments(_parser: ArgumentParser) -> None:
    """Nothing besides what every command takes."""


def run(arguments: Namespace) -> int:
    """Look at everything, and fail only if nothing can work."""
    checks = tuple(examine())
    if arguments.json:
        output.put(
            json.dumps({"syncprobe": __version__, "checks": [asdict(c) for c in checks]}, indent=1)
        )
    else:
        output.put(describe(checks))
    return 2 if any(check.state is State.BROKEN for check in checks) else 0


def describe(checks: tuple[Check, ...]) -> str:
    """The checks as lines, and what they add up to."""
    width = max(len(check.what) for check in checks)
    lines = [f"syncprobe {__version__} on Python {platform.python_version()}, {platform.system()}"]
    for check in checks:
        meaning = f" ({check.meaning})" if check.meaning else ""
        lines.append(f"  {check.state:<8} {check.what:<{width}}  {check.found}{meaning}")
    return "\n".join(figures.printable(line) for line in lines)


def examine() -> Iterator[Check]:
    """Look at everything that can be missing."""
    torch = _torch()
    yield torch
    if torch.state is not State.BROKEN:
        yield _cuda()
        yield _threads()
        yield _simulated_device()
        yield from _compiled_code()
    yield _py_spy()
    yield from (_package(name, purpose) for name, purpose in PACKAGES.items())


def _torch() -> Check:
    try:
        import torch  # so that a build that is installed but cannot load is found out
    except (ImportError, OSError) as error:
        return Check(
            what="torch",
            state=State.BROKEN,
            found=f"cannot be imported: {error}",
            meaning="nothing can be profiled; saved profiles can still be shown",
        )
    build = f"CUDA {torch.version.cuda}" if torch.version.cuda else "CPU build"
    is_known = torch.__version__.startswith(f"{RULES_WRITTEN_FOR}.")
    meaning = f"the simulated device's rules were written for {RULES_WRITTEN_FOR}"
    return Check(
        what="torch",
        state=State.OK if is_known else State.DOUBTFUL,
        found=f"{torch.__version__}, {build}",
        meaning=meaning if is_known else f"{meaning}: its counts may be off with this one",
    )


def _cuda() -> Check:
    import torch  # doctor is told to look for it

    if not torch.cuda.is_available():
        return Check(
            what="CUDA device",
            state=State.MISSING,
            found="none",
            meaning="--device auto means sim here; --device cuda will not work",
        )
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return Check(
        what="CUDA device",
        state=State.OK,
        found=", ".join(names),
        meaning="--device auto means cuda here",
    )


def _threads() -> Check:
    import torch  # doctor is told to look for it

    return Check(
        what="threads",
        state=State.OK,
        found=f"{torch.get_num_threads()} for torch, {os.cpu_count()} processors",
        meaning="built-in targets use one",
    )


def _simulated_device() -> Check:
    """Run a program small enough to know every event of it."""
    try:
        found, is_right = _count_small_program()
    except (ImportError, RuntimeError, TypeError, AttributeError, SyncprobeError) as error:
        found, is_right = f"{type(error).__name__}: {error}", False
    return Check(
        what="simulated device",
        state=State.OK if is_right else State.BROKEN,
        found=found,
        meaning="--device sim works" if is_right else "--device sim will not work",
    )


def _count_small_program() -> tuple[str, bool]:
    import torch  # doctor is told to try it

    import syncprobe  # the library's own front door, used as a program would

    with syncprobe.record(device="sim") as recording:
        total = (torch.ones(2, device="cuda") + 1).sum().item()
    counts = recording.counts
    found = f"sum {total}, {counts['launch']} launches, {counts['scalar_read']} scalar read"
    # Filling, adding and summing are one operation each, and the sum is read once.
    return found, (total, counts["launch"], counts["scalar_read"]) == (4.0, 3, 1)


def _compiled_code() -> Iterator[Check]:
    """Try what numba makes of parts of the patches, which are used only if every bit agrees."""
    try:
        loading = importlib.import_module(COMPILED_ENVIRONMENT)
    except ImportError as error:
        loading, found = None, f"cannot be tried: {error}"
    parts = {
        "compiled environment": ("ENVIRONMENT", "computes in numpy arrays"),
        "compiled optimizer": ("DESCENT", "takes torch's steps"),
        "compiled networks": ("NETWORKS", "asks torch and autograd"),
    }
    for what, (part, otherwise) in parts.items():
        is_used = is_surprising = False
        if loading is not None:
            verdict = loading.verdict(getattr(loading, part))
            found, is_used = verdict.reason, verdict.kernels is not None
            is_surprising = verdict.is_surprising
        usual = State.OK if is_used else State.MISSING
        yield Check(
            what=what,
            state=State.DOUBTFUL if is_surprising else usual,
            found=found,
            meaning="step 5 of the plan uses it; PATCHES_KERNELS=numpy switches it off"
            if is_used
            else f"step 5 of the plan {otherwise}, slower and to the same bits",
        )


def _py_spy() -> Check:
    """Let py-spy watch this very process for a moment: permission depends on too much to be guessed."""
    if find_sampler() is None:
        return Check(
            what="py-spy",
            state=State.MISSING,
            found="not installed",
            meaning="profile --sample will not work; pip install py-spy",
        )
    found = f"{_version('py-spy') or 'version unknown'}, {ptrace_rule()}"
    try:
        with tempfile.TemporaryDirectory() as folder, sampled(Path(folder) / "samples.txt"):
            time.sleep(SAMPLED_SECONDS)
    except SyncprobeError as error:
        return Check(what="py-spy", state=State.DOUBTFUL, found=found, meaning=str(error))
    return Check(what="py-spy", state=State.OK, found=found, meaning="profile --sample works")


def ptrace_rule(scope_file: Path = PTRACE_SCOPE) -> str:
    """Who may look into a process here, as far as the kernel says."""
    user = "root" if os.geteuid() == 0 else "not root"
    try:
        return f"ptrace_scope {scope_file.read_text(encoding='ascii').strip()}, {user}"
    except OSError:
        return f"no ptrace_scope, {user}"


def _package(name: str, purpose: str) -> Check:
    version = _version(name)
    return Check(
        what=name,
        state=State.MISSING if version is None else State.OK,
        found=version or "not installed",
        meaning=f"for {purpose}",
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
