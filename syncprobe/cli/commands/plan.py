"""``syncprobe plan``: the five steps, and what each is worth on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import files
from syncprobe.cli import output, progress
from syncprobe.cli.commands.compare import add_run_options, compare_options
from syncprobe.cli.destination import (
    STANDARD_OUTPUT,
    add_output,
    check_destination,
    check_page,
    check_writable,
    do_all,
    format_of,
)
from syncprobe.cli.parsing import UsageError
from syncprobe.cli.quoting import project_source
from syncprobe.comparison.planning import plan
from syncprobe.profiles import storage
from syncprobe.rendering import Page
from syncprobe.rendering.html.page import render_plan
from syncprobe.rendering.variants.plan import PLAN_FORMATS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from syncprobe.comparison.levels import PlanReport

FILES: Final = (*PLAN_FORMATS, "html")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``plan``."""
    add_run_options(parser)
    add_output(parser, "write the plan there too: .json, .md, .html, or text")
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
    wanted = _files(arguments)
    has_page = render_plan in wanted.values()
    if not arguments.is_measured and (has_page or arguments.profiles):
        raise UsageError("--no-run makes no profiles, so it cannot go with a page or --profiles.")
    for path in wanted:
        check_destination(path, FILES, "console")
    if has_page:
        check_page()
    if arguments.profiles is not None:
        check_writable(arguments.profiles / "profile.json")
    with output.reserved_stdout(arguments.json), progress.shown() as listener:
        report = plan(compare_options(arguments, listener), is_measured=arguments.is_measured)
    name = "json" if arguments.json else "console"
    do_all(
        partial(_keep_profiles, report, arguments.profiles),
        *(partial(_write, report, path, render) for path, render in wanted.items()),
        lambda: output.put(PLAN_FORMATS[name](report, output.page())),
    )
    return 0


def _files(arguments: Namespace) -> dict[Path, Callable[..., str]]:
    """What is to be written, and how: a file is what its name says."""
    wanted: dict[Path, Callable[..., str]] = {}
    if arguments.output not in (None, STANDARD_OUTPUT):
        name = format_of(arguments.output, FILES, "console")
        wanted[arguments.output] = render_plan if name == "html" else PLAN_FORMATS[name]
    if arguments.html is not None:
        wanted[arguments.html] = render_plan
    return wanted


def _write(report: PlanReport, path: Path, render: Callable[..., str]) -> None:
    files.write_text(path, render(report, Page(source=project_source())))
    what = "Page" if render is render_plan else "Plan"
    output.say(f"{what} written to {output.one_line(str(path))}.")


def _keep_profiles(report: PlanReport, folder: Path | None) -> None:
    if folder is None:
        return
    for level in report.levels:
        run = level.recorded.run
        name = "-".join((run.target, *filter(None, (run.agent,)), level.name)).lower() + ".json"
        storage.save(level.recorded, folder / name)
    output.say(f"Profiles written to {output.one_line(str(folder))}.")
