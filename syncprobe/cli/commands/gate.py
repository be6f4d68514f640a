"""``syncprobe gate``: hold programs to their budgets, and say which line is too much."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import config, files
from syncprobe.cli import output, progress
from syncprobe.cli.destination import (
    STANDARD_OUTPUT,
    add_output,
    check_destination,
    do_all,
    format_of,
)
from syncprobe.cli.parsing import UsageError, at_least
from syncprobe.errors import SyncprobeError
from syncprobe.rendering import sarif
from syncprobe.rendering.gates import as_json, github, remarks, update
from syncprobe.rendering.gates import result as rendering

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from syncprobe.budgets.judgement import GateResult
    from syncprobe.budgets.runs import GateOptions
    from syncprobe.targets.running import Progress

GATE_FAILED: Final = 1
COULD_NOT_RUN: Final = 2
FILES: Final[dict[str, Callable[[GateResult], str]]] = {
    "sarif": lambda result: sarif.document(remarks.sarif_results(result)),
    "md": github.summary,
    "json": as_json.render,
    "console": rendering.render_console,
}
"""How the result looks in files."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``gate``."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="NAME|PROFILE",
        help="budgets to run now, or saved profiles to hold to the budgets that are about such a run "
        "(default: all budgets)",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="project file with [tool.syncprobe.budget.NAME] (default: the nearest pyproject.toml)",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="run, and write the profiles that budgets compare with ('against'); limits stay as they are",
    )
    parser.add_argument(
        "--jobs",
        type=at_least(1),
        default=1,
        metavar="N",
        help="budgets to run at a time; what is timed runs alone (default: 1)",
    )
    add_output(parser, "write the result there too: .sarif, .md, .json, or text")
    parser.add_argument("--sarif", type=Path, metavar="FILE", help="write the lines there as SARIF")
    parser.add_argument(
        "--summary",
        type=Path,
        metavar="FILE",
        help="write a summary in Markdown there (on GitHub: the job summary)",
    )
    parser.epilog = (
        "Exit codes: 0 every budget holds; 1 a limit is exceeded, or a speed could not be decided; "
        "2 a budget could not be judged (bad input, a program that failed) and no other has failed."
    )


def run(arguments: Namespace) -> int:
    """Run or read, judge, show, and fail if anything is too much."""
    if arguments.update:
        return _update(arguments)
    wanted = _files(arguments)
    for path in wanted:
        check_destination(path, FILES, "console")
    from syncprobe.budgets import gating  # what is needed to run is not needed for help

    with progress.shown() as listener:
        result = gating.gate(
            arguments.what, config=arguments.config, options=_options(arguments, listener)
        )
    do_all(
        *(partial(_write, path, render, result) for path, render in wanted.items()),
        partial(_append_summary, arguments, result),
        partial(_show, arguments, result),
    )
    if result.failed:
        return GATE_FAILED
    return COULD_NOT_RUN if result.unjudged else 0


def _show(arguments: Namespace, result: GateResult) -> None:
    if arguments.json:
        output.put(as_json.render(result))
    else:
        output.put(rendering.render_console(result, output.page()))
        if os.environ.get("GITHUB_ACTIONS") and not result.holds:
            output.put(github.error_commands(result))
    for each in result.unjudged:
        output.say(output.one_line(f"{each.budget} could not be judged: {each.reason}"))


def _update(arguments: Namespace) -> int:
    from syncprobe.budgets import committing  # as above

    for name in ("sarif", "summary", "output"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"--update judges nothing, so there is nothing for --{name}.")
    with progress.shown() as listener:
        updates = committing.update(
            arguments.what, config=arguments.config, options=_options(arguments, listener)
        )
    if arguments.json:
        output.put(as_json.render_updates(updates))
    else:
        output.put(update.render_console(updates, output.page()))
    return 0


def _options(arguments: Namespace, listener: Progress) -> GateOptions:
    from syncprobe.budgets.runs import GateOptions  # as above

    folder = Path.cwd() if arguments.config is None else arguments.config.absolute().parent
    settings = config.resolve(folder, os.environ, {})
    return GateOptions(settings=settings, jobs=arguments.jobs, progress=listener)


def _files(arguments: Namespace) -> dict[Path, Callable[[GateResult], str]]:
    """What is to be written, and how: a file is what its name says, unless its option says it."""
    wanted: dict[Path, Callable[[GateResult], str]] = {}
    if arguments.output not in (None, STANDARD_OUTPUT):
        wanted[arguments.output] = FILES[format_of(arguments.output, FILES, "console")]
    for name, path in (("sarif", arguments.sarif), ("md", arguments.summary)):
        if path is not None:
            wanted[path] = FILES[name]
    return wanted


def _write(path: Path, render: Callable[[GateResult], str], result: GateResult) -> None:
    files.write_text(path, render(result))


def _append_summary(arguments: Namespace, result: GateResult) -> None:
    """On GitHub every job has a place for a summary."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if arguments.summary is None and os.environ.get("GITHUB_ACTIONS") and place:
        _append(Path(place), github.summary(result))


def _append(path: Path, text: str) -> None:
    """Add to what other commands of the same job step have written."""
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise SyncprobeError(
            f"Could not write the job summary to {path}: {error.strerror}. Name a file with --summary."
        ) from error
