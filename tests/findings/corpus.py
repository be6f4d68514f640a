"""Programs as people write them, with comments that say which findings they deserve.

``# expect SP103`` at the end of a line: the rule applies there. ``# no SP101``: a near miss, which it must
leave alone. Whatever else is found anywhere in a program is a false alarm.
"""

from __future__ import annotations

import re
import runpy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unittest import mock

from syncprobe.cuda import scalars
from syncprobe.profiles.model import Finding, Profile
from syncprobe.recording.session import Recording
from syncprobe.targets.legacy_code import validated_distributions

FOLDER = Path(__file__).parent / "programs"
HOST_RULE = "SP601"
"""About a region, not a line, and about time: only programs that name it are asked about it."""
NEEDED_RULE = "SP207"
"""Never a finding: its sites are looked at instead."""
_OLD_TORCH = "# torch before 2.5"
"""Some operations wait only there."""
_MARK = re.compile(r"\b(expect|no) (SP\d{3})(?: in (\w+))?")

Place = tuple[str, int | str]
"""A rule and the line, or the region, that it is about."""


@dataclass(frozen=True)
class Program:
    """A program of the corpus."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def marks(self) -> list[tuple[str, Place]]:
        """What the comments say, line by line."""
        return [
            (verb, (rule, region or number))
            for number, line in enumerate(self.path.read_text().splitlines(), start=1)
            for verb, rule, region in _MARK.findall(line.partition("  # ")[2] or _comment(line))
        ]

    @property
    def expected(self) -> set[Place]:
        return {place for verb, place in self.marks if verb == "expect"}

    @property
    def positives(self) -> set[str]:
        """The rules that apply somewhere in it."""
        return {rule for rule, _ in self.expected}

    @property
    def negatives(self) -> set[str]:
        """The rules that it nearly meets, and never does."""
        return {rule for verb, (rule, _) in self.marks if verb == "no"} - self.positives

    @cached_property
    def profile(self) -> Profile:
        """Its profile, made by running it."""
        # The first step of a process pays for much that the others do not.
        warmup = 1 if self.is_about_time else 0
        recording = Recording(device="sim", root=FOLDER, warmup=warmup, clock=_BusyClock())
        # Importing torchrl, as other tests do, switches validation off for the whole process.
        with validated_distributions(), self._torch(), recording:
            runpy.run_path(str(self.path))
        return recording.profile()

    @property
    def is_about_time(self) -> bool:
        """It names the rule that is about a region's share of the step."""
        return HOST_RULE in self.positives | self.negatives

    @cached_property
    def found(self) -> set[Place]:
        """What the rules say about it."""
        found = {_place(finding) for finding in self.profile.findings}
        found |= {
            (NEEDED_RULE, site.site.line) for site in self.profile.sites if site.rule == NEEDED_RULE
        }
        return {place for place in found if self.is_about_time or place[0] != HOST_RULE}

    @contextmanager
    def _torch(self) -> Iterator[None]:
        """The torch that the program asks for."""
        if _OLD_TORCH not in self.path.read_text():
            yield
            return
        with mock.patch.object(scalars, "torch_is_at_least", return_value=False):
            yield


class _BusyClock:
    """Counts the time that this thread works, not what others on the machine take from it."""

    def now_ns(self) -> int:
        return time.thread_time_ns()


def _comment(line: str) -> str:
    return line if line.startswith("# ") else ""


def _place(finding: Finding) -> Place:
    is_about_line = finding.rule != HOST_RULE
    return finding.rule, finding.site.line if is_about_line else finding.region


CORPUS = [Program(path) for path in sorted(FOLDER.glob("*.py"))]
"""All programs; each is run once, when it is first asked about."""
