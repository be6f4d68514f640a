"""``syncprobe plan``: the five steps, and what each is worth on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe import storage
from syncprobe.cli import output, progress
from syncprobe.cli.compare import add_run_options, options_of
from syncprobe.cli.destination import check_writable
from syncprobe.cli.parsing import UsageError
from syncprobe.cli.quoting import ProjectSource
from syncprobe.planning import plan
from syncprobe.rendering import Page
from syncprobe.rendering import plan as rendering
from syncprobe.rendering.html.page import check_templates, render_plan

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from syncprobe.analysis.levels import PlanReport


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``plan``."""
    add_run_options(parser)
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a page with the progress from level to level there",
    )
    parser.add_argument(
        "--profiles", type=Path, metavar="DIR", help="write the profile of each level there"
    )
    parser.add_argument(
        "--no-run",
        dest="is_measured",
        action="store_false",
        help="only describe the steps; run nothing",
    )


def run(arguments: Namespace) -> int:
    """Describe, measure, and keep what is wanted."""
    if not arguments.is_measured and (arguments.html or arguments.profiles):
        raise UsageError("--no-run makes no profiles, so it cannot go with --html or --profiles.")
    if arguments.html is not None:
        check_writable(arguments.html)
        check_templates()
    if arguments.profiles is not None:
        check_writable(arguments.profiles / "profile.json")
    with output.reserved_stdout(arguments.json), progress.shown() as listener:
        report = plan(options_of(arguments, listener), is_measured=arguments.is_measured)
    _keep(report, arguments)
    render = rendering.render_json if arguments.json else rendering.render_console
    output.put(render(report, output.page()))
    return 0


def _keep(report: PlanReport, arguments: Namespace) -> None:
    if arguments.profiles is not None:
        for level in report.levels:
            run = level.profile.run
            name = f"{run.target}-{str(run.agent).lower()}-{level.name}.json"
            storage.save(level.profile, arguments.profiles / name)
        output.say(f"Profiles written to {output.one_line(str(arguments.profiles))}.")
    if arguments.html is not None:
        page = Page(source=ProjectSource(Path.cwd()))
        storage.write_text(arguments.html, render_plan(report, page))
        output.say(f"Page written to {output.one_line(str(arguments.html))}.")
