"""User programs as targets: a script, or a function named ``module:function``."""

from __future__ import annotations

import importlib
import os
import runpy
import signal
import sys
import threading
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from syncprobe.errors import SyncprobeError
from syncprobe.recording.line_times import LineWatch, timed_call, timed_script
from syncprobe.targets.base import OptionError, Outcome, TargetOptions, require_positive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from syncprobe.analysis.model import Run
    from syncprobe.events import LineTime
    from syncprobe.recording.line_times import Functions

_MARINENAV_OPTIONS = ("agent", "robots", "cores", "obstacles", "seed", "patches")


class Program:
    """A user's program: run in this process, its end observed whatever way it comes."""

    is_timed_by_default = False

    def __init__(self, name: str, options: TargetOptions) -> None:
        for option in _MARINENAV_OPTIONS:
            if getattr(options, option) not in (None, ()):
                raise OptionError(
                    f"--{option} is for the built-in targets; {name} takes its own arguments after '--'."
                )
        self.name = name
        self.steps = None if options.steps is None else require_positive("steps", options.steps)
        self.warmup = require_positive("warmup", options.warmup or 0, minimum=0)
        self.arguments = options.arguments

    def describe(self, run: Run) -> Run:
        """Nothing to add: the command says it all."""
        return run

    def run_observed(self, body: Callable[[], object]) -> Outcome:
        """Run the program, and report how it ended instead of ending with it."""
        process = os.getpid()
        try:
            with _termination_as_exit():
                body()
        except SystemExit as stop:
            outcome = _outcome_of_exit(stop)
        except KeyboardInterrupt:
            outcome = Outcome(exit_code=128 + signal.SIGINT, interruption="interrupted")
        except Exception as error:  # whatever a user's program raises, its profile is kept
            _print_user_traceback(error)
            described = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
            outcome = Outcome(exit_code=1, interruption=f"raised {described}")
        else:
            outcome = Outcome()
        if os.getpid() != process:
            # A forked child ran off the end of the program: the profile is its parent's to write.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(outcome.exit_code)
        return outcome


class ScriptTarget(Program):
    """A Python file, run as ``python path/to/x.py`` would."""

    def __init__(self, path: str, options: TargetOptions) -> None:
        super().__init__(path, options)
        self.path = Path(path).resolve()
        if not self.path.is_file():
            raise SyncprobeError(f"There is no script {path}. Give the path of a .py file.")
        self.root = (
            Path.cwd() if self.path.is_relative_to(Path.cwd()) else self.path.parent
        ).resolve()

    def execute(self, device: str) -> Outcome:  # noqa: ARG002  # a script chooses its device itself
        """Run the script from its first line to its end."""
        with self._command_line():
            return self.run_observed(lambda: runpy.run_path(str(self.path), run_name="__main__"))

    def time_lines(self, functions: Functions) -> tuple[LineTime, ...]:
        """Run the script once more, with the lines of some of its functions timed."""
        times: list[LineTime] = []
        watch = LineWatch(self.warmup, self.steps)
        with self._command_line():
            self.run_observed(
                lambda: times.extend(timed_script(self.path, watch, functions, self.root))
            )
        return tuple(times)

    @contextmanager
    def _command_line(self) -> Iterator[None]:
        """Arguments and search path as ``python path/to/x.py`` sets them."""
        arguments, search_path = sys.argv, sys.path[:]
        sys.argv = [str(self.path), *self.arguments]
        sys.path.insert(0, str(self.path.parent))
        try:
            yield
        finally:
            sys.argv, sys.path[:] = arguments, search_path


class FunctionTarget(Program):
    """A function without arguments, found by importing its module."""

    def __init__(self, name: str, options: TargetOptions) -> None:
        super().__init__(name, options)
        if self.arguments:
            raise OptionError(
                f"{name} is called without arguments; only scripts take any after '--'."
            )
        self.root = Path.cwd().resolve()
        self._function = _import_function(name)

    def execute(self, device: str) -> Outcome:  # noqa: ARG002  # the function chooses its device itself
        """Call the function."""
        return self.run_observed(self._function)

    def time_lines(self, functions: Functions) -> tuple[LineTime, ...]:
        """Call the function once more, with the lines of some functions timed."""
        watch = LineWatch(self.warmup, self.steps)
        return timed_call(lambda: self.execute("cpu"), watch, functions, self.root)


def _import_function(name: str) -> Callable[[], object]:
    module_name, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: object = importlib.import_module(module_name)
    except ImportError as error:
        raise SyncprobeError(
            f"Could not import {module_name!r} for target {name}: {error}."
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise SyncprobeError(
                f"Module {module_name!r} has no {attribute!r}; target {name} needs it."
            )
        found = getattr(found, part)
    if not callable(found):
        raise SyncprobeError(f"{name} is not a function that can be called.")
    return found


def _outcome_of_exit(stop: SystemExit) -> Outcome:
    if stop.code is None or stop.code == 0:
        return Outcome()
    if isinstance(stop.code, int):
        return Outcome(exit_code=stop.code & 0xFF, interruption=f"exited with status {stop.code}")
    print(stop.code, file=sys.stderr)  # noqa: T201  # what Python does with sys.exit("message")
    return Outcome(exit_code=1, interruption=f"exited: {stop.code}")


def _print_user_traceback(error: Exception) -> None:
    """Show the program's traceback as Python would, without the frames that ran it."""
    frame = error.__traceback__
    own = str(Path(__file__).parent)
    while frame is not None and (
        frame.tb_frame.f_code.co_filename.startswith((own, "<frozen runpy"))
        or frame.tb_frame.f_code.co_filename.endswith("runpy.py")
    ):
        frame = frame.tb_next
    traceback.print_exception(type(error), error, frame or error.__traceback__)


@contextmanager
def _termination_as_exit() -> Iterator[None]:
    """SIGTERM ends the program through SystemExit, so that its profile can still be written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001  # the signature of handlers
        raise SystemExit(128 + number)

    previous = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
