"""A module as a target: ``syncprobe profile -m package.module`` runs it as ``python -m`` would."""

from __future__ import annotations

import importlib.util
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe.errors import SyncprobeError
from syncprobe.measuring.line_times import LineWatch, timed_call
from syncprobe.targets.program import Program

if TYPE_CHECKING:
    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.targets.base import Outcome
    from syncprobe.targets.options import TargetOptions

PREFIX = "-m "
"""What the name of such a target begins with, so that it reads as it is typed."""


class ModuleTarget(Program):
    """A module or a package with a ``__main__``, run from its first line to its end."""

    def __init__(self, name: str, options: TargetOptions) -> None:
        super().__init__(name, options)
        self.root = Path.cwd().resolve()
        self._module = name.removeprefix(PREFIX)
        self._origin = self._find()
        self.own = self.chosen_own or Path(self._origin).resolve().parent

    def execute(self, device: str) -> Outcome:  # noqa: ARG002  # a module chooses its device itself
        """Run the module."""
        with self.command_line(self._origin, self.root):
            return self.run_observed(
                lambda: runpy.run_module(self._module, run_name="__main__", alter_sys=True)
            )

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:
        """Run the module once more, with the lines of functions that it imports timed."""
        watch = LineWatch(self.warmup, self.steps)
        return timed_call(
            lambda: self.execute(device), watch, functions, self.root, step_on=self.step_on
        )

    def _find(self) -> str:
        """The file of the module, found from the working directory as Python finds it."""
        search_path = sys.path[:]
        sys.path.insert(0, str(self.root))
        try:
            found = importlib.util.find_spec(self._module)
            if found is not None and found.submodule_search_locations is not None:
                found = importlib.util.find_spec(f"{self._module}.__main__")
        except (ImportError, ValueError):
            found = None
        finally:
            sys.path[:] = search_path
        if found is None or found.origin is None:
            raise SyncprobeError(
                f"There is no module {self._module!r} to run. "
                "Name one that 'python -m' finds from this folder."
            )
        return found.origin
