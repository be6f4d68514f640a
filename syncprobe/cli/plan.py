"""``syncprobe plan``: the five steps, and what each is worth on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.cli import output, progress
from syncprobe.cli.compare import add_run_options, options_of
from syncprobe.planning import plan
from syncprobe.rendering import plan as rendering

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``plan``."""
    add_run_options(parser)
    parser.add_argument(
        "--no-run",
        dest="is_measured",
        action="store_false",
        help="only describe the steps; run nothing",
    )


def run(arguments: Namespace) -> int:
    """Describe and measure."""
    with output.reserved_stdout(arguments.json), progress.shown() as listener:
        report = plan(options_of(arguments, listener), is_measured=arguments.is_measured)
    render = rendering.render_json if arguments.json else rendering.render_console
    output.put(render(report, output.page()))
    return 0
