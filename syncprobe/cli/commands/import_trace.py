"""``syncprobe import``: a trace that torch.profiler recorded becomes a profile."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe import config
from syncprobe.cli.commands.profile import default_name
from syncprobe.cli.destination import add_output
from syncprobe.cli.keeping import OUTPUT_HELP, add_full, check_output, keep_and_show
from syncprobe.cli.parsing import UsageError
from syncprobe.importing import import_trace

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``import``."""
    parser.add_argument(
        "trace",
        type=Path,
        metavar="TRACE",
        help="what torch.profiler's export_chrome_trace() wrote: .json or .json.gz",
    )
    add_output(parser, OUTPUT_HELP)
    add_full(parser)


def run(arguments: Namespace) -> int:
    """Read the trace, keep and show the profile."""
    settings = config.resolve(Path.cwd(), os.environ, {})
    check_output(arguments.output, Path(settings.reports))
    profile = import_trace(arguments.trace)
    named = replace(profile.run, target=_stem(arguments.trace))
    default = Path(settings.reports) / default_name(named, settings)
    path = arguments.output or default
    if path.exists() and path.samefile(arguments.trace):
        raise UsageError(f"{path} is the trace itself. Choose another place with -o.")
    keep_and_show(profile, arguments, default)
    return 0


def _stem(trace: Path) -> str:
    """What the trace is called, without what says that it is one."""
    return trace.name.removesuffix(".gz").removesuffix(".json") or "trace"
