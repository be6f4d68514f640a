"""``syncprobe profile``: run a program, record it, show what it did and keep the profile."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.cli import output, progress
from syncprobe.cli.destination import add_output, check_page, check_writable
from syncprobe.cli.keeping import (
    OUTPUT_HELP,
    add_full,
    check_output,
    is_printed_as_json,
    keep_and_show,
    quoted,
    write_report,
)
from syncprobe.cli.parsing import UsageError
from syncprobe.cli.run_options import (
    add_options,
    add_settings,
    command_of,
    options_of,
    settings_of,
)
from syncprobe.profiles.titles import variant_name
from syncprobe.targets.module import PREFIX
from syncprobe.targets.options import OPTIONS, described_names, names_for

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from syncprobe.config import Settings
    from syncprobe.profiles.model import Profile, Run

UNNAMED: Final = ("agent", "patches", "seed", "warmup")
"""Options that a default file name has a place for, or leaves out."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``profile``."""
    parser.usage = "syncprobe profile TARGET|-m MODULE [options] [-- ARGUMENTS OF THE SCRIPT]"
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="train (the original trainer), torchrl (the TorchRL pipeline), "
        "a script (path/to/x.py), or module:function",
    )
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="in place of TARGET: a module, as for python -m"
    )
    _add_run_options(parser)
    _add_training_options(parser)
    add_output(parser, OUTPUT_HELP)
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with charts and a timeline there"
    )
    add_full(parser)


def run(arguments: Namespace) -> int:
    """Profile the target, keep and show the profile, and end as the program did."""
    settings = settings_of(arguments)
    arguments.target = _target(arguments)
    check_output(arguments.output, Path(settings.reports))
    for path in filter(None, (arguments.sample, arguments.html)):
        check_writable(path)
    if arguments.html is not None:
        check_page()
    with output.reserved_stdout(is_printed_as_json(arguments)):
        profile = _profile(arguments, settings)
    default = Path(settings.reports) / default_name(profile.run, settings)
    keep_and_show(profile, arguments, default, *_beside(profile, arguments))
    return profile.run.exit_code


def _beside(profile: Profile, arguments: Namespace) -> Iterator[Callable[[], object]]:
    """What else is written, or was."""
    if arguments.html is not None:
        yield partial(write_report, profile, arguments.html, "html", "Page")
    if arguments.sample is not None:
        yield partial(output.say, f"Samples written to {quoted(arguments.sample)}.")


def _target(arguments: Namespace) -> str:
    """What to run, of the two ways to say it."""
    if (arguments.target is None) == (arguments.module is None):
        raise UsageError("Name one thing to profile: a TARGET, or a module with -m.")
    return str(arguments.target or f"{PREFIX}{arguments.module}")


def default_name(run: Run, settings: Settings) -> str:
    """A file name that says what was run; what departs from the defaults is part of it."""
    parts = [run.target.removesuffix(".py")]
    if run.agent is not None:
        parts += [run.agent, variant_name(run.patches)]
    parts.append(run.device)
    if run.seed is not None:
        parts.append(f"seed{run.seed}")
    for name in described_names(run.target):
        value = getattr(run, name)
        if name not in UNNAMED and run.agent is not None and value != OPTIONS[name].default:
            parts.append(f"{name}{value}")
    if run.device == "sim" and run.gpu != "t4":
        parts.append(run.gpu)
    if run.patches and settings.mode != "fast":
        parts.append(settings.mode)
    slug = "-".join(re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-.") for part in parts)
    return f"{slug[-200:].strip('-.')}.json"


def _profile(arguments: Namespace, settings: Settings) -> Profile:
    from syncprobe.targets import running  # it imports torch, which help must not

    options = running.RunOptions(
        target=options_of(arguments, settings),
        device=settings.device,
        gpu=settings.gpu,
        is_timed=arguments.timed,
        has_lines=arguments.lines,
        sample=arguments.sample,
        checks_values=arguments.check_values,
        command=_command(arguments),
    )
    with progress.shown() as listener:
        return running.run(arguments.target, replace(options, progress=listener))


def _command(arguments: Namespace) -> str:
    flags = [] if arguments.timed is None else ["--timed" if arguments.timed else "--no-timed"]
    flags += ["--lines"] if arguments.lines else []
    flags += ["--check-values"] if arguments.check_values else []
    flags += ["--", *arguments.program_arguments] if arguments.program_arguments else []
    words = ("-m", arguments.module) if arguments.module else (arguments.target,)
    return command_of(arguments, "profile", *words, flags=flags)


def _add_run_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("how to run")
    add_options(group, names_for(None))
    add_settings(group, ("device", "gpu"))
    group.add_argument(
        "--timed",
        action="store_true",
        default=None,
        help="run the program twice, first unrecorded, for measured time (built-in targets do)",
    )
    group.add_argument(
        "--no-timed", dest="timed", action="store_false", help="run it once, without measured time"
    )
    group.add_argument(
        "--lines",
        action="store_true",
        help="show the hot functions line by line, with time (line_profiler), syncs and launches",
    )
    group.add_argument(
        "--check-values",
        action="store_true",
        help="compute everything on the host once more (slow), and say which operation differs first",
    )
    group.add_argument(
        "--sample",
        type=Path,
        metavar="FILE",
        help="let py-spy watch the timed pass: .svg (flame graph), .json (speedscope) or .txt",
    )


def _add_training_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("built-in targets only")
    add_options(group, (name for name in OPTIONS if name not in names_for(None)))
    add_settings(group, ("mode",))
