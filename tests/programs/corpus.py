"""Short programs of the sorts that people train with, run plain on the CPU and under the simulated device.

Each takes its device as its only argument, seeds what it draws from and prints what it computed. Two
comments at its top say what is expected. ``# syncs per step: 44/15``: so many in the steps that were recorded.
``# first blamed line: loss.item()``: part of the line of the program that blocks most often, of several the
first; or ``none``.
"""

from __future__ import annotations

import gc
import io
import re
import runpy
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from unittest import mock

import torch
from torch.distributions import Distribution

import syncprobe
from syncprobe.profiles.model import Profile, Site

FOLDER = Path(__file__).parent
NOBODY = "none"
SCALE = 1_000
"""Rates per step are compared to three places."""
_EXPECTED = re.compile(r"^# (syncs per step|first blamed line): (.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a program printed, and how long it took by itself."""

    printed: str
    seconds: float
    profile: Profile | None = None
    """None for a plain run."""


@dataclass(frozen=True)
class Program:
    """A program of the corpus."""

    path: Path

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def expected_syncs(self) -> float:
        """Per step, as the comment at its top says."""
        return float(Fraction(self._expected["syncs per step"]))

    @property
    def expected_blame(self) -> str:
        """Part of a line, likewise."""
        return self._expected["first blamed line"]

    @property
    def _expected(self) -> dict[str, str]:
        return dict(_EXPECTED.findall(self.path.read_text(encoding="utf-8")))

    @cached_property
    def both(self) -> tuple[Ran, Ran]:
        """One plain and one simulated run, made when they are first asked for."""
        return self.run_plain(), self.run_simulated()

    def run_plain(self) -> Ran:
        """As ``python program.py cpu`` would."""
        with _watched() as watch, mock.patch.object(sys, "argv", [str(self.path), "cpu"]):
            runpy.run_path(str(self.path), run_name="__main__")
        return Ran(printed=watch.printed.getvalue(), seconds=watch.seconds)

    def run_simulated(self) -> Ran:
        """As ``syncprobe profile program.py --device sim -- cuda`` would."""
        with _watched() as watch:
            profile = syncprobe.run(str(self.path), device="sim", arguments=("cuda",))
        return Ran(printed=watch.printed.getvalue(), seconds=watch.seconds, profile=profile)

    def first_blamed(self, profile: Profile) -> str:
        """The line of the program that blocks most often, as it is written; of several the first."""
        rates: Counter[int] = Counter()
        for site in profile.sites:
            if site.is_blocking and site.per_step:
                for line, count in self._own_lines(site):
                    rates[line] += round(SCALE * site.per_step * count / site.count)
        if not rates:
            return NOBODY
        line = min(rates, key=lambda line: (-rates[line], line))
        return self.path.read_text(encoding="utf-8").splitlines()[line - 1].strip()

    def _own_lines(self, site: Site) -> Iterator[tuple[int, int]]:
        """The innermost lines of the program above a site, and how often it was reached by each."""
        for caller in site.callers:
            frames = (site.site, *caller.stack)
            own = [frame.line for frame in frames if frame.path.endswith(self._shown_path)]
            if own:
                yield own[0], caller.count

    @property
    def _shown_path(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"


class _Watch:
    """Keeps what a program prints, and the time from its first line to its end."""

    def __init__(self) -> None:
        self.printed = io.StringIO()
        self.seconds = 0.0
        self._run_path = runpy.run_path

    def run_path(self, path: str, *, run_name: str) -> dict[str, object]:
        started = time.perf_counter()
        try:
            return self._run_path(path, run_name=run_name)
        finally:
            self.seconds = time.perf_counter() - started


@contextmanager
def _watched() -> Iterator[_Watch]:
    """Watch a program, without libraries' advice about devices and without what is left of the last one."""
    gc.collect()
    watch = _Watch()
    with (
        redirect_stdout(watch.printed),
        mock.patch.object(runpy, "run_path", watch.run_path),
        # A library that was imported for another program may have switched these checks off.
        mock.patch.object(Distribution, "_validate_args", new=True),
        # Lightning wraps it when it is imported for the first time.
        mock.patch.object(torch, "compile", torch.compile),
        warnings.catch_warnings(action="ignore"),
    ):
        yield watch


CORPUS = [Program(path) for path in sorted(FOLDER.glob("*/*.py"))]
