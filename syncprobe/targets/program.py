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
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, NoReturn

from syncprobe.errors import SyncprobeError
from syncprobe.measuring.line_times import LineWatch, timed_call, watched_code
from syncprobe.profiles.masking import masked
from syncprobe.recording.automatic.finder import AUTO, EnoughSteps
from syncprobe.targets.base import OptionError, Outcome, existing, require_positive
from syncprobe.targets.options import given_names, names_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Self

    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.profiles.model import Run
    from syncprobe.targets.options import TargetOptions


class Program:
    """A user's program: run in this process, its end observed whatever way it comes."""

    is_timed_by_default = False

    def __init__(self, name: str, options: TargetOptions) -> None:
        for option in given_names(options):
            if option not in names_for(None):
                raise OptionError(
                    f"--{option} is for the built-in targets; {name} takes its own arguments after '--'."
                )
        self.name = name
        self.steps = None if options.steps is None else require_positive("steps", options.steps)
        self.warmup = require_positive("warmup", options.warmup or 0, minimum=0)
        self.step_on: str | None = options.step_on or AUTO
        self.arguments = options.arguments
        self.chosen_own = existing(options.own)

    @property
    def sampled(self) -> Self:
        """All of it."""
        return self

    def describe(self, run: Run) -> Run:
        """Nothing to add: the command says it all."""
        return run

    @contextmanager
    def command_line(self, name: str, folder: Path) -> Iterator[None]:
        """Arguments and search path as Python sets them for a program of that name."""
        arguments, search_path = sys.argv, sys.path[:]
        sys.argv = [name, *self.arguments]
        sys.path.insert(0, str(folder))
        try:
            yield
        finally:
            sys.argv, sys.path[:] = arguments, search_path

    def run_observed(self, body: Callable[[], object]) -> Outcome:
        """Run the program, and report how it ended instead of ending with it."""
        process = os.getpid()
        try:
            with _termination_as_exit():
                left = body()
        except EnoughSteps:
            outcome = Outcome(was_ended=True)
        except SystemExit as stop:
            outcome = _outcome_of_exit(stop)
        except KeyboardInterrupt:
            outcome = Outcome(exit_code=128 + signal.SIGINT, interruption="interrupted")
        except Exception as error:  # whatever a user's program raises, its profile is kept
            _print_user_traceback(error)
            described = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
            outcome = Outcome(exit_code=1, interruption=f"raised {masked(described)}")
        else:
            outcome = Outcome(left=left)
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
        self.own = self.chosen_own or self.path.parent

    def execute(self, device: str) -> Outcome:  # noqa: ARG002  # a script chooses its device itself
        """Run the script from its first line to its end."""
        with self.command_line(str(self.path), self.path.parent):
            return self.run_observed(lambda: runpy.run_path(str(self.path), run_name="__main__"))

    def execute_code(self, code: CodeType) -> Outcome:
        """The same with code that was made from the script."""
        main = ModuleType("__main__")
        main.__file__ = str(self.path)
        before = sys.modules["__main__"]
        with self.command_line(str(self.path), self.path.parent):
            sys.modules["__main__"] = main
            try:
                return self.run_observed(lambda: exec(code, vars(main)))  # noqa: S102  # the user's own program
            finally:
                sys.modules["__main__"] = before

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:  # noqa: ARG002  # likewise
        """Run the script once more, with the lines of some of its functions timed."""
        watch = LineWatch(self.warmup, self.steps)
        code = watched_code(self.path, watch, functions, self.root)
        return timed_call(
            lambda: self.execute_code(code), watch, functions, self.root, step_on=self.step_on
        )


class FunctionTarget(Program):
    """A function without parameters, found by importing its module."""

    def __init__(self, name: str, options: TargetOptions) -> None:
        super().__init__(name, options)
        self.root = Path.cwd().resolve()
        self._function = _import_function(name)
        file = getattr(sys.modules.get(name.partition(":")[0]), "__file__", None)
        self.own = self.chosen_own or (Path(file).resolve().parent if file else self.root)

    def execute(self, device: str) -> Outcome:  # noqa: ARG002  # the function chooses its device itself
        """Call the function; what follows ``--`` is its command line."""
        with self.command_line(self.name, self.root):
            return self.run_observed(self._function)

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:
        """Call the function once more, with the lines of some functions timed."""
        watch = LineWatch(self.warmup, self.steps)
        return timed_call(
            lambda: self.execute(device), watch, functions, self.root, step_on=self.step_on
        )


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
