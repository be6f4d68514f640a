"""How costs grow with a program: writes reports/growth.md, ``python -m tests.recording.growth [--less]``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from syncprobe.clock import SystemClock
from syncprobe.profiles import storage
from syncprobe.recording.session import Recording
from syncprobe.rendering import FORMATS
from tests.model.report import commit
from tests.recording.test_growth import program
from tests.rendering.test_large import HUGE, MEASURED, profile

REPORT = Path(__file__).parents[2] / "reports" / "growth.md"
LINES = (250, 500, 1_000, 2_000, 10_000)
OPERATORS = (1_000, 10_000)
PASSES = 5
STEPS = (10_000, 50_000, 100_000)


def spent(work: Callable[[], object]) -> float:
    """Seconds of processor time: what others do on the machine costs caches, but not seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def lines_of_one_function(folder: Path, counts: tuple[int, ...]) -> Iterator[str]:
    """Recording a function of many lines once, and making the profile."""
    yield "| lines of one function | recording, per line | `profile()` | `profile()`, per line |"
    yield "|---:|---:|---:|---:|"
    for count in counts:
        work = program(folder, "reads", count)
        with Recording(device="sim", root=folder, clock=SystemClock()) as recording:
            values = torch.ones(4, device="cuda")
            with recording.step():
                recorded = spent(lambda: work(values))  # noqa: B023  # called at once
        made = spent(recording.profile)
        yield (
            f"| {count:,} | {recorded / count * 1e6:.0f} us | {made:.2f} s "
            f"| {made / count * 1e3:.2f} ms |"
        )


def operators_of_many_lines(folder: Path) -> Iterator[str]:
    """What an operator costs when lines are known: a few passes over a function of launches."""
    yield "| lines | per operator, first pass | per operator, later passes |"
    yield "|---:|---:|---:|"
    for count in OPERATORS:
        work = program(folder, "launches", count)
        with Recording(device="sim", root=folder, clock=SystemClock()):
            values = torch.ones(4, device="cuda")
            first, *later = (spent(lambda: work(values)) for _ in range(PASSES))  # noqa: B023  # called at once
        yield f"| {count:,} | {first / count * 1e6:.0f} us | {min(later) / count * 1e6:.0f} us |"


def steps_of_one_operator(counts: tuple[int, ...]) -> Iterator[str]:
    """A tiny program for a long time: the last tenth of each stretch."""
    yield "| steps of one operator | per step | memory |"
    yield "|---:|---:|---:|"
    with Recording(device="sim", clock=SystemClock()) as recording:
        values = torch.ones(4, device="cuda")

        def step() -> None:
            with recording.step():
                torch.relu(values)

        done = 0
        for count in counts:
            tail = counts[0] // 10
            for _ in range(done, count - tail):
                step()
            seconds = spent(lambda: [step() for _ in range(tail)])  # noqa: B023  # called at once
            done = count
            yield f"| {count:,} | {seconds / tail * 1e6:.0f} us | {resident():.0f} MB |"
    yield ""
    yield f"`profile()` of all {done:,}: {spent(recording.profile):.2f} s."


def resident() -> float:
    """Megabytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def formats_of_many_sites(folder: Path, sites: int) -> Iterator[str]:
    """Each in a process of its own, which says what it has used."""
    first, second = folder / "first.json", folder / "second.json"
    first.write_text(storage.dumps(profile(sites)))
    second.write_text(storage.dumps(profile(sites - 1)))
    yield f"| a profile of {sites:,} sites | processor time | most memory |"
    yield "|---|---:|---:|"
    commands = {name: ["report", str(first), "--format", name] for name in FORMATS}
    for name, words in {**commands, "compare": ["compare", str(first), str(second)]}.items():
        ran = subprocess.run(
            [sys.executable, "-c", MEASURED, *words], capture_output=True, text=True, check=True
        )
        seconds, megabytes = map(float, ran.stderr.split()[-2:])
        yield f"| {name} | {seconds:.1f} s | {megabytes:.0f} MB |"


def report(folder: Path, *, is_less: bool) -> Iterator[str]:
    """The lines of the report, as they are found out."""
    load = os.getloadavg()[0]
    yield "# Growth"
    yield ""
    yield (
        f"Made by `make growth` (`python -m tests.recording.growth`) at commit {commit()} on the simulated device: processor time of "
        f"single runs, on {os.cpu_count()} cores with a load of {load:.0f}, so that figures vary by what others do to the caches. Programs are "
        "those of `tests/recording/test_growth.py` and profiles those of `tests/rendering/test_large.py`, which hold all of it to linear "
        "growth by counting calls."
    )
    parts = (
        lines_of_one_function(folder, LINES[:2] if is_less else LINES),
        operators_of_many_lines(folder),
        steps_of_one_operator(tuple(count // 100 for count in STEPS) if is_less else STEPS),
        formats_of_many_sites(folder, HUGE // 100 if is_less else HUGE),
    )
    for part in parts:
        yield ""
        yield from part


def main() -> None:
    """Measure everything and write the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.recording.growth")
    parser.add_argument("--less", action="store_true", help="try it out: smaller, and not written")
    is_less = parser.parse_args().less
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for line in report(Path(folder), is_less=is_less):
            print(line, flush=True)
            found.append(line)
    if not is_less:
        REPORT.write_text("\n".join(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
