"""The command line: parses, calls the library, prints, and returns an exit code."""

from __future__ import annotations

import importlib
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from syncprobe._version import __version__
from syncprobe.cli.output import LostOutputError, flush, forget_stdout, one_line, say
from syncprobe.cli.parsing import Parser, UsageError, handed_over, split_program_arguments
from syncprobe.errors import SyncprobeError
from syncprobe.registry import Registry

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

COULD_NOT_RUN: Final = 2
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141


class CommandModule(Protocol):
    """What a module of this package offers to be a command."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's own options."""

    def run(self, arguments: Namespace) -> int:
        """Do it, and return the exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One row of ``syncprobe --help``."""

    summary: str
    module: str
    """Imported only when the command is chosen, so that help is quick."""
    has_program_arguments: bool = False
    """What follows ``--`` is handed to the program being profiled."""

    def load(self) -> CommandModule:
        """Import the command."""
        return cast("CommandModule", importlib.import_module(self.module))


COMMANDS: Registry[Command] = Registry("command")
COMMANDS.add(
    "profile",
    Command(
        summary="run a program and record every sync, copy and launch by line",
        module="syncprobe.cli.commands.profile",
        has_program_arguments=True,
    ),
)
COMMANDS.add(
    "report",
    Command(summary="show saved profiles in any format", module="syncprobe.cli.commands.report"),
)
COMMANDS.add(
    "import",
    Command(
        summary="turn a trace of torch.profiler, from a real GPU, into a profile",
        module="syncprobe.cli.commands.import_trace",
    ),
)
COMMANDS.add(
    "compare",
    Command(
        summary="two variants side by side: events, time, and whether they do the same",
        module="syncprobe.cli.commands.compare",
        has_program_arguments=True,
    ),
)
COMMANDS.add(
    "verify",
    Command(
        summary="whether the patches, or a program's new version, change anything but cost",
        module="syncprobe.cli.commands.verify",
        has_program_arguments=True,
    ),
)
COMMANDS.add(
    "gate",
    Command(
        summary="hold programs to the budgets of pyproject.toml",
        module="syncprobe.cli.commands.gate",
    ),
)
COMMANDS.add(
    "fix",
    Command(
        summary="rewrite a program so that it waits less, and prove that nothing else changes",
        module="syncprobe.cli.commands.fix",
        has_program_arguments=True,
    ),
)
COMMANDS.add(
    "plan",
    Command(
        summary="the five steps, what each replaces and what it is worth here",
        module="syncprobe.cli.commands.plan",
    ),
)
COMMANDS.add(
    "explain",
    Command(
        summary="what a finding means, why it costs and what to write instead",
        module="syncprobe.cli.commands.explain",
    ),
)
COMMANDS.add(
    "doctor",
    Command(
        summary="what will and will not work on this machine",
        module="syncprobe.cli.commands.doctor",
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; never raises for what a user or a closed pipe can cause."""
    words, program = split_program_arguments(sys.argv[1:] if argv is None else argv)
    is_debugging = "--debug" in words
    try:
        code = _run(words, program)
        flush()
    except BrokenPipeError:
        forget_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        say("Interrupted.")
        return INTERRUPTED
    except LostOutputError as error:
        forget_stdout()
        return _refuse(str(error), is_debugging)
    except SyncprobeError as error:
        return _refuse(one_line(str(error)), is_debugging)
    except Exception as error:  # a fault of ours is one line too, until --debug asks
        what = one_line(f"{type(error).__name__}: {error}").rstrip(".")
        return _refuse(f"Unexpected {what}. Run it again with --debug and report it.", is_debugging)
    return code


def _run(words: list[str], program: list[str] | None) -> int:
    if any("\0" in word for word in words):
        raise UsageError("No name can hold a NUL character.")
    name = next((word for word in words if not word.startswith("-")), None)
    command = None if name is None else COMMANDS[name]
    parser, chosen = _parser(name)
    try:
        arguments, unknown = parser.parse_known_args(words)
    except SystemExit as stop:  # --help and --version have printed and are done
        return int(stop.code or 0)
    if unknown:
        takes_more = command is not None and command.has_program_arguments and program is None
        chosen.refuse_unknown(unknown, handed_over(words, unknown) if takes_more else None)
    if command is None:
        raise UsageError(
            f"No command was given. Choose from: {', '.join(COMMANDS)}. See 'syncprobe --help'."
        )
    if program is not None and not command.has_program_arguments:
        raise UsageError(f"'syncprobe {name}' runs no program, so nothing can follow '--'.")
    arguments.program_arguments = tuple(program or ())
    return command.load().run(arguments)


def _parser(name: str | None) -> tuple[Parser, Parser]:
    """The whole parser, and the part of it that belongs to the chosen command."""
    parser = Parser(
        prog="syncprobe",
        description="Find the GPU<->CPU synchronisations that slow a PyTorch program, with no GPU.",
        epilog="Exit codes: 0 fine; 1 a check failed; 2 could not run. "
        "'syncprobe COMMAND --help' shows a command's options.",
    )
    parser.add_argument("--version", action="version", version=f"syncprobe {__version__}")
    parser.add_common_options()
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    chosen = parser
    for each in COMMANDS:
        summary = COMMANDS[each].summary
        subparser = subparsers.add_parser(
            each, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        if each == name:
            chosen = subparser
            COMMANDS[each].load().add_arguments(subparser)
        subparser.add_common_options(is_repeated=True)
    return parser, chosen


def _refuse(message: str, is_debugging: bool) -> int:
    if is_debugging:
        traceback.print_exc()
    say(message)
    return COULD_NOT_RUN
