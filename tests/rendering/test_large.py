"""Profiles of very many lines: every format and a comparison in bounded time and memory."""

from __future__ import annotations

import cProfile
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from syncprobe.comparison.side_by_side import compare
from syncprobe.profiles import storage
from syncprobe.rendering import FORMATS
from syncprobe.rendering.variants.comparison import COMPARISON_FORMATS
from tests.rendering import factories

FEW, MANY, HUGE = 300, 1200, 50_000
LINEAR = 1.15
SECONDS, MEGABYTES = 10, 500
MEASURED = """
import sys, time
from pathlib import Path
from syncprobe.cli import main
code = main(sys.argv[1:])
# What getrusage says is at least what the process that started this one had.
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(time.process_time(), int(status["VmHWM"].split()[0]) / 1024, file=sys.stderr)
raise SystemExit(code)
"""


def profile(lines):
    return replace(
        factories.profile(
            sites=tuple(factories.site(line=number + 1, per_step=1) for number in range(lines)),
            findings=tuple(
                factories.finding(site=factories.call_site(line=number + 1))
                for number in range(lines)
            ),
        ),
        timeline=factories.timeline(),
    )


def calls(work, *args):
    watch = cProfile.Profile()
    watch.runcall(work, *args)
    return sum(entry.callcount for entry in watch.getstats())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_grows_with_the_lines(name):
    FORMATS[name].render([profile(2)])  # what is loaded on first use
    few, many = (calls(FORMATS[name].render, [profile(lines)]) for lines in (FEW, MANY))
    assert many <= LINEAR * MANY / FEW * few


@pytest.mark.parametrize("name", COMPARISON_FORMATS)
def test_comparing_grows_with_the_lines(name):
    def shown(lines):
        return COMPARISON_FORMATS[name](compare(profile(lines), profile(lines - 1)))

    shown(2)
    assert calls(shown, MANY) <= LINEAR * MANY / FEW * calls(shown, FEW)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's figures")
@pytest.mark.parametrize("name", [*FORMATS, "compare"])
def test_fifty_thousand_sites_in_bounded_time_and_memory(tmp_path, name):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text(storage.dumps(profile(HUGE)))
    command = ["report", str(first), "--format", name]
    if name == "compare":
        second.write_text(storage.dumps(profile(HUGE - 1)))
        command = ["compare", str(first), str(second)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seconds, megabytes = map(float, done.stderr.split()[-2:])
    assert (seconds < SECONDS, megabytes < MEGABYTES) == (True, True), (seconds, megabytes)
