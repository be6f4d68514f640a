"""The clean pass as py-spy sees it: where the interpreter spends its time, without instrumenting it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.errors import SyncprobeError

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS: Final = {".svg": "flamegraph", ".json": "speedscope", ".txt": "raw"}
RATE_PER_SECOND: Final = 200
ATTACH_SECONDS: Final = 15
FLUSH_SECONDS: Final = 60


class SamplingError(SyncprobeError):
    """py-spy is not there, or may not look at this process."""


def find_sampler() -> str | None:
    """The py-spy program: beside this Python, else on the search path."""
    beside = Path(sys.executable).parent / "py-spy"
    return str(beside) if beside.is_file() else shutil.which("py-spy")


def sample_format(path: Path) -> str:
    """The py-spy format that a file name asks for."""
    try:
        return FORMATS[path.suffix]
    except KeyError:
        raise SamplingError(
            f"--sample cannot tell a format from {path.name!r}. Name the file .svg (flame graph), .json "
            "(speedscope) or .txt (collapsed stacks)."
        ) from None


@contextmanager
def sampled(path: Path | None) -> Iterator[None]:
    """Let py-spy watch this process while the block runs, and write what it saw to ``path``."""
    if path is None:
        yield
        return
    sampler = _start(path)
    try:
        yield
    finally:
        _stop(sampler, path)


def _start(path: Path) -> subprocess.Popen[str]:
    program = find_sampler()
    if program is None:
        raise SamplingError("--sample needs py-spy; install it with 'pip install py-spy'.")
    command = [program, "record", "--pid", str(os.getpid()), "--rate", str(RATE_PER_SECOND)]
    command += ["--format", sample_format(path), "--output", str(path)]
    sampler = subprocess.Popen(  # noqa: S603  # a fixed program with arguments of our own
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    refusal = _wait_until_attached(sampler)
    if refusal is not None:
        raise SamplingError(refusal)
    return sampler


def _wait_until_attached(sampler: subprocess.Popen[str]) -> str | None:
    """None once py-spy samples; if it gives up, why."""
    assert sampler.stdout is not None, "opened as a pipe"
    lines: list[str] = []
    timeout = threading.Timer(ATTACH_SECONDS, sampler.kill)
    timeout.start()
    try:
        for line in sampler.stdout:
            lines.append(line)
            if "Sampling process" in line:
                return None
    finally:
        timeout.cancel()
    sampler.communicate()
    return _refusal("".join(lines))


def _refusal(said: str) -> str:
    if "ermission" in said or "ptrace" in said:
        return (
            "py-spy may not look at this process: ptrace is not permitted here. Run as root, allow it with "
            "'sysctl kernel.yama.ptrace_scope=0', or give the container the SYS_PTRACE capability."
        )
    reason = " ".join(said.split()) or "no reason given"
    return f"py-spy could not attach to this process: {reason}."


def _stop(sampler: subprocess.Popen[str], path: Path) -> None:
    sampler.send_signal(signal.SIGINT)
    try:
        _, said = sampler.communicate(timeout=FLUSH_SECONDS)
    except subprocess.TimeoutExpired:
        sampler.kill()
        sampler.communicate()
        said = "it did not finish writing"
    if not path.is_file():
        raise SamplingError(f"py-spy wrote no {path}: {' '.join(said.split())}.")
